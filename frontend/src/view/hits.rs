//! Walks through the hits of a search in order of time. Only one page of the hits is present.

use nprof_engine::query::HitPlace;
use nprof_engine::wire::search::SearchResult;

use super::ring::Walk;

/// Start of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Here {
    /// The next hit comes after this place.
    after: HitPlace,
    /// The previous hit comes before this place.
    before: HitPlace,
    /// True if the walk wrapped around an end to get here.
    is_around: bool,
}

impl Here {
    /// Starts at a timestamp. A hit that starts there is the next one.
    #[must_use]
    pub fn at_time(start_ps: i64) -> Self {
        Self::at_place(HitPlace { start_ps, row: 0 })
    }

    /// Starts at a slice, which is neither the next hit nor the previous one.
    #[must_use]
    pub fn at_slice(start_ps: i64, row: u32) -> Self {
        let after = HitPlace { start_ps, row: row.saturating_add(1) };
        Self { after, ..Self::at_place(HitPlace { start_ps, row }) }
    }

    fn at_place(place: HitPlace) -> Self {
        Self { after: place, before: place, is_around: false }
    }

    fn around(walk: Walk) -> Self {
        let place = match walk {
            Walk::Forward => HitPlace::FIRST,
            Walk::Backward => HitPlace::LAST,
        };
        Self { is_around: true, ..Self::at_place(place) }
    }

    /// The place whose surrounding page contains the next and the previous hit.
    #[must_use]
    pub fn place(self) -> HitPlace {
        self.before
    }
}

/// Result of a step of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Go to this hit of the page.
    Hit {
        /// Its position in the page.
        at: usize,
        /// True if the walk wrapped from the last hit to the first, or back.
        is_around: bool,
    },
    /// The hit is not in the page. Fetch the page around this place, then walk on from there.
    Fetch(Here),
    /// There are no hits.
    Nowhere,
}

/// The hit to go to from here. A fetched page must contain the two nearest hits on both sides of
/// its place, else the walk requests it again.
#[must_use]
pub fn next(page: &SearchResult, here: Here, walk: Walk) -> Next {
    let count = page.hits.len();
    if page.total == 0 {
        return Next::Nowhere;
    }
    let position = |place: HitPlace| {
        page.hits.partition_point(|hit| (hit.slice.start_ps, hit.slice.row) < (place.start_ps, place.row))
    };
    let begins = page.before == 0;
    let ends = page.before + count as u64 >= page.total;
    let is_around = here.is_around;
    // At the edge of a page, only a hit on its other side proves that no hit lies between.
    match walk {
        Walk::Forward => match position(here.after) {
            0 if !begins => Next::Fetch(here),
            at if at < count => Next::Hit { at, is_around },
            _ if !ends => Next::Fetch(here),
            _ if is_around => Next::Nowhere,
            _ => around(page, walk),
        },
        Walk::Backward => match position(here.before) {
            at if at == count && !ends => Next::Fetch(here),
            at if at > 0 => Next::Hit { at: at - 1, is_around },
            _ if !begins => Next::Fetch(here),
            _ if is_around => Next::Nowhere,
            _ => around(page, walk),
        },
    }
}

fn around(page: &SearchResult, walk: Walk) -> Next {
    next(page, Here::around(walk), walk)
}

#[cfg(test)]
mod tests {
    use nprof_engine::wire::detail::SliceEntry;
    use nprof_engine::wire::search::SearchHit;
    use proptest::prelude::*;

    use super::*;
    use crate::view::fixture;

    fn page(all: &[(i64, u32)], first: usize, end: usize) -> SearchResult {
        let hit = |&(start_ps, row): &(i64, u32)| SearchHit {
            slice: SliceEntry { row, ..fixture::slice(start_ps, 1) },
            field: "name".to_owned(),
        };
        SearchResult {
            hits: all[first..end].iter().map(hit).collect(),
            before: first as u64,
            total: all.len() as u64,
            density: Vec::new(),
        }
    }

    /// The server's answer: hits on both sides of a place.
    fn page_around(all: &[(i64, u32)], place: HitPlace, most: usize) -> SearchResult {
        let at = all.partition_point(|hit| *hit < (place.start_ps, place.row));
        page(all, at.saturating_sub(most / 2), all.len().min(at + most.div_ceil(2)))
    }

    proptest! {
        #[test]
        fn a_walk_finds_what_a_walk_over_all_hits_finds(
            all in prop::collection::btree_set((0_i64..40, 0_u32..4), 0..30),
            (first, count) in (any::<prop::sample::Index>(), 0_usize..8),
            (start_ps, row) in (-2_i64..42, prop::option::of(0_u32..4)),
            walk in prop_oneof![Just(Walk::Forward), Just(Walk::Backward)],
            most in 4_usize..9,
        ) {
            let all: Vec<_> = all.into_iter().collect();
            let first = first.index(all.len() + 1);
            let mut shown = page(&all, first, all.len().min(first + count));
            let mut here = row.map_or(Here::at_time(start_ps), |row| Here::at_slice(start_ps, row));
            let expected = match walk {
                Walk::Forward => all
                    .iter()
                    .find(|hit| row.map_or(hit.0 >= start_ps, |row| **hit > (start_ps, row)))
                    .map(|hit| (*hit, false))
                    .or_else(|| Some((*all.first()?, true))),
                Walk::Backward => all
                    .iter()
                    .rfind(|hit| row.map_or(hit.0 < start_ps, |row| **hit < (start_ps, row)))
                    .map(|hit| (*hit, false))
                    .or_else(|| Some((*all.last()?, true))),
            };
            let mut fetches = 0;
            let found = loop {
                match next(&shown, here, walk) {
                    Next::Hit { at, is_around } => {
                        let slice = &shown.hits[at].slice;
                        break Some(((slice.start_ps, slice.row), is_around));
                    }
                    Next::Nowhere => break None,
                    Next::Fetch(from) => {
                        fetches += 1;
                        prop_assert!(fetches <= 2, "the walk goes on for ever");
                        here = from;
                        shown = page_around(&all, from.place(), most);
                    }
                }
            };
            prop_assert_eq!(found, expected);
        }
    }
}
