//! Rows that are too low for bars: a strip over the whole height of the lane, whose colour is as
//! strong as the share of time that is waited.

use super::batch::Cells;
use super::instance::{Instance, Paint};
use super::palette;
use super::strip::Strip;

/// Opacity of work in a row that is too low for bars. Work has no colour of its kind there, because
/// only the strength of a colour tells how much is waited.
const HEAT_OF_WORK: f32 = 0.22;

impl Cells<'_> {
    /// Appends strips over the height of the lane, which are as solid as their time is filled.
    pub(super) fn heat(&self, strip: &Strip<'_>, out: &mut Vec<Instance>) {
        let mut add = |start: f32, end: f32, colour: u16, share: f32| {
            let alpha = (share.clamp(0.0, 1.0) * f32::from(u8::MAX)).round() as u8;
            if alpha > 0 {
                let (low, high, lane, paint) = (0.0, 1.0, self.lane, Paint::Heat);
                out.push(Instance { start, end, low, high, lane, paint, colour, alpha });
            }
        };
        for share in &strip.shares {
            let (start, end) = (share.cell as f32, share.cell as f32 + 1.0);
            add(start, end, palette::GROUP, share.work * HEAT_OF_WORK);
            add(start, end, palette::HEAT, share.wait);
        }
        for bar in &strip.bars {
            let Instance { start, end, paint, .. } = self.bar(bar);
            match paint {
                Paint::Wait => add(start, end, palette::HEAT, 1.0),
                _ => add(start, end, palette::GROUP, HEAT_OF_WORK),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use nprof_engine::model::SliceForm;
    use nprof_engine::wire::tile::{Content, TileCell, TileSlice};

    use super::*;
    use crate::draw::batch::Batch;
    use crate::draw::names::NameColours;
    use crate::draw::shape::Shape;
    use crate::view::fixture;
    use crate::view::rows::layout::RankLook;
    use crate::view::rows::sheet::tests::sheet_of;
    use crate::view::source_id::SourceId;

    #[test]
    fn low_rows_of_ranks_are_as_strong_as_they_wait() {
        let sheet = sheet_of("Ranks/\n  Rank 3\nTensor");
        let cells = [(0, 1_000, 1_000), (1, 1_000, 250)].map(|(cell, busy_ps, wait_ps)| TileCell {
            cell,
            busy_ps,
            wait_ps,
            count: 9,
            name: 1,
            longest_row: 0,
            longest_ps: 1,
        });
        let slices = [(8_000, 0), (16_000, 1)].map(|(start_ps, name)| TileSlice {
            start_ps,
            duration_ps: 8_000,
            row: 0,
            name,
            form: SliceForm::Complete,
        });
        let lanes = [Content::Cells(cells.to_vec()), Content::Slices(slices.to_vec())];
        let looks = lanes.map(|content| {
            let lane = fixture::lane(101, content);
            let tile = fixture::tile(1_000, &["wait for rank 0", "all_reduce"], vec![lane]);
            let shape = Shape::new(&sheet);
            let batch = Batch::looking(
                RankLook::Heat,
                &tile,
                SourceId::of_first(0),
                &sheet,
                &shape,
                &NameColours::default(),
            );
            batch.instances.iter().map(|i| (i.start, i.colour == palette::HEAT, i.alpha)).collect::<Vec<_>>()
        });
        assert_eq!(looks[0], [(0.0, true, 255), (1.0, false, 42), (1.0, true, 64)]);
        assert_eq!(looks[1], [(8.0, true, 255), (16.0, false, 56)]);
    }
}
