//! The tests of a query with the columns, tracks and spans of a segment.

use std::collections::BTreeSet;

use super::filter_scope::FilterScope;
use super::known_field::{self, KnownColumn, columns_named};
use super::number_test::NumberTest;
use super::quantity::{units_for, unknown_unit};
use super::word::{FieldTest, IN_REGION, WordTest};
use crate::base::{ClockFit, Time};
use crate::block::ColumnType;
use crate::codec::ColumnTexts;
use crate::model::TrackId;
use crate::query::search::{SearchPattern, Syntax};
use crate::query::slice::{SUMMARY_SEPARATOR, names_to, track_path};
use crate::segment::{Bytes, ColumnRole, Segment};

/// A test whose fields and numbers are those of a segment.
#[derive(Debug, Clone)]
pub enum ResolvedTest {
    /// Any text that matches.
    Text(SearchPattern),
    /// A text of these columns that matches, or a number that passes.
    Columns { pattern: Option<SearchPattern>, texts: Vec<usize>, numbers: Vec<TestedColumn> },
    /// The rows of these tracks.
    Tracks(Vec<TrackId>),
    /// All rows, or none.
    All(bool),
}

/// A column of numbers with its test.
#[derive(Debug, Clone)]
pub struct TestedColumn {
    /// Position in the footer.
    pub column: usize,
    /// The numbers that pass.
    pub test: NumberTest,
    /// The clock of the tested times. `None` if the stored numbers are tested.
    pub clock: Option<RelativeClock>,
}

/// Times on the clock that all ranks share, from a zero.
#[derive(Debug, Clone, Copy)]
pub struct RelativeClock {
    clock: ClockFit,
    zero_ps: i64,
}

impl RelativeClock {
    /// The time of a time of the segment. A later one has none that is earlier.
    pub fn time_ps(&self, local_ps: i64) -> i128 {
        i128::from(self.clock.to_shared(Time(local_ps)).0) - i128::from(self.zero_ps)
    }
}

impl TestedColumn {
    /// The number to test of a stored one. A larger one has none that is smaller.
    pub fn number(&self, stored: i64) -> i128 {
        match &self.clock {
            Some(clock) => clock.time_ps(stored),
            None => stored.into(),
        }
    }
}

impl ResolvedTest {
    /// Looks up the fields of a test. The error says what the segment lacks.
    pub fn new<B: Bytes>(
        segment: &Segment<B>,
        test: &WordTest,
        scope: &FilterScope<'_>,
    ) -> Result<Self, String> {
        let pattern = |text: &str, syntax| SearchPattern::new(text, syntax).map_err(|fault| fault.what);
        Ok(match test {
            WordTest::Regex(regex) => Self::Text(pattern(regex, Syntax::Regex)?),
            WordTest::Text(texts) => Self::Text(contained(texts)?),
            WordTest::Field { name, test } => match known_field::plain(name).as_str() {
                "track" => Self::Tracks(tracks(segment, test)?),
                "rank" => {
                    let test = number_test(test, "", "rank")?;
                    Self::All(scope.rank.is_some_and(|rank| test.has_whole(rank.into())))
                }
                IN_REGION => starts_in_regions(segment, test, scope)?,
                _ => of_field(segment, name, test, scope)?,
            },
        })
    }
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
    let needed = || match unit_fault(test, unit) {
        Some(fault) => format!("{name} {fault}"),
        None => format!("{name} is a number: write it as {example}"),
    };
    match test {
        FieldTest::Number(comparison, text) => {
            NumberTest::compared(*comparison, text, unit).ok_or_else(needed)
        }
        FieldTest::Has(texts) | FieldTest::Is(texts) => NumberTest::one_of(texts, unit).ok_or_else(needed),
        FieldTest::Regex(_) => Err(format!("{name} is a number, and has no text for a regular expression")),
    }
}

/// The fault of a number whose unit is unknown.
fn unit_fault(test: &FieldTest, unit: &str) -> Option<String> {
    let texts = match test {
        FieldTest::Number(_, text) => std::slice::from_ref(text),
        FieldTest::Has(texts) | FieldTest::Is(texts) => texts,
        FieldTest::Regex(_) => &[],
    };
    let numbers = texts.iter().flat_map(|text| text.split(".."));
    let unknown = numbers.into_iter().find_map(|number| unknown_unit(number, unit))?;
    let units = units_for(unit);
    let begins_with = |of: &&&str| unknown.to_lowercase().starts_with(**of);
    Some(match units.iter().filter(begins_with).max_by_key(|of| of.len()) {
        Some(nearest) => format!("has no unit {unknown}: did you mean {nearest}?"),
        None => format!("has no unit {unknown}; there are {}", units.join(", ")),
    })
}

/// The slices that start in a region. Each slice is in one step at most, so that sums over
/// steps add up.
fn starts_in_regions<B: Bytes>(
    segment: &Segment<B>,
    test: &FieldTest,
    scope: &FilterScope<'_>,
) -> Result<ResolvedTest, String> {
    let pattern = text_test(test)?.ok_or("in: has the name of a region: write in:\"step 3\"")?;
    let mut names = ColumnTexts::default();
    for region in scope.regions {
        names.push(&region.name);
    }
    let mut found: Vec<usize> = Vec::new();
    // A whole name is meant before a part: step 1 is not step 10.
    if let FieldTest::Has(texts) = test {
        let is_it = |at: &usize| texts.contains(&scope.regions[*at].name);
        found.extend((0..scope.regions.len()).filter(is_it));
    }
    if found.is_empty() {
        pattern.for_each_match(&names, || true, |at| found.push(at));
    }
    if found.is_empty() {
        let wanted = test.wanted();
        let names = scope.regions.iter().map(|region| region.name.clone());
        return Err(match known_field::most_like(&wanted, names) {
            Some(nearest) => format!("no region is called {wanted}: did you mean \"{nearest}\"?"),
            None => format!("no region is called {wanted}"),
        });
    }
    let test = NumberTest::within(found.into_iter().map(|at| scope.regions[at].span));
    let starts = columns_named(segment, "start", scope).into_iter();
    let tested = starts.map(|of| TestedColumn { column: of.column, test: test.clone(), clock: None });
    Ok(ResolvedTest::Columns { pattern: None, texts: Vec::new(), numbers: tested.collect() })
}

fn of_field<B: Bytes>(
    segment: &Segment<B>,
    name: &str,
    test: &FieldTest,
    scope: &FilterScope<'_>,
) -> Result<ResolvedTest, String> {
    let known = columns_named(segment, name, scope);
    if known.is_empty() {
        let nearest = known_field::nearest(segment, name, scope);
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
        let is_start = segment.footer().columns[of.column].role == ColumnRole::Start;
        let clock = is_start.then_some(RelativeClock { clock: scope.clock, zero_ps: scope.zero_ps });
        test.map(|test| TestedColumn { column: of.column, test, clock })
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
    let (mut names, mut paths, mut titles) =
        (ColumnTexts::default(), ColumnTexts::default(), ColumnTexts::default());
    for (id, track) in (0..).map(TrackId).zip(tracks) {
        names.push(&track.spec.name);
        paths.push(&track_path(segment, id));
        titles.push(&names_to(segment, id).join(SUMMARY_SEPARATOR));
    }
    let mut found = BTreeSet::new();
    for texts in [names, paths, titles] {
        pattern.for_each_match(&texts, || true, |at| found.extend(u32::try_from(at).map(TrackId)));
    }
    let found: Vec<TrackId> = found.into_iter().collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let wanted = test.wanted();
    Err(match known_field::most_like(&wanted, tracks.iter().map(|track| track.spec.name.clone())) {
        Some(nearest) => format!("no track is called {wanted}: did you mean \"{nearest}\"?"),
        None => format!("no track is called {wanted}"),
    })
}
