//! Limits of throttling over time, for drawing: a core that may use its whole peak has none.
//!
//! Periods that are narrow at a zoom are summed up by cell, so a tile has a bounded number of
//! limits. The rows of the tile's span are read, because no stored cell knows limits.

use super::schema::{HAM, UNTHROTTLED_KIND};
use crate::base::{Interval, Result};
use crate::exec::Cancel;
use crate::makers::PeakLimit;
use crate::makers::columns::NamedColumns;
use crate::model::{Role, TrackId};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};
use crate::tile::TileId;

/// Least width of a period that is told alone, in cells.
const ALONE_CELLS: i64 = 4;

/// The limits in the span of a tile, by start. `None` if the track shows no throttling.
pub fn limits_of<B: Bytes>(
    segment: &Segment<B>,
    track: TrackId,
    id: TileId,
    cancel: Cancel<'_>,
) -> Result<Option<Vec<PeakLimit>>> {
    let role = segment.footer().tracks[track.0 as usize].spec.identity.role;
    let ham = NamedColumns::of(segment, HAM.name, cancel).filter(|_| role == Role::Throttling);
    let Some(ham) = ham.filter(|ham| segment.table_of(track) == Some(ham.table())) else { return Ok(None) };
    let mut sums = LimitSums::new(id);
    let list = segment.blocks(ham.table())?;
    let first_row = segment.footer().tables[usize::from(ham.table().0)].first_row;
    for block in list.overlapping(segment.blocks_of(track)?, id.interval()) {
        let periods = periods(segment, &ham, block)?;
        for (period, row) in periods.into_iter().zip(first_row + list.first_row(block)..) {
            if let Some(share) =
                period.share.filter(|_| id.interval().overlaps(period.start_ps, period.end_ps))
            {
                sums.add(&period, row, share);
            }
        }
    }
    Ok(Some(sums.finish()))
}

/// A row of throttling.
struct Period {
    start_ps: i64,
    end_ps: i64,
    /// Number of the name.
    name: u32,
    /// Share of the peak that is allowed; `None` without a limit.
    share: Option<f32>,
}

fn periods<B: Bytes>(segment: &Segment<B>, ham: &NamedColumns<'_, B>, block: usize) -> Result<Vec<Period>> {
    let mut core = BlockReader::new(segment, ham.table(), block)?;
    let starts = core.core_ints(ColumnRole::Start)?;
    let durations = core.core_ints(ColumnRole::Duration)?;
    let names = core.core_ints(ColumnRole::Name)?;
    let mut fields = vec![[None; 3]; starts.len()];
    for (at, name) in ["k", "n", "type"].into_iter().enumerate() {
        ham.for_each_int(name, block, |row, value| fields[row][at] = Some(value))?;
    }
    let period = |(row, [k, n, kind]): (usize, [Option<i64>; 3])| Period {
        start_ps: starts[row],
        end_ps: starts[row].saturating_add(durations[row]),
        name: u32::try_from(names[row]).unwrap_or_default(),
        share: allowed(k.zip(n), kind),
    };
    Ok(fields.into_iter().enumerate().map(period).collect())
}

/// The share of the peak that a row allows. `None` if it allows the whole peak.
fn allowed(steps: Option<(i64, i64)>, kind: Option<i64>) -> Option<f32> {
    match steps {
        _ if kind == Some(UNTHROTTLED_KIND) => None,
        Some((k, n)) if n > 0 => (k < n).then(|| (k.max(0) as f64 / n as f64) as f32),
        // A limit of unknown height.
        _ => kind.map(|_| 1.0),
    }
}

/// Narrow periods in one cell.
#[derive(Debug, Clone, Copy, Default)]
struct LimitCell {
    limited_ps: i64,
    /// Picoseconds times the share that is allowed.
    allowed_ps: f64,
    longest_ps: i64,
    row: u32,
    name: u32,
}

struct LimitSums {
    id: TileId,
    alone: Vec<PeakLimit>,
    /// By number of the cell in the tile.
    cells: Vec<LimitCell>,
}

impl LimitSums {
    fn new(id: TileId) -> Self {
        Self { id, alone: Vec::new(), cells: vec![LimitCell::default(); crate::tile::CELLS as usize] }
    }

    fn add(&mut self, period: &Period, row: u32, share: f32) {
        let (cell_ps, tile) = (self.id.level.cell_ps().max(1), self.id.interval());
        let duration_ps = period.end_ps.saturating_sub(period.start_ps);
        if duration_ps >= cell_ps.saturating_mul(ALONE_CELLS) {
            let Period { start_ps, end_ps, name, .. } = *period;
            self.alone.push(PeakLimit { span: Interval::new(start_ps, end_ps), name, row, share, part: 1.0 });
            return;
        }
        let inside = tile.intersection(Interval::new(period.start_ps, period.end_ps));
        let mut at_ps = inside.start.0;
        while at_ps < inside.end.0 {
            let number = (at_ps - tile.start.0) / cell_ps;
            let until_ps = inside.end.0.min(tile.start.0 + (number + 1) * cell_ps);
            if let Some(cell) = usize::try_from(number).ok().and_then(|number| self.cells.get_mut(number)) {
                cell.limited_ps += until_ps - at_ps;
                cell.allowed_ps += (until_ps - at_ps) as f64 * f64::from(share);
                if duration_ps > cell.longest_ps {
                    (cell.longest_ps, cell.row, cell.name) = (duration_ps, row, period.name);
                }
            }
            at_ps = until_ps;
        }
    }

    fn finish(self) -> Vec<PeakLimit> {
        let (cell_ps, start) = (self.id.level.cell_ps().max(1), self.id.interval().start.0);
        let mut limits = self.alone;
        let filled = (0..).zip(&self.cells).filter(|(_, cell)| cell.limited_ps > 0);
        limits.extend(filled.map(|(number, cell)| PeakLimit {
            span: Interval::new(start + number * cell_ps, start + (number + 1) * cell_ps),
            name: cell.name,
            row: cell.row,
            share: (cell.allowed_ps / cell.limited_ps as f64) as f32,
            part: (cell.limited_ps as f64 / cell_ps as f64).min(1.0) as f32,
        }));
        limits.sort_unstable_by_key(|limit| (limit.span.start, limit.row));
        limits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{BuildOptions, Builder};
    use crate::makers::neuron::schema::{Ham, throttle_reason};
    use crate::makers::neuron::{NeuronTracks, SOURCE};
    use crate::model::{RankInfo, Sink, SliceForm, SliceRecord, Value};
    use crate::spill::MemoryScratch;
    use crate::tile::Level;

    /// A rank with periods from start to end: k, n and kind of each.
    fn rank(periods: &[(i64, i64, i64, i64, i64)]) -> (Segment<Vec<u8>>, TrackId) {
        let (scratch, mut bytes) = (MemoryScratch::default(), Vec::new());
        let mut sink = Builder::new(&scratch, &mut bytes, BuildOptions::default()).unwrap();
        sink.rank(RankInfo { source: SOURCE.to_owned(), ..RankInfo::default() });
        let (ham, track) =
            (Ham::define(&mut sink).unwrap(), NeuronTracks::default().throttling(&mut sink, 0).unwrap());
        for &(start_ps, end_ps, k, n, kind) in periods {
            let name = sink.name(&throttle_reason(kind)).unwrap();
            let fields = [(ham.k, Value::Int(k)), (ham.n, Value::Int(n)), (ham.kind, Value::Int(kind))];
            let (duration_ps, form) = (end_ps - start_ps, SliceForm::Complete);
            sink.slice(&SliceRecord { track, start_ps, duration_ps, name, form, fields: &fields }).unwrap();
        }
        sink.finish().unwrap();
        (Segment::open(bytes).unwrap(), track)
    }

    /// Start, end, share and part of each limit in the first tile of the cells of this width.
    fn shown(periods: &[(i64, i64, i64, i64, i64)], cell_ps: f64) -> Vec<(i64, i64, f32, f32)> {
        let (segment, track) = rank(periods);
        let id = TileId { group: 0, level: Level::for_cell_ps(cell_ps), index: 0 };
        let limits = limits_of(&segment, track, id, Cancel::NEVER).unwrap().unwrap();
        limits.iter().map(|of| (of.span.start.0, of.span.end.0, of.share, of.part)).collect()
    }

    #[test]
    fn free_periods_are_no_limits() {
        let periods = [
            (0, 20_000, 1, 1, 99),
            (20_000, 30_000, 7, 8, 0),
            (30_000, 90_000, 4, 4, 0),
            (90_000, 96_000, 1, 2, 3),
        ];
        assert_eq!(shown(&periods, 1_024.0), [(20_000, 30_000, 0.875, 1.0), (90_000, 96_000, 0.5, 1.0)]);
        assert_eq!(shown(&[(0, 50_000, 1, 1, 99)], 1_024.0), []);
    }

    #[test]
    fn narrow_periods_are_summed_up_by_cell() {
        let periods = [(0, 256, 1, 2, 0), (256, 512, 1, 1, 99), (512, 768, 1, 4, 0), (2_000, 2_100, 1, 2, 0)];
        let expected = [
            (0, 1_024, 0.375, 0.5),
            (1_024, 2_048, 0.5, 48.0 / 1_024.0),
            (2_048, 3_072, 0.5, 52.0 / 1_024.0),
        ];
        assert_eq!(shown(&periods, 1_024.0), expected);
    }
}
