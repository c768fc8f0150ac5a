//! The filter of a table: words that must all match a row.
//!
//! `text` looks into all given columns; `"two words"` is one text. `column:text` looks into one
//! column. `column>10us`, `<`, `>=`, `<=` and `=` compare. `-` before a word excludes what it
//! finds.

use nprof_engine::query::quantity;
use nprof_engine::wire::rows::ColumnValues;

use super::sorting::number;
use super::{DataTable, HEXADECIMAL, TableColumn};

/// A parsed filter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableFilter(Vec<Word>);

/// One word of a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Word {
    excludes: bool,
    /// The whole word, for tables without the column.
    whole: String,
    /// Column, comparison and value, if the word has this form.
    of_column: Option<(String, Comparison, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Contains,
    Equal,
    Above,
    Below,
    AtLeast,
    AtMost,
}

/// Longer signs come before their beginnings.
const SIGNS: [(&str, Comparison); 6] = [
    (">=", Comparison::AtLeast),
    ("<=", Comparison::AtMost),
    (">", Comparison::Above),
    ("<", Comparison::Below),
    ("=", Comparison::Equal),
    (":", Comparison::Contains),
];

impl TableFilter {
    /// Parses a filter. Every text is one.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Self(words(text).into_iter().filter_map(Word::parse).collect())
    }

    /// Whether it lets every row pass.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The rows that pass, in their order. Words without a column look into the columns at the
    /// positions `shown`.
    #[must_use]
    pub fn rows(&self, table: &DataTable, shown: &[usize]) -> Vec<u32> {
        let mut passes = vec![true; table.rows as usize];
        for word in &self.0 {
            let found = word.found(table, shown);
            for (passes, found) in passes.iter_mut().zip(found) {
                *passes &= found != word.excludes;
            }
        }
        (0..table.rows).zip(passes).filter(|(_, passes)| *passes).map(|(row, _)| row).collect()
    }

    /// Fault of the filter for this table, in words for people.
    #[must_use]
    pub fn mistake(&self, table: &DataTable) -> Option<String> {
        self.0.iter().find_map(|word| {
            let (column, comparison, value) = word.in_table(table)?;
            let is_order = !matches!(comparison, Comparison::Contains | Comparison::Equal);
            let is_wrong = is_order && quantity(value, column.unit_of(0)).is_none();
            is_wrong.then(|| format!("“{}” needs a number after its sign, such as 10 or 2.5k", word.whole))
        })
    }
}

/// Splits a text at spaces outside of quotes, which are left out.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for letter in text.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            _ if letter.is_whitespace() && !is_quoted => words.push(String::new()),
            _ => words.iter_mut().last().into_iter().for_each(|word| word.push(letter)),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

impl Word {
    fn parse(text: String) -> Option<Self> {
        let (excludes, whole) = match text.strip_prefix('-') {
            // A number below zero is a text like any other.
            Some(rest) if !rest.starts_with(|first: char| first.is_ascii_digit()) => (true, rest.to_owned()),
            _ => (false, text),
        };
        if whole.is_empty() {
            return None;
        }
        let sign = SIGNS.iter().filter_map(|(sign, comparison)| Some((whole.find(sign)?, sign, comparison)));
        // If two signs are at the same place, the longer one counts.
        let sign = sign.min_by_key(|(at, sign, _)| (*at, usize::MAX - sign.len()));
        let of_column = sign.filter(|(at, ..)| *at > 0).map(|(at, sign, comparison)| {
            (whole[..at].to_lowercase(), *comparison, whole[at + sign.len()..].to_owned())
        });
        Some(Self { excludes, whole, of_column })
    }

    /// Column, comparison and value, if the table has the column.
    fn in_table<'a>(&'a self, table: &'a DataTable) -> Option<(&'a TableColumn, Comparison, &'a str)> {
        let (name, comparison, value) = self.of_column.as_ref()?;
        let is_it = |column: &&TableColumn| {
            column.key.to_lowercase() == *name || column.title.to_lowercase().replace(' ', "_") == *name
        };
        table.columns.iter().find(is_it).map(|column| (column, *comparison, value.as_str()))
    }

    /// For each row whether the word finds something in it.
    fn found(&self, table: &DataTable, shown: &[usize]) -> Vec<bool> {
        let mut found = vec![false; table.rows as usize];
        match self.in_table(table) {
            Some((column, comparison, value)) => mark(column, comparison, value, &mut found),
            None => {
                for column in shown.iter().filter_map(|&at| table.columns.get(at)) {
                    mark(column, Comparison::Contains, &self.whole, &mut found);
                }
            }
        }
        found
    }
}

/// Marks the rows whose value passes.
fn mark(column: &TableColumn, comparison: Comparison, value: &str, found: &mut [bool]) {
    let passes = match comparison {
        Comparison::Contains => containing(column, value),
        Comparison::Equal => match quantity(value, column.unit_of(0)).filter(|_| has_numbers(column)) {
            Some(bound) => by_number(column, |number| number == bound),
            None => by_text(column, |text| text.to_lowercase() == value.to_lowercase()),
        },
        _ => match quantity(value, column.unit_of(0)) {
            Some(bound) => by_number(column, |number| match comparison {
                Comparison::Above => number > bound,
                Comparison::Below => number < bound,
                Comparison::AtLeast => number >= bound,
                _ => number <= bound,
            }),
            None => Vec::new(),
        },
    };
    for (row, found) in (0..).zip(found) {
        *found |= column.slot(row).and_then(|slot| passes.get(slot)).copied().unwrap_or_default();
    }
}

fn has_numbers(column: &TableColumn) -> bool {
    column.is_number() || matches!(column.values, ColumnValues::Mixed(_))
}

/// For each value whether its text contains this one, in any case.
fn containing(column: &TableColumn, value: &str) -> Vec<bool> {
    let needle = value.to_lowercase();
    let is_hexadecimal = column.unit_of(0) == HEXADECIMAL;
    if column.is_number() {
        // Numbers show commas between thousands, which their texts lack.
        let needle = needle.replace(',', "");
        let is_of_numbers = |byte: u8| {
            byte.is_ascii_digit()
                || b".-e".contains(&byte)
                || (is_hexadecimal && byte.is_ascii_alphanumeric())
        };
        if !needle.bytes().all(is_of_numbers) {
            return Vec::new();
        }
        return by_text(column, |text| text.contains(&needle));
    }
    by_text(column, |text| text.to_lowercase().contains(&needle))
}

/// For each value whether its text passes. A text that several rows share is looked at once.
fn by_text(column: &TableColumn, passes: impl Fn(&str) -> bool) -> Vec<bool> {
    let hexadecimal = column.unit_of(0) == HEXADECIMAL;
    match &column.values {
        ColumnValues::Texts(values) | ColumnValues::Json(values) => {
            let texts: Vec<bool> = values.texts.iter().map(|text| passes(text)).collect();
            let of_code = |code: &u32| texts.get(*code as usize).copied().unwrap_or_default();
            values.codes.iter().map(of_code).collect()
        }
        ColumnValues::Ints(values) if hexadecimal => {
            values.iter().map(|value| passes(&format!("{value:#x}"))).collect()
        }
        ColumnValues::Uints(values) if hexadecimal => {
            values.iter().map(|value| passes(&format!("{value:#x}"))).collect()
        }
        ColumnValues::Ints(values) => values.iter().map(|value| passes(&value.to_string())).collect(),
        ColumnValues::Uints(values) => values.iter().map(|value| passes(&value.to_string())).collect(),
        ColumnValues::Floats(values) => values.iter().map(|value| passes(&value.to_string())).collect(),
        ColumnValues::Bools(values) => values.iter().map(|value| passes(&value.to_string())).collect(),
        ColumnValues::Mixed(values) => {
            values.iter().map(|value| passes(&super::plain_text(value, ""))).collect()
        }
    }
}

/// For each value whether it is a number that passes.
fn by_number(column: &TableColumn, passes: impl Fn(f64) -> bool) -> Vec<bool> {
    match &column.values {
        ColumnValues::Ints(values) => values.iter().map(|&value| passes(value as f64)).collect(),
        ColumnValues::Uints(values) => values.iter().map(|&value| passes(value as f64)).collect(),
        ColumnValues::Floats(values) => values.iter().map(|&value| passes(value)).collect(),
        ColumnValues::Mixed(values) => {
            values.iter().map(|value| number(value).is_some_and(&passes)).collect()
        }
        ColumnValues::Bools(_) | ColumnValues::Texts(_) | ColumnValues::Json(_) => Vec::new(),
    }
}
