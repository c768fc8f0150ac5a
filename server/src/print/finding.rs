//! Findings as text and JSON: one printer for all that shows them.

use nprof_engine::base::time::short_duration;
use nprof_engine::insight::finding::{
    Coverage, EvidenceValue, Finding, FindingEvidence, Judgement, RuleVerdict,
};
use serde_json::{Value, json};

use super::bracket::{between, bracket};
use super::row_limit::RowLimit;
use super::text::share;

/// Width of a line of text.
const WIDTH: usize = 100;
/// Width of the columns before the text of a finding.
const INDENT: usize = 20;

/// All answers of rules: an object for each finding, and one for each rule without any.
#[must_use]
pub fn documents(of: &[RuleVerdict]) -> Vec<Value> {
    let of_rule = |one: &RuleVerdict| match &one.verdict {
        Judgement::Found(found) => found.iter().map(document).collect(),
        other => vec![json!({
            "rule": one.rule.rule().id,
            "state": other.state(),
            "severity": null,
            "rank": null,
            "ranks": null,
            "track": null,
            "row": null,
            "start_ps": null,
            "end_ps": null,
            "saving_ps": null,
            "text": reason(other),
            "advice": null,
            "evidence": [],
        })],
    };
    of.iter().flat_map(of_rule).collect()
}

/// Why a rule found nothing.
fn reason(of: &Judgement) -> String {
    match of {
        Judgement::CannotTell(missing) => format!("cannot tell: {}", missing.words()),
        Judgement::Found(_) | Judgement::Nothing => "nothing found".to_owned(),
    }
}

fn document(of: &Finding) -> Value {
    let rule = of.rule.rule();
    let place = &of.place;
    json!({
        "rule": rule.id,
        "state": "found",
        "severity": of.severity.name(),
        "rank": place.rank,
        "ranks": (!place.ranks.is_empty()).then_some(&place.ranks),
        "track": place.track,
        "row": place.row,
        "start_ps": place.span_ps.map(|span| span.0),
        "end_ps": place.span_ps.map(|span| span.1),
        "saving_ps": of.saving.as_ref().map(bracket),
        "text": of.text(),
        "advice": rule.advice,
        "evidence": of.evidence.iter().map(evidence).collect::<Vec<_>>(),
    })
}

fn evidence(of: &FindingEvidence) -> Value {
    let value = match of.quantity {
        EvidenceValue::Time(ps) => json!(ps),
        EvidenceValue::Share(number) | EvidenceValue::Factor(number) => json!(number),
        EvidenceValue::Count(count) => json!(count),
    };
    json!({"measure": of.measure.name(), "of": of.of, "value": value, "unit": of.quantity.unit()})
}

/// The answer, the findings with their savings and places, then the rules that found nothing.
#[must_use]
pub fn lines(of: &[RuleVerdict], length_ps: i64, limit: RowLimit) -> Vec<String> {
    let mut found: Vec<&Finding> = of.iter().flat_map(|one| one.verdict.found()).collect();
    found.sort_by_key(|one| std::cmp::Reverse(one.saved_ps()));
    let mut lines = vec![answer(&found, length_ps)];
    let shown = limit.shown(&found);
    let mut advised: Vec<&str> = Vec::new();
    for one in shown {
        let id = one.rule.rule().id;
        lines.extend(finding_lines(one, length_ps, !advised.contains(&id)));
        advised.push(id);
    }
    if shown.len() < found.len() {
        lines.push(format!("{} more findings; --limit all shows them", found.len() - shown.len()));
    }
    let nothing = of.iter().filter(|one| one.verdict == Judgement::Nothing);
    let nothing: Vec<&str> = nothing.map(|one| one.rule.rule().id).collect();
    if !nothing.is_empty() {
        lines.push(format!("nothing found: {}", nothing.join(", ")));
    }
    for one in of {
        if let Judgement::CannotTell(missing) = one.verdict {
            lines.push(format!("cannot tell {}: {}", one.rule.rule().id, missing.words()));
        }
    }
    lines
}

/// The answer in a sentence.
#[must_use]
pub fn answer(found: &[&Finding], length_ps: i64) -> String {
    let saving = |one: &Finding| one.saved_ps().unwrap_or(0);
    let costly = found.iter().filter(|one| saving(one) > 0).count();
    let Some(first) = found.first().filter(|_| costly > 0) else {
        return "nothing was found that makes the run longer".to_owned();
    };
    let time = short_duration(saving(first) as f64);
    let whole = share(saving(first) as f64, length_ps as f64);
    match costly {
        1 => format!("one thing makes the run longer: {}, by {time} ({whole})", first.rule.rule().id),
        _ => format!(
            "{costly} things make the run longer, most of all {}: by {time} ({whole})",
            first.rule.rule().id
        ),
    }
}

/// A finding: its saving and its text, then the place and, if it is wanted, the advice.
fn finding_lines(of: &Finding, length_ps: i64, with_advice: bool) -> Vec<String> {
    let rule = of.rule.rule();
    let cost = of.saving.map_or_else(String::new, |saving| {
        let ps = saving.middle_ps.max(0) as f64;
        format!("{:>8} {:>8}", short_duration(ps), share(ps, length_ps as f64))
    });
    let indent = " ".repeat(INDENT);
    let first = format!("{cost}{}", " ".repeat(INDENT.saturating_sub(cost.chars().count())));
    let options =
        textwrap::Options::new(WIDTH).initial_indent(&first).subsequent_indent(&indent).break_words(false);
    let mut lines: Vec<String> = wrapped(&format!("{}: {}", rule.id, of.text()), &options);
    let rest = textwrap::Options::new(WIDTH).initial_indent(&indent).subsequent_indent(&indent);
    let details: Vec<String> =
        [of.saving.map(|saving| between(&saving)), place(of)].into_iter().flatten().collect();
    if !details.is_empty() {
        lines.extend(wrapped(&details.join("; "), &rest));
    }
    if with_advice {
        lines.extend(wrapped(&format!("→ {}", rule.advice), &rest));
    }
    lines
}

fn wrapped(text: &str, options: &textwrap::Options<'_>) -> Vec<String> {
    textwrap::wrap(text, options).into_iter().map(std::borrow::Cow::into_owned).collect()
}

/// The place to look at.
fn place(of: &Finding) -> Option<String> {
    let place = &of.place;
    let rank = place.rank.map(|rank| format!("rank {rank}"));
    let time = |ps: i64| crate::units::time_text(ps.into());
    let span = place.span_ps.map(|(start_ps, end_ps)| format!("{} to {}", time(start_ps), time(end_ps)));
    let parts: Vec<String> = [rank, place.track.clone(), span].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("see {}", parts.join(", ")))
}

/// The recorded part of a job, in one line.
#[must_use]
pub fn coverage_line(of: &Coverage) -> String {
    if of.is_complete() {
        return "recorded: all of the run, as far as the profile tells".to_owned();
    }
    let absent = match of.absent_ranks() {
        0 => String::new(),
        _ => format!("{} of {} ranks; of these ", of.ranks.len(), of.world),
    };
    let late = match of.ranks.iter().filter(|rank| rank.late_ps > 0 || rank.cut_ps > 0).count() {
        0 => String::new(),
        1 => ", one rank not from begin to end".to_owned(),
        late => format!(", {late} ranks not from begin to end"),
    };
    let unplaced = match of.unplaced_calls {
        0 => String::new(),
        calls => format!(", {calls} calls of no known group"),
    };
    format!(
        "recorded: {absent}{} of the time, {} of the calls of operations{late}{unplaced}",
        share(of.of_own_time(), 1.0),
        share(of.of_own_calls(), 1.0)
    )
}

/// The recorded part of a job and of its ranks.
#[must_use]
pub fn coverage_document(of: &Coverage) -> Value {
    let rank = |rank: &nprof_engine::insight::finding::RankCoverage| {
        json!({
            "rank": rank.rank,
            "time": rank.time,
            "events": rank.of_calls(),
            "calls": rank.calls,
            "absent_calls": rank.absent_calls,
            "late_ps": rank.late_ps,
            "cut_ps": rank.cut_ps,
        })
    };
    json!({
        "time": of.of_time(),
        "events": of.of_calls(),
        "ranks_recorded": of.ranks.len(),
        "world": of.world,
        "unplaced_calls": of.unplaced_calls,
        "ranks": of.ranks.iter().map(rank).collect::<Vec<_>>(),
    })
}
