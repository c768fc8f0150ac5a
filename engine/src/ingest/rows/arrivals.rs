//! Rows of tracks that promised no order, while all of them fit into memory: column by column, in
//! the order of arrival.
//!
//! After the last event each column is put in order by itself. Most tracks are nearly in order, so
//! this costs a fraction of packing, sorting and unpacking rows. If the memory is full, all rows go
//! to the sorter, which has scratch space, and later rows follow them.

use std::ops::Range;

use super::field_column::FieldColumn;
use super::positions::Positions;
use super::row::{PackedValue, RowHead, RowSortKey, put_value};
use super::track_rows::{GROUP_ROWS, MAX_GROUP_BYTES, RowBuffer};
use crate::base::{Result, narrow};
use crate::block::BlockValues;
use crate::codec::ColumnTexts;
use crate::exec::step;
use crate::spill::{Scratch, Sorter};

/// Bytes of a number that each row of its track has.
pub const NUMBER_BYTES: usize = 8;
/// Most bytes of any other value, with the number of its row.
pub const VALUE_BYTES: usize = 12;
/// Approximate bytes of a track, and of a column of it, besides rows and values.
const TRACK_BYTES: usize = 1 << 10;
const COLUMN_BYTES: usize = 256;

/// Rows by track, in the order of arrival.
#[derive(Debug)]
pub struct Arrived {
    /// Rows of each track that has some.
    tracks: Vec<Option<Box<RowBuffer>>>,
    /// Approximate bytes of all rows.
    bytes: usize,
    /// Bytes at which the memory is full; `None` once it was full.
    limit: Option<usize>,
}

impl Arrived {
    /// No rows so far. They take at most about `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { tracks: Vec::new(), bytes: 0, limit: Some(limit) }
    }

    /// The rows of a track; `None` once the memory was full.
    #[inline]
    pub fn of(&mut self, track: u32) -> Option<&mut RowBuffer> {
        self.limit?;
        let track = track as usize;
        if track >= self.tracks.len() {
            self.tracks.resize_with(track + 1, || None);
        }
        if self.tracks[track].is_none() {
            self.bytes += TRACK_BYTES;
        }
        Some(self.tracks[track].get_or_insert_default())
    }

    /// Counts bytes. Returns whether the memory is full.
    #[inline]
    pub fn count(&mut self, bytes: usize) -> bool {
        self.bytes += bytes;
        self.limit.is_some_and(|limit| self.bytes >= limit)
    }

    /// Takes memory that is needed elsewhere.
    pub fn shrink(&mut self, bytes: usize) {
        self.limit = self.limit.map(|limit| limit.saturating_sub(bytes));
    }

    /// Takes the rows of all tracks in the order of tracks. No more rows are taken.
    pub fn take(&mut self) -> impl Iterator<Item = (u32, Box<RowBuffer>)> + use<> {
        self.limit = None;
        let tracks = std::mem::take(&mut self.tracks);
        (0..).zip(tracks).filter_map(|(track, rows)| Some((track, rows?)))
    }
}

/// Numbers of the rows in the order of start, the longest first; `None` if they are in order.
fn order_of(rows: &RowBuffer) -> Option<Vec<u32>> {
    let last = |at: usize| rows.durations.get(at).map_or(0, |duration| -duration);
    let key = |at: usize| (rows.starts[at], last(at));
    if (1..rows.len()).all(|at| key(at - 1) <= key(at)) {
        return None;
    }
    let mut keys: Vec<(i64, i64, u32)> =
        (0..).zip(0..rows.len()).map(|(row, at)| (rows.starts[at], last(at), row)).collect();
    // A stable sort finds runs that are in order: the events of a category often come together.
    keys.sort();
    Some(keys.into_iter().map(|(.., row)| row).collect())
}

impl RowBuffer {
    /// Approximate bytes of the columns themselves.
    #[inline]
    pub fn own_bytes(&self) -> usize {
        self.fields.len() * COLUMN_BYTES + self.columns.bytes()
    }

    /// Puts rows that arrived in any order in the order of start, the longest first. Returns for
    /// each row the number of its arrival; `None` if the rows were in order.
    pub fn put_in_order(&mut self) -> Option<Vec<u32>> {
        let order = order_of(self)?;
        let mut rank = vec![0_u32; order.len()];
        (0..).zip(&order).for_each(|(place, &row)| rank[row as usize] = place);
        // Each column takes the memory of the one before it: the system takes as long to clear new
        // pages as a column takes to be put in order.
        let mut spare = Vec::new();
        for column in [&mut self.starts, &mut self.durations, &mut self.names, &mut self.forms] {
            pick(column, order.iter().copied().take(column.len()), &mut spare);
        }
        if !self.values.is_empty() {
            pick(&mut self.values, order.iter().copied(), &mut Vec::new());
        }
        self.fields.iter_mut().for_each(|column| column.reorder(&order, &rank, &mut spare));
        Some(order)
    }

    /// The rows that are encoded together, beginning with this row.
    pub fn group(&self, start: usize) -> Range<usize> {
        let row_bytes = self.row_bytes();
        let most = GROUP_ROWS.min(MAX_GROUP_BYTES / row_bytes + 1);
        let mut end = self.len().min(start + most);
        while end > start + 1
            && (end - start) * row_bytes + self.text_bytes(&(start..end)) > MAX_GROUP_BYTES + row_bytes
        {
            end = start + (end - start) / 2;
        }
        start..end
    }

    /// Copies of some rows, with their fields in the order of the first rows that have them.
    pub fn part(&self, range: &Range<usize>) -> Self {
        let of = |column: &Vec<i64>| column.get(range.clone()).unwrap_or_default().to_vec();
        let mut part = Self::default();
        (part.starts, part.durations) = (of(&self.starts), of(&self.durations));
        (part.names, part.forms) = (of(&self.names), of(&self.forms));
        part.values = self.values.get(range.clone()).unwrap_or_default().to_vec();
        let columns = self.fields.iter().filter_map(|column| column.part(range)).collect();
        part.arrange(columns, range.len());
        part
    }

    /// Sorts the fields by the first rows that have them.
    pub fn arrange_fields(&mut self) {
        let (columns, count) = (std::mem::take(&mut self.fields), self.len());
        self.arrange(columns, count);
    }

    fn arrange(&mut self, mut columns: Vec<FieldColumn>, count: usize) {
        columns.sort_by_key(|column| column.row_of(0));
        self.count = count;
        self.columns = Positions::default();
        for (place, column) in (1..).zip(&columns) {
            *self.columns.of(column.field, column.kind) = place;
        }
        let texts = |column: &FieldColumn| match &column.values {
            BlockValues::Texts(texts) => texts.bytes.len(),
            BlockValues::Ints(_) | BlockValues::Floats(_) => 0,
        };
        self.text_len = columns.iter().map(texts).sum();
        self.fields = columns;
    }

    /// Passes all rows to a sorter.
    pub fn pack<S: Scratch>(&self, place: u64, sorter: &mut Sorter<RowSortKey, S>) -> Result<()> {
        let mut slots = vec![0; self.fields.len()];
        for (arrival, at) in (0..).zip(0..self.len()) {
            let row = self.row(at);
            let (start_ps, duration_ps) = row.span();
            sorter.push_with(RowSortKey { place, start_ps, duration_ps, arrival }, |out| {
                row.put_head(out);
                step(self.fields.len());
                for (column, slot) in self.fields.iter().zip(&mut slots) {
                    while column.row_of(*slot) == Some(at) {
                        put_value(column.field.0, column.kind, column.value(*slot), out);
                        *slot += 1;
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    fn row(&self, at: usize) -> RowHead {
        let (start_ps, name) = (self.starts[at], self.names.get(at).copied());
        match (name.and_then(|name| u32::try_from(name).ok()), self.values.get(at)) {
            (Some(name), _) => {
                let form = u8::try_from(self.forms[at]).unwrap_or_default();
                RowHead::Slice { name, form, start_ps, duration_ps: self.durations[at] }
            }
            (None, Some(&value)) => RowHead::Sample { time_ps: start_ps, value },
            (None, None) => RowHead::Side,
        }
    }
}

/// Replaces the values by those at these positions. The old ones become the spare memory.
fn pick<T: Copy>(values: &mut Vec<T>, slots: impl Iterator<Item = u32>, spare: &mut Vec<T>) {
    spare.clear();
    spare.extend(slots.map(|at| values[at as usize]));
    std::mem::swap(values, spare);
}

impl FieldColumn {
    /// Puts the values in the order of rows. `rank` gives the new number of each row, and `order`
    /// the old one.
    fn reorder(&mut self, order: &[u32], rank: &[u32], spare: &mut Vec<i64>) {
        if self.is_full(order.len()) {
            return self.values.pick(order.iter().copied(), spare);
        }
        let slots = 0..narrow(self.len());
        let place = |slot| self.row_of(slot as usize).map_or(u32::MAX, |row| rank[row]);
        let mut places: Vec<(u32, u32)> = slots.map(|slot| (place(slot), slot)).collect();
        places.sort();
        self.values.pick(places.iter().map(|&(_, slot)| slot), spare);
        self.set_rows(places.into_iter().map(|(row, _)| row).collect());
    }

    /// Copies of the values of some rows; `None` if there are none.
    fn part(&self, range: &Range<usize>) -> Option<Self> {
        let slots = self.slots(range);
        if slots.is_empty() {
            return None;
        }
        let first = narrow(range.start);
        let row = |slot| self.row_of(slot).map_or(u32::MAX, narrow) - first;
        let mut part = Self::new(self.field, self.kind);
        part.values = self.values.part(&slots);
        if slots.len() < range.len() {
            part.set_rows(slots.map(row).collect());
        }
        Some(part)
    }

    /// The row of a value by its position; `None` if there are fewer values.
    fn row_of(&self, slot: usize) -> Option<usize> {
        match &self.rows {
            None => (slot < self.len()).then_some(slot),
            Some(rows) => rows.get(slot).map(|&row| row as usize),
        }
    }

    /// Sets the rows of the values, ascending.
    fn set_rows(&mut self, rows: Vec<u32>) {
        let is_dense = (0..).zip(&rows).all(|(slot, &row): (u32, _)| slot == row);
        self.rows = (!is_dense).then_some(rows);
    }

    /// A value by its position.
    fn value(&self, slot: usize) -> PackedValue<'_> {
        match &self.values {
            BlockValues::Ints(values) => PackedValue::Int(values[slot]),
            BlockValues::Floats(values) => PackedValue::Float(values[slot]),
            BlockValues::Texts(texts) => PackedValue::Text(texts.get(slot)),
        }
    }
}

impl BlockValues {
    /// Replaces the values by those at these positions.
    fn pick(&mut self, slots: impl Iterator<Item = u32>, spare: &mut Vec<i64>) {
        match self {
            Self::Ints(values) => pick(values, slots, spare),
            Self::Floats(values) => pick(values, slots, &mut Vec::new()),
            Self::Texts(texts) => {
                let mut picked = ColumnTexts::default();
                slots.for_each(|at| picked.push(texts.get(at as usize)));
                *texts = picked;
            }
        }
    }

    fn part(&self, slots: &Range<usize>) -> Self {
        match self {
            Self::Ints(values) => Self::Ints(values[slots.clone()].to_vec()),
            Self::Floats(values) => Self::Floats(values[slots.clone()].to_vec()),
            Self::Texts(texts) => {
                let mut part = ColumnTexts::default();
                slots.clone().for_each(|at| part.push(texts.get(at)));
                Self::Texts(part)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{BuildOptions, Builder};
    use crate::model::{
        Bind, FieldId, FieldSpec, FlowPhase, FlowPoint, Nesting, Sink, SliceForm, SliceRecord, TableKind,
        TableSpec, TrackSpec, Unit, Value,
    };
    use crate::spill::MemoryScratch;

    /// Rows of two tracks and a counter in a pseudo-random order, with fields that some rows lack,
    /// texts in place, arrows and points.
    fn built(count: i64, step: i64, sort_bytes: usize) -> Vec<u8> {
        let scratch = MemoryScratch::default();
        let mut bytes = Vec::new();
        let options = BuildOptions { sort_bytes, dictionary_bytes: 64, ..BuildOptions::default() };
        let mut builder = Builder::new(&scratch, &mut bytes, options).unwrap();
        let mut table = |name: &str, kind| builder.table(TableSpec::new(name, kind, "")).unwrap();
        let (samples, slices) = (table("samples", TableKind::Samples), table("slices", TableKind::Slices));
        let mut field = |table, name: &str| builder.field(table, FieldSpec::named(name)).unwrap();
        let of_sample = field(samples, "of");
        let fields: Vec<FieldId> = (0..4).map(|at| field(slices, &format!("f{at}"))).collect();
        let name = builder.name("a").unwrap();
        let track = |name| TrackSpec::slices(name, None, slices, Nesting::Calls, 0);
        let tracks = [builder.track(track("x")).unwrap(), builder.track(track("y")).unwrap()];
        let counter = TrackSpec::counter("c", None, samples, Unit::None, 0);
        let counter = builder.track(counter).unwrap();
        let mut before = None;
        for at in 0..count {
            let time_ps = at * step % count / 2;
            let text = format!("{at} is a text that the dictionary has no room for");
            let of_row = [
                (fields[0], Value::Int(at)),
                (fields[1], Value::Text(&text)),
                (fields[2], Value::Float(0.5)),
                (fields[(at % 4) as usize], Value::Bool(true)),
            ];
            let fields = &of_row[..(at % 7).min(4) as usize];
            let (track, duration_ps, form) = (tracks[(at % 3 / 2) as usize], at % 5, SliceForm::Complete);
            let slice = SliceRecord { track, start_ps: time_ps, duration_ps, name, form, fields };
            let key = builder.slice(&slice).unwrap();
            if let Some(before) = before.replace(key).filter(|_| at % 9 == 0) {
                builder.link(before, key, name).unwrap();
            }
            let (key, phase) = (at as u64 / 22, if at % 22 < 11 { FlowPhase::Start } else { FlowPhase::End });
            if at % 11 == 0 {
                let bind = if at % 2 == 0 { Bind::Enclosing } else { Bind::Next };
                builder.flow_point(FlowPoint { key, track, time_ps, phase, bind, name }).unwrap();
            }
            let fields = [(of_sample, Value::Int(at))];
            builder.sample(counter, time_ps, at as f64, &fields[..(at % 2) as usize]).unwrap();
        }
        builder.finish().unwrap();
        bytes
    }

    #[test]
    fn rows_in_memory_are_stored_as_those_that_are_packed() {
        for (count, step) in [(1, 1), (5_000, 1), (30_000, 7_919), (30_000, 29_999)] {
            let of = |sort_bytes| built(count, step, sort_bytes);
            let whole = of(1 << 30);
            // The memory is full at once, and in the middle.
            for sort_bytes in [1, 700_000] {
                assert!(whole == of(sort_bytes), "{count} rows in steps of {step}");
            }
        }
    }

    #[test]
    fn many_tracks_fill_the_memory_with_few_rows() {
        let mut arrived = Arrived::new(1 << 20);
        let is_full = |arrived: &mut Arrived, track| arrived.of(track).is_none() || arrived.count(0);
        let full_at = (0..10_000).find(|&track| is_full(&mut arrived, track));
        assert_eq!(full_at, Some(1023));
        assert_eq!(arrived.take().count(), 1024);
        assert!(arrived.of(0).is_none());
    }

    #[test]
    fn a_group_ends_at_its_limits() {
        let mut rows = RowBuffer::default();
        let field = |at| FieldId(at);
        for at in 0..GROUP_ROWS + 10 {
            rows.slice(0, 0, at as i64, 0);
            rows.field(field(0), crate::block::ColumnType::Int, PackedValue::Int(at as i64));
        }
        assert_eq!(rows.group(0), 0..GROUP_ROWS);
        assert_eq!(rows.group(GROUP_ROWS), GROUP_ROWS..rows.len());
        let long = "x".repeat(MAX_GROUP_BYTES / 8);
        for at in 0..20 {
            rows.slice(0, 0, 1 << 40, 0);
            rows.field(field(1), crate::block::ColumnType::LongText, PackedValue::Text(&long[at..]));
        }
        let mut ends = Vec::new();
        let mut group = rows.group(0);
        while group.end < rows.len() {
            ends.push(group.clone());
            group = rows.group(group.end);
        }
        assert!(ends.iter().all(|range| rows.text_bytes(range) <= MAX_GROUP_BYTES), "{ends:?}");
    }
}
