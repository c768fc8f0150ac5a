//! Finishing a segment: the rows that had to be sorted, and what holds everything together.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::assemble::TableAssembler;
use super::binder::{Binder, TrackBinder};
use super::builder::{Builder, NO_TRACK, TrackState};
use super::row::{Row, RowKey, values};
use super::rows::Rows;
use super::sorter::SortedRows;
use super::track_writer::{GROUP_ROWS, TrackOutput, TrackWriter};
use super::{Scratch, Workers};
use crate::base::bytes::Cursor;
use crate::base::{Interval, Result};
use crate::model::{
    FieldId, NameId, RankInfo, SliceKey, TableId, TableSpec, TrackId, TrackKind, WarningKind,
};
use crate::segment::{
    Arrow, ColumnMeta, Footer, Piece, PieceWriter, TableMeta, TrackMeta, content_id, write_dictionary,
    write_flows,
};

/// What was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Built {
    /// Slices, instants and samples.
    pub events: u64,
    /// First moment.
    pub start_ps: i64,
    /// Last moment.
    pub end_ps: i64,
    /// What the trace says of its rank.
    pub rank: RankInfo,
    /// Warnings, equal ones counted each.
    pub warnings: u64,
    /// Length of the segment.
    pub bytes: u64,
    /// Identifies the content, as [`crate::segment::Segment::content`].
    pub content: String,
}

impl<S: Scratch> Builder<'_, S> {
    /// Writes what is left, and the footer.
    ///
    /// # Errors
    /// Those of the scratch space and the output.
    pub fn finish(mut self) -> Result<Built> {
        let span = self.tracks.iter().filter_map(|track| track.span).reduce(Interval::cover);
        let span = span.unwrap_or_default();
        let mut outputs: Vec<Option<TrackOutput>> = Vec::new();
        for track in &mut self.tracks {
            let writer = track.writer.take();
            let finish = |writer: Box<TrackWriter>| writer.finish(span, &mut *self.workers, &mut self.writer);
            outputs.push(writer.map(finish).transpose()?);
        }
        let metas = self.tracks.into_iter().map(TrackState::into_meta).collect();
        let mut written = Written { metas, outputs, sides: BTreeMap::new() };
        let mut binder = Binder::new(self.points);
        let mut arrivals = Arrivals::new(&self.links, &written);
        let mut sorted = SortedTracks {
            rows: self.sorter.finish()?,
            workers: &mut *self.workers,
            writer: &mut self.writer,
            span,
        };
        sorted.write(&mut written, &mut binder, &mut arrivals)?;
        drop(sorted);
        let (tables, columns) = written.assemble(self.tables, &mut self.writer)?;
        let tracks = written.metas;
        let mut warnings = self.warnings;
        let row = |track: TrackId, row: u32| tracks[track.0 as usize].first_row + row;
        let mut arrows = binder.arrows(row, &mut |what, point| {
            warnings.add(WarningKind::UnboundFlow, what, || {
                format!("{} ps on track {:?}", point.time_ps, tracks[point.track.0 as usize].spec.name)
            });
        });
        let row = |key: SliceKey| row(key.track, arrivals.row(key));
        arrows.extend(self.links.iter().map(|&(from, to, name)| Arrow {
            from: row(from),
            to: row(to),
            name,
        }));
        let mut writer = self.writer;
        let footer = Footer {
            rank: self.rank,
            tables,
            fields: self.fields,
            columns,
            tracks,
            dictionary: write_dictionary(&self.names, &mut writer)?,
            flows: write_flows(arrows, &mut writer)?,
            warnings: warnings.iter().collect(),
        };
        let (bytes, checksum) = writer.finish(&footer.encode())?;
        Ok(Built {
            events: footer.tracks.iter().map(|track| u64::from(track.rows)).sum(),
            start_ps: span.start.0,
            end_ps: span.end.0,
            warnings: footer.warnings.iter().map(|warning| warning.count).sum(),
            rank: footer.rank,
            content: content_id(checksum, bytes),
            bytes,
        })
    }
}

/// What has been written: tracks by their numbers, side tables by theirs.
struct Written {
    metas: Vec<TrackMeta>,
    outputs: Vec<Option<TrackOutput>>,
    sides: BTreeMap<u16, TrackOutput>,
}

impl Written {
    /// Numbers all rows, in the order of tables and tracks, and writes what tables consist of.
    fn assemble(
        &mut self,
        specs: Vec<TableSpec>,
        writer: &mut PieceWriter<'_>,
    ) -> Result<(Vec<TableMeta>, Vec<ColumnMeta>)> {
        let (mut tables, mut columns) = (Vec::new(), Vec::new());
        let mut first_row = 0;
        for (id, spec) in (0_u16..).map(TableId).zip(specs) {
            let mut table = TableAssembler::default();
            for (meta, output) in self.metas.iter_mut().zip(&mut self.outputs) {
                let (TrackKind::Slices(of, _) | TrackKind::Counter(of)) = meta.spec.kind else { continue };
                let Some(output) = output.as_mut().filter(|_| of == id) else { continue };
                meta.first_row = first_row + table.rows();
                meta.lanes = output.lanes;
                meta.value_range = output.value_range;
                (meta.pyramid, meta.pyramid_bytes) = output.pyramid;
                (meta.program, meta.totals) = (output.program, output.totals);
                table.add(output);
            }
            if let Some(side) = self.sides.get_mut(&id.0) {
                table.add(side);
            }
            let written = table.finish(id, writer)?;
            tables.push(TableMeta { spec, first_row, rows: written.rows, blocks: written.blocks });
            columns.extend(written.columns);
            first_row += written.rows;
        }
        Ok((tables, columns))
    }
}

/// Rows of slices by their arrival, for tracks whose rows came in another order and are linked.
struct Arrivals(FxHashMap<u32, Vec<u32>>);

impl Arrivals {
    fn new(links: &[(SliceKey, SliceKey, NameId)], written: &Written) -> Self {
        let keys = links.iter().flat_map(|(from, to, _)| [from, to]);
        let tracks: FxHashSet<u32> = keys.map(|key| key.track.0).collect();
        let sorted = tracks.into_iter().filter(|&track| written.outputs[track as usize].is_none());
        Self(sorted.map(|track| (track, vec![0; written.metas[track as usize].rows as usize])).collect())
    }

    fn row(&self, key: SliceKey) -> u32 {
        self.0.get(&key.track.0).map_or(key.arrival, |rows| rows[key.arrival as usize])
    }
}

/// The rows that had to be sorted, on their way to their tracks.
struct SortedTracks<'a, 'w, S> {
    rows: SortedRows<S>,
    workers: &'a mut dyn Workers,
    writer: &'a mut PieceWriter<'w>,
    span: Interval,
}

/// The track whose rows pass by.
struct Current {
    place: u64,
    writer: TrackWriter,
    binder: Option<TrackBinder>,
}

impl<S: Scratch> SortedTracks<'_, '_, S> {
    fn write(&mut self, written: &mut Written, binder: &mut Binder, arrivals: &mut Arrivals) -> Result<()> {
        let mut current: Option<Current> = None;
        while let Some((key, packed)) = self.rows.next()? {
            if current.as_ref().is_none_or(|current| current.place != key.place) {
                if let Some(done) = current.take() {
                    done.finish((self.span, &mut *self.workers, &mut *self.writer), written, binder)?;
                }
                current = Some(Current::new(key.place, written, binder));
            }
            let Some(Current { writer, binder: track, .. }) = &mut current else { continue };
            let (_, id) = parts_of(key.place);
            let row = writer.count();
            if let Some(rows) = arrivals.0.get_mut(&id) {
                rows[key.arrival as usize] = row;
            }
            if let Some(track) = track {
                track.row(binder, key.start_ps, key.start_ps + key.duration_ps, row);
            }
            let is_side = id == NO_TRACK;
            read_row(&key, packed, is_side, track.is_some(), &mut writer.rows)?;
            if writer.rows.len() >= GROUP_ROWS || writer.rows.bytes() > MAX_GROUP_BYTES {
                writer.flush(&mut *self.workers, &mut *self.writer)?;
            }
        }
        match current {
            Some(done) => done.finish((self.span, &mut *self.workers, &mut *self.writer), written, binder),
            None => Ok(()),
        }
    }
}

/// Bytes of rows that are encoded together at most: with many fields or long texts a group ends early.
const MAX_GROUP_BYTES: usize = 32 << 20;

impl Current {
    fn new(place: u64, written: &Written, binder: &Binder) -> Self {
        let (_, track) = parts_of(place);
        match written.metas.get(track as usize).map(|meta| meta.spec.kind) {
            Some(kind) => {
                let is_slices = matches!(kind, TrackKind::Slices(..));
                let binder = is_slices.then(|| binder.track(track));
                Self { place, writer: TrackWriter::new(kind), binder }
            }
            None => Self { place, writer: TrackWriter::side(), binder: None },
        }
    }

    fn finish(
        self,
        (span, workers, writer): (Interval, &mut dyn Workers, &mut PieceWriter<'_>),
        written: &mut Written,
        binder: &mut Binder,
    ) -> Result<()> {
        let (table, track) = parts_of(self.place);
        if let Some(track) = self.binder {
            track.finish(binder);
        }
        let output = self.writer.finish(span, workers, writer)?;
        match written.outputs.get_mut(track as usize) {
            Some(slot) => *slot = Some(output),
            None => {
                written.sides.insert(table, output);
            }
        }
        Ok(())
    }
}

/// Unpacks a row.
fn read_row(key: &RowKey, packed: &[u8], is_side: bool, is_slice: bool, rows: &mut Rows) -> Result<()> {
    let mut cursor = Cursor::new(packed, 0, "row in scratch space");
    let row = match (is_side, is_slice) {
        (true, _) => Row::Side,
        (false, true) => Row::Slice {
            name: cursor.varint_u32()?,
            form: cursor.u8()?,
            start_ps: key.start_ps,
            duration_ps: key.duration_ps,
        },
        (false, false) => Row::Sample { time_ps: key.start_ps, value: f64::from_bits(cursor.u64()?) },
    };
    row.begin(rows);
    for value in values(cursor.take(cursor.remaining())?) {
        let (field, kind, value) = value?;
        rows.field(FieldId(field), kind, value);
    }
    Ok(())
}

impl TrackState {
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

#[expect(clippy::cast_possible_truncation, reason = "the halves are taken apart on purpose")]
fn parts_of(place: u64) -> (u16, u32) {
    ((place >> 32) as u16, place as u32)
}
