//! The rows that a query finds.
//!
//! Texts are found as in a search: in the dictionary, then by postings. Numbers are compared block
//! by block; zone maps tell which blocks can have any that pass.

use std::collections::BTreeSet;

use roaring::RoaringBitmap;

use super::grammar;
use super::known_field::{self, KnownColumn, columns_named};
use super::number_test::NumberTest;
use super::word::{FieldTest, FilterWord, WordTest};
use crate::base::Result;
use crate::block::{BlockValues, ColumnType, ZoneMap};
use crate::codec::ColumnTexts;
use crate::exec::Work;
use crate::model::{TableKind, TrackId};
use crate::query::search::{self, HitPage, PatternError, SearchHits, SearchPattern, Syntax};
use crate::segment::{BlockReader, Bytes, Segment};

/// A query whose fields and numbers are those of a segment.
#[derive(Debug, Clone)]
pub struct ResolvedFilter {
    words: Vec<ResolvedWord>,
}

#[derive(Debug, Clone)]
struct ResolvedWord {
    excludes: bool,
    test: ResolvedTest,
}

#[derive(Debug, Clone)]
enum ResolvedTest {
    /// Any text that matches.
    Text(SearchPattern),
    /// A text of these columns that matches, or a number that passes.
    Columns { pattern: Option<SearchPattern>, texts: Vec<usize>, numbers: Vec<(usize, NumberTest)> },
    /// The rows of these tracks.
    Tracks(Vec<TrackId>),
    /// All rows, or none.
    All(bool),
}

/// The slices with a text that matches.
impl From<SearchPattern> for ResolvedFilter {
    fn from(pattern: SearchPattern) -> Self {
        Self { words: vec![ResolvedWord { excludes: false, test: ResolvedTest::Text(pattern) }] }
    }
}

impl ResolvedFilter {
    /// Looks up the fields of a query. `rank` is the number of the rank; all ranks
    /// together have none.
    pub fn new<B: Bytes>(segment: &Segment<B>, query: &str, rank: Option<u32>) -> Result<Self, PatternError> {
        let words = grammar::words(query)?.into_iter().map(|(at, word)| {
            let FilterWord { excludes, test } = word;
            let fault = |what| PatternError { at: Some(at), what };
            let test = resolved(segment, test, rank).map_err(fault)?;
            Ok(ResolvedWord { excludes, test })
        });
        Ok(Self { words: words.collect::<Result<_, PatternError>>()? })
    }

    /// The slices that the query finds; the hits of the page in detail. An empty query finds
    /// nothing.
    pub fn find<B: Bytes>(&self, segment: &Segment<B>, page: HitPage, work: Work<'_>) -> Result<SearchHits> {
        // The fields of the hits of a single text are named.
        if let [ResolvedWord { excludes: false, test: ResolvedTest::Text(pattern) }] = &self.words[..] {
            return search::find(segment, pattern, page, work);
        }
        search::hits_of(segment, self.rows(segment, work)?, page, work)
    }

    /// The rows of the slices that the query finds.
    fn rows<B: Bytes>(&self, segment: &Segment<B>, work: Work<'_>) -> Result<RoaringBitmap> {
        if self.words.is_empty() {
            return Ok(RoaringBitmap::new());
        }
        let mut rows = all_slices(segment);
        for ResolvedWord { excludes, test } in &self.words {
            let found = rows_of(segment, test, work)?;
            match excludes {
                true => rows -= found,
                false => rows &= found,
            }
        }
        Ok(rows)
    }
}

/// A word with the columns of a segment, or what is wrong with it.
fn resolved<B: Bytes>(
    segment: &Segment<B>,
    test: WordTest,
    rank: Option<u32>,
) -> Result<ResolvedTest, String> {
    let pattern = |text: &str, syntax| SearchPattern::new(text, syntax).map_err(|fault| fault.what);
    Ok(match test {
        WordTest::Regex(regex) => ResolvedTest::Text(pattern(&regex, Syntax::Regex)?),
        WordTest::Text(texts) => ResolvedTest::Text(contained(&texts)?),
        WordTest::Field { name, test } => match known_field::plain(&name).as_str() {
            "track" => ResolvedTest::Tracks(tracks(segment, &test)?),
            "rank" => {
                let test = number_test(&test, "", "rank")?;
                ResolvedTest::All(rank.is_some_and(|rank| test.has_whole(rank.into())))
            }
            _ => of_field(segment, &name, &test)?,
        },
    })
}

/// A text with one of these in it.
fn contained(texts: &[String]) -> Result<SearchPattern, String> {
    match texts {
        [text] => Ok(SearchPattern::text(text)),
        _ => SearchPattern::new(&one_of(texts), Syntax::Regex).map_err(|fault| fault.what),
    }
}

/// A regular expression for one of these texts. Each has its own rule for capitals.
fn one_of(texts: &[String]) -> String {
    let escaped = texts.iter().map(|text| match text.contains(char::is_uppercase) {
        true => regex_syntax::escape(text),
        false => format!("(?i:{})", regex_syntax::escape(text)),
    });
    escaped.collect::<Vec<String>>().join("|")
}

/// The pattern of the texts that pass the test of a field. `None` if only numbers can pass.
fn text_test(test: &FieldTest) -> Result<Option<SearchPattern>, String> {
    let regex = |text: &str| SearchPattern::new(text, Syntax::Regex).map_err(|fault| fault.what);
    Ok(match test {
        FieldTest::Has(texts) => Some(contained(texts)?),
        FieldTest::Is(texts) => Some(regex(&format!(r"\A(?:{})\z", one_of(texts)))?),
        FieldTest::Regex(pattern) => Some(regex(pattern)?),
        FieldTest::Number(..) => None,
    })
}

fn number_test(test: &FieldTest, unit: &str, name: &str) -> Result<NumberTest, String> {
    let example = match unit {
        "ps" | "ns" | "s" => "10us",
        "B" => "32KiB",
        "ratio" => "50%",
        _ => "10 or 2.5k",
    };
    let needed = || format!("{name} is a number: write it as {example}");
    match test {
        FieldTest::Number(comparison, text) => {
            NumberTest::compared(*comparison, text, unit).ok_or_else(needed)
        }
        FieldTest::Has(texts) | FieldTest::Is(texts) => NumberTest::one_of(texts, unit).ok_or_else(needed),
        FieldTest::Regex(_) => Err(format!("{name} is a number, and has no text for a regular expression")),
    }
}

fn of_field<B: Bytes>(segment: &Segment<B>, name: &str, test: &FieldTest) -> Result<ResolvedTest, String> {
    let known = columns_named(segment, name);
    if known.is_empty() {
        let nearest = known_field::nearest(segment, name);
        return Err(match nearest {
            Some(nearest) => format!("no field is called {name}: did you mean {nearest}?"),
            None => format!("no field is called {name}; quotes make a text of it"),
        });
    }
    let is_number = |of: &KnownColumn| {
        use ColumnType::{Bool, Float, Int, Uint};
        matches!(segment.kind(of.column), Int | Uint | Float | Bool)
    };
    let (numbers, texts): (Vec<_>, Vec<_>) = known.into_iter().partition(is_number);
    let tested = numbers.iter().map(|of| {
        let test = match segment.kind(of.column) {
            ColumnType::Bool => bool_test(test, name),
            _ => number_test(test, of.unit, name),
        };
        test.map(|test| (of.column, test))
    });
    let pattern = text_test(test)?;
    // A field can have numbers in some rows and texts in others.
    let numbers = match texts.is_empty() {
        true => tested.collect::<Result<Vec<_>, String>>()?,
        false => tested.filter_map(Result::ok).collect(),
    };
    if pattern.is_none() && numbers.is_empty() {
        return Err(format!("{name} is a text: write {name}:… or {name}=…"));
    }
    Ok(ResolvedTest::Columns { pattern, texts: texts.into_iter().map(|of| of.column).collect(), numbers })
}

/// The test of a truth value.
fn bool_test(test: &FieldTest, name: &str) -> Result<NumberTest, String> {
    let needed = || format!("{name} is true or false");
    let (FieldTest::Has(texts) | FieldTest::Is(texts)) = test else { return Err(needed()) };
    let number = |text: &String| match text.to_lowercase().as_str() {
        "true" | "yes" | "1" => Some("1".to_owned()),
        "false" | "no" | "0" => Some("0".to_owned()),
        _ => None,
    };
    let numbers: Option<Vec<String>> = texts.iter().map(number).collect();
    NumberTest::one_of(&numbers.ok_or_else(needed)?, "").ok_or_else(needed)
}

/// The tracks whose name, with the names of their groups, passes.
fn tracks<B: Bytes>(segment: &Segment<B>, test: &FieldTest) -> Result<Vec<TrackId>, String> {
    let pattern = text_test(test)?.ok_or("track is a text: write track:… or track=…")?;
    let tracks = &segment.footer().tracks;
    let path = |mut at: usize| {
        let mut names = vec![tracks[at].spec.name.as_str()];
        while let Some(group) = tracks[at].spec.parent {
            // A group comes before its tracks.
            at = group.0 as usize;
            names.push(tracks[at].spec.name.as_str());
        }
        names.reverse();
        names.join("/")
    };
    let (mut names, mut paths) = (ColumnTexts::default(), ColumnTexts::default());
    for (at, track) in tracks.iter().enumerate() {
        names.push(&track.spec.name);
        paths.push(&path(at));
    }
    let mut found = BTreeSet::new();
    for texts in [names, paths] {
        pattern.for_each_match(&texts, || true, |at| found.extend(u32::try_from(at).map(TrackId)));
    }
    let found: Vec<TrackId> = found.into_iter().collect();
    match found.is_empty() {
        true => Err("no track has such a name".to_owned()),
        false => Ok(found),
    }
}

fn all_slices<B: Bytes>(segment: &Segment<B>) -> RoaringBitmap {
    let mut rows = RoaringBitmap::new();
    for table in segment.footer().tables.iter().filter(|table| table.spec.kind == TableKind::Slices) {
        rows.insert_range(table.first_row..table.first_row.saturating_add(table.rows));
    }
    rows
}

fn rows_of<B: Bytes>(segment: &Segment<B>, test: &ResolvedTest, work: Work<'_>) -> Result<RoaringBitmap> {
    match test {
        ResolvedTest::All(true) => Ok(all_slices(segment)),
        ResolvedTest::All(false) => Ok(RoaringBitmap::new()),
        ResolvedTest::Text(pattern) => search::rows(segment, pattern, &|_| true, work),
        ResolvedTest::Columns { pattern, texts, numbers } => {
            let mut rows = match pattern {
                Some(pattern) if !texts.is_empty() => {
                    search::rows(segment, pattern, &|column| texts.contains(&column), work)?
                }
                _ => RoaringBitmap::new(),
            };
            for (column, test) in numbers {
                rows |= rows_of_numbers(segment, *column, test, work)?;
            }
            Ok(rows)
        }
        ResolvedTest::Tracks(tracks) => {
            let mut rows = RoaringBitmap::new();
            for track in tracks {
                let of = &segment.footer().tracks[track.0 as usize];
                rows.insert_range(of.first_row..of.first_row.saturating_add(of.rows));
            }
            Ok(rows & all_slices(segment))
        }
    }
}

/// The rows with a number that passes.
fn rows_of_numbers<B: Bytes>(
    segment: &Segment<B>,
    column: usize,
    test: &NumberTest,
    work: Work<'_>,
) -> Result<RoaringBitmap> {
    let zones = segment.zones(column)?;
    let can_pass = |zone: &ZoneMap| match *zone {
        ZoneMap::None => true,
        // Large unsigned numbers are stored as negative ones.
        ZoneMap::Ints { min, max } => {
            let is_unsigned = segment.kind(column) == ColumnType::Uint && min < 0;
            is_unsigned || test.meets_wholes(min.into(), max.into())
        }
        ZoneMap::Floats { min, max } => test.meets(min, max),
    };
    let blocks: Vec<usize> = (0..zones.len()).filter(|&block| can_pass(&zones[block])).collect();
    let found = work.gather(blocks.len(), |at| block_numbers(segment, column, blocks[at], test))?;
    let mut rows = RoaringBitmap::new();
    for (first_row, found) in found {
        // A bitmap is filled fastest by runs of rows.
        let mut passed = found.iter().enumerate().peekable();
        while let Some((start, passes)) = passed.next() {
            if *passes {
                let mut end = start + 1;
                while passed.next_if(|(_, passes)| **passes).is_some() {
                    end += 1;
                }
                rows.insert_range(first_row + start as u32..first_row + end as u32);
            }
        }
    }
    Ok(rows)
}

/// The first row of a block, and for each row whether its number passes.
fn block_numbers<B: Bytes>(
    segment: &Segment<B>,
    column: usize,
    block: usize,
    test: &NumberTest,
) -> Result<(u32, Vec<bool>)> {
    let table = segment.footer().columns[column].table;
    let first_row =
        segment.footer().tables[usize::from(table.0)].first_row + segment.blocks(table)?.first_row(block);
    let mut reader = BlockReader::new(segment, table, block)?;
    let rows = reader.rows();
    let Some(values) = reader.column(column)? else { return Ok((first_row, Vec::new())) };
    let is_unsigned = segment.kind(column) == ColumnType::Uint;
    let passes: Vec<bool> = match values.values() {
        BlockValues::Ints(ints) if is_unsigned => {
            ints.iter().map(|value| test.has_whole(value.cast_unsigned().into())).collect()
        }
        BlockValues::Ints(ints) => ints.iter().map(|value| test.has_whole((*value).into())).collect(),
        BlockValues::Floats(floats) => floats.iter().map(|value| test.has(*value)).collect(),
        BlockValues::Texts(_) => return Ok((first_row, Vec::new())),
    };
    Ok((first_row, (0..rows).map(|at| values.slot(at).is_some_and(|slot| passes[slot])).collect()))
}
