//! The summary of a job segment, from its side tables.

use super::operation_points;
use super::schema::{CauseRow, JOB, MismatchRow, RankRow, SizeRow};
use crate::base::time::short_duration;
use crate::base::{Result, median, signed};
use crate::exec::Work;
use crate::makers::FieldCell;
use crate::makers::collective_points::{self, OperationLike};
use crate::makers::metric_groups::{by_name, single};
use crate::makers::rows::named;
use crate::metrics::{Metric, MetricGroup, MetricPlace, MetricScope, RankMetrics};
use crate::model::{CollectiveKind, OwnedValue, Unit};
use crate::segment::{Bytes, Segment};

/// Key of the group of causes.
pub const CAUSES: &str = "job_causes";
/// Key of the group of waiting for each rank.
const AWAITED: &str = "job_awaited";
/// Key of the group of waits by rank.
pub const WAITS: &str = "job_waits";

/// Name of the median rank among the metrics of ranks.
pub const MEDIAN_RANK: &str = "median rank";
/// Number of listed ranks, causes and sizes.
const MOST: usize = 20;

/// All metrics of a job segment. A window has the same: the tables are those of the whole job.
pub(super) fn read<B: Bytes>(segment: &Segment<B>, _: &MetricScope, work: Work<'_>) -> Result<RankMetrics> {
    let tables = collective_points::tables(operation_points::points(segment, work.cancel)?);
    Ok(RankMetrics { tables, ..RankMetrics::of(groups(segment, work)?) })
}

/// All metrics of a job segment.
pub fn groups<B: Bytes>(segment: &Segment<B>, work: Work<'_>) -> Result<Vec<MetricGroup>> {
    let cancel = work.cancel;
    let ranks = RankRow::read(segment, cancel)?;
    let differing = MismatchRow::read(segment, cancel)?;
    let mut groups = vec![
        by_name(CAUSES, "Where waiting began", causes(&CauseRow::read(segment, cancel)?)),
        by_name("job_mismatches", "Mismatches", mismatches(&differing, has_lost(&ranks))),
        single("job_job", "All ranks", &JOB, &named(segment, JOB.name, cancel)?),
        by_name(AWAITED, "Waiting for each rank", awaited(&ranks)),
        by_name(WAITS, "Waiting by rank", waits(&ranks)),
        by_name(
            "job_sizes",
            "Bus bandwidth by kind, size and ranks",
            sizes(&SizeRow::read(segment, cancel)?),
        ),
    ];
    groups.retain(|group| !group.metrics.is_empty());
    Ok(groups)
}

fn seconds(ps: f64) -> OwnedValue {
    OwnedValue::Float(ps / 1e12)
}

/// The causes that stand out. Without a rank among them, a line says so.
fn causes(rows: &[CauseRow<FieldCell>]) -> Vec<Metric> {
    let named = rows.iter().filter(|row| row.stands_out.is_true()).take(MOST);
    let mut metrics: Vec<Metric> = named.filter_map(cause).collect();
    let is_rank = |metric: &Metric| metric.place.as_ref().is_some_and(|place| place.ranks.len() == 1);
    if !rows.is_empty() && !metrics.iter().any(is_rank) {
        let doc = "Every rank has some blame, because somebody is always last. A rank stands out if it has \
                   clearly more root blame than the others, and 2 % of all waiting, beyond chance and errors \
                   of clocks.";
        let value = OwnedValue::Text("waiting is shared by all".to_owned());
        metrics.push(Metric::new("no rank stands out", value, Unit::None, doc));
    }
    metrics
}

fn cause(row: &CauseRow<FieldCell>) -> Option<Metric> {
    let (name, blame) = (row.cause.text()?, row.root_blame.float()?);
    let rank = row.rank.number();
    let Some(excess) = row.excess.float() else {
        let doc = "Waiting of all ranks that began there.";
        let metric = Metric::new(name, seconds(blame), Unit::Seconds, doc);
        return Some(Metric { place: rank.map(MetricPlace::of_rank), ..metric });
    };
    let name = match row.slower.float().zip(row.operations.float()) {
        Some((slower, 1.0)) => format!("{name}: +{} in 1 operation", short_duration(slower)),
        Some((slower, count)) => {
            format!("{name}: +{} per operation, {count} operations", short_duration(slower))
        }
        None => name.to_owned(),
    };
    let doc = format!(
        "Transfers of this link took longer than usual. Waiting of all ranks that began there: {}. Time of \
         its own ranks beyond the usual, which is no waiting: {}.",
        short_duration(blame),
        short_duration(excess)
    );
    let place = rank.map(|rank| MetricPlace {
        rank,
        at_ps: row.start.int(),
        operation: row.operation.number(),
        ranks: row.ranks.numbers(),
    });
    Some(Metric { place, ..Metric::new(&name, seconds(blame + excess), Unit::Seconds, &doc) })
}

/// Whether traces lack calls although the job went on with their ranks.
fn has_lost(ranks: &[RankRow<FieldCell>]) -> bool {
    ranks.iter().any(|row| row.lost.int().is_some_and(|lost| lost > 0))
}

/// Mismatches by kind: how many there are, and the first one of each.
fn mismatches(rows: &[MismatchRow<FieldCell>], has_lost: bool) -> Vec<Metric> {
    let missing = match has_lost {
        false => {
            "A rank makes no further call in a group while the others wait: they hang. Look at what it does \
             from here on."
        }
        true => {
            "A rank makes no further call in a group, and meets none of its ranks again. Either it does not \
             come and the others hang, or its call was not recorded: the traces lack other calls, too."
        }
    };
    let kinds = [
        ("missing", "missing calls", missing),
        (
            "kind",
            "calls of another kind",
            "A rank calls another operation than most ranks of its group: it took another way through the \
             program, or skipped a call before.",
        ),
        (
            "size",
            "calls of another size",
            "A rank calls with another number or type of elements than most ranks of its group: the result \
             is wrong, or the operation hangs.",
        ),
    ];
    let metric = |(key, name, doc): (&str, &str, &str)| {
        let is_it = |row: &&MismatchRow<FieldCell>| row.what.text() == Some(key);
        let mut of_kind: Vec<_> = rows.iter().filter(is_it).collect();
        of_kind.sort_by_key(|row| (row.start.int(), row.rank.number()));
        let first = of_kind.first()?;
        let (rank, operation) = (first.rank.number()?, first.operation.number()?);
        let name = format!("{name}; first: rank {rank}, operation {operation}");
        let at_ps = first.start.int();
        let place = Some(MetricPlace { rank, at_ps, operation: Some(operation), ranks: vec![rank] });
        let count = OwnedValue::Int(signed(of_kind.len()));
        Some(Metric { place, ..Metric::new(&name, count, Unit::Count, doc) })
    };
    kinds.into_iter().filter_map(metric).collect()
}

/// The waiting that began with each rank, and that of the median rank as the last one. None if
/// nobody waited.
fn awaited(rows: &[RankRow<FieldCell>]) -> Vec<Metric> {
    let doc = "Waiting of other ranks that began with this rank.";
    let mut by_time = times_of_ranks(rows, |row| &row.root_blame);
    let times = by_time.iter().map(|(time, _)| *time).collect();
    let Some(middle) = median(times).filter(|_| by_time[0].0 > 0.0) else { return Vec::new() };
    by_time.truncate(MOST);
    let of_median = "Half of the ranks have less waiting of others that began with them.";
    let middle = Metric::new(MEDIAN_RANK, seconds(middle), Unit::Seconds, of_median);
    by_time.into_iter().map(|(time_ps, rank)| of_rank(rank, time_ps, doc)).chain([middle]).collect()
}

fn waits(rows: &[RankRow<FieldCell>]) -> Vec<Metric> {
    let doc = "Time that the rank waited for other ranks.";
    let waiting = times_of_ranks(rows, |row| &row.wait).into_iter().filter(|(wait, _)| *wait > 0.0);
    waiting.take(MOST).map(|(time_ps, rank)| of_rank(rank, time_ps, doc)).collect()
}

/// A time of each rank with its number, the longest first.
fn times_of_ranks(
    rows: &[RankRow<FieldCell>],
    time: impl Fn(&RankRow<FieldCell>) -> &FieldCell,
) -> Vec<(f64, u32)> {
    let times = rows.iter().filter_map(|row| time(row).float().zip(row.rank.number()));
    let mut times: Vec<(f64, u32)> = times.collect();
    times.sort_by(|a, b| b.0.total_cmp(&a.0));
    times
}

fn of_rank(rank: u32, time_ps: f64, doc: &str) -> Metric {
    let metric = Metric::new(&format!("rank {rank}"), seconds(time_ps), Unit::Seconds, doc);
    Metric { place: Some(MetricPlace::of_rank(rank)), ..metric }
}

fn sizes(rows: &[SizeRow<FieldCell>]) -> Vec<Metric> {
    let doc = "Median bus bandwidth of the transfers, as nccl-tests defines it.";
    let metric = |row: &SizeRow<FieldCell>| {
        let like = OperationLike {
            kind: CollectiveKind::from_name(row.kind.text()?)?,
            bytes: Some(u64::try_from(row.operation_bytes.int()?).ok()?),
            ranks: row.ranks.number(),
        };
        Some(Metric::new(&like.words(), row.bus_rate.0.clone()?, Unit::BytesPerSecond, doc))
    };
    rows.iter().filter_map(metric).take(MOST).collect()
}
