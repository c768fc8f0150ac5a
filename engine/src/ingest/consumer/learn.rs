//! Learns a track's program from its first rows, and extends it with new keys.
//!
//! Every group of rows first adds its new keys to the program. The usual values of a key are the
//! medians over the group. An entry of the program never changes, so blocks written earlier stay
//! readable.

use std::borrow::Cow;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::sample_column::{SampleColumn, columns_of, plain_bits, width};
use super::shared_program::{SharedProgram, TrackProgram};
use crate::base::{lower_median, most_frequent};
use crate::block::ColumnType;
use crate::exec::CallerThread;
use crate::ingest::encoders::Encoders;
use crate::ingest::rows::{GROUP_ROWS, RowBuffer};
use crate::segment::{ColumnRole, MAX_CODES, Predicted, Program, ProgramColumn};

/// Number of rows for choosing a key: enough to see a loop many times.
const SAMPLE_ROWS: usize = 8192;
/// A track with fewer rows is not worth a program.
pub const MIN_ROWS: usize = 1024;
/// Number of columns that are tried as the key, those with the most distinct values first.
const CANDIDATES: usize = 3;
/// Minimum repetitions of a key in the sample.
const MIN_REPEATS: usize = 2;
/// Divisor of a program's cost if the track continues after its first group: later rows share its
/// entries.
const SHARING: u32 = 4;
/// A stored column of differences costs at least one bit per this many rows: even zeros have a
/// frame.
const SIXTEENTHS: usize = 16;

/// Storage of the starts of a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Starts {
    /// As plain values.
    Plain,
    /// As gaps from the end of the previous row.
    AfterEnd,
    /// As steps from the start of the previous row.
    AfterStart,
}

/// The learned repetition of a track.
#[derive(Debug)]
pub struct Learner {
    /// Storage of starts.
    pub starts: Starts,
    program: Option<Repetition>,
}

#[derive(Debug)]
enum Repetition {
    Learned(Learned),
    /// Follows a program that was stated beforehand.
    Shared(Arc<SharedProgram>),
}

#[derive(Debug)]
struct Learned {
    codes: FxHashMap<i64, u32>,
    program: Program,
    /// The position of the key in `program.columns`.
    key_at: usize,
}

impl Learner {
    /// Begins a track with its first rows, and returns their codes. The track takes the shared
    /// program if that has codes for the rows, and otherwise learns its own.
    pub fn begin(
        shared: Option<Arc<SharedProgram>>,
        rows: &RowBuffer,
        encoders: &Encoders<'_>,
    ) -> (Self, Option<Vec<u32>>) {
        let stated = shared.and_then(|shared| Some((shared_codes(&shared, rows)?, shared)));
        if let Some((codes, shared)) = stated {
            let program = Some(Repetition::Shared(shared));
            return (Self { starts: Starts::AfterEnd, program }, Some(codes));
        }
        let mut learner = Self::new(rows, encoders);
        let codes = learner.codes(rows, encoders);
        (learner, codes)
    }

    /// Learns how the rows of a track repeat.
    fn new(rows: &RowBuffer, encoders: &Encoders<'_>) -> Self {
        let sample = rows.len().min(SAMPLE_ROWS);
        let mut learner = Self { starts: Starts::Plain, program: None };
        if rows.durations.is_empty() || sample < 2 {
            return learner;
        }
        let columns = columns_of(rows, sample);
        let plain = columns.iter().map(|column| plain_bits(column, sample)).collect::<Vec<_>>();
        let keys = if sample >= MIN_ROWS { candidates(&columns, sample) } else { Vec::new() };
        let sharing = if rows.len() < GROUP_ROWS { 1 } else { SHARING };
        let tried = encoders.gather(keys.len(), |at, _| {
            // More rows need fewer entries per row, so all waiting rows count instead of the
            // sample.
            let distinct = distinct_keys(rows, columns[keys[at]].of)?;
            let share = distinct as f64 / rows.len() as f64 / f64::from(sharing);
            Learned::try_key(&columns, keys[at], &plain, sample, share)
        });
        // The first of equals is the key with the most distinct values.
        let best = tried.into_iter().flatten().min_by_key(|(bits, _)| *bits);
        let start_bits = |of| bits_of(&columns, of, &plain);
        let without: usize = plain.iter().sum::<usize>()
            - start_bits(Predicted::GapAfterEnd).max(start_bits(Predicted::StepAfterStart));
        // The sample chose the key. The entries are learned from all rows of the group.
        let best = best.filter(|(bits, _)| *bits < without).map(|(_, learned)| learned.forgotten());
        learner.program = best.map(Repetition::Learned);
        learner.starts = match learner.program() {
            Some(program) if program.column(Predicted::GapAfterEnd).is_some() => Starts::AfterEnd,
            Some(program) if program.column(Predicted::StepAfterStart).is_some() => Starts::AfterStart,
            _ if start_bits(Predicted::GapAfterEnd) < start_bits(Predicted::StepAfterStart) => {
                Starts::AfterEnd
            }
            _ => Starts::Plain,
        };
        learner
    }

    /// Updates the program and returns the codes of these rows; `None` without a program. There is
    /// no program if the key is missing in a row or there are too many keys.
    pub fn codes(&mut self, rows: &RowBuffer, encoders: &Encoders<'_>) -> Option<Vec<u32>> {
        let learned = match self.program.as_mut()? {
            Repetition::Learned(learned) => learned,
            Repetition::Shared(shared) => return shared_codes(shared, rows),
        };
        let (role, kind) = learned.program.key;
        let keys = key_values(rows, role, kind)?;
        let known = learned.program.successors.len();
        let codes = learned.assign(&keys)?;
        if learned.program.successors.len() > known {
            let columns = columns_of(rows, rows.len());
            learned.extend(&columns, &codes, known, encoders);
        }
        Some(codes)
    }

    /// The current program.
    pub fn program(&self) -> Option<&Program> {
        Some(match self.program.as_ref()? {
            Repetition::Learned(learned) => &learned.program,
            Repetition::Shared(shared) => shared.program(),
        })
    }

    /// The program as it is written.
    pub fn into_written(self) -> TrackProgram {
        match self.program {
            None => TrackProgram::default(),
            Some(Repetition::Learned(learned)) => {
                let mut bytes = Vec::new();
                learned.program.encode(&mut bytes);
                TrackProgram::Own(bytes)
            }
            Some(Repetition::Shared(shared)) => TrackProgram::Shared(shared),
        }
    }
}

/// Codes of rows in a shared program. `None` if a row has none.
fn shared_codes(shared: &SharedProgram, rows: &RowBuffer) -> Option<Vec<u32>> {
    let (role, kind) = shared.program().key;
    shared.codes(rows, &key_values(rows, role, kind)?)
}

/// Bits of a word of marks. Marks for close numbers and codes take a tenth of the time of a set.
const MARKS: usize = u64::BITS as usize;

/// Number of distinct values of a column; `None` unless every row has a value.
fn distinct_keys(rows: &RowBuffer, of: Predicted) -> Option<usize> {
    let Predicted::Column(role, kind) = of else { return None };
    let keys = key_values(rows, role, kind)?;
    let (min, max) = (*keys.iter().min()?, *keys.iter().max()?);
    let Some(span) = usize::try_from(max.abs_diff(min)).ok().filter(|span| *span < keys.len() * MARKS) else {
        return Some(keys.iter().collect::<FxHashSet<_>>().len());
    };
    let mut marks = vec![0_u64; span / MARKS + 1];
    for key in &*keys {
        let at = key.abs_diff(min) as usize;
        marks[at / MARKS] |= 1 << (at % MARKS);
    }
    Some(marks.iter().map(|marks| marks.count_ones() as usize).sum())
}

fn bits_of(columns: &[SampleColumn<'_>], of: Predicted, bits: &[usize]) -> usize {
    columns.iter().position(|column| column.of == of).map_or(0, |at| bits[at])
}

fn key_values(rows: &RowBuffer, role: ColumnRole, kind: ColumnType) -> Option<Cow<'_, [i64]>> {
    match role {
        ColumnRole::Name => Some(Cow::Borrowed(&rows.names)),
        ColumnRole::Field(field) => {
            let column = rows.fields.iter().find(|column| column.field == field && column.kind == kind)?;
            column.is_full(rows.len()).then(|| rows.ints(column, &(0..rows.len())))?
        }
        _ => None,
    }
}

/// Candidate keys: names and fields that every row has and that repeat, most distinct values first.
fn candidates(columns: &[SampleColumn<'_>], sample: usize) -> Vec<usize> {
    let mut found: Vec<(usize, usize)> = (0..columns.len())
        .filter(|&at| {
            let Predicted::Column(role, kind) = columns[at].of else { return false };
            role != ColumnRole::Duration
                && matches!(kind, ColumnType::Int | ColumnType::Uint | ColumnType::Text)
                && columns[at].slots.is_none()
        })
        .map(|at| {
            let distinct: FxHashSet<i64> = columns[at].values[..sample].iter().copied().collect();
            (distinct.len(), at)
        })
        .filter(|&(distinct, _)| distinct > 1 && distinct * MIN_REPEATS <= sample)
        .collect();
    found.sort_unstable_by_key(|&(distinct, at)| (std::cmp::Reverse(distinct), at));
    found.truncate(CANDIDATES);
    found.into_iter().map(|(_, at)| at).collect()
}

impl Learned {
    /// A program with this key, and the approximate bits of all columns with it.
    fn try_key(
        columns: &[SampleColumn<'_>],
        key: usize,
        plain: &[usize],
        sample: usize,
        share: f64,
    ) -> Option<(usize, Self)> {
        let Predicted::Column(role, kind) = columns[key].of else { return None };
        let empty =
            |column: &SampleColumn<'_>| ProgramColumn { of: column.of, present: None, values: Vec::new() };
        let program = Program {
            key: (role, kind),
            successors: Vec::new(),
            columns: columns.iter().map(empty).collect(),
        };
        let mut learned = Self { codes: FxHashMap::default(), program, key_at: key };
        let codes = learned.assign(&columns[key].values[..sample])?;
        learned.extend(columns, &codes, 0, &Encoders::new(&CallerThread));
        let entries = learned.program.successors.len();
        let mut bits: Vec<usize> = (0..columns.len())
            .map(|at| {
                let program = learned.entry_bits(at) * share * sample as f64;
                learned.predicted_bits(&columns[at], at, &codes) + program as usize + sample / SIXTEENTHS
            })
            .collect();
        // Starts are stored once, as gaps or as steps.
        let (gap, step) = (0, 1);
        let starts = if bits[gap] <= bits[step] { gap } else { step };
        bits[key] = learned.surprises(&codes) * width(entries as i64) + entries;
        let worth = |at: usize| at == key || (bits[at] < plain[at] && (at > step || at == starts));
        let total = (0..columns.len())
            .filter(|&at| at > step || at == starts)
            .map(|at| if worth(at) { bits[at] } else { plain[at] })
            .sum();
        let kept: Vec<bool> = (0..columns.len()).map(worth).collect();
        learned.key_at = kept[..key].iter().filter(|&&kept| kept).count();
        let mut kept = kept.into_iter();
        learned.program.columns.retain(|_| kept.next().unwrap_or_default());
        Some((total, learned))
    }

    /// The same key and columns without entries.
    fn forgotten(mut self) -> Self {
        self.codes.clear();
        self.program.successors.clear();
        for column in &mut self.program.columns {
            column.values.clear();
            column.present = None;
        }
        self
    }

    /// Number of rows whose code is not the usual successor of the previous code.
    fn surprises(&self, codes: &[u32]) -> usize {
        let successors = &self.program.successors;
        codes.windows(2).filter(|pair| successors[pair[0] as usize] != pair[1]).count()
    }

    /// Codes of keys. New keys get the next codes. `None` if there are too many keys.
    #[expect(clippy::cast_possible_truncation, reason = "MAX_CODES fits 32 bits")]
    fn assign(&mut self, keys: &[i64]) -> Option<Vec<u32>> {
        let mut codes = Vec::with_capacity(keys.len());
        let program = &mut self.program;
        let mut usual = 0_u32;
        for key in keys {
            // Most rows are the usual successor of the previous row and need no hashing.
            let known = &program.columns[self.key_at].values;
            let code = if known.get(usual as usize) == Some(key) {
                usual
            } else {
                let next = known.len() as u32;
                *self.codes.entry(*key).or_insert(next)
            };
            if code as usize == known.len() {
                if known.len() == MAX_CODES {
                    self.codes.remove(key);
                    return None;
                }
                program.columns[self.key_at].values.push(*key);
                // New keys follow each other unless a later row shows another successor.
                program.successors.push(code + 1);
            }
            usual = program.successors[code as usize];
            codes.push(code);
        }
        // The last new code has no successor yet.
        let last = program.successors.len() as u32 - u32::from(!program.successors.is_empty());
        program.successors.iter_mut().for_each(|code| *code = (*code).min(last));
        Some(codes)
    }

    /// Adds the usual values of the codes from `known` on, as found in these rows.
    fn extend(&mut self, columns: &[SampleColumn<'_>], codes: &[u32], known: usize, encoders: &Encoders<'_>) {
        let total = self.program.successors.len();
        // Rows of each new code, grouped.
        let mut ends = vec![0_usize; total - known];
        let new = |code: u32| (code as usize).checked_sub(known);
        codes.iter().filter_map(|&code| new(code)).for_each(|at| ends[at] += 1);
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        let mut rows = vec![0_usize; sum];
        for (row, at) in codes.iter().enumerate().filter_map(|(row, &code)| Some((row, new(code)?))) {
            rows[ends[at]] = row;
            ends[at] += 1;
        }
        let rows_of = |at: usize| &rows[if at == 0 { 0 } else { ends[at - 1] }..ends[at]];
        let mut scratch = Vec::new();
        for at in 0..ends.len() {
            scratch.clear();
            scratch.extend(
                rows_of(at).iter().filter_map(|&row| codes.get(row + 1)).map(|&code| i64::from(code)),
            );
            if let Some(usual) = most_frequent(&mut scratch) {
                self.program.successors[known + at] = u32::try_from(usual).unwrap_or_default();
            }
        }
        let (key_at, of) = (self.key_at, &self.program.columns);
        let told = encoders.gather(of.len(), |index, _| {
            let column = columns.iter().find(|column| column.of == of[index].of && index != key_at);
            let mut scratch = Vec::new();
            let mut usual = |at| column.and_then(|column| usual_of(column, rows_of(at), &mut scratch));
            (0..ends.len()).map(&mut usual).collect::<Vec<_>>()
        });
        for (index, (learned, told)) in self.program.columns.iter_mut().zip(told).enumerate() {
            if index != key_at {
                told.into_iter().for_each(|value| learned.tell(value));
            }
        }
    }

    /// Approximate bits of an entry of a program column.
    fn entry_bits(&self, at: usize) -> f64 {
        let values = &self.program.columns[at].values;
        let bits = values.windows(2).map(|pair| width(pair[1].wrapping_sub(pair[0]))).sum::<usize>();
        bits as f64 / values.len().max(1) as f64
    }

    /// Approximate bits of the differences from the program in its column `at`. A column cannot be
    /// stored as differences if the program predicts its presence wrongly.
    fn predicted_bits(&self, column: &SampleColumn<'_>, at: usize, codes: &[u32]) -> usize {
        let learned = &self.program.columns[at];
        let mut bits = 0;
        for (row, &code) in codes.iter().enumerate() {
            let present = learned.present.as_ref().is_none_or(|marks| marks[code as usize]);
            match column.at(row) {
                Some(value) if present => bits += width(value.wrapping_sub(learned.values[code as usize])),
                None if !present => {}
                _ => return usize::MAX / 4,
            }
        }
        bits
    }
}

/// The usual value of these rows in a column; `None` if most rows have none.
fn usual_of(column: &SampleColumn<'_>, rows: &[usize], scratch: &mut Vec<i64>) -> Option<i64> {
    scratch.clear();
    scratch.extend(rows.iter().filter_map(|&row| column.at(row)));
    (scratch.len() * 2 > rows.len()).then(|| lower_median(scratch))
}

impl ProgramColumn {
    /// The predicted value of rows with this code; `None` if they have none.
    pub(super) fn usual(&self, code: u32) -> Option<i64> {
        let is_present = self.present.as_ref().is_none_or(|marks| marks[code as usize]);
        is_present.then(|| self.values[code as usize])
    }

    /// Adds the usual value of the next code.
    fn tell(&mut self, value: Option<i64>) {
        if value.is_none() && self.present.is_none() {
            self.present = Some(vec![true; self.values.len()]);
        }
        if let Some(marks) = &mut self.present {
            marks.push(value.is_some());
        }
        self.values.push(value.unwrap_or_default());
    }
}
