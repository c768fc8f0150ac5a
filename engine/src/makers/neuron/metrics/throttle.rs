//! Metrics of throttling: how long the core was throttled, why, and how much.

use crate::makers::neuron::group::NeuronGroup;
use crate::makers::neuron::schema::{HAM, UNTHROTTLED_KIND};
use std::collections::BTreeMap;

use super::run::RunFacts;
use super::{GroupedMetric, NamedColumns, float, int, share};
use crate::base::time::PS_PER_NS;
use crate::base::{Interval, Result};
use crate::model::Unit;
use crate::segment::{Bytes, ColumnRole, Segment};

/// Throttling for one reason on one core.
#[derive(Debug, Clone, Copy, Default)]
struct ThrottleTime {
    /// Whole nanoseconds within the window, like the vendor's tool.
    ns: i64,
    /// Nanoseconds times the share of the peak that was allowed.
    allowed_ns: f64,
}

/// Begin of the names of metrics about time without a limit, in the words of neuron-profile.
const UNKNOWN: &str = "throttle_unknown_";
/// Part of the names of metrics about the height of limits.
const LIMIT: &str = "_avg_util_limit_";

/// The name of a metric for people, if neuron-profile's own name misleads: time without a limit is
/// not throttled.
#[must_use]
pub fn shown_name(name: &str) -> Option<String> {
    name.strip_prefix(UNKNOWN).map(|rest| format!("unthrottled_{rest}"))
}

/// Whether a metric is the height of a limit and no part of the time.
#[must_use]
pub fn is_limit(name: &str) -> bool {
    name.starts_with("throttle_") && name.contains(LIMIT)
}

/// A period in which a core was allowed a share of its peak, as far as it lies in what is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ThrottleRecord {
    /// The physical core.
    pub(super) core: i64,
    kind: i64,
    /// The period.
    pub(super) period: Interval,
    /// The allowed share of the peak.
    pub(super) allowed: f64,
}

#[cfg(test)]
impl ThrottleRecord {
    /// A record of the first core.
    pub(super) fn at(period: Interval, allowed: f64) -> Self {
        Self { core: 0, kind: 0, period, allowed }
    }
}

/// All records of throttling.
pub(super) fn records<B: Bytes>(segment: &Segment<B>, run: &RunFacts<'_>) -> Result<Vec<ThrottleRecord>> {
    let Some(ham) = NamedColumns::of(segment, HAM.name, run.work.cancel) else { return Ok(Vec::new()) };
    let mut records = Vec::new();
    for block in 0..segment.blocks(ham.table())?.len() {
        let durations = segment.core_ints(ham.table(), ColumnRole::Duration, block)?;
        let mut rows = vec![[0, 1, 1, UNTHROTTLED_KIND]; durations.len()];
        for (at, name) in ["pcore_idx", "k", "n", "type"].into_iter().enumerate() {
            ham.for_each_int(name, block, |row, value| rows[row][at] = value)?;
        }
        let starts = segment.core_ints(ham.table(), ColumnRole::Start, block)?;
        for (at, ([core, k, n, kind], duration)) in rows.into_iter().zip(&durations).enumerate() {
            let period = Interval::lasting(starts[at], *duration);
            let period = run.window.map_or(period, |window| window.intersection(period));
            records.push(ThrottleRecord { core, kind, period, allowed: share(k as f64, n as f64) });
        }
    }
    Ok(records)
}

/// Metrics by core and reason.
pub(super) fn metrics(records: &[ThrottleRecord], run: &RunFacts<'_>, out: &mut Vec<GroupedMetric>) {
    let mut held: BTreeMap<(i64, i64), ThrottleTime> = BTreeMap::new();
    for record in records {
        let ns = record.period.duration_ps().div_euclid(PS_PER_NS);
        if run.window.is_some() && ns == 0 {
            continue;
        }
        let held = held.entry((record.core, record.kind)).or_default();
        held.ns += ns;
        held.allowed_ns += ns as f64 * record.allowed;
    }
    let mut cores: Vec<i64> = held.keys().map(|&(core, _)| core).collect();
    cores.dedup();
    for core in cores {
        core_metrics(core, &held, run.last_ns, out);
    }
}

fn core_metrics(
    core: i64,
    held: &BTreeMap<(i64, i64), ThrottleTime>,
    last_ns: f64,
    out: &mut Vec<GroupedMetric>,
) {
    let of_core =
        || held.iter().filter(move |((of, _), _)| *of == core).map(|(&(_, kind), &held)| (kind, held));
    let throttled: i64 =
        of_core().filter(|&(kind, _)| kind != UNTHROTTLED_KIND).map(|(_, held)| held.ns).sum();
    let doc = "Time in which the device throttled the core.";
    out.push((
        NeuronGroup::Throttling,
        int(&format!("throttle_active_nc{core}_time_ns"), throttled, Unit::Nanoseconds, doc),
    ));
    let allowed: f64 = of_core().map(|(_, held)| held.allowed_ns).sum();
    let doc = "Average share of the peak that throttling allowed over the whole trace or the window, weighted by time.";
    let name = format!("throttle_avg_util_limit_nc{core}_percent");
    out.push((NeuronGroup::Throttling, float(&name, share(allowed, last_ns), Unit::Ratio, doc)));
    for (kind, held) in of_core() {
        let reason = match kind {
            0 => "activity_0".to_owned(),
            UNTHROTTLED_KIND => "unknown".to_owned(),
            other => format!("type_{other}"),
        };
        let doc = "Share of the trace or the window with throttling records of this reason.";
        let name = format!("throttle_{reason}_active_time_nc{core}_percent");
        out.push((NeuronGroup::Throttling, float(&name, share(held.ns as f64, last_ns), Unit::Ratio, doc)));
        let doc = "Average share of the peak that was allowed while records of this reason applied, \
            weighted by time.";
        let name = format!("throttle_{reason}_avg_util_limit_nc{core}_percent");
        out.push((
            NeuronGroup::Throttling,
            float(&name, share(held.allowed_ns, held.ns as f64), Unit::Ratio, doc),
        ));
    }
}
