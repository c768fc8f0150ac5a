//! Order of a table's rows.
//!
//! Each row gets a number whose order is the order of the values, so that no comparison looks at a
//! text or a type again.

use std::cmp::Ordering;

use nprof_engine::base::name_order::natural_by;
use nprof_engine::base::order::order_of;
use nprof_engine::wire::detail::FieldContent;
use nprof_engine::wire::rows::ColumnValues;

use super::{DataTable, TableColumn, plain_text};

/// Order by one column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sorting {
    /// Key of the column.
    pub column: String,
    /// Whether the largest value is first.
    pub descending: bool,
}

impl Sorting {
    /// The order after a click on a heading: numbers from the largest, texts from A; then the other
    /// way round; then as the rows came.
    #[must_use]
    pub fn clicked(now: Option<&Self>, column: &TableColumn) -> Option<Self> {
        let first = column.is_number();
        let descending = match now.filter(|sorting| sorting.column == column.key) {
            None => first,
            Some(sorting) if sorting.descending == first => !first,
            Some(_) => return None,
        };
        Some(Self { column: column.key.clone(), descending })
    }

    /// The name in addresses: the column's key, with `-` before it if the largest is first.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}{}", if self.descending { "-" } else { "" }, self.column)
    }

    /// Parses [`Sorting::name`].
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let (descending, column) = match name.strip_prefix('-') {
            Some(column) => (true, column),
            None => (false, name),
        };
        (!column.is_empty()).then(|| Self { column: column.to_owned(), descending })
    }
}

/// Sorts rows. Rows with equal values keep their order, and rows without a value come last.
#[must_use]
pub fn sorted(table: &DataTable, rows: Vec<u32>, sorting: Option<&Sorting>) -> Vec<u32> {
    let column = sorting.and_then(|sorting| Some((table.column(&sorting.column)?.1, sorting.descending)));
    let Some((column, descending)) = column else { return rows };
    let keys = keys(column);
    let (mut present, mut absent) = (Vec::with_capacity(rows.len()), Vec::new());
    for (place, row) in (0_u32..).zip(rows) {
        match column.slot(row).and_then(|slot| keys.get(slot)) {
            Some(&key) => present.push((if descending { !key } else { key }, place, row)),
            None => absent.push(row),
        }
    }
    // The place makes the order stable.
    present.sort_unstable();
    present.into_iter().map(|(.., row)| row).chain(absent).collect()
}

/// Numbers in the order of a column's values.
fn keys(column: &TableColumn) -> Vec<u64> {
    match &column.values {
        ColumnValues::Ints(values) => values.iter().map(|&value| key_of_int(value)).collect(),
        ColumnValues::Uints(values) => values.clone(),
        ColumnValues::Floats(values) => values.iter().map(|&value| key_of_float(value)).collect(),
        ColumnValues::Bools(values) => values.iter().map(|&value| u64::from(value)).collect(),
        ColumnValues::Texts(values) | ColumnValues::Json(values) => {
            let ranks = ranks(&values.texts, |a, b| natural(a, b));
            values.codes.iter().map(|&code| ranks.get(code as usize).copied().unwrap_or_default()).collect()
        }
        ColumnValues::Mixed(values) => ranks(values, compare),
    }
}

fn key_of_int(value: i64) -> u64 {
    value.cast_unsigned() ^ (1 << 63)
}

/// Keeps [`f64::total_cmp`].
fn key_of_float(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | (1 << 63) }
}

/// For each value the number of smaller ones that differ.
fn ranks<T>(values: &[T], compare: impl Fn(&T, &T) -> Ordering) -> Vec<u64> {
    let order = order_of(values.len(), &mut |a, b| compare(&values[a], &values[b]));
    let mut ranks = vec![0; values.len()];
    let mut rank = 0;
    for pair in order.windows(2) {
        rank += u64::from(compare(&values[pair[0]], &values[pair[1]]) != Ordering::Equal);
        ranks[pair[1]] = rank;
    }
    ranks
}

/// Compares values of several types: numbers by value, then all else as text.
fn compare(a: &FieldContent, b: &FieldContent) -> Ordering {
    match (number(a), number(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => natural(&plain_text(a, ""), &plain_text(b, "")),
    }
}

/// The value of a number.
pub(super) fn number(value: &FieldContent) -> Option<f64> {
    match value {
        FieldContent::Int(value) => Some(*value as f64),
        FieldContent::Uint(value) => Some(*value as f64),
        FieldContent::Float(value) => Some(*value),
        FieldContent::Bool(_) | FieldContent::Text(_) | FieldContent::Json(_) => None,
    }
}

/// Compares texts as people do: digits by their value, letters without case. Texts that are equal
/// so are compared by their characters.
#[must_use]
pub(super) fn natural(a: &str, b: &str) -> Ordering {
    natural_by(a, b, |letter| letter.to_ascii_lowercase())
}
