//! Predictions in sentences, alike in the command line, the API and the page.

use super::bracket::Bracket;
use super::finding::sentence::{between, of_run};
use super::prediction::Prediction;
use crate::base::time::short_duration;

/// The predicted length, the recorded one, and the change.
#[must_use]
pub fn answer(of: &Prediction) -> String {
    format!("{} instead of {}: {}", time(of.predicted.middle_ps), time(of.recorded_ps), change(of))
}

/// The time by which the run gets shorter or longer, with its bounds.
#[must_use]
pub fn change(of: &Prediction) -> String {
    let saved = of.saving();
    let (word, by) = match saved.middle_ps < 0 {
        true => (
            "longer",
            Bracket { low_ps: -saved.high_ps, middle_ps: -saved.middle_ps, high_ps: -saved.low_ps },
        ),
        false => ("shorter", saved),
    };
    format!("{} ({}) {word}, {}", time(by.middle_ps), of_run(by.middle_ps, of.recorded_ps), between(&by))
}

/// How well the replay does.
#[must_use]
pub fn fidelity(of: &Prediction) -> Vec<String> {
    let mut lines = vec![match of.unchanged_ps == of.recorded_ps {
        true => "the replay of the unchanged run takes as long as recorded".to_owned(),
        false => format!("the replay of the unchanged run takes {}", time(of.unchanged_ps)),
    }];
    if of.cuts > 0 {
        lines.push(format!(
            "{} operations were cut, because each of their ranks waits for another one",
            of.cuts
        ));
    }
    lines
}

fn time(ps: i64) -> String {
    short_duration(ps as f64)
}
