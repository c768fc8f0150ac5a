//! Steps from row to row: to a track with slices, to a counter, or to a closed group. Pure.

use nprof_engine::query::StepDirection;
use nprof_engine::wire::catalog::TrackKind;

use super::layout::{Layout, Row};
use super::sheet::Sheet;
use super::sheet_track::SheetTrack;

/// The row to which a step leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowStep {
    /// A counter, as the index of its track.
    Counter(usize),
    /// A track with slices, as its index.
    Slices(usize),
    /// A closed group, as the index of its track.
    Closed(usize),
}

impl RowStep {
    /// The step up or down from a track, by index. Headings of open groups and empty tracks are
    /// passed, also the computation of a rank, which is a part of the rank's row. `None` at the
    /// last row.
    #[must_use]
    pub fn of(sheet: &Sheet, layout: &Layout, from: usize, direction: StepDirection) -> Option<Self> {
        let source = sheet.tracks().get(from)?.source;
        let place = layout.rows.iter().position(|row| row.track == from)?;
        let step = |row: &Row| {
            let track = sheet.tracks().get(row.track).filter(|track| track.source == source)?;
            if row.is_closed { Some(Self::Closed(row.track)) } else { Self::to(row.track, track) }
        };
        match direction {
            StepDirection::Up => layout.rows[..place].iter().rev().find_map(step),
            StepDirection::Down => layout.rows[place + 1..].iter().find_map(step),
            StepDirection::Next | StepDirection::Previous => None,
        }
    }

    fn to(at: usize, track: &SheetTrack) -> Option<Self> {
        match track.kind {
            _ if track.rows == 0 => None,
            TrackKind::Slices => Some(Self::Slices(at)),
            TrackKind::Counter if !track.is_load() => Some(Self::Counter(at)),
            TrackKind::Counter | TrackKind::Group => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::rows::sheet::tests::sheet_of;

    #[test]
    fn steps_pass_headings_and_loads() {
        let sheet =
            sheet_of("Power~\nEngines/\n  Tensor*2\n  Heat~\nRanks/\n  Rank 0\nLoads/\n  Rank 0~\nlast");
        let layout = Layout::new(&sheet, |_| false);
        let at = |name: &str| sheet.tracks().iter().position(|track| track.name == name).unwrap();
        let step = |from: &str, direction| RowStep::of(&sheet, &layout, at(from), direction);
        assert_eq!(step("Power", StepDirection::Up), None);
        assert_eq!(step("Power", StepDirection::Down), Some(RowStep::Slices(at("Tensor"))));
        assert_eq!(step("Tensor", StepDirection::Up), Some(RowStep::Counter(at("Power"))));
        assert_eq!(step("Tensor", StepDirection::Down), Some(RowStep::Counter(at("Heat"))));
        assert_eq!(step("Heat", StepDirection::Down), Some(RowStep::Slices(at("Rank 0"))));
        assert_eq!(step("Rank 0", StepDirection::Down), Some(RowStep::Slices(at("last"))));
        assert_eq!(step("last", StepDirection::Down), None);
        assert_eq!(step("Tensor", StepDirection::Next), None);
    }

    #[test]
    fn closed_groups_are_steps() {
        let sheet = sheet_of("a\nEngines/-\n  Tensor\nlast~");
        let layout = Layout::new(&sheet, |track| track.name == "Engines");
        assert_eq!(RowStep::of(&sheet, &layout, 0, StepDirection::Down), Some(RowStep::Closed(1)));
        assert_eq!(RowStep::of(&sheet, &layout, 1, StepDirection::Down), Some(RowStep::Counter(3)));
    }
}
