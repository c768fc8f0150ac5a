//! The source of all answers on the page. Components ask a [`Source`] and do not know whether a
//! server or the page's own file answers.

use leptos::prelude::expect_context;
use nprof_engine::base::Interval;
use nprof_engine::tile::TileId;
use nprof_engine::wire::catalog::{ProfileInfo, ProfileList, RankDetail};
use nprof_engine::wire::counter::CounterDetail;
use nprof_engine::wire::detail::{SliceDetail, SliceEntry};
use nprof_engine::wire::question::{Question, RankId, RankQuestion, SearchQuery, StepTo};
use nprof_engine::wire::rows::TableRows;
use nprof_engine::wire::search::SearchResult;
use nprof_engine::wire::selection::SelectionSummary;
use nprof_engine::wire::summary::Summary;
use nprof_engine::wire::waits::WaitSteps;
use nprof_engine::wire::window::WindowEvents;
use serde::de::DeserializeOwned;
use web_sys::AbortSignal;

use super::decode::{self, PackedTile};
use super::embedded::Embedded;
use super::error::FetchError;
use super::server::{Form, Server};
use crate::view::Axis;

/// The source of answers; a context of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The server that delivered the page.
    Server(Server),
    /// The page's own file.
    Embedded(Embedded),
}

impl Source {
    /// Determines the source of this page.
    #[must_use]
    pub fn find() -> Self {
        Embedded::of_page().map_or(Self::Server(Server), Self::Embedded)
    }

    /// The page's source.
    #[must_use]
    pub fn of_page() -> Self {
        expect_context()
    }

    /// The server, for operations that only a server supports: ingest, delete.
    ///
    /// # Errors
    /// `Unreachable` if the page has no server.
    pub fn server(self) -> Result<Server, FetchError> {
        match self {
            Self::Server(server) => Ok(server),
            Self::Embedded(_) => Err(FetchError::Unreachable),
        }
    }

    /// The profile embedded in the page, if the page has no server.
    #[must_use]
    pub fn embedded(self) -> Option<Embedded> {
        match self {
            Self::Server(_) => None,
            Self::Embedded(embedded) => Some(embedded),
        }
    }

    /// All profiles.
    ///
    /// # Errors
    /// [`FetchError`] says what happened in words for people. This holds for every question.
    pub async fn profiles(self) -> Result<ProfileList, FetchError> {
        self.message(&Question::Profiles, None).await
    }

    /// One profile.
    ///
    /// # Errors
    /// See [`Source::profiles`].
    pub async fn profile(self, name: &str) -> Result<ProfileInfo, FetchError> {
        self.message(&Question::Profile(name.to_owned()), None).await
    }

    /// The source of one rank of a profile.
    #[must_use]
    pub fn rank(self, profile: String, rank: u32) -> RankSource {
        RankSource { source: self, id: RankId { profile, rank }, axis: Axis::default() }
    }

    async fn bytes(self, question: &Question, cancel: Option<&AbortSignal>) -> Result<Vec<u8>, FetchError> {
        match self {
            Self::Server(server) => server.ask(question, Form::Message, cancel).await,
            Self::Embedded(embedded) => embedded.ask(question, cancel).await,
        }
    }

    async fn tile(self, question: &Question, cancel: &AbortSignal) -> Result<PackedTile, FetchError> {
        match self {
            Self::Server(server) => {
                server.ask(question, Form::Frame, Some(cancel)).await.map(PackedTile::Frame)
            }
            Self::Embedded(embedded) => embedded.ask(question, Some(cancel)).await.map(PackedTile::Message),
        }
    }

    async fn message<T: DeserializeOwned>(
        self,
        question: &Question,
        cancel: Option<&AbortSignal>,
    ) -> Result<T, FetchError> {
        decode::message(&self.bytes(question, cancel).await?)
    }
}

/// The source of answers about one rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankSource {
    source: Source,
    id: RankId,
    axis: Axis,
}

impl RankSource {
    /// The same source for a rank with this axis. All times of questions and answers but those of
    /// tiles are shared times.
    #[must_use]
    pub fn on_axis(self, axis: Axis) -> Self {
        Self { axis, ..self }
    }

    /// Tracks, tables and warnings of the rank.
    ///
    /// # Errors
    /// See [`Source::profiles`].
    pub async fn detail(self) -> Result<RankDetail, FetchError> {
        self.ask(RankQuestion::Detail, None).await
    }

    /// A tile of the segment with this content.
    ///
    /// # Errors
    /// See [`Source::profiles`]. [`FetchError::Cancelled`] after the signal.
    pub async fn tile(
        self,
        content: String,
        id: TileId,
        cancel: &AbortSignal,
    ) -> Result<PackedTile, FetchError> {
        let question = Question::OfRank(self.id, RankQuestion::Tile { content, id });
        self.source.tile(&question, cancel).await
    }

    /// All details of a slice.
    ///
    /// # Errors
    /// See [`Source::profiles`].
    pub async fn slice(self, row: u32) -> Result<SliceDetail, FetchError> {
        let axis = self.axis;
        self.ask(RankQuestion::Slice(row), None).await.map(|detail| axis.moved_detail(detail))
    }

    /// All details of a slice, unless the signal comes first.
    ///
    /// # Errors
    /// See [`RankSource::tile`].
    pub async fn slice_unless(self, row: u32, cancel: &AbortSignal) -> Result<SliceDetail, FetchError> {
        let axis = self.axis;
        self.ask(RankQuestion::Slice(row), Some(cancel)).await.map(|detail| axis.moved_detail(detail))
    }

    /// All details of the neighbour of this slice. `None` if there is none. Steps up and down skip
    /// the tracks below the groups in `closed`.
    ///
    /// # Errors
    /// See [`Source::profiles`].
    pub async fn step(
        self,
        row: u32,
        to: StepTo,
        closed: Vec<u32>,
    ) -> Result<Option<SliceDetail>, FetchError> {
        let question = Question::OfRank(self.id, RankQuestion::Step { row, to, closed });
        let bytes = self.source.bytes(&question, None).await?;
        // An empty answer means no neighbour: no message is empty.
        if bytes.is_empty() {
            return Ok(None);
        }
        decode::message(&bytes).map(|detail| Some(self.axis.moved_detail(detail)))
    }

    /// The value of a counter, by track number, at a timestamp, and its values over a span.
    ///
    /// # Errors
    /// See [`RankSource::tile`].
    pub async fn counter(
        self,
        (track, at_ps): (u32, i64),
        span: Interval,
        cancel: &AbortSignal,
    ) -> Result<CounterDetail, FetchError> {
        let axis = self.axis;
        let (at_ps, span) = (axis.local(at_ps), axis.local_span(span));
        let question = RankQuestion::Counter { track, at_ps, span };
        self.ask(question, Some(cancel)).await.map(|counter| axis.moved_counter(counter))
    }

    /// The first rows of a table; of slices and samples only those in `span`, if there is one.
    ///
    /// # Errors
    /// See [`RankSource::tile`].
    pub async fn rows(
        self,
        table: String,
        span: Option<Interval>,
        limit: u32,
        cancel: &AbortSignal,
    ) -> Result<TableRows, FetchError> {
        let axis = self.axis;
        let span = span.map(|span| axis.local_span(span));
        let question = RankQuestion::Rows { table, span, tracks: None, limit };
        self.ask(question, Some(cancel)).await.map(|rows| axis.moved_rows(rows))
    }

    /// The first rows of a table; of slices and samples only those in `span`, if there is one.
    /// Nothing cancels the question.
    ///
    /// # Errors
    /// See [`Source::profiles`].
    pub async fn all_rows(
        self,
        table: &str,
        span: Option<Interval>,
        limit: u32,
    ) -> Result<TableRows, FetchError> {
        let axis = self.axis;
        let (table, span) = (table.to_owned(), span.map(|span| axis.local_span(span)));
        let question = RankQuestion::Rows { table, span, tracks: None, limit };
        self.ask(question, None).await.map(|rows| axis.moved_rows(rows))
    }

    /// Slices of a table in a track and a span, the earliest first.
    ///
    /// # Errors
    /// See [`Source::profiles`].
    pub async fn rows_of_track(
        self,
        table: &str,
        track: u32,
        span: Interval,
        limit: u32,
    ) -> Result<TableRows, FetchError> {
        let axis = self.axis;
        let (table, span, tracks) = (table.to_owned(), Some(axis.local_span(span)), Some(vec![track]));
        let question = RankQuestion::Rows { table, span, tracks, limit };
        self.ask(question, None).await.map(|rows| axis.moved_rows(rows))
    }

    /// The slices of a track in a span, the earliest first.
    ///
    /// # Errors
    /// See [`Source::profiles`].
    pub async fn slices_of_track(
        self,
        track: u32,
        span: Interval,
        limit: u32,
    ) -> Result<Vec<SliceEntry>, FetchError> {
        let axis = self.axis;
        let (span, tracks) = (axis.local_span(span), Some(vec![track]));
        let events: WindowEvents = self.ask(RankQuestion::Events { span, tracks, limit }, None).await?;
        let mut slices = events.slices;
        slices.iter_mut().for_each(|slice| axis.move_slice(slice));
        Ok(slices)
    }

    /// The slices of all tracks in a span, track by track.
    ///
    /// # Errors
    /// See [`Source::profiles`].
    pub async fn events(self, span: Interval, limit: u32) -> Result<WindowEvents, FetchError> {
        let axis = self.axis;
        let question = RankQuestion::Events { span: axis.local_span(span), tracks: None, limit };
        let mut events: WindowEvents = self.ask(question, None).await?;
        events.slices.iter_mut().for_each(|slice| axis.move_slice(slice));
        Ok(events)
    }

    /// The waiting of these ranks over time, and its range over all ranks. For all ranks together,
    /// whose times are the shared ones.
    ///
    /// # Errors
    /// See [`RankSource::tile`].
    pub async fn waits(
        self,
        span: Interval,
        steps: u32,
        ranks: Vec<u32>,
        cancel: &AbortSignal,
    ) -> Result<WaitSteps, FetchError> {
        self.ask(RankQuestion::Waits { span, steps, ranks: Some(ranks) }, Some(cancel)).await
    }

    /// The hits of a search.
    ///
    /// # Errors
    /// See [`RankSource::tile`]. A refusal of the kind `BadPattern` explains the mistake in a
    /// pattern.
    pub async fn search(self, search: SearchQuery, cancel: &AbortSignal) -> Result<SearchResult, FetchError> {
        let axis = self.axis;
        let search = SearchQuery { at: axis.local_place(search.at), ..search };
        self.ask(RankQuestion::Search(search), Some(cancel)).await.map(|result| axis.moved_hits(result))
    }

    /// Statistics of the slices in a span.
    ///
    /// # Errors
    /// See [`RankSource::tile`].
    pub async fn selection(
        self,
        span: Interval,
        cancel: &AbortSignal,
    ) -> Result<SelectionSummary, FetchError> {
        let axis = self.axis;
        let question = RankQuestion::Selection { span: axis.local_span(span), tracks: None };
        let answer = self.ask(question, Some(cancel)).await;
        answer.map(|summary| axis.moved_selection(summary, span))
    }

    /// Metrics of the rank.
    ///
    /// # Errors
    /// See [`Source::profiles`].
    pub async fn summary(self) -> Result<Summary, FetchError> {
        self.ask(RankQuestion::Summary, None).await
    }

    async fn ask<T: DeserializeOwned>(
        self,
        question: RankQuestion,
        cancel: Option<&AbortSignal>,
    ) -> Result<T, FetchError> {
        self.source.message(&Question::OfRank(self.id, question), cancel).await
    }
}
