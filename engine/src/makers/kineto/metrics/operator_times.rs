//! The time of the devices by the operators that launched their work: from a kernel to its launch,
//! and from there to the operators that were open on the thread.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::category_words::CategoryWords;
use super::super::{ARGUMENTS, CATEGORY, CORRELATION};
use super::kernel_slice::{SliceTrack, StreamSlices};
use super::{count, seconds};
use crate::base::Result;
use crate::exec::{Cancel, Work};
use crate::makers::call_columns::{FieldColumns, first_row};
use crate::makers::row_texts::TextsOfRows;
use crate::metrics::{MetricDefinition, MetricFamily, MetricRow};
use crate::model::{NameId, Role, Unit};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// Categories of operators of PyTorch, in new and old traces.
const OPERATORS: [&str; 2] = ["cpu_op", "Operator"];

pub(super) const FAMILY: MetricFamily = MetricFamily {
    key: "operators",
    title: "Device time by operator",
    row: Some("operator"),
    metrics: &[
        MetricDefinition::new(
            "own_device_time",
            Unit::Seconds,
            "Sum of the durations of the kernels, copies and fills that the operator launched itself, not \
             operators that it called. Over all operators the times sum up to that of all launched work, \
             except for launches outside of operators.",
        ),
        MetricDefinition::new("own_kernel_count", Unit::Count, "Number of these kernels, copies and fills."),
        MetricDefinition::new(
            "device_time",
            Unit::Seconds,
            "Sum of the durations of the kernels, copies and fills that the operator launched, itself or by \
             operators that it called. An operator that calls itself counts once.",
        ),
        MetricDefinition::new("kernel_count", Unit::Count, "Number of these kernels, copies and fills."),
    ],
    source: "TraceLens, kernel launchers (own time) and call tree (all of it)",
    needs: "no launch of a kernel lies within an operator of PyTorch; `ProfilerActivity.CPU` records operators",
};

/// Work of a launch, or of an operator. The time is in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct LaunchedWork {
    count: u64,
    time_ps: i64,
}

impl LaunchedWork {
    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.time_ps = self.time_ps.saturating_add(other.time_ps);
    }
}

/// The work of an operator: its own, and all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct OperatorWork {
    own: LaunchedWork,
    all: LaunchedWork,
}

/// The operators that are open on a thread, from the outermost one on.
#[derive(Debug, Default)]
struct OpenOperators(Vec<OpenOperator>);

#[derive(Debug, Clone, Copy)]
struct OpenOperator {
    name: u32,
    end_ps: i64,
}

impl OpenOperators {
    /// Ends those that are over.
    fn reach(&mut self, time_ps: i64) {
        while self.0.last().is_some_and(|last| last.end_ps <= time_ps) {
            self.0.pop();
        }
    }

    /// Gives the work of a launch to all that are open.
    fn launch(&self, work: LaunchedWork, by_name: &mut FxHashMap<u32, OperatorWork>) {
        let Some(innermost) = self.0.last() else { return };
        by_name.entry(innermost.name).or_default().own.add(work);
        let names: FxHashSet<u32> = self.0.iter().map(|open| open.name).collect();
        for name in names {
            by_name.entry(name).or_default().all.add(work);
        }
    }
}

/// A row for each operator that launched work, those with the most own time first.
pub(super) fn rows<B: Bytes>(
    segment: &Segment<B>,
    streams: &[StreamSlices],
    work: Work<'_>,
) -> Result<Vec<MetricRow>> {
    let mut launched: FxHashMap<i64, LaunchedWork> = FxHashMap::default();
    for slice in streams.iter().flat_map(|stream| &stream.slices) {
        if let Some(correlation) = slice.correlation {
            let of = LaunchedWork { count: 1, time_ps: slice.duration_ps() };
            launched.entry(correlation).or_default().add(of);
        }
    }
    if launched.is_empty() {
        return Ok(Vec::new());
    }
    let threads = SliceTrack::all(segment, Role::HostThread);
    let of_threads = work.gather(threads.len(), |at| of_thread(segment, threads[at], &launched, work))?;
    let mut by_name: FxHashMap<u32, OperatorWork> = FxHashMap::default();
    for (name, of) in of_threads.into_iter().flatten() {
        let known = by_name.entry(name).or_default();
        known.own.add(of.own);
        known.all.add(of.all);
    }
    let mut names: Vec<(u32, OperatorWork)> = by_name.into_iter().collect();
    names.sort_unstable_by_key(|(name, of)| (std::cmp::Reverse((of.own.time_ps, of.all.time_ps)), *name));
    let row = |(name, OperatorWork { own, all }): &(u32, OperatorWork)| {
        let values = [seconds(own.time_ps), count(own.count), seconds(all.time_ps), count(all.count)];
        let name = segment.text(NameId(*name))?.to_owned();
        Ok(MetricRow { name, values: values.map(Some).to_vec() })
    };
    names.iter().map(row).collect()
}

/// A call of the host in the order of its thread.
struct ThreadCall {
    row: u32,
    correlation: Option<i64>,
}

/// Hands the calls of a thread that launch work to `launch`, with the operators that are open then.
/// `launch` tells whether a call does.
fn walk<B: Bytes>(
    segment: &Segment<B>,
    of: SliceTrack,
    cancel: Cancel<'_>,
    launch: &mut dyn FnMut(ThreadCall, &OpenOperators) -> bool,
) -> Result<()> {
    let SliceTrack { track, table } = of;
    let columns = FieldColumns::of(segment, table, [ARGUMENTS[CORRELATION], ARGUMENTS[CATEGORY]]);
    let mut operators = CategoryWords::new(&OPERATORS);
    let mut open = OpenOperators::default();
    for block in segment.blocks_of(track)? {
        cancel.check()?;
        let fields = columns.block(segment, block)?;
        let mut core = BlockReader::new(segment, table, block)?;
        let starts = core.core_ints(ColumnRole::Start)?;
        let durations = core.core_ints(ColumnRole::Duration)?;
        let names = core.core_ints(ColumnRole::Name)?;
        for (at, row) in (0..starts.len()).zip(first_row(segment, table, block)?..) {
            open.reach(starts[at]);
            let call = ThreadCall { row, correlation: fields.int(0, at) };
            if !launch(call, &open) && operators.are_in(segment, fields.code(1, at))? {
                let name = u32::try_from(names[at]).unwrap_or_default();
                let end_ps = starts[at].saturating_add(durations[at].max(0));
                open.0.push(OpenOperator { name, end_ps });
            }
        }
    }
    Ok(())
}

fn of_thread<B: Bytes>(
    segment: &Segment<B>,
    of: SliceTrack,
    launched: &FxHashMap<i64, LaunchedWork>,
    work: Work<'_>,
) -> Result<FxHashMap<u32, OperatorWork>> {
    let mut by_name = FxHashMap::default();
    // A call can have a call with its number inside: the outer one launches.
    let mut known: FxHashSet<i64> = FxHashSet::default();
    walk(segment, of, work.cancel, &mut |call, open| {
        let launch = call.correlation.and_then(|id| Some((id, *launched.get(&id)?)));
        if let Some((id, work)) = launch
            && known.insert(id)
        {
            open.launch(work, &mut by_name);
        }
        launch.is_some()
    })?;
    Ok(by_name)
}

/// The innermost operator around each of these rows of calls of the host, which launch work.
pub(in crate::makers) fn of_launches<B: Bytes>(
    segment: &Segment<B>,
    launches: &FxHashSet<u32>,
    cancel: Cancel<'_>,
) -> Result<TextsOfRows> {
    let mut operators = TextsOfRows::default();
    for of in SliceTrack::all(segment, Role::HostThread) {
        walk(segment, of, cancel, &mut |call, open| {
            let is_launch = launches.contains(&call.row);
            if let (true, Some(innermost)) = (is_launch, open.0.last()) {
                operators.insert(call.row, innermost.name);
            }
            is_launch
        })?;
    }
    Ok(operators)
}

#[cfg(test)]
mod tests {
    //! Nested operators against the work that each launched.

    use super::*;

    #[test]
    fn work_is_that_of_the_innermost_operator_and_of_all_around_it() {
        let (mut open, mut by_name) = (OpenOperators::default(), FxHashMap::default());
        let work = |time_ps: i64| LaunchedWork { count: 1, time_ps };
        open.launch(work(1), &mut by_name);
        for (name, end_ps) in [(7, 100), (8, 50), (7, 20)] {
            open.0.push(OpenOperator { name, end_ps });
        }
        open.launch(work(10), &mut by_name);
        open.reach(20);
        open.launch(work(200), &mut by_name);
        open.reach(60);
        open.launch(work(3_000), &mut by_name);
        let of = |name: u32| (by_name[&name].own.time_ps, by_name[&name].all.time_ps);
        assert_eq!((by_name.len(), of(7), of(8)), (2, (3_010, 3_210), (200, 210)));
        assert_eq!(by_name[&7].all.count, 3);
    }
}
