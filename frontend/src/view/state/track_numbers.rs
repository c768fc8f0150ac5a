//! Track numbers of links of version 1. They become paths as soon as the tracks are known.

use std::collections::BTreeSet;

use super::View;
use crate::view::Reading;
use crate::view::rows::layout::sight::TopRow;
use crate::view::rows::sheet::Sheet;
use crate::view::rows::sheet_track::SheetTrack;
use crate::view::source_id::SourceId;

/// Content of a link of version 1, by track numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Numbered {
    /// Groups that differ from their initial state.
    pub toggled: BTreeSet<u32>,
    /// The counter that is read: its track, and the timestamp in picoseconds.
    pub reading: Option<(u32, i64)>,
    /// The first visible track.
    pub top: Option<u32>,
}

impl Numbered {
    /// Moves the numbers into a view, as paths. Numbers that no track has are dropped.
    pub(super) fn upgrade(self, view: &mut View, sheet: &Sheet, source: SourceId) {
        let track = |number: u32| -> Option<&SheetTrack> { sheet.track(source, number) };
        for group in self.toggled.into_iter().filter_map(track) {
            view.tracks.groups.entry(group.path.clone()).or_insert(group.starts_closed);
        }
        let reading = self.reading.and_then(|(number, time_ps)| Some((track(number)?, time_ps)));
        if let Some((counter, time_ps)) = reading {
            view.selection.reading.get_or_insert(Reading { track: counter.path.clone(), time_ps });
        }
        if let Some(first) = self.top.and_then(track) {
            view.tracks.top.get_or_insert(TopRow { source: None, path: first.path.clone(), lane: 0 });
        }
    }
}
