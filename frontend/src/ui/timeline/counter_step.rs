//! Steps to counters, and from counters to slices. Only the page knows which rows lie side by side.

use leptos::prelude::*;
use leptos::task::spawn_local;
use nprof_engine::base::Interval;
use nprof_engine::query::Direction;
use nprof_engine::wire::detail::SliceDetail;

use super::shown::ShownTimeline;
use super::step::{Steps, edge};
use crate::fetch::{FetchError, RankSource};
use crate::view::row_step::RowStep;
use crate::view::{Command, Reading};

/// Slices of a track that are compared to find the nearest one.
const MOST_SLICES: u32 = 1_000;

/// The counter in the row beside the selected slice. `None` if the next row has slices, or if the
/// slice's own track has a lane there.
#[must_use]
pub fn counter_beside(shown: &ShownTimeline, direction: Direction) -> Option<Reading> {
    let slice = &shown.selected.as_ref()?.slice;
    let at = shown.sheet.position(shown.current, slice.track)?;
    let is_last_lane = match direction {
        Direction::Up => slice.lane == 0,
        Direction::Down => slice.lane + 1 >= shown.sheet.tracks().get(at)?.lanes,
        Direction::Next | Direction::Previous => false,
    };
    let RowStep::Counter(counter) = RowStep::of(&shown.sheet, &shown.layout, at, direction)? else {
        return None;
    };
    let middle_ps = slice.start_ps.saturating_add(slice.duration_ps / 2);
    let time_ps = middle_ps.clamp(shown.window.start.0, shown.window.end.0);
    let track = shown.sheet.tracks().get(counter)?.path.clone();
    is_last_lane.then_some(Reading { track, time_ps })
}

impl Steps {
    /// Steps from a counter to the row beside it, at the same time.
    pub(super) fn step_from_counter(self, reading: &Reading, direction: Direction) {
        if matches!(direction, Direction::Next | Direction::Previous) {
            self.say("These keys step along slices. Up and down lead to the next row");
            return;
        }
        let step = self.stage.with(|stage| {
            let shown = stage.shown();
            let at = shown.sheet.find(shown.current, &reading.track)?;
            let step = RowStep::of(&shown.sheet, &shown.layout, at, direction)?;
            Some((step, shown.window, shown.current_source()?))
        });
        match step.flatten() {
            None => self.say(edge(direction)),
            Some((RowStep::Counter(at), ..)) => self.read(at, reading.time_ps),
            Some((RowStep::Slices(at), window, source)) => {
                let number = self.tracks.sheet.with_untracked(|sheet| sheet.tracks().get(at)?.number);
                if let Some(track) = number.filter(|_| !self.is_stepping.get_value()) {
                    self.step_into((source, track), reading.time_ps, window, direction);
                }
            }
        }
    }

    /// Reads the counter of a track, and says its name.
    fn read(self, at: usize, time_ps: i64) {
        let path = self.tracks.sheet.with_untracked(|sheet| {
            let track = sheet.tracks().get(at)?;
            Some((track.path.clone(), track.name.clone()))
        });
        if let Some((track, name)) = path {
            self.on_command.run(Command::Read(Reading { track, time_ps }));
            self.say(&format!("Counter {name}"));
        }
    }

    fn step_into(
        self,
        (source, track): (RankSource, u32),
        time_ps: i64,
        window: Interval,
        direction: Direction,
    ) {
        let current = self.tracks.current.get_untracked();
        self.is_stepping.set_value(true);
        spawn_local(async move {
            let answer = nearest(source, track, time_ps, window).await;
            let times = |detail: &SliceDetail| (detail.slice.start_ps, detail.slice.duration_ps);
            self.arrive(current, answer, times, edge(direction));
        });
    }
}

/// The slice of a track that runs at a time, else the nearest one in the window, else the first.
async fn nearest(
    source: RankSource,
    track: u32,
    time_ps: i64,
    window: Interval,
) -> Result<Option<SliceDetail>, FetchError> {
    let whole = Interval::new(i64::MIN / 2, i64::MAX / 2);
    for (span, most) in
        [(Interval::new(time_ps, time_ps.saturating_add(1)), MOST_SLICES), (window, MOST_SLICES), (whole, 1)]
    {
        let slices = source.clone().slices_of_track(track, span, most).await?;
        let distance = |start_ps: i64| start_ps.abs_diff(time_ps);
        if let Some(slice) = slices.iter().min_by_key(|slice| (distance(slice.start_ps), slice.row)) {
            return source.slice(slice.row).await.map(Some);
        }
    }
    Ok(None)
}
