//! Collective operations of a rank: all steps of an instance as one slice.
//!
//! An operation begins when the last kernel before its first finished step ends, and ends with its
//! last step. Its duration is that of the counters between the two, if both have them. A chain of N
//! ranks moves 2 · (N − 1) times the bytes of a step.

use std::collections::BTreeSet;

use nprof_engine::base::Result;
use nprof_engine::model::{Form, Sink, SliceRecord, Value};
use nprof_engine::vendor::aiu::schema::AiuCollective;
use nprof_engine::vendor::aiu::{Lane, Tracks};
use rustc_hash::FxHashMap;

use super::clock::Clock;
use super::summary::count;

/// Longest time between the end of a kernel and the first end of a step that follows it.
const MAX_GAP_PS: i64 = 10_000_000_000;

/// Mark of the ranks of a step in its name: `[sync=<group>_s<source>_r<destination>_<n>]`.
const SYNC: &str = "[sync=";

/// Highest number of a rank that is counted.
const MAX_RANK: u32 = 1 << 16;

/// Ranks and bytes that a step states.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Step<'s> {
    /// The instance.
    pub(super) group: Option<&'s str>,
    /// One rank, or several with commas.
    pub(super) peers: Option<&'s str>,
    pub(super) bytes: Option<i64>,
}

/// An end by the clock of the host in picoseconds, and by the repaired counter.
type End = (i64, Option<i64>);

/// An operation.
#[derive(Debug)]
struct Operation {
    name: Box<str>,
    first_start_ps: i64,
    first_end_ps: i64,
    last_end: End,
    bytes: i64,
    steps: u64,
    ranks: BTreeSet<u32>,
}

/// The operations of a rank.
#[derive(Debug, Default)]
pub(super) struct Collectives {
    all: Vec<Operation>,
    by_name: FxHashMap<Box<str>, usize>,
    /// Ends of kernels outside of operations.
    kernel_ends: Vec<End>,
}

impl Collectives {
    /// Takes a kernel outside of operations.
    pub(super) fn kernel(&mut self, end: End) {
        self.kernel_ends.push(end);
    }

    /// Takes a step, with the name of its slice.
    pub(super) fn step(&mut self, step: Step<'_>, name: &str, (start_ps, end): (i64, End)) {
        let Some(group) = step.group else { return };
        let at = match self.by_name.get(group) {
            Some(&known) => known,
            None => {
                self.by_name.insert(group.into(), self.all.len());
                self.all.push(Operation {
                    name: group.into(),
                    first_start_ps: start_ps,
                    first_end_ps: end.0,
                    last_end: end,
                    bytes: 0,
                    steps: 0,
                    ranks: BTreeSet::new(),
                });
                self.all.len() - 1
            }
        };
        let operation = &mut self.all[at];
        operation.first_start_ps = operation.first_start_ps.min(start_ps);
        operation.first_end_ps = operation.first_end_ps.min(end.0);
        operation.last_end = operation.last_end.max(end);
        operation.bytes = operation.bytes.max(step.bytes.unwrap_or(0));
        operation.steps += 1;
        let peers = step.peers.into_iter().flat_map(|peers| peers.split(','));
        let peers = peers.filter_map(|peer| peer.trim().parse().ok());
        operation.ranks.extend(peers.chain(ranks_of(name)).filter(|&rank| rank < MAX_RANK));
    }

    /// Writes a slice for each operation.
    pub(super) fn finish(
        mut self,
        sink: &mut dyn Sink,
        (tracks, clock): (&mut Tracks, &Clock),
        rank: Option<u32>,
    ) -> Result<()> {
        if self.all.is_empty() {
            return Ok(());
        }
        self.kernel_ends.sort_unstable();
        let fields = AiuCollective::define(sink)?;
        let track = tracks.lane(sink, fields.table, (Lane::Collective, 0))?;
        for mut operation in self.all {
            operation.ranks.extend(rank);
            let before = self.kernel_ends.partition_point(|end| end.0 <= operation.first_end_ps);
            let kernel = before.checked_sub(1).map(|at| self.kernel_ends[at]);
            let kernel = kernel.filter(|end| operation.first_end_ps - end.0 <= MAX_GAP_PS);
            let (last_end_ps, last_cycle) = operation.last_end;
            let cycles = kernel.and_then(|end| end.1).zip(last_cycle).map(|(first, last)| last - first);
            let duration_ps = match cycles.filter(|cycles| *cycles > 0) {
                Some(cycles) => clock.ps(cycles as f64),
                None => last_end_ps.saturating_sub(kernel.map_or(operation.first_start_ps, |end| end.0)),
            };
            let start_ps = last_end_ps.saturating_sub(duration_ps);
            let others = i64::try_from(operation.ranks.len()).unwrap_or(i64::MAX).saturating_sub(1);
            let moved = operation.bytes.saturating_mul(2).saturating_mul(others);
            let members: Vec<String> = operation.ranks.iter().map(u32::to_string).collect();
            let members = members.join(",");
            let mut values = vec![
                (fields.bytes, Value::Int(operation.bytes)),
                (fields.ranks, count(operation.ranks.len() as u64)),
                (fields.members, Value::Text(&members)),
                (fields.steps, count(operation.steps)),
                (fields.moved_bytes, Value::Int(moved)),
            ];
            if duration_ps > 0 {
                let rate = moved as f64 / duration_ps as f64 * 1e12;
                values.push((fields.bandwidth, Value::Float(rate)));
            }
            let (name, form) = (sink.name(&operation.name)?, Form::Complete);
            sink.slice(&SliceRecord { track, start_ps, duration_ps, name, form, fields: &values })?;
        }
        Ok(())
    }
}

/// The ranks in the name of a step: source, and destination or a mask of destinations.
fn ranks_of(name: &str) -> impl Iterator<Item = u32> {
    let inside = name.find(SYNC).and_then(|at| name[at + SYNC.len()..].split(']').next());
    let parts = inside.into_iter().flat_map(|inside| inside.rsplit('_').skip(1).take(2));
    parts.flat_map(|part| {
        let mask = part.strip_prefix("r0x").and_then(|mask| u64::from_str_radix(mask, 16).ok());
        let one = part.strip_prefix(['r', 's']).and_then(|rank| rank.parse().ok());
        let of_mask = (0..u64::BITS).filter(move |bit| mask.is_some_and(|mask| mask >> bit & 1 == 1));
        one.into_iter().chain(of_mask)
    })
}

#[cfg(test)]
mod tests {
    use nprof_engine::fixture::Recorder;
    use nprof_engine::model::OwnedValue;

    use super::super::clock::Counters;
    use super::*;

    #[test]
    fn names_tell_ranks() {
        let ranks = |name: &str| ranks_of(name).collect::<Vec<u32>>();
        assert_eq!(ranks("Recv_8 [5B] [sync=All_reduce_4_s2_r3_4] DmaI"), [3, 2]);
        assert_eq!(ranks("Send_8 [sync=All_4_s3_r0x7_6] DmaO"), [0, 1, 2, 3]);
        assert!(ranks("Add_1 Cmpt Exec").is_empty() && ranks("[sync=").is_empty());
    }

    #[test]
    fn an_operation_begins_after_the_kernel_before_it() {
        let us = |us: i64| us * 1_000_000;
        let mut collectives = Collectives::default();
        // The host saw the last kernel end 3 us late.
        for (end, cycle) in [(5, 500), (93, 9_000), (300, 30_000)] {
            collectives.kernel((us(end), Some(cycle)));
        }
        let step = |bytes| Step { group: Some("g_1"), peers: Some("1,2"), bytes };
        let (first, last) = ((us(140), Some(14_000)), (us(190), Some(19_000)));
        collectives.step(step(Some(1000)), "Recv [sync=g_1_s1_r0_1] DmaI", (us(10), first));
        collectives.step(step(None), "Send [sync=g_1_s0_r0xe_2] DmaO", (us(120), last));
        collectives.step(Step::default(), "no group", (us(0), (us(999), None)));
        let mut sink = Recorder::default();
        let clock = Counters::new(Some(100e6)).finish();
        collectives.finish(&mut sink, (&mut Tracks::new(Some(0)), &clock), Some(0)).unwrap();
        let slice = &sink.slices[0];
        assert_eq!((slice.start_ps, slice.duration_ps, slice.name.as_str()), (us(90), us(100), "g_1"));
        let moved = slice.fields.iter().find(|(name, _)| name == "moved_bytes").map(|(_, value)| value);
        assert_eq!(moved, Some(&OwnedValue::Int(6000)), "2 · 3 · 1,000");
    }
}
