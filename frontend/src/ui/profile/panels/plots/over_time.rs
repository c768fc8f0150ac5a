//! The waiting of ranks over time: lines of some ranks, and the range and median of all of them. A
//! click leads to what the late rank did then.

use std::collections::BTreeSet;
use std::sync::Arc;

use leptos::html::Div;
use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::wire::questions::WaitsQuestion;
use nprof_engine::wire::rank_ref::RankRef;
use nprof_engine::wire::waits::WaitSteps;

use super::late_call::reveal_late_call;
use crate::ui::controls::Failure;
use crate::ui::profile::ground::colours;
use crate::ui::profile::open_profile::Opened;
use crate::ui::profile::time_axis::TimeAxis;
use crate::ui::shell::{Messages, QuestionAnswers, spawn_while_shown};
use crate::ui::text::format;
use crate::ui::timeline::measure;
use crate::view::ranks::waits::{self, MOST_LINES, MOST_STEPS, asked_span};
use crate::view::source_id::SourceId;
use crate::view::source_id::rank_label;
use crate::view::state::plots::{PlotsChange, WaitLine};
use crate::view::{Command, Size};

/// The heading.
pub const TITLE: &str = "Over time";
/// The plot's id, to which the list of plots leads.
pub const ID: &str = "plot-over-time";

/// The name of a line in the legend.
fn words(line: WaitLine) -> String {
    match line {
        WaitLine::Rank(rank) => rank_label(rank.into()),
        WaitLine::Median => "Median".to_owned(),
        WaitLine::Range => "Range of all ranks".to_owned(),
    }
}

/// State of the plot.
#[derive(Clone, Copy)]
struct Plot {
    opened: Opened,
    /// Ranks that have a line, by number.
    ranks: Memo<Vec<u32>>,
    /// All ranks of the profile.
    all: Memo<Vec<u32>>,
    steps: Memo<Arc<WaitSteps>>,
    window: Memo<Interval>,
    hidden: Memo<BTreeSet<WaitLine>>,
    /// The step and the rank under the pointer.
    pointed: RwSignal<Option<(usize, u32)>>,
    colours: Memo<Vec<String>>,
    messages: Messages,
}

impl Plot {
    fn is_drawn(self, line: WaitLine) -> bool {
        self.hidden.with(|hidden| !hidden.contains(&line))
    }

    /// Whether there are ranks without a line. This is no memo of the ranks with a line: an effect
    /// that reads such a memo and then the ranks misses changes of the ranks.
    fn is_part(self) -> bool {
        self.ranks.with(Vec::len) < self.all.with(Vec::len)
    }

    fn colour(self, line: WaitLine) -> String {
        let WaitLine::Rank(rank) = line else { return "var(--text-muted)".to_owned() };
        let at = self.ranks.with(|ranks| ranks.iter().position(|own| *own == rank));
        self.colours.with(|colours| colours.get(at.unwrap_or_default()).cloned().unwrap_or_default())
    }

    /// The steps in sight.
    fn in_sight(self) -> std::ops::Range<usize> {
        let (start, width) = self.steps.with(|steps| waits::sight(steps, self.window.get()));
        let count = self.steps.with(|steps| steps.most.len());
        let first = (start.floor().max(0.0) as usize).min(count);
        first..((start + width).ceil().max(0.0) as usize).clamp(first, count)
    }

    /// Points at the line that is nearest to a place in the plot. Both shares are from 0 to 1.
    fn point(self, across: f64, above: f64) {
        let (start, width) = self.steps.with(|steps| waits::sight(steps, self.window.get()));
        let at = start + across * width;
        let found = self.steps.with(|steps| {
            let at = (at >= 0.0).then_some(at as usize)?;
            let share = above as f32 * waits::top(steps);
            let rank = waits::nearest(steps, at, share, |rank| self.is_drawn(WaitLine::Rank(rank)))?;
            Some((at, rank))
        });
        self.pointed.set(found);
    }

    /// Moves along the steps, and from rank to rank.
    fn walk(self, steps: isize, ranks: isize) {
        let sight = self.in_sight();
        let drawn: Vec<u32> = self.ranks.with(|ranks| {
            ranks.iter().copied().filter(|rank| self.is_drawn(WaitLine::Rank(*rank))).collect()
        });
        let (Some(first), false) = (drawn.first(), sight.is_empty()) else { return };
        let next = match self.pointed.get_untracked() {
            None => (sight.start, *first),
            Some((at, rank)) => {
                let place = drawn.iter().position(|own| *own == rank).unwrap_or_default();
                let place = place.saturating_add_signed(ranks).min(drawn.len() - 1);
                (at.saturating_add_signed(steps).clamp(sight.start, sight.end - 1), drawn[place])
            }
        };
        self.pointed.set(Some(next));
    }

    fn go(self) {
        let Some((at, rank)) = self.pointed.get_untracked() else { return };
        let span = self.steps.with_untracked(|steps| waits::step(steps, at));
        spawn_while_shown(self.pointed, reveal_late_call(self.opened, rank, span, self.messages));
    }

    /// The object under the pointer, in words.
    fn said(self) -> Option<String> {
        let (at, rank) = self.pointed.get()?;
        self.steps.with(|steps| {
            let share = |shares: &[f32]| shares.get(at).map(|share| format::percent(f64::from(*share)));
            let of_rank = share(&steps.ranks.iter().find(|own| own.rank == rank)?.shares)?;
            let from =
                self.opened.times.clock.get().text(waits::step(steps, at).start.0.max(self.first_ps()));
            let all = format!("{} – {}", share(&steps.least)?, share(&steps.most)?);
            let for_time = format::duration(steps.step_ps);
            Some(format!("{}: {of_rank} of {for_time} from {from}, all ranks {all}", rank_label(rank.into())))
        })
    }

    fn first_ps(self) -> i64 {
        self.opened.times.whole.get().start.0
    }
}

/// The plot with its legend.
#[component]
pub fn OverTime(
    /// The opened profile.
    opened: Opened,
) -> impl IntoView {
    let all = Memo::new(move |_| {
        opened.profile.info.with(|answer| {
            let ranks = answer.iter().flatten().flat_map(|profile| &profile.ranks);
            ranks.filter_map(|rank| rank.rank.number()).collect()
        })
    });
    let (view, known) = (opened.session.view, opened.profile.rank_times.known);
    let ranks = Memo::new(move |_| {
        let shown = view.with(|view| view.tracks.shown_with(RankRef::All));
        known.with(|known| all.with(|all: &Vec<u32>| waits::lines(all, &shown, known)))
    });
    let window = Memo::new(move |_| view.with(|view| view.window_in(opened.times.reach.get())));
    // Which ranks have lines depends on the times of all ranks.
    let is_known = move || all.with(|all| all.len() <= MOST_LINES) || known.read().is_known();
    let question = Memo::new(move |_| is_known().then(|| (asked_span(window.get()), ranks.get())));
    let asked = QuestionAnswers::new(question, move |(span, ranks), signal| async move {
        let question = WaitsQuestion { span, steps: MOST_STEPS, ranks: Some(ranks) };
        opened.ask(SourceId::of_first(RankRef::All), question, Some(&signal)).await
    });
    let steps = Memo::new(move |before: Option<&Arc<WaitSteps>>| match asked.answer() {
        Some(Ok(steps)) => steps,
        _ => before.cloned().unwrap_or_default(),
    });
    let plot = Plot {
        opened,
        ranks,
        all,
        steps,
        window,
        hidden: Memo::new(move |_| view.with(|view| view.plots.hidden_lines.clone())),
        pointed: RwSignal::new(None),
        colours: Memo::new(move |_| colours()),
        messages: expect_context(),
    };
    let failed = Memo::new(move |_| asked.answer().and_then(Result::err).map(|error| error.to_string()));
    let said = move || {
        plot.said().unwrap_or_else(|| {
            "Share of time that ranks wait. The lowest line is the rank that the others wait for.".to_owned()
        })
    };
    view! {
        <section class="plot" id=ID aria-label="Waiting over time">
            <div class="plot-head">
                <h2>{TITLE}</h2>
                <Legend plot />
                <span class="muted plot-said">{said}</span>
            </div>
            {move || match failed.get() {
                Some(reason) => {
                    view! { <Failure title="The waits did not arrive" reason on_retry=asked.retry /> }.into_any()
                }
                None => view! { <Area plot /> }.into_any(),
            }}
        </section>
    }
}

/// The shapes with their colours. A click hides a shape or shows it again.
#[component]
fn Legend(plot: Plot) -> impl IntoView {
    let button = move |line: WaitLine| {
        let toggle = move |_| {
            plot.opened.act(&Command::Plots(PlotsChange::ToggleLine(line)));
        };
        view! {
            <button
                class="plot-kind"
                type="button"
                aria-pressed=move || plot.is_drawn(line).to_string()
                title="Hide or show this line"
                on:click=toggle
            >
                <span
                    class=match line {
                        WaitLine::Rank(_) => "plot-dot",
                        WaitLine::Median => "plot-dot plot-dot-line",
                        WaitLine::Range => "plot-dot plot-dot-range",
                    }
                    aria-hidden="true"
                    style:background=move || plot.colour(line)
                ></span>
                {words(line)}
            </button>
        }
    };
    let shapes = move || {
        let all = plot.is_part().then_some([WaitLine::Median, WaitLine::Range]).into_iter().flatten();
        let ranks = plot.ranks.get().into_iter().map(WaitLine::Rank);
        ranks.chain(all).map(button).collect_view()
    };
    view! {
        <div class="plot-legend" role="group" aria-label="Lines">
            {shapes}
        </div>
    }
}

/// The lines with both axes.
#[component]
fn Area(plot: Plot) -> impl IntoView {
    let node = NodeRef::<Div>::new();
    let size = RwSignal::new(Size::default());
    measure::follow(node, node, size);
    let point = move |event: &web_sys::MouseEvent| {
        let Some(area) = node.get_untracked() else { return };
        let across = f64::from(event.offset_x()) / f64::from(area.client_width()).max(1.0);
        let above = 1.0 - f64::from(event.offset_y()) / f64::from(area.client_height()).max(1.0);
        plot.point(across, above);
    };
    let press = move |event: web_sys::KeyboardEvent| {
        match event.key().as_str() {
            "ArrowLeft" => plot.walk(-1, 0),
            "ArrowRight" => plot.walk(1, 0),
            "ArrowUp" => plot.walk(0, -1),
            "ArrowDown" => plot.walk(0, 1),
            "Enter" => plot.go(),
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    };
    let scale = move || {
        let top = f64::from(plot.steps.with(|steps| waits::top(steps)));
        [top, top / 2.0, 0.0].map(|share| view! { <span>{format::percent(share)}</span> }).collect_view()
    };
    view! {
        <div class="plot-time">
            <div class="plot-time-scale" aria-hidden="true">
                {scale}
            </div>
            <div
                class="plot-time-area"
                node_ref=node
                tabindex="0"
                role="slider"
                aria-label="Step. Arrow keys move, Enter shows what the late rank did"
                aria-valuemin="0"
                aria-valuemax=move || plot.steps.with(|steps| steps.most.len()).saturating_sub(1).to_string()
                aria-valuenow=move || plot.pointed.get().map_or(0, |(at, _)| at).to_string()
                aria-valuetext=move || plot.said()
                on:pointermove=move |event| point(&event)
                on:pointerleave=move |_| plot.pointed.set(None)
                on:click=move |event| {
                    point(&event);
                    plot.go();
                }
                on:keydown=press
            >
                <Lines plot />
            </div>
            <TimeAxis
                window=plot.window
                first_ps=Signal::derive(move || plot.first_ps())
                width_px=Signal::derive(move || size.get().width_px)
            />
        </div>
    }
}

/// The lines.
#[component]
fn Lines(plot: Plot) -> impl IntoView {
    let sight = move || {
        let (start, width) = plot.steps.with(|steps| waits::sight(steps, plot.window.get()));
        format!("{start:.4} -1.02 {width:.4} 1.04")
    };
    let shapes = move || {
        let steps = plot.steps.get();
        let top = waits::top(&steps);
        let range = (plot.is_part() && plot.is_drawn(WaitLine::Range))
            .then(|| view! { <path class="plot-range" d=waits::area(&steps.least, &steps.most, top) /> });
        let median = (plot.is_part() && plot.is_drawn(WaitLine::Median))
            .then(|| view! { <path class="plot-line plot-line-median" d=waits::line(&steps.median, top) /> });
        let line = |of: &nprof_engine::wire::waits::WaitShares| {
            let line = WaitLine::Rank(of.rank);
            let rank = of.rank;
            let is_pointed = move || plot.pointed.get().is_some_and(|(_, pointed)| pointed == rank);
            plot.is_drawn(line).then(|| {
                let colour = plot.colour(line);
                view! {
                    <path
                        class="plot-line"
                        class:is-pointed=is_pointed
                        style:color=colour
                        d=waits::line(&of.shares, top)
                    />
                }
            })
        };
        let lines = steps.ranks.iter().map(line).collect_view();
        view! { {range} {median} {lines} }
    };
    let cursor = move || {
        plot.pointed.get().map(|(at, _)| {
            view! { <rect class="plot-cursor" x=at.to_string() y="-1.02" width="1" height="1.04" /> }
        })
    };
    view! {
        <svg viewBox=sight preserveAspectRatio="none" aria-hidden="true">
            {cursor}
            {shapes}
        </svg>
    }
}
