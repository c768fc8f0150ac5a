//! Completions of a query.

use serde::{Deserialize, Serialize};

use super::message_times::{TimeField, Timed};
use crate::query::{Completion, CompletionKind, Completions};

/// The texts that can stand in place of the word before the cursor of a query.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompletionList {
    /// Position of the first character that they replace, up to the cursor.
    pub from: u32,
    /// The completions: those that begin with what was typed, then those that contain it, each with
    /// the most slices first.
    pub completions: Vec<CompletionEntry>,
    /// Number of all completions.
    pub total: u64,
}

/// A completion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompletionEntry {
    /// The text as a query has it, with quotes where it needs them.
    pub text: String,
    /// The thing that it names.
    pub kind: CompletionKindEntry,
    /// Number of slices with the value or on the track; of a field the number of slices in blocks
    /// that have any. `None` for a region.
    pub slices: Option<u64>,
}

/// The thing that a completion names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CompletionKindEntry {
    /// A field, to which a sign and a value follow.
    Field,
    /// A value of a field, or a name of slices.
    Value,
    /// A track.
    Track,
    /// A region.
    Region,
}

impl From<Completions> for CompletionList {
    fn from(of: Completions) -> Self {
        Self {
            from: crate::base::narrow(of.from),
            completions: of.entries.into_iter().map(Into::into).collect(),
            total: of.total as u64,
        }
    }
}

impl From<Completion> for CompletionEntry {
    fn from(Completion { text, kind, slices }: Completion) -> Self {
        let kind = match kind {
            CompletionKind::Field => CompletionKindEntry::Field,
            CompletionKind::Value => CompletionKindEntry::Value,
            CompletionKind::Track => CompletionKindEntry::Track,
            CompletionKind::Region => CompletionKindEntry::Region,
        };
        Self { text, kind, slices }
    }
}

impl Timed for CompletionList {
    fn each_time(&mut self, _: &mut dyn FnMut(TimeField<'_>)) {}
}
