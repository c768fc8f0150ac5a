//! The use of the arrays of an AIU, what preparation is not covered by work, and its clock.

use super::metrics::TOTAL;
use super::schema::{CategoryRow, ClockRow};
use super::tracks::LaneKind;
use crate::base::Result;
use crate::base::time::PS_PER_NS;
use crate::exec::Cancel;
use crate::makers::FieldCell;
use crate::makers::call_columns::slice_tracks;
use crate::makers::device_time::{Union, length};
use crate::metrics::ArrayUse;
use crate::model::{MachineSide, Role};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// The use of a rank's arrays.
pub(in crate::makers) fn array_use<B: Bytes>(
    segment: &Segment<B>,
    rank: u32,
    cancel: Cancel<'_>,
) -> Result<ArrayUse> {
    let rows = CategoryRow::read(segment, cancel)?;
    let is_single = |row: &&CategoryRow<FieldCell>| row.category.text().is_some_and(|name| name != TOTAL);
    let known =
        rows.iter().filter(is_single).filter(|row| row.ideal_time.float().is_some_and(|ideal| ideal > 0.0));
    let (mut real_ps, mut ideal_ps) = (0.0, 0.0);
    for row in known {
        ideal_ps += row.ideal_time.float().unwrap_or(0.0) * PS_PER_NS as f64;
        real_ps += row.kernel_time.float().unwrap_or(0.0) * PS_PER_NS as f64;
    }
    let clock = ClockRow::read(segment, cancel)?;
    let hertz = |of: fn(&ClockRow<FieldCell>) -> &FieldCell| {
        clock.first().and_then(|row| of(row).float()).unwrap_or(0.0)
    };
    let (total_ps, preparation_ps) = exposed(segment, cancel)?;
    Ok(ArrayUse {
        rank,
        total_ps,
        real_ps: real_ps as i64,
        ideal_ps: ideal_ps as i64,
        preparation_ps,
        used_hz: hertz(|row| &row.used_hz),
        found_hz: hertz(|row| &row.found_hz),
    })
}

/// The time from the first to the last work, and the part of it in which kernels are only prepared.
fn exposed<B: Bytes>(segment: &Segment<B>, cancel: Cancel<'_>) -> Result<(i64, i64)> {
    let (mut work, mut preparation) = (Union::default(), Union::default());
    for (track, table) in
        slice_tracks(segment, |role| role == Role::Unknown || role.side() == Some(MachineSide::Device))
    {
        let spec = &segment.footer().tracks[track.0 as usize].spec;
        let into = match spec.identity.role {
            Role::Unknown if LaneKind::of_title(&spec.name) == Some(LaneKind::Prep) => &mut preparation,
            Role::Unknown => continue,
            _ => &mut work,
        };
        for block in segment.blocks_of(track)? {
            cancel.check()?;
            let mut core = BlockReader::new(segment, table, block)?;
            let starts = core.core_ints(ColumnRole::Start)?;
            let durations = core.core_ints(ColumnRole::Duration)?;
            for (start, duration) in starts.into_iter().zip(durations).filter(|(_, duration)| *duration > 0) {
                into.add(start, start.saturating_add(duration));
            }
        }
        into.compact();
    }
    let work = work.settled();
    let (Some(first), Some(last)) = (work.first().copied(), work.last().copied()) else { return Ok((0, 0)) };
    let mut inside = Union::default();
    // Preparation before and after all work is start-up and tear-down.
    for (start, end) in preparation.settled() {
        let (start, end) = (start.max(first.0), end.min(last.1));
        if start < end {
            inside.add(start, end);
        }
    }
    let worked_ps = length(&work);
    inside.take_in(work);
    Ok((last.1 - first.0, length(&inside.settled()) - worked_ps))
}
