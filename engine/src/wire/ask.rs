//! One call that answers every question. The server makes it for the page and for scripts; a page
//! that carries its segments makes it in a worker.

use serde::Serialize;

use super::answer;
use super::catalog::{ProfileInfo, ProfileList, RankDetail};
use super::counter::CounterDetail;
use super::detail::SliceDetail;
use super::question::{Question, RankId, RankQuestion, limited, limited_rows};
use super::refusal::{Refusal, RefusalKind};
use super::rows::TableRows;
use super::search::SearchResult;
use super::selection::SelectionSummary;
use super::summary::Summary;
use super::table_rows::{self, RowsWanted};
use super::tile::Tile;
use super::waits::WaitSteps;
use super::window::WindowEvents;
use crate::base::{Error, Result};
use crate::exec::Work;
use crate::query::{self, Pattern};
use crate::rank::RankView;
use crate::segment::Bytes;

/// Profiles that can be queried.
pub trait Store {
    /// A rank of a profile.
    type Rank: Rank;

    /// All profiles, newest first.
    ///
    /// # Errors
    /// If the store cannot be read.
    fn profiles(&self) -> std::result::Result<ProfileList, Refusal>;

    /// The profile with this name or id.
    ///
    /// # Errors
    /// `NotFound` if there is none.
    fn profile(&self, name: &str) -> std::result::Result<ProfileInfo, Refusal>;

    /// Opens a rank.
    ///
    /// # Errors
    /// `NotFound` if there is none, or another refusal if its segment cannot be opened.
    fn rank(&self, id: &RankId) -> std::result::Result<Self::Rank, Refusal>;
}

/// A rank that can be queried: its events and clock, and the data that is kept beside them.
pub trait Rank {
    /// Source of the segment's bytes.
    type Bytes: Bytes;

    /// The events and the clock.
    fn view(&self) -> RankView<'_, Self::Bytes>;

    /// The content identifier in the paths of its tiles.
    fn tile_content(&self) -> String;

    /// Refuses a question about tiles of another content.
    ///
    /// # Errors
    /// `Replaced` if the content differs.
    fn check_content(&self, content: &str) -> std::result::Result<(), Refusal> {
        if content == self.tile_content() {
            return Ok(());
        }
        let what = "the profile has been replaced; load it again";
        Err(Refusal::new(RefusalKind::Replaced, what))
    }

    /// Tracks, tables and warnings of the rank. Includes warnings that came up after the segment
    /// was written.
    ///
    /// # Errors
    /// If the segment cannot be read.
    fn detail(&self) -> Result<RankDetail>;

    /// Metrics of the rank, which can be cached.
    ///
    /// # Errors
    /// If the metrics could not be computed, or the work was cancelled.
    fn summary(&self, work: Work<'_>) -> std::result::Result<Summary, Refusal>;

    /// Name of the rank for messages.
    fn place(&self) -> String;

    /// Advice for a user whose data is damaged, starting with a semicolon; empty if there is none.
    fn advice(&self) -> String;

    /// The refusal for an error of the segment. Names the rank, and the damaged part.
    fn refusal(&self, error: Error) -> Refusal {
        let refusal = Refusal::from(error);
        if !matches!(refusal.kind, RefusalKind::Damaged | RefusalKind::Unavailable) {
            return refusal;
        }
        let place = self.place();
        let message = match query::part::name_of(self.view().segment, error) {
            Some(part) => format!("{place}: {part} is damaged; the rest can be read{}", self.advice()),
            None => format!("{place}: {error}"),
        };
        Refusal { message, ..refusal }
    }
}

/// An answer. Serialised as the message inside, without a tag.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// Answer to [`Question::Profiles`].
    Profiles(ProfileList),
    /// Answer to [`Question::Profile`].
    Profile(ProfileInfo),
    /// Answer to [`RankQuestion::Detail`].
    Detail(RankDetail),
    /// Answer to [`RankQuestion::Tile`].
    Tile(Tile),
    /// Answer to [`RankQuestion::Slice`] and [`RankQuestion::Step`].
    Slice(SliceDetail),
    /// Answer to [`RankQuestion::Step`], if there is no slice in that direction.
    Nothing,
    /// Answer to [`RankQuestion::Rows`].
    Rows(TableRows),
    /// Answer to [`RankQuestion::Counter`].
    Counter(CounterDetail),
    /// Answer to [`RankQuestion::Events`].
    Events(WindowEvents),
    /// Answer to [`RankQuestion::Search`].
    Search(SearchResult),
    /// Answer to [`RankQuestion::Selection`].
    Selection(SelectionSummary),
    /// Answer to [`RankQuestion::Summary`].
    Summary(Summary),
    /// Answer to [`RankQuestion::Waits`].
    Waits(WaitSteps),
}

/// Answers a question. `work` runs the heavy parts, and can be cancelled.
///
/// # Errors
/// `Cancelled` if the work was cancelled, or another refusal if the question, the store or the
/// segment is at fault.
pub fn answer(
    store: &impl Store,
    question: &Question,
    work: Work<'_>,
) -> std::result::Result<Answer, Refusal> {
    match question {
        Question::Profiles => store.profiles().map(Answer::Profiles),
        Question::Profile(name) => store.profile(name).map(Answer::Profile),
        Question::OfRank(id, question) => answer_of_rank(&store.rank(id)?, question, work),
    }
}

/// Answers a question about a rank.
///
/// # Errors
/// See [`answer()`].
pub fn answer_of_rank(
    rank: &impl Rank,
    question: &RankQuestion,
    work: Work<'_>,
) -> std::result::Result<Answer, Refusal> {
    let view = rank.view();
    work.cancel.check().map_err(|error| rank.refusal(error))?;
    let answer = match question {
        RankQuestion::Detail => rank.detail().map(Answer::Detail),
        RankQuestion::Tile { content, id } => {
            rank.check_content(content)?;
            answer::tile(view, *id, work).map(Answer::Tile)
        }
        RankQuestion::Slice(row) => answer::slice(view, *row, work).map(Answer::Slice),
        RankQuestion::Step { row, to, closed } => answer::step(view, *row, *to, closed, work)
            .map(|beside| beside.map_or(Answer::Nothing, Answer::Slice)),
        RankQuestion::Rows { table, span, tracks, limit } => {
            let wanted = RowsWanted { span: *span, tracks: tracks.as_deref(), limit: limited_rows(*limit) };
            table_rows::table_rows(view, table, wanted, work).map(Answer::Rows)
        }
        RankQuestion::Counter { track, at_ps, span } => {
            answer::counter(view, *track, *at_ps, *span, work).map(Answer::Counter)
        }
        RankQuestion::Events { span, tracks, limit } => {
            answer::window(view, *span, tracks.as_deref(), limited(*limit), work).map(Answer::Events)
        }
        RankQuestion::Search(search) => {
            let pattern = Pattern::new(&search.text, search.syntax)
                .map_err(|error| Refusal::new(RefusalKind::BadPattern, error.to_string()))?;
            answer::search(view, &pattern, search.page(), work).map(Answer::Search)
        }
        RankQuestion::Selection { span, tracks } => {
            answer::selection(view, *span, tracks.as_deref(), work).map(Answer::Selection)
        }
        RankQuestion::Summary => return rank.summary(work).map(Answer::Summary),
        RankQuestion::Waits { span, steps, ranks } => {
            answer::waits(view, *span, *steps, ranks.as_deref(), work).map(Answer::Waits)
        }
    };
    answer.map_err(|error| rank.refusal(error))
}
