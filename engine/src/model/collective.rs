//! Collective operations of one rank in words of no vendor. [`crate::makers::collectives`] reads
//! them, and [`crate::analysis`] compares them over all ranks.

use serde::{Deserialize, Serialize};

use super::{ComputeLoad, FlopLoad, TransferStep};

/// A kind of collective operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum CollectiveKind {
    /// Every rank gets the reduction of the inputs of all ranks.
    AllReduce,
    /// Every rank gets the inputs of all ranks.
    AllGather,
    /// Every rank gets its part of the reduction.
    ReduceScatter,
    /// Every rank sends a part of its input to every other rank.
    AllToAll,
    /// No data.
    Barrier,
    /// One rank sends the same data to all ranks.
    Broadcast,
    /// One rank sends each rank a part.
    Scatter,
    /// One rank gets the reduction.
    Reduce,
    /// One rank gets the inputs of all ranks.
    Gather,
    /// One rank sends to one other rank.
    Send,
    /// One rank receives from one other rank.
    Receive,
    /// Ranks send to and receive from some others, or a trace does not state which of these it is.
    Exchange,
    /// Not known.
    Other,
}

/// Ranks of an operation that wait for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum WaitingRanks {
    /// No rank can leave before the last one has entered.
    ForAll,
    /// No rank can leave before the root has entered.
    ForRoot,
    /// The root cannot leave before all others have entered.
    RootForAll,
}

impl CollectiveKind {
    /// All kinds, in display order. The position is the code in an overlay.
    pub const ALL: [Self; 13] = [
        Self::AllReduce,
        Self::AllGather,
        Self::ReduceScatter,
        Self::AllToAll,
        Self::Barrier,
        Self::Broadcast,
        Self::Scatter,
        Self::Reduce,
        Self::Gather,
        Self::Send,
        Self::Receive,
        Self::Exchange,
        Self::Other,
    ];

    /// Name for people and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AllReduce => "all-reduce",
            Self::AllGather => "all-gather",
            Self::ReduceScatter => "reduce-scatter",
            Self::AllToAll => "all-to-all",
            Self::Barrier => "barrier",
            Self::Broadcast => "broadcast",
            Self::Scatter => "scatter",
            Self::Reduce => "reduce",
            Self::Gather => "gather",
            Self::Send | Self::Receive => "send-receive",
            Self::Exchange => "exchange",
            Self::Other => "other",
        }
    }

    /// Parses [`CollectiveKind::name`].
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The ranks that wait for each other. Sends are taken to be larger than buffers.
    #[must_use]
    pub fn waiting(self) -> WaitingRanks {
        match self {
            Self::Broadcast | Self::Scatter => WaitingRanks::ForRoot,
            Self::Reduce | Self::Gather => WaitingRanks::RootForAll,
            _ => WaitingRanks::ForAll,
        }
    }

    /// Whether the operation has exactly two ranks.
    #[must_use]
    pub fn is_pair(self) -> bool {
        matches!(self, Self::Send | Self::Receive)
    }

    /// Factor from algorithm bandwidth to bus bandwidth for `ranks` ranks, as in nccl-tests
    /// (`PERFORMANCE.md` of NVIDIA's nccl-tests).
    #[must_use]
    pub fn bus_factor(self, ranks: u32) -> f64 {
        let ranks = f64::from(ranks.max(1));
        match self {
            Self::AllReduce => 2.0 * (ranks - 1.0) / ranks,
            Self::AllGather | Self::ReduceScatter | Self::AllToAll | Self::Gather | Self::Scatter => {
                (ranks - 1.0) / ranks
            }
            _ => 1.0,
        }
    }

    /// The kind that a name states: letters of any case, with any signs between them.
    #[must_use]
    pub fn of_name(name: &str) -> Self {
        let letters: String =
            name.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase()).collect();
        // Longer words come first: "allreduce" contains "reduce".
        const WORDS: [(&str, CollectiveKind); 15] = [
            ("allreduce", CollectiveKind::AllReduce),
            ("allgather", CollectiveKind::AllGather),
            ("reducescatter", CollectiveKind::ReduceScatter),
            ("alltoall", CollectiveKind::AllToAll),
            ("broadcast", CollectiveKind::Broadcast),
            ("barrier", CollectiveKind::Barrier),
            ("sendrecv", CollectiveKind::Exchange),
            ("permute", CollectiveKind::Exchange),
            ("coalesced", CollectiveKind::Exchange),
            ("scatter", CollectiveKind::Scatter),
            ("gather", CollectiveKind::Gather),
            ("reduce", CollectiveKind::Reduce),
            ("send", CollectiveKind::Send),
            ("recv", CollectiveKind::Receive),
            ("receive", CollectiveKind::Receive),
        ];
        let found = WORDS.into_iter().find(|(word, _)| letters.contains(word));
        found.map_or(Self::Other, |(_, kind)| kind)
    }
}

/// Knowledge about the members of a communicator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Membership {
    /// The trace names the communicator and its ranks.
    Stated,
    /// Only the stream of the operations is known: several communicators can share it.
    Unknown,
}

/// A group of ranks with its operations, as one rank states it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Communicator {
    /// Name; several communicators can have the same.
    pub name: String,
    /// Known members.
    pub membership: Membership,
    /// Member ranks, ascending. They can be the first of several, or none can be known.
    pub ranks: Vec<u32>,
    /// Number of members; 0 if it is not known.
    pub size: u32,
}

impl Communicator {
    /// Whether all members are known.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.membership == Membership::Stated && self.size as usize == self.ranks.len()
    }
}

/// Properties that equal calls share.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Signature {
    /// Number of the communicator in its list.
    pub communicator: u32,
    /// Kind of operation.
    pub kind: CollectiveKind,
    /// Type of the elements; empty if it is not known.
    pub dtype: String,
    /// Way of the data among the ranks, such as `Ring`; empty if the trace does not state it.
    pub algorithm: String,
    /// Elements that the rank puts in.
    pub count: u64,
    /// Bytes as nccl-tests counts them: the larger of input and output. 0 if they are not known.
    pub bytes: u64,
    /// The root, or the other rank of a pair, if it is stated.
    pub peer: Option<u32>,
}

/// [`CallList::numbers`] of a call without a number.
pub const NO_NUMBER: u32 = u32::MAX;

/// [`CallList::steps`] of a call before the first step.
pub const NO_STEP: u32 = u32::MAX;

/// Calls in columns, ordered by start. A million calls take 28 MB.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallList {
    /// Start in picoseconds.
    pub starts_ps: Vec<i64>,
    /// Duration in picoseconds.
    pub durations_ps: Vec<i64>,
    /// Number of the signature.
    pub signatures: Vec<u32>,
    /// Number of the operation in its communicator, or [`NO_NUMBER`].
    pub numbers: Vec<u32>,
    /// Row in the segment.
    pub rows: Vec<u32>,
    /// The trace's own id of the call. Empty unless it was asked for.
    pub ids: Vec<i64>,
    /// The trace's number of the step or iteration that launched the call, or [`NO_STEP`]. Empty if
    /// the trace marks no steps.
    pub steps: Vec<u32>,
}

impl CallList {
    /// Number of calls.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts_ps.len()
    }

    /// Whether there are no calls.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts_ps.is_empty()
    }

    /// End of a call in picoseconds.
    #[must_use]
    pub fn end_ps(&self, at: usize) -> i64 {
        self.starts_ps[at].saturating_add(self.durations_ps[at])
    }

    /// Number of the step of a call, if the trace states it.
    #[must_use]
    pub fn step(&self, at: usize) -> Option<u32> {
        self.steps.get(at).copied().filter(|step| *step != NO_STEP)
    }

    /// Gives unused memory back.
    pub fn shrink(&mut self) {
        self.starts_ps.shrink_to_fit();
        self.durations_ps.shrink_to_fit();
        self.signatures.shrink_to_fit();
        self.numbers.shrink_to_fit();
        self.rows.shrink_to_fit();
        self.ids.shrink_to_fit();
        self.steps.shrink_to_fit();
    }

    /// Sorts the calls by start, then by row.
    pub fn sort(&mut self) {
        let key = |at: &usize| (self.starts_ps[*at], self.rows[*at]);
        if (1..self.len()).all(|at| key(&(at - 1)) <= key(&at)) {
            return;
        }
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_unstable_by_key(key);
        fn put<T: Copy>(order: &[usize], column: &mut Vec<T>) {
            if !column.is_empty() {
                *column = order.iter().map(|&at| column[at]).collect();
            }
        }
        put(&order, &mut self.starts_ps);
        put(&order, &mut self.durations_ps);
        put(&order, &mut self.signatures);
        put(&order, &mut self.numbers);
        put(&order, &mut self.rows);
        put(&order, &mut self.ids);
        put(&order, &mut self.steps);
    }
}

/// The recorder of the times of calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TimedBy {
    /// A device. Its clock follows that of its host within a fraction of a millisecond.
    #[default]
    Device,
    /// Threads of the host, by the host's clock. They leave an operation when the host's scheduler
    /// lets them, milliseconds apart if it is busy.
    Host,
}

/// The communication of a rank, and what it computed meanwhile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RankCalls {
    /// The recorder of the times of the calls.
    pub timed_by: TimedBy,
    /// The host of the rank, if it is known. Ranks of one host share its clock.
    pub host: Option<String>,
    /// Communicators that the trace states without their calls: each call of a communicator that is
    /// [`Membership::Unknown`] belongs to one of these. Empty if the trace does not state all.
    pub choices: Vec<Communicator>,
    /// Communicators of the rank.
    pub communicators: Vec<Communicator>,
    /// Kinds of calls.
    pub signatures: Vec<Signature>,
    /// All calls.
    pub calls: CallList,
    /// Steps of the calls that name the rank at their other end, ordered by call and start. Empty
    /// if the trace has none.
    pub transfers: Vec<TransferStep>,
    /// First and last time of the rank's recording.
    pub recorded_ps: (i64, i64),
    /// Times in which the rank both communicated and computed: disjoint, ascending, in picoseconds.
    pub covered_ps: Vec<(i64, i64)>,
    /// Time in which the rank computed.
    pub compute_ps: i64,
    /// Share of time with computation, over time.
    pub compute_load: ComputeLoad,
    /// Share of time with copies and fills of memory, and neither computation nor communication,
    /// over time.
    pub copy_load: ComputeLoad,
    /// Floating-point operations over time, as far as the trace tells them.
    pub flops: FlopLoad,
    /// Time in which the rank communicated.
    pub communication_ps: i64,
    /// Time from the first to the last work of the device: kernels, copies and fills.
    pub span_ps: i64,
    /// Start and end of this time.
    pub worked_ps: (i64, i64),
    /// Time in which the rank computed or communicated.
    pub busy_ps: i64,
    /// Time in which the rank copied or filled memory, and neither computed nor communicated.
    pub copy_ps: i64,
    /// Number of ranks of the job, if the trace states it.
    pub world_size: Option<u32>,
}

impl RankCalls {
    /// Adds a number of picoseconds to all times.
    pub fn move_by(&mut self, by_ps: i64) {
        if by_ps == 0 {
            return;
        }
        let later = |time: &mut i64| *time = time.saturating_add(by_ps);
        self.calls.starts_ps.iter_mut().for_each(later);
        later(&mut self.compute_load.start_ps);
        later(&mut self.copy_load.start_ps);
        later(&mut self.flops.start_ps);
        for transfer in &mut self.transfers {
            later(&mut transfer.start_ps);
            later(&mut transfer.end_ps);
        }
        for (from, to) in self.covered_ps.iter_mut().chain([&mut self.recorded_ps, &mut self.worked_ps]) {
            later(from);
            later(to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_libraries_state_their_kinds() {
        for (name, kind) in [
            ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", CollectiveKind::AllReduce),
            ("_reduce_scatter_base", CollectiveKind::ReduceScatter),
            ("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t", CollectiveKind::Exchange),
            ("nccl:_all_gather_base", CollectiveKind::AllGather),
            ("all_to_allv", CollectiveKind::AllToAll),
            ("recv", CollectiveKind::Receive),
            ("ncclDevKernel_Generic_4", CollectiveKind::Other),
        ] {
            assert_eq!(CollectiveKind::of_name(name), kind, "{name}");
        }
    }

    #[test]
    fn bus_factors_are_those_of_nccl_tests() {
        for (kind, factor) in [
            (CollectiveKind::AllReduce, 1.75),
            (CollectiveKind::AllGather, 0.875),
            (CollectiveKind::Broadcast, 1.0),
        ] {
            assert!((kind.bus_factor(8) - factor).abs() < 1e-12, "{kind:?}");
        }
    }

    #[test]
    fn sorting_moves_all_columns_together() {
        let mut calls = CallList {
            starts_ps: vec![5, 1, 5],
            durations_ps: vec![50, 10, 51],
            signatures: vec![2, 0, 1],
            numbers: vec![7, 8, 9],
            rows: vec![4, 9, 3],
            ids: vec![],
            steps: vec![1, 0, 2],
        };
        calls.sort();
        assert_eq!(calls.starts_ps, [1, 5, 5]);
        assert_eq!((calls.durations_ps, calls.rows), (vec![10, 51, 50], vec![9, 3, 4]));
        assert_eq!((calls.signatures, calls.numbers), (vec![0, 1, 2], vec![8, 9, 7]));
        assert_eq!(calls.steps, [0, 2, 1]);
    }
}
