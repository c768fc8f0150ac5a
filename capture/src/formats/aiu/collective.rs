//! Collective operations of a rank: all steps of an instance as one slice.
//!
//! A compiled graph that runs again has the same groups and steps again. A step that its instance
//! has already begins a new instance, as does a long silence, and each job has its own. A file can
//! go on with the instance of another file that has ended: with a step that the instance lacks,
//! before any further kernel, and after a pause that is not longer than the steps so far.
//!
//! An operation begins when the last kernel before its first finished step ends, and ends with its
//! last step. Its duration is that of the counters between the two, if both have them. A chain of N
//! ranks moves 2 · (N − 1) times the bytes of a step. Steps of PyTorch's dialect ([`super::hcoll`])
//! name no ranks, so ranks and bandwidth of their operations are not known.

use std::collections::BTreeSet;

use nprof_engine::base::bytes::{Cursor, Put};
use nprof_engine::base::{Result, signed};
use nprof_engine::makers::aiu::schema::AiuCollective;
use nprof_engine::makers::aiu::{AiuTracks, LaneKind, Sync};
use nprof_engine::model::transfer::{CHAIN, TREE};
use nprof_engine::model::{Sink, SliceForm, SliceRecord, Value};
use nprof_engine::spill::{NoBytes, Scratch, Sorter, Space, SpillKey};
use rustc_hash::{FxHashMap, FxHashSet};

use super::attribute::Peers;
use super::clock::CounterClock;
use super::summary::count;

/// Longest time between the end of a kernel and the first end of a step that follows it.
const MAX_GAP_PS: i64 = 10_000_000_000;

/// Highest number of a rank that is counted.
const MAX_RANK: u32 = 1 << 16;

/// An instance is over if it is silent for this many times its length, or the least time.
const MAX_SILENCE: i64 = 4;
/// See [`MAX_SILENCE`].
const LEAST_LENGTH_PS: i64 = 5_000_000_000_000;

/// A step that looks for the running instance of its group.
#[derive(Clone, Copy)]
struct GroupStep<'g> {
    job: u32,
    group: &'g str,
    start_ps: i64,
    end_ps: i64,
    /// Number of the slice's name, if the name tells the ranks.
    name: Option<u32>,
}

/// A step as the trace states it.
#[derive(Debug, Default)]
pub(super) struct CollectiveStep {
    /// Name of the slice, if it is not among the names.
    pub(super) name: Option<String>,
    /// The instance.
    pub(super) group: Option<String>,
    /// Name of the operation, if it is not that of the instance. Steps of such an operation name no
    /// ranks.
    pub(super) title: Option<&'static str>,
    /// The ranks at the other ends.
    pub(super) peers: Peers,
    pub(super) bytes: Option<i64>,
    /// Whether the step goes to several ranks.
    pub(super) is_multicast: bool,
}

/// An end by the clock of the host in picoseconds, and by the repaired counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StepEnd(pub(super) i64, pub(super) Option<i64>);

impl SpillKey for StepEnd {
    type Span = NoBytes;
    const MAX_LEN: usize = 21;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_signed(self.0);
        out.push(u8::from(self.1.is_some()));
        out.put_signed(self.1.unwrap_or(0));
    }

    fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
        let (ps, has_cycle, cycle) = (cursor.signed()?, cursor.u8()? != 0, cursor.signed()?);
        Ok(Self(ps, has_cycle.then_some(cycle)))
    }
}

/// An operation.
#[derive(Debug)]
struct CollectiveInstance {
    name: Box<str>,
    /// Whether steps name the ranks.
    names_ranks: bool,
    first_start_ps: i64,
    first_end_ps: i64,
    last_end: StepEnd,
    bytes: i64,
    steps: u64,
    ranks: BTreeSet<u32>,
    /// The rank that sends to several others at once.
    multicaster: Option<u32>,
    /// The rank to which this one sends alone, and the one from which it receives alone.
    next: Partner,
    /// See [`Self::next`].
    previous: Partner,
    /// Names of the steps that state their place in the operation. Empty once the instance is over.
    seen: FxHashSet<u32>,
    /// Kernels before the last step.
    kernels: u64,
    /// End of the work of its file.
    file_end_ps: i64,
}

/// Ranks at the other ends of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Partner {
    Nobody,
    One(u32),
    Several,
}

impl Partner {
    fn add(&mut self, rank: u32) {
        *self = match *self {
            Self::Nobody => Self::One(rank),
            Self::One(known) if known == rank => *self,
            _ => Self::Several,
        };
    }
}

impl CollectiveInstance {
    /// Whether a step belongs to a later instance.
    fn is_over(&self, start_ps: i64, repeated: bool) -> bool {
        let length_ps = self.last_end.0.saturating_sub(self.first_start_ps).max(LEAST_LENGTH_PS);
        let silence_ps = start_ps.saturating_sub(self.last_end.0);
        repeated || silence_ps > length_ps.saturating_mul(MAX_SILENCE)
    }

    /// The way of the data, as far as this rank sees it: along a chain of ranks, if the last one
    /// sends to all others, and this one has no other partners than its neighbours.
    fn algorithm(&self) -> Option<&'static str> {
        let (first, last) = (self.ranks.first()?, self.ranks.last()?);
        if first == last {
            return None;
        }
        let branches = self.next == Partner::Several || self.previous == Partner::Several;
        let is_chain = !branches && self.multicaster.is_some_and(|rank| rank == *first || rank == *last);
        Some(if is_chain { CHAIN } else { TREE })
    }
}

/// The operations of a rank.
pub(super) struct Collectives<'s> {
    rank: Option<u32>,
    all: Vec<CollectiveInstance>,
    /// The last instance of each group of each job.
    open: FxHashMap<(u32, Box<str>), usize>,
    /// The last instance of each group.
    last: FxHashMap<Box<str>, usize>,
    /// Ends of kernels outside of operations.
    kernel_ends: Sorter<StepEnd, &'s dyn Scratch>,
    /// Number of these kernels.
    kernels: u64,
    /// End of the work of each file.
    file_ends: Vec<i64>,
}

impl<'s> Collectives<'s> {
    /// The operations of a rank, whose files end their work on the device at these times.
    pub(super) fn new(rank: Option<u32>, file_ends: Vec<i64>, space: Space<'s>) -> Self {
        let (open, last) = (FxHashMap::default(), FxHashMap::default());
        Self { rank, all: Vec::new(), open, last, kernel_ends: space.sorter(16), kernels: 0, file_ends }
    }

    /// Takes a kernel outside of operations.
    pub(super) fn kernel(&mut self, end: StepEnd) -> Result<()> {
        self.kernels += 1;
        self.kernel_ends.push(end)
    }

    /// Takes a step of a job, with the number and the text of its slice's name.
    pub(super) fn step(
        &mut self,
        step: &CollectiveStep,
        job: u32,
        number: u32,
        name: &str,
        start_ps: i64,
        end: StepEnd,
    ) {
        let Some(group) = step.group.as_deref() else { return };
        let sync = Sync::of(name);
        let name = sync.is_some().then_some(number);
        let at = self.instance(GroupStep { job, group, start_ps, end_ps: end.0, name });
        let at = at.unwrap_or_else(|| {
            self.all.push(CollectiveInstance {
                name: step.title.unwrap_or(group).into(),
                names_ranks: step.title.is_none(),
                first_start_ps: start_ps,
                first_end_ps: end.0,
                last_end: end,
                bytes: 0,
                steps: 0,
                ranks: self.rank.into_iter().collect(),
                multicaster: None,
                next: Partner::Nobody,
                previous: Partner::Nobody,
                seen: FxHashSet::default(),
                kernels: 0,
                file_end_ps: self.file_ends.get(job as usize).copied().unwrap_or(i64::MAX),
            });
            self.open.insert((job, group.into()), self.all.len() - 1);
            self.last.insert(group.into(), self.all.len() - 1);
            self.all.len() - 1
        });
        let operation = &mut self.all[at];
        operation.kernels = self.kernels;
        operation.first_start_ps = operation.first_start_ps.min(start_ps);
        operation.first_end_ps = operation.first_end_ps.min(end.0);
        operation.last_end = operation.last_end.max(end);
        operation.bytes = operation.bytes.max(step.bytes.unwrap_or(0));
        operation.steps += 1;
        if step.is_multicast {
            operation.multicaster = operation.multicaster.or(self.rank);
        }
        let mut ranks = step.peers.0.clone();
        if let Some(sync) = sync {
            operation.seen.insert(number);
            ranks.extend([sync.source].into_iter().chain(sync.destinations()));
            match sync.one {
                Some(one) if Some(sync.source) == self.rank => operation.next.add(one),
                Some(one) if Some(one) == self.rank => operation.previous.add(sync.source),
                _ => {}
            }
            if sync.mask.is_some() {
                operation.multicaster = Some(sync.source);
            }
        }
        operation.ranks.extend(ranks.into_iter().filter(|&rank| rank < MAX_RANK));
    }

    /// The running instance of a group that a step belongs to. Ends the one before.
    fn instance(&mut self, step: GroupStep<'_>) -> Option<usize> {
        let GroupStep { job, group, start_ps, name, .. } = step;
        let Some(&at) = self.open.get(&(job, group.into()) as &(u32, Box<str>)) else {
            return self.of_other_file(step);
        };
        let operation = &mut self.all[at];
        let is_repeated = name.is_some_and(|name| operation.seen.contains(&name));
        if !operation.is_over(start_ps, is_repeated) {
            return Some(at);
        }
        operation.seen = FxHashSet::default();
        None
    }

    /// The last instance of a group, if the first step of a file goes on with it.
    fn of_other_file(
        &mut self,
        GroupStep { job, group, start_ps, end_ps, name }: GroupStep<'_>,
    ) -> Option<usize> {
        let at = *self.last.get(group)?;
        let operation = &self.all[at];
        let pause_ps = start_ps.saturating_sub(operation.last_end.0);
        let length_ps = operation.last_end.0.saturating_sub(operation.first_start_ps);
        let is_missing =
            !operation.seen.is_empty() && name.is_some_and(|name| !operation.seen.contains(&name));
        let has_ended = operation.file_end_ps <= end_ps;
        if !is_missing || !has_ended || operation.kernels != self.kernels || pause_ps > length_ps {
            return None;
        }
        self.all[at].file_end_ps = self.file_ends.get(job as usize).copied().unwrap_or(i64::MAX);
        self.open.insert((job, group.into()), at);
        Some(at)
    }

    /// Writes a slice for each operation.
    pub(super) fn finish(
        self,
        sink: &mut dyn Sink,
        tracks: &mut AiuTracks,
        clock: &CounterClock,
    ) -> Result<()> {
        if self.all.is_empty() {
            return Ok(());
        }
        let fields = AiuCollective::define(sink)?;
        let track = tracks.lane(sink, fields.table, LaneKind::Collective, 0)?;
        let kernels = kernels_before(&self.all, self.kernel_ends)?;
        for (operation, kernel) in self.all.into_iter().zip(kernels) {
            let StepEnd(last_end_ps, last_cycle) = operation.last_end;
            let cycles = kernel.and_then(|end| end.1).zip(last_cycle).map(|(first, last)| last - first);
            let duration_ps = match cycles.filter(|cycles| *cycles > 0) {
                Some(cycles) => clock.ps(cycles as f64),
                None => last_end_ps.saturating_sub(kernel.map_or(operation.first_start_ps, |end| end.0)),
            };
            let start_ps = last_end_ps.saturating_sub(duration_ps);
            let others = signed(operation.ranks.len()).saturating_sub(1);
            let moved = operation.bytes.saturating_mul(2).saturating_mul(others);
            let members: Vec<String> = operation.ranks.iter().map(u32::to_string).collect();
            let members = members.join(",");
            let mut values = vec![(fields.steps, count(operation.steps))];
            if operation.names_ranks || operation.bytes > 0 {
                values.push((fields.bytes, Value::Int(operation.bytes)));
            }
            if operation.names_ranks {
                values.extend([
                    (fields.ranks, count(operation.ranks.len() as u64)),
                    (fields.members, Value::Text(&members)),
                    (fields.moved_bytes, Value::Int(moved)),
                ]);
                values.extend(operation.algorithm().map(|name| (fields.algorithm, Value::Text(name))));
                if duration_ps > 0 {
                    let rate = moved as f64 / duration_ps as f64 * 1e12;
                    values.push((fields.bandwidth, Value::Float(rate)));
                }
            }
            let (name, form) = (sink.name(&operation.name)?, SliceForm::Complete);
            sink.slice(&SliceRecord { track, start_ps, duration_ps, name, form, fields: &values })?;
        }
        Ok(())
    }
}

/// The last kernel that ends before the first end of a step of each operation, and not long before.
fn kernels_before(
    all: &[CollectiveInstance],
    ends: Sorter<StepEnd, &dyn Scratch>,
) -> Result<Vec<Option<StepEnd>>> {
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|&at| all[at].first_end_ps);
    let mut found = vec![None; all.len()];
    let mut ends = ends.finish()?;
    let mut next = ends.next()?.copied();
    let mut last: Option<StepEnd> = None;
    for at in order {
        let first_end_ps = all[at].first_end_ps;
        while let Some(end) = next.filter(|end| end.0 <= first_end_ps) {
            last = Some(end);
            next = ends.next()?.copied();
        }
        found[at] = last.filter(|end| first_end_ps.saturating_sub(end.0) <= MAX_GAP_PS);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use nprof_engine::fixture::{RecordedSlice, Recorder};
    use nprof_engine::model::OwnedValue;
    use nprof_engine::spill::MemoryScratch;

    use super::super::clock::DeviceCounters;
    use super::*;

    fn us(us: i64) -> i64 {
        us * 1_000_000
    }

    fn step(peers: &[u32], bytes: Option<i64>) -> CollectiveStep {
        CollectiveStep {
            group: Some("g_1".to_owned()),
            peers: Peers(peers.to_vec()),
            bytes,
            ..CollectiveStep::default()
        }
    }

    /// Steps of a group of rank 0: job, name, and start and end in microseconds.
    fn found(rank: u32, steps: &[(u32, &str, i64, i64)]) -> Vec<RecordedSlice> {
        let scratch = MemoryScratch::default();
        let end_of = |job: u32| steps.iter().filter(|step| step.0 == job).map(|step| us(step.3)).max();
        let ends = (0..2).map(|job| end_of(job).unwrap_or(0)).collect();
        let mut collectives = Collectives::new(Some(rank), ends, Space::new(&scratch));
        let mut names: Vec<&str> = Vec::new();
        for &(job, name, start, end) in steps {
            let at = names.iter().position(|known| *known == name).unwrap_or_else(|| {
                names.push(name);
                names.len() - 1
            });
            let number = u32::try_from(at).unwrap();
            collectives.step(&step(&[], Some(8)), job, number, name, us(start), StepEnd(us(end), None));
        }
        let (mut sink, clock) = (Recorder::default(), DeviceCounters::new(Some(100e6)).finish());
        collectives.finish(&mut sink, &mut AiuTracks::new(Some(rank)), &clock).unwrap();
        sink.slices
    }

    fn text(slice: &RecordedSlice, field: &str) -> Option<String> {
        let found = slice.fields.iter().find(|(name, _)| name == field);
        found.map(|(_, value)| match value {
            OwnedValue::Text(text) => text.clone(),
            other => format!("{other:?}"),
        })
    }

    const RECEIVE: &str = "Recv [sync=g_1_s3_r0x7_6] DmaI";
    const SEND: &str = "Send [sync=g_1_s0_r1_0] DmaO";

    #[test]
    fn a_graph_that_runs_again_has_its_operations_again() {
        let spans = |steps: &[(u32, &str, i64, i64)]| -> Vec<(i64, i64)> {
            let span = |slice: &RecordedSlice| (slice.start_ps / us(1), slice.duration_ps / us(1));
            found(0, steps).iter().map(span).collect()
        };
        let twice = [(0, SEND, 10, 20), (0, RECEIVE, 30, 40), (0, SEND, 50, 60), (0, RECEIVE, 70, 80)];
        assert_eq!(spans(&twice), [(10, 30), (50, 30)]);
        let jobs = [(0, SEND, 10, 20), (1, RECEIVE, 30, 40), (0, RECEIVE, 50, 60)];
        assert_eq!(spans(&jobs), [(10, 50), (30, 10)]);
        let split = [(0, SEND, 10, 20), (1, RECEIVE, 30, 40)];
        assert_eq!(spans(&split), [(10, 30)]);
        let later = [(0, SEND, 10, 20), (1, RECEIVE, 31, 40)];
        assert_eq!(spans(&later), [(10, 10), (31, 9)], "a pause that is longer than the operation");
        // Steps whose names state no place belong together until a long silence.
        let plain = [(0, "a DmaI", 10, 20), (0, "a DmaI", 30, 40), (0, "a DmaI", 30_000_000, 30_000_001)];
        assert_eq!(spans(&plain), [(10, 30), (30_000_000, 1)]);
    }

    #[test]
    fn the_last_rank_of_a_chain_sends_to_all() {
        let algorithm = |name: &str, rank| text(&found(rank, &[(0, name, 0, 1)])[0], "algorithm");
        assert_eq!(algorithm(RECEIVE, 0).as_deref(), Some(CHAIN));
        assert_eq!(algorithm(SEND, 0).as_deref(), Some(TREE));
        assert_eq!(
            algorithm("Send [sync=g_s1_r0x5_6] DmaO", 1).as_deref(),
            Some(TREE),
            "a rank in the middle"
        );
        assert_eq!(algorithm("a DmaI", 3), None);
        // The root of a tree sends to all, too, but it has received from several.
        let first = "Recv [sync=g_1_s1_r0_0] DmaI";
        let second = "Recv [sync=g_1_s2_r0_1] DmaI";
        let all = "Send [sync=g_1_s0_r0x6_2] DmaO";
        let root = |steps: &[(u32, &str, i64, i64)]| text(&found(0, steps)[0], "algorithm");
        assert_eq!(root(&[(0, first, 0, 1), (0, second, 2, 3), (0, all, 4, 5)]).as_deref(), Some(TREE));
        assert_eq!(root(&[(0, first, 0, 1), (0, all, 4, 5)]).as_deref(), Some(CHAIN));
    }

    #[test]
    fn an_operation_begins_after_the_kernel_before_it() {
        let scratch = MemoryScratch::default();
        let mut collectives = Collectives::new(Some(0), Vec::new(), Space::new(&scratch));
        // The host saw the last kernel end 3 us late.
        for (end, cycle) in [(300, 30_000), (5, 500), (93, 9_000)] {
            collectives.kernel(StepEnd(us(end), Some(cycle))).unwrap();
        }
        let (first, last) = (StepEnd(us(140), Some(14_000)), StepEnd(us(190), Some(19_000)));
        let (received, sent) = (step(&[1, 2], Some(1000)), step(&[1, 2], None));
        let without = CollectiveStep::default();
        collectives.step(&received, 0, 0, "Recv [sync=g_1_s1_r0_1] DmaI", us(10), first);
        collectives.step(&sent, 0, 1, "Send [sync=g_1_s0_r0xe_2] DmaO", us(120), last);
        collectives.step(&without, 0, 2, "no group", us(0), StepEnd(us(999), None));
        let mut sink = Recorder::default();
        let clock = DeviceCounters::new(Some(100e6)).finish();
        collectives.finish(&mut sink, &mut AiuTracks::new(Some(0)), &clock).unwrap();
        let slice = &sink.slices[0];
        assert_eq!((slice.start_ps, slice.duration_ps, slice.name.as_str()), (us(90), us(100), "g_1"));
        let moved = slice.fields.iter().find(|(name, _)| name == "moved_bytes").map(|(_, value)| value);
        assert_eq!(moved, Some(&OwnedValue::Int(6000)), "2 · 3 · 1,000");
    }
}
