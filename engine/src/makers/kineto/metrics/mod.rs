//! The metrics of a rank with devices that run kernels, after the definitions of Holistic Trace
//! Analysis: from times and kinds of slices.

mod busy_time;
mod copy_bandwidth;
mod device_peak;
#[cfg(test)]
mod fixture;
mod idle_time;
mod kernel_fill;
mod kernel_slice;
mod kernel_times;
mod launch_times;
mod operators;
mod queue_length;

pub(in crate::makers) use kernel_fill::kernel_fill;
pub(in crate::makers) use operators::of_launches as operators_of_launches;

use crate::base::Result;
use crate::base::time::PS_PER_S;
use crate::exec::{Cancel, Work};
use crate::metrics::{GivenPeaks, MetricFamily, MetricScope, MetricTable, RankMetrics, trace};
use crate::model::{FlopLoad, OwnedValue, Role};
use crate::segment::{Bytes, Segment};

/// All families, in display order.
pub const FAMILIES: [&MetricFamily; 12] = [
    &busy_time::TEMPORAL,
    &busy_time::BREAKDOWN,
    operators::GROUPS[0],
    &launch_times::FAMILY,
    operators::TABLES[0],
    operators::TABLES[1],
    operators::TABLES[2],
    operators::TABLES[3],
    &kernel_times::FAMILY,
    &idle_time::FAMILY,
    &queue_length::FAMILY,
    &copy_bandwidth::FAMILY,
];

/// The floating-point operations of a rank over time, by the shapes of the inputs of its operators.
/// Empty if it states no shapes.
pub(in crate::makers) fn flops_over_time<B: Bytes>(
    segment: &Segment<B>,
    cancel: Cancel<'_>,
) -> Result<FlopLoad> {
    let work = Work { cancel, ..Work::IN_PLACE };
    if !operators::states_shapes(segment) {
        return Ok(FlopLoad::default());
    }
    let streams = kernel_slice::read(segment, None, work)?;
    let peak = device_peak::DevicePeak::read(segment, GivenPeaks::default(), cancel)?;
    operators::flops_over_time(segment, &streams, &peak, cancel)
}

/// The metrics of a rank: those of any trace, then those of kernels. A trace of a program without a
/// device has no families of kernels, and says so if PyTorch made it.
pub(in crate::makers) fn read<B: Bytes>(
    segment: &Segment<B>,
    scope: &MetricScope,
    work: Work<'_>,
) -> Result<RankMetrics> {
    let mut metrics = trace::read(segment, scope, work)?;
    let streams = kernel_slice::read(segment, scope.window, work)?;
    if streams.is_empty() {
        let is_kineto =
            segment.footer().rank.source == super::FACTS.source || has_role(segment, Role::Kernels);
        metrics.absent = FAMILIES.iter().filter(|_| is_kineto).map(|family| (*family).into()).collect();
        return Ok(metrics);
    }
    let mut groups = busy_time::groups(&streams);
    let peak = device_peak::DevicePeak::read(segment, scope.peaks, work.cancel)?;
    let of_operators = operators::read(segment, &streams, &peak, work)?;
    metrics.absent.extend(of_operators.absent);
    match of_operators.group {
        Some(group) => groups.push(group),
        None => metrics.absent.push(operators::GROUPS[0].into()),
    }
    match launch_times::group(&streams, scope.limits) {
        Some(group) => groups.push(group),
        None => metrics.absent.push((&launch_times::FAMILY).into()),
    }
    let others = [
        (&kernel_times::FAMILY, kernel_times::rows(segment, &streams)?),
        (&idle_time::FAMILY, idle_time::rows(&streams, scope.limits)),
        (&queue_length::FAMILY, queue_length::rows(&streams, scope.limits)),
        (&copy_bandwidth::FAMILY, copy_bandwidth::rows(segment, &streams)?),
    ];
    let others = others.map(|(family, rows)| MetricTable { family, rows });
    for table in of_operators.tables.into_iter().chain(others) {
        match table.rows.is_empty() {
            true => metrics.absent.push(table.family.into()),
            false => metrics.tables.push(table),
        }
    }
    groups.retain(|group| !group.metrics.is_empty());
    // The totals of the trace come first, its names last.
    metrics.groups.splice(1..1, groups);
    Ok(metrics)
}

fn has_role<B: Bytes>(segment: &Segment<B>, role: Role) -> bool {
    segment.footer().tracks.iter().any(|track| track.spec.identity.role == role && track.rows > 0)
}

/// A time in seconds.
fn seconds(ps: i64) -> OwnedValue {
    OwnedValue::Float(ps as f64 / PS_PER_S as f64)
}

fn count(count: u64) -> OwnedValue {
    OwnedValue::Int(i64::try_from(count).unwrap_or(i64::MAX))
}
