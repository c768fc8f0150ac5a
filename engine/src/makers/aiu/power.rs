//! The power of an AIU, by the charge of its counter.

use super::CounterKind;
use super::schema::PowerRow;
use crate::base::Result;
use crate::base::time::PS_PER_NS;
use crate::exec::Cancel;
use crate::makers::power;
use crate::model::PowerCounter;
use crate::segment::{Bytes, Segment};

/// Counters of power. A value of the charge holds until the next reading. The last reading has no
/// sample: the statistics of the power state how long the readings reach.
pub(in crate::makers) fn read<B: Bytes>(
    segment: &Segment<B>,
    cancel: Cancel<'_>,
) -> Result<Vec<PowerCounter>> {
    let mut counters = power::read(segment, cancel)?;
    let rows = PowerRow::read(segment, cancel)?;
    let known_ns: f64 = rows.iter().filter_map(|row| row.duration.float()).sum();
    let is_charge =
        |one: &&mut PowerCounter| matches!(CounterKind::of_title(&one.name), Some((CounterKind::Power, _)));
    for counter in counters.iter_mut().filter(is_charge) {
        let first_ps = counter.samples.first().map_or(0, |(time_ps, _)| *time_ps);
        let until_ps = first_ps.saturating_add((known_ns * PS_PER_NS as f64).round() as i64);
        counter.end_ps = counter.end_ps.max(until_ps);
    }
    Ok(counters)
}
