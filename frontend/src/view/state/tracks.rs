//! The shown ranks, their open groups and the scroll position.

use std::collections::{BTreeMap, BTreeSet};

use nprof_engine::base::order::gathered;
use nprof_engine::wire::rank_ref::RankRef;

use crate::view::Command;
use crate::view::ranks::standing::RankOrder;
use crate::view::rows::layout::RankHeight;
use crate::view::rows::layout::sight::{RowPart, TopRow};
use crate::view::rows::pins::Pins;
use crate::view::rows::sheet::Sheet;
use crate::view::rows::sheet_track::SheetTrack;
use crate::view::rows::track_path::TrackPath;
use crate::view::source_id::SourceId;

/// The shown ranks and their rows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TracksState {
    /// The current rank, which panel and search are about; `None` is the first of the profile.
    pub current: Option<SourceId>,
    /// All shown ranks, with the current one. Empty if only the current rank is shown. Each is
    /// shown of all profiles that have it.
    pub ranks: BTreeSet<RankRef>,
    /// Groups that the user opened (`true`) or closed, in all ranks.
    pub groups: BTreeMap<TrackPath, bool>,
    /// The first visible row of those that are not pinned; `None` is the first of all.
    pub top: Option<TopRow>,
    /// The first visible pinned row; `None` is the first of all.
    pub pins_top: Option<TopRow>,
    /// Order of the ranks in lists, and of their rows among the tracks of all ranks.
    pub order: RankOrder,
    /// Height of the rows of ranks.
    pub height: RankHeight,
    /// The pinned tracks.
    pub pins: Pins,
}

impl TracksState {
    /// The first visible row of a part; `None` is its first one.
    #[must_use]
    pub fn top_of(&self, part: RowPart) -> Option<&TopRow> {
        match part {
            RowPart::Pinned => self.pins_top.as_ref(),
            RowPart::Others => self.top.as_ref(),
        }
    }

    /// Returns true if only the heading of this group is shown.
    #[must_use]
    pub fn is_closed(&self, group: &SheetTrack) -> bool {
        self.groups.get(&group.path).map_or(group.starts_closed, |is_open| !is_open)
    }

    /// The closed groups above a track of a sheet, from the nearest on.
    #[must_use]
    pub fn hidden_by(&self, sheet: &Sheet, at: usize) -> Vec<TrackPath> {
        let above = sheet.above(at).map(|group| &sheet.tracks()[group]);
        above.filter(|group| self.is_closed(group)).map(|group| group.path.clone()).collect()
    }

    /// The ranks to show if the current one is `current`, in order.
    #[must_use]
    pub fn shown_with(&self, current: RankRef) -> BTreeSet<RankRef> {
        gathered(self.ranks.iter().copied().chain([current]))
    }

    pub(in crate::view) fn apply(&mut self, command: &Command) {
        match command {
            Command::SetGroup { path, is_open } => {
                self.groups.insert(path.clone(), *is_open);
            }
            Command::Reveal { hidden_by, .. } | Command::Step { hidden_by, .. } => {
                self.groups.extend(hidden_by.iter().map(|path| (path.clone(), true)));
            }
            Command::ScrollTo(RowPart::Others, top) => self.top.clone_from(top),
            Command::ScrollTo(RowPart::Pinned, top) => self.pins_top.clone_from(top),
            Command::SortRanks(order) => self.order = *order,
            Command::SetRankHeight(height) => self.height = *height,
            Command::Pin(path) => {
                let was_pinned = self.pins.paths.remove(path);
                if !was_pinned {
                    self.pins.paths.insert(path.clone());
                }
            }
            Command::PinRanks(of) => self.pins.of = *of,
            Command::Unpin => (self.pins, self.pins_top) = (Pins::default(), None),
            Command::OpenRank(source) | Command::InRank { source, .. } => self.open(*source),
            Command::ShowRanks { ranks, current } => {
                self.current = Some(*current);
                self.ranks = if ranks.len() > 1 { ranks.clone() } else { BTreeSet::new() };
            }
            _ => {}
        }
    }

    fn open(&mut self, source: SourceId) {
        self.current = Some(source);
        if !self.ranks.contains(&source.rank) {
            self.ranks.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::rows::pins::PinnedRanks;
    use crate::view::rows::sheet::tests::sheet_of;

    fn path(text: &str) -> TrackPath {
        TrackPath::read(text).expect("a path")
    }

    #[test]
    fn closed_groups_hide_all_below() {
        let sheet = sheet_of("DMA/\n  Q/-\n    a\nlone");
        let mut state = TracksState::default();
        assert_eq!(state.hidden_by(&sheet, 2), [path("DMA/Q")]);
        state.apply(&Command::SetGroup { path: path("DMA"), is_open: false });
        assert_eq!(state.hidden_by(&sheet, 2), [path("DMA/Q"), path("DMA")]);
        state.apply(&Command::SetGroup { path: path("DMA/Q"), is_open: true });
        assert_eq!(state.hidden_by(&sheet, 2), [path("DMA")]);
        assert_eq!(state.hidden_by(&sheet, 3), []);
    }

    #[test]
    fn tracks_are_pinned_and_unpinned() {
        let mut state = TracksState::default();
        let pin = |text| Command::Pin(path(text));
        let all = [pin("a"), pin("b"), pin("a"), Command::PinRanks(PinnedRanks::Latest)];
        all.iter().for_each(|command| state.apply(command));
        assert_eq!(state.pins, Pins { paths: [path("b")].into(), of: PinnedRanks::Latest });
        state.apply(&Command::Unpin);
        assert_eq!(state, TracksState::default());
    }

    #[track_caller]
    fn check(commands: &[Command], rank: u32, ranks: &[u32]) {
        let mut state = TracksState::default();
        commands.iter().for_each(|command| state.apply(command));
        assert_eq!(
            (state.current, state.ranks.into_iter().collect::<Vec<_>>()),
            (Some(SourceId::of_first(rank)), ranks.iter().map(|rank| RankRef::Number(*rank)).collect())
        );
    }

    #[test]
    fn ranks_come_and_go() {
        let show = |ranks: &[u32], current: u32| {
            let ranks = ranks.iter().map(|rank| RankRef::Number(*rank)).collect();
            Command::ShowRanks { ranks, current: SourceId::of_first(current) }
        };
        check(&[show(&[0, 7], 0)], 0, &[0, 7]);
        check(&[show(&[0, 3, 7], 0), Command::OpenRank(SourceId::of_first(3))], 3, &[0, 3, 7]);
        check(&[show(&[0, 7], 0), Command::OpenRank(SourceId::of_first(3))], 3, &[]);
        check(&[show(&[0, 7], 0), show(&[0], 0)], 0, &[]);
        check(&[show(&[0, 3, 7], 0), show(&[3, 7], 3)], 3, &[3, 7]);
    }
}
