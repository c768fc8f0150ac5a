//! Findings as text: one printer for all that shows them.

use nprof_engine::base::time::short_duration;
use nprof_engine::insight::Bracket;
use nprof_engine::insight::finding::sentence::{between, of_run, place};
use nprof_engine::wire::findings::{FindingEntry, Findings, RuleState};

use super::row_limit::RowLimit;
use crate::units::time_text;

/// Width of a line of text.
const WIDTH: usize = 100;
/// Width of the columns before the text of a finding.
const INDENT: usize = 20;

/// The answer, the findings with their savings and places, then the rules that found nothing, the
/// length of the run and the recorded part. Times of places count from `first_ps`.
#[must_use]
pub fn lines(of: &Findings, limit: RowLimit, first_ps: i64) -> Vec<String> {
    let length_ps = of.recorded_ps.unwrap_or(0);
    let found: Vec<&FindingEntry> = of.in_state(RuleState::Found).collect();
    let mut lines = vec![of.answer.clone()];
    let shown = limit.shown(&found);
    let mut advised: Vec<&str> = Vec::new();
    for one in shown {
        lines.extend(finding_lines(one, length_ps, first_ps, !advised.contains(&one.rule.as_str())));
        advised.push(&one.rule);
    }
    if shown.len() < found.len() {
        lines.push(format!("{} more findings; --limit all shows them", found.len() - shown.len()));
    }
    lines.extend(of.rest());
    lines
}

/// A finding: its saving and its text, then the place and, if it is wanted, the advice.
fn finding_lines(of: &FindingEntry, length_ps: i64, first_ps: i64, with_advice: bool) -> Vec<String> {
    let cost = match of.saved_ps() {
        Some(ps) => format!("{:>8} {:>8}", short_duration(ps as f64), of_run(ps, length_ps)),
        None => format!("{:>8} {:>8}", "-", "-"),
    };
    let indent = " ".repeat(INDENT);
    let first = format!("{cost}{}", " ".repeat(INDENT.saturating_sub(cost.chars().count())));
    let options =
        textwrap::Options::new(WIDTH).initial_indent(&first).subsequent_indent(&indent).break_words(false);
    let mut lines: Vec<String> = wrapped(&format!("{}: {}", of.rule, of.text), &options);
    let rest = textwrap::Options::new(WIDTH).initial_indent(&indent).subsequent_indent(&indent);
    let bounds = of.saving_ps.map(|saving| between(&Bracket::from(saving)));
    let place = place(&of.place(), |ps| time_text(i128::from(ps) - i128::from(first_ps)))
        .map(|place| format!("see {place}"));
    let details: Vec<String> = [bounds, place].into_iter().flatten().collect();
    if !details.is_empty() {
        lines.extend(wrapped(&details.join("; "), &rest));
    }
    if let Some(advice) = of.advice.as_deref().filter(|_| with_advice) {
        lines.extend(wrapped(&format!("→ {advice}"), &rest));
    }
    lines
}

fn wrapped(text: &str, options: &textwrap::Options<'_>) -> Vec<String> {
    textwrap::wrap(text, options).into_iter().map(std::borrow::Cow::into_owned).collect()
}
