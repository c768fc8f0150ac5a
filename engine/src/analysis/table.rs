//! Tables over operations: by kind, by size, by rank, by step.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::{InstanceReport, Job, Report, algorithm};
use crate::base::time::PS_PER_S;
use crate::base::{median, quantile};
use crate::model::CollectiveKind;

/// Property that groups the rows of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Kind of operation.
    Kind,
    /// Kind, bytes, and number of ranks.
    Size,
    /// The rank that came last.
    Rank,
    /// Step or iteration.
    Step,
}

/// Subject of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RowKey {
    /// Operations of a kind.
    Kind(CollectiveKind),
    /// Operations of a kind, of this many bytes and ranks. No ranks: the number is not known.
    Size(CollectiveKind, u64, u32),
    /// Operations in which the rank with this number came last.
    Rank(u32),
    /// Operations of the step with this number; `None` before the first step.
    Step(Option<u32>),
}

/// Operations that have a key in common. Times are in picoseconds, rates in bytes a second.
#[derive(Debug, Clone, PartialEq)]
pub struct OperationGroup {
    /// The common key.
    pub key: RowKey,
    /// Number of operations.
    pub count: u64,
    /// Operations among them with calls of one rank only. They are in no median: nobody knows how
    /// long such a call waited for ranks that were not recorded.
    pub alone: u64,
    /// Known algorithms of the operations, in the order of names.
    pub algorithms: Vec<String>,
    /// Sum of the operations' bytes.
    pub bytes: u64,
    /// Median, 95th percentile and maximum of the transfer times. `None` if all operations have
    /// calls of one rank only.
    pub transfer_ps: Option<[i64; 3]>,
    /// Median, 95th percentile and maximum of the sums of waits of the operations.
    pub wait_ps: Option<[i64; 3]>,
    /// Sum of the waits of all ranks.
    pub total_wait_ps: i64,
    /// Median bandwidth of the transfers: bytes by time; `None` if no bytes are known.
    pub algorithm_rate: Option<f64>,
    /// The same from the first arrival on, with all waiting.
    pub algorithm_rate_with_wait: Option<f64>,
    /// Median bus bandwidth of the transfers, as nccl-tests defines it.
    pub bus_rate: Option<f64>,
    /// The same from the first arrival on, with all waiting.
    pub bus_rate_with_wait: Option<f64>,
    /// Number of the rank that came last most often.
    pub slowest: Option<u32>,
}

/// The rows of a table, ordered by key.
#[must_use]
pub fn rows(job: &Job, report: &Report, by: By) -> Vec<OperationGroup> {
    let mut groups: FxHashMap<RowKey, Vec<&InstanceReport>> = FxHashMap::default();
    let mut algorithms: FxHashMap<RowKey, BTreeSet<&str>> = FxHashMap::default();
    for (at, one) in report.operations.iter().enumerate() {
        let signature = &job.signatures[one.signature as usize];
        let size = job.groups[one.group as usize].size();
        let key = match by {
            By::Kind => Some(RowKey::Kind(signature.kind)),
            By::Size => Some(RowKey::Size(signature.kind, signature.bytes, size)),
            By::Rank => one.last.map(|last| RowKey::Rank(job.ranks[last as usize].rank)),
            By::Step => Some(RowKey::Step(one.step)),
        };
        if let Some(key) = key {
            groups.entry(key).or_default().push(one);
            algorithms.entry(key).or_default().extend(algorithm(job, report, at));
        }
    }
    let mut algorithms = |key| algorithms.remove(&key).into_iter().flatten().map(str::to_owned).collect();
    let row = |(key, of): (RowKey, Vec<&InstanceReport>)| row(job, key, &of, algorithms(key));
    let mut rows: Vec<OperationGroup> = groups.into_iter().map(row).collect();
    rows.sort_by_key(|row| row.key);
    rows
}

fn row(job: &Job, key: RowKey, of: &[&InstanceReport], algorithms: Vec<String>) -> OperationGroup {
    let signature = |one: &InstanceReport| &job.signatures[one.signature as usize];
    let met: Vec<&InstanceReport> = of.iter().copied().filter(|one| !one.is_alone()).collect();
    let rates: Vec<Rates> = met.iter().filter_map(|one| rates(job, one)).collect();
    let rate = |part: fn(&Rates) -> f64| median(rates.iter().map(part).collect());
    let mut slowest: FxHashMap<u32, u64> = FxHashMap::default();
    for one in &met {
        if let Some(last) = one.last {
            *slowest.entry(job.ranks[last as usize].rank).or_default() += 1;
        }
    }
    let slowest = slowest.into_iter().max_by_key(|(rank, count)| (*count, std::cmp::Reverse(*rank)));
    OperationGroup {
        key,
        count: of.len() as u64,
        alone: (of.len() - met.len()) as u64,
        algorithms,
        bytes: of.iter().map(|one| signature(one).bytes).fold(0, u64::saturating_add),
        transfer_ps: quantiles(met.iter().map(|one| one.transfer_ps()).collect()),
        wait_ps: quantiles(met.iter().map(|one| one.wait_ps).collect()),
        total_wait_ps: of.iter().map(|one| one.wait_ps).sum(),
        algorithm_rate: rate(|of| of.algorithm),
        algorithm_rate_with_wait: rate(|of| of.algorithm_with_wait),
        bus_rate: rate(|of| of.bus),
        bus_rate_with_wait: rate(|of| of.bus_with_wait),
        slowest: slowest.map(|(rank, _)| rank),
    }
}

/// Bandwidths of an operation in bytes a second, as nccl-tests defines them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Bytes by the time of the transfer.
    pub algorithm: f64,
    /// Bytes by the time from the first arrival on.
    pub algorithm_with_wait: f64,
    /// The algorithm bandwidth times the factor of kind and number of ranks.
    pub bus: f64,
    /// The bus bandwidth over the time from the first arrival on.
    pub bus_with_wait: f64,
}

/// Bandwidths of an operation. `None` if its bytes or its time are not known: the transfer of a
/// call without others can begin long after the call.
#[must_use]
pub fn rates(job: &Job, one: &InstanceReport) -> Option<Rates> {
    let signature = &job.signatures[one.signature as usize];
    let whole = one.span.end_ps.saturating_sub(one.span.first_ps);
    if signature.bytes == 0 || one.is_alone() || one.transfer_ps() == 0 || whole <= 0 {
        return None;
    }
    let ranks = match job.groups[one.group as usize].size() {
        0 => job.world,
        size => size,
    };
    let rate = |ps: i64| signature.bytes as f64 * PS_PER_S as f64 / ps as f64;
    let factor = signature.kind.bus_factor(ranks);
    let (algorithm, algorithm_with_wait) = (rate(one.transfer_ps()), rate(whole));
    let (bus, bus_with_wait) = (algorithm * factor, algorithm_with_wait * factor);
    Some(Rates { algorithm, algorithm_with_wait, bus, bus_with_wait })
}

/// Median, 95th percentile and maximum. `None` without values.
fn quantiles(mut values: Vec<i64>) -> Option<[i64; 3]> {
    values.sort_unstable();
    Some([quantile(&values, 50)?, quantile(&values, 95)?, quantile(&values, 100)?])
}
