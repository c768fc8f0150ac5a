//! The notice over the timeline of all ranks: where most waiting began, with the way there. Once
//! the findings are known, the notice has the time that the run would save.

use leptos::prelude::*;
use nprof_engine::base::time::short_duration;
use nprof_engine::insight::finding::sentence::of_run;
use nprof_engine::makers::job::metrics::CAUSES;
use nprof_engine::wire::findings::{FindingEntry, Findings};
use nprof_engine::wire::questions::SummaryQuestion;
use nprof_engine::wire::summary::{MetricPlaceEntry, Summary};

use super::open_profile::Opened;
use crate::ui::controls::CloseButton;
use crate::ui::shell::QuestionAnswers;
use crate::ui::text::format;

/// The largest cause that stands out.
#[derive(Debug, Clone, PartialEq)]
struct Culprit {
    name: String,
    cost: String,
    place: MetricPlaceEntry,
}

impl Culprit {
    fn of(summary: &Summary) -> Option<Self> {
        let causes = summary.groups.iter().find(|group| group.key == CAUSES)?;
        let metric = causes.metrics.iter().find(|metric| metric.place.is_some())?;
        let cost = format!("{}, summed over the ranks", format::value(&metric.value, &metric.unit).text);
        Some(Self { name: metric.name.clone(), cost, place: metric.place.clone()? })
    }

    /// The same culprit with the time that the run would save without the cause, if a finding has
    /// that time.
    fn with_saving(self, found: &Findings) -> Self {
        let is_about = |one: &&FindingEntry| match self.is_link() {
            true => !one.is_late_rank() && one.ranks.as_ref() == Some(&self.place.ranks),
            false => one.is_late_rank() && one.rank == Some(self.place.rank),
        };
        let saved_ps = found.findings.iter().filter(is_about).find_map(FindingEntry::saved_ps);
        let Some(ps) = saved_ps.filter(|ps| *ps > 0) else { return self };
        let (time, share) = (short_duration(ps as f64), of_run(ps, found.recorded_ps.unwrap_or(0)));
        Self { cost: format!("the run would be {time} shorter without it ({share})"), ..self }
    }

    /// A link has a name with its numbers; see `nprof_engine::makers::job::metrics`.
    fn is_link(&self) -> bool {
        self.place.operation.is_some()
    }
}

/// Names the culprit while all ranks are shown and nothing is selected. It covers tracks, so it can
/// be closed.
#[component]
pub fn CulpritNotice(
    /// The opened profile.
    opened: Opened,
) -> impl IntoView {
    let all = Memo::new(move |_| opened.current.source.get().filter(|source| source.rank.is_all()));
    let asked = QuestionAnswers::new(all, move |source, _| {
        opened.ask(source, SummaryQuestion { window: None }, None)
    });
    let is_closed = RwSignal::new(false);
    let culprit = Memo::new(move |_| {
        let is_idle = opened.session.view.with(|view| view.selection.is_empty());
        if all.get().is_none() || is_closed.get() || !is_idle {
            return None;
        }
        let culprit = asked.answer().and_then(Result::ok).and_then(|summary| Culprit::of(&summary))?;
        Some(match opened.findings.known() {
            Some(found) => culprit.with_saving(&found),
            None => culprit,
        })
    });
    move || {
        culprit.get().map(|culprit| {
            let (what, show) = match culprit.is_link() {
                true => ("Slow ", "Show the slowest transfer"),
                false => ("Most waiting began at ", "Show what it did"),
            };
            let Culprit { name, cost, place } = culprit;
            let reveal = move |_| opened.reveal_place(CAUSES, &place);
            view! {
                <div class="timeline-part timeline-culprit" role="status">
                    <span>{what}<b>{name}</b>": "{cost}</span>
                    <button type="button" class="button" on:click=reveal>
                        {show}
                    </button>
                    <CloseButton label="Close the notice about waiting" on_close=move |()| is_closed.set(true) />
                </div>
            }
        })
    }
}
