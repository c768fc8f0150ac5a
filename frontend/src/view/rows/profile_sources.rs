//! The sources of several profiles in a sheet.

use std::collections::BTreeSet;
use std::sync::Arc;

use nprof_engine::base::order::gathered;
use nprof_engine::wire::catalog::ProfileInfo;
use nprof_engine::wire::rank_ref::RankRef;

use crate::view::source_id::SourceId;

/// The ranks of a profile.
pub fn ranks_of(profile: &Arc<ProfileInfo>) -> impl Iterator<Item = RankRef> {
    profile.ranks.iter().map(|rank| rank.rank)
}

/// A rank of all profiles that have it.
pub fn sources_of(profiles: &[Arc<ProfileInfo>], rank: RankRef) -> impl Iterator<Item = SourceId> {
    let having = (0..).zip(profiles).filter(move |(_, profile)| ranks_of(profile).any(|own| own == rank));
    having.map(move |(profile, _)| SourceId { rank, profile })
}

/// These ranks of all profiles, and the current one. A profile with none of them shows its first
/// rank: ranks of two runs can have different numbers.
#[must_use]
pub fn shown_sources(
    profiles: &[Arc<ProfileInfo>],
    ranks: &BTreeSet<RankRef>,
    current: SourceId,
) -> BTreeSet<SourceId> {
    let of_ranks = ranks.iter().flat_map(|rank| sources_of(profiles, *rank));
    let mut shown: BTreeSet<SourceId> = gathered(of_ranks.chain([current]));
    for (at, profile) in (0..).zip(profiles) {
        if shown.iter().all(|source| source.profile != at) {
            let first = ranks_of(profile).find(|rank| !rank.is_all());
            shown.extend(first.map(|rank| SourceId { rank, profile: at }));
        }
    }
    shown
}

/// Names of the profiles for people, none for a single one. Profiles that share a name have their
/// names in addresses.
#[must_use]
pub fn names_of(profiles: &[Arc<ProfileInfo>]) -> Vec<String> {
    let shares = |name: &String| profiles.iter().filter(|of| of.entry.display_name == *name).count() > 1;
    let name = |profile: &Arc<ProfileInfo>| {
        let (name, slug) = (&profile.entry.display_name, &profile.entry.slug);
        if shares(name) { slug.clone() } else { name.clone() }
    };
    if profiles.len() > 1 { profiles.iter().map(name).collect() } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::time::axes::tests::{profile, rank};

    fn profile_of(ranks: &[u32]) -> Arc<ProfileInfo> {
        let mut all = profile(ranks.iter().map(|number| rank(*number, None, None)).collect());
        if ranks.len() > 1 {
            let mut job = rank(0, None, None);
            job.rank = RankRef::All;
            Arc::make_mut(&mut all).ranks.insert(0, job);
        }
        all
    }

    #[track_caller]
    fn check(profiles: &[&[u32]], ranks: &[RankRef], current: &str, expected: &[&str]) {
        let profiles: Vec<_> = profiles.iter().map(|ranks| profile_of(ranks)).collect();
        let ranks: BTreeSet<RankRef> = ranks.iter().copied().collect();
        let shown = shown_sources(&profiles, &ranks, current.parse().unwrap());
        assert_eq!(shown.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_rank_is_shown_of_all_profiles_that_have_it() {
        let [all, zero, one] = [RankRef::All, RankRef::Number(0), RankRef::Number(1)];
        check(&[&[0, 1]], &[zero], "0", &["0"]);
        check(&[&[0, 1], &[0, 1]], &[zero], "0.1", &["0", "0.1"]);
        check(&[&[0, 1], &[0, 1], &[0]], &[all, one], "1", &["all", "all.1", "0.2", "1", "1.1"]);
        check(&[&[0, 1], &[3]], &[one], "1", &["1", "3.1"]);
    }

    #[test]
    fn profiles_of_one_name_are_told_apart() {
        let named = |slug: &str, name: &str| {
            let mut profile = profile_of(&[0]);
            let entry = &mut Arc::make_mut(&mut profile).entry;
            (entry.slug, entry.display_name) = (slug.to_owned(), name.to_owned());
            profile
        };
        let all = [named("a", "trace"), named("b", "trace"), named("c", "run")];
        assert_eq!(names_of(&all), ["a", "b", "run"]);
        assert_eq!(names_of(&all[..1]), [""; 0]);
    }
}
