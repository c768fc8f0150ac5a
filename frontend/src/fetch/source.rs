//! The source of all answers on the page. Components ask a [`Source`] and do not know whether a
//! server or the page's own file answers.

use leptos::prelude::expect_context;
use nprof_engine::wire::ask::{AnswerForm as _, AskRank, AskStore, RankId};
use nprof_engine::wire::message_times::move_to_shared;
use nprof_engine::wire::questions::{Question, RankQuestion, TileQuestion};
use nprof_engine::wire::rank_ref::RankRef;
use web_sys::AbortSignal;

use super::decode::{self, PackedTile};
use super::error::FetchError;
use super::page_bundle::Embedded;
use super::server::{AnswerEncoding, Server};
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

    /// The server, for operations that only a server supports: ingest, delete. `Unreachable` if the
    /// page has no server.
    pub fn server(self) -> Result<Server, FetchError> {
        if let Self::Server(server) = self { Ok(server) } else { Err(FetchError::Unreachable) }
    }

    /// The profile embedded in the page, if the page has no server.
    #[must_use]
    pub fn embedded(self) -> Option<Embedded> {
        if let Self::Embedded(embedded) = self { Some(embedded) } else { None }
    }

    /// The answer to a question about the store.
    pub async fn ask<Q: AskStore + Into<Question>>(self, question: Q) -> Result<Q::Answer, FetchError> {
        self.ask_until(question, None).await
    }

    /// The answer to a question about the store. [`FetchError::Cancelled`] after the signal.
    pub async fn ask_until<Q: AskStore + Into<Question>>(
        self,
        question: Q,
        cancel: Option<&AbortSignal>,
    ) -> Result<Q::Answer, FetchError> {
        decode::answer::<Q>(&self.bytes(&question.into(), AnswerEncoding::Message, cancel).await?)
    }

    /// The source of one rank of a profile.
    #[must_use]
    pub fn rank(self, profile: String, rank: RankRef) -> RankSource {
        RankSource { source: self, id: RankId { profile, rank }, axis: Axis::default() }
    }

    /// The bytes of an answer, from a server in this form, from the page's own file as a message.
    async fn bytes(
        self,
        question: &Question,
        form: AnswerEncoding,
        cancel: Option<&AbortSignal>,
    ) -> Result<Vec<u8>, FetchError> {
        match self {
            Self::Server(server) => server.ask(question, form, cancel).await,
            Self::Embedded(embedded) => embedded.ask(question, cancel).await,
        }
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

    /// The answer to a question about the rank. [`FetchError::Cancelled`] after the signal.
    pub async fn ask<Q: AskRank + Clone + Into<RankQuestion>>(
        self,
        question: Q,
        cancel: Option<&AbortSignal>,
    ) -> Result<Q::Answer, FetchError> {
        let Self { source, id, axis: Axis(clock) } = self;
        let mut local = question.clone();
        local.move_to_local(clock);
        let bytes =
            source.bytes(&Question::OfRank(id, local.into()), AnswerEncoding::Message, cancel).await?;
        let mut answer = decode::answer::<Q>(&bytes)?;
        answer.message_mut().into_iter().for_each(|message| move_to_shared(message, clock));
        question.restate(&mut answer);
        Ok(answer)
    }

    /// A tile, in the form in which the source has it.
    pub async fn tile(self, question: TileQuestion, cancel: &AbortSignal) -> Result<PackedTile, FetchError> {
        let question = Question::OfRank(self.id, question.into());
        let bytes = self.source.bytes(&question, AnswerEncoding::Frame, Some(cancel)).await?;
        Ok(match self.source {
            Source::Server(_) => PackedTile::Frame(bytes),
            Source::Embedded(_) => PackedTile::Message(bytes),
        })
    }
}
