//! The slack of a piece of work, as the page says it beside the critical path. [`WorkSlack::of`]
//! alone makes this message.

use serde::{Deserialize, Serialize};

use super::message_times::{TimeField, Timed};
use crate::base::time::short_duration;

/// The time by which the work of a slice could take longer before the run does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkSlack {
    /// The answer in words.
    pub answer: String,
    /// The slack in picoseconds. `None` if the run does not wait for the work.
    pub slack_ps: Option<i64>,
    /// Whether the critical path leads through the work.
    pub is_on_path: bool,
}

impl WorkSlack {
    /// The message about a slack.
    #[must_use]
    pub fn of(slack_ps: Option<i64>, is_on_path: bool) -> Self {
        let answer = match slack_ps {
            _ if is_on_path => "none: it is on the critical path".to_owned(),
            Some(ps) if ps > 0 => {
                let time = short_duration(ps as f64);
                format!("{time}: it can take so much longer before the run does")
            }
            Some(_) => "none: the run takes longer if it does".to_owned(),
            None => "any: the run does not wait for it".to_owned(),
        };
        Self { answer, slack_ps, is_on_path }
    }
}

/// A slack is a length, which no clock moves.
impl Timed for WorkSlack {
    fn each_time(&mut self, _: &mut dyn FnMut(TimeField<'_>)) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_says_what_the_run_does() {
        let answer = |slack_ps, is_on_path| WorkSlack::of(slack_ps, is_on_path).answer;
        assert_eq!(answer(Some(0), true), "none: it is on the critical path");
        assert_eq!(
            answer(Some(41_000_000), false),
            "41.0 µs: it can take so much longer before the run does"
        );
        assert_eq!(answer(Some(0), false), "none: the run takes longer if it does");
        assert_eq!(answer(None, false), "any: the run does not wait for it");
    }
}
