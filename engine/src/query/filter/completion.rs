//! Completions of a query: the names of fields, and the values that they have on a rank, with the
//! number of slices.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::filter_scope::FilterScope;
use super::known_field::{self, columns_named};
use super::open_word::OpenWord;
use super::word::{FieldTest, FilterWord, IN_REGION, WordTest};
use crate::base::Result;
use crate::block::{BlockValues, ColumnType};
use crate::exec::Work;
use crate::model::{NameId, TableKind, TrackId};
use crate::query::slice::track_path;
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment, StoredAt};

/// The thing that a completion names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CompletionKind {
    /// A field, to which a sign and a value follow.
    Field,
    /// A value of a field, or a name of slices.
    Value,
    /// A track.
    Track,
    /// A region.
    Region,
}

/// A text that can stand in place of the open word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// The text as a query has it, with quotes where it needs them.
    pub text: String,
    /// The thing that it names.
    pub kind: CompletionKind,
    /// Number of slices with the value or on the track; of a field the number of slices in blocks
    /// that have any. `None` for a region.
    pub slices: Option<u64>,
}

/// The completions of a query at its cursor.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Completions {
    /// Position of the first character that they replace.
    pub from: usize,
    /// The completions: those that begin with what was typed, then those that contain it, each with
    /// the most slices first.
    pub entries: Vec<Completion>,
    /// Number of all completions.
    pub total: usize,
}

/// The completions of the word before the cursor, at most `most`. The cursor is a number of
/// characters. Empty where nothing can be completed.
pub fn completions<B: Bytes>(
    segment: &Segment<B>,
    query: &str,
    cursor: usize,
    scope: &FilterScope<'_>,
    most: usize,
    work: Work<'_>,
) -> Result<Completions> {
    let Some(open) = OpenWord::at(query, cursor) else { return Ok(Completions::default()) };
    let mut found = match open.field.as_deref().map(known_field::plain).as_deref() {
        None => {
            let mut found = fields(segment, scope);
            found.extend(values(segment, "name", scope, work)?);
            found
        }
        Some("track") => tracks(segment),
        Some(IN_REGION) => regions(scope),
        Some(_) => values(segment, open.field.as_deref().unwrap_or_default(), scope, work)?,
    };
    let typed = open.typed.to_lowercase();
    let place = |of: &CompletionText| of.text.to_lowercase().find(&typed);
    found.retain(|of| place(of).is_some());
    let total = found.len();
    found.sort_by_cached_key(|of| {
        // One letter finds half of all names by chance: fields come first.
        let is_inside = place(of) != Some(0);
        (is_inside, of.kind, Reverse(of.slices), of.text.clone())
    });
    found.truncate(most);
    let entries = found.into_iter().map(|of| of.written(open.field.is_none())).collect();
    Ok(Completions { from: open.from, entries, total })
}

/// A text before it is written for a query.
struct CompletionText {
    text: String,
    kind: CompletionKind,
    slices: Option<u64>,
}

impl CompletionText {
    /// The text as a query has it. A word of its own must not mean a field.
    fn written(self, is_word: bool) -> Completion {
        let Self { text, kind, slices } = self;
        let value = vec![text.clone()];
        let text = match kind {
            CompletionKind::Field => text,
            _ if is_word => FilterWord { excludes: false, test: WordTest::Text(value) }.to_string(),
            _ => {
                let name = "a".to_owned();
                let word = FilterWord {
                    excludes: false,
                    test: WordTest::Field { name, test: FieldTest::Has(value) },
                };
                word.to_string().split_off(2)
            }
        };
        Completion { text, kind, slices }
    }
}

/// The names of fields, those of every slice and those of places first.
fn fields<B: Bytes>(segment: &Segment<B>, scope: &FilterScope<'_>) -> Vec<CompletionText> {
    let known = known_field::all_names(segment, scope).into_iter();
    let field = |name: String| {
        let columns = columns_named(segment, &name, scope);
        let slices: u64 = columns.iter().map(|of| slices_with(segment, of.column)).sum();
        CompletionText { text: name, kind: CompletionKind::Field, slices: (slices > 0).then_some(slices) }
    };
    known.map(field).collect()
}

/// Number of slices in the blocks that have a value of a column.
fn slices_with<B: Bytes>(segment: &Segment<B>, column: usize) -> u64 {
    let table = segment.footer().columns[column].table;
    let (Ok(directory), Ok(blocks)) = (segment.directory(column), segment.blocks(table)) else { return 0 };
    let packs = directory.places.iter().enumerate().filter(|(_, place)| **place != StoredAt::Absent);
    packs.flat_map(|(pack, _)| blocks.blocks_of_pack(pack)).map(|block| blocks.rows(block) as u64).sum()
}

fn tracks<B: Bytes>(segment: &Segment<B>) -> Vec<CompletionText> {
    let all = segment.footer().tracks.iter().enumerate().filter(|(_, track)| track.rows > 0);
    let of_slices = all.filter(|(at, _)| {
        let table = segment.table_of(TrackId(*at as u32));
        table.is_some_and(|id| segment.footer().tables[usize::from(id.0)].spec.kind == TableKind::Slices)
    });
    let mut rows: BTreeMap<String, u64> = BTreeMap::new();
    for (at, track) in of_slices {
        *rows.entry(track_path(segment, TrackId(at as u32))).or_default() += u64::from(track.rows);
    }
    let track = |(text, rows): (String, u64)| CompletionText {
        text,
        kind: CompletionKind::Track,
        slices: Some(rows),
    };
    rows.into_iter().map(track).collect()
}

fn regions(scope: &FilterScope<'_>) -> Vec<CompletionText> {
    let region =
        |name: &str| CompletionText { text: name.to_owned(), kind: CompletionKind::Region, slices: None };
    scope.regions.iter().map(|of| region(&of.name)).collect()
}

/// The texts of a field with the number of slices that have them. Numbers have no values to choose
/// from.
fn values<B: Bytes>(
    segment: &Segment<B>,
    field: &str,
    scope: &FilterScope<'_>,
    work: Work<'_>,
) -> Result<Vec<CompletionText>> {
    let mut counts: FxHashMap<i64, u64> = FxHashMap::default();
    for of in columns_named(segment, field, scope) {
        let meta = &segment.footer().columns[of.column];
        let is_text = meta.kind == ColumnType::Text || meta.role == ColumnRole::Name;
        if !is_text {
            continue;
        }
        let blocks = segment.blocks(meta.table)?.len();
        for of_block in work.gather(blocks, |block| block_counts(segment, of.column, block))? {
            for (code, count) in of_block {
                *counts.entry(code).or_default() += count;
            }
        }
    }
    let mut found = Vec::with_capacity(counts.len());
    for (code, count) in counts {
        let Ok(code) = u32::try_from(code) else { continue };
        let text = segment.text(NameId(code))?.to_owned();
        found.push(CompletionText { text, kind: CompletionKind::Value, slices: Some(count) });
    }
    Ok(found)
}

/// Number of rows of a block with each code of a column.
fn block_counts<B: Bytes>(segment: &Segment<B>, column: usize, block: usize) -> Result<FxHashMap<i64, u64>> {
    let mut counts = FxHashMap::default();
    let mut reader = BlockReader::new(segment, segment.footer().columns[column].table, block)?;
    if let Some(values) = reader.column(column)?
        && let BlockValues::Ints(codes) = values.values()
    {
        for code in codes {
            *counts.entry(*code).or_default() += 1;
        }
    }
    Ok(counts)
}
