//! Questions: all queries to a store of profiles, and the path of each query.
//!
//! This is the only grammar of questions. The page writes paths with [`Question::path`], and the
//! server reads them with [`Question::parse`]. A page with embedded segments needs no path.
//! Invariant: `parse(path(question)) = question`.

mod parameters;

use std::fmt::{self, Write};

use self::parameters::{DIRECTIONS, Parameters, SYNTAXES, TOWARDS, missing, name_of, number};
use super::catalog::{rank_of_word, rank_word};
use super::percent::{percent_decoded, percent_encoded};
use super::refusal::{Refusal, RefusalKind};
use crate::analysis::joint::Sense;
use crate::base::Interval;
use crate::query::{Direction, HitPage, HitPlace, Syntax};
use crate::tile::{Level, TileId};

pub use self::parameters::{syntax_name, syntax_of};

/// A question to a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// All profiles: [`super::catalog::ProfileList`].
    Profiles,
    /// One profile: [`super::catalog::ProfileInfo`].
    Profile(String),
    /// A question about a rank of a profile.
    OfRank(RankId, RankQuestion),
}

/// A rank of a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankId {
    /// The profile's name or id.
    pub profile: String,
    /// The number of the rank, or [`super::catalog::ALL_RANKS`].
    pub rank: u32,
}

/// A question about a rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RankQuestion {
    /// Tracks, tables and warnings: [`super::catalog::RankDetail`].
    Detail,
    /// A tile of the segment with this content: [`super::tile::Tile`].
    Tile {
        /// The segment's content identifier. The path's answer then never changes.
        content: String,
        /// Grid position of the tile.
        id: TileId,
    },
    /// Details of a slice: [`super::detail::SliceDetail`].
    Slice(u32),
    /// The slice to which a step from a slice leads: [`super::detail::SliceDetail`], or nothing.
    Step {
        /// The row of the slice to step from.
        row: u32,
        /// Target of the step.
        to: StepTo,
        /// Groups whose tracks are skipped.
        closed: Vec<u32>,
    },
    /// The rows of a table: [`super::rows::TableRows`].
    Rows {
        /// Name of the table.
        table: String,
        /// Only rows that overlap this span. For slices and samples.
        span: Option<Interval>,
        /// Only rows of these tracks. For slices and samples.
        tracks: Option<Vec<u32>>,
        /// Maximum number of rows.
        limit: u32,
    },
    /// Values of a counter at a time and over a span: [`super::counter::CounterDetail`].
    Counter {
        /// The counter's track.
        track: u32,
        /// The time, in picoseconds since the profile's origin.
        at_ps: i64,
        /// The span.
        span: Interval,
    },
    /// The slices in a span: [`super::window::WindowEvents`].
    Events {
        /// The span.
        span: Interval,
        /// Tracks; `None` for all.
        tracks: Option<Vec<u32>>,
        /// Maximum number of slices.
        limit: u32,
    },
    /// The slices with a text that matches: [`super::search::SearchResult`].
    Search(SearchQuery),
    /// Statistics of a span: [`super::selection::SelectionSummary`].
    Selection {
        /// The span.
        span: Interval,
        /// Tracks; `None` for all.
        tracks: Option<Vec<u32>>,
    },
    /// The metrics: [`super::summary::Summary`].
    Summary,
    /// Waiting of ranks over time, of what all ranks show together: [`super::waits::WaitSteps`].
    Waits {
        /// The span.
        span: Interval,
        /// Maximum number of steps.
        steps: u32,
        /// Ranks; `None` for all.
        ranks: Option<Vec<u32>>,
    },
}

/// Target of a step from a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepTo {
    /// The slice beside it.
    Slice(Direction),
    /// The operation before or after its own one, of the same communicator and kind: in what all
    /// ranks show together.
    Operation(Sense),
}

/// A search, and the hits to describe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchQuery {
    /// The text or the regular expression.
    pub text: String,
    /// Syntax of the text.
    pub syntax: Syntax,
    /// Place in the order of hits.
    pub at: HitPlace,
    /// Side of the place.
    pub toward: Toward,
    /// Maximum number of hits.
    pub limit: u32,
}

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

impl SearchQuery {
    /// The requested page of hits.
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

/// Default number of slices of a window, hits of a search or rows of a table.
const DEFAULT_LIMIT: u32 = 1_000;
/// Maximum number of slices or hits in one answer.
const MAX_LIMIT: u32 = 100_000;

/// Default number of steps of waiting over time.
const DEFAULT_STEPS: u32 = 256;

/// The limit, clamped to the maximum.
#[must_use]
pub fn limited(limit: u32) -> usize {
    limit.min(MAX_LIMIT) as usize
}

/// Maximum number of rows of a table in one answer.
const MAX_ROWS: u32 = 1_000_000;

/// The limit of rows of a table, clamped to the maximum.
#[must_use]
pub fn limited_rows(limit: u32) -> usize {
    limit.min(MAX_ROWS) as usize
}

impl Question {
    /// Path templates of all questions, with parameters in braces.
    pub const PATHS: [&str; 13] = [
        "/api/profiles",
        "/api/profiles/{slug}",
        "/api/profiles/{slug}/ranks/{rank}",
        "/api/profiles/{slug}/ranks/{rank}/tiles/{content}/{group}/{level}/{index}",
        "/api/profiles/{slug}/ranks/{rank}/slices/{row}",
        "/api/profiles/{slug}/ranks/{rank}/slices/{row}/step",
        "/api/profiles/{slug}/ranks/{rank}/tables/{table}",
        "/api/profiles/{slug}/ranks/{rank}/counters/{track}",
        "/api/profiles/{slug}/ranks/{rank}/events",
        "/api/profiles/{slug}/ranks/{rank}/search",
        "/api/profiles/{slug}/ranks/{rank}/selection",
        "/api/profiles/{slug}/ranks/{rank}/summary",
        "/api/profiles/{slug}/ranks/{rank}/waits",
    ];

    /// Path and query string, relative to the server.
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
                write!(path, "/{}/ranks/{}", percent_encoded(profile), rank_word(*rank))?;
                question.write(path)
            }
        }
    }

    /// Parses a path and its query string. Unknown parameters are ignored.
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
                let rank = match rank_of_word(rank) {
                    Some(rank) => rank,
                    None => number("rank", rank)?,
                };
                let id = RankId { profile: profile.to_owned(), rank };
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
            Self::Step { row, to, closed } => {
                write!(path, "/slices/{row}/step?direction={}", name_of(&DIRECTIONS, *to))?;
                if closed.is_empty() { Ok(()) } else { write!(path, "&closed={}", Numbers(closed)) }
            }
            Self::Rows { table, span, tracks, limit } => {
                write!(path, "/tables/{}?limit={limit}", percent_encoded(table))?;
                span.map_or(Ok(()), |span| write!(path, "&{}", Span(span)))?;
                write_tracks(path, tracks.as_deref())
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
            Self::Waits { span, steps, ranks } => {
                write!(path, "/waits?{}&steps={steps}", Span(*span))?;
                ranks.as_ref().map_or(Ok(()), |ranks| write!(path, "&ranks={}", Numbers(ranks)))
            }
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
                to: parameters.word("direction", &DIRECTIONS)?.ok_or_else(|| missing("direction"))?,
                closed: parameters.numbers("closed")?.unwrap_or_default(),
            },
            ["tables", table] if !table.is_empty() => Self::Rows {
                table: table.to_owned(),
                span: parameters.span_if_any()?,
                tracks: parameters.numbers("tracks")?,
                limit: parameters.number("limit")?.unwrap_or(DEFAULT_LIMIT),
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
            ["waits"] => Self::Waits {
                span: parameters.span()?,
                steps: parameters.number("steps")?.unwrap_or(DEFAULT_STEPS),
                ranks: parameters.numbers("ranks")?,
            },
            _ => return Ok(None),
        }))
    }
}

struct Span(Interval);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "start_ps={}&end_ps={}", self.0.start.0, self.0.end.0)
    }
}

/// Numbers separated by commas.
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

fn level_of(number: u8) -> Result<Level, Refusal> {
    Level::new(number).ok_or_else(|| {
        let coarsest = Level::COARSEST.number();
        Refusal::new(
            RefusalKind::NotFound,
            format!("level {number} does not exist; the coarsest level is {coarsest}"),
        )
    })
}

fn no_path(path: &str) -> Refusal {
    Refusal::new(
        RefusalKind::NotFound,
        format!("there is no resource at {path}; /api/openapi.json lists all of them"),
    )
}

#[cfg(test)]
mod tests;
