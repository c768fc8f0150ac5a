//! Finishes a segment: has the sorted rows written, then the parts that cover the whole segment.

use std::sync::Arc;

use super::builder::{Builder, TrackState};
use super::sorted_tracks::{Arrivals, SortedTracks};
use crate::base::{Interval, Result};
use crate::ingest::arrows::{Binder, NumberedArrows, write_arrows};
use crate::ingest::consumer::{Consumed, GroupKey, Size, WrittenTracks};
use crate::ingest::rows::{RowBuffer, RowTimes};
use crate::model::{RankInfo, TrackId, TrackSpec, WaitNames, Warning, WarningKind, Warnings};
use crate::segment::{Footer, Piece, SliceArrow, TrackMeta, content_id, write_dictionary};

/// A segment with at most this many rows is small. Opening a small segment takes about a
/// millisecond, including all of its columns.
const SMALL_ROWS: u32 = 8192;

/// Result of a finished build.
#[derive(Debug, Clone, PartialEq)]
pub struct Built {
    /// Slices, instants and samples.
    pub events: u64,
    /// Earliest time.
    pub start_ps: i64,
    /// Latest time.
    pub end_ps: i64,
    /// Description of the rank by the trace.
    pub rank: RankInfo,
    /// Warnings, equal ones together.
    pub warnings: Vec<Warning>,
    /// Length of the segment.
    pub bytes: u64,
    /// Content identifier, like [`crate::segment::Segment::content`].
    pub content: String,
}

impl Builder<'_> {
    /// Writes the remaining parts and the footer.
    pub fn finish(mut self) -> Result<Built> {
        let span = self.tracks.iter().filter_map(|track| track.span).reduce(Interval::cover);
        let span = span.unwrap_or_default();
        let size = if self.rows() <= SMALL_ROWS { Size::Small } else { Size::Large };
        let mut arrivals = Arrivals::of(&self.tracks);
        for track in 0..self.tracks.len() {
            self.hand_over(track)?;
        }
        let arrived = self.take_arrived();
        let metas: Vec<TrackMeta> = self.tracks.into_iter().map(TrackState::into_meta).collect();
        let mut binder = Binder::new(self.points);
        let waits = self.names.waits();
        let sorted = SortedTracks {
            arrived,
            rows: self.sorter.finish()?,
            line: &mut *self.line,
            metas: &metas,
            waits: Arc::clone(&waits),
            span,
        };
        sorted.send(&mut binder, &mut arrivals)?;
        let texts = self.names.len();
        let consumer = self.line.end()?;
        let Consumed { mut writer, tracks: outputs, chunks, encoders } =
            consumer.finish(span, &self.names.into_rest(), size)?;
        let mut written = WrittenTracks::new(metas, outputs);
        let (tables, columns) = written.assemble(self.tables, &encoders, &mut writer)?;
        let mut warnings = self.warnings;
        written.warn_of_crowded_lanes(&mut warnings);
        let flows = bind_flows(binder, &written.metas, &mut warnings);
        let first_rows: Vec<u32> = written.metas.iter().map(|track| track.first_row).collect();
        let arrows = NumberedArrows {
            numbered: &flows,
            links: &self.links,
            first_rows: &first_rows,
            arrivals: &arrivals.0,
        };
        let flows = write_arrows(&arrows, self.scratch, &encoders, &mut writer)?;
        // The names and the coarse levels stand last: the first view of a segment needs them.
        let dictionary = write_dictionary(texts, &chunks, &mut writer)?;
        let tracks = written.write_pyramids(&mut writer)?;
        let footer = Footer {
            rank: self.rank,
            tables,
            fields: self.fields,
            columns,
            tracks,
            dictionary,
            waits: WaitNames::clone(&waits),
            flows,
            warnings: warnings.iter().collect(),
        };
        let (bytes, checksum) = writer.finish(footer.encode())?;
        Ok(Built::new(footer, span, bytes, checksum))
    }

    /// Takes the rows of tracks that fit into memory, in the order of their places.
    fn take_arrived(&mut self) -> Vec<(GroupKey, Box<RowBuffer>)> {
        let place = |track: u32| self.tracks.get(track as usize).and_then(|state| state.place(track));
        let arrived = self.arrived.take();
        let mut arrived: Vec<_> = arrived.filter_map(|(track, rows)| Some((place(track)?, rows))).collect();
        arrived.sort_by_key(|(place, _)| *place);
        arrived
    }
}

impl Built {
    /// The result for a segment with this footer, whose length and checksum the writer returned.
    fn new(footer: Footer, span: Interval, bytes: u64, checksum: u32) -> Self {
        Self {
            events: footer.tracks.iter().map(|track| u64::from(track.rows)).sum(),
            start_ps: span.start.0,
            end_ps: span.end.0,
            warnings: footer.warnings,
            rank: footer.rank,
            content: content_id(checksum, bytes),
            bytes,
        }
    }
}

/// The flows between rows of the segment. Warns of points without a slice.
fn bind_flows(binder: Binder, tracks: &[TrackMeta], warnings: &mut Warnings) -> Vec<SliceArrow> {
    let row = |track: TrackId, row: u32| tracks[track.0 as usize].first_row + row;
    binder.arrows(row, &mut |what, point| {
        warnings.add(WarningKind::UnboundFlow, what, || {
            format!("{} ps on track {:?}", point.time_ps, tracks[point.track.0 as usize].spec.name)
        });
    })
}

impl TrackState {
    pub(super) fn new(spec: TrackSpec) -> Self {
        Self { spec, rows: 0, span: None, waiting: None, last: RowTimes::default(), linked: false }
    }

    pub(super) fn is_in_order(&self) -> bool {
        self.waiting.is_some()
    }

    fn into_meta(self) -> TrackMeta {
        let span = self.span.unwrap_or_default();
        TrackMeta {
            spec: self.spec,
            first_row: 0,
            rows: self.rows,
            lanes: 0,
            start_ps: span.start.0,
            end_ps: span.end.0,
            value_range: None,
            pyramid: Piece::default(),
            pyramid_bytes: 0,
            program: Piece::default(),
            totals: Piece::default(),
        }
    }
}
