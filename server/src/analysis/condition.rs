//! Conditions of `--fail-on`, such as `wait > 10%`.

use std::fmt;
use std::str::FromStr;

use nprof_engine::analysis::Analysed;
use nprof_engine::base::time::PS_PER_NS;

use crate::units::{time_ps, with_unit};

/// A number about a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quantity {
    /// Largest share or time that a rank waited.
    Wait,
    /// Largest share or time that a rank communicated without computing.
    Exposed,
    /// Largest direct blame of a rank: a time, or its share of all waiting.
    Blame,
    /// Largest root blame of a rank: a time, or its share of all waiting.
    RootBlame,
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

/// Names of the quantities, each with the example of a condition. Columns of `nprof ranks` have the
/// same names.
const QUANTITIES: [(&str, Quantity, &str); 6] = [
    ("wait", Quantity::Wait, "wait > 10%"),
    ("exposed", Quantity::Exposed, "exposed > 20%"),
    ("blame", Quantity::Blame, "blame > 5 ms"),
    ("root-blame", Quantity::RootBlame, "root-blame > 5 ms"),
    ("mismatches", Quantity::Mismatches, "mismatches > 0"),
    ("lost", Quantity::Lost, "lost > 1%"),
];

/// The names of the quantities.
pub const QUANTITY_NAMES: [&str; QUANTITIES.len()] = {
    let mut names = [""; QUANTITIES.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = QUANTITIES[at].0;
        at += 1;
    }
    names
};

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "\"{text}\" is not a condition; write wait, exposed, blame, root-blame, lost or mismatches, \
                 then > and a share, a time or a number, such as \"wait > 10%\", \"blame > 5 ms\" or \
                 \"mismatches > 0\""
            )
        };
        let (name, limit) = text.split_once('>').ok_or_else(wrong)?;
        // The column has a space in its name.
        let name = name.trim().to_ascii_lowercase().replace([' ', '_'], "-");
        let known = QUANTITIES.iter().find(|(known, ..)| *known == name);
        let &(_, quantity, example) = known.ok_or_else(wrong)?;
        limit_of(quantity, limit.trim())
            .map(|limit| Self { quantity, limit })
            .map_err(|why| format!("\"{text}\" is not a condition: {why}; write for example \"{example}\""))
    }
}

/// Reads the limit of a quantity. The error says what is wrong with it.
fn limit_of(quantity: Quantity, text: &str) -> Result<Limit, String> {
    let is_counted = matches!(quantity, Quantity::Mismatches | Quantity::Lost);
    let limit = if let Some(percent) = text.strip_suffix('%') {
        let share = percent.trim().parse::<f64>().map_err(|_| format!("\"{text}\" is not a share"))? / 100.0;
        if quantity == Quantity::Mismatches {
            return Err("mismatches are counted".to_owned());
        }
        if share > 1.0 && share.is_finite() {
            return Err("a share is at most 100%, so nothing could break it".to_owned());
        }
        Limit::Share(share)
    } else if let Ok(count) = text.parse::<f64>() {
        if !is_counted {
            return Err(format!("\"{text}\" has no unit"));
        }
        Limit::Count(count)
    } else if with_unit(text).is_some() {
        let time = time_ps(text)?;
        if is_counted {
            return Err("it is a number or a share, and no time".to_owned());
        }
        Limit::Time(time)
    } else {
        return Err(format!("\"{text}\" is no limit"));
    };
    let size = match limit {
        Limit::Share(size) | Limit::Count(size) => size,
        Limit::Time(ps) => ps as f64,
    };
    match size.is_finite() && size >= 0.0 {
        true => Ok(limit),
        false => Err("a limit is a number from 0 on".to_owned()),
    }
}

/// The condition in the words in which it can be written.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = QUANTITIES.iter().find(|(_, one, _)| *one == self.quantity).map_or("", |(name, ..)| *name);
        match self.limit {
            Limit::Share(share) => write!(f, "{name} > {}%", share * 100.0),
            Limit::Time(ps) => write!(f, "{name} > {}", crate::units::time_text(i128::from(ps))),
            Limit::Count(count) => write!(f, "{name} > {count}"),
        }
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
    /// Whether a text begins with the name of a quantity of ranks, followed by a sign.
    #[must_use]
    pub fn is_about(text: &str) -> bool {
        let name = text.split(['>', '<']).next().unwrap_or_default();
        let name = name.trim().to_ascii_lowercase().replace([' ', '_'], "-");
        QUANTITIES.iter().any(|(known, ..)| *known == name)
    }

    /// The worst rank beyond the limit, if there is one.
    #[must_use]
    pub fn broken_by(&self, of: &Analysed) -> Option<Broken> {
        let waits: f64 = of.report.ranks.iter().map(|rank| rank.wait_ps as f64).sum();
        let value = |rank: &nprof_engine::analysis::RankReport| {
            let (amount, whole) = match self.quantity {
                Quantity::Wait => (rank.wait_ps as f64, rank.span_ps as f64),
                Quantity::Exposed => (rank.exposed_ps as f64, rank.span_ps as f64),
                Quantity::Blame => (rank.blame_ps, waits),
                Quantity::RootBlame => (rank.root_blame_ps, waits),
                Quantity::Lost => (rank.lost as f64, (rank.lost + rank.collectives) as f64),
                Quantity::Mismatches => (of.report.contradictions.len() as f64, 1.0),
            };
            if let Limit::Share(_) = self.limit { amount / whole.max(1.0) } else { amount }
        };
        let worst = of.report.ranks.iter().max_by(|a, b| value(a).total_cmp(&value(b)))?;
        let name = QUANTITIES.iter().find(|(_, one, _)| *one == self.quantity).map_or("", |(name, ..)| *name);
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
        for good in [
            "wait > 10%",
            "wait>2.5 %",
            "wait > 10ms",
            "wait > 10 ms",
            "blame > 5ms",
            "blame > 30%",
            "root-blame > 5 ms",
            "root blame > 0%",
            "Root_Blame > 1 s",
            "exposed > 100%",
            "mismatches > 0",
            "lost > 1%",
            "lost > 3",
        ] {
            assert!(good.parse::<Condition>().is_ok(), "{good}");
        }
        let of = |text: &str| text.parse::<Condition>().unwrap();
        assert_eq!(of("blame > 5 ms").quantity, Quantity::Blame);
        assert_eq!(of("root blame > 5 ms"), of("root-blame>5ms"));
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
            "wait > nan%",
            "wait > -1%",
            "wait > 101%",
            "wait > -5ms",
            "wait >= 10%",
            "wait > 10 parsecs",
            "mismatches > -1",
            "mismatches > nan",
            "root blame",
        ] {
            let error = wrong.parse::<Condition>().unwrap_err();
            assert!(error.starts_with(&format!("\"{wrong}\" is not a condition")), "{error}");
            // An example in the message is a condition.
            let examples: Vec<&str> =
                error.split('"').skip(3).step_by(2).filter(|one| one.contains('>')).collect();
            assert!(!examples.is_empty(), "{error}");
            examples.iter().for_each(|example| assert!(example.parse::<Condition>().is_ok(), "{error}"));
        }
        let error = "wait > -1%".parse::<Condition>().unwrap_err();
        assert!(error.ends_with("write for example \"wait > 10%\""), "{error}");
    }
}
