//! Questions: what can be asked of a store of profiles, and how a question is written as a path.
//!
//! This is the only grammar of questions. The page writes paths with [`Question::path`], the server
//! reads them with [`Question::parse`], and a page that has its segments inside asks without a path.
//! The law that binds both: `parse(path(question)) = question`.

use std::fmt::{self, Write};
use std::str::FromStr;

use super::percent::{parameter_decoded, percent_decoded, percent_encoded};
use super::refusal::{Refusal, RefusalKind};
use crate::base::Interval;
use crate::query::{Direction, HitPage, HitPlace, Syntax};
use crate::tile::{Level, TileId};

/// A question to a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// All profiles: [`super::catalog::ProfileList`].
    Profiles,
    /// One profile: [`super::catalog::ProfileInfo`].
    Profile(String),
    /// Something about a rank of a profile.
    OfRank(RankId, RankQuestion),
}

/// A rank of a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankId {
    /// The profile's name or id.
    pub profile: String,
    /// The number of the rank.
    pub rank: u32,
}

/// A question about a rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RankQuestion {
    /// Tracks, tables and warnings: [`super::catalog::RankDetail`].
    Detail,
    /// A tile of the segment with this content: [`super::tile::Tile`].
    Tile {
        /// The segment's content, which makes the path one of an answer that never changes.
        content: String,
        /// Which tile.
        id: TileId,
    },
    /// All about a slice: [`super::detail::SliceDetail`].
    Slice(u32),
    /// The slice beside a slice: [`super::detail::SliceDetail`], or nothing.
    Step {
        /// The row of the slice to step from.
        row: u32,
        /// Where to.
        direction: Direction,
        /// Groups whose tracks are passed over.
        closed: Vec<u32>,
    },
    /// A counter at a moment and over a span: [`super::counter::CounterDetail`].
    Counter {
        /// The counter's track.
        track: u32,
        /// The moment, in picoseconds since the profile's origin.
        at_ps: i64,
        /// The span.
        span: Interval,
    },
    /// The slices in a span: [`super::window::WindowEvents`].
    Events {
        /// The span.
        span: Interval,
        /// Which tracks; `None` for all.
        tracks: Option<Vec<u32>>,
        /// At most this many slices.
        limit: u32,
    },
    /// The slices with a text that matches: [`super::search::SearchResult`].
    Search(SearchQuery),
    /// Statistics of a span: [`super::selection::SelectionSummary`].
    Selection {
        /// The span.
        span: Interval,
        /// Which tracks; `None` for all.
        tracks: Option<Vec<u32>>,
    },
    /// The metrics: [`super::summary::Summary`].
    Summary,
}

/// A search, and which of its hits to describe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchQuery {
    /// The text or the regular expression.
    pub text: String,
    /// How the text is read.
    pub syntax: Syntax,
    /// The place that the hits are seen from.
    pub at: HitPlace,
    /// Which of them.
    pub toward: Toward,
    /// At most this many.
    pub limit: u32,
}

/// Which hits of a search, seen from a place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Toward {
    /// Those after it.
    #[default]
    Next,
    /// Those before it.
    Previous,
    /// As many on both sides.
    Around,
}

impl SearchQuery {
    /// The page of hits that is asked for.
    #[must_use]
    pub fn page(&self) -> HitPage {
        let limit = limited(self.limit);
        match self.toward {
            Toward::Next => HitPage::after(self.at, limit),
            Toward::Previous => HitPage::before(self.at, limit),
            Toward::Around => HitPage::around(self.at, limit),
        }
    }
}

/// Slices of a window or hits of a search, if the question does not say how many.
const DEFAULT_LIMIT: u32 = 1_000;
/// Most slices or hits in one answer.
const MAX_LIMIT: u32 = 100_000;

/// The limit that is kept to.
#[must_use]
pub fn limited(limit: u32) -> usize {
    limit.min(MAX_LIMIT) as usize
}

impl Question {
    /// The paths of all questions, with their parameters in braces.
    pub const PATHS: [&str; 11] = [
        "/api/profiles",
        "/api/profiles/{slug}",
        "/api/profiles/{slug}/ranks/{rank}",
        "/api/profiles/{slug}/ranks/{rank}/tiles/{content}/{group}/{level}/{index}",
        "/api/profiles/{slug}/ranks/{rank}/slices/{row}",
        "/api/profiles/{slug}/ranks/{rank}/slices/{row}/step",
        "/api/profiles/{slug}/ranks/{rank}/counters/{track}",
        "/api/profiles/{slug}/ranks/{rank}/events",
        "/api/profiles/{slug}/ranks/{rank}/search",
        "/api/profiles/{slug}/ranks/{rank}/selection",
        "/api/profiles/{slug}/ranks/{rank}/summary",
    ];

    /// Path and query, relative to the server.
    #[must_use]
    pub fn path(&self) -> String {
        let mut path = String::from("/api/profiles");
        // Writing to a string cannot fail.
        let _ = self.write(&mut path);
        path
    }

    fn write(&self, path: &mut String) -> fmt::Result {
        match self {
            Self::Profiles => Ok(()),
            Self::Profile(profile) => write!(path, "/{}", percent_encoded(profile)),
            Self::OfRank(RankId { profile, rank }, question) => {
                write!(path, "/{}/ranks/{rank}", percent_encoded(profile))?;
                question.write(path)
            }
        }
    }

    /// Reads a path and what stands behind its question mark. Unknown parameters are passed over.
    ///
    /// # Errors
    /// `NotFound` if no question has this path, `BadQuestion` if a parameter is missing or wrong.
    pub fn parse(path: &str, query: &str) -> Result<Self, Refusal> {
        let parts: Option<Vec<String>> = path.split('/').map(percent_decoded).collect();
        let parts = parts.ok_or_else(|| no_path(path))?;
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        match parts[..] {
            ["", "api", "profiles"] => Ok(Self::Profiles),
            ["", "api", "profiles", profile] if !profile.is_empty() => Ok(Self::Profile(profile.to_owned())),
            ["", "api", "profiles", profile, "ranks", rank, ref rest @ ..] if !profile.is_empty() => {
                let id = RankId { profile: profile.to_owned(), rank: number("rank", rank)? };
                let question = RankQuestion::parse(rest, &Parameters::new(query)?)?;
                Ok(Self::OfRank(id, question.ok_or_else(|| no_path(path))?))
            }
            _ => Err(no_path(path)),
        }
    }
}

impl RankQuestion {
    fn write(&self, path: &mut String) -> fmt::Result {
        match self {
            Self::Detail => Ok(()),
            Self::Tile { content, id } => {
                let TileId { group, level, index } = id;
                write!(path, "/tiles/{}/{group}/{}/{index}", percent_encoded(content), level.number())
            }
            Self::Slice(row) => write!(path, "/slices/{row}"),
            Self::Step { row, direction, closed } => {
                write!(path, "/slices/{row}/step?direction={}", name_of(&DIRECTIONS, *direction))?;
                if closed.is_empty() { Ok(()) } else { write!(path, "&closed={}", Numbers(closed)) }
            }
            Self::Counter { track, at_ps, span } => {
                write!(path, "/counters/{track}?at_ps={at_ps}&{}", Span(*span))
            }
            Self::Events { span, tracks, limit } => {
                write!(path, "/events?{}", Span(*span))?;
                write_tracks(path, tracks.as_deref())?;
                write!(path, "&limit={limit}")
            }
            Self::Search(SearchQuery { text, syntax, at, toward, limit }) => {
                let (text, syntax) = (percent_encoded(text), name_of(&SYNTAXES, *syntax));
                write!(path, "/search?q={text}&syntax={syntax}&at_ps={}&at_row={}", at.start_ps, at.row)?;
                write!(path, "&direction={}&limit={limit}", name_of(&TOWARDS, *toward))
            }
            Self::Selection { span, tracks } => {
                write!(path, "/selection?{}", Span(*span))?;
                write_tracks(path, tracks.as_deref())
            }
            Self::Summary => path.write_str("/summary"),
        }
    }

    /// `None` if no question about a rank has this path.
    fn parse(path: &[&str], parameters: &Parameters<'_>) -> Result<Option<Self>, Refusal> {
        Ok(Some(match *path {
            [] => Self::Detail,
            ["tiles", content, group, level, index] => {
                let (level, index) = (number("level", level)?, number("index", index)?);
                Self::Tile {
                    content: content.to_owned(),
                    id: TileId { group: number("group", group)?, level: level_of(level)?, index },
                }
            }
            ["slices", row] => Self::Slice(number("row", row)?),
            ["slices", row, "step"] => Self::Step {
                row: number("row", row)?,
                direction: parameters.word("direction", &DIRECTIONS)?.ok_or_else(|| missing("direction"))?,
                closed: parameters.numbers("closed")?.unwrap_or_default(),
            },
            ["counters", track] => Self::Counter {
                track: number("track", track)?,
                at_ps: parameters.wanted("at_ps")?,
                span: parameters.span()?,
            },
            ["events"] => Self::Events {
                span: parameters.span()?,
                tracks: parameters.numbers("tracks")?,
                limit: parameters.number("limit")?.unwrap_or(DEFAULT_LIMIT),
            },
            ["search"] => Self::Search(parameters.search()?),
            ["selection"] => {
                Self::Selection { span: parameters.span()?, tracks: parameters.numbers("tracks")? }
            }
            ["summary"] => Self::Summary,
            _ => return Ok(None),
        }))
    }
}

/// Words of the grammar, with what they mean.
type Words<T, const N: usize> = [(&'static str, T); N];

const DIRECTIONS: Words<Direction, 4> = [
    ("next", Direction::Next),
    ("previous", Direction::Previous),
    ("up", Direction::Up),
    ("down", Direction::Down),
];
const SYNTAXES: Words<Syntax, 2> = [("text", Syntax::Text), ("regex", Syntax::Regex)];
const TOWARDS: Words<Toward, 3> =
    [("next", Toward::Next), ("previous", Toward::Previous), ("around", Toward::Around)];

fn name_of<T: PartialEq + Copy, const N: usize>(words: &Words<T, N>, meaning: T) -> &'static str {
    // Every value is in its table: a test goes through all of them.
    words.iter().find(|(_, known)| *known == meaning).map_or("", |(name, _)| name)
}

/// The word for a syntax, in addresses of the page too.
#[must_use]
pub fn syntax_name(syntax: Syntax) -> &'static str {
    name_of(&SYNTAXES, syntax)
}

struct Span(Interval);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "start_ps={}&end_ps={}", self.0.start.0, self.0.end.0)
    }
}

/// Numbers with commas between.
struct Numbers<'a>(&'a [u32]);

impl fmt::Display for Numbers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(at, number)| match at {
            0 => write!(f, "{number}"),
            _ => write!(f, ",{number}"),
        })
    }
}

fn write_tracks(path: &mut String, tracks: Option<&[u32]>) -> fmt::Result {
    tracks.map_or(Ok(()), |tracks| write!(path, "&tracks={}", Numbers(tracks)))
}

/// What stands behind the question mark.
struct Parameters<'a>(Vec<(&'a str, String)>);

impl<'a> Parameters<'a> {
    fn new(query: &'a str) -> Result<Self, Refusal> {
        let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value =
                parameter_decoded(value).ok_or_else(|| wrong(name, "text in UTF-8, escaped with %"))?;
            Ok((name, value))
        });
        pairs.collect::<Result<_, _>>().map(Self)
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    fn number<T: FromStr>(&self, name: &str) -> Result<Option<T>, Refusal> {
        self.text(name).map(|text| number(name, text)).transpose()
    }

    fn wanted<T: FromStr>(&self, name: &str) -> Result<T, Refusal> {
        self.number(name)?.ok_or_else(|| missing(name))
    }

    /// The numbers in `tracks=3,5,7`.
    fn numbers(&self, name: &str) -> Result<Option<Vec<u32>>, Refusal> {
        let bad = |_| wrong(name, &format!("numbers with commas between: {name}=3,5,7"));
        let read = |text: &str| {
            let parts = text.split(',').filter(|part| !part.is_empty());
            parts.map(|part| part.trim().parse().map_err(bad)).collect()
        };
        self.text(name).map(read).transpose()
    }

    fn word<T: Copy, const N: usize>(&self, name: &str, words: &Words<T, N>) -> Result<Option<T>, Refusal> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let known = words.iter().find(|(word, _)| *word == text).map(|(_, meaning)| *meaning);
        known.map(Some).ok_or_else(|| {
            let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            wrong(name, &format!("one of {}", all.join(", ")))
        })
    }

    fn span(&self) -> Result<Interval, Refusal> {
        let (start_ps, end_ps) = (self.wanted("start_ps")?, self.wanted("end_ps")?);
        if start_ps > end_ps {
            return Err(Refusal::new(RefusalKind::BadQuestion, "end_ps is before start_ps"));
        }
        Ok(Interval::new(start_ps, end_ps))
    }

    fn search(&self) -> Result<SearchQuery, Refusal> {
        let toward = self.word("direction", &TOWARDS)?.unwrap_or_default();
        let at = match (self.number("at_ps")?, self.number("at_row")?) {
            (Some(start_ps), row) => HitPlace { start_ps, row: row.unwrap_or_default() },
            (None, None) if toward == Toward::Previous => HitPlace::LAST,
            (None, None) => HitPlace::FIRST,
            (None, Some(_)) => {
                let what = "at_row needs at_ps: give the start of that row";
                return Err(Refusal::new(RefusalKind::BadQuestion, what));
            }
        };
        Ok(SearchQuery {
            text: self.text("q").ok_or_else(|| missing("q"))?.to_owned(),
            syntax: self.word("syntax", &SYNTAXES)?.unwrap_or_default(),
            at,
            toward,
            limit: self.number("limit")?.unwrap_or(DEFAULT_LIMIT),
        })
    }
}

fn level_of(number: u8) -> Result<Level, Refusal> {
    Level::new(number).ok_or_else(|| {
        let coarsest = Level::COARSEST.number();
        Refusal::new(RefusalKind::NotFound, format!("there is no level {number}; the coarsest is {coarsest}"))
    })
}

fn number<T: FromStr>(name: &str, text: &str) -> Result<T, Refusal> {
    text.parse().map_err(|_| wrong(name, &format!("a whole number in range, not `{text}`")))
}

fn missing(name: &str) -> Refusal {
    Refusal::new(RefusalKind::BadQuestion, format!("the parameter {name} is missing"))
}

fn wrong(name: &str, expected: &str) -> Refusal {
    Refusal::new(RefusalKind::BadQuestion, format!("the parameter {name} should be {expected}"))
}

fn no_path(path: &str) -> Refusal {
    Refusal::new(
        RefusalKind::NotFound,
        format!("there is nothing at {path}; /api/openapi.json tells what there is"),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn spans() -> impl Strategy<Value = Interval> {
        (any::<i64>(), any::<i64>()).prop_map(|(a, b)| Interval::new(a.min(b), a.max(b)))
    }

    fn tracks() -> impl Strategy<Value = Option<Vec<u32>>> {
        prop::option::of(prop::collection::vec(any::<u32>(), 0..4))
    }

    fn meaning<T: Copy + fmt::Debug + 'static, const N: usize>(
        words: &Words<T, N>,
    ) -> impl Strategy<Value = T> + use<T, N> {
        prop::sample::select(words.iter().map(|(_, meaning)| *meaning).collect::<Vec<_>>())
    }

    fn searches() -> impl Strategy<Value = SearchQuery> {
        let at = (any::<i64>(), any::<u32>()).prop_map(|(start_ps, row)| HitPlace { start_ps, row });
        ("\\PC{0,12}", meaning(&SYNTAXES), at, meaning(&TOWARDS), any::<u32>())
            .prop_map(|(text, syntax, at, toward, limit)| SearchQuery { text, syntax, at, toward, limit })
    }

    fn of_rank() -> impl Strategy<Value = RankQuestion> {
        let level = (0..=Level::COARSEST.number()).prop_map(|number| Level::new(number).unwrap());
        let tile =
            ("\\PC{1,12}", any::<u32>(), level, any::<i64>()).prop_map(|(content, group, level, index)| {
                RankQuestion::Tile { content, id: TileId { group, level, index } }
            });
        let step = (any::<u32>(), meaning(&DIRECTIONS), prop::collection::vec(any::<u32>(), 0..4))
            .prop_map(|(row, direction, closed)| RankQuestion::Step { row, direction, closed });
        prop_oneof![
            Just(RankQuestion::Detail),
            Just(RankQuestion::Summary),
            tile,
            any::<u32>().prop_map(RankQuestion::Slice),
            step,
            (any::<u32>(), any::<i64>(), spans()).prop_map(|(track, at_ps, span)| RankQuestion::Counter {
                track,
                at_ps,
                span
            }),
            (spans(), tracks(), any::<u32>()).prop_map(|(span, tracks, limit)| RankQuestion::Events {
                span,
                tracks,
                limit
            }),
            searches().prop_map(RankQuestion::Search),
            (spans(), tracks()).prop_map(|(span, tracks)| RankQuestion::Selection { span, tracks }),
        ]
    }

    fn questions() -> impl Strategy<Value = Question> {
        let rank = ("\\PC{1,12}", any::<u32>()).prop_map(|(profile, rank)| RankId { profile, rank });
        prop_oneof![
            1 => Just(Question::Profiles),
            1 => "\\PC{1,12}".prop_map(Question::Profile),
            9 => (rank, of_rank()).prop_map(|(id, question)| Question::OfRank(id, question)),
        ]
    }

    fn parse(path: &str) -> Result<Question, Refusal> {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        Question::parse(path, query)
    }

    /// The template of a path: what [`Question::PATHS`] lists.
    fn fits(template: &str, path: &str) -> bool {
        let path = path.split('?').next().unwrap_or_default();
        let (template, path): (Vec<_>, Vec<_>) = (template.split('/').collect(), path.split('/').collect());
        template.len() == path.len()
            && template.iter().zip(&path).all(|(part, given)| part.starts_with('{') || part == given)
    }

    proptest! {
        #[test]
        fn reading_what_was_written_gives_the_same_question(question in questions()) {
            prop_assert_eq!(parse(&question.path()), Ok(question));
        }

        #[test]
        fn every_path_is_in_the_list(question in questions()) {
            let path = question.path();
            prop_assert!(Question::PATHS.iter().any(|template| fits(template, &path)), "{}", path);
        }

        #[test]
        fn any_text_is_read_or_refused(path in "(/(api|profiles|ranks|slices|step|1|%4|\\PC{0,4})){0,8}", query in "\\PC{0,40}") {
            let _ = Question::parse(&path, &query);
        }
    }

    #[track_caller]
    fn check_refused(path: &str, kind: RefusalKind, message: &str) {
        let refusal = parse(path).unwrap_err();
        assert_eq!(refusal.kind, kind, "{refusal}");
        assert!(refusal.message.contains(message), "{refusal}");
    }

    #[test]
    fn refusals_name_the_parameter() {
        use RefusalKind::{BadQuestion, NotFound};
        check_refused("/api/profiles/a/ranks/x", BadQuestion, "rank should be a whole number");
        check_refused("/api/profiles/a/ranks/0/nothing", NotFound, "/api/openapi.json");
        check_refused("/api/profiles//ranks/0", NotFound, "nothing at");
        check_refused("/api/profiles/a/ranks/0/events?start_ps=1", BadQuestion, "end_ps is missing");
        check_refused("/api/profiles/a/ranks/0/events?start_ps=2&end_ps=1", BadQuestion, "before start_ps");
        check_refused("/api/profiles/a/ranks/0/slices/1/step?direction=in", BadQuestion, "next, previous");
        check_refused("/api/profiles/a/ranks/0/search?at_row=1&q=a", BadQuestion, "at_row needs at_ps");
        check_refused(
            "/api/profiles/a/ranks/0/selection?start_ps=0&end_ps=1&tracks=a",
            BadQuestion,
            "tracks=3,5,7",
        );
        check_refused("/api/profiles/a/ranks/0/tiles/c/0/44/0", NotFound, "the coarsest is 43");
    }

    #[test]
    fn a_search_by_hand_needs_only_its_text() {
        let by_hand = parse("/api/profiles/a/ranks/0/search?q=all+to%20all").unwrap();
        let search = SearchQuery {
            text: "all to all".to_owned(),
            syntax: Syntax::Text,
            at: HitPlace::FIRST,
            toward: Toward::Next,
            limit: DEFAULT_LIMIT,
        };
        let id = RankId { profile: "a".to_owned(), rank: 0 };
        assert_eq!(by_hand, Question::OfRank(id, RankQuestion::Search(search)));
    }

    #[test]
    fn limits_are_kept() {
        assert_eq!((limited(7), limited(u32::MAX)), (7, 100_000));
    }
}
