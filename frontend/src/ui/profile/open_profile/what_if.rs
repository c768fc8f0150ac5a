//! The change of the run that the user tries, the run that it is about, and the progress of what
//! its answers need.

use leptos::prelude::*;
use nprof_engine::wire::graph_progress::GraphProgress;
use nprof_engine::wire::questions::GraphProgressQuestion;

use super::Opened;
use crate::fetch::FetchError;
use crate::view::edit_choice::{EditChoice, PERCENT};
use crate::view::{Command, Tab};

/// The change that the user tries. It stays while other slices are selected.
#[derive(Clone, Copy)]
pub struct TriedEdit {
    /// Whether the user has asked: a replay reads all work of the run.
    pub is_asked: RwSignal<bool>,
    /// The change that the user chose last.
    pub choice: RwSignal<Option<EditChoice>>,
    /// The share of its time that the work takes, in percent.
    pub percent: RwSignal<u32>,
    /// Whether the answer should come into sight.
    pub is_wanted: RwSignal<bool>,
    /// The edits under which the run is drawn below the recorded one, a line each. `None` for those
    /// that save most.
    pub predicted: RwSignal<Option<String>>,
}

impl TriedEdit {
    /// Nothing is asked.
    #[must_use]
    pub(super) fn new() -> Self {
        Self {
            is_asked: RwSignal::new(false),
            choice: RwSignal::new(None),
            percent: RwSignal::new(PERCENT.first),
            is_wanted: RwSignal::new(false),
            predicted: RwSignal::new(None),
        }
    }

    /// Asks what this change does, and brings the answer into sight.
    pub fn begin_with(self, choice: EditChoice, percent: u32) {
        self.choice.set(Some(choice));
        self.percent.set(percent);
        self.is_asked.set(true);
        self.is_wanted.set(true);
    }
}

impl Opened {
    /// The progress of the graph of the current rank's profile, which answers about its run need.
    pub async fn graph_progress(self) -> Result<GraphProgress, FetchError> {
        let source = self.current.source.get_untracked().unwrap_or_default();
        let profile = self.names().at(source.profile).unwrap_or_default().to_owned();
        self.of.source.ask_until(GraphProgressQuestion { profile }, None).await
    }

    /// The name of the profile of the current rank.
    #[must_use]
    pub fn run_name(self) -> Memo<Option<String>> {
        Memo::new(move |_| {
            let profile = self.current.source.get()?.profile;
            Some(self.names().at(profile)?.to_owned())
        })
    }

    /// The current rank; if all ranks are shown together, the first one.
    #[must_use]
    pub fn rank_of_run(self) -> Option<u32> {
        let source = self.current.source.get()?;
        let first = || {
            let profiles = self.session.profiles.get()?.ok()?;
            let ranks = &profiles.get(usize::from(source.profile))?.ranks;
            ranks.iter().find_map(|entry| entry.rank.number())
        };
        source.rank.number().or_else(first)
    }

    /// Draws the run under edits below the recorded one.
    pub fn show_predicted(self, edits: String) {
        self.tried.predicted.set(Some(edits));
        self.act(&Command::ShowTab(Tab::WhatIf));
    }
}
