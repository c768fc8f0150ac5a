//! Steps from row to row: to counters, to the headings of closed groups, and from both to slices.
//! Only the page knows which rows lie side by side.

use leptos::prelude::*;
use leptos::task::spawn_local;
use nprof_engine::base::Interval;
use nprof_engine::query::StepDirection;
use nprof_engine::wire::detail::SliceDetail;

use super::canvas_content::ShownTimeline;
use super::heading::{focus_heading, focused_heading, leave_headings};
use super::scroll::scroll_to;
use super::slice_search::{MOST_SLICES, nearest_in};
use super::step::{Steps, edge};
use crate::view::rows::row_step::RowStep;
use crate::view::{Command, Reading};

/// The kind of row that a step leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    /// A slice in the lane at the edge of its track.
    Slice,
    /// A counter.
    Counter,
    /// The heading of a group, which has the focus.
    Heading,
}

/// The row that a step leaves.
#[derive(Debug, Clone, Copy)]
struct Leaving {
    what: Left,
    /// Index of the track.
    at: usize,
    /// The time at which the next row is read.
    time_ps: i64,
}

impl Leaving {
    /// The row of the focused heading, else that of the selection. `None` for a slice with further
    /// lanes of its track in this direction.
    fn of(shown: &ShownTimeline, direction: StepDirection) -> Option<Self> {
        let window = shown.window;
        let middle_ps = window.start.0.saturating_add(window.duration_ps() / 2);
        if let Some(row) = focused_heading().and_then(|place| shown.layout.rows.get(place)) {
            return Some(Self { what: Left::Heading, at: row.track, time_ps: middle_ps });
        }
        if let Some(Reading { track, time_ps }) = &shown.reading {
            let at = shown.sheet.find(shown.current, track)?;
            return Some(Self { what: Left::Counter, at, time_ps: *time_ps });
        }
        let (at, slice) = shown.selected_at_edge(direction)?;
        let middle_ps = slice.start_ps.saturating_add(slice.duration_ps / 2);
        let time_ps = middle_ps.clamp(window.start.0, window.end.0);
        Some(Self { what: Left::Slice, at, time_ps })
    }
}

impl Steps {
    /// Steps to the next row, if that is a counter or a closed group, or if the step leaves one.
    /// Returns false for all other steps.
    pub(super) fn step_rows(self, direction: StepDirection) -> bool {
        let step = self.stage.with(|stage| {
            let shown = stage.shown();
            let leaving = Leaving::of(shown, direction)?;
            let next = RowStep::of(&shown.sheet, &shown.layout, leaving.at, direction);
            Some((leaving, next, shown.window))
        });
        let Some((leaving, next, window)) = step.flatten() else { return false };
        if matches!(direction, StepDirection::Next | StepDirection::Previous) {
            if leaving.what == Left::Counter {
                self.say("These keys step along slices. Up and down lead to the next row");
            }
            leave_headings();
            return leaving.what == Left::Counter;
        }
        match next {
            _ if self.is_stepping.get_value() => true,
            // The server says where the slices end.
            None | Some(RowStep::Slices(_)) if leaving.what == Left::Slice => false,
            None => {
                self.say(edge(direction));
                true
            }
            Some(RowStep::Slices(at)) => {
                self.step_into(at, leaving.time_ps, window, direction);
                true
            }
            Some(RowStep::Counter(at)) => {
                self.read(at, leaving.time_ps);
                true
            }
            Some(RowStep::Closed(at)) => {
                self.focus(at);
                true
            }
        }
    }

    /// Reads the counter of a track, and says its name.
    fn read(self, at: usize, time_ps: i64) {
        leave_headings();
        let found = self.tracks.sheet.with_untracked(|sheet| {
            let track = sheet.tracks().get(at)?;
            Some((track.path.clone(), track.name.clone()))
        });
        if let Some((track, name)) = found {
            self.on_command.run(Command::Read(Reading { track, time_ps }));
            self.say(&format!("Counter {name}"));
        }
    }

    /// Gives the focus to the heading of a closed group. Its own keys open it.
    fn focus(self, at: usize) {
        let place = self.stage.with(|stage| stage.shown().layout.rows.iter().position(|row| row.track == at));
        let Some(place) = place.flatten() else { return };
        let scroll = move || {
            let scroll = self.tracks.sheet.with_untracked(|sheet| scroll_to(sheet, at));
            scroll.into_iter().for_each(|scroll| self.on_command.run(scroll));
        };
        focus_heading(place, scroll);
        let name = self.tracks.sheet.with_untracked(|sheet| sheet.tracks().get(at).map(|of| of.name.clone()));
        self.say(&format!("Group {} is closed. Enter opens it", name.unwrap_or_default()));
    }

    fn step_into(self, at: usize, time_ps: i64, window: Interval, direction: StepDirection) {
        let source = self.stage.with(|stage| stage.shown().current_source()).flatten();
        let number = self.tracks.sheet.with_untracked(|sheet| sheet.tracks().get(at)?.number);
        let (Some(source), Some(track)) = (source, number) else { return };
        leave_headings();
        let current = self.tracks.current.get_untracked();
        self.is_stepping.set_value(true);
        spawn_local(async move {
            // The slice that runs at the time, else the nearest one in the window, else the first.
            let now = Interval::new(time_ps, time_ps.saturating_add(1));
            let whole = Interval::new(i64::MIN / 2, i64::MAX / 2);
            let spans = [(now, MOST_SLICES), (window, MOST_SLICES), (whole, 1)];
            let answer = nearest_in(source, track, time_ps, spans).await;
            let times = |detail: &SliceDetail| (detail.slice.start_ps, detail.slice.duration_ps);
            self.arrive(current, answer, times, edge(direction));
        });
    }
}
