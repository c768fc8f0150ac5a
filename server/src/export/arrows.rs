//! The arrows of rows that are read track by track. Each chunk of arrows is decoded once per track,
//! not once per row.

use std::collections::HashMap;

use nprof_engine::base::Result;
use nprof_engine::model::TrackId;
use nprof_engine::native::SegmentFile;
use nprof_engine::segment::{ArrowEnd, Piece, SliceArrow};

/// Finds the arrows at rows that ascend within each track. Memory: one chunk of arrows per track.
pub(super) struct ArrowsAt<'a> {
    segment: &'a SegmentFile,
    end: ArrowEnd,
    /// The chunks of this direction, each with its last row.
    chunks: Vec<(i64, Piece)>,
    /// Last chunk used by each track.
    kept: HashMap<TrackId, (usize, Vec<SliceArrow>)>,
}

impl<'a> ArrowsAt<'a> {
    /// Arrows that begin or end at a row, depending on `end`.
    pub fn new(segment: &'a SegmentFile, end: ArrowEnd) -> Result<Self> {
        Ok(Self { segment, end, chunks: segment.arrow_chunks(end)?, kept: HashMap::new() })
    }

    /// The arrows at this row, which is on this track.
    pub fn of(&mut self, track: TrackId, row: u32) -> Result<Vec<SliceArrow>> {
        let wanted = i64::from(row);
        let mut found = Vec::new();
        let first = self.chunks.partition_point(|&(last, _)| last < wanted);
        for (at, &(last, piece)) in self.chunks.iter().enumerate().skip(first) {
            let kept = self.kept.entry(track).or_insert_with(|| (usize::MAX, Vec::new()));
            if kept.0 != at {
                *kept = (at, self.segment.arrow_chunk(piece)?);
            }
            let row_of = |arrow: &SliceArrow| if self.end == ArrowEnd::From { arrow.from } else { arrow.to };
            let from = kept.1.partition_point(|arrow| row_of(arrow) < row);
            found.extend(kept.1[from..].iter().take_while(|arrow| row_of(arrow) == row));
            if last > wanted {
                break;
            }
        }
        Ok(found)
    }
}
