//! Computation of a rank: a skyline without lines, because it stands below the bars of calls.

use super::batch::Cells;
use super::instance::{Instance, Paint};
use super::palette;
use super::values::Values;

/// Opacity of the part between the smallest and the largest share in a cell.
const BETWEEN: u8 = 110;

impl Cells<'_> {
    /// Appends the shares of a load. All ranks have the scale from 0 to 1.
    pub(super) fn load(&self, of: &Values, out: &mut Vec<Instance>) {
        let (start, end) = (self.clamped(of.start), self.clamped(of.end));
        for (low, high, alpha) in [(0.0, of.min, u8::MAX), (of.min, of.max, BETWEEN)] {
            let (low, high) = (low.clamp(0.0, 1.0) as f32, high.clamp(0.0, 1.0) as f32);
            if end > start && high > low {
                let (lane, paint, colour) = (self.lane, Paint::Cell, palette::GROUP);
                out.push(Instance { start, end, low, high, lane, paint, colour, alpha });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use nprof_engine::tile::CELLS;
    use nprof_engine::wire::tile::{Content, TileRange, TileSample};

    use super::*;
    use crate::draw::batch::Batch;
    use crate::draw::names::NameColours;
    use crate::draw::shape::Shape;
    use crate::view::fixture;
    use crate::view::rows::sheet::tests::sheet_of;
    use crate::view::source_id::SourceId;

    #[track_caller]
    fn check(content: Content, expected: &[(f32, f32, f32, f32, u8)]) {
        let sheet = sheet_of("Ranks/\n  Rank 0\nLoads/\n  Rank 0~");
        let tile = fixture::tile(10, &[], vec![fixture::lane(103, content)]);
        let batch =
            Batch::new(&tile, SourceId::of_first(0), &sheet, &Shape::new(&sheet), &NameColours::default());
        let drawn = batch.instances.iter().map(|one| {
            assert_eq!((one.paint, one.colour), (Paint::Cell, palette::GROUP));
            (one.start, one.end, one.low, one.high, one.alpha)
        });
        assert_eq!(drawn.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn shares_are_heights_from_zero_to_one() {
        let sample = |time_ps, value| TileSample { time_ps, value, row: 0 };
        check(
            Content::Samples(vec![sample(0, 0.5), sample(20, 0.0), sample(30, 0.25)]),
            &[
                (0.0, 1.0, 0.0, 0.5, 255),
                (1.0, 2.0, 0.0, 0.5, 255),
                (3.0, 4.0, 0.0, 0.25, 255),
                (4.0, CELLS as f32, 0.0, 0.25, 255),
            ],
        );
        let range = TileRange { cell: 3, min: 0.25, max: 0.75, last: 0.0 };
        check(Content::Ranges(vec![range]), &[(3.0, 4.0, 0.0, 0.25, 255), (3.0, 4.0, 0.25, 0.75, BETWEEN)]);
    }
}
