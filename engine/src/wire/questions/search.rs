//! A search for slices.

#[cfg(test)]
use proptest::prelude::*;

use super::limit::{DEFAULT_LIMIT, MAX_LIMIT, at_most};
use crate::base::{ClockFit, Interval, Time};
use crate::exec::Work;
use crate::makers::SHORT_NAMES;
use crate::metrics::trace;
use crate::query::{
    DensityCells, FilterScope, HitPage, HitPlace, RegionSpan, ResolvedFilter, SearchPattern, Syntax,
    WordFilter,
};
use crate::wire::answer;
use crate::wire::ask::{Ask, AskRank, Manner, Pace, Rank, TimeLimit, Weight};
use crate::wire::grammar::{
    Address, AtTime, GivenAddress, Number, Parameter, ParameterDoc, ParameterPlace, SpanIfAny, Text, Word,
    Words, meaning_of, name_of, number, parameters,
};
use crate::wire::refusal::{Refusal, RefusalKind};
use crate::wire::regions::RegionEntry;
use crate::wire::search::SearchResult;

const SYNTAXES: Words<Syntax> = &[("text", Syntax::Text), ("regex", Syntax::Regex), ("query", Syntax::Query)];
const TOWARDS: Words<Toward> =
    &[("next", Toward::Next), ("previous", Toward::Previous), ("around", Toward::Around)];
const DIRECTION: Word<Toward> = Word { name: "direction", words: TOWARDS, default: Some(Toward::Next) };

/// The parameter of the syntax of a query.
pub(super) const SYNTAX: Word<Syntax> = Word { name: "syntax", words: SYNTAXES, default: Some(Syntax::Text) };

/// Most spans in which hits are counted.
const MOST_CELLS: u32 = 4_096;

/// Only a regular expression made to be slow needs more than a second.
pub(super) const LIMIT: TimeLimit =
    TimeLimit { seconds: 10, what: "the search", advice: "use a more specific text or a smaller window" };

/// Hits relative to a place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Toward {
    /// Hits after it.
    #[default]
    Next,
    /// Hits before it.
    Previous,
    /// Hits on both sides, half each.
    Around,
}

parameters! {
    /// The slices with a text in their name or fields that matches. Case counts where the query has
    /// a capital letter that stands for itself.
    pub struct SearchQuestion {
        /// Text to search for. An empty text finds nothing.
        pub text: String = Text::in_query("q"),
        /// Syntax of the query: a plain text; a regular expression of Rust's crate regex, without
        /// look-around and backreferences; or words, fields and numbers, such as `opcode=MATMUL
        /// dur>5us -/warm.?up/`. The error of an invalid query names the character.
        pub syntax: Syntax = SYNTAX,
        /// Time from which a query counts `start`, in picoseconds since the profile's origin.
        pub zero_ps: i64 = ZeroTime,
        /// Place among the hits.
        pub at: HitPlace = PlaceOfHits,
        /// Hits to describe: the next hits after the place (including a hit at the place), the
        /// previous hits before it, or half of them on each side.
        pub toward: Toward = DIRECTION,
        /// Largest number of hits, at most 100,000.
        pub limit: u32 = Number::or("limit", DEFAULT_LIMIT),
        /// Number of equal parts of a span in which hits are counted, at most 4,096.
        pub cells: u32 = Number::or("cells", 0),
        /// The span with these parts. By default it is that of all events of the rank.
        pub span: Option<Interval> = SpanIfAny,
    }
}

impl Ask for SearchQuestion {
    type Answer = SearchResult;

    const PATH: &'static str = of_rank!("/search");
    const MANNER: Manner = Manner {
        pace: Pace::Slow,
        time_limit: Some(LIMIT),
        refusals: &[RefusalKind::BadPattern, RefusalKind::TooSlow],
        ..Manner::of("search", Weight::Heavy)
    };
}

impl AskRank for SearchQuestion {
    fn answer(&self, rank: &impl Rank, work: Work<'_>) -> Result<SearchResult, Refusal> {
        let (view, filter) = (rank.view(), filter_of(rank, &self.text, self.syntax, self.zero_ps, work)?);
        let span = self.span.unwrap_or_else(|| trace::span(view.segment));
        let parts = DensityCells { span, count: at_most(self.cells, MOST_CELLS) };
        answer::search(view, &filter, self.page(), parts, work).map_err(|error| rank.refusal(error))
    }
}

/// The query of a question about a rank.
pub(super) fn filter_of(
    rank: &impl Rank,
    text: &str,
    syntax: Syntax,
    zero_ps: i64,
    work: Work<'_>,
) -> Result<ResolvedFilter, Refusal> {
    let filter = match syntax {
        Syntax::Query => {
            let needs_regions = WordFilter::parse(text).is_ok_and(|filter| filter.needs_regions());
            let regions = if needs_regions { regions_of(rank, work)? } else { Vec::new() };
            let scope = FilterScope {
                rank: rank.number(),
                // Times of questions are those of the rank.
                zero_ps,
                regions: &regions,
                short_names: &SHORT_NAMES,
                ..FilterScope::default()
            };
            ResolvedFilter::new(rank.view().segment, text, &scope)
        }
        Syntax::Text | Syntax::Regex => SearchPattern::new(text, syntax).map(ResolvedFilter::from),
    };
    filter.map_err(|error| Refusal::new(RefusalKind::BadPattern, error.to_string()))
}

impl SearchQuestion {
    /// The requested page of hits.
    fn page(&self) -> HitPage {
        let limit = at_most(self.limit, MAX_LIMIT);
        match self.toward {
            Toward::Next => HitPage::after(self.at, limit),
            Toward::Previous => HitPage::before(self.at, limit),
            Toward::Around => HitPage::around(self.at, limit),
        }
    }
}

/// The regions of a rank: those that users named, then steps, layers and phases with other names.
pub(super) fn regions_of(rank: &impl Rank, work: Work<'_>) -> Result<Vec<RegionSpan>, Refusal> {
    let mut all = rank.notes()?.regions_on(rank.number(), rank.view().clock);
    // A name that a user gave is that of the user, even if a step has it, too.
    let noted = all.len();
    for RegionEntry { name, start_ps, end_ps, .. } in rank.regions(work)?.regions {
        if all[..noted].iter().all(|of| of.name != name) {
            all.push(RegionSpan { name, span: Interval::new(start_ps, end_ps) });
        }
    }
    Ok(all)
}

/// The syntax that a word stands for.
#[must_use]
pub fn syntax_of(word: &str) -> Option<Syntax> {
    meaning_of(SYNTAXES, word)
}

/// The word for a syntax, in addresses of the page too.
#[must_use]
pub fn syntax_name(syntax: Syntax) -> &'static str {
    name_of(SYNTAXES, syntax)
}

/// A time that counts as zero: the origin, unless another one is given.
pub(super) struct ZeroTime;

const ZERO_PS: &str = "zero_ps";

impl Parameter for ZeroTime {
    type Value = i64;

    fn describe(&self, doc: &'static str, all: &mut Vec<ParameterDoc>) {
        AtTime(ZERO_PS).describe(doc, all);
        if let Some(zero_ps) = all.last_mut() {
            zero_ps.is_required = false;
            zero_ps.doc += " Default: the origin.";
        }
    }

    fn read(&self, given: &GivenAddress<'_>) -> Result<i64, Refusal> {
        match given.value(ParameterPlace::Query, ZERO_PS)? {
            Some(_) => AtTime(ZERO_PS).read(given),
            None => Ok(0),
        }
    }

    fn write(&self, value: &i64, address: &mut Address) {
        AtTime(ZERO_PS).write(value, address);
    }

    fn move_to_local(&self, value: &mut i64, clock: ClockFit) {
        AtTime(ZERO_PS).move_to_local(value, clock);
    }

    #[cfg(any(test, feature = "fixture"))]
    fn example(&self) -> i64 {
        AtTime(ZERO_PS).example()
    }

    #[cfg(test)]
    fn any(&self) -> BoxedStrategy<i64> {
        AtTime(ZERO_PS).any()
    }
}

/// Time and row of a place among the hits. The default depends on the direction.
struct PlaceOfHits;

const AT_PS: &str = "at_ps";
const AT_ROW: Number<u32> = Number::or("at_row", 0);

impl Parameter for PlaceOfHits {
    type Value = HitPlace;

    fn describe(&self, doc: &'static str, all: &mut Vec<ParameterDoc>) {
        AtTime(AT_PS).describe(doc, all);
        if let Some(at_ps) = all.last_mut() {
            at_ps.is_required = false;
            at_ps.doc += ", in picoseconds since the profile's origin. Hits are sorted by start, then row. \
                          Default: before the first hit, or after the last hit for direction=previous.";
        }
        AT_ROW.describe(
            "If several hits start at at_ps, the hits in lower rows come before the place. Needs at_ps.",
            all,
        );
    }

    fn read(&self, given: &GivenAddress<'_>) -> Result<HitPlace, Refusal> {
        let is_given = |name| given.value(ParameterPlace::Query, name).map(|value| value.is_some());
        if is_given(AT_PS)? {
            return Ok(HitPlace { start_ps: AtTime(AT_PS).read(given)?, row: AT_ROW.read(given)? });
        }
        if let Some(row) = given.value(ParameterPlace::Query, AT_ROW.name)? {
            number::<u32>(AT_ROW.name, &row)?;
            let what = "at_row needs at_ps; add the start of the row as at_ps";
            return Err(Refusal::new(RefusalKind::BadQuestion, what));
        }
        Ok(if DIRECTION.read(given)? == Toward::Previous { HitPlace::LAST } else { HitPlace::FIRST })
    }

    fn write(&self, value: &HitPlace, address: &mut Address) {
        AtTime(AT_PS).write(&value.start_ps, address);
        AT_ROW.write(&value.row, address);
    }

    /// After all times that have this shared time, so that a walk through hits goes on.
    fn move_to_local(&self, value: &mut HitPlace, clock: ClockFit) {
        let next_ps = clock.to_local(Time(value.start_ps.saturating_add(1))).0;
        value.start_ps = next_ps.saturating_sub(1);
    }

    #[cfg(any(test, feature = "fixture"))]
    fn example(&self) -> HitPlace {
        HitPlace { start_ps: 4, row: 6 }
    }

    #[cfg(test)]
    fn any(&self) -> BoxedStrategy<HitPlace> {
        (any::<i64>(), any::<u32>()).prop_map(|(start_ps, row)| HitPlace { start_ps, row }).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_through_hits_goes_on() {
        // Several times of the rank have the same shared time if its clock is fast.
        let clock = ClockFit::new(0, 0, -100_000_000, None).unwrap();
        let moved = |clock, mut place: HitPlace| {
            PlaceOfHits.move_to_local(&mut place, clock);
            place
        };
        for local_ps in -50..50 {
            let place = HitPlace { start_ps: clock.to_shared(Time(local_ps)).0, row: 3 };
            assert!(moved(clock, place).start_ps >= local_ps, "{local_ps}");
        }
        let place = HitPlace { start_ps: 5, row: 3 };
        assert_eq!(moved(ClockFit::default(), place), place);
    }
}
