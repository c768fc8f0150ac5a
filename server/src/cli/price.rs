//! Prices of time.

use std::str::FromStr;

use nprof_engine::base::time::PS_PER_S;

/// Picoseconds of an hour.
const PS_PER_HOUR: f64 = 3_600.0 * PS_PER_S as f64;

/// Money for an hour of a job, in any currency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Price(f64);

impl Price {
    /// Money for an hour.
    pub(super) fn of_hour(self) -> f64 {
        self.0
    }

    /// Money for a time in picoseconds.
    pub(super) fn of_ps(self, ps: f64) -> f64 {
        self.0 * ps / PS_PER_HOUR
    }
}

impl FromStr for Price {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = || format!("\"{text}\" is no price; write money for an hour, such as 98.32/h");
        let (number, unit) = text.split_once('/').ok_or_else(wanted)?;
        let price = number.trim().parse::<f64>().ok().filter(|price| price.is_finite() && *price >= 0.0);
        match (price, unit.trim()) {
            (Some(price), "h" | "hour") => Ok(Self(price)),
            _ => Err(wanted()),
        }
    }
}

/// Money with at least four digits that say something.
pub(super) fn money(amount: f64) -> String {
    // A digit behind these is less than any price of a picosecond.
    let text = format!("{amount:.15}");
    let Some((whole, decimals)) = text.split_once('.') else { return text };
    // Cents suffice from ten on. The first digit of a small amount is far behind the point.
    let zeros = decimals.bytes().take_while(|digit| *digit == b'0').count();
    let shown = match whole.trim_start_matches(['-', '0']).len() {
        _ if amount == 0.0 => 2,
        0 => zeros + 4,
        1 => 3,
        _ => 2,
    };
    let half = 0.5 * 10_f64.powi(-i32::try_from(shown).unwrap_or(0));
    let rounded = format!("{:.15}", amount + half);
    let end = rounded.find('.').unwrap_or(0) + 1 + shown;
    rounded[..end.min(rounded.len())].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_for_an_hour() {
        let price: Price = "98.32/h".parse().unwrap();
        assert_eq!((price.of_hour(), price.of_ps(PS_PER_HOUR / 2.0)), (98.32, 49.16));
        assert_eq!("7 / hour".parse(), Ok(Price(7.0)));
        for wrong in ["", "98", "98/d", "-1/h", "nan/h", "/h"] {
            assert!(wrong.parse::<Price>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn small_amounts_have_digits() {
        assert_eq!([98.32, 1.5, 0.0, 0.001_234_56].map(money), ["98.32", "1.500", "0.00", "0.001235"]);
    }
}
