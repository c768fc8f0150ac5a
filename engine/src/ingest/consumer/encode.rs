//! Encodes the rows of one block into the bytes of its columns. Depends only on its arguments, so
//! blocks can be encoded in any order.

use std::ops::Range;

use super::encoded_block::{EncodedBlock, EncodedColumn};
use super::learn::Starts;
use super::predicted_columns::Codes;
use crate::base::Covered;
use crate::block::{BlockValues, Coding, ColumnType, ValuesRef, ZoneMap, rate};
use crate::codec::{DISTINCT_MAX, Encoder};
use crate::exec::step;
use crate::ingest::rows::{BlockUses, FieldColumn, RowBuffer};
use crate::segment::{BlockNameTotal, BlockTotals, ColumnRole, Predicted, Program, put_column_key};

/// Input for encoding the blocks of a group.
pub struct BlockGroup<'a> {
    /// Rows of the group.
    pub rows: &'a RowBuffer,
    /// Storage of starts.
    pub starts: Starts,
    /// Program of the track, and the code of each row.
    pub program: Option<(&'a Program, &'a [u32])>,
}

/// Maximum number of distinct names for totals and of distinct texts for postings. Beyond this
/// limit they are not worth their bytes.
const MAX_DISTINCT: usize = DISTINCT_MAX;

/// Number of names whose positions are cached while the rows of a block are counted.
const RECENT_NAMES: usize = 64;
/// Most columns of whole numbers that are compared with columns of rates. Wider tables have data in
/// the place of keys.
const MAX_SIZES: usize = 256;

impl BlockGroup<'_> {
    /// Encodes all columns of the rows in `range`, except the lanes. Earlier rows last up to
    /// `reach_ps`.
    pub fn block(&self, range: Range<usize>, reach_ps: i64, encoder: &mut Encoder) -> EncodedBlock {
        let rows = self.rows;
        let mut block = EncodedBlock { rows: range.len() as u32, ..EncodedBlock::default() };
        let predicted = self.program.map(|(program, codes)| Codes::of(program, &codes[range.clone()]));
        let predicted = predicted.as_ref();
        if rows.starts.is_empty() {
            // A side table: its rows have no time.
        } else if rows.durations.is_empty() {
            let starts = &rows.starts[range.clone()];
            (block.start_ps, block.end_ps) = (starts[0], starts[starts.len() - 1]);
            block.plain(ColumnRole::Start, ValuesRef::Ints(starts), encoder);
            block.plain(ColumnRole::Value, ValuesRef::Floats(&rows.values[range.clone()]), encoder);
        } else {
            let (starts, durations) = (&rows.starts[range.clone()], &rows.durations[range.clone()]);
            let ends = starts.iter().zip(durations).map(|(start, duration)| start + duration);
            (block.start_ps, block.end_ps) = (starts[0], ends.max().unwrap_or(starts[0]));
            block.totals = totals_of(starts, durations, &rows.names[range.clone()], reach_ps);
            self.put_starts(&range, encoder, &mut block);
            for (role, values) in [(ColumnRole::Duration, &rows.durations), (ColumnRole::Name, &rows.names)] {
                let kind = if role == ColumnRole::Name { ColumnType::Text } else { ColumnType::Int };
                let values = &values[range.clone()];
                let is_predicted = predicted.is_some_and(|codes| {
                    let of_duration = role == ColumnRole::Duration;
                    of_duration && codes.put_ends(starts, durations, encoder, &mut block)
                        || codes.put(role, kind, |_| true, values, encoder, &mut block)
                });
                if !is_predicted {
                    block.plain(role, ValuesRef::Ints(values), encoder);
                }
            }
            block.plain(ColumnRole::Form, ValuesRef::Ints(&rows.forms[range.clone()]), encoder);
        }
        let mut uses = None;
        let sizes = self.sizes();
        step(rows.fields.len());
        for column in &rows.fields {
            if column.by_use.is_some() {
                let codes = predicted.map(|predicted| predicted.codes);
                let uses = uses.get_or_insert_with(|| BlockUses::of(&rows.uses[range.clone()], codes));
                self.put_by_use(column, &range, uses, predicted, encoder, &mut block);
            } else {
                self.put_field(column, &sizes, &range, predicted, encoder, &mut block);
            }
        }
        block
    }

    /// Encodes all rows as a pack. `firsts` are the first rows of its tracks, ascending.
    /// `BlockGroup::starts` must be plain.
    pub fn pack(&self, firsts: &[usize], encoder: &mut Encoder) -> EncodedBlock {
        let mut block = self.block(0..self.rows.len(), i64::MIN, encoder);
        let lists = [(Coding::AfterStart, None), (Coding::AfterEnd, Some(&self.rows.durations))];
        let Some(plain) = block.columns.iter_mut().find(|column| column.role == ColumnRole::Start) else {
            return block;
        };
        for (coding, lasted) in lists {
            if lasted.is_some_and(Vec::is_empty) {
                continue;
            }
            let starts = &self.rows.starts;
            let before = |row: usize| starts[row] + lasted.map_or(0, |lasted| lasted[row]);
            let mut differences: Vec<i64> = vec![0];
            differences.extend((1..starts.len()).map(|row| starts[row].wrapping_sub(before(row - 1))));
            firsts.iter().for_each(|&first| differences[first] = 0);
            let mut bytes = vec![coding.code()];
            encoder.ints(&differences, &mut bytes);
            if bytes.len() < plain.bytes.len() || plain.bytes.first() == Some(&Coding::All.code()) {
                plain.bytes = bytes;
            }
        }
        block
    }

    /// The integer columns that are compared with columns of rates: all, or none if they are many.
    fn sizes(&self) -> Vec<&FieldColumn> {
        let is_size = |column: &&FieldColumn| matches!(column.kind, ColumnType::Int | ColumnType::Uint);
        let sizes: Vec<_> = self.rows.fields.iter().filter(is_size).collect();
        if sizes.len() <= MAX_SIZES { sizes } else { Vec::new() }
    }

    /// Finds an integer column whose rates over the durations equal the values of a column bit by
    /// bit.
    fn size_of(
        &self,
        sizes: &[&FieldColumn],
        rates: &[f64],
        present: Option<&[bool]>,
        range: &Range<usize>,
    ) -> Option<(ColumnRole, ColumnType)> {
        let durations = self.rows.durations.get(range.clone())?;
        let has = |at: &usize| present.is_none_or(|present| present[*at]);
        let first = (0..range.len()).find(has)?;
        let is_rate = |size: i64, at: usize, of: f64| rate(size, durations[at]).to_bits() == of.to_bits();
        for &column in sizes {
            step(1);
            let Some(values) = self.rows.ints(column, range) else { continue };
            let is_one = values.len() == rates.len()
                && is_rate(*values.first()?, first, *rates.first()?)
                && (0..range.len())
                    .filter(has)
                    .zip(values.iter().zip(rates))
                    .all(|(at, (&size, &of))| is_rate(size, at, of));
            if !is_one {
                continue;
            }
            let mut marks = vec![false; range.len()];
            self.rows.mark(column, range, &mut marks);
            if marks.iter().enumerate().all(|(at, &mark)| mark == has(&at)) {
                return Some((ColumnRole::Field(column.field), column.kind));
            }
        }
        None
    }

    fn put_starts(&self, range: &Range<usize>, encoder: &mut Encoder, block: &mut EncodedBlock) {
        let (starts, durations) = (&self.rows.starts, &self.rows.durations);
        let (coding, of) = match self.starts {
            Starts::Plain => {
                return block.plain(ColumnRole::Start, ValuesRef::Ints(&starts[range.clone()]), encoder);
            }
            Starts::AfterEnd => (Coding::AfterEnd, Predicted::GapAfterEnd),
            Starts::AfterStart => (Coding::AfterStart, Predicted::StepAfterStart),
        };
        let mut differences: Vec<i64> = vec![0];
        differences.extend((range.start + 1..range.end).map(|row| {
            let before = starts[row - 1] + if coding == Coding::AfterEnd { durations[row - 1] } else { 0 };
            starts[row] - before
        }));
        if let Some((program, codes)) = self.program
            && let Some(predicted) = program.column(of)
        {
            let codes = &codes[range.clone()];
            for (difference, &code) in differences.iter_mut().zip(codes).skip(1) {
                *difference = difference.wrapping_sub(predicted.values[code as usize]);
            }
            // Rows whose gap does not vary have no difference.
            if predicted.present.is_some() {
                let mut codes = codes.iter();
                differences.retain(|_| codes.next().is_some_and(|&code| predicted.usual(code).is_some()));
            }
        }
        let mut bytes = vec![coding.code()];
        encoder.ints(&differences, &mut bytes);
        let (role, kind) = (ColumnRole::Start, ColumnType::Int);
        block.columns.push(EncodedColumn { role, kind, zone: ZoneMap::None, bytes, texts: None });
    }

    /// Encodes a column whose values follow from the templates of the rows.
    fn put_by_use(
        &self,
        column: &FieldColumn,
        range: &Range<usize>,
        uses: &BlockUses<'_>,
        predicted: Option<&Codes<'_>>,
        encoder: &mut Encoder,
        block: &mut EncodedBlock,
    ) {
        let Some(by_use) = &column.by_use else { return };
        let of_uses = uses.values(by_use);
        let Some(&first) = of_uses.iter().flatten().next() else { return };
        let (role, kind) = (ColumnRole::Field(column.field), column.kind);
        if predicted.is_some_and(|codes| codes.put_by_use(role, kind, &of_uses, uses, encoder, block)) {
            return;
        }
        let present = of_uses.contains(&None).then(|| uses.present(by_use));
        if predicted.is_none_or(|codes| !codes.predicts(role, kind))
            && of_uses.iter().flatten().all(|v| *v == first)
        {
            // The count of equal values does not affect the encoding.
            return block.put(role, kind, present.as_deref(), ValuesRef::Ints(&[first]), encoder);
        }
        let values: Vec<i64> = by_use.values(&self.rows.uses[range.clone()]).collect();
        let has = |at: usize| present.as_ref().is_none_or(|present| present[at]);
        if !predicted.is_some_and(|codes| codes.put(role, kind, has, &values, encoder, block)) {
            block.put(role, kind, present.as_deref(), ValuesRef::Ints(&values), encoder);
        }
    }

    fn put_field(
        &self,
        column: &FieldColumn,
        sizes: &[&FieldColumn],
        range: &Range<usize>,
        predicted: Option<&Codes<'_>>,
        encoder: &mut Encoder,
        block: &mut EncodedBlock,
    ) {
        let slots = column.slots(range);
        if slots.is_empty() {
            return;
        }
        let role = ColumnRole::Field(column.field);
        let present = (slots.len() < range.len()).then(|| {
            let mut present = vec![false; range.len()];
            column.mark(range, &mut present);
            present
        });
        if let BlockValues::Ints(values) = &column.values {
            let has = |at: usize| present.as_ref().is_none_or(|present| present[at]);
            let values = &values[slots.clone()];
            if predicted.is_some_and(|codes| codes.put(role, column.kind, has, values, encoder, block)) {
                return;
            }
        }
        if let BlockValues::Floats(values) = &column.values
            && let Some(sizes) = self.size_of(sizes, &values[slots.clone()], present.as_deref(), range)
        {
            let mut bytes = vec![Coding::Rate.code()];
            put_column_key(sizes.0, sizes.1, &mut bytes);
            let zone = ZoneMap::of_floats(&values[slots]);
            block.columns.push(EncodedColumn { role, kind: column.kind, zone, bytes, texts: None });
            return;
        }
        let values = match &column.values {
            // All values are equal, so one value is enough: their count does not affect the
            // encoding.
            BlockValues::Ints(values) if column.is_constant() => ValuesRef::Ints(&values[slots][..1]),
            BlockValues::Ints(values) => ValuesRef::Ints(&values[slots]),
            BlockValues::Floats(values) => ValuesRef::Floats(&values[slots]),
            BlockValues::Texts(texts) => ValuesRef::Texts(texts, slots.start, slots.end),
        };
        block.put(role, column.kind, present.as_deref(), values, encoder);
    }
}

/// Totals of the rows of a block by name; `None` if there are too many names. The rows are in order
/// of start. Earlier rows cover the time before `covered_to`.
fn totals_of(starts: &[i64], durations: &[i64], names: &[i64], covered_to: i64) -> Option<BlockTotals> {
    let mut totals = BlockTotals::default();
    let mut covered = Covered::after(covered_to);
    // Last position of a name, by its lowest bits: most blocks alternate between few names.
    let mut places = [0_u16; RECENT_NAMES];
    for (at, ((&start, &duration), &name)) in (0_u16..).zip(starts.iter().zip(durations).zip(names)) {
        covered.add(start, start + duration);
        let is_it = |total: &BlockNameTotal| i64::from(total.name) == name;
        let place = &mut places[name as usize % RECENT_NAMES];
        if !totals.names.get(usize::from(*place)).is_some_and(is_it) {
            let found = totals.names.iter().position(is_it).unwrap_or_else(|| {
                let name = u32::try_from(name).unwrap_or_default();
                totals.names.push(BlockNameTotal {
                    name,
                    count: 0,
                    total_ps: 0,
                    longest_ps: 0,
                    longest_at: at,
                });
                totals.names.len() - 1
            });
            if found >= MAX_DISTINCT {
                return None;
            }
            *place = found as u16;
        }
        let total = &mut totals.names[usize::from(*place)];
        let duration = duration.unsigned_abs();
        total.count += 1;
        total.total_ps += duration;
        if duration > total.longest_ps {
            (total.longest_ps, total.longest_at) = (duration, at);
        }
    }
    totals.covered_ps = covered.total_ps();
    Some(totals)
}
