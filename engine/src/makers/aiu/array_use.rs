//! The use of the arrays of an AIU, what preparation is not covered by work, and its clock.

use super::exposed_time::exposed_times;
use super::metrics::TOTAL;
use super::schema::{CategoryRow, ClockRow};
use crate::base::Result;
use crate::base::time::PS_PER_NS;
use crate::exec::Cancel;
use crate::makers::FieldCell;
use crate::metrics::ArrayUse;
use crate::segment::{Bytes, Segment};

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
    let exposed = exposed_times(segment, None, cancel)?;
    Ok(ArrayUse {
        rank,
        total_ps: exposed.total_ps,
        real_ps: real_ps as i64,
        ideal_ps: ideal_ps as i64,
        preparation_ps: exposed.preparation_ps.unwrap_or(0),
        used_hz: hertz(|row| &row.used_hz),
        found_hz: hertz(|row| &row.found_hz),
    })
}
