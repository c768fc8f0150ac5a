//! The slice of another rank that corresponds to a slice of this one: the same step, or the call of
//! the same name that is nearest in time.

use nprof_engine::base::Interval;
use nprof_engine::wire::detail::SliceEntry;
use nprof_engine::wire::search::SearchResult;

/// The regular expression that matches exactly this name.
#[must_use]
pub fn pattern_of(name: &str) -> String {
    let mut pattern = "^".to_owned();
    for sign in name.chars() {
        if r"\.+*?()|[]{}^$#&-~".contains(sign) {
            pattern.push('\\');
        }
        pattern.push(sign);
    }
    pattern.push('$');
    pattern
}

/// The slice of this name among the hits of another rank: on a track that `is_same`, if there is
/// one there, else on any; of several the one whose start is nearest to `start_ps`.
#[must_use]
pub fn nearest(
    hits: &SearchResult,
    name: &str,
    start_ps: i64,
    is_same: impl Fn(u32) -> bool,
) -> Option<Interval> {
    let hits = hits.hits.iter().map(|hit| &hit.slice).filter(|slice| slice.name == name);
    let key = |slice: &&SliceEntry| (!is_same(slice.track), slice.start_ps.abs_diff(start_ps));
    let slice = hits.min_by_key(key)?;
    Some(Interval::new(slice.start_ps, slice.start_ps.saturating_add(slice.duration_ps.max(0))))
}

#[cfg(test)]
mod tests {
    use nprof_engine::wire::search::SearchHit;

    use super::*;
    use crate::view::fixture;

    fn hits(slices: &[(&str, u32, i64)]) -> SearchResult {
        let hit = |&(name, track, start_ps): &(&str, u32, i64)| SearchHit {
            slice: SliceEntry { track, name: name.to_owned(), ..fixture::slice(start_ps, 10) },
            field: "name".to_owned(),
        };
        SearchResult {
            hits: slices.iter().map(hit).collect(),
            before: 0,
            total: slices.len() as u64,
            density: Vec::new(),
        }
    }

    #[track_caller]
    fn check(slices: &[(&str, u32, i64)], expected: Option<i64>) {
        let found = nearest(&hits(slices), "step#1", 100, |track| track == 7);
        assert_eq!(found, expected.map(|start_ps| Interval::new(start_ps, start_ps + 10)), "{slices:?}");
    }

    #[test]
    fn the_same_track_comes_before_the_nearest_start() {
        check(&[("step#12", 7, 100)], None);
        check(&[("step#1", 3, 100), ("step#1", 7, 500)], Some(500));
        check(&[("step#1", 3, 80), ("step#1", 4, 110)], Some(110));
    }

    #[test]
    fn a_pattern_matches_a_name_alone() {
        assert_eq!(pattern_of("ProfilerStep#12"), r"^ProfilerStep\#12$");
        assert_eq!(pattern_of("void f<4>(int*) é"), r"^void f<4>\(int\*\) é$");
    }
}
