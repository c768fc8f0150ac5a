//! All questions to a store of profiles, a file each: its parameters, path, manner and answer.
//!
//! The table of `questions!` lists them. It makes the enums and whatever goes through all
//! questions: [`Question::path`], [`Question::parse`], [`answer()`] and [`QUESTIONS`]. A new
//! question is a file, its module, and a row of the table.
//! Invariant: `parse(path(question)) = question`.

#[macro_use]
mod table;

mod activity;
mod comparison;
mod completion;
mod counter;
mod critical_path;
mod detail;
mod edit_subjects;
mod events;
mod findings;
mod graph_progress;
mod light;
mod limit;
mod notes;
mod paired_tracks;
mod predicted_tracks;
mod profile;
mod profiles;
mod rank_balance;
mod regions;
mod rows;
mod run_waits;
mod search;
mod selection;
mod slack;
mod slice;
mod step;
mod summary;
mod tile;
mod waits;
mod what_if;
mod what_if_sweep;

use serde::{Serialize, Serializer};

pub use self::search::{Toward, syntax_name, syntax_of};
use super::ask::{AnswerForm, Ask, AskRank, AskStore, Manner, ProfileStore, Rank, RankId};
use super::grammar::{Address, GivenAddress, ParameterDoc, Parameters, parts_of};
use super::refusal::{Refusal, RefusalKind};
use crate::exec::Work;

questions! {
    store {
        Profiles: profiles::ProfilesQuestion,
        Profile: profile::ProfileQuestion,
        Notes: notes::NotesQuestion,
        Findings: findings::FindingsQuestion,
        GraphProgress: graph_progress::GraphProgressQuestion,
        CriticalPath: critical_path::CriticalPathQuestion,
        RunWaits: run_waits::RunWaitsQuestion,
        RankBalance: rank_balance::RankBalanceQuestion,
        WhatIf: what_if::WhatIfQuestion,
        WhatIfSweep: what_if_sweep::WhatIfSweepQuestion,
        PredictedTracks: predicted_tracks::PredictedTracksQuestion,
        Slack: slack::SlackQuestion,
        EditSubjects: edit_subjects::EditSubjectsQuestion,
        Comparison: comparison::ComparisonQuestion,
        PairedTracks: paired_tracks::PairedTracksQuestion,
    }
    rank {
        Detail: detail::DetailQuestion,
        Tile: tile::TileQuestion,
        Slice: slice::SliceQuestion,
        Step: step::StepQuestion,
        Rows: rows::RowsQuestion,
        Counter: counter::CounterQuestion,
        Events: events::EventsQuestion,
        Search: search::SearchQuestion,
        Light: light::LightQuestion,
        Completion: completion::CompletionQuestion,
        Selection: selection::SelectionQuestion,
        Summary: summary::SummaryQuestion,
        Regions: regions::RegionsQuestion,
        Waits: waits::WaitsQuestion,
        Activity: activity::ActivityQuestion,
    }
}

/// A question of the table.
#[derive(Debug)]
pub struct QuestionRow {
    /// Template of its path, with parameters in braces.
    pub path: &'static str,
    /// The question in words.
    pub doc: &'static str,
    /// How it is answered.
    pub manner: Manner,
    /// Why it can be refused.
    pub refusals: &'static [&'static [RefusalKind]],
    /// Adds the description of its parameters.
    pub parameters: fn(&mut Vec<ParameterDoc>),
    /// Schema of the message that answers it, in JSON.
    #[cfg(feature = "schema")]
    pub schema: fn(&mut schemars::SchemaGenerator) -> schemars::Schema,
    /// The question with a value for each parameter.
    #[cfg(any(test, feature = "fixture"))]
    pub example: fn() -> Question,
}

/// The address of a question. `id` is the rank that it is about.
fn address<Q: Ask>(question: &Q, id: Option<&RankId>) -> String {
    let mut address = Address::new(Q::PATH);
    if let Some(id) = id {
        id.write(&mut address);
    }
    question.write(&mut address);
    address.finish()
}

fn serialized<A: AnswerForm, S: Serializer>(answer: &A, serializer: S) -> Result<S::Ok, S::Error> {
    match answer.message() {
        Some(message) => message.serialize(serializer),
        None => serializer.serialize_unit(),
    }
}

#[cfg(feature = "schema")]
fn schema_of<Q: Ask>(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    generator.subschema_for::<<Q::Answer as AnswerForm>::Message>()
}

fn no_path(path: &str) -> Refusal {
    let what = format!("there is no resource at {path}; /api/openapi.json lists all of them");
    Refusal::new(RefusalKind::NotFound, what)
}

#[cfg(test)]
mod tests;
