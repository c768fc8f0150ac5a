//! Limits of conditions: a share of the run or a time.

use std::str::FromStr;

use crate::units::{time_ps, with_unit};

/// The limit of a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum CostLimit {
    /// A share of the run.
    Share(f64),
    /// A time in picoseconds.
    Time(i64),
}

impl CostLimit {
    /// The limit in picoseconds for a run of this length.
    pub(super) fn ps(self, length_ps: i64) -> i64 {
        match self {
            Self::Share(share) => (share * length_ps as f64).round() as i64,
            Self::Time(ps) => ps,
        }
    }
}

impl FromStr for CostLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = || format!("\"{text}\" is no limit; write a share or a time, such as 5% or 2 ms");
        if let Some(percent) = text.strip_suffix('%') {
            let share = percent.trim().parse::<f64>().map_err(|_| wanted())? / 100.0;
            return if (0.0..=1.0).contains(&share) { Ok(Self::Share(share)) } else { Err(wanted()) };
        }
        let (number, unit) = with_unit(text).ok_or_else(wanted)?;
        if unit.is_empty() || !number.is_finite() || number < 0.0 {
            return Err(wanted());
        }
        time_ps(text).map(Self::Time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_shares_or_times() {
        assert_eq!("5%".parse(), Ok(CostLimit::Share(0.05)));
        assert_eq!("2 ms".parse(), Ok(CostLimit::Time(2_000_000_000)));
        assert_eq!(CostLimit::Share(0.05).ps(1_000), 50);
        for wrong in ["", "5", "101%", "-1%", "-1ms", "nan%", "5 parsecs"] {
            assert!(wrong.parse::<CostLimit>().is_err(), "{wrong}");
        }
    }
}
