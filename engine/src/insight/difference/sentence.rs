//! A comparison in sentences.

use super::comparison::{Doubt, RunComparison, SharedRanks, SpeedVerdict, TimeChange};
use super::work_key::WorkKey;
use crate::base::time::short_duration;
use crate::insight::finding::percent;

/// The answer. `a` and `b` name the runs.
#[must_use]
pub fn answer(of: &RunComparison, a: &str, b: &str) -> String {
    let times = format!("{} instead of {}", time(of.total.b_ps), time(of.total.a_ps));
    let by = change(&of.total);
    match of.verdict {
        SpeedVerdict::Faster => format!("{b} is faster than {a}: {times}, {by}"),
        SpeedVerdict::Slower => format!("{b} is slower than {a}: {times}, {by}"),
        SpeedVerdict::Same if of.total.difference_ps() == 0 => {
            format!("{b} takes as long as {a}: {}", time(of.total.a_ps))
        }
        SpeedVerdict::Same => format!("no difference seen between {a} and {b}: {times}, {by}"),
        SpeedVerdict::Inconclusive => format!("cannot tell whether {b} is faster than {a}: {times}, {by}"),
    }
}

/// The scope of the times.
#[must_use]
pub fn scope(of: &RunComparison) -> String {
    let (a, b) = of.repetitions;
    let repetitions = match (a, b) {
        (1, 1) if of.is_active_part => "the active part of each, without start-up and tear-down".to_owned(),
        (1, 1) => "one repetition of each".to_owned(),
        (a, b) if a == b => format!("the sum of {a} repetitions of each"),
        (a, b) => format!("one repetition, as the mean of {a} and {b}"),
    };
    let ranks = match of.ranks {
        (1, 1) => String::new(),
        (a, b) if a == b => format!(", mean of {a} ranks"),
        (a, b) => format!(", mean of {a} and {b} ranks"),
    };
    let left_out = match of.left_out {
        (0, 0) => String::new(),
        (a, b) => format!("; {a} and {b} repetitions are left out, because not all ranks have them"),
    };
    let of_rank = match of.by {
        WorkKey::Rank if of.ranks != (1, 1) => "; the row of a rank is its part of the mean",
        _ => "",
    };
    format!("times are those of {repetitions}{ranks}{of_rank}{left_out}")
}

/// Why a comparison tells less than it could.
#[must_use]
pub fn doubt(of: &Doubt) -> String {
    match of {
        Doubt::OtherWork(shared) if shared.has_same_names() => format!(
            "the runs do another amount of work: {} of it has the same names, but only {} runs as often",
            percent(shared.named),
            percent(shared.as_often)
        ),
        Doubt::OtherWork(shared) => {
            format!("the runs do other work: only {} of it is in both as often", percent(shared.as_often))
        }
        Doubt::OtherRanks(SharedRanks { a, b, work }) if work.is_all() => {
            format!("{} against {b}: times are those of a rank, which runs the same program", ranks(*a))
        }
        Doubt::OtherRanks(SharedRanks { a, b, work }) => format!(
            "{} against {b}, and a rank runs another program: only {} of its work is in both as often",
            ranks(*a),
            percent(work.as_often)
        ),
        Doubt::TooNoisy(noise) => {
            format!("the repetitions vary so much that a difference of {} can be chance", percent(*noise))
        }
        Doubt::OneRepetition => {
            "one repetition of a run does not tell how much it varies: differences have no bounds".to_owned()
        }
        Doubt::EventsLost => "a recording lacks events: `nprof summary` shows its warnings".to_owned(),
    }
}

/// The reason why rows have another subject than the one that was asked for.
#[must_use]
pub fn note(of: &RunComparison) -> Option<String> {
    let subject = of.absent?.title();
    Some(format!("no work of these runs has a known {subject}: rows are by {}", of.by.name()))
}

fn ranks(count: usize) -> String {
    if count == 1 { "1 rank".to_owned() } else { format!("{count} ranks") }
}

/// The difference of a time, with its bounds if they are known.
fn change(of: &TimeChange) -> String {
    let difference = of.difference_ps();
    let part = match of.a_ps {
        0 => String::new(),
        a_ps => format!(" ({})", signed_percent(difference as f64 / a_ps as f64)),
    };
    let bounds = match of.bounds_ps {
        Some((low_ps, high_ps)) if low_ps != high_ps => {
            format!(", between {} and {}", signed_time(low_ps), signed_time(high_ps))
        }
        _ => String::new(),
    };
    format!("{}{part}{bounds}", signed_time(difference))
}

/// A time with its sign.
#[must_use]
pub fn signed_time(ps: i64) -> String {
    with_sign(time(ps.saturating_abs()), Sign::of(ps), Plus::Written)
}

/// A part of a whole in percent with its sign.
#[must_use]
pub fn signed_percent(part: f64) -> String {
    with_sign(percent(part.abs()), Sign::of_percent(part), Plus::Written)
}

/// A part of a difference in percent: a minus says that it is against the difference.
#[must_use]
pub fn share_of_difference(part: f64) -> String {
    with_sign(percent(part.abs()), Sign::of_percent(part), Plus::Omitted)
}

/// The sign of a number as it is written: what rounds to zero has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Minus,
    None,
    Plus,
}

impl Sign {
    fn of(number: i64) -> Self {
        match number.signum() {
            -1 => Self::Minus,
            0 => Self::None,
            _ => Self::Plus,
        }
    }

    fn of_percent(part: f64) -> Self {
        match percent(part.abs()) == percent(0.0) {
            true => Self::None,
            false => Self::of(if part < 0.0 { -1 } else { 1 }),
        }
    }
}

/// Whether a plus is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plus {
    Written,
    Omitted,
}

fn with_sign(absolute: String, sign: Sign, plus: Plus) -> String {
    match (sign, plus) {
        (Sign::Minus, _) => format!("−{absolute}"),
        (Sign::Plus, Plus::Written) => format!("+{absolute}"),
        (Sign::Plus, Plus::Omitted) | (Sign::None, _) => absolute,
    }
}

fn time(ps: i64) -> String {
    short_duration(ps as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_minus_and_zero_has_no_sign() {
        assert_eq!([-133_000_000_000, 0, 5_000].map(signed_time), ["−133 ms", "0 ps", "+5.00 ns"]);
        assert_eq!(
            [-0.475, -0.000_4, 0.000_4, 0.6].map(signed_percent),
            ["−47.5 %", "0.0 %", "0.0 %", "+60.0 %"]
        );
        assert_eq!([-0.475, -0.000_4, 0.6].map(share_of_difference), ["−47.5 %", "0.0 %", "60.0 %"]);
    }
}
