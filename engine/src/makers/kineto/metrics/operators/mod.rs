//! The work of the devices by the operators and modules that launched it: from a kernel to its
//! launch, and from there to what was open on the thread.

mod cost;
mod flops_over_time;
mod kernel_sequence;
mod launched_work;
mod open_scopes;
mod sequences;
mod shapes;

use rustc_hash::{FxHashMap, FxHashSet};

use super::device_peak::DevicePeak;
use super::kernel_slice::{SliceTrack, StreamSlices};
use crate::base::Result;
use crate::exec::{Cancel, Work};
use crate::makers::row_texts::TextsOfRows;
use crate::metrics::{AbsentMetrics, MetricDefinition, MetricFamily, MetricGroup, MetricTable, roofline};
use crate::model::{Role, Unit};
use crate::segment::{Bytes, Segment};
pub(super) use flops_over_time::flops_over_time;
use kernel_sequence::Owner;
use launched_work::{LaunchedWork, WorkByName, columns};
pub(super) use open_scopes::states_shapes;
use open_scopes::{CallVisitor, OpenScope, OpenScopes, ThreadCall, walk};
use sequences::Sequences;
use shapes::Shapes;

const OF_OPERATOR: [MetricDefinition; 4] = columns(
    [
        "Sum of the durations of the kernels, copies and fills that the operator launched itself, not \
         operators that it called. Over all operators the times sum up to that of all launched work, except \
         for launches outside of operators.",
        "Number of these kernels, copies and fills.",
    ],
    [
        "Sum of the durations of the kernels, copies and fills that the operator launched, itself or by \
         operators that it called. An operator that calls itself counts once.",
        "Number of these kernels, copies and fills.",
    ],
);

const OPERATORS: MetricFamily = MetricFamily {
    key: "operators",
    title: "Device time by operator",
    row: Some("operator"),
    metrics: &[
        OF_OPERATOR[0],
        OF_OPERATOR[1],
        OF_OPERATOR[2],
        OF_OPERATOR[3],
        MetricDefinition::new(
            "flops",
            Unit::Flops,
            "Floating-point operations, by the shapes of the inputs. Operators inside of one that is counted \
             are not counted.",
        ),
        MetricDefinition::new(
            "flops_rate",
            Unit::FlopsPerSecond,
            "`flops` per second of the kernels, copies and fills of the executions that they are known of.",
        ),
    ],
    source: "TraceLens, kernel launchers (own time), call tree (all of it) and performance models",
    needs: "no launch of a kernel lies within an operator of PyTorch; `ProfilerActivity.CPU` records operators",
};

const MODULES: MetricFamily = MetricFamily {
    key: "modules",
    title: "Device time by module",
    row: Some("module"),
    metrics: &columns(
        [
            "Sum of the durations of the kernels, copies and fills that the module launched itself, not \
             modules that it called.",
            "Number of these kernels, copies and fills.",
        ],
        [
            "Sum of the durations of the kernels, copies and fills that the module launched, itself or by \
             modules that it called. Launches of the backward pass are in no module.",
            "Number of these kernels, copies and fills.",
        ],
    ),
    source: "TraceLens, call tree",
    needs: "no launch of a kernel lies within a module; `with_stack=True` of the PyTorch profiler records them",
};

/// The families of this folder that are single numbers.
pub(super) const GROUPS: [&MetricFamily; 1] = [&shapes::FAMILY];
/// Those that are tables.
pub(super) const TABLES: [&MetricFamily; 4] = [&OPERATORS, &MODULES, &sequences::FAMILY, &roofline::FAMILY];

/// Metrics of operators and modules.
pub(super) struct OperatorMetrics {
    /// All floating-point operations.
    pub(super) group: Option<MetricGroup>,
    /// A table for each of [`TABLES`], possibly without rows.
    pub(super) tables: Vec<MetricTable>,
    /// Metrics that are missing beside the families without values.
    pub(super) absent: Vec<AbsentMetrics>,
}

/// The metrics of operators and modules.
pub(super) fn read<B: Bytes>(
    segment: &Segment<B>,
    streams: &[StreamSlices],
    peak: &DevicePeak,
    work: Work<'_>,
) -> Result<OperatorMetrics> {
    let mut launched: FxHashMap<i64, LaunchedWork> = FxHashMap::default();
    let slices = streams.iter().flat_map(|stream| &stream.slices);
    for (slice, id) in slices.filter_map(|slice| Some((slice, slice.correlation?))) {
        let of = launched.entry(id).or_insert(LaunchedWork { count: 0, time_ps: 0, kernel: slice.name });
        of.count += 1;
        of.time_ps = of.time_ps.saturating_add(slice.duration_ps());
    }
    let mut found = OperatorWork::default();
    if !launched.is_empty() {
        let threads = SliceTrack::all(segment, Role::HostThread);
        let of_thread = |at: usize| -> Result<OperatorWork> {
            let mut visitor = LaunchVisitor {
                launched: &launched,
                known: FxHashSet::default(),
                found: OperatorWork::default(),
            };
            walk(segment, threads[at], true, work.cancel, &mut visitor)?;
            Ok(visitor.found)
        };
        for of in work.gather(threads.len(), of_thread)? {
            found.merge(of);
        }
    }
    let group = found.shapes.group(streams, peak);
    let lacks_peak = group.as_ref().is_some_and(|group| group.metrics.iter().all(|of| of.name != "mfu"));
    let rows = [
        found.operators.rows(segment, |name| name, |name| found.shapes.values_of(name))?,
        found.modules.rows(segment, kernel_sequence::module_name, |_| Vec::new())?,
        found.sequences.rows(segment)?,
        found.shapes.rows(segment, peak)?,
    ];
    let tables = TABLES.into_iter().zip(rows).map(|(family, rows)| MetricTable { family, rows }).collect();
    let mut absent: Vec<AbsentMetrics> = lacks_peak.then(|| (&shapes::PEAKS).into()).into_iter().collect();
    // Without any point the roofline is absent as a whole.
    absent.extend(group.is_some().then(|| found.shapes.without_point()).flatten());
    Ok(OperatorMetrics { group, tables, absent })
}

#[derive(Debug, Default)]
struct OperatorWork {
    operators: WorkByName,
    modules: WorkByName,
    sequences: Sequences,
    shapes: Shapes,
}

impl OperatorWork {
    fn merge(&mut self, other: Self) {
        self.operators.merge(other.operators);
        self.modules.merge(other.modules);
        self.sequences.merge(other.sequences);
        self.shapes.merge(other.shapes);
    }
}

/// The launches of a thread.
struct LaunchVisitor<'l> {
    launched: &'l FxHashMap<i64, LaunchedWork>,
    /// A call can have a call with its number inside: the outer one launches.
    known: FxHashSet<i64>,
    found: OperatorWork,
}

impl CallVisitor for LaunchVisitor<'_> {
    fn call(&mut self, call: ThreadCall, open: &mut OpenScopes) -> bool {
        let Some((id, work)) = call.correlation.and_then(|id| Some((id, self.launched.get(&id)?))) else {
            return false;
        };
        if !self.known.insert(id) {
            return true;
        }
        self.found.operators.add(work, open.operators.iter().map(|of| of.slice.name));
        self.found.modules.add(work, open.modules.iter().map(|of| of.name));
        self.found.shapes.add(work, &open.operators);
        for of in &mut open.operators {
            of.has_launched = true;
        }
        let operators = open.operators.iter_mut().map(|of| &mut of.slice);
        for of in operators.chain(&mut open.modules) {
            of.kernels.push(work);
        }
        true
    }

    fn close(&mut self, owner: Owner, ended: OpenScope, around: Option<&mut OpenScope>) {
        self.found.sequences.close(owner, ended, around);
    }
}

/// The innermost operator around each of these rows of calls of the host, which launch work.
pub(in crate::makers) fn of_launches<B: Bytes>(
    segment: &Segment<B>,
    launches: &FxHashSet<u32>,
    cancel: Cancel<'_>,
) -> Result<TextsOfRows> {
    let mut visitor = OperatorVisitor { launches, operators: TextsOfRows::default() };
    for of in SliceTrack::all(segment, Role::HostThread) {
        walk(segment, of, false, cancel, &mut visitor)?;
    }
    Ok(visitor.operators)
}

struct OperatorVisitor<'l> {
    launches: &'l FxHashSet<u32>,
    operators: TextsOfRows,
}

impl CallVisitor for OperatorVisitor<'_> {
    fn call(&mut self, call: ThreadCall, open: &mut OpenScopes) -> bool {
        let is_launch = self.launches.contains(&call.row);
        if let (true, Some(innermost)) = (is_launch, open.operators.last()) {
            self.operators.insert(call.row, innermost.slice.name);
        }
        is_launch
    }
}
