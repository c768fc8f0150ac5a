//! Spread of the durations of collective operations, by kind and size.
//!
//! One pass over the rows of the table of operations, then a sort of the durations of each kind and
//! size.

use std::collections::BTreeMap;

use nprof_engine::base::order::sort_by;
use nprof_engine::base::quantile;
use nprof_engine::makers::job::schema::OperationRow;
use nprof_engine::wire::rows::{ColumnValues, RowColumn, RowColumnRole, RowPresence, TableRows};

/// Outliers of a kind and size that are shown each for itself. The largest are.
pub const MOST_OUTLIERS: usize = 40;

/// A time of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OperationTime {
    /// From the first arrival to the last end.
    #[default]
    Whole,
    /// From the last arrival to the last end.
    Transfer,
    /// From the first arrival to the last one.
    Wait,
}

impl OperationTime {
    /// All times.
    pub const ALL: [Self; 3] = [Self::Whole, Self::Transfer, Self::Wait];

    /// The name in addresses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Transfer => "transfer",
            Self::Wait => "wait",
        }
    }

    /// Parses [`OperationTime::name`].
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|time| time.name() == name)
    }

    /// The name for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Whole => "Duration",
            Self::Transfer => "Transfer",
            Self::Wait => "Waiting",
        }
    }
}

/// An operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// Row of its slice.
    pub row: u32,
    /// Index into [`Operations::kinds`].
    pub kind: u32,
    /// Bytes, if known.
    pub bytes: Option<i64>,
    /// Rank that came last, if one is known.
    pub last_rank: Option<u32>,
    /// Sum of the waits of all ranks, in picoseconds.
    pub waited_ps: i64,
    /// Calls that were recorded.
    calls: Option<i64>,
    transfer_ps: i64,
    wait_ps: i64,
}

impl Operation {
    /// A time in picoseconds.
    #[must_use]
    pub fn time_ps(&self, time: OperationTime) -> i64 {
        match time {
            OperationTime::Whole => self.transfer_ps.saturating_add(self.wait_ps),
            OperationTime::Transfer => self.transfer_ps,
            OperationTime::Wait => self.wait_ps,
        }
    }
}

/// The operations of a job.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Operations {
    /// Names of the kinds, sorted.
    pub kinds: Vec<String>,
    /// The operations, in the order of time.
    pub all: Vec<Operation>,
    /// Whether there are more operations.
    pub is_cut: bool,
}

impl Operations {
    /// The operations in rows of their table. Slices that only wait are left out.
    #[must_use]
    pub fn read(rows: &TableRows) -> Self {
        let count = rows.rows as usize;
        let of_role = |role| rows.columns.iter().find(move |column| column.role == role);
        let of = OperationRow::by(|field| rows.field(field.name));
        let numbers = ints(of_role(RowColumnRole::Row), count);
        let [bytes, transfer, wait, waited, last, calls] =
            [of.bytes, of.transfer, of.spread, of.wait, of.last_rank, of.calls]
                .map(|column| ints(column, count));
        let of_rows = texts(of.kind, count);
        let mut kinds: Vec<String> = of_rows.iter().flatten().map(|kind| (*kind).to_owned()).collect();
        sort_by(&mut kinds, Ord::cmp);
        kinds.dedup();
        let operation = |at: usize| {
            let name = of_rows[at]?;
            let kind = kinds.binary_search_by(|kind| kind.as_str().cmp(name)).ok()?;
            Some(Operation {
                row: u32::try_from(numbers[at]?).ok()?,
                kind: u32::try_from(kind).ok()?,
                bytes: bytes[at],
                last_rank: last[at].and_then(|last| u32::try_from(last).ok()),
                waited_ps: waited[at].unwrap_or(0),
                calls: calls[at],
                transfer_ps: transfer[at]?,
                wait_ps: wait[at].unwrap_or(0),
            })
        };
        let all = (0..count).filter_map(operation).collect();
        Self { kinds, all, is_cut: rows.truncated }
    }

    /// Row of the operation in which the others waited longest for a rank. `None` if they never
    /// did.
    #[must_use]
    pub fn worst_of_rank(&self, rank: u32) -> Option<u32> {
        self.worst(|one| one.last_rank == Some(rank) && one.waited_ps > 0)
    }

    /// Row of the operation of a kind and size in which all ranks together waited longest. If
    /// there are several, it is one with as many calls as the group has ranks.
    #[must_use]
    pub fn worst_of_size(&self, kind: &str, bytes: Option<i64>, ranks: Option<i64>) -> Option<u32> {
        let is_of_kind = |one: &Operation| {
            self.kinds.get(one.kind as usize).is_some_and(|known| known == kind) && one.bytes == bytes
        };
        self.worst(|one| is_of_kind(one) && one.calls == ranks).or_else(|| self.worst(is_of_kind))
    }

    /// Row of the first of the longest waits.
    fn worst(&self, is_wanted: impl Fn(&Operation) -> bool) -> Option<u32> {
        let wanted = self.all.iter().rev().filter(|one| is_wanted(one));
        wanted.max_by_key(|one| one.waited_ps).map(|one| one.row)
    }

    /// The spread of a time, by kind and size.
    #[must_use]
    pub fn spreads(&self, time: OperationTime) -> Vec<Spread> {
        let mut groups = BTreeMap::<(u32, Option<i64>), Vec<(i64, u32)>>::new();
        for one in &self.all {
            groups.entry((one.kind, one.bytes)).or_default().push((one.time_ps(time), one.row));
        }
        groups.into_iter().filter_map(|((kind, bytes), times)| Spread::of(kind, bytes, times)).collect()
    }
}

/// The spread of a time over the operations of a kind and size, in picoseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spread {
    /// Index into [`Operations::kinds`].
    pub kind: u32,
    /// Bytes, if known.
    pub bytes: Option<i64>,
    /// Number of operations.
    pub count: usize,
    /// The shortest one.
    pub least_ps: i64,
    /// Below it are a quarter of the operations.
    pub quarter_ps: i64,
    /// Below it are half of the operations.
    pub median_ps: i64,
    /// Below it are three quarters of the operations.
    pub three_quarters_ps: i64,
    /// Below it are 95 % of the operations.
    pub p95_ps: i64,
    /// The longest one.
    pub most_ps: i64,
    /// Row of the longest one.
    pub most_row: u32,
    /// Times above [`Spread::p95_ps`] with the rows of the operations, the longest first. At most
    /// [`MOST_OUTLIERS`].
    pub outliers: Vec<(i64, u32)>,
}

impl Spread {
    fn of(kind: u32, bytes: Option<i64>, mut times: Vec<(i64, u32)>) -> Option<Self> {
        times.sort_unstable();
        let at = |percent: usize| quantile(&times, percent).map(|(time_ps, _)| time_ps);
        let p95_ps = at(95)?;
        let (most_ps, most_row) = *times.last()?;
        let above = times.iter().rev().take_while(|(time_ps, _)| *time_ps > p95_ps);
        Some(Self {
            kind,
            bytes,
            count: times.len(),
            least_ps: at(0)?,
            quarter_ps: at(25)?,
            median_ps: at(50)?,
            three_quarters_ps: at(75)?,
            p95_ps,
            most_ps,
            most_row,
            outliers: above.take(MOST_OUTLIERS).copied().collect(),
        })
    }
}

/// A scale of times: each step multiplies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogScale {
    low: f64,
    high: f64,
}

impl LogScale {
    /// The scale from the shortest to the longest time of these spreads.
    #[must_use]
    pub fn of(spreads: &[Spread]) -> Self {
        let low = spreads.iter().map(|one| one.least_ps.max(1)).min().unwrap_or(1);
        let high = spreads.iter().map(|one| one.most_ps.max(1)).max().unwrap_or(1);
        // Times that are all equal stand in the middle.
        let (low, high) = ((low as f64).ln(), (high as f64).ln());
        if high - low < 1e-6 { Self { low: low - 1.0, high: high + 1.0 } } else { Self { low, high } }
    }

    /// The place of a time, from 0 to 1.
    #[must_use]
    pub fn share(self, time_ps: i64) -> f64 {
        (((time_ps.max(1) as f64).ln() - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// Powers of ten of a picosecond within the scale.
    #[must_use]
    pub fn ticks(self) -> Vec<i64> {
        (0..19)
            .map(|power| 10_i64.pow(power))
            .filter(|ps| (self.low..=self.high).contains(&(*ps as f64).ln()))
            .collect()
    }
}

/// The values of a column by row.
fn ints(column: Option<&RowColumn>, rows: usize) -> Vec<Option<i64>> {
    by_row(column, rows, |values, at| match values {
        ColumnValues::Ints(values) => values.get(at).copied(),
        ColumnValues::Uints(values) => i64::try_from(*values.get(at)?).ok(),
        _ => None,
    })
}

/// The texts of a column by row.
fn texts(column: Option<&RowColumn>, rows: usize) -> Vec<Option<&str>> {
    by_row(column, rows, |values, at| match values {
        ColumnValues::Texts(texts) => Some(texts.texts.get(*texts.codes.get(at)? as usize)?.as_str()),
        _ => None,
    })
}

fn by_row<'a, T>(
    column: Option<&'a RowColumn>,
    rows: usize,
    value: impl Fn(&'a ColumnValues, usize) -> Option<T>,
) -> Vec<Option<T>> {
    let mut next = 0;
    let one = |row: usize| {
        let column = column?;
        let is_present = match &column.present {
            RowPresence::All => true,
            RowPresence::None => false,
            RowPresence::Some(rows) => rows.get(row).copied().unwrap_or(false),
        };
        // Only rows with a value have a place in the list of values.
        let value = if is_present { value(&column.values, next) } else { None };
        next += usize::from(is_present);
        value
    };
    (0..rows).map(one).collect()
}

#[cfg(test)]
mod tests {
    use nprof_engine::wire::rows::Texts;

    use super::*;

    fn column(role: RowColumnRole, name: &str, present: RowPresence, values: ColumnValues) -> RowColumn {
        RowColumn { role, name: name.to_owned(), unit: String::new(), doc: String::new(), present, values }
    }

    /// Rows `kind bytes transfer spread`; a row without a kind only waits.
    fn operations(lines: &[(Option<&str>, i64, i64, i64)]) -> Operations {
        let present = RowPresence::Some(lines.iter().map(|(kind, ..)| kind.is_some()).collect());
        let filled: Vec<_> =
            lines.iter().filter_map(|(kind, a, b, c)| Some((kind.as_ref()?, a, b, c))).collect();
        let kinds = Texts {
            texts: filled.iter().map(|(kind, ..)| (**kind).to_owned()).collect(),
            codes: (0..filled.len() as u32).collect(),
        };
        let numbers = ColumnValues::Ints((0..lines.len() as i64).map(|at| at + 10).collect());
        let field = |name, values| column(RowColumnRole::Field, name, present.clone(), values);
        let columns = vec![
            column(RowColumnRole::Row, "row", RowPresence::All, numbers),
            field("kind", ColumnValues::Texts(kinds)),
            field("bytes", ColumnValues::Ints(filled.iter().map(|(_, bytes, ..)| **bytes).collect())),
            field("transfer", ColumnValues::Ints(filled.iter().map(|(_, _, ps, _)| **ps).collect())),
            field("spread", ColumnValues::Ints(filled.iter().map(|(_, _, _, ps)| **ps).collect())),
        ];
        let rows = lines.len() as u32;
        Operations::read(&TableRows {
            table: "operation".to_owned(),
            rows,
            total: 9,
            truncated: true,
            columns,
        })
    }

    #[test]
    fn operations_are_grouped_by_kind_and_size() {
        let all = operations(&[
            (Some("b"), 64, 100, 7),
            (None, 0, 0, 0),
            (Some("a"), 64, 200, 0),
            (Some("b"), 8, 300, 0),
            (Some("b"), 64, 400, 5),
        ]);
        assert_eq!((all.kinds.join(" "), all.is_cut), ("a b".to_owned(), true));
        assert_eq!(all.all.iter().map(|one| one.row).collect::<Vec<_>>(), [10, 12, 13, 14]);
        let shown = |time| {
            let line = |one: &Spread| format!("{} {:?} {} {}", one.kind, one.bytes, one.count, one.most_ps);
            all.spreads(time).iter().map(line).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(shown(OperationTime::Whole), "0 Some(64) 1 200, 1 Some(8) 1 300, 1 Some(64) 2 405");
        assert_eq!(shown(OperationTime::Wait), "0 Some(64) 1 0, 1 Some(8) 1 0, 1 Some(64) 2 7");
    }

    #[test]
    fn the_worst_operation_is_the_first_one_with_the_longest_wait() {
        let one = |row, kind, bytes, last_rank, waited_ps, calls| Operation {
            row,
            kind,
            bytes: Some(bytes),
            last_rank: Some(last_rank),
            waited_ps,
            calls: Some(calls),
            transfer_ps: 0,
            wait_ps: 0,
        };
        let all = vec![
            one(1, 0, 8, 3, 0, 4),
            one(2, 0, 8, 5, 70, 2),
            one(3, 1, 8, 5, 90, 4),
            one(4, 1, 8, 5, 90, 4),
            one(5, 0, 8, 6, 50, 4),
        ];
        let all = Operations { kinds: vec!["a".to_owned(), "b".to_owned()], all, is_cut: false };
        assert_eq!([3, 5, 6, 7].map(|rank| all.worst_of_rank(rank)), [None, Some(3), Some(5), None]);
        assert_eq!(all.worst_of_size("a", Some(8), Some(4)), Some(5));
        assert_eq!(all.worst_of_size("a", Some(8), Some(9)), Some(2));
        assert_eq!(all.worst_of_size("a", Some(9), Some(4)), None);
        assert_eq!(all.worst_of_size("c", Some(8), Some(4)), None);
    }

    #[test]
    fn a_spread_has_quantiles_and_outliers() {
        let lines: Vec<_> = (1..=100).rev().map(|ps| (Some("a"), 8, ps, 0)).collect();
        let spread = operations(&lines).spreads(OperationTime::Transfer).remove(0);
        assert_eq!((spread.least_ps, spread.quarter_ps, spread.median_ps), (1, 26, 51));
        assert_eq!((spread.three_quarters_ps, spread.p95_ps, spread.most_ps), (76, 96, 100));
        // The rows count from 10, the longest operation is the first one.
        assert_eq!(spread.outliers, [(100, 10), (99, 11), (98, 12), (97, 13)]);
        let equal = operations(&[(Some("a"), 8, 5, 0)]).spreads(OperationTime::Transfer).remove(0);
        assert_eq!((equal.median_ps, equal.outliers.len()), (5, 0));
    }

    #[test]
    fn each_step_of_the_scale_multiplies() {
        let lines = [(Some("a"), 8, 100, 0), (Some("b"), 8, 1_000_000, 0)];
        let scale = LogScale::of(&operations(&lines).spreads(OperationTime::Transfer));
        assert_eq!((scale.share(0), scale.share(100), scale.share(i64::MAX)), (0.0, 0.0, 1.0));
        assert!((scale.share(10_000) - 0.5).abs() < 1e-9);
        assert_eq!(scale.ticks(), [100, 1_000, 10_000, 100_000, 1_000_000]);
        let one = LogScale::of(&operations(&lines[..1]).spreads(OperationTime::Transfer));
        assert!((one.share(100) - 0.5).abs() < 1e-9);
    }
}
