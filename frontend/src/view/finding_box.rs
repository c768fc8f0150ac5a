//! Boxes around the places of findings: over the rows of the tracks that a place names, or over all
//! rows of a rank if it names only that. Which rows these are follows from the layout alone, so a
//! frame only has to look what is in sight.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use nprof_engine::wire::catalog::{RankDetail, Track};
use nprof_engine::wire::rank_ref::RankRef;

use super::band::BandSpan;
use super::finding_place::FindingPlace;
use super::rows::layout::sight::RowPart;
use super::source_id::SourceId;
use super::{Layout, Sheet};

/// Two rows follow each other if no more than this is between them, in CSS pixels.
const TOUCHING_PX: f64 = 0.5;

/// A finding with a span and rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingBox {
    /// Its times, its saving as the label, its sentence, and the finding.
    pub mark: Arc<BandSpan>,
    /// The ranks whose rows are meant.
    pub ranks: BTreeSet<SourceId>,
    /// Name of the track. `None` if all tracks of the ranks are meant.
    pub track: Option<String>,
    /// Whether the user went to it last.
    pub is_followed: bool,
}

/// A box with its rows.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedBox {
    /// Its times, its saving as the label, its sentence, and the finding.
    pub mark: Arc<BandSpan>,
    /// Whether the user went to it last.
    pub is_followed: bool,
    /// The rows, from top to bottom.
    pub stretches: Arc<[RowStretch]>,
}

/// Rows that follow each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowStretch {
    /// Index of the track of the first row.
    pub track: usize,
    /// Distance of the first row from the top of all rows, in CSS pixels.
    pub top_px: f64,
    /// Height of the rows.
    pub height_px: f64,
}

impl FindingBox {
    /// The ranks of a place. Empty if none is meant in particular.
    #[must_use]
    pub fn ranks_of(place: &FindingPlace, profile: u8) -> BTreeSet<SourceId> {
        let own = place.source.into_iter();
        let several = place.ranks.iter().map(|rank| SourceId { rank: *rank, profile });
        own.chain(several).collect()
    }
}

/// The ranks of a box, and the name of its track.
type BoxPlace<'a> = (&'a BTreeSet<SourceId>, Option<&'a str>);

/// The boxes that have rows, in the same order.
#[must_use]
pub fn placed_boxes(boxes: &[FindingBox], sheet: &Sheet, layout: &Layout) -> Vec<PlacedBox> {
    // Many findings are about few tracks.
    let mut known: HashMap<BoxPlace<'_>, Arc<[RowStretch]>> = HashMap::new();
    let mut placed = Vec::with_capacity(boxes.len());
    for of in boxes {
        let track = of.track.as_deref();
        let stretches = known.entry((&of.ranks, track)).or_insert_with(|| {
            let tracks = of.ranks.iter().flat_map(|source| tracks_of(sheet, *source, track));
            stretches(sheet, layout, tracks).into()
        });
        if !stretches.is_empty() {
            let (mark, stretches) = (Arc::clone(&of.mark), Arc::clone(stretches));
            placed.push(PlacedBox { mark, is_followed: of.is_followed, stretches });
        }
    }
    placed
}

/// Indices of the tracks of a rank that have this name, with the tracks below; without a name all
/// of them. Among the rows of all ranks, that of the rank stands for each of its tracks.
fn tracks_of(sheet: &Sheet, source: SourceId, name: Option<&str>) -> Vec<usize> {
    let all = || sheet.tracks().iter().enumerate();
    let named = name.zip(sheet.source(source)).map_or_else(Vec::new, |(name, rank)| {
        numbers_of(rank, name).filter_map(|number| sheet.position(source, number)).collect()
    });
    let is_named = |at: usize| named.contains(&at) || sheet.above(at).any(|group| named.contains(&group));
    // A queue of the dependency graph can have a name that no track has.
    let own = all().filter(|(at, track)| track.source == source && (named.is_empty() || is_named(*at)));
    let among_all = all().filter(|(_, track)| {
        track.source == source.sibling(RankRef::All) && track.rank.map(RankRef::Number) == Some(source.rank)
    });
    own.chain(among_all).map(|(at, _)| at).collect()
}

/// Numbers of the tracks of a name. That of a group can stand before it, as in the dependency
/// graph.
fn numbers_of<'a>(rank: &'a RankDetail, name: &'a str) -> impl Iterator<Item = u32> + 'a {
    let parent = |of: &Track| rank.tracks.iter().find(|track| Some(track.id) == of.parent);
    let is_after_group = move |of: &Track| {
        let group = name.strip_suffix(of.name.trim()).and_then(|rest| rest.strip_suffix(" / "));
        group.is_some_and(|group| parent(of).is_some_and(|parent| parent.name == group))
    };
    let has_name = move |of: &&Track| of.name.trim() == name || is_after_group(of);
    rank.tracks.iter().filter(has_name).map(|track| track.id)
}

/// The rows of tracks. A hidden track has that of the closed group around it.
fn stretches(sheet: &Sheet, layout: &Layout, tracks: impl Iterator<Item = usize>) -> Vec<RowStretch> {
    let row = |at: usize| {
        let row = layout.row_of(at);
        row.or_else(|| sheet.above(at).find_map(|group| layout.row_of(group)))
    };
    let mut rows: Vec<_> = tracks.filter_map(row).collect();
    rows.sort_by(|a, b| a.top_px.total_cmp(&b.top_px));
    rows.dedup_by_key(|row| row.track);
    let others_px = layout.start_px(RowPart::Others);
    let mut stretches: Vec<RowStretch> = Vec::new();
    for row in rows {
        let last = stretches.last_mut().filter(|last| {
            let is_next = row.top_px - (last.top_px + last.height_px) < TOUCHING_PX;
            // Pinned rows scroll on their own.
            is_next && (row.top_px < others_px) == (last.top_px < others_px)
        });
        match last {
            Some(last) => last.height_px = row.top_px + row.height_px - last.top_px,
            None => {
                stretches.push(RowStretch { track: row.track, top_px: row.top_px, height_px: row.height_px })
            }
        }
    }
    stretches
}

#[cfg(test)]
mod tests {
    use nprof_engine::base::Interval;

    use super::*;
    use crate::view::band::BandTarget;
    use crate::view::rows::layout::tests::tracks;
    use crate::view::rows::sheet::tests::{rank_with, sheet_of};

    fn box_of(rank: u32, track: Option<&str>) -> FindingBox {
        let mark = BandSpan {
            span: Interval::new(0, 100),
            label: "−1 µs".to_owned(),
            title: "a: b".to_owned(),
            target: BandTarget::Finding(0),
        };
        FindingBox {
            mark: Arc::new(mark),
            ranks: [SourceId::of_first(rank)].into(),
            track: track.map(str::to_owned),
            is_followed: false,
        }
    }

    /// The rows of a box as `top+height …`.
    #[track_caller]
    fn check(sheet: &Sheet, closed: &[&str], of: &FindingBox, expected: &str) {
        let layout = Layout::new(sheet, |track| closed.contains(&track.name.as_str()));
        let placed = placed_boxes(std::slice::from_ref(of), sheet, &layout);
        let rows = placed.iter().flat_map(|of| of.stretches.iter());
        let text: Vec<String> = rows.map(|of| format!("{}+{}", of.top_px, of.height_px)).collect();
        assert_eq!(text.join(" "), expected);
    }

    #[test]
    fn a_box_is_over_the_rows_of_its_track() {
        let sheet = sheet_of("Engines/\n  Tensor*2\n  Vector\nDMA/\n  Tensor\nlow");
        check(&sheet, &[], &box_of(0, Some("Vector")), "66+24");
        check(&sheet, &[], &box_of(0, Some("Tensor")), "24+42 114+24");
        check(&sheet, &[], &box_of(0, Some("DMA / Tensor")), "114+24");
        check(&sheet, &[], &box_of(0, Some("Engines")), "0+90");
        check(&sheet, &[], &box_of(1, Some("Vector")), "");
    }

    #[test]
    fn hidden_tracks_have_the_row_of_their_group() {
        let sheet = sheet_of("Engines/\n  Tensor*2\n  Vector\nlow");
        check(&sheet, &["Engines"], &box_of(0, Some("Vector")), "0+24");
        check(&sheet, &["Engines"], &box_of(0, Some("Engines")), "0+24");
        check(&sheet, &["Engines"], &box_of(0, None), "0+48");
    }

    #[test]
    fn a_rank_without_a_track_has_all_its_rows() {
        let sheet = sheet_of("Engines/\n  Tensor*2\n  Vector\nlow");
        check(&sheet, &[], &box_of(0, None), "0+114");
        check(&sheet, &[], &box_of(0, Some("no such track")), "0+114");
        let ranks = [0, 1].map(|rank| Arc::new(rank_with(rank, tracks("Tensor"))));
        check(&Sheet::of(ranks.to_vec()), &[], &box_of(1, None), "48+48");
    }

    #[test]
    fn among_all_ranks_a_rank_has_its_row() {
        let all = rank_with(RankRef::All, tracks("all\nRanks/\n  Rank 0\n  Rank 1*2\n  Rank 2"));
        let sheet = Sheet::of(vec![Arc::new(all)]);
        check(&sheet, &[], &box_of(1, Some("Tensor")), "72+42");
        let both = FindingBox { ranks: [0, 1].map(SourceId::of_first).into(), ..box_of(0, None) };
        check(&sheet, &[], &both, "48+66");
    }
}
