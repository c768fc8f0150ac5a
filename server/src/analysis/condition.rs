//! Conditions of `--fail-on`, such as `wait > 10%`.

use std::fmt;
use std::str::FromStr;

use nprof_engine::base::time::PS_PER_NS;

use super::Analysed;
use crate::export::wanted::{time_ps, with_unit};

/// A number about a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quantity {
    /// Largest share or time that a rank waited.
    Wait,
    /// Largest share or time that a rank communicated without computing.
    Exposed,
    /// Largest root blame of a rank: a time, or its share of all waiting.
    Blame,
    /// Number of ranks with another size or kind, or without a call.
    Mismatches,
    /// Largest share of the operations of its groups that a rank lacks, or their number.
    Lost,
}

/// The limit of a quantity.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Limit {
    Share(f64),
    Time(i64),
    Count(f64),
}

/// A quantity and its limit. The condition holds if the quantity is larger.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Condition {
    quantity: Quantity,
    limit: Limit,
}

const QUANTITIES: [(&str, Quantity); 5] = [
    ("wait", Quantity::Wait),
    ("exposed", Quantity::Exposed),
    ("blame", Quantity::Blame),
    ("mismatches", Quantity::Mismatches),
    ("lost", Quantity::Lost),
];

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "\"{text}\" is not a condition; write wait, exposed, blame, lost or mismatches, then > and a \
                 share, a time or a number, such as \"wait > 10%\", \"blame > 5ms\" or \"mismatches > 0\""
            )
        };
        let (name, limit) = text.split_once('>').ok_or_else(wrong)?;
        let quantity = QUANTITIES.iter().find(|(known, _)| *known == name.trim()).ok_or_else(wrong)?.1;
        let limit = limit.trim();
        let limit = if let Some(percent) = limit.strip_suffix('%') {
            Limit::Share(percent.trim().parse::<f64>().map_err(|_| wrong())? / 100.0)
        } else if let Ok(count) = limit.parse::<f64>() {
            Limit::Count(count)
        } else if with_unit(limit).is_some() {
            Limit::Time(time_ps(limit).map_err(|_| wrong())?)
        } else {
            return Err(wrong());
        };
        let is_counted = matches!(quantity, Quantity::Mismatches | Quantity::Lost);
        let fits = match limit {
            Limit::Share(share) => quantity != Quantity::Mismatches && share.is_finite(),
            Limit::Time(_) => !is_counted,
            Limit::Count(count) => is_counted && count.is_finite(),
        };
        if fits { Ok(Self { quantity, limit }) } else { Err(wrong()) }
    }
}

/// A condition that holds.
#[derive(Debug, PartialEq, Eq)]
pub struct Broken {
    text: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Condition {
    /// The worst rank beyond the limit, if there is one.
    #[must_use]
    pub fn broken_by(&self, of: &Analysed) -> Option<Broken> {
        let waits: f64 = of.report.ranks.iter().map(|rank| rank.wait_ps as f64).sum();
        let value = |rank: &nprof_engine::analysis::RankReport| {
            let (amount, whole) = match self.quantity {
                Quantity::Wait => (rank.wait_ps as f64, rank.span_ps as f64),
                Quantity::Exposed => (rank.exposed_ps as f64, rank.span_ps as f64),
                Quantity::Blame => (rank.root_blame_ps, waits),
                Quantity::Lost => (rank.lost as f64, (rank.lost + rank.collectives) as f64),
                Quantity::Mismatches => (of.report.findings.len() as f64, 1.0),
            };
            if let Limit::Share(_) = self.limit { amount / whole.max(1.0) } else { amount }
        };
        let worst = of.report.ranks.iter().max_by(|a, b| value(a).total_cmp(&value(b)))?;
        let name = QUANTITIES.iter().find(|(_, one)| *one == self.quantity).map_or("", |(name, _)| *name);
        let found = value(worst);
        let (limit, found, limit_text) = match self.limit {
            Limit::Share(share) => (share, format!("{:.1} %", found * 100.0), format!("{} %", share * 100.0)),
            Limit::Time(ps) => {
                let us = |ps: f64| format!("{:.3} µs", ps / (1e3 * PS_PER_NS as f64));
                (ps as f64, us(found), us(ps as f64))
            }
            Limit::Count(count) => (count, format!("{found}"), format!("{count}")),
        };
        let whose = match self.quantity {
            Quantity::Mismatches => String::new(),
            _ => format!(" of rank {}", worst.rank),
        };
        (value(worst) > limit)
            .then(|| Broken { text: format!("{name}{whose} is {found}, more than {limit_text}") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_have_a_quantity_and_a_fitting_limit() {
        for good in
            ["wait > 10%", "wait>2.5 %", "blame > 5ms", "exposed > 20%", "mismatches > 0", "lost > 1%"]
        {
            assert!(good.parse::<Condition>().is_ok(), "{good}");
        }
        for wrong in [
            "",
            "wait",
            "wait > ",
            "wait < 10%",
            "weight > 1%",
            "wait > 10",
            "mismatches > 1%",
            "lost > 1ms",
            "wait > inf%",
        ] {
            let error = wrong.parse::<Condition>().unwrap_err();
            assert!(error.starts_with(&format!("\"{wrong}\" is not a condition")), "{error}");
        }
    }
}
