//! The place of a finding.

use crate::insight::RankGraph;

/// The place to look at. A part that does not apply is empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// Number of the rank.
    pub rank: Option<u32>,
    /// Numbers of several ranks, ascending: those of a link, or of a cause that they share.
    pub ranks: Vec<u32>,
    /// Number of a rank that does the same as usual, to compare the rank with.
    pub usual_rank: Option<u32>,
    /// Name of the track.
    pub track: Option<String>,
    /// Start and end in picoseconds of the clock that all ranks share.
    pub span_ps: Option<(i64, i64)>,
    /// Other spans of the same cause, the longest first. Together with the first one they cost what
    /// the finding costs.
    pub others_ps: Vec<(i64, i64)>,
    /// Row in the segment of the rank.
    pub row: Option<u32>,
}

impl Place {
    /// The place of a rank as a whole.
    #[must_use]
    pub fn of_rank(rank: u32) -> Self {
        Self { rank: Some(rank), ..Self::default() }
    }

    /// The place of a node in a span.
    pub(super) fn of_node(graph: &RankGraph, node: u32, start_ps: i64, end_ps: i64) -> Self {
        Self {
            track: Some(graph.track_of(node).to_owned()),
            span_ps: Some((start_ps, end_ps)),
            row: graph.row_of(node),
            ..Self::of_rank(graph.rank)
        }
    }

    /// A span of time.
    #[must_use]
    pub fn of_span(start_ps: i64, end_ps: i64) -> Self {
        Self { span_ps: Some((start_ps, end_ps)), ..Self::default() }
    }
}
