//! The work of a rank of a Kineto trace: kernels and copies, and the calls of the host that launch
//! or await them. A launch and its work share a correlation.

use rustc_hash::FxHashMap;

use super::category_words::{ANNOTATION, CategoryWords};
use super::{ARGUMENTS, CATEGORY, CORRELATION};
use crate::base::Result;
use crate::exec::Work;
use crate::makers::call_columns::{FieldColumns, slice_tracks};
use crate::makers::work_reader::{EndedSlice, WorkReader, is_device_work};
use crate::model::{HostWork, MachineSide, RankWork, Role, TableId, TrackId};
use crate::segment::{Bytes, Segment};

/// Reads the work of a rank.
pub(in crate::makers) fn read<B: Bytes>(segment: &Segment<B>, work: Work<'_>) -> Result<RankWork> {
    let mut reader = LaunchReader {
        of: WorkReader::new(segment, work.cancel),
        launched: LaunchedNodes::default(),
        annotations: CategoryWords::new(&[ANNOTATION]),
    };
    for (track, table) in slice_tracks(segment, is_device_work) {
        reader.device(track, table)?;
    }
    for (track, table) in slice_tracks(segment, |role| role == Role::HostThread) {
        reader.host(track, table)?;
    }
    reader.of.finish(work.exec)
}

struct LaunchReader<'s, B> {
    of: WorkReader<'s, B>,
    launched: LaunchedNodes,
    annotations: CategoryWords,
}

/// The nodes of the device by correlation. One launch can start many nodes, as that of a graph.
#[derive(Debug, Default)]
struct LaunchedNodes {
    /// The last node of each correlation.
    last: FxHashMap<i64, u32>,
    /// For each node of the device the one before it of the same launch.
    before: Vec<Option<u32>>,
}

impl LaunchedNodes {
    /// Takes the next node of the device. Positions count up from 0.
    fn push(&mut self, node: u32, correlation: Option<i64>) {
        self.before.push(correlation.and_then(|id| self.last.insert(id, node)));
    }

    /// The nodes of a launch, the last one first.
    fn of(&self, correlation: i64) -> impl Iterator<Item = u32> + '_ {
        let first = self.last.get(&correlation).copied();
        std::iter::successors(first, |node| *self.before.get(*node as usize)?)
    }
}

/// The time in which a thread worked, up to the slice before.
#[derive(Debug, Default)]
struct ThreadTime {
    /// Time of the spans before [`Self::from_ps`].
    before_ps: i64,
    from_ps: i64,
    to_ps: i64,
    /// End of the last node, and the time worked up to it, once slices behind it are known.
    node_end_ps: Option<i64>,
    at_node_ps: Option<i64>,
}

impl ThreadTime {
    /// Time worked before `time_ps`. Slices that start later must not have come.
    fn worked_ps(&self, time_ps: i64) -> i64 {
        self.before_ps + (time_ps.min(self.to_ps) - self.from_ps).max(0)
    }

    /// Notes the time worked up to the last node before the first slice behind it comes.
    fn reach(&mut self, start_ps: i64) {
        if let Some(end_ps) = self.node_end_ps.filter(|end_ps| *end_ps <= start_ps) {
            let worked_ps = self.worked_ps(end_ps);
            self.at_node_ps.get_or_insert(worked_ps);
        }
    }

    fn slice(&mut self, start_ps: i64, end_ps: i64) {
        if start_ps > self.to_ps {
            self.before_ps += self.to_ps - self.from_ps;
            (self.from_ps, self.to_ps) = (start_ps, end_ps);
        } else {
            self.to_ps = self.to_ps.max(end_ps);
        }
    }

    /// Ends the time before a node. Returns the time worked since the node before.
    fn node(&mut self, start_ps: i64, end_ps: i64) -> i64 {
        let since_ps = self.worked_ps(start_ps) - self.at_node_ps.unwrap_or(0);
        (self.node_end_ps, self.at_node_ps) = (Some(end_ps), None);
        since_ps.max(0)
    }
}

impl<B: Bytes> LaunchReader<'_, B> {
    fn device(&mut self, track: TrackId, table: TableId) -> Result<()> {
        let columns = FieldColumns::of(self.of.segment, table, [ARGUMENTS[CORRELATION]]);
        for block in self.of.segment.blocks_of(track)? {
            let fields = columns.block(self.of.segment, block)?;
            for slice in &self.of.slices(table, block)? {
                let node = self.of.add(*slice, track, MachineSide::Device);
                self.launched.push(node, fields.int(0, slice.at));
            }
        }
        Ok(())
    }

    fn host(&mut self, track: TrackId, table: TableId) -> Result<()> {
        let columns = FieldColumns::of(self.of.segment, table, [ARGUMENTS[CORRELATION], ARGUMENTS[CATEGORY]]);
        let mut thread = ThreadTime::default();
        let mut last_end_ps = i64::MIN;
        for block in self.of.segment.blocks_of(track)? {
            let fields = columns.block(self.of.segment, block)?;
            for slice in &self.of.slices(table, block)? {
                thread.reach(slice.start_ps);
                let correlation = fields.int(0, slice.at);
                let launches = correlation.is_some_and(|id| self.launched.of(id).next().is_some());
                let is_wait = correlation.is_some() && self.of.is_wait(slice.name)?;
                if (launches || is_wait) && slice.start_ps >= last_end_ps {
                    // A thread is one queue: the depth of a call says nothing about its order.
                    let node = self.of.add(EndedSlice { lane: 0, ..*slice }, track, MachineSide::Host);
                    let busy_ps = thread.node(slice.start_ps, slice.end_ps);
                    self.of.work.host.make_mut().push(HostWork::new(node, busy_ps));
                    last_end_ps = slice.end_ps;
                    for of in correlation.into_iter().flat_map(|id| self.launched.of(id)) {
                        // Clocks of host and device can differ: a launch is no cause of earlier
                        // work.
                        if self.of.work.nodes[of as usize].start_ps >= slice.start_ps {
                            self.of.work.set_launch(of, node);
                        }
                    }
                }
                if !is_wait && !self.annotations.are_in(self.of.segment, fields.code(1, slice.at))? {
                    thread.slice(slice.start_ps, slice.end_ps);
                }
            }
        }
        Ok(())
    }
}
