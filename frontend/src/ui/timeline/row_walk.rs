//! Steps across sorted rows of ranks. A segment steps in the order of its tracks, which is not the
//! order of these rows.

use nprof_engine::base::Interval;
use nprof_engine::query::StepDirection;
use nprof_engine::wire::catalog::TrackKind;
use nprof_engine::wire::detail::SliceDetail;

use super::canvas_content::ShownTimeline;
use super::slice_search::{MOST_SLICES, nearest_in};
use crate::fetch::{FetchError, RankSource};
use crate::view::rows::layout::Row;

/// A step across tracks that begins or ends in a row of a rank.
#[derive(Debug, Clone, Copy)]
pub enum Across {
    /// To the calls of a rank.
    Into(Calls),
    /// To a track outside of this group of ranks.
    OutOf(u32),
}

/// The calls of a rank, and the slice from which the step comes.
#[derive(Debug, Clone, Copy)]
pub struct Calls {
    track: u32,
    from: Interval,
    window: Interval,
}

impl Across {
    /// The step from the selected slice. `None` if the order of tracks there is of the segment.
    #[must_use]
    pub fn of(shown: &ShownTimeline, direction: StepDirection) -> Option<Self> {
        let (sheet, rows) = (&*shown.sheet, &shown.layout.rows);
        let (at, slice) = shown.selected_at_edge(direction)?;
        let track = sheet.tracks().get(at)?;
        let place = rows.iter().position(|row| row.track == at)?;
        let next = |row: &Row| {
            let next = sheet.tracks().get(row.track)?;
            let has_slices = next.kind == TrackKind::Slices && next.rows > 0;
            (has_slices && next.source == track.source).then_some(next)
        };
        let next = match direction {
            StepDirection::Up => rows[..place].iter().rev().find_map(next),
            _ => rows[place + 1..].iter().find_map(next),
        };
        match next.map(|next| (next.rank, next.number)) {
            Some((Some(_), Some(number))) => {
                let end_ps = slice.start_ps.saturating_add(slice.duration_ps.max(1));
                let from = Interval::new(slice.start_ps, end_ps);
                Some(Self::Into(Calls { track: number, from, window: shown.window }))
            }
            _ => Some(Self::OutOf(sheet.tracks().get(track.rank.and(track.parent)?)?.number?)),
        }
    }
}

impl Calls {
    /// The call that begins nearest to the slice: one at the same time, else one in the window.
    ///
    /// # Errors
    /// If the question has no answer.
    pub async fn nearest(self, source: RankSource) -> Result<Option<SliceDetail>, FetchError> {
        let spans = [(self.from, MOST_SLICES), (self.window, MOST_SLICES)];
        nearest_in(source, self.track, self.from.start.0, spans).await
    }
}
