//! Questions about the store: runs, their comparisons and replays.

use nprof_engine::wire::ask::AskStore;
use nprof_engine::wire::questions::Question;
use web_sys::AbortSignal;

use super::Opened;
use crate::fetch::FetchError;

impl Opened {
    /// The answer to a question about the store, unless the signal comes first.
    pub async fn ask_store<Q: AskStore + Into<Question>>(
        self,
        question: Q,
        cancel: AbortSignal,
    ) -> Result<Q::Answer, FetchError> {
        self.of.source.ask_until(question, Some(&cancel)).await
    }
}
