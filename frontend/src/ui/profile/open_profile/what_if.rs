//! Questions about the run of a profile if some of its work took another time.

use nprof_engine::wire::questions::{EditSubjectsQuestion, WhatIfQuestion};
use nprof_engine::wire::what_if::{EditSubjects, WhatIf};
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

    /// The length of the run under edits.
    pub async fn what_if(self, question: WhatIfQuestion, cancel: AbortSignal) -> Result<WhatIf, FetchError> {
        self.of.source.ask_until(question, Some(&cancel)).await
    }
}
