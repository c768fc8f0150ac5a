//! The work of a rank of an AIU: kernels, transfers, collective operations with their steps, and
//! the preparations that kernels wait for.
//!
//! A kernel has two slices with the same counters: its preparation and its execution. The
//! preparation lasts until the execution begins, so only its begin says something. If it comes when
//! the kernel before has ended, it is the launch that the kernel waited for.

use rustc_hash::FxHashMap;

use super::Phase;
use super::schema::{COLLECTIVES, OPS};
use super::tracks::LaneKind;
use crate::base::Result;
use crate::exec::Work;
use crate::makers::call_columns::{FieldColumns, slice_tracks};
use crate::makers::kineto;
use crate::makers::work_reader::{EndedSlice, WorkReader, is_device_work};
use crate::model::{HostWork, MachineSide, NameId, RankWork, Role, TableId, TrackId};
use crate::segment::{Bytes, Segment};

/// The counters at the begin of a preparation, and between it and the execution.
const FIELDS: [&str; 2] = ["ts2", "ts3"];

/// The counters and the name of a kernel, which its preparation shares.
type KernelKey<'s> = (Option<i64>, Option<i64>, &'s str);

/// Reads the work of a rank. Streams of PyTorch's dialect state launches.
pub(super) fn read<B: Bytes>(segment: &Segment<B>, work: Work<'_>) -> Result<RankWork> {
    // A profile of PyTorch's dialect has this table, too, without rows.
    let of_device =
        segment.table(OPS.name).filter(|table| segment.blocks(*table).is_ok_and(|of| !of.is_empty()));
    let Some(table) = of_device else {
        return kineto::work::read(segment, work);
    };
    let mut reader = KernelReader {
        of: WorkReader::new(segment, work.cancel),
        columns: FieldColumns::of(segment, table, FIELDS),
        kernels: FxHashMap::default(),
        segment,
    };
    let operations = segment.table(COLLECTIVES.name);
    for (track, of) in slice_tracks(segment, |role| is_device_work(role) || role == Role::Collectives) {
        let role = segment.footer().tracks[track.0 as usize].spec.identity.role;
        if role != Role::Collectives || Some(of) == operations {
            reader.device(track, of, role == Role::Kernels && of == table)?;
        }
    }
    for (track, of) in slice_tracks(segment, |role| role == Role::Unknown) {
        let title = &segment.footer().tracks[track.0 as usize].spec.name;
        if of == table && LaneKind::of_title(title) == Some(LaneKind::Prep) {
            reader.preparations(track, of)?;
        }
    }
    reader.of.finish(work.exec)
}

/// A kernel that has a preparation.
#[derive(Debug, Clone, Copy)]
struct PreparedKernel {
    node: u32,
    start_ps: i64,
    /// End of the kernel before on its track, if there is one.
    before_ps: Option<i64>,
}

struct KernelReader<'s, B> {
    of: WorkReader<'s, B>,
    columns: FieldColumns<2>,
    /// The last kernel of each key.
    kernels: FxHashMap<KernelKey<'s>, PreparedKernel>,
    segment: &'s Segment<B>,
}

impl<'s, B: Bytes> KernelReader<'s, B> {
    fn device(&mut self, track: TrackId, table: TableId, has_kernels: bool) -> Result<()> {
        let mut before_ps = None;
        for block in self.segment.blocks_of(track)? {
            let slices = self.of.slices(table, block)?;
            let keys = if has_kernels { self.keys(&slices, block)? } else { Vec::new() };
            for (at, slice) in slices.into_iter().enumerate() {
                let node = self.of.add(slice, track, MachineSide::Device);
                if let Some(key) = keys.get(at) {
                    self.kernels.insert(*key, PreparedKernel { node, start_ps: slice.start_ps, before_ps });
                }
                before_ps = before_ps.max(Some(slice.end_ps));
            }
        }
        Ok(())
    }

    fn preparations(&mut self, track: TrackId, table: TableId) -> Result<()> {
        for block in self.segment.blocks_of(track)? {
            let slices = self.of.slices(table, block)?;
            let keys = self.keys(&slices, block)?;
            for (slice, key) in slices.into_iter().zip(keys) {
                let Some(&PreparedKernel { node: kernel, start_ps, before_ps }) = self.kernels.get(&key)
                else {
                    continue;
                };
                let is_late = before_ps.is_some_and(|before_ps| before_ps <= slice.start_ps);
                if !is_late || start_ps < slice.start_ps {
                    continue;
                }
                let begin = EndedSlice { end_ps: slice.start_ps, lane: 0, ..slice };
                let node = self.of.add(begin, track, MachineSide::Host);
                self.of.work.host.make_mut().push(HostWork::new(node, 0));
                self.of.work.set_launch(kernel, node);
            }
        }
        Ok(())
    }

    /// The keys of kernels in a block.
    fn keys(&self, slices: &[EndedSlice], block: usize) -> Result<Vec<KernelKey<'s>>> {
        let fields = self.columns.block(self.segment, block)?;
        let key = |slice: &EndedSlice| {
            let name = Phase::kernel(self.segment.text(NameId(slice.name))?);
            Ok((fields.int(0, slice.at), fields.int(1, slice.at), name))
        };
        slices.iter().map(key).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{BuildOptions, Builder};
    use crate::makers::aiu::schema::AiuOp;
    use crate::makers::aiu::{AiuTracks, SOURCE};
    use crate::model::{RankInfo, Sink, SliceForm, SliceRecord, Value};
    use crate::spill::MemoryScratch;

    /// A slice: its lane, name, start and end, and the counters at the begin of its preparation and
    /// of its execution.
    struct DrawnSlice(LaneKind, &'static str, i64, i64, [i64; 2]);

    fn work_of(slices: &[DrawnSlice]) -> RankWork {
        let mut bytes = Vec::new();
        {
            let scratch = MemoryScratch::default();
            let mut sink = Builder::new(&scratch, &mut bytes, BuildOptions::default()).unwrap();
            sink.rank(RankInfo { source: SOURCE.to_owned(), ..RankInfo::default() });
            let (of, mut tracks) = (AiuOp::define(&mut sink).unwrap(), AiuTracks::new(Some(0)));
            for DrawnSlice(lane, name, start_ps, end_ps, [prepared, executed]) in slices {
                let track = tracks.lane(&mut sink, of.table, *lane, 0).unwrap();
                let fields = [(of.ts2, Value::Int(*prepared)), (of.ts3, Value::Int(*executed))];
                let (name, form) = (sink.name(name).unwrap(), SliceForm::Complete);
                let (start_ps, duration_ps) = (*start_ps, end_ps - start_ps);
                let slice = SliceRecord { track, start_ps, duration_ps, name, form, fields: &fields };
                sink.slice(&slice).unwrap();
            }
            sink.finish().unwrap();
        }
        read(&Segment::open(bytes).unwrap(), Work::IN_PLACE).unwrap()
    }

    #[test]
    fn a_late_preparation_launches_the_kernel_with_its_counters() {
        let work = work_of(&[
            DrawnSlice(LaneKind::Prep, "add Cmpt Prep", 0, 50, [1, 9]),
            DrawnSlice(LaneKind::Prep, "sub Cmpt Prep", 60, 79, [1, 13]),
            DrawnSlice(LaneKind::Prep, "mul Cmpt Prep", 120, 150, [2, 14]),
            DrawnSlice(LaneKind::Prep, "div Cmpt Prep", 130, 170, [2, 99]),
            DrawnSlice(LaneKind::Compute, "add Cmpt Exec", 50, 78, [1, 9]),
            DrawnSlice(LaneKind::Compute, "sub Cmpt Exec", 79, 110, [1, 13]),
            DrawnSlice(LaneKind::Compute, "mul Cmpt Exec", 150, 160, [2, 14]),
            DrawnSlice(LaneKind::DataIn, "x DmaI", 10, 40, [0, 0]),
        ]);
        let name =
            |node: u32| work.name(work.classes[work.nodes[node as usize].class as usize].name).unwrap();
        let launches = (0..5).filter_map(|at| Some((name(work.launch(at)?), name(at))));
        let launches: Vec<_> = launches.collect();
        // The others are prepared while the device works, or have no kernel.
        assert_eq!(launches, [("mul Cmpt Prep", "mul Cmpt Exec")]);
        assert_eq!(work.nodes.len(), 5);
        assert!(work.host.iter().all(|call| work.nodes[call.node() as usize].duration_ps == 0));
    }
}
