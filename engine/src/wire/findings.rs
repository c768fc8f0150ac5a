//! The findings about a run. [`Findings::of`] alone makes this message, so the command line, the
//! API, the page and HTML files give the same answer.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize, Serializer};

use super::coverage_entry::CoverageEntry;
use super::message_times::{TimeField, Timed};
use super::page_link::place_in_page;
use super::span_entry::SpanEntry;
use crate::base::time::short_duration;
use crate::insight::Bracket;
use crate::insight::finding::sentence::FoundCost;
use crate::insight::finding::{
    Coverage, EvidenceValue, Finding, FindingEvidence, Judgement, Place, RuleVerdict, Severity, sentence,
};

/// Name of the rule about ranks for which others wait.
const LATE_RANK: &str = "late-rank";

/// Findings about a run: causes of lost time with their costs and places.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Findings {
    /// The answer in a sentence.
    pub answer: String,
    /// Length of the run in picoseconds. `None` if no rule could look at the run; the answer is the
    /// reason then.
    pub recorded_ps: Option<i64>,
    /// Number of entries, also of those that a limit left out.
    pub total: u64,
    /// The findings, those with the largest saving first, then an entry for each rule without any.
    /// Savings of two findings do not add up.
    pub findings: Vec<FindingEntry>,
    /// The recorded part of the run.
    pub coverage: CoverageEntry,
}

/// A finding, or the answer of a rule that has none.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FindingEntry {
    /// Name of the rule.
    pub rule: String,
    /// The answer of the rule.
    pub state: RuleState,
    /// How much the finding matters. `None` without a finding.
    pub severity: Option<SeverityEntry>,
    /// The rank to look at. `None` if no single rank is meant.
    pub rank: Option<u32>,
    /// Numbers of several ranks, ascending: those of a link.
    pub ranks: Option<Vec<u32>>,
    /// Number of a rank that does the same as usual.
    pub usual_rank: Option<u32>,
    /// Name of the track.
    pub track: Option<String>,
    /// Row in the segment of the rank.
    pub row: Option<u32>,
    /// Start of the place, in picoseconds of the clock that all ranks share.
    pub start_ps: Option<i64>,
    /// End of the place, in picoseconds of the clock that all ranks share.
    pub end_ps: Option<i64>,
    /// Other spans of the same cause, the longest first.
    pub others: Vec<SpanEntry>,
    /// Time by which the run would be shorter without the cause. `None` if it costs nothing that is
    /// known.
    pub saving_ps: Option<BracketEntry>,
    /// The finding in a sentence, or the answer of the rule.
    pub text: String,
    /// Advice: a way to get rid of the cause. `None` without a finding.
    pub advice: Option<String>,
    /// The numbers behind the finding.
    pub evidence: Vec<EvidenceEntry>,
    /// The question that the rule answers.
    pub title: String,
    /// The missing data, and what helps. `None` unless the rule cannot tell.
    pub reason: Option<String>,
    /// The place in the page of the profile, as the rest of its address. `None` if the run as a
    /// whole is meant.
    pub link: Option<String>,
}

/// The answer of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RuleState {
    /// The rule found something.
    Found,
    /// All data is there, and nothing was found.
    #[default]
    Nothing,
    /// Nothing was found, but data is missing.
    CannotTell,
}

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SeverityEntry {
    /// No cost is known.
    Note,
    /// Less than 2 % of the run.
    Low,
    /// Less than a tenth of the run.
    Medium,
    /// A tenth of the run or more.
    High,
}

/// A time in picoseconds between bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BracketEntry {
    /// The least that is possible.
    pub low: i64,
    /// The most likely value.
    pub middle: i64,
    /// The most that is possible.
    pub high: i64,
}

/// One number behind a finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EvidenceEntry {
    /// The thing that was measured, such as `longer_by`.
    pub measure: String,
    /// Name of the work, kind or party that it is measured of.
    pub of: Option<String>,
    /// The number; times are exact up to two hours.
    #[serde(serialize_with = "number")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub value: f64,
    /// `ps`, `ratio` or `count`.
    pub unit: String,
}

/// Whole numbers have no decimals in JSON.
fn number<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    match *value {
        whole if serializer.is_human_readable() && whole.fract() == 0.0 => {
            serializer.serialize_i64(whole as i64)
        }
        value => serializer.serialize_f64(value),
    }
}

impl Findings {
    /// The answer from what the rules say about a run of this length.
    #[must_use]
    pub fn of(verdicts: &[RuleVerdict], length_ps: i64, coverage: &Coverage) -> Self {
        let findings = entries(verdicts);
        let found = findings.iter().filter(|one| one.state == RuleState::Found).map(FoundCost::from);
        Self {
            answer: sentence::answer(&found.collect::<Vec<_>>(), length_ps),
            recorded_ps: Some(length_ps),
            total: findings.len() as u64,
            findings,
            coverage: CoverageEntry::from(coverage),
        }
    }

    /// The answer that nobody can tell, with the reason.
    #[must_use]
    pub fn unknown(reason: &str) -> Self {
        Self { answer: reason.to_owned(), ..Self::default() }
    }

    /// The same answer with at most `limit` entries.
    #[must_use]
    pub fn limited(mut self, limit: usize) -> Self {
        self.findings.truncate(limit);
        self
    }

    /// The sentences behind the findings: the rules without any, the length of the run, and the
    /// recorded part.
    #[must_use]
    pub fn rest(&self) -> Vec<String> {
        let nothing: Vec<&str> = self.in_state(RuleState::Nothing).map(|one| one.rule.as_str()).collect();
        let nothing = (!nothing.is_empty()).then(|| format!("nothing found: {}", nothing.join(", ")));
        let cannot_tell = |one: &FindingEntry| {
            format!("cannot tell {}: {}", one.rule, one.reason.as_deref().unwrap_or_default())
        };
        let length = self.recorded_ps.map(|ps| format!("the run takes {}", short_duration(ps as f64)));
        let others = self.in_state(RuleState::CannotTell).map(cannot_tell);
        nothing.into_iter().chain(others).chain(length).chain([self.coverage.text.clone()]).collect()
    }

    /// The entries of rules that answered so.
    pub fn in_state(&self, state: RuleState) -> impl Iterator<Item = &FindingEntry> {
        self.findings.iter().filter(move |one| one.state == state)
    }
}

/// An entry for each finding, those with the largest saving first, then one for each rule without
/// any: those that cannot tell, then those that found nothing.
#[must_use]
pub fn entries(of: &[RuleVerdict]) -> Vec<FindingEntry> {
    let of_rule = |one: &RuleVerdict| match &one.verdict {
        Judgement::Found(found) => found.iter().map(FindingEntry::from).collect(),
        _ => vec![FindingEntry::without_findings(one)],
    };
    let mut entries: Vec<FindingEntry> = of.iter().flat_map(of_rule).collect();
    // Findings, then rules that cannot tell, then the others.
    let order = |one: &FindingEntry| (one.state != RuleState::Found, one.state == RuleState::Nothing);
    // Errors make the results doubtful: they come before all costs.
    let is_urgent = |one: &FindingEntry| one.saving_ps.is_none() && one.severity == Some(SeverityEntry::High);
    entries.sort_by_key(|one| {
        (order(one), Reverse(is_urgent(one)), Reverse(one.saving_ps.map(|saving| saving.middle)))
    });
    entries
}

impl FindingEntry {
    /// The answer of a rule that has no findings.
    pub(super) fn without_findings(of: &RuleVerdict) -> Self {
        let rule = of.rule.rule();
        let (state, reason) = match &of.verdict {
            Judgement::CannotTell(missing) => (RuleState::CannotTell, Some(missing.words())),
            Judgement::Found(_) | Judgement::Nothing => (RuleState::Nothing, None),
        };
        Self {
            rule: rule.id.to_owned(),
            state,
            text: sentence::without_findings(&of.verdict).unwrap_or_default(),
            title: rule.title.to_owned(),
            reason,
            ..Self::default()
        }
    }

    /// Whether it is about a rank for which the others wait.
    #[must_use]
    pub fn is_late_rank(&self) -> bool {
        self.rule == LATE_RANK
    }

    /// The place to look at.
    #[must_use]
    pub fn place(&self) -> Place {
        Place {
            rank: self.rank,
            ranks: self.ranks.clone().unwrap_or_default(),
            usual_rank: self.usual_rank,
            track: self.track.clone(),
            span_ps: self.start_ps.zip(self.end_ps),
            others_ps: self.others.iter().map(|span| (span.start_ps, span.end_ps)).collect(),
            row: self.row,
        }
    }

    /// The most likely saving in picoseconds, not negative. `None` if it costs nothing that is
    /// known.
    #[must_use]
    pub fn saved_ps(&self) -> Option<i64> {
        self.saving_ps.map(|saving| saving.middle.max(0))
    }
}

impl From<&Finding> for FindingEntry {
    fn from(of: &Finding) -> Self {
        let (rule, place) = (of.rule.rule(), &of.place);
        Self {
            rule: rule.id.to_owned(),
            state: RuleState::Found,
            severity: Some(of.severity.into()),
            rank: place.rank,
            ranks: (!place.ranks.is_empty()).then(|| place.ranks.clone()),
            usual_rank: place.usual_rank,
            track: place.track.clone(),
            row: place.row,
            start_ps: place.span_ps.map(|span| span.0),
            end_ps: place.span_ps.map(|span| span.1),
            others: place.others_ps.iter().map(|&(start, end)| SpanEntry::of(start, end)).collect(),
            saving_ps: of.saving.map(BracketEntry::from),
            text: of.text(),
            advice: Some(rule.advice.to_owned()),
            evidence: of.evidence.iter().map(EvidenceEntry::from).collect(),
            title: rule.title.to_owned(),
            reason: None,
            link: place_in_page(place),
        }
    }
}

impl From<Severity> for SeverityEntry {
    fn from(of: Severity) -> Self {
        match of {
            Severity::Note => Self::Note,
            Severity::Low => Self::Low,
            Severity::Medium => Self::Medium,
            Severity::High => Self::High,
        }
    }
}

impl From<Bracket> for BracketEntry {
    fn from(of: Bracket) -> Self {
        Self { low: of.low_ps, middle: of.middle_ps, high: of.high_ps }
    }
}

impl From<BracketEntry> for Bracket {
    fn from(of: BracketEntry) -> Self {
        Self { low_ps: of.low, middle_ps: of.middle, high_ps: of.high }
    }
}

impl From<&FindingEvidence> for EvidenceEntry {
    fn from(of: &FindingEvidence) -> Self {
        let value = match of.quantity {
            EvidenceValue::Time(ps) => ps as f64,
            EvidenceValue::Share(number) | EvidenceValue::Factor(number) => number,
            EvidenceValue::Count(number) | EvidenceValue::Bytes(number) => number as f64,
        };
        Self {
            measure: of.measure.name().to_owned(),
            of: of.of.clone(),
            value,
            unit: of.quantity.unit().to_owned(),
        }
    }
}

/// Places of findings have shared times.
impl Timed for Findings {
    fn each_time(&mut self, _: &mut dyn FnMut(TimeField<'_>)) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insight::finding::{DataGap, EvidenceMeasure, RuleName};

    fn finding(rule: RuleName, middle_ps: Option<i64>) -> Finding {
        let quantity = EvidenceValue::Time(4_200_000_000_001);
        let evidence = vec![
            FindingEvidence::about(EvidenceMeasure::LongerBy, "matmul", quantity),
            FindingEvidence::new(EvidenceMeasure::OfRun, EvidenceValue::Share(0.25)),
        ];
        Finding {
            rule,
            severity: Severity::of(middle_ps.unwrap_or(0), 1_000),
            place: Place { row: Some(7), ..Place::of_rank(3) },
            evidence,
            saving: middle_ps.map(|middle_ps| Bracket::around(0, middle_ps, 900)),
        }
    }

    fn verdicts() -> Vec<RuleVerdict> {
        let of = |rule, verdict| RuleVerdict { rule, verdict };
        let links = vec![finding(RuleName::SlowLink, Some(15)), finding(RuleName::SlowLink, None)];
        vec![
            of(RuleName::StartUp, Judgement::Nothing),
            of(RuleName::SlowLink, Judgement::Found(links)),
            of(RuleName::SlowStep, Judgement::CannotTell(DataGap::FewSteps(1))),
            of(RuleName::LateRank, Judgement::Found(vec![finding(RuleName::LateRank, Some(125))])),
        ]
    }

    #[test]
    fn the_largest_saving_is_first_and_no_rule_is_left_out() {
        let of = Findings::of(&verdicts(), 1_000, &Coverage::default());
        let rows: Vec<(&str, RuleState, Option<i64>)> =
            of.findings.iter().map(|one| (one.rule.as_str(), one.state, one.saved_ps())).collect();
        let expected = [
            ("late-rank", RuleState::Found, Some(125)),
            ("slow-link", RuleState::Found, Some(15)),
            ("slow-link", RuleState::Found, None),
            ("slow-step", RuleState::CannotTell, None),
            ("start-up", RuleState::Nothing, None),
        ];
        assert_eq!(rows, expected);
        let answer = "2 things make the run longer, most of all late-rank: by 125 ps (12.5 %)";
        assert_eq!((of.answer.as_str(), of.total), (answer, 5));
        let rest = of.rest();
        assert_eq!(rest[0], "nothing found: start-up");
        assert!(rest[1].starts_with("cannot tell slow-step: the recording has one whole step"), "{rest:?}");
        assert_eq!(rest[2..], ["the run takes 1.00 ns", of.coverage.text.as_str()]);
        let limited = of.limited(2);
        assert_eq!((limited.findings.len(), limited.total), (2, 5));
    }

    #[test]
    fn a_message_survives_both_forms() {
        for of in
            [Findings::of(&verdicts(), 1_000, &Coverage::default()), Findings::unknown(sentence::NO_WORK)]
        {
            let bytes = postcard::to_allocvec(&of).unwrap();
            assert_eq!(postcard::from_bytes::<Findings>(&bytes).unwrap(), of);
            let text = serde_json::to_string(&of).unwrap();
            assert_eq!(serde_json::from_str::<Findings>(&text).unwrap(), of);
        }
    }

    #[test]
    fn json_has_the_keys_of_the_command_line() {
        let json = serde_json::to_value(Findings::of(&verdicts(), 1_000, &Coverage::default())).unwrap();
        let first = &json["findings"][0];
        assert_eq!([&first["state"], &first["severity"]], ["found", "high"]);
        assert_eq!(first["saving_ps"], serde_json::json!({"low": 0, "middle": 125, "high": 900}));
        assert_eq!(first["evidence"][0]["value"].as_i64(), Some(4_200_000_000_001));
        assert_eq!(first["evidence"][1]["value"].as_f64(), Some(0.25));
        assert!(first["ranks"].is_null() && first["start_ps"].is_null());
        let (cannot, nothing) = (&json["findings"][3], &json["findings"][4]);
        assert_eq!([&cannot["state"], &nothing["text"]], ["cannot-tell", "nothing found"]);
        assert_eq!(cannot["text"], format!("cannot tell: {}", cannot["reason"].as_str().unwrap()));
    }

    #[test]
    fn places_stay_where_they_are() {
        let entry = FindingEntry::from(&finding(RuleName::LateRank, Some(1)));
        assert_eq!(entry.place(), finding(RuleName::LateRank, Some(1)).place);
        assert!(entry.is_late_rank());
        assert!(!FindingEntry::from(&finding(RuleName::SlowLink, None)).is_late_rank());
    }
}
