//! The waits of the current rank, or of all ranks. They are asked for as long as their tab is open,
//! and once more when the window leaves what is known.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::wire::questions::RunWaitsQuestion;
use nprof_engine::wire::rank_ref::RankRef;
use nprof_engine::wire::run_waits::RunWaits;

use super::profile_source::ProfileSource;
use super::run_of_page::RunOfPage;
use crate::ui::shell::{Answered, QuestionAnswers};
use crate::view::Tab;
use crate::view::run_path::span_of_run;
use crate::view::run_waits::{WaitStretch, wait_stretches};
use crate::view::source_id::SourceId;

/// The rank that waits, and the span of single waits; `None` is the whole run.
type WaitsAsked = (SourceId, Option<Interval>);

/// The waits.
#[derive(Clone, Copy)]
pub struct RunWaitsAnswers {
    asked: QuestionAnswers<WaitsAsked, RunWaits>,
    /// The waits that are drawn; `None` while the tab is closed.
    pub stretches: Memo<Option<Arc<Vec<WaitStretch>>>>,
}

impl RunWaitsAnswers {
    /// Asks whenever the tab is open.
    #[must_use]
    pub fn new(of: ProfileSource, run: RunOfPage, current: Memo<Option<SourceId>>) -> Self {
        let is_shown = run.is_shown(Tab::Waits);
        let question = Memo::new(move |_| {
            let source = current.get().filter(|_| is_shown.get())?;
            let window = run.window.get();
            // The rows of all ranks have no single waits.
            let span = || run.times.with(|times| span_of_run(times, window));
            Some((source, if source.rank.is_all() { None } else { span() }))
        });
        let asked = QuestionAnswers::new(question, move |(source, span): WaitsAsked, cancel| async move {
            let name = of.names.with_value(|names| names.at(source.profile).unwrap_or_default().to_owned());
            let rank = match source.rank {
                RankRef::Number(rank) => Some(rank),
                RankRef::All => None,
            };
            of.source.ask_until(RunWaitsQuestion::about(&name, rank, span), Some(&cancel)).await
        });
        let stretches = Memo::new(move |_| {
            let waits = is_shown.get().then(|| asked.answer()).flatten().and_then(Result::ok)?;
            Some(Arc::new(run.times.with(|times| wait_stretches(&waits, times))))
        });
        Self { asked, stretches }
    }

    /// The last answer, with its question.
    #[must_use]
    pub fn last(self) -> Answered<WaitsAsked, RunWaits> {
        self.asked.last.get()
    }

    /// Asks again.
    #[must_use]
    pub fn retry(self) -> Callback<()> {
        self.asked.retry
    }
}
