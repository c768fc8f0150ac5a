//! The place to which a finding leads.

use std::collections::BTreeSet;

use nprof_engine::base::Interval;
use nprof_engine::wire::findings::FindingEntry;
use nprof_engine::wire::page_link::window_around;
use nprof_engine::wire::rank_ref::RankRef;

use super::Command;
use super::run_times::RunTimes;
use super::source_id::SourceId;

/// A place, with the times of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingPlace {
    /// The rank to look at.
    pub source: Option<SourceId>,
    /// The ranks that are shown, if there are several.
    pub ranks: BTreeSet<RankRef>,
    /// The span to look at.
    pub span: Option<Interval>,
    /// Other spans of the same cause.
    pub others: Vec<Interval>,
    /// Row of a slice of the rank.
    pub row: Option<u32>,
}

impl FindingPlace {
    /// The place of a finding. `None` if the run as a whole is meant.
    #[must_use]
    pub fn of(entry: &FindingEntry, times: &RunTimes) -> Option<Self> {
        let source = entry.rank.map(|rank| SourceId { rank: rank.into(), profile: times.profile });
        let ranks: BTreeSet<RankRef> = entry.ranks.iter().flatten().map(|rank| (*rank).into()).collect();
        let time = |ps| times.shown(entry.rank, ps);
        let shown = |start_ps, end_ps| Interval::new(time(start_ps), time(end_ps));
        let span = entry.start_ps.zip(entry.end_ps).map(|(start_ps, end_ps)| shown(start_ps, end_ps));
        let others = entry.others.iter().map(|one| shown(one.start_ps, one.end_ps)).collect();
        let place = Self { source, ranks, span, others, row: entry.row };
        (place.source.is_some() || place.span.is_some() || !place.ranks.is_empty()).then_some(place)
    }

    /// All spans of the cause.
    pub fn spans(&self) -> impl Iterator<Item = Interval> + '_ {
        self.span.into_iter().chain(self.others.iter().copied())
    }

    /// The span with room on both sides.
    #[must_use]
    pub fn window(&self) -> Option<Interval> {
        self.span.map(window_around)
    }

    /// The commands that lead there. `current` is the shown rank.
    #[must_use]
    pub fn commands(&self, current: SourceId) -> Vec<Command> {
        let first = self.ranks.first().map(|rank| current.sibling(*rank));
        let target = self.source.or(first);
        let window = self.window();
        let ranks = (self.ranks.len() > 1).then(|| self.ranks.clone());
        match (target, ranks, window) {
            (Some(target), Some(ranks), window) => {
                let beside = Command::ShowRanks { ranks, current: target };
                let shown = beside.in_rank(target, current);
                [Some(shown), window.map(Command::Focus)].into_iter().flatten().collect()
            }
            (Some(target), None, Some(window)) => vec![Command::Show(window).in_rank(target, current)],
            (Some(target), None, None) => vec![Command::OpenRank(target)],
            (None, _, window) => window.map(Command::Show).into_iter().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use nprof_engine::wire::findings::{RuleState, SeverityEntry};
    use nprof_engine::wire::span_entry::SpanEntry;

    use super::*;

    fn entry() -> FindingEntry {
        FindingEntry {
            rule: "slow-link".to_owned(),
            state: RuleState::Found,
            severity: Some(SeverityEntry::Low),
            text: "a".to_owned(),
            title: "a?".to_owned(),
            ..FindingEntry::default()
        }
    }

    #[track_caller]
    fn check(entry: &FindingEntry, expected: &[Command]) {
        let place = FindingPlace::of(entry, &RunTimes::default());
        let commands = place.map(|place| place.commands(SourceId::of_first(RankRef::All)));
        assert_eq!(commands.unwrap_or_default(), expected);
    }

    #[test]
    fn a_cause_can_have_several_spans() {
        let other = SpanEntry { start_ps: 900, end_ps: 950 };
        let entry = FindingEntry { start_ps: Some(100), end_ps: Some(500), others: vec![other], ..entry() };
        let place = FindingPlace::of(&entry, &RunTimes::default()).unwrap();
        assert_eq!(place.spans().collect::<Vec<_>>(), [Interval::new(100, 500), Interval::new(900, 950)]);
        assert_eq!(place.window(), Some(Interval::new(0, 600)), "the longest one is shown");
    }

    #[test]
    fn a_place_leads_to_its_rank_and_its_span() {
        let at = |rank| SourceId::of_first(rank);
        let span = FindingEntry { start_ps: Some(100), end_ps: Some(500), ..entry() };
        let window = Interval::new(0, 600);
        check(&entry(), &[]);
        check(&span, &[Command::Show(window)]);
        check(&FindingEntry { rank: Some(3), ..entry() }, &[Command::OpenRank(at(3))]);
        let both = FindingEntry { rank: Some(3), ..span.clone() };
        let in_rank = |then| Command::InRank { source: at(3), then: Box::new(then) };
        check(&both, &[in_rank(Command::Show(window))]);
        let ranks: BTreeSet<RankRef> = [1.into(), 3.into()].into();
        let link = FindingEntry { ranks: Some(vec![1, 3]), ..both };
        let beside = Command::ShowRanks { ranks, current: at(3) };
        check(&link, &[in_rank(beside), Command::Focus(window)]);
    }
}
