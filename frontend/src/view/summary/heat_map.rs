//! The activity of ranks as a heat map: a row for each rank, a column for each span of time. The
//! stronger a cell, the larger its share.

use std::collections::HashMap;

use nprof_engine::base::{Interval, signed};
use nprof_engine::wire::activity::{ActivityRate, ActivityShares};

use crate::view::ranks::waits::top_of;

/// Most rows with a label.
const MOST_LABELS: usize = 9;

/// Shares of all ranks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HeatMap {
    /// The ranks, a row each.
    pub ranks: Vec<u32>,
    /// Number of columns.
    pub columns: usize,
    /// The share whose cells are strongest, no less than any share.
    pub top: f32,
    /// The time of all columns.
    pub whole: Interval,
    /// The rate that the share 1 means, if cells are rates and no shares of time.
    pub rate: Option<ActivityRate>,
    step_ps: i64,
    /// The shares, row by row.
    shares: Vec<f32>,
}

/// A place of a heat map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeatCell {
    /// Position of the rank among the rows.
    pub row: usize,
    /// Position of the span.
    pub column: usize,
}

/// A rank with its share of the whole time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanOfRank {
    /// Number of the rank.
    pub rank: u32,
    /// The share, from 0 to 1.
    pub share: f64,
}

impl HeatMap {
    /// The shares with the ranks in this order. Ranks without shares are left out.
    #[must_use]
    pub fn of(found: &ActivityShares, order: &[u32]) -> Self {
        let of_rank: HashMap<u32, &[f32]> =
            found.ranks.iter().map(|of| (of.rank, of.shares.as_slice())).collect();
        let columns = found.ranks.iter().map(|of| of.shares.len()).max().unwrap_or(0);
        let rows = order.iter().filter_map(|rank| Some((*rank, *of_rank.get(rank)?)));
        let rows = rows.filter(|(_, shares)| shares.len() == columns && columns > 0);
        let (ranks, shares): (Vec<u32>, Vec<&[f32]>) = rows.unzip();
        let shares = shares.concat();
        let top = top_of(shares.iter().copied().fold(0.0, f32::max));
        let whole = Interval::new(found.start_ps, found.end_ps);
        Self { ranks, columns, top, whole, rate: found.rate, step_ps: found.step_ps, shares }
    }

    /// Whether there is nothing to show.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shares.is_empty()
    }

    /// The cell at a place, in shares of the width from the left and of the height from the top.
    #[must_use]
    pub fn cell_at(&self, across: f64, down: f64) -> Option<HeatCell> {
        let place = |share: f64, of: usize| {
            let at = (share.clamp(0.0, 1.0) * of as f64) as usize;
            of.checked_sub(1).map(|last| at.min(last))
        };
        Some(HeatCell { row: place(down, self.ranks.len())?, column: place(across, self.columns)? })
    }

    /// The cell at this distance, or the last one on the way.
    #[must_use]
    pub fn beside(&self, cell: HeatCell, rows: isize, columns: isize) -> HeatCell {
        let step = |at: usize, by: isize, of: usize| at.saturating_add_signed(by).min(of.saturating_sub(1));
        HeatCell {
            row: step(cell.row, rows, self.ranks.len()),
            column: step(cell.column, columns, self.columns),
        }
    }

    /// The time of a column.
    #[must_use]
    pub fn span(&self, column: usize) -> Interval {
        let start_ps = self.whole.start.0.saturating_add(self.step_ps.saturating_mul(signed(column)));
        Interval::lasting(start_ps, self.step_ps).intersection(self.whole)
    }

    /// The share of a cell.
    #[must_use]
    pub fn share(&self, cell: HeatCell) -> f64 {
        let at = cell.row * self.columns + cell.column;
        f64::from(self.shares.get(at).copied().unwrap_or_default())
    }

    /// The ranks with the least and the largest share of the whole time. The first of equal ranks
    /// is named. `None` without ranks.
    #[must_use]
    pub fn extremes(&self) -> Option<(MeanOfRank, MeanOfRank)> {
        let means = || (0..self.ranks.len()).map(|row| self.mean(row));
        let least = means().min_by(|a, b| a.share.total_cmp(&b.share))?;
        let most = means().rev().max_by(|a, b| a.share.total_cmp(&b.share))?;
        Some((least, most))
    }

    fn mean(&self, row: usize) -> MeanOfRank {
        let of_column =
            |column| self.share(HeatCell { row, column }) * self.span(column).duration_ps() as f64;
        let sum: f64 = (0..self.columns).map(of_column).sum();
        MeanOfRank { rank: self.ranks[row], share: sum / (self.whole.duration_ps() as f64).max(1.0) }
    }

    /// The rows with a label, if so many have room: the first and the last one, and some between at
    /// equal distances.
    #[must_use]
    pub fn labelled_rows(&self, room: usize) -> Vec<usize> {
        let last = self.ranks.len().saturating_sub(1);
        let most = room.clamp(1, MOST_LABELS).min(self.ranks.len());
        match most {
            0 => Vec::new(),
            1 => vec![0],
            _ => (0..most).map(|at| at * last / (most - 1)).collect(),
        }
    }

    /// Red, green, blue and alpha of each cell, row by row.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "shares of 0 to 1 times 255")]
    pub fn pixels(&self, [red, green, blue]: [u8; 3]) -> Vec<u8> {
        let alpha = |share: &f32| ((share / self.top).clamp(0.0, 1.0) * f32::from(u8::MAX)).round() as u8;
        self.shares.iter().flat_map(|share| [red, green, blue, alpha(share)]).collect()
    }
}

#[cfg(test)]
mod tests {
    use nprof_engine::wire::activity::RankShares;

    use super::*;

    fn map(order: &[u32]) -> HeatMap {
        let of = |rank, shares: &[f32]| RankShares { rank, shares: shares.to_vec() };
        let ranks = vec![of(0, &[0.25, 0.0, 0.1]), of(1, &[0.5, 0.25, 0.0]), of(7, &[0.0, 0.0, 0.2])];
        let found =
            ActivityShares { start_ps: 100, end_ps: 350, step_ps: 100, ranks, ..ActivityShares::default() };
        HeatMap::of(&found, order)
    }

    #[test]
    fn rows_are_in_the_order_of_the_user_and_cells_have_their_spans() {
        let map = map(&[7, 3, 1, 0]);
        assert_eq!((map.ranks.as_slice(), map.columns, map.top), ([7, 1, 0].as_slice(), 3, 0.5));
        let cell = map.cell_at(0.4, 0.5).unwrap();
        assert_eq!((cell, map.share(cell)), (HeatCell { row: 1, column: 1 }, 0.25));
        assert_eq!(map.span(1), Interval::new(200, 300));
        assert_eq!(map.span(2), Interval::new(300, 350));
        assert_eq!(map.cell_at(1.0, 1.0), Some(HeatCell { row: 2, column: 2 }));
        assert_eq!(map.beside(cell, -5, 1), HeatCell { row: 0, column: 2 });
        assert_eq!(map.pixels([1, 2, 3])[12..16], [1, 2, 3, 255]);
        assert_eq!(map.pixels([1, 2, 3]).len(), 3 * 3 * 4);
    }

    #[test]
    fn the_ranks_that_stand_out_have_their_shares_of_the_whole() {
        let (least, most) = map(&[0, 1, 7]).extremes().unwrap();
        assert_eq!((least.rank, most.rank), (7, 1));
        assert!((least.share - 10.0 / 250.0).abs() < 1e-6 && (most.share - 75.0 / 250.0).abs() < 1e-6);
        let empty = HeatMap::of(&ActivityShares::default(), &[0, 1]);
        assert!(empty.is_empty() && empty.extremes().is_none() && empty.cell_at(0.5, 0.5).is_none());
        assert!(empty.labelled_rows(4).is_empty() && empty.pixels([0; 3]).is_empty());
    }

    #[test]
    fn the_first_and_the_last_row_have_labels() {
        let ranks = (0..64).map(|rank| RankShares { rank, shares: vec![0.5] }).collect();
        let found =
            ActivityShares { start_ps: 0, end_ps: 10, step_ps: 10, ranks, ..ActivityShares::default() };
        let order: Vec<u32> = (0..64).collect();
        let many = HeatMap::of(&found, &order);
        assert_eq!(many.labelled_rows(8), [0, 9, 18, 27, 36, 45, 54, 63]);
        assert_eq!(many.labelled_rows(2), [0, 63]);
        assert_eq!(many.labelled_rows(0), [0]);
        assert_eq!(map(&[0, 1, 7]).labelled_rows(8), [0, 1, 2]);
    }
}
