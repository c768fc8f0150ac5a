//! Questions to one rank. Each is one synchronous call of the engine; the page asks its embedded segments the same.

use std::time::{Duration, Instant};

use axum::extract::State;
use axum::response::Response;
use nprof_engine::base::{Error, Interval};
use nprof_engine::native::AllCores;
use nprof_engine::query::{HitPage, HitPlace, Pattern};
use nprof_engine::wire::answer;
use nprof_engine::wire::catalog::WarningEntry;
use nprof_engine::wire::summary::Summary;
use serde::{Deserialize, Serialize};

use super::blocking;
use super::path::{At, With};
use super::reply::{self, Form};
use super::waiting::Waiting;
use crate::app::{App, OpenRank};
use crate::error::ApiError;
use crate::warnings;

/// Slices of a window or hits of a search, where the request does not say how many.
const DEFAULT_LIMIT: usize = 1_000;
/// Longest search. Only a regular expression made to take long needs more than a second.
const SEARCH_TIME: Duration = Duration::from_secs(10);
/// At most this many in one answer.
const MAX_LIMIT: usize = 100_000;

/// Which rank.
#[derive(Debug, Deserialize)]
pub struct RankPath {
    slug: String,
    rank: u32,
}

/// Which slice.
#[derive(Debug, Deserialize)]
pub struct SlicePath {
    slug: String,
    rank: u32,
    row: u32,
}

/// Where to step.
#[derive(Debug, Deserialize)]
pub struct StepQuery {
    direction: Direction,
    closed: Option<String>,
}

/// A direction in the timeline.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The slice before it in its lane.
    Previous,
    /// The next slice in its lane.
    Next,
    /// The nearest slice in the lane above, then in the track above.
    Up,
    /// The nearest slice in the lane below, then in the track below.
    Down,
}

impl From<Direction> for nprof_engine::query::Direction {
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::Previous => Self::Previous,
            Direction::Next => Self::Next,
            Direction::Up => Self::Up,
            Direction::Down => Self::Down,
        }
    }
}

/// A span of time, and tracks.
#[derive(Debug, Deserialize)]
pub struct SpanQuery {
    start_ps: i64,
    end_ps: i64,
    tracks: Option<String>,
    limit: Option<usize>,
}

impl SpanQuery {
    fn interval(&self) -> Result<Interval, ApiError> {
        if self.start_ps > self.end_ps {
            return Err(ApiError::BadRequest("end_ps is before start_ps".to_owned()));
        }
        Ok(Interval::new(self.start_ps, self.end_ps))
    }

    /// The numbers in `tracks=3,5,7`; `None` for all tracks.
    fn tracks(&self) -> Result<Option<Vec<u32>>, ApiError> {
        self.tracks.as_deref().map(|text| numbers("tracks", text)).transpose()
    }
}

/// The numbers of tracks in a parameter such as `tracks=3,5,7`.
fn numbers(name: &str, text: &str) -> Result<Vec<u32>, ApiError> {
    let bad = |_| ApiError::BadRequest(format!("{name} are numbers with commas between: {name}=3,5,7"));
    let parts = text.split(',').filter(|part| !part.is_empty());
    parts.map(|part| part.trim().parse().map_err(bad)).collect()
}

/// What to search.
#[derive(Debug, Deserialize)]
pub struct SearchQuery {
    q: String,
    #[serde(default)]
    syntax: Syntax,
    at_ps: Option<i64>,
    at_row: Option<u32>,
    #[serde(default)]
    direction: Toward,
    limit: Option<usize>,
}

/// Which hits a search describes, seen from a place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
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
    fn page(&self) -> Result<HitPage, ApiError> {
        let at = match (self.at_ps, self.at_row) {
            (Some(start_ps), row) => HitPlace { start_ps, row: row.unwrap_or_default() },
            (None, None) if self.direction == Toward::Previous => HitPlace::LAST,
            (None, None) => HitPlace::FIRST,
            (None, Some(_)) => {
                return Err(ApiError::BadRequest(
                    "at_row needs at_ps: give the start of that row".to_owned(),
                ));
            }
        };
        let limit = limit(self.limit);
        Ok(match self.direction {
            Toward::Next => HitPage::after(at, limit),
            Toward::Previous => HitPage::before(at, limit),
            Toward::Around => HitPage::around(at, limit),
        })
    }
}

/// How the query is read.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Syntax {
    /// The text itself.
    #[default]
    Text,
    /// A regular expression.
    Regex,
}

impl From<Syntax> for nprof_engine::query::Syntax {
    fn from(syntax: Syntax) -> Self {
        match syntax {
            Syntax::Text => Self::Text,
            Syntax::Regex => Self::Regex,
        }
    }
}

fn limit(asked: Option<usize>) -> usize {
    asked.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT)
}

/// Asks the rank's segment and replies.
pub(super) async fn ask<T: Serialize + Send + 'static>(
    app: App,
    slug: String,
    rank: u32,
    form: Form,
    question: impl FnOnce(&OpenRank) -> Result<T, ApiError> + Send + 'static,
) -> Result<Response, ApiError> {
    blocking(move || {
        let rank = app.rank(&slug, rank)?;
        form.reply(&question(&rank).map_err(|error| error.of(&slug, &rank))?)
    })
    .await
}

/// `GET …/ranks/{rank}`
pub async fn read(State(app): State<App>, At(at): At<RankPath>, form: Form) -> Result<Response, ApiError> {
    ask(app, at.slug, at.rank, form, |rank| {
        let mut detail = answer::rank_detail(&rank.segment, rank.file.entry())?;
        detail.names.clone_from(&rank.profile.manifest.names);
        let all = warnings::of_rank(&rank.file, rank.segment.footer()).into_iter();
        detail.warnings = all
            .map(|warning| WarningEntry {
                title: warning.kind.title().to_owned(),
                what: warning.what,
                first_place: warning.first_place,
                count: warning.count,
            })
            .collect();
        Ok(detail)
    })
    .await
}

/// `GET …/ranks/{rank}/slices/{row}`
pub async fn slice(State(app): State<App>, At(at): At<SlicePath>, form: Form) -> Result<Response, ApiError> {
    ask(app, at.slug, at.rank, form, move |rank| Ok(answer::slice(&rank.segment, at.row)?)).await
}

/// `GET …/ranks/{rank}/slices/{row}/step?direction=&closed=`
///
/// Answers with status 204 where there is no slice in that direction.
pub async fn step(
    State(app): State<App>,
    At(at): At<SlicePath>,
    With(query): With<StepQuery>,
    form: Form,
) -> Result<Response, ApiError> {
    let closed = query.closed.as_deref().map(|text| numbers("closed", text)).transpose()?.unwrap_or_default();
    blocking(move || {
        let rank = app.rank(&at.slug, at.rank)?;
        let beside = answer::step(&rank.segment, at.row, query.direction.into(), &closed)
            .map_err(|error| ApiError::from(error).of(&at.slug, &rank))?;
        beside.map_or_else(|| Ok(reply::nothing()), |detail| form.reply(&detail))
    })
    .await
}

/// `GET …/ranks/{rank}/events?start_ps=&end_ps=&tracks=&limit=`
pub async fn events(
    State(app): State<App>,
    At(at): At<RankPath>,
    With(query): With<SpanQuery>,
    form: Form,
) -> Result<Response, ApiError> {
    let (window, tracks) = (query.interval()?, query.tracks()?);
    ask(app, at.slug, at.rank, form, move |rank| {
        Ok(answer::window(&rank.segment, window, tracks.as_deref(), limit(query.limit))?)
    })
    .await
}

/// `GET …/ranks/{rank}/search?q=&syntax=&at_ps=&at_row=&direction=&limit=`
pub async fn search(
    State(app): State<App>,
    At(at): At<RankPath>,
    With(query): With<SearchQuery>,
    form: Form,
) -> Result<Response, ApiError> {
    let pattern = Pattern::new(&query.q, query.syntax.into());
    let pattern = pattern.map_err(|error| ApiError::BadRequest(error.to_string()))?;
    let page = query.page()?;
    let (waiting, wanted) = Waiting::new();
    let answer = ask(app, at.slug, at.rank, form, move |rank| {
        let until = Instant::now() + SEARCH_TIME;
        let goes_on = || wanted.is_wanted() && Instant::now() < until;
        match answer::search(&rank.segment, &pattern, page, &AllCores(&goes_on)) {
            Err(Error::Unwanted) => Err(ApiError::BadRequest(format!(
                "the search took longer than {} s: search for something narrower",
                SEARCH_TIME.as_secs()
            ))),
            answer => Ok(answer?),
        }
    })
    .await;
    drop(waiting);
    answer
}

/// `GET …/ranks/{rank}/selection?start_ps=&end_ps=&tracks=`
pub async fn selection(
    State(app): State<App>,
    At(at): At<RankPath>,
    With(query): With<SpanQuery>,
    form: Form,
) -> Result<Response, ApiError> {
    let (span, tracks) = (query.interval()?, query.tracks()?);
    let (waiting, wanted) = Waiting::new();
    let answer = ask(app, at.slug, at.rank, form, move |rank| {
        let goes_on = || wanted.is_wanted();
        Ok(answer::selection(&rank.segment, span, tracks.as_deref(), &AllCores(&goes_on))?)
    })
    .await;
    drop(waiting);
    answer
}

/// `GET …/ranks/{rank}/summary`
pub async fn summary(State(app): State<App>, At(at): At<RankPath>, form: Form) -> Result<Response, ApiError> {
    let shared = app.clone();
    ask(app, at.slug, at.rank, form, move |rank| Ok(Summary::clone(&*shared.summary(rank)?))).await
}
