//! The critical path of the run of the current rank's profile. It is asked for as long as its tab
//! is open, and once more when the window leaves what is known.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::wire::questions::CriticalPathQuestion;
use nprof_engine::wire::run_path::RunPath;

use super::profile_source::ProfileSource;
use super::run_of_page::RunOfPage;
use crate::ui::shell::{Answered, QuestionAnswers};
use crate::view::Tab;
use crate::view::run_path::{PathStretch, span_of_run, stretches};
use crate::view::run_times::RunTimes;

/// The position of a profile, and a span of its run; `None` is all of it.
type PathSpan = (u8, Option<Interval>);

/// The critical path.
#[derive(Clone, Copy)]
pub struct RunPathAnswers {
    asked: QuestionAnswers<PathSpan, RunPath>,
    /// The times of the run on the page.
    pub times: Memo<RunTimes>,
    /// Whether the tab is open.
    pub is_shown: Memo<bool>,
    /// The parts that are drawn; `None` while the tab is closed.
    pub stretches: Memo<Option<Arc<Vec<PathStretch>>>>,
}

impl RunPathAnswers {
    /// Asks whenever the tab is open.
    #[must_use]
    pub fn new(of: ProfileSource, run: RunOfPage) -> Self {
        let (is_shown, times) = (run.is_shown(Tab::Path), run.times);
        let question = Memo::new(move |_| {
            let window = run.window.get();
            is_shown.get().then(|| (run.profile.get(), times.with(|times| span_of_run(times, window))))
        });
        let asked = QuestionAnswers::new(question, move |(profile, span): PathSpan, cancel| async move {
            let name = of.names.with_value(|names| names.at(profile).unwrap_or_default().to_owned());
            of.source.ask_until(CriticalPathQuestion::about(&name, span), Some(&cancel)).await
        });
        let stretches = Memo::new(move |_| {
            let path = is_shown.get().then(|| asked.answer()).flatten().and_then(Result::ok)?;
            Some(Arc::new(times.with(|times| stretches(&path, times))))
        });
        Self { asked, times, is_shown, stretches }
    }

    /// The last answer, with its question.
    #[must_use]
    pub fn last(self) -> Answered<PathSpan, RunPath> {
        self.asked.last.get()
    }

    /// Asks again.
    #[must_use]
    pub fn retry(self) -> Callback<()> {
        self.asked.retry
    }
}
