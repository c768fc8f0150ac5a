//! Encodes the rows of one block into the bytes of its columns. Depends only on its arguments, so
//! blocks can be encoded in any order.

use std::ops::Range;

use super::learn::Starts;
use super::rows::{FieldColumn, Rows};
use crate::base::Covered;
use crate::base::bytes::Put;
use crate::block::{BlockValues, Coding, ColumnType, ROWS, ValuesRef, ZoneMap, encode_block, rate};
use crate::codec::{DISTINCT_MAX, Encoder, distinct_of};
use crate::segment::{BlockTotals, ColumnRole, Foretold, NameTotal, Program, ProgramColumn, put_column_key};

/// Input for encoding the blocks of a group.
pub struct Group<'a> {
    /// Rows of the group.
    pub rows: &'a Rows,
    /// Storage of starts.
    pub starts: Starts,
    /// Program of the track, and the code of each row.
    pub program: Option<(&'a Program, &'a [u32])>,
}

/// An encoded block.
#[derive(Debug, Default)]
pub struct EncodedBlock {
    /// Columns that have values.
    pub columns: Vec<EncodedColumn>,
    /// Start of the first row.
    pub start_ps: i64,
    /// Latest end of all rows.
    pub end_ps: i64,
    /// Number of rows.
    pub rows: u32,
    /// Totals by name, if the block has slices with few enough names.
    pub totals: Option<BlockTotals>,
}

/// Maximum number of distinct names for totals and of distinct texts for postings. Beyond this
/// limit they are not worth their bytes.
const MAX_DISTINCT: usize = DISTINCT_MAX;

/// Number of names whose positions are cached while the rows of a block are counted.
const RECENT_NAMES: usize = 64;

/// A column of an encoded block.
#[derive(Debug)]
pub struct EncodedColumn {
    /// Content of the column.
    pub role: ColumnRole,
    /// Stored type.
    pub kind: ColumnType,
    /// Range of the values.
    pub zone: ZoneMap,
    /// Encoded bytes.
    pub bytes: Vec<u8>,
    /// Distinct texts, ascending, if the column has codes and few enough of them.
    pub texts: Option<Vec<u32>>,
}

impl Group<'_> {
    /// Encodes all columns of the rows in `range`, except the lanes. Earlier rows last up to
    /// `reach_ps`.
    pub fn block(&self, range: Range<usize>, reach_ps: i64, encoder: &mut Encoder) -> EncodedBlock {
        let rows = self.rows;
        let mut block = EncodedBlock { rows: range.len() as u32, ..EncodedBlock::default() };
        let foretold = self.program.map(|(program, codes)| Codes::of(program, &codes[range.clone()]));
        let foretold = foretold.as_ref();
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
                let is_foretold = foretold
                    .is_some_and(|codes| codes.put((role, kind), |_| true, values, encoder, &mut block));
                if !is_foretold {
                    block.plain(role, ValuesRef::Ints(values), encoder);
                }
            }
            block.plain(ColumnRole::Form, ValuesRef::Ints(&rows.forms[range.clone()]), encoder);
        }
        for column in &rows.fields {
            self.put_field(column, &range, foretold, encoder, &mut block);
        }
        block
    }

    /// Encodes all rows as a pack. `firsts` are the first rows of its tracks, ascending.
    /// `Group::starts` must be plain.
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

    /// Finds an integer column whose rates over the durations equal the values of a column bit by
    /// bit.
    fn sizes_of(
        &self,
        rates: &[f64],
        present: Option<&[bool]>,
        range: &Range<usize>,
    ) -> Option<(ColumnRole, ColumnType)> {
        let durations = self.rows.durations.get(range.clone())?;
        let has = |at: &usize| present.is_none_or(|present| present[*at]);
        let first = (0..range.len()).find(has)?;
        let is_rate = |size: i64, at: usize, of: f64| rate(size, durations[at]).to_bits() == of.to_bits();
        let columns = self.rows.fields.iter().filter_map(|column| Some((column, column.ints()?)));
        let sizes = columns.filter(|(column, _)| matches!(column.kind, ColumnType::Int | ColumnType::Uint));
        for (column, values) in sizes {
            let values = &values[column.slots(range)];
            let is_one = values.len() == rates.len()
                && is_rate(*values.first()?, first, *rates.first()?)
                && (0..range.len())
                    .filter(has)
                    .zip(values.iter().zip(rates))
                    .all(|(at, (&size, &of))| is_rate(size, at, of));
            let mut marks = vec![false; range.len()];
            if is_one {
                column.mark(range, &mut marks);
            }
            if is_one && marks.iter().enumerate().all(|(at, &mark)| mark == has(&at)) {
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
            Starts::AfterEnd => (Coding::AfterEnd, Foretold::GapAfterEnd),
            Starts::AfterStart => (Coding::AfterStart, Foretold::StepAfterStart),
        };
        let mut differences: Vec<i64> = vec![0];
        differences.extend((range.start + 1..range.end).map(|row| {
            let before = starts[row - 1] + if coding == Coding::AfterEnd { durations[row - 1] } else { 0 };
            starts[row] - before
        }));
        if let Some((program, codes)) = self.program
            && let Some(foretold) = program.column(of)
        {
            let codes = &codes[range.clone()];
            for (difference, &code) in differences.iter_mut().zip(codes).skip(1) {
                *difference = difference.wrapping_sub(foretold.values[code as usize]);
            }
        }
        let mut bytes = vec![coding.code()];
        encoder.ints(&differences, &mut bytes);
        let (role, kind) = (ColumnRole::Start, ColumnType::Int);
        block.columns.push(EncodedColumn { role, kind, zone: ZoneMap::None, bytes, texts: None });
    }

    fn put_field(
        &self,
        column: &FieldColumn,
        range: &Range<usize>,
        foretold: Option<&Codes<'_>>,
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
            if foretold.is_some_and(|codes| codes.put((role, column.kind), has, values, encoder, block)) {
                return;
            }
        }
        if let BlockValues::Floats(values) = &column.values
            && let Some(sizes) = self.sizes_of(&values[slots.clone()], present.as_deref(), range)
        {
            let mut bytes = vec![Coding::Rate.code()];
            put_column_key(sizes, &mut bytes);
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
        block.put((role, column.kind), present.as_deref(), values, encoder);
    }
}

/// Program codes of the rows of a block.
struct Codes<'a> {
    program: &'a Program,
    /// Code of each row.
    codes: &'a [u32],
    /// Distinct codes, if they are far fewer than the rows.
    distinct: Option<Vec<u32>>,
}

/// Maximum share of rows that are the first of their code: one in this many. Beyond it, looking at
/// codes instead of rows saves too little.
const DISTINCT_SHARE: usize = 2;
/// Maximum number of program codes per row of a block, so that marking the codes costs less than it
/// saves.
const CODES_A_ROW: usize = 8;

impl<'a> Codes<'a> {
    fn of(program: &'a Program, codes: &'a [u32]) -> Self {
        let is_small = program.successors.len() <= codes.len() * CODES_A_ROW;
        let distinct = is_small.then(|| {
            let mut occurred = vec![false; program.successors.len()];
            let is_new = |code: &u32| !std::mem::replace(&mut occurred[*code as usize], true);
            codes.iter().copied().filter(is_new).collect::<Vec<u32>>()
        });
        let distinct = distinct.filter(|distinct| distinct.len() * DISTINCT_SHARE <= codes.len());
        Self { program, codes, distinct }
    }

    /// Stores a column as differences from the program. Returns `false` if the program does
    /// not predict the column, or not which rows have a value.
    fn put(
        &self,
        (role, kind): (ColumnRole, ColumnType),
        has: impl Fn(usize) -> bool,
        values: &[i64],
        encoder: &mut Encoder,
        block: &mut EncodedBlock,
    ) -> bool {
        let Self { program, codes, .. } = *self;
        let Some(foretold) = program.column(Foretold::Column(role, kind)) else { return false };
        let usual = |code: &u32| foretold.values[*code as usize];
        let is_key = program.key == (role, kind);
        let is_whole = foretold.present.is_none() && values.len() == codes.len();
        let is_usual =
            is_key || (is_whole && values.iter().zip(codes).all(|(value, code)| *value == usual(code)));
        let bytes = if is_key {
            encoded_codes(program, codes, encoder)
        } else {
            let mut bytes = vec![Coding::Foretold.code()];
            if is_usual {
                encoder.ints(&NOTHING[..codes.len()], &mut bytes);
            } else {
                let Some(differences) = differences(foretold, codes, has, values) else { return false };
                encoder.ints(&differences, &mut bytes);
            }
            bytes
        };
        // The values come from the codes if the codes determine them.
        let told = self.distinct.as_ref().filter(|_| is_usual);
        let told: Option<Vec<i64>> = told.map(|codes| codes.iter().map(usual).collect());
        let occurring = ValuesRef::Ints(told.as_deref().unwrap_or(values));
        let (zone, texts) = (zone_of((role, kind), occurring), texts_of(kind, occurring));
        block.columns.push(EncodedColumn { role, kind, zone, bytes, texts });
        true
    }
}

/// The differences of a block in which every value is as predicted.
static NOTHING: [i64; ROWS] = [0; ROWS];

/// Differences from the predicted values; `None` if other rows have a value than predicted.
fn differences(
    foretold: &ProgramColumn,
    codes: &[u32],
    has: impl Fn(usize) -> bool,
    values: &[i64],
) -> Option<Vec<i64>> {
    if values.len() == codes.len() && foretold.present.is_none() {
        let pairs = values.iter().zip(codes);
        return Some(
            pairs.map(|(value, &code)| value.wrapping_sub(foretold.values[code as usize])).collect(),
        );
    }
    let mut left = values.iter();
    let mut differences = Vec::with_capacity(values.len());
    for (at, &code) in codes.iter().enumerate() {
        let foretold_here = foretold.present.as_ref().is_none_or(|marks| marks[code as usize]);
        if has(at) != foretold_here {
            return None;
        }
        if foretold_here {
            differences.push(left.next()?.wrapping_sub(foretold.values[code as usize]));
        }
    }
    Some(differences)
}

fn encoded_codes(program: &Program, codes: &[u32], encoder: &mut Encoder) -> Vec<u8> {
    let mut bytes = vec![Coding::Codes.code()];
    let first = codes.first().copied().unwrap_or_default();
    bytes.put_varint(u64::from(first));
    let mut usual = first;
    let steps = codes.iter().map(|&code| {
        let step = i64::from(code) - i64::from(usual);
        usual = program.successors[code as usize];
        step
    });
    encoder.ints(&steps.collect::<Vec<i64>>(), &mut bytes);
    bytes
}

impl EncodedBlock {
    /// Adds a core column that every row has.
    pub fn plain(&mut self, role: ColumnRole, values: ValuesRef<'_>, encoder: &mut Encoder) {
        let kind = match (role, values) {
            (ColumnRole::Name, _) => ColumnType::Text,
            (_, ValuesRef::Floats(_)) => ColumnType::Float,
            _ => ColumnType::Int,
        };
        self.put((role, kind), None, values, encoder);
    }

    /// Adds a column of the rows that are set in `present`, or of all.
    pub fn put(
        &mut self,
        (role, kind): (ColumnRole, ColumnType),
        present: Option<&[bool]>,
        values: ValuesRef<'_>,
        encoder: &mut Encoder,
    ) {
        let mut bytes = Vec::new();
        encode_block(present, values, encoder, &mut bytes);
        let zone = zone_of((role, kind), values);
        self.columns.push(EncodedColumn { role, kind, zone, bytes, texts: texts_of(kind, values) });
    }
}

/// Zone maps serve filters and search. Times need none because the block list is more precise.
/// Texts in place have none.
fn zone_of((role, kind): (ColumnRole, ColumnType), values: ValuesRef<'_>) -> ZoneMap {
    match (role, values) {
        (ColumnRole::Start | ColumnRole::Form | ColumnRole::Lane | ColumnRole::LaneShift, _) => ZoneMap::None,
        (_, ValuesRef::Ints(_)) if kind == ColumnType::Bool => ZoneMap::None,
        (_, ValuesRef::Ints(values)) => ZoneMap::of_ints(values),
        (_, ValuesRef::Floats(values)) => ZoneMap::of_floats(values),
        (_, ValuesRef::Texts(..)) => ZoneMap::None,
    }
}

/// Distinct texts of a block of codes, if they are few enough to list.
fn texts_of(kind: ColumnType, values: ValuesRef<'_>) -> Option<Vec<u32>> {
    let (ValuesRef::Ints(codes), true) = (values, kind.is_code()) else { return None };
    distinct_of(codes)?.into_iter().map(|code| u32::try_from(code).ok()).collect()
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
        let is_it = |total: &NameTotal| i64::from(total.name) == name;
        let place = &mut places[name as usize % RECENT_NAMES];
        if !totals.names.get(usize::from(*place)).is_some_and(is_it) {
            let found = totals.names.iter().position(is_it).unwrap_or_else(|| {
                let name = u32::try_from(name).unwrap_or_default();
                totals.names.push(NameTotal { name, count: 0, total_ps: 0, longest_ps: 0, longest_at: at });
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
