//! Tables as values: columns of typed values, an order, a filter, and the texts for copies.
//!
//! All operations work on columns. A table of a million rows is sorted by keys that are computed
//! once, and a text of a dictionary is compared once, however many rows have it.

mod export;
mod filter;
mod fitting;
mod scroll;
mod sorting;

use nprof_engine::wire::detail::FieldContent;
use nprof_engine::wire::rows::{ColumnValues, RowPresence, Texts};

pub use export::{as_csv, as_tsv};
pub use filter::TableFilter;
pub use fitting::{ColumnClaim, fitting};
pub use scroll::{Scroller, Sight};
pub use sorting::{Sorting, sorted};

/// Marks a row without a value.
const ABSENT: u32 = u32::MAX;

/// A table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DataTable {
    /// Columns, from left to right.
    pub columns: Vec<TableColumn>,
    /// Number of rows in each column.
    pub rows: u32,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableColumn {
    /// Name in filters, addresses and exports; unique in its table.
    pub key: String,
    /// The heading.
    pub title: String,
    /// Explanation; empty if there is none.
    pub doc: String,
    /// Unit of the values.
    pub unit: CellUnit,
    /// Order in which columns give way if not all have room: the lowest first. `None` stays.
    pub gives_way: Option<usize>,
    /// Whether all digits are shown. Rounded times of a small window would all look alike.
    pub is_exact: bool,
    /// Width of the picture that is drawn in place of a text, in characters.
    pub picture_ch: Option<usize>,
    values: ColumnValues,
    /// Position in the values of each row's value; `None` if every row has one.
    slots: Option<Vec<u32>>,
}

/// Unit of the values of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CellUnit {
    /// One for all rows. Empty if there is none.
    One(String),
    /// One for each row.
    Each(Vec<String>),
}

impl TableColumn {
    /// A column in which every row has a value.
    #[must_use]
    pub fn new(key: &str, title: &str, unit: &str, values: ColumnValues) -> Self {
        Self {
            key: key.to_owned(),
            title: title.to_owned(),
            doc: String::new(),
            unit: CellUnit::One(unit.to_owned()),
            gives_way: None,
            is_exact: false,
            picture_ch: None,
            values,
            slots: None,
        }
    }

    /// The same column with an explanation.
    #[must_use]
    pub fn explained(self, doc: &str) -> Self {
        Self { doc: doc.to_owned(), ..self }
    }

    /// The same column, which gives way to others in this order if not all have room.
    #[must_use]
    pub fn giving_way(self, order: usize) -> Self {
        Self { gives_way: Some(order), ..self }
    }

    /// The same column, which shows all digits.
    #[must_use]
    pub fn exact(self) -> Self {
        Self { is_exact: true, ..self }
    }

    /// The same column, which shows a picture of this width in characters in place of its text.
    #[must_use]
    pub fn pictured(self, width_ch: usize) -> Self {
        Self { picture_ch: Some(width_ch), ..self }
    }

    /// The same column with a unit for each row.
    #[must_use]
    pub fn with_units(self, units: Vec<String>) -> Self {
        Self { unit: CellUnit::Each(units), ..self }
    }

    /// The same column, in which only these rows have a value.
    #[must_use]
    pub fn present(self, presence: &RowPresence, rows: u32) -> Self {
        let slots = match presence {
            RowPresence::All => None,
            RowPresence::None => Some(vec![ABSENT; rows as usize]),
            RowPresence::Some(mask) => {
                let mut taken = 0;
                let slot = |&here: &bool| {
                    let slot = if here { taken } else { ABSENT };
                    taken += u32::from(here);
                    slot
                };
                Some(mask.iter().map(slot).collect())
            }
        };
        Self { slots, ..self }
    }

    /// Position of a row's value.
    fn slot(&self, row: u32) -> Option<usize> {
        let slot = match &self.slots {
            None => row,
            Some(slots) => *slots.get(row as usize)?,
        };
        (slot != ABSENT).then_some(slot as usize)
    }

    /// Whether no row has a value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.as_ref().is_some_and(|slots| slots.iter().all(|slot| *slot == ABSENT))
    }

    /// Whether the values are numbers, which are aligned at their ends.
    #[must_use]
    pub fn is_number(&self) -> bool {
        matches!(self.values, ColumnValues::Ints(_) | ColumnValues::Uints(_) | ColumnValues::Floats(_))
    }

    /// Unit of a row's value.
    #[must_use]
    pub fn unit_of(&self, row: u32) -> &str {
        match &self.unit {
            CellUnit::One(unit) => unit,
            CellUnit::Each(units) => units.get(row as usize).map_or("", String::as_str),
        }
    }

    /// A row's value; `None` if it has none.
    #[must_use]
    pub fn cell(&self, row: u32) -> Option<FieldContent> {
        let at = self.slot(row)?;
        let text = |code: u32, texts: &[String]| texts.get(code as usize).cloned();
        Some(match &self.values {
            ColumnValues::Ints(values) => FieldContent::Int(*values.get(at)?),
            ColumnValues::Uints(values) => FieldContent::Uint(*values.get(at)?),
            ColumnValues::Floats(values) => FieldContent::Float(*values.get(at)?),
            ColumnValues::Bools(values) => FieldContent::Bool(*values.get(at)?),
            ColumnValues::Texts(values) => FieldContent::Text(text(*values.codes.get(at)?, &values.texts)?),
            ColumnValues::Json(values) => FieldContent::Json(text(*values.codes.get(at)?, &values.texts)?),
            ColumnValues::Mixed(values) => values.get(at)?.clone(),
        })
    }

    /// A row's integer; `None` if it has none.
    #[must_use]
    pub fn int(&self, row: u32) -> Option<i64> {
        match self.cell(row)? {
            FieldContent::Int(value) => Some(value),
            _ => None,
        }
    }

    /// A row's value as exact text without its unit; empty if it has none.
    #[must_use]
    pub fn text(&self, row: u32) -> String {
        self.cell(row).map_or_else(String::new, |cell| plain_text(&cell, self.unit_of(row)))
    }
}

impl DataTable {
    /// The column with this key, and its position.
    #[must_use]
    pub fn column(&self, key: &str) -> Option<(usize, &TableColumn)> {
        self.columns.iter().enumerate().find(|(_, column)| column.key == key)
    }
}

/// A value as exact text, without its unit.
fn plain_text(value: &FieldContent, unit: &str) -> String {
    match value {
        FieldContent::Int(value) if unit == HEXADECIMAL => format!("{value:#x}"),
        FieldContent::Uint(value) if unit == HEXADECIMAL => format!("{value:#x}"),
        FieldContent::Int(value) => value.to_string(),
        FieldContent::Uint(value) => value.to_string(),
        FieldContent::Float(value) => value.to_string(),
        FieldContent::Bool(value) => value.to_string(),
        FieldContent::Text(text) | FieldContent::Json(text) => text.clone(),
    }
}

/// Unit of addresses and raw words.
const HEXADECIMAL: &str = "hex";

/// A column of texts.
#[must_use]
pub fn texts(values: Vec<String>) -> ColumnValues {
    let codes = (0_u32..).zip(&values).map(|(code, _)| code).collect();
    ColumnValues::Texts(Texts { texts: values, codes })
}

#[cfg(test)]
mod tests;
