//! Finishes a segment: writes the sorted rows and the parts that cover the whole segment.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::builder::{Builder, TrackState};
use crate::base::bytes::Cursor;
use crate::base::{Interval, Result, narrow};
use crate::ingest::arrows::{Arrows, Binder, TrackBinder, write_arrows};
use crate::ingest::consumer::{
    Consumed, EmptiedRows, GroupKey, Pipeline, Rest, Size, TableAssembler, TrackGroup, TrackOutput,
};
use crate::ingest::encoders::Encoders;
use crate::ingest::rows::{GROUP_ROWS, MAX_GROUP_BYTES, RowHead, RowSortKey, Rows, values};
use crate::model::{
    FieldId, RankInfo, TableId, TableSpec, TrackId, TrackKind, TrackSpec, Warning, WarningKind, Warnings,
};
use crate::segment::{
    Arrow, ColumnMeta, Footer, Piece, PieceWriter, TableMeta, TrackMeta, content_id, write_dictionary,
};
use crate::spill::{Scratch, Sorted};
use crate::tile::{ClosedPyramid, write_pyramids};

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
    ///
    /// # Errors
    /// If the scratch space or the output fails.
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
        let back = self.line.end()?;
        let Consumed { mut writer, tracks: outputs, chunks, encoders } =
            back.finish(span, &self.names.into_rest(), size)?;
        let mut written = Written { metas, outputs };
        let (tables, columns) = written.assemble(self.tables, &encoders, &mut writer)?;
        let Written { metas: mut tracks, outputs } = written;
        let mut warnings = self.warnings;
        warn_of_crowded_lanes(&outputs, &tracks, &mut warnings);
        let flows = bind_flows(binder, &tracks, &mut warnings);
        let first_rows: Vec<u32> = tracks.iter().map(|track| track.first_row).collect();
        let arrows =
            Arrows { numbered: &flows, links: &self.links, first_rows: &first_rows, arrivals: &arrivals.0 };
        let flows = write_arrows(&arrows, self.scratch, &encoders, &mut writer)?;
        // The names and the coarse levels stand last: the first view of a segment needs them.
        let dictionary = write_dictionary(texts, &chunks, &mut writer)?;
        write_pyramids_of(outputs, &mut tracks, &mut writer)?;
        let footer = Footer {
            rank: self.rank,
            tables,
            fields: self.fields,
            columns,
            tracks,
            dictionary,
            waits: waits.to_vec(),
            flows,
            warnings: warnings.iter().collect(),
        };
        let (bytes, checksum) = writer.finish(footer.encode())?;
        Ok(Built::new(footer, span, (bytes, checksum)))
    }

    /// Takes the rows of tracks that fit into memory, in the order of their places.
    fn take_arrived(&mut self) -> Vec<(GroupKey, Box<Rows>)> {
        let place = |track: u32| self.tracks.get(track as usize).and_then(|state| state.place(track));
        let arrived = self.arrived.take();
        let mut arrived: Vec<_> = arrived.filter_map(|(track, rows)| Some((place(track)?, rows))).collect();
        arrived.sort_by_key(|(place, _)| *place);
        arrived
    }
}

impl Built {
    /// The result for a segment with this footer, whose length and checksum the writer returned.
    fn new(footer: Footer, span: Interval, (bytes, checksum): (u64, u32)) -> Self {
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

/// Warns of slices that share the last lane of their track.
fn warn_of_crowded_lanes(
    outputs: &BTreeMap<GroupKey, TrackOutput>,
    tracks: &[TrackMeta],
    warnings: &mut Warnings,
) {
    for (place, output) in outputs {
        let what = "more slices at one time than a track has lanes; they share the last lane";
        warnings.add_all(WarningKind::AdjustedValue, what, output.crowded, || {
            let track = place.track.and_then(|track| tracks.get(track.0 as usize));
            track.map_or_else(String::new, |track| format!("track {:?}", track.spec.name))
        });
    }
}

/// The flows between rows of the segment. Warns of points without a slice.
fn bind_flows(binder: Binder, tracks: &[TrackMeta], warnings: &mut Warnings) -> Vec<Arrow> {
    let row = |track: TrackId, row: u32| tracks[track.0 as usize].first_row + row;
    binder.arrows(row, &mut |what, point| {
        warnings.add(WarningKind::UnboundFlow, what, || {
            format!("{} ps on track {:?}", point.time_ps, tracks[point.track.0 as usize].spec.name)
        });
    })
}

/// A track after all tracks.
const LAST_TRACK: TrackId = TrackId(u32::MAX);

/// Parts that have been written.
struct Written {
    metas: Vec<TrackMeta>,
    outputs: BTreeMap<GroupKey, TrackOutput>,
}

impl Written {
    /// Numbers all rows in the order of tables and tracks, and writes the parts of tables.
    fn assemble(
        &mut self,
        specs: Vec<TableSpec>,
        encoders: &Encoders<'_>,
        writer: &mut PieceWriter<'_>,
    ) -> Result<(Vec<TableMeta>, Vec<ColumnMeta>)> {
        let (mut tables, mut columns) = (Vec::new(), Vec::new());
        let mut first_row = 0;
        for (id, spec) in (0_u16..).map(TableId).zip(specs) {
            let mut table = TableAssembler::default();
            let (first, last) =
                (GroupKey { table: id, track: None }, GroupKey { table: id, track: Some(LAST_TRACK) });
            for (place, output) in self.outputs.range_mut(first..=last) {
                let mut next = first_row + table.rows();
                for packed in &output.packed {
                    if let Some(meta) = packed.track.and_then(|track| self.metas.get_mut(track.0 as usize)) {
                        (meta.first_row, meta.lanes) = (next, packed.lanes);
                        meta.value_range = packed.value_range;
                    }
                    next += packed.rows;
                }
                if !output.packed.is_empty() {
                    table.add(output);
                    continue;
                }
                if let Some(meta) = place.track.and_then(|track| self.metas.get_mut(track.0 as usize)) {
                    meta.first_row = first_row + table.rows();
                    meta.lanes = output.lanes;
                    meta.value_range = output.value_range;
                    (meta.program, meta.totals) = (output.program, output.totals);
                }
                table.add(output);
            }
            let written = table.finish(id, encoders, writer)?;
            tables.push(TableMeta { spec, first_row, rows: written.rows, blocks: written.blocks });
            columns.extend(written.columns);
            first_row += written.rows;
        }
        Ok((tables, columns))
    }
}

/// Writes the pyramids and stores their locations in `metas`.
fn write_pyramids_of(
    outputs: BTreeMap<GroupKey, TrackOutput>,
    metas: &mut [TrackMeta],
    writer: &mut PieceWriter<'_>,
) -> Result<()> {
    let of_track = |(place, output): (GroupKey, TrackOutput)| Some((place.track?, output.pyramid?));
    let (tracks, mut pyramids): (Vec<TrackId>, Vec<ClosedPyramid>) =
        outputs.into_iter().filter_map(of_track).unzip();
    for (track, written) in tracks.iter().zip(write_pyramids(&mut pyramids, writer)?) {
        if let Some(meta) = metas.get_mut(track.0 as usize) {
            (meta.pyramid, meta.pyramid_bytes) = written;
        }
    }
    Ok(())
}

/// Rows of slices by arrival, for linked tracks whose rows arrived in another order.
struct Arrivals(FxHashMap<u32, Vec<u32>>);

impl Arrivals {
    /// Room for the rows of linked tracks that promised no order.
    fn of(tracks: &[TrackState]) -> Self {
        let sorted = (0_u32..).zip(tracks).filter(|(_, track)| track.linked && !track.is_in_order());
        Self(sorted.map(|(id, track)| (id, vec![0; track.rows as usize])).collect())
    }
}

/// Sends all rows that promised no order to the consumer, in the order of their places.
struct SortedTracks<'s, 'a> {
    /// Rows that fit into memory.
    arrived: Vec<(GroupKey, Box<Rows>)>,
    /// All other rows.
    rows: Sorted<RowSortKey, &'a dyn Scratch>,
    line: &'s mut (dyn Pipeline<'a> + 'a),
    metas: &'s [TrackMeta],
    waits: Arc<Vec<u32>>,
    /// Span of the whole trace.
    span: Interval,
}

/// The track whose rows are being read.
struct Current {
    key: u64,
    place: GroupKey,
    kind: Option<TrackKind>,
    /// Waiting rows, and the number of rows sent before.
    rows: Rows,
    before: u32,
    waits: Arc<Vec<u32>>,
    binder: Option<TrackBinder>,
}

impl SortedTracks<'_, '_> {
    fn send(mut self, binder: &mut Binder, arrivals: &mut Arrivals) -> Result<()> {
        let mut current: Option<Current> = None;
        let mut arrived = std::mem::take(&mut self.arrived).into_iter().peekable();
        while let Some((key, packed)) = self.rows.next_with()? {
            if current.as_ref().is_none_or(|current| current.key != key.place) {
                if let Some(done) = current.take() {
                    done.end(self.line, self.span, binder)?;
                }
                while let Some((place, rows)) = arrived.next_if(|(place, _)| place.key() < key.place) {
                    let track = Current::new(place.key(), self.metas, &self.waits, binder);
                    track.send_whole(*rows, (&mut *self.line, self.span), binder, arrivals)?;
                }
                current = Some(Current::new(key.place, self.metas, &self.waits, binder));
            }
            let Some(current) = &mut current else { continue };
            let row = current.before + narrow(current.rows.len());
            if let Some(rows) = current.place.track.and_then(|track| arrivals.0.get_mut(&track.0)) {
                rows[key.arrival as usize] = row;
            }
            if let Some(track) = &mut current.binder {
                let span = (key.start_ps, key.start_ps + key.duration_ps);
                track.row(binder, span, (row, key.arrival));
            }
            read_row(&key, packed, current.kind, &mut current.rows)?;
            if current.rows.len() >= GROUP_ROWS || current.rows.bytes() > MAX_GROUP_BYTES {
                current.hand_over(self.line, Rest::Sorted(self.span))?;
            }
        }
        current.map_or(Ok(()), |done| done.end(self.line, self.span, binder))?;
        for (place, rows) in arrived {
            let track = Current::new(place.key(), self.metas, &self.waits, binder);
            track.send_whole(*rows, (&mut *self.line, self.span), binder, arrivals)?;
        }
        Ok(())
    }
}

impl Current {
    fn new(key: u64, metas: &[TrackMeta], waits: &Arc<Vec<u32>>, binder: &Binder) -> Self {
        let place = GroupKey::of_key(key);
        let kind = place.track.and_then(|track| metas.get(track.0 as usize)).map(|meta| meta.spec.kind);
        let of_slices = place.track.filter(|_| matches!(kind, Some(TrackKind::Slices(..))));
        Self {
            key,
            place,
            kind,
            rows: Rows::default(),
            waits: Arc::clone(waits),
            before: 0,
            binder: of_slices.map(|track| binder.track(track.0)),
        }
    }

    /// Sends all rows of the track, which are in the order of arrival.
    fn send_whole(
        mut self,
        mut rows: Rows,
        (line, span): (&mut dyn Pipeline<'_>, Interval),
        binder: &mut Binder,
        arrivals: &mut Arrivals,
    ) -> Result<()> {
        let order = rows.put_in_order();
        let arrival = |row: u32| order.as_ref().map_or(row, |order| order[row as usize]);
        if let Some(rows_of) = self.place.track.and_then(|track| arrivals.0.get_mut(&track.0)) {
            (0..).zip(0..rows.len()).for_each(|(row, _)| rows_of[arrival(row) as usize] = row);
        }
        if let Some(track) = self.binder.as_mut().filter(|track| track.has_points()) {
            for (row, (&start_ps, duration_ps)) in (0..).zip(rows.starts.iter().zip(&rows.durations)) {
                track.row(binder, (start_ps, start_ps + duration_ps), (row, arrival(row)));
            }
        }
        let mut group = rows.group(0);
        while group.end < rows.len() {
            self.rows = rows.part(&group);
            self.hand_over(line, Rest::Sorted(span))?;
            group = rows.group(group.end);
        }
        if group.start > 0 {
            rows = rows.part(&group);
        } else {
            rows.arrange_fields();
        }
        self.rows = rows;
        self.end(line, span, binder)
    }

    /// Ends the track.
    fn end(mut self, line: &mut dyn Pipeline<'_>, span: Interval, binder: &mut Binder) -> Result<()> {
        self.hand_over(line, Rest::Later(span))?;
        if let Some(track) = self.binder {
            track.finish(binder);
        }
        Ok(())
    }

    fn hand_over(&mut self, line: &mut dyn Pipeline<'_>, rest: Rest) -> Result<()> {
        self.before += narrow(self.rows.len());
        let rows = std::mem::take(&mut self.rows);
        let waits = Arc::clone(&self.waits);
        let group = TrackGroup { place: self.place, kind: self.kind, rows, waits, rest };
        let EmptiedRows(rows) = line.send(group)?;
        self.rows = rows;
        Ok(())
    }
}

/// Unpacks a row.
fn read_row(key: &RowSortKey, packed: &[u8], kind: Option<TrackKind>, rows: &mut Rows) -> Result<()> {
    let mut cursor = Cursor::new(packed, 0, "row in scratch space");
    let row = match kind {
        None | Some(TrackKind::Group) => RowHead::Side,
        Some(TrackKind::Slices(..)) => RowHead::Slice {
            name: cursor.varint_u32()?,
            form: cursor.u8()?,
            start_ps: key.start_ps,
            duration_ps: key.duration_ps,
        },
        Some(TrackKind::Counter(_)) => {
            RowHead::Sample { time_ps: key.start_ps, value: f64::from_bits(cursor.u64()?) }
        }
    };
    row.begin(rows);
    for value in values(cursor.take(cursor.remaining())?) {
        let (field, kind, value) = value?;
        rows.field(FieldId(field), kind, value);
    }
    Ok(())
}

impl TrackState {
    pub(super) fn new(spec: TrackSpec) -> Self {
        Self { spec, rows: 0, span: None, waiting: None, last: (0, 0), linked: false }
    }

    fn is_in_order(&self) -> bool {
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
