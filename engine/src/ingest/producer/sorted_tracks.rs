//! Sends rows that promised no order to the consumer, once all of them are sorted.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::builder::TrackState;
use crate::base::bytes::Cursor;
use crate::base::{Interval, Result, narrow};
use crate::ingest::arrows::{Binder, TrackBinder};
use crate::ingest::consumer::{EmptiedRows, GroupKey, GroupRest, Pipeline, TrackGroup};
use crate::ingest::rows::{GROUP_ROWS, MAX_GROUP_BYTES, RowBuffer, RowHead, RowSortKey, values};
use crate::model::{FieldId, TrackContent, WaitNames};
use crate::segment::TrackMeta;
use crate::spill::{Scratch, Sorted};

/// Rows of slices by arrival, for linked tracks whose rows arrived in another order.
pub struct Arrivals(pub FxHashMap<u32, Vec<u32>>);

impl Arrivals {
    /// Room for the rows of linked tracks that promised no order.
    pub fn of(tracks: &[TrackState]) -> Self {
        let sorted = (0_u32..).zip(tracks).filter(|(_, track)| track.linked && !track.is_in_order());
        Self(sorted.map(|(id, track)| (id, vec![0; track.rows as usize])).collect())
    }
}

/// Sends all rows that promised no order to the consumer, in the order of their places.
pub struct SortedTracks<'s, 'a> {
    /// Rows that fit into memory.
    pub arrived: Vec<(GroupKey, Box<RowBuffer>)>,
    /// All other rows.
    pub rows: Sorted<RowSortKey, &'a dyn Scratch>,
    pub line: &'s mut (dyn Pipeline<'a> + 'a),
    pub metas: &'s [TrackMeta],
    pub waits: Arc<WaitNames>,
    /// Span of the whole trace.
    pub span: Interval,
}

/// The track whose rows are being read.
struct CurrentTrack {
    key: u64,
    place: GroupKey,
    kind: Option<TrackContent>,
    /// Waiting rows, and the number of rows sent before.
    rows: RowBuffer,
    before: u32,
    waits: Arc<WaitNames>,
    binder: Option<TrackBinder>,
}

impl SortedTracks<'_, '_> {
    pub fn send(mut self, binder: &mut Binder, arrivals: &mut Arrivals) -> Result<()> {
        let mut current: Option<CurrentTrack> = None;
        let mut arrived = std::mem::take(&mut self.arrived).into_iter().peekable();
        while let Some((key, packed)) = self.rows.next_with()? {
            if current.as_ref().is_none_or(|current| current.key != key.place) {
                if let Some(done) = current.take() {
                    done.end(self.line, self.span, binder)?;
                }
                while let Some((place, rows)) = arrived.next_if(|(place, _)| place.key() < key.place) {
                    let track = CurrentTrack::new(place.key(), self.metas, &self.waits, binder);
                    track.send_whole(*rows, &mut *self.line, self.span, binder, arrivals)?;
                }
                current = Some(CurrentTrack::new(key.place, self.metas, &self.waits, binder));
            }
            let Some(current) = &mut current else { continue };
            let row = current.before + narrow(current.rows.len());
            if let Some(rows) = current.place.track.and_then(|track| arrivals.0.get_mut(&track.0)) {
                rows[key.arrival as usize] = row;
            }
            if let Some(track) = &mut current.binder {
                let during = Interval::lasting(key.start_ps, key.duration_ps);
                track.row(binder, during, row, key.arrival);
            }
            read_row(&key, packed, current.kind, &mut current.rows)?;
            if current.rows.len() >= GROUP_ROWS || current.rows.bytes() > MAX_GROUP_BYTES {
                current.hand_over(self.line, GroupRest::Sorted(self.span))?;
            }
        }
        current.map_or(Ok(()), |done| done.end(self.line, self.span, binder))?;
        for (place, rows) in arrived {
            let track = CurrentTrack::new(place.key(), self.metas, &self.waits, binder);
            track.send_whole(*rows, &mut *self.line, self.span, binder, arrivals)?;
        }
        Ok(())
    }
}

impl CurrentTrack {
    fn new(key: u64, metas: &[TrackMeta], waits: &Arc<WaitNames>, binder: &Binder) -> Self {
        let place = GroupKey::of_key(key);
        let kind = place.track.and_then(|track| metas.get(track.0 as usize)).map(|meta| meta.spec.kind);
        let of_slices = place.track.filter(|_| matches!(kind, Some(TrackContent::Slices(..))));
        Self {
            key,
            place,
            kind,
            rows: RowBuffer::default(),
            waits: Arc::clone(waits),
            before: 0,
            binder: of_slices.map(|track| binder.track(track.0)),
        }
    }

    /// Sends all rows of the track, which are in the order of arrival.
    fn send_whole(
        mut self,
        mut rows: RowBuffer,
        line: &mut dyn Pipeline<'_>,
        span: Interval,
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
                track.row(binder, Interval::lasting(start_ps, *duration_ps), row, arrival(row));
            }
        }
        let mut group = rows.group(0);
        while group.end < rows.len() {
            self.rows = rows.part(&group);
            self.hand_over(line, GroupRest::Sorted(span))?;
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
        self.hand_over(line, GroupRest::Later(span))?;
        if let Some(track) = self.binder {
            track.finish(binder);
        }
        Ok(())
    }

    fn hand_over(&mut self, line: &mut dyn Pipeline<'_>, rest: GroupRest) -> Result<()> {
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
fn read_row(key: &RowSortKey, packed: &[u8], kind: Option<TrackContent>, rows: &mut RowBuffer) -> Result<()> {
    let mut cursor = Cursor::new(packed, 0, "row in scratch space");
    let row = match kind {
        None | Some(TrackContent::Group) => RowHead::Side,
        Some(TrackContent::Slices(..)) => RowHead::Slice {
            name: cursor.varint_u32()?,
            form: cursor.u8()?,
            start_ps: key.start_ps,
            duration_ps: key.duration_ps,
        },
        Some(TrackContent::Counter(_)) => {
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
