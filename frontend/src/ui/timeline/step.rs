//! The timeline's commands, and the steps from slice to slice, which are questions to the server.

use leptos::prelude::*;
use leptos::task::spawn_local;
use nprof_engine::analysis::job_segment::Sense;
use nprof_engine::base::Interval;
use nprof_engine::query::StepDirection;
use nprof_engine::wire::answer::StepTo;
use nprof_engine::wire::catalog::TrackKind;
use nprof_engine::wire::detail::SliceDetail;
use nprof_engine::wire::questions::StepQuestion;

use super::Tracks;
use super::row_walk::Across;
use super::scroll::scroll_to;
use super::stage::StageHandle;
use crate::fetch::FetchError;
use crate::view::pointing::fitted_slice::FittedSlice;
use crate::view::ranks::standing::RankOrder;
use crate::view::rows::layout::sight::TopRow;
use crate::view::rows::sheet::Sheet;
use crate::view::source_id::SourceId;
use crate::view::{Act, Command, View};

/// Zoom factor of one [`Act::ZoomIn`]: the window becomes this share of itself.
const ZOOM: f64 = 0.75;
/// Distance of one [`Act::MoveRight`], as a share of the window.
const PAN: f64 = 0.15;

/// The commands of one timeline.
#[derive(Debug, Clone, Copy)]
pub struct Steps {
    /// The current view.
    pub view: Signal<View>,
    /// The tracks.
    pub tracks: Tracks,
    /// The stage that shows the view.
    pub stage: StageHandle,
    /// Receives the user's commands.
    pub on_command: Callback<Command>,
    /// Receives the reason why a step failed.
    pub problem: RwSignal<Option<String>>,
    /// Receives what a key did not find, for users of screen readers. `None` once a slice is
    /// selected.
    pub said: RwSignal<Option<String>>,
    /// True while a step is in flight. Held keys send more than can be answered.
    pub is_stepping: StoredValue<bool>,
    /// The slice of the last zoom to one.
    pub fitted: StoredValue<Option<FittedSlice>>,
}

impl Steps {
    /// Runs a command. Returns false if it is not one of the timeline.
    pub fn run(self, act: Act) -> bool {
        match act {
            Act::ZoomIn => self.on_command.run(Command::ZoomMiddle { factor: ZOOM }),
            Act::ZoomOut => self.on_command.run(Command::ZoomMiddle { factor: 1.0 / ZOOM }),
            Act::MoveLeft => self.on_command.run(Command::Pan { windows: -PAN }),
            Act::MoveRight => self.on_command.run(Command::Pan { windows: PAN }),
            Act::ShowAll => self.on_command.run(Command::ShowAll),
            Act::NextSlice => self.step(StepDirection::Next),
            Act::PreviousSlice => self.step(StepDirection::Previous),
            Act::SliceAbove => self.step(StepDirection::Up),
            Act::SliceBelow => self.step(StepDirection::Down),
            // Without an operation, the page steps to a finding.
            Act::NextOperation | Act::PreviousOperation if !self.is_operation() => return false,
            Act::NextOperation => self.step_to_operation(Sense::Next),
            Act::PreviousOperation => self.step_to_operation(Sense::Previous),
            Act::ZoomToSlice => self.fit(),
            Act::MarkSlice => {
                if let Some(detail) = self.stage.with(|stage| stage.shown().selected.clone()).flatten() {
                    let slice = &detail.slice;
                    let span =
                        Interval::new(slice.start_ps, slice.start_ps.saturating_add(slice.duration_ps));
                    self.on_command.run(Command::MarkSlice { span, name: slice.name.clone() });
                }
            }
            Act::Drop => {
                let is_marked = self.view.with_untracked(|view| view.selection.marked.is_some());
                self.on_command.run(if is_marked { Command::Mark(None) } else { Command::Select(None) });
            }
            Act::SortRanks(order) => self.sort_ranks(order),
            Act::FitRanks => {
                let height = self.view.with_untracked(|view| view.tracks.height);
                self.on_command.run(Command::SetRankHeight(height.other()));
            }
            _ => return false,
        }
        true
    }

    /// Sorts the rows of ranks. If only such rows are in sight, the first of them come into sight.
    fn sort_ranks(self, order: RankOrder) {
        self.on_command.run(Command::SortRanks(order));
        let top = self.view.with_untracked(|view| view.tracks.top.clone());
        let heading = self.tracks.sheet.with_untracked(|sheet| {
            let TopRow { source, path, .. } = top?;
            let source = source.unwrap_or_else(|| self.tracks.current.get_untracked());
            sheet.tracks().get(sheet.find(source, &path)?)?.rank?;
            scroll_to(sheet, sheet.rank_group()?)
        });
        heading.into_iter().for_each(|scroll| self.on_command.run(scroll));
    }

    /// Whether an operation of all ranks or a call of one is selected.
    fn is_operation(self) -> bool {
        let selected = self.stage.with(|stage| stage.shown().selected.clone()).flatten();
        selected.is_some_and(|detail| !detail.members.is_empty())
    }

    fn step(self, direction: StepDirection) {
        let current = self.tracks.current.get_untracked();
        if self.step_rows(direction) {
            return;
        }
        let Some(row) = self.view.with_untracked(|view| view.selection.row) else {
            // The first step selects a visible slice.
            if let Some((source, row)) = self.stage.with(|stage| stage.slice_in_sight()).flatten() {
                self.on_command.run(Command::Select(Some(row)).in_rank(source, current));
            }
            return;
        };
        if self.is_stepping.get_value() {
            return;
        }
        let source = self.stage.with(|stage| stage.shown().current_source()).flatten();
        let Some(source) = source else { return };
        let is_sorted = self.view.with_untracked(|view| view.tracks.order != RankOrder::Number);
        let across = self.stage.with(|stage| Across::of(stage.shown(), direction)).flatten();
        let across = across.filter(|_| is_sorted);
        self.is_stepping.set_value(true);
        spawn_local(async move {
            let Some(sheet) = self.tracks.sheet.try_get_untracked() else { return };
            let mut closed = closed_groups(&sheet, current, self.view);
            let to = StepTo::Slice(direction);
            let answer = match across {
                Some(Across::Into(calls)) => calls.nearest(source).await,
                Some(Across::OutOf(group)) => {
                    closed.push(group);
                    source.ask(StepQuestion { row, to, closed }, None).await
                }
                None => source.ask(StepQuestion { row, to, closed }, None).await,
            };
            let times = |detail: &SliceDetail| (detail.slice.start_ps, detail.slice.duration_ps);
            self.arrive(current, answer, times, edge(direction));
        });
    }

    /// Steps to an operation beside the selected one. All of its front comes into sight.
    fn step_to_operation(self, sense: Sense) {
        let current = self.tracks.current.get_untracked();
        let Some(row) = self.view.with_untracked(|view| view.selection.row) else { return };
        let source = self.stage.with(|stage| stage.shown().current_source()).flatten();
        let Some(source) = source.filter(|_| !self.is_stepping.get_value()) else { return };
        self.is_stepping.set_value(true);
        spawn_local(async move {
            let question = StepQuestion { row, to: StepTo::Operation(sense), closed: Vec::new() };
            let answer = source.ask(question, None).await;
            let times = |detail: &SliceDetail| {
                let start_ps = detail.members.iter().map(|one| one.start_ps).min().unwrap_or_default();
                let end_ps = detail.members.iter().map(|one| one.end_ps).max().unwrap_or_default();
                (start_ps, end_ps.saturating_sub(start_ps))
            };
            let edge = match sense {
                Sense::Next => "This is the last operation of its kind",
                Sense::Previous => "This is the first operation of its kind",
            };
            self.arrive(current, answer, times, edge);
        });
    }

    /// Selects the slice to which a step leads, if its rank is still the current one. Start and
    /// duration of what comes into sight are `times`. `edge` says that there is no such slice.
    pub(super) fn arrive(
        self,
        from: SourceId,
        answer: Result<Option<SliceDetail>, FetchError>,
        times: impl Fn(&SliceDetail) -> (i64, i64),
        edge: &str,
    ) {
        self.is_stepping.try_set_value(false);
        match answer {
            Ok(Some(detail)) => {
                self.said.try_set(None);
                let (row, (start_ps, duration_ps)) = (detail.slice.row, times(&detail));
                let Some(sheet) = self.tracks.sheet.try_get_untracked() else { return };
                let is_current = self.tracks.current.try_get_untracked() == Some(from);
                let at = sheet.position(from, detail.slice.track).filter(|_| is_current);
                let Some(at) = at else { return };
                let hidden_by = |view: &View| view.tracks.hidden_by(&sheet, at);
                let Some(hidden_by) = self.view.try_with_untracked(hidden_by) else { return };
                self.on_command.run(Command::Step { row, start_ps, duration_ps, hidden_by });
            }
            Ok(None) => self.say(edge),
            Err(error) => {
                self.problem.try_set(Some(error.to_string()));
            }
        }
    }

    /// Announces a text to users of screen readers, even if it equals the last one.
    pub(super) fn say(self, text: &str) {
        self.said.try_update(|said| {
            // A screen reader repeats only changed text, so add an invisible space.
            let is_repeated = said.as_deref() == Some(text);
            *said = Some(if is_repeated { format!("{text}\u{a0}") } else { text.to_owned() });
        });
    }
}

/// The groups of which only the heading is shown. Steps from slice to slice skip them, so the
/// selection is always in sight.
fn closed_groups(sheet: &Sheet, source: SourceId, view: Signal<View>) -> Vec<u32> {
    let groups = sheet.tracks().iter().filter(|track| track.kind == TrackKind::Group);
    let is_closed = |view: &View| {
        let closed = groups.filter(|group| group.source == source && view.tracks.is_closed(group));
        closed.filter_map(|group| group.number).collect()
    };
    view.try_with_untracked(is_closed).unwrap_or_default()
}

/// The message for a step that leads nowhere.
pub(super) fn edge(direction: StepDirection) -> &'static str {
    match direction {
        StepDirection::Next => "This is the last slice of its lane",
        StepDirection::Previous => "This is the first slice of its lane",
        StepDirection::Up => "There is no track above",
        StepDirection::Down => "There is no track below",
    }
}
