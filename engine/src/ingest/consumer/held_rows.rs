//! Rows of short tracks, which are held until the end of the trace and then encoded together as
//! packs.
//!
//! Otherwise two hundred semaphores with one change each would be two hundred blocks per column,
//! and block headers would be most of the bytes. Tracks whose rows follow each other in the table
//! share a pack of up to [`ROWS`] rows.

use std::collections::BTreeMap;
use std::ops::Range;

use super::encode::BlockGroup;
use super::encoded_block::{EncodedBlock, EncodedColumn};
use super::group::{GroupKey, TrackGroup};
use super::learn::{MIN_ROWS, Starts};
use super::track_output::{PackedTrack, TrackOutput};
use crate::base::{Result, narrow};
use crate::block::{ColumnType, ROWS, ValuesRef};
use crate::codec::Encoder;
use crate::ingest::lanes::LaneAssigner;
use crate::ingest::rows::RowBuffer;
use crate::model::{Nesting, TableId, TrackContent};
use crate::segment::{ColumnRole, PieceWriter};

/// Maximum bytes of held rows. Beyond this, tracks whose rows are complete are written as packs,
/// and others like long tracks.
const MAX_HELD_BYTES: usize = 32 << 20;
/// Maximum bytes of one held track: a few long texts are as large as many rows.
const MAX_TRACK_BYTES: usize = 1 << 20;
/// Approximate bytes of a held track besides its rows.
const TRACK_BYTES: usize = 1 << 10;

/// Rows of short tracks.
#[derive(Debug, Default)]
pub struct HeldRows {
    tracks: BTreeMap<GroupKey, (Option<TrackContent>, RowBuffer)>,
    bytes: usize,
}

impl HeldRows {
    /// Keeps a copy of the first rows of a track. Returns `false` if there are too many rows or
    /// bytes: a longer track can have a program.
    pub fn hold(&mut self, group: &TrackGroup) -> bool {
        let bytes = group.rows.bytes();
        let is_small = (1..MIN_ROWS).contains(&group.rows.len()) && bytes <= MAX_TRACK_BYTES;
        if !is_small || self.bytes + bytes + TRACK_BYTES > MAX_HELD_BYTES {
            return false;
        }
        self.bytes += bytes + TRACK_BYTES;
        let mut rows = RowBuffer::default();
        rows.append(&group.rows);
        rows.end();
        self.tracks.insert(group.place, (group.kind, rows));
        true
    }

    /// Whether not even the shortest track can be held.
    pub fn is_full(&self) -> bool {
        self.bytes + TRACK_BYTES > MAX_HELD_BYTES
    }

    /// Takes the tracks before this place.
    pub fn take_before(&mut self, place: GroupKey) -> Self {
        let later = self.tracks.split_off(&place);
        let tracks = std::mem::replace(&mut self.tracks, later);
        let bytes: usize = tracks.values().map(|(_, rows)| rows.bytes() + TRACK_BYTES).sum();
        self.bytes -= bytes;
        Self { tracks, bytes }
    }

    /// Returns the rows of a track that has more of them.
    pub fn take(&mut self, place: GroupKey) -> Option<(Option<TrackContent>, RowBuffer)> {
        let held = self.tracks.remove(&place)?;
        self.bytes -= held.1.bytes() + TRACK_BYTES;
        Some(held)
    }

    /// Groups tracks whose rows follow each other in their table. `is_written` says whether a track
    /// between two others is written without a pack.
    pub fn into_packs(self, is_written: impl Fn(GroupKey, GroupKey) -> bool) -> Vec<Pack> {
        let mut packs: Vec<Pack> = Vec::new();
        for (place, (kind, rows)) in self.tracks {
            let joins = |pack: &Pack| {
                pack.table() == place.table
                    && pack.rows.len() + rows.len() <= ROWS
                    && pack.rows.bytes() + rows.bytes() <= MAX_TRACK_BYTES
                    && !is_written(pack.last, place)
            };
            if !packs.last().is_some_and(joins) {
                packs.push(Pack {
                    first: place,
                    last: place,
                    rows: RowBuffer::default(),
                    tracks: Vec::new(),
                });
            }
            if let Some(pack) = packs.last_mut() {
                pack.tracks.push((place, kind, pack.rows.len()));
                pack.rows.append(&rows);
                pack.last = place;
            }
        }
        packs
    }
}

/// Rows of several tracks of a table.
#[derive(Debug)]
pub struct Pack {
    first: GroupKey,
    last: GroupKey,
    rows: RowBuffer,
    /// Tracks with the first row of each.
    tracks: Vec<(GroupKey, Option<TrackContent>, usize)>,
}

/// A pack whose columns are encoded.
#[derive(Debug)]
pub struct EncodedPack {
    out: TrackOutput,
    columns: Vec<EncodedColumn>,
}

/// Lanes of the rows of a pack.
#[derive(Debug, Default)]
struct Lines {
    lanes: Vec<i64>,
    /// Lane minus depth for each row that has a depth. Such rows are marked.
    shifts: Vec<i64>,
    nests: Vec<bool>,
}

impl Pack {
    /// Key of the first track of the pack.
    pub fn place(&self) -> GroupKey {
        self.first
    }

    fn table(&self) -> TableId {
        self.first.table
    }

    /// Encodes the columns of the pack.
    pub fn encode(&self, encoder: &mut Encoder) -> EncodedPack {
        let rows = &self.rows;
        let firsts: Vec<usize> = self.tracks.iter().map(|track| track.2).collect();
        let group = BlockGroup { rows, starts: Starts::Plain, program: None };
        let mut block = group.pack(&firsts, encoder);
        let mut out = TrackOutput::default();
        let mut lines = Lines::default();
        let ends = firsts.iter().skip(1).copied().chain([rows.len()]);
        for (&(place, kind, first), end) in self.tracks.iter().zip(ends) {
            let mut packed =
                PackedTrack { track: place.track, rows: narrow(end - first), lanes: 0, value_range: None };
            match kind {
                Some(TrackContent::Slices(_, nesting)) => {
                    let spans = rows.starts[first..end].iter().zip(&rows.durations[first..end]);
                    packed.lanes =
                        lines.add(nesting, spans.map(|(start, duration)| (*start, start + duration)));
                }
                Some(TrackContent::Counter(_)) => {
                    packed.lanes = 1;
                    let numbers = rows.values[first..end].iter().copied().filter(|value| !value.is_nan());
                    packed.value_range = numbers.fold(None, |range, value| {
                        let (min, max) = range.unwrap_or((value, value));
                        Some((f64::min(min, value), f64::max(max, value)))
                    });
                }
                Some(TrackContent::Group) | None => {}
            }
            let (start_ps, end_ps) = span_of(rows, first..end);
            out.blocks.push((packed.rows, start_ps, end_ps));
            out.rows += packed.rows;
            out.packed.push(packed);
        }
        lines.put(&mut block, encoder);
        EncodedPack { out, columns: block.columns }
    }
}

/// First start and latest end of some rows; 0 for rows without time.
fn span_of(rows: &RowBuffer, range: Range<usize>) -> (i64, i64) {
    let starts = rows.starts.get(range.clone()).unwrap_or_default();
    let durations = rows.durations.get(range).unwrap_or_default();
    let ends = starts.iter().zip(durations).map(|(start, duration)| start + duration);
    let (first, last) = (starts.first().copied(), starts.last().copied());
    (first.unwrap_or_default(), ends.max().or(last).unwrap_or_default())
}

impl Lines {
    /// Adds the rows of a track, each with its start and end. Returns the number of lanes.
    fn add(&mut self, nesting: Nesting, spans: impl Iterator<Item = (i64, i64)>) -> u32 {
        let mut lanes = LaneAssigner::new(nesting);
        for (start_ps, end_ps) in spans {
            let place = lanes.place(start_ps, end_ps);
            self.lanes.push(i64::from(place.lane));
            self.nests.push(nesting == Nesting::Calls);
            if nesting == Nesting::Calls {
                self.shifts.push(i64::from(place.lane) - i64::from(place.depth));
            }
        }
        lanes.count()
    }

    /// Adds the lane columns to the columns of the pack.
    fn put(&self, block: &mut EncodedBlock, encoder: &mut Encoder) {
        if !self.lanes.is_empty() {
            block.plain(ColumnRole::Lane, ValuesRef::Ints(&self.lanes), encoder);
        }
        if !self.shifts.is_empty() {
            let present = (self.shifts.len() < self.lanes.len()).then_some(self.nests.as_slice());
            let shifts = ValuesRef::Ints(&self.shifts);
            block.put(ColumnRole::LaneShift, ColumnType::Int, present, shifts, encoder);
        }
    }
}

impl EncodedPack {
    /// Writes the encoded pack.
    pub fn write(self, writer: &mut PieceWriter<'_>) -> Result<TrackOutput> {
        let Self { mut out, columns } = self;
        out.add_pack(columns, writer)?;
        Ok(out)
    }
}
