//! The traits of questions, and of the stores and ranks that answer them.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::catalog::{ProfileInfo, ProfileList, RankDetail};
use super::comparison::{ComparedRuns, RunChoice};
use super::findings::Findings;
use super::grammar::{
    Address, GivenAddress, Parameter, ParameterDoc, ParameterPlace, Parameters, Text, ValueForm, missing,
    number, parameters,
};
use super::graph_progress::GraphProgress;
use super::message_times::Timed;
use super::notes::Notes;
use super::paired_tracks::PairedTracks;
use super::rank_balance::RankBalance;
use super::rank_ref::RankRef;
use super::refusal::{Refusal, RefusalKind};
use super::regions::RegionList;
use super::run_path::RunPath;
use super::run_waits::RunWaits;
use super::summary::Summary;
use super::what_if::{EditSubjects, WhatIf, WhatIfSweep};
use super::work_slack::WorkSlack;
use crate::base::{Error, Interval, Result};
use crate::exec::Work;
use crate::insight::Edit;
use crate::insight::difference::WorkKey;
use crate::insight::wait::AskedWaits;
use crate::query;
use crate::rank::RankView;
use crate::segment::Bytes;

/// A question: its parameters, and what it is answered with.
pub trait Ask: Parameters {
    /// The answer: a message, or [`Option`] of a message.
    type Answer: AnswerForm;

    /// Template of its path, with parameters in braces.
    const PATH: &'static str;
    /// How it is answered.
    const MANNER: Manner;

    /// Repeats in an answer what the question says, exactly. A span of the question can differ from
    /// that of the answer by a picosecond, once both are converted between clocks.
    fn restate(&self, _answer: &mut Self::Answer) {}
}

/// A question to a store.
pub trait AskStore: Ask {
    /// The answer of a store. `work` runs the heavy parts, and can be cancelled.
    fn answer(&self, store: &impl ProfileStore, work: Work<'_>)
    -> std::result::Result<Self::Answer, Refusal>;
}

/// A question about a rank.
pub trait AskRank: Ask {
    /// The answer of a rank. `work` runs the heavy parts, and can be cancelled.
    ///
    /// # Errors
    /// `Cancelled` if the work was cancelled, or why there is no answer.
    fn answer(&self, rank: &impl Rank, work: Work<'_>) -> std::result::Result<Self::Answer, Refusal>;
}

/// An answer: a message, or that there is none. The latter has no bytes in postcard.
pub trait AnswerForm: Sized {
    /// The message.
    type Message: Message;

    /// The message; `None` if the answer is that there is none.
    fn message(&self) -> Option<&Self::Message>;

    /// The message, for changes.
    fn message_mut(&mut self) -> Option<&mut Self::Message>;

    /// The answer with a message; `None` if there must be one.
    fn from_message(message: Option<Self::Message>) -> Option<Self>;
}

/// A serialised type that answers a question.
pub trait Message: Timed + Serialize + DeserializeOwned + Described {}

impl<T: Timed + Serialize + DeserializeOwned + Described> Message for T {}

#[cfg(feature = "schema")]
pub use schemars::JsonSchema as Described;

/// A type with a schema of its JSON, if the feature `schema` is on.
#[cfg(not(feature = "schema"))]
pub trait Described {}

#[cfg(not(feature = "schema"))]
impl<T> Described for T {}

impl<M: Message> AnswerForm for M {
    type Message = M;

    fn message(&self) -> Option<&M> {
        Some(self)
    }

    fn message_mut(&mut self) -> Option<&mut M> {
        Some(self)
    }

    fn from_message(message: Option<M>) -> Option<M> {
        message
    }
}

impl<M: Message> AnswerForm for Option<M> {
    type Message = M;

    fn message(&self) -> Option<&M> {
        self.as_ref()
    }

    fn message_mut(&mut self) -> Option<&mut M> {
        self.as_mut()
    }

    fn from_message(message: Option<M>) -> Option<Self> {
        Some(message)
    }
}

/// How a question is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manner {
    /// Name of the operation in the description of the API.
    pub id: &'static str,
    /// Cost of the answer.
    pub weight: Weight,
    /// Whether a frame of the page waits for the answer.
    pub pace: Pace,
    /// Whether a page without a server reads the segments of all ranks for the answer.
    pub reads_all_ranks: bool,
    /// Longest time for the answer.
    pub time_limit: Option<TimeLimit>,
    /// Why there can be no answer, beside [`RankId::REFUSALS`].
    pub refusals: &'static [RefusalKind],
    /// Meaning of an answer without a message.
    pub nothing: Option<&'static str>,
    /// Whether the answer of a path never changes, so that caches can keep it.
    pub is_lasting: bool,
}

impl Manner {
    /// An answer that a frame waits for, without special cases.
    #[must_use]
    pub const fn of(id: &'static str, weight: Weight) -> Self {
        Self {
            id,
            weight,
            pace: Pace::Quick,
            reads_all_ranks: false,
            time_limit: None,
            refusals: &[],
            nothing: None,
            is_lasting: false,
        }
    }

    /// An answer from the dependency graph of a profile.
    #[must_use]
    pub const fn of_graph(id: &'static str) -> Self {
        Self {
            refusals: &[
                RefusalKind::BadQuestion,
                RefusalKind::NotFound,
                RefusalKind::Damaged,
                RefusalKind::Cancelled,
            ],
            ..Self::of(id, Weight::Heavy)
        }
    }

    /// An answer from a replay, for which a page without a server reads the graph itself.
    #[must_use]
    pub const fn of_replay(id: &'static str) -> Self {
        Self { pace: Pace::Slow, reads_all_ranks: true, ..Self::of_graph(id) }
    }
}

/// Cost of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// Reads what is kept.
    Light,
    /// Reads a few blocks: a tile, a slice.
    Small,
    /// Can read every row.
    Heavy,
}

/// Urgency of an answer, by which a page without a server chooses a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// A frame waits for it.
    Quick,
    /// It needs more data than is in sight.
    Slow,
}

/// Longest time for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLimit {
    /// The time in seconds.
    pub seconds: u32,
    /// The work that is stopped then.
    pub what: &'static str,
    /// Advice for the user.
    pub advice: &'static str,
}

impl TimeLimit {
    /// The refusal of a question that took longer.
    #[must_use]
    pub fn refusal(&self) -> Refusal {
        let Self { seconds, what, advice } = self;
        Refusal::new(RefusalKind::TooSlow, format!("{what} was stopped after {seconds} s; {advice}"))
    }
}

parameters! {
    /// A rank of a profile.
    pub struct RankId {
        /// Name or id of the profile.
        pub profile: String = PROFILE,
        /// Number of the rank, or `all` for what all ranks of a job show together.
        pub rank: RankRef = RankWord("rank"),
    }
}

impl RankId {
    /// Why any question about a rank can be refused. Results over all ranks are replaced when
    /// ranks are added.
    pub const REFUSALS: &[RefusalKind] = &[
        RefusalKind::BadQuestion,
        RefusalKind::NotFound,
        RefusalKind::Replaced,
        RefusalKind::Damaged,
        RefusalKind::Cancelled,
    ];
}

/// The name of a profile in a path.
pub(super) const PROFILE: Text = Text::in_path("slug");

/// A rank in the path.
struct RankWord(&'static str);

impl Parameter for RankWord {
    type Value = RankRef;

    fn describe(&self, doc: &'static str, all: &mut Vec<ParameterDoc>) {
        let place = ParameterPlace::Path;
        all.push(ParameterDoc {
            name: self.0,
            place,
            is_required: true,
            doc: doc.into(),
            form: ValueForm::Rank,
        });
    }

    fn read(&self, given: &GivenAddress<'_>) -> std::result::Result<RankRef, Refusal> {
        let word = given.value(ParameterPlace::Path, self.0)?.ok_or_else(|| missing(self.0))?;
        word.parse().or_else(|_| number(self.0, &word).map(RankRef::Number))
    }

    fn write(&self, value: &RankRef, address: &mut Address) {
        address.push(ParameterPlace::Path, self.0, value.to_string());
    }

    #[cfg(any(test, feature = "fixture"))]
    fn example(&self) -> RankRef {
        RankRef::Number(0)
    }

    #[cfg(test)]
    fn any(&self) -> proptest::strategy::BoxedStrategy<RankRef> {
        use proptest::prelude::*;
        prop_oneof![any::<u32>().prop_map(RankRef::Number), Just(RankRef::All)].boxed()
    }
}

/// Profiles that can be queried.
pub trait ProfileStore {
    /// A rank of a profile.
    type Rank: Rank;

    /// All profiles, newest first.
    fn profiles(&self) -> std::result::Result<ProfileList, Refusal>;

    /// The profile with this name or id.
    ///
    /// # Errors
    /// `NotFound` if there is none.
    fn profile(&self, name: &str) -> std::result::Result<ProfileInfo, Refusal>;

    /// The notes of users about the profile with this name or id.
    fn notes(&self, name: &str) -> std::result::Result<Notes, Refusal>;

    /// The findings about the run of the profile with this name or id. The answer can be kept.
    fn findings(&self, name: &str, work: Work<'_>) -> std::result::Result<Findings, Refusal>;

    /// The progress of the dependency graph of the profile with this name or id.
    fn graph_progress(&self, name: &str) -> std::result::Result<GraphProgress, Refusal>;

    /// The critical path of the run of the profile with this name or id: its parts within a span,
    /// at most `most`.
    fn critical_path(
        &self,
        name: &str,
        span: Option<Interval>,
        most: usize,
        work: Work<'_>,
    ) -> std::result::Result<RunPath, Refusal>;

    /// The slack of the slice of this row of a rank. `None` if nothing of it is replayed.
    fn slack(
        &self,
        name: &str,
        rank: u32,
        row: u32,
        work: Work<'_>,
    ) -> std::result::Result<Option<WorkSlack>, Refusal>;

    /// The waits of the run of the profile with this name or id.
    fn run_waits(
        &self,
        name: &str,
        asked: &AskedWaits<'_>,
        work: Work<'_>,
    ) -> std::result::Result<RunWaits, Refusal>;

    /// The ranks of the run of the profile with this name or id beside each other: at most `most`
    /// names and regions.
    fn rank_balance(
        &self,
        name: &str,
        most: usize,
        work: Work<'_>,
    ) -> std::result::Result<RankBalance, Refusal>;

    /// The length of the run of the profile with this name or id under edits.
    fn what_if(&self, name: &str, edits: &[Edit], work: Work<'_>) -> std::result::Result<WhatIf, Refusal>;

    /// The changes that would shorten the run most, at most `most`.
    fn what_if_sweep(
        &self,
        name: &str,
        most: usize,
        work: Work<'_>,
    ) -> std::result::Result<WhatIfSweep, Refusal>;

    /// The tracks of a rank under edits beside the recorded ones, within a span of the clock that
    /// all ranks share.
    fn predicted_tracks(
        &self,
        name: &str,
        edits: &[Edit],
        rank: u32,
        span: Option<Interval>,
        work: Work<'_>,
    ) -> std::result::Result<PairedTracks, Refusal>;

    /// The difference of two runs. The rows are about `by`.
    fn comparison(
        &self,
        a: &RunChoice,
        b: &RunChoice,
        by: WorkKey,
        work: Work<'_>,
    ) -> std::result::Result<ComparedRuns, Refusal>;

    /// The tracks of two runs beside each other.
    fn paired_tracks(
        &self,
        a: &RunChoice,
        b: &RunChoice,
        work: Work<'_>,
    ) -> std::result::Result<PairedTracks, Refusal>;

    /// The left sides of the edits that change the slice of this row of a rank.
    fn edit_subjects(
        &self,
        name: &str,
        rank: u32,
        row: u32,
        work: Work<'_>,
    ) -> std::result::Result<EditSubjects, Refusal>;

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

    /// Its number. All ranks together have none.
    fn number(&self) -> Option<u32>;

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
    fn detail(&self) -> Result<RankDetail>;

    /// Metrics of the rank or of a window of it. Those of the whole rank can be cached.
    ///
    /// # Errors
    /// If the metrics could not be computed, or the work was cancelled.
    fn summary(&self, window: Option<Interval>, work: Work<'_>) -> std::result::Result<Summary, Refusal>;

    /// The steps and other regions of the rank. They can be cached.
    fn regions(&self, work: Work<'_>) -> std::result::Result<RegionList, Refusal>;

    /// The texts of users about its profile.
    fn notes(&self) -> std::result::Result<Notes, Refusal>;

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
