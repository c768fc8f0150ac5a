//! Which rank of which profile tiles, slices and tracks come from.

use std::fmt;
use std::str::FromStr;

use nprof_engine::wire::rank_ref::{NoRankRef, RankRef};

/// Identifies a source of tiles and slices on the page: a rank of one of the view's profiles.
///
/// The order is that of the rows: a rank of all profiles, then the next rank. In addresses it is
/// the rank, and the position of a further profile after a point: `3`, `3.1`, `all.1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId {
    /// The rank.
    pub rank: RankRef,
    /// Position of the profile in the view.
    pub profile: u8,
}

impl SourceId {
    /// A rank of the first profile.
    #[must_use]
    pub fn of_first(rank: impl Into<RankRef>) -> Self {
        Self { rank: rank.into(), profile: 0 }
    }

    /// Another rank of the same profile.
    #[must_use]
    pub fn sibling(self, rank: impl Into<RankRef>) -> Self {
        Self { rank: rank.into(), ..self }
    }
}

/// Rank 0, as long as no rank is known.
impl Default for SourceId {
    fn default() -> Self {
        Self::of_first(0)
    }
}

impl fmt::Display for SourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.profile {
            0 => self.rank.fmt(f),
            profile => write!(f, "{}.{profile}", self.rank),
        }
    }
}

impl FromStr for SourceId {
    type Err = NoRankRef;

    fn from_str(text: &str) -> Result<Self, NoRankRef> {
        let Some((rank, profile)) = text.split_once('.') else {
            return text.parse::<RankRef>().map(Self::of_first);
        };
        Ok(Self { rank: rank.parse()?, profile: profile.parse().map_err(|_| NoRankRef)? })
    }
}

/// The name of a rank for people, also of what all ranks show together.
#[must_use]
pub fn rank_label(rank: RankRef) -> String {
    match rank {
        RankRef::All => "All ranks".to_owned(),
        RankRef::Number(number) => format!("Rank {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_come_back_from_addresses() {
        let of = |rank: RankRef, profile| SourceId { rank, profile };
        for (source, text) in [
            (of(3.into(), 0), "3"),
            (of(RankRef::All, 0), "all"),
            (of(3.into(), 1), "3.1"),
            (of(RankRef::All, 7), "all.7"),
        ] {
            assert_eq!((source.to_string().as_str(), text.parse()), (text, Ok(source)));
        }
        for text in ["", ".", "3.", ".1", "3.x", "3.256", "all.-1"] {
            assert!(text.parse::<SourceId>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_rank_of_all_profiles_stands_together() {
        let mut all: Vec<SourceId> =
            ["1", "0.1", "all", "0", "all.1"].map(|text| text.parse().unwrap()).into();
        all.sort();
        assert_eq!(
            all.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["all", "all.1", "0", "0.1", "1"]
        );
    }
}
