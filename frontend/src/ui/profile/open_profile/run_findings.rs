//! The findings about the run of the current rank's profile. Those of a large one are asked for
//! once somebody wants to see them, because they need the dependency graph.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::wire::findings::{FindingEntry, Findings, RuleState};
use nprof_engine::wire::questions::FindingsQuestion;

use super::current_regions::{MOST_EVENTS_UNASKED, NamedSpan};
use super::profile_source::ProfileSource;
use super::run_of_page::RunOfPage;
use crate::ui::shell::{Answered, QuestionAnswers};
use crate::view::Tab;
use crate::view::View;
use crate::view::finding_place::FindingPlace;
use crate::view::ring::Walk;
use crate::view::run_times::RunTimes;

/// The findings.
#[derive(Clone, Copy)]
pub struct RunFindings {
    asked: QuestionAnswers<u8, Findings>,
    /// The part of the answer within the region to which the page is limited.
    answer: Memo<Answered<u8, Findings>>,
    scope: Memo<Option<NamedSpan>>,
    is_wanted: RwSignal<bool>,
    /// The times of the run on the page.
    pub times: Memo<RunTimes>,
    /// The findings that are not muted, the largest saving first. Empty until they are known.
    pub shown: Memo<Vec<ShownFinding>>,
    /// The finding to which the user went last: its position in the answer.
    pub followed: RwSignal<Option<usize>>,
    /// The view from which the user went to the first of the followed findings.
    pub left: RwSignal<Option<View>>,
    /// The step to a finding that the user asked for before the findings were known.
    pub sought: RwSignal<Option<Walk>>,
}

/// A finding that is not muted.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownFinding {
    /// Position in the answer.
    pub at: usize,
    /// The finding.
    pub entry: FindingEntry,
    /// The place that it leads to. `None` if the run as a whole is meant.
    pub place: Option<FindingPlace>,
}

impl ShownFinding {
    /// Its rule and its sentence.
    #[must_use]
    pub fn title(&self) -> String {
        format!("{}: {}", self.entry.rule, self.entry.text)
    }
}

impl RunFindings {
    /// Asks once the tab is open, or somebody wants the findings, and always about a small profile:
    /// its timeline has their marks. `is_known` tells that they cost nothing. Only those within
    /// `scope` are shown.
    #[must_use]
    pub fn new(
        of: ProfileSource,
        run: RunOfPage,
        view: Memo<View>,
        scope: Memo<Option<NamedSpan>>,
        is_known: bool,
    ) -> Self {
        let (is_open, is_ready) = (run.is_shown(Tab::Findings), run.is_known());
        let is_small = run.has_at_most(MOST_EVENTS_UNASKED);
        let (is_wanted, is_known) = (RwSignal::new(false), RwSignal::new(is_known));
        let sought = RwSignal::new(None);
        let question = Memo::new(move |_| {
            let is_asked = is_open.get()
                || is_ready.get()
                    && (is_small.get() || is_wanted.get() || is_known.get() || sought.get().is_some());
            is_asked.then(|| run.profile.get())
        });
        let asked = QuestionAnswers::new(question, move |profile: u8, cancel| async move {
            let name = of.names.with_value(|names| names.at(profile).unwrap_or_default().to_owned());
            let found = of.source.ask_until(FindingsQuestion::about(&name), Some(&cancel)).await?;
            // The page can be gone by now.
            is_known.try_set(true);
            Ok(found)
        });
        let times = run.times;
        let answer = Memo::new(move |_| {
            let span = scope.get().and_then(|scope| times.with(|times| times.of_page(scope.span)));
            let (profile, answer) = asked.last.get()?;
            Some((profile, answer.map(|found| within(found, span))))
        });
        // A frame that moves changes the view, but not what is muted.
        let muted = Memo::new(move |_| view.with(|view| view.muted.clone()));
        let shown = Memo::new(move |_| {
            let muted = muted.get();
            let found = answer.get().and_then(|(_, answer)| answer.ok());
            let entries = found.iter().flat_map(|found| found.in_state(RuleState::Found)).enumerate();
            let all = entries.filter(|(_, entry)| !muted.has(entry)).map(|(at, entry)| ShownFinding {
                at,
                entry: entry.clone(),
                place: times.with(|times| FindingPlace::of(entry, times)),
            });
            all.collect::<Vec<_>>()
        });
        let (followed, left) = (RwSignal::new(None), RwSignal::new(None));
        // Another region has other findings at the same positions.
        Effect::new(move |before: Option<()>| {
            scope.track();
            if before.is_some() {
                followed.set(None);
            }
        });
        Self { asked, answer, scope, is_wanted, times, shown, followed, left, sought }
    }

    /// An answer with the region that it is about.
    #[must_use]
    pub fn in_scope(self, answer: &str) -> String {
        self.scope.with(|scope| match scope {
            Some(NamedSpan { name, .. }) => format!("In {name}: {answer}"),
            None => answer.to_owned(),
        })
    }

    /// Asks for the findings as long as the current component is there.
    pub fn want(self) {
        self.is_wanted.set(true);
        on_cleanup(move || {
            self.is_wanted.try_set(false);
        });
    }

    /// The last answer, with its question.
    #[must_use]
    pub fn last(self) -> Answered<u8, Findings> {
        self.answer.get()
    }

    /// The findings, if they are known.
    #[must_use]
    pub fn known(self) -> Option<Arc<Findings>> {
        self.answer.get().and_then(|(_, answer)| answer.ok())
    }

    /// Asks again.
    #[must_use]
    pub fn retry(self) -> Callback<()> {
        self.asked.retry
    }
}

/// The findings within a span of the clock that all ranks share.
fn within(found: Arc<Findings>, span: Option<Interval>) -> Arc<Findings> {
    match span {
        Some(span) => Arc::new(Findings::clone(&found).within(&[span])),
        None => found,
    }
}
