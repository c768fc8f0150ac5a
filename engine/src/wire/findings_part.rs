//! Parts of the findings about a run: those of some rules, and those within some spans. The answer
//! and the number of entries are those of the part.

use super::findings::{FindingEntry, Findings, RuleState};
use crate::base::Interval;
use crate::insight::finding::sentence::{self, FoundCost};
use crate::insight::finding::{Judgement, RULES, RuleVerdict};

impl<'a> From<&'a FindingEntry> for FoundCost<'a> {
    fn from(of: &'a FindingEntry) -> Self {
        Self { rule: &of.rule, saved_ps: of.saving_ps.map(|saving| saving.middle) }
    }
}

impl Findings {
    /// The entries of the rules with these names.
    #[must_use]
    pub fn of_rules(mut self, names: &[String]) -> Self {
        self.findings.retain(|one| names.contains(&one.rule));
        self.with_own_answer()
    }

    /// Leaves out the findings that have no place in these spans of the shared clock, and those
    /// about the run as a whole. Rules that have none left found nothing.
    #[must_use]
    pub fn within(mut self, spans: &[Interval]) -> Self {
        let lies_within = |one: &FindingEntry| {
            let others = one.others.iter().map(|place| (place.start_ps, place.end_ps));
            let mut places = one.start_ps.zip(one.end_ps).into_iter().chain(others);
            places.any(|(start, end)| spans.iter().any(|region| region.overlaps(start, end)))
        };
        let (mut kept, left_out): (Vec<_>, Vec<_>) = std::mem::take(&mut self.findings)
            .into_iter()
            .partition(|one| one.state != RuleState::Found || lies_within(one));
        let mut first_nothing = kept.partition_point(|one| one.state != RuleState::Nothing);
        for one in left_out {
            let rule = RULES.iter().find(|rule| rule.id == one.rule);
            if let Some(rule) = rule.filter(|rule| !kept.iter().any(|one| one.rule == rule.id)) {
                let nothing = RuleVerdict { rule: rule.name, verdict: Judgement::Nothing };
                kept.insert(first_nothing, FindingEntry::without_findings(&nothing));
                first_nothing += 1;
            }
        }
        self.findings = kept;
        self.with_own_answer()
    }

    /// The same entries with an answer about them alone. That of a run without work stays.
    fn with_own_answer(mut self) -> Self {
        self.total = self.findings.len() as u64;
        if let Some(length_ps) = self.recorded_ps {
            let found: Vec<FoundCost<'_>> = self.in_state(RuleState::Found).map(FoundCost::from).collect();
            self.answer = sentence::answer(&found, length_ps);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insight::Bracket;
    use crate::insight::finding::{Coverage, DataGap, Finding, Place, RuleName, Severity};

    /// Two late ranks, one at 0 to 10 ps and one at 20 to 30 ps, and a finding about the whole run.
    fn findings() -> Findings {
        let finding = |rule, place, saved_ps| Finding {
            rule,
            severity: Severity::Low,
            place,
            evidence: Vec::new(),
            saving: Some(Bracket::around(0, saved_ps, saved_ps)),
        };
        let late = |start_ps, saved_ps| {
            finding(RuleName::LateRank, Place::of_span(start_ps, start_ps + 10), saved_ps)
        };
        let whole = |rule, saved_ps| vec![finding(rule, Place::default(), saved_ps)];
        let of = |rule, verdict| RuleVerdict { rule, verdict };
        let verdicts = [
            of(RuleName::LateRank, Judgement::Found(vec![late(0, 40), late(20, 30)])),
            of(RuleName::StartUp, Judgement::Found(whole(RuleName::StartUp, 20))),
            of(RuleName::SlowLink, Judgement::CannotTell(DataGap::Clocks)),
            of(RuleName::SlowStep, Judgement::Nothing),
        ];
        Findings::of(&verdicts, 100, &Coverage::default())
    }

    fn rows(of: &Findings) -> Vec<(&str, RuleState)> {
        of.findings.iter().map(|one| (one.rule.as_str(), one.state)).collect()
    }

    #[test]
    fn a_part_of_the_rules_has_an_answer_of_its_own() {
        let of = findings().of_rules(&["start-up".to_owned(), "slow-step".to_owned()]);
        assert_eq!(rows(&of), [("start-up", RuleState::Found), ("slow-step", RuleState::Nothing)]);
        assert_eq!(
            (of.answer.as_str(), of.total),
            ("one thing makes the run longer: start-up, by 20 ps (20.0 %)", 2)
        );
        let none = findings().of_rules(&["slow-link".to_owned()]);
        assert_eq!(none.answer, "nothing was found that makes the run longer");
        let unknown = Findings::unknown(sentence::NO_WORK);
        assert_eq!(unknown.clone().of_rules(&[]), unknown);
    }

    #[test]
    fn a_rule_whose_findings_all_lie_elsewhere_found_nothing() {
        let within = |start_ps, end_ps| findings().within(&[Interval::new(start_ps, end_ps)]);
        let of = within(25, 26);
        let expected = [
            ("late-rank", RuleState::Found),
            ("slow-link", RuleState::CannotTell),
            ("start-up", RuleState::Nothing),
            ("slow-step", RuleState::Nothing),
        ];
        assert_eq!(rows(&of), expected);
        assert_eq!(
            (of.answer.as_str(), of.total),
            ("one thing makes the run longer: late-rank, by 30 ps (30.0 %)", 4)
        );
        assert_eq!(of.findings[2].text, "nothing found");
        assert_eq!(rows(&within(12, 15))[0], ("slow-link", RuleState::CannotTell));
    }

    #[test]
    fn a_finding_with_several_places_lies_in_each() {
        let place = Place { others_ps: vec![(40, 50)], ..Place::of_span(0, 10) };
        let saving = Some(Bracket::around(0, 5, 5));
        let (rule, severity) = (RuleName::InputBound, Severity::Low);
        let finding = Finding { rule, severity, place, evidence: Vec::new(), saving };
        let verdict = RuleVerdict { rule, verdict: Judgement::Found(vec![finding]) };
        let found = Findings::of(&[verdict], 100, &Coverage::default());
        let state = |start_ps, end_ps| {
            rows(&found.clone().within(&[Interval::new(start_ps, end_ps)])).first().map(|row| row.1)
        };
        assert_eq!(state(45, 60), Some(RuleState::Found));
        assert_eq!(state(20, 30), Some(RuleState::Nothing));
    }
}
