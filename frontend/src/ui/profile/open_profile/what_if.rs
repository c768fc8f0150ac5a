//! Questions about the run of a profile if some of its work took another time, and the progress of
//! what they need.

use leptos::prelude::*;
use nprof_engine::wire::graph_progress::GraphProgress;
use nprof_engine::wire::questions::{
    EditSubjectsQuestion, GraphProgressQuestion, SlackQuestion, WhatIfQuestion,
};
use nprof_engine::wire::what_if::{EditSubjects, WhatIf};
use nprof_engine::wire::work_slack::WorkSlack;
use web_sys::AbortSignal;

use super::Opened;
use crate::fetch::FetchError;

impl Opened {
    /// The left sides of the edits that change a slice.
    pub async fn edit_subjects(
        self,
        question: EditSubjectsQuestion,
        cancel: AbortSignal,
    ) -> Result<EditSubjects, FetchError> {
        self.of.source.ask_until(question, Some(&cancel)).await
    }

    /// The progress of the graph of the current rank's profile, which answers about its run need.
    pub async fn graph_progress(self) -> Result<GraphProgress, FetchError> {
        let source = self.current.source.get_untracked().unwrap_or_default();
        let profile = self.names().at(source.profile).unwrap_or_default().to_owned();
        self.of.source.ask_until(GraphProgressQuestion { profile }, None).await
    }

    /// The slack of a slice. `None` if nothing of it is replayed.
    pub async fn slack(
        self,
        question: SlackQuestion,
        cancel: AbortSignal,
    ) -> Result<Option<WorkSlack>, FetchError> {
        self.of.source.ask_until(question, Some(&cancel)).await
    }

    /// The length of the run under edits.
    pub async fn what_if(self, question: WhatIfQuestion, cancel: AbortSignal) -> Result<WhatIf, FetchError> {
        self.of.source.ask_until(question, Some(&cancel)).await
    }
}
