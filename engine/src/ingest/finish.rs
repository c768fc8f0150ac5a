//! Writing the segment: one pass over the sorted rows.

use super::Scratch;
use super::binder::{Binder, TrackBinder};
use super::builder::{Builder, NO_TRACK, TrackState};
use super::lanes::Lanes;
use super::row::{Packed, RowKey, values};
use super::table_writer::TableWriter;
use crate::base::bytes::Cursor;
use crate::base::{Interval, Result, Time};
use crate::block::ColumnType;
use crate::model::{FieldId, RankInfo, SliceKey, TableId, TrackKind, WarningKind};
use crate::segment::{
    Arrow, ColumnRole, Footer, Output, Piece, PieceWriter, TableMeta, TrackMeta, content_id,
    write_dictionary, write_flows,
};
use crate::tile::{PyramidWriter, Range, SliceCell, SliceSummary, Summary, base_level};

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

/// What is kept of the track whose rows pass by.
enum TrackPass {
    Slices { lanes: Lanes, binder: TrackBinder, pyramid: Option<PyramidWriter<SliceSummary, SliceCell>> },
    Counter { pyramid: Option<PyramidWriter<Range, Range>>, range: Option<(f64, f64)> },
    Side,
}

/// The pass over all rows.
struct Pass<'a> {
    writer: PieceWriter<'a>,
    tables: Vec<TableWriter>,
    tracks: Vec<TrackMeta>,
    binder: Binder,
    span: Interval,
    /// The number of the next row.
    row: u32,
    /// The row of each arrival; empty where nothing is linked.
    row_of_arrival: Vec<u32>,
}

impl<S: Scratch> Builder<S> {
    /// Sorts all rows and writes the segment.
    ///
    /// # Errors
    /// Those of the scratch space and the output.
    pub fn finish(self, output: &mut dyn Output) -> Result<Built> {
        let spans = self.tracks.iter().filter_map(|track| track.span);
        let span = spans.reduce(Interval::cover);
        let linked = if self.links.is_empty() { 0 } else { self.arrivals as usize };
        let mut pass = Pass {
            writer: PieceWriter::new(output)?,
            tables: self.tables.iter().map(|_| TableWriter::new()).collect(),
            tracks: self.tracks.into_iter().map(TrackState::into_meta).collect(),
            binder: Binder::new(self.points),
            span: span.unwrap_or_default(),
            row: 0,
            row_of_arrival: vec![0; linked],
        };
        let mut rows = self.sorter.finish()?;
        let mut current: Option<(u64, TrackPass)> = None;
        while let Some((key, packed)) = rows.next()? {
            if current.as_ref().is_none_or(|(place, _)| *place != key.place) {
                if let Some((place, track)) = current.take() {
                    pass.end_track(place, track)?;
                }
                current = Some((key.place, pass.begin_track(key.place)));
            }
            if let Some((_, track)) = &mut current {
                pass.row(&key, packed, track)?;
            }
        }
        if let Some((place, track)) = current.take() {
            pass.end_track(place, track)?;
        }
        drop(rows);
        let Pass { mut writer, tables, tracks, binder, span, row_of_arrival, .. } = pass;
        let mut warnings = self.warnings;
        let mut arrows = binder.arrows(&mut |what, point| {
            warnings.add(WarningKind::UnboundFlow, what, || {
                format!("{} ps on track {:?}", point.time_ps, tracks[point.track.0 as usize].spec.name)
            });
        });
        let row = |key: SliceKey| row_of_arrival[key.0 as usize];
        arrows.extend(self.links.iter().map(|&(from, to, name)| Arrow {
            from: row(from),
            to: row(to),
            name,
        }));
        let mut footer = Footer {
            rank: self.rank,
            fields: self.fields,
            tracks,
            dictionary: write_dictionary(&self.names, &mut writer)?,
            flows: write_flows(arrows, &mut writer)?,
            warnings: warnings.iter().collect(),
            ..Footer::default()
        };
        let mut first_row = 0;
        for ((id, spec), table) in (0_u16..).zip(self.tables).zip(tables) {
            let written = table.finish(TableId(id), &mut writer)?;
            footer.tables.push(TableMeta { spec, first_row, rows: written.rows, blocks: written.blocks });
            footer.columns.extend(written.columns);
            first_row += written.rows;
        }
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
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the halves are taken apart on purpose")]
fn parts_of(place: u64) -> (usize, u32) {
    ((place >> 32) as usize, place as u32)
}

impl Pass<'_> {
    fn begin_track(&mut self, place: u64) -> TrackPass {
        let (_, track) = parts_of(place);
        if track == NO_TRACK {
            return TrackPass::Side;
        }
        let meta = &mut self.tracks[track as usize];
        meta.first_row = self.row;
        let base = base_level(u64::from(meta.rows), Interval::new(meta.start_ps, meta.end_ps));
        match meta.spec.kind {
            TrackKind::Slices(_, nesting) => TrackPass::Slices {
                lanes: Lanes::new(nesting),
                binder: self.binder.track(track),
                pyramid: base.map(|base| PyramidWriter::new(base, self.span)),
            },
            TrackKind::Counter(_) | TrackKind::Group => TrackPass::Counter {
                pyramid: base.map(|base| PyramidWriter::new(base, self.span)),
                range: None,
            },
        }
    }

    fn row(&mut self, key: &RowKey, packed: &[u8], track: &mut TrackPass) -> Result<()> {
        let (table, _) = parts_of(key.place);
        let end_ps = key.start_ps + key.duration_ps;
        let table = &mut self.tables[table];
        table.begin_row(key.start_ps, end_ps, &mut self.writer)?;
        let mut cursor = Cursor::new(packed, 0, "row in scratch space");
        match track {
            TrackPass::Slices { lanes, binder, pyramid } => {
                let name = cursor.varint_u32()?;
                let form = cursor.u8()?;
                let place = lanes.place(key.start_ps, end_ps);
                binder.row(&mut self.binder, key.start_ps, end_ps, self.row);
                for (role, value) in [
                    (ColumnRole::Start, key.start_ps),
                    (ColumnRole::Duration, key.duration_ps),
                    (ColumnRole::Form, i64::from(form)),
                    (ColumnRole::Lane, i64::from(place.lane)),
                    (ColumnRole::LaneShift, i64::from(place.lane) - i64::from(place.depth)),
                ] {
                    table.value(role, ColumnType::Int, Packed::Int(value));
                }
                table.value(ColumnRole::Name, ColumnType::Text, Packed::Int(i64::from(name)));
                if let Some(pyramid) = pyramid {
                    let span = (key.start_ps, end_ps);
                    let row = self.row;
                    pyramid.update(place.lane, &mut self.writer, |cascade, mut out| {
                        cascade.slice(span, (row, name), i64::MIN..=i64::MAX, &mut out);
                    })?;
                }
            }
            TrackPass::Counter { pyramid, range } => {
                let value = f64::from_bits(cursor.u64()?);
                table.value(ColumnRole::Start, ColumnType::Int, Packed::Int(key.start_ps));
                table.value(ColumnRole::Value, ColumnType::Float, Packed::Float(value));
                if !value.is_nan() {
                    let (min, max) = range.unwrap_or((value, value));
                    *range = Some((min.min(value), max.max(value)));
                }
                if let Some(pyramid) = pyramid {
                    pyramid.update(0, &mut self.writer, |cascade, mut out| {
                        cascade.at(Time(key.start_ps), &mut out).merge(&Range::of(value));
                    })?;
                }
            }
            TrackPass::Side => {}
        }
        for value in values(cursor.take(cursor.remaining())?) {
            let (field, kind, value) = value?;
            table.value(ColumnRole::Field(FieldId(field)), kind, value);
        }
        if let Some(row) = self.row_of_arrival.get_mut(key.arrival as usize) {
            *row = self.row;
        }
        self.row += 1;
        Ok(())
    }

    fn end_track(&mut self, place: u64, track: TrackPass) -> Result<()> {
        let (table, id) = parts_of(place);
        self.tables[table].end_block(&mut self.writer)?;
        let meta = self.tracks.get_mut(id as usize);
        match (track, meta) {
            (TrackPass::Slices { lanes, binder, pyramid }, Some(meta)) => {
                binder.finish(&mut self.binder);
                meta.lanes = lanes.count();
                if let Some(pyramid) = pyramid {
                    (meta.pyramid, meta.pyramid_bytes) = pyramid.finish(&mut self.writer)?;
                }
            }
            (TrackPass::Counter { pyramid, range }, Some(meta)) => {
                meta.lanes = 1;
                meta.value_range = range;
                if let Some(pyramid) = pyramid {
                    (meta.pyramid, meta.pyramid_bytes) = pyramid.finish(&mut self.writer)?;
                }
            }
            (TrackPass::Side, _) | (_, None) => {}
        }
        Ok(())
    }
}
