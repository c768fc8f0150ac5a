//! Light on the hits of a search: where they are on their tracks.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::message_times::{TimeField, Timed};

/// The hits of a search on their tracks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchLight {
    /// Start of the span, in picoseconds.
    pub start_ps: i64,
    /// End of the span, in picoseconds.
    pub end_ps: i64,
    /// Number of equal parts of the span.
    pub cells: u32,
    /// Number of hits in all.
    pub total: u64,
    /// Number of hits that overlap the span.
    pub in_span: u64,
    /// The tracks that have any, in their order.
    pub tracks: Vec<TrackHitsEntry>,
    /// The lanes that have any in the span, by track.
    pub lanes: Vec<LitLaneEntry>,
}

/// The hits on a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrackHitsEntry {
    /// Number of the track.
    pub track: u32,
    /// Number of hits, also outside of the span.
    pub hits: u64,
}

/// The light on a lane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LitLaneEntry {
    /// Number of the track.
    pub track: u32,
    /// Number of the lane.
    pub lane: u32,
    /// Dark and lit parts in turn: the number of parts before the first hit, then of those with
    /// hits, then of those before the next hit, and so on.
    pub lengths: Vec<u32>,
}

impl LitLaneEntry {
    /// The lengths of dark and lit stretches in turn.
    #[must_use]
    pub fn lengths_of(stretches: &[Range<u32>]) -> Vec<u32> {
        let mut at = 0;
        let lengths = stretches.iter().flat_map(|lit| {
            let dark = lit.start - at;
            at = lit.end;
            [dark, lit.end - lit.start]
        });
        lengths.collect()
    }

    /// The parts of each lit stretch.
    pub fn stretches(&self) -> impl Iterator<Item = Range<u32>> + '_ {
        self.lengths.chunks_exact(2).scan(0_u32, |at, pair| {
            let first = at.saturating_add(pair[0]);
            *at = first.saturating_add(pair[1]);
            Some(first..*at)
        })
    }
}

impl Timed for SearchLight {
    fn each_time(&mut self, f: &mut dyn FnMut(TimeField<'_>)) {
        f(TimeField::Instant(&mut self.start_ps));
        f(TimeField::Instant(&mut self.end_ps));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lengths_say_the_stretches(parts in prop::collection::vec((1_u32..9, 1_u32..9), 0..9)) {
            let mut end = 0;
            let stretches: Vec<_> = parts.iter().map(|(dark, lit)| {
                let first = end + dark;
                end = first + lit;
                first..end
            }).collect();
            let lane = LitLaneEntry { track: 0, lane: 0, lengths: LitLaneEntry::lengths_of(&stretches) };
            prop_assert_eq!(lane.stretches().collect::<Vec<_>>(), stretches);
        }
    }
}
