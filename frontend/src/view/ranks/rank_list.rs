//! Ranks in the tabs and in the list of ranks.

use std::collections::BTreeSet;

use nprof_engine::base::order::sort_by_key;
use nprof_engine::wire::rank_ref::RankRef;

use super::standing::{RankOrder, Standings};

/// Most ranks of which each has a tab. If there are more, those beside the current one have.
pub const MOST_TABS: usize = 32;

/// The ranks that have a tab, in order: of many ranks, the shown ones and a run of [`MOST_TABS`]
/// around the current one. Runs begin at multiples of their length, so that most steps from tab to
/// tab move no tab.
#[must_use]
pub fn tabs(ranks: &[RankRef], current: Option<RankRef>, shown: &BTreeSet<RankRef>) -> Vec<RankRef> {
    let (all, own): (Vec<RankRef>, Vec<RankRef>) = ranks.iter().partition(|rank| rank.is_all());
    if own.len() <= MOST_TABS {
        return all.into_iter().chain(own).collect();
    }
    let at = own.iter().position(|rank| Some(*rank) == current).unwrap_or(0);
    let run = at - at % MOST_TABS..(at - at % MOST_TABS + MOST_TABS).min(own.len());
    let has_tab = |(at, rank): &(usize, RankRef)| run.contains(at) || shown.contains(rank);
    let own = own.into_iter().enumerate().filter(has_tab).map(|(_, rank)| rank);
    all.into_iter().chain(own).collect()
}

/// The ranks of the list: those whose number begins with what was typed, the rank with exactly this
/// number first, the others sorted. Without digits all ranks are listed.
#[must_use]
pub fn listed(ranks: &[RankRef], typed: &str, standings: &Standings, order: RankOrder) -> Vec<u32> {
    let typed = typed.trim();
    let typed = typed.strip_prefix("rank").unwrap_or(typed).trim();
    let exact: Option<u32> = typed.parse().ok();
    let own = ranks.iter().filter_map(|rank| rank.number());
    let mut found: Vec<u32> = own.filter(|rank| rank.to_string().starts_with(typed)).collect();
    sort_by_key(&mut found, |rank| (Some(*rank) != exact, standings.key(*rank, order)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_and(ranks: impl IntoIterator<Item = u32>) -> Vec<RankRef> {
        [RankRef::All].into_iter().chain(ranks.into_iter().map(RankRef::Number)).collect()
    }

    #[test]
    fn many_ranks_have_tabs_beside_the_current_one() {
        let ranks = |count: u32| all_and(0..count);
        let none = BTreeSet::new();
        assert_eq!(tabs(&ranks(32), Some(3.into()), &none), ranks(32));
        assert_eq!(tabs(&ranks(4_096), Some(RankRef::All), &none), ranks(32));
        let beside = all_and(64..96);
        assert_eq!(tabs(&ranks(4_096), Some(70.into()), &[70.into()].into()), beside);
        let last = tabs(&ranks(100), Some(99.into()), &[7.into(), 99.into()].into());
        assert_eq!(last, all_and([7, 96, 97, 98, 99]));
    }

    #[track_caller]
    fn check(typed: &str, expected: &[u32]) {
        let ranks = all_and([0, 1, 2, 10, 11, 17, 21, 100]);
        assert_eq!(listed(&ranks, typed, &Standings::default(), RankOrder::Number), expected, "{typed}");
    }

    #[test]
    fn a_typed_number_finds_ranks() {
        check("", &[0, 1, 2, 10, 11, 17, 21, 100]);
        check(" 1", &[1, 10, 11, 17, 100]);
        check("rank 17", &[17]);
        check("10", &[10, 100]);
        check("9", &[]);
        check("x", &[]);
    }
}
