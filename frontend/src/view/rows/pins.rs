//! Pinned tracks: the same track of several ranks, one below the other, above all other tracks.

use std::collections::BTreeSet;

use nprof_engine::wire::rank_ref::RankRef;

use super::track_path::TrackPath;
use crate::view::ranks::standing::{RankOrder, Standings};

/// Most ranks of a pinned track. Each costs a question for its tracks, and its tiles while it is in
/// sight.
pub const MOST_RANKS: usize = 256;
/// Number of ranks that were latest.
pub const LATEST: usize = 8;

/// The ranks whose pinned tracks are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PinnedRanks {
    /// All, at most [`MOST_RANKS`].
    #[default]
    All,
    /// Those for which the others waited longest.
    Latest,
    /// Those that are shown with all their tracks.
    Shown,
}

impl PinnedRanks {
    /// All choices.
    pub const ALL: [Self; 3] = [Self::All, Self::Latest, Self::Shown];

    /// The name in addresses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Latest => "latest",
            Self::Shown => "shown",
        }
    }

    /// The choice with this name in addresses.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.name() == name)
    }

    /// The name for people, for a profile of this many ranks.
    #[must_use]
    pub fn words(self, ranks: usize) -> String {
        match self {
            Self::All if ranks > MOST_RANKS => format!("of {MOST_RANKS} ranks"),
            Self::All => format!("of all {ranks} ranks"),
            Self::Latest => format!("of the {} latest", LATEST.min(ranks)),
            Self::Shown => "of the shown ranks".to_owned(),
        }
    }
}

/// The ranks of a profile that a pinned track can be shown of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PinOffers {
    /// Number of ranks.
    pub ranks: usize,
    /// Whether it can be known which of them are late.
    pub are_compared: bool,
}

impl PinOffers {
    /// The offers of a profile with these ranks.
    #[must_use]
    pub fn of(ranks: impl Iterator<Item = RankRef>) -> Self {
        ranks.fold(Self::default(), |offers, rank| match rank {
            RankRef::All => Self { are_compared: true, ..offers },
            RankRef::Number(_) => Self { ranks: offers.ranks + 1, ..offers },
        })
    }

    /// Whether there are other ranks at all.
    #[must_use]
    pub fn are_several(&self) -> bool {
        self.ranks > 1
    }

    /// The choices, beside the current one. `are_beside` is true if several ranks are shown.
    pub fn choices(self, now: PinnedRanks, are_beside: bool) -> impl Iterator<Item = PinnedRanks> {
        PinnedRanks::ALL.into_iter().filter(move |choice| match choice {
            PinnedRanks::All => true,
            PinnedRanks::Latest => self.are_compared && self.ranks > LATEST || now == PinnedRanks::Latest,
            PinnedRanks::Shown => are_beside || now == PinnedRanks::Shown,
        })
    }
}

/// The pinned tracks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pins {
    /// Their paths.
    pub paths: BTreeSet<TrackPath>,
    /// The ranks that show them.
    pub of: PinnedRanks,
}

impl Pins {
    /// The ranks that show the pinned tracks, from the first row to the last. None without pins, or
    /// as long as nobody knows who was late. `shown` are the ranks with all their tracks.
    #[must_use]
    pub fn ranks(
        &self,
        all: &[RankRef],
        shown: &BTreeSet<RankRef>,
        order: RankOrder,
        standings: &Standings,
    ) -> Vec<u32> {
        if self.paths.is_empty() {
            return Vec::new();
        }
        let mut own: Vec<u32> = all.iter().filter_map(|rank| rank.number()).collect();
        let (order, most) = match self.of {
            PinnedRanks::All => (order, MOST_RANKS),
            PinnedRanks::Latest if standings.is_known() => (RankOrder::Late, LATEST),
            PinnedRanks::Latest => (order, 0),
            PinnedRanks::Shown => {
                own.retain(|rank| shown.contains(&RankRef::Number(*rank)));
                (order, MOST_RANKS)
            }
        };
        standings.sort(&mut own, order);
        own.truncate(most);
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::ranks::standing::tests::standings;

    #[track_caller]
    fn check(of: PinnedRanks, order: RankOrder, expected: &[u32]) {
        let paths = [TrackPath::read("Tensor").expect("a path")].into();
        let ranks = [RankRef::All, 0.into(), 1.into(), 2.into(), 3.into()];
        let known = standings(&[0, 1, 2, 3], &[0, 7, 30, 7]);
        let found =
            Pins { paths, of }.ranks(&ranks, &[RankRef::All, 1.into(), 3.into()].into(), order, &known);
        assert_eq!(found, expected, "{of:?} {order:?}");
        assert_eq!(Pins { of, ..Pins::default() }.ranks(&ranks, &[1.into()].into(), order, &known), [0; 0]);
    }

    #[test]
    fn the_ranks_of_pinned_tracks_are_chosen_and_sorted() {
        check(PinnedRanks::All, RankOrder::Number, &[0, 1, 2, 3]);
        check(PinnedRanks::All, RankOrder::Late, &[2, 1, 3, 0]);
        check(PinnedRanks::Latest, RankOrder::Number, &[2, 1, 3, 0]);
        check(PinnedRanks::Shown, RankOrder::Number, &[1, 3]);
    }

    #[test]
    fn there_is_a_limit() {
        let ranks: Vec<u32> = (0..4_096).collect();
        let paths: BTreeSet<TrackPath> = [TrackPath::read("Tensor").expect("a path")].into();
        let count = |of, known: &Standings| {
            let pins = Pins { paths: paths.clone(), of };
            pins.ranks(
                &ranks.clone().into_iter().map(RankRef::Number).collect::<Vec<_>>(),
                &[3.into()].into(),
                RankOrder::Number,
                known,
            )
            .len()
        };
        assert_eq!(count(PinnedRanks::All, &Standings::default()), MOST_RANKS);
        assert_eq!(count(PinnedRanks::Latest, &Standings::default()), 0, "not known yet");
        let late: Vec<i64> = (0..4_096).collect();
        assert_eq!(count(PinnedRanks::Latest, &standings(&ranks, &late)), LATEST);
    }
}
