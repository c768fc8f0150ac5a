//! A layout without the tracks that a search leaves dark.

use nprof_engine::wire::catalog::TrackKind;

use super::Layout;
use crate::view::rows::sheet::Sheet;
use crate::view::source_id::SourceId;

impl Layout {
    /// The same rows without tracks that have no hits, and without groups of nothing else; `is_hit`
    /// takes the source and the number of a track. Pinned rows stay. If nothing would be left, all
    /// rows stay.
    #[must_use]
    pub fn of_hits(mut self, sheet: &Sheet, is_hit: impl Fn(SourceId, u32) -> bool) -> Self {
        let mut is_kept = vec![false; sheet.tracks().len()];
        let mut has_hits = false;
        for (at, track) in sheet.tracks().iter().enumerate() {
            let is_lit = track.kind == TrackKind::Slices
                && track.number.is_some_and(|number| is_hit(track.source, number));
            has_hits |= is_lit;
            if is_lit || track.pin.is_some() {
                is_kept[at] = true;
                sheet.above(at).for_each(|group| is_kept[group] = true);
            }
        }
        if !has_hits {
            return self;
        }
        self.rows.retain(|row| is_kept[row.track]);
        self.row_of_track.fill(None);
        let mut top_px = 0.0;
        for (at, row) in (0_u32..).zip(&mut self.rows) {
            self.row_of_track[row.track] = Some(at);
            row.top_px = top_px;
            top_px += row.height_px;
        }
        self.pinned = self.rows.partition_point(|row| sheet.tracks()[row.track].pin.is_some());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::rows::sheet::tests::sheet_of;

    /// The names of the rows with their tops, if the tracks of these names have hits.
    #[track_caller]
    fn check(lit: &[&str], expected: &str) {
        let sheet = sheet_of("Engines/\n  Tensor\n  Vector\nlow\nQueues/\n  q0");
        let is_hit = |source, number| {
            let at = sheet.position(source, number).unwrap();
            lit.contains(&sheet.tracks()[at].name.as_str())
        };
        let layout = Layout::new(&sheet, |group| group.name == "Queues").of_hits(&sheet, is_hit);
        let row = |row: &super::super::Row| {
            assert_eq!(layout.row_of(row.track), Some(row));
            format!("{} {}", sheet.tracks()[row.track].name, row.top_px)
        };
        assert_eq!(layout.rows.iter().map(row).collect::<Vec<_>>().join(", "), expected);
    }

    #[test]
    fn tracks_without_hits_are_left_out() {
        check(&["Vector"], "Engines 0, Vector 24");
        check(&["low"], "low 0");
        check(&["Tensor", "q0"], "Engines 0, Tensor 24, Queues 48");
    }

    #[test]
    fn without_hits_all_tracks_stay() {
        check(&[], "Engines 0, Tensor 24, Vector 48, low 72, Queues 96");
    }
}
