//! The tables of a job segment.

use crate::makers::table::{FieldSchema, TableSchema};
use crate::model::Unit;

table! {
    /// Collective operations of all ranks: first the waiting until the last rank has come, then the
    /// transfer.
    "operation" OPERATIONS Operation Slices, name in "name", rows OperationRow;
    "Operation" {
        operation: Count, "Number of the operation, by first arrival.";
        kind: None, "Kind of operation.";
        group: None, "Communicator.";
        members: None, "Ranks of the communicator.";
        dtype: None, "Type of the elements.";
        algorithm: None, "Way of the data among the ranks, if the traces tell it.";
        bytes: Bytes, "The larger of input and output of a rank.";
        step: None, "Number of the step or iteration.";
        calls: Count, "Calls that were recorded.";
        state: None, "Whether all members are there.";
    }
    "Waiting" {
        first_rank: None, "Rank that came first.";
        last_rank: None, "Rank that came last.";
        root: None, "Root of the operation.";
        spread: Picoseconds, "Time from the first arrival to the last.";
        margin: Picoseconds, "Time from the last arrival but one to the last.";
        wait: Picoseconds, "Sum of the waits of all ranks.";
    }
    "Bandwidth" {
        transfer: Picoseconds, "Time from the last arrival to the last end.";
        algorithm_rate: BytesPerSecond, "Bytes over the time of the transfer.";
        algorithm_rate_with_wait: BytesPerSecond, "Bytes over the time from the first arrival on.";
        bus_rate: BytesPerSecond, "Bus bandwidth of the transfer, as nccl-tests defines it.";
        bus_rate_with_wait: BytesPerSecond, "Bus bandwidth from the first arrival on.";
    }
}

table! {
    /// Calls of collective operations by rank: first the waiting for others, then the transfer.
    "call" CALLS Call Slices, name in "name", rows CallRow;
    "Call" {
        operation: Count, "Number of the operation.";
        rank: None, "Rank that called.";
        row: None, "Row of the call in the timeline of its rank.";
    }
}

table! {
    /// Transfers within operations: from the start of a send to the receipt on the other rank.
    "transfer" TRANSFERS Transfer Slices, name in "name", rows TransferRow;
    "Transfer" {
        operation: Count, "Number of the operation.";
        from_rank: None, "Rank that sends.";
        to_rank: None, "Rank that receives.";
        received: Picoseconds, "Time from the start of the send to the receipt. Below zero: clocks are wrong.";
        from_row: None, "Row of the send in the timeline of its rank.";
        to_row: None, "Row of the step that waits for the data in the timeline of its rank.";
    }
}

table! {
    /// Samples of how much each rank computes.
    "computation" COMPUTATION Computation Samples, value in "share";
    "Rank" {
        rank: None, "Rank that computes.";
    }
}

/// The state of an operation in [`OPERATIONS`] that has a call of each member.
pub const COMPLETE: &str = "complete";

/// Heading of the fields about clocks in [`RANKS`].
pub const CLOCK: &str = "Clock";

/// Field of a call that its operation has.
pub const ALGORITHM: FieldSchema = FieldSchema {
    name: "algorithm",
    unit: Unit::None,
    group: "Call",
    doc: "Way of the data among the ranks.",
};

/// Fields of a call that follow from the arrivals at its operation. They are not stored.
pub const DERIVED: [FieldSchema; 3] = [
    FieldSchema {
        name: "late",
        unit: Unit::Picoseconds,
        group: "Waiting",
        doc: "Time from the first arrival of all ranks to this one.",
    },
    FieldSchema {
        name: "wait",
        unit: Unit::Picoseconds,
        group: "Waiting",
        doc: "Time that this rank waited.",
    },
    FieldSchema {
        name: "blame",
        unit: Unit::Picoseconds,
        group: "Waiting",
        doc: "Waiting of other ranks for this one, shared among all that had not come.",
    },
];

table! {
    /// Ranks: clock, communication and waiting.
    "rank" RANKS RankFields Side, rows RankRow;
    "Rank" {
        rank: None, "Number of the rank.";
        host: None, "Host on which it ran.";
        collectives: Count, "Collective operations.";
        lost: Count, "Operations of its groups that its trace lacks.";
    }
    "Causes" {
        root_blame: Picoseconds, "Waiting of other ranks, passed on to where the delay began.";
        blame: Picoseconds, "Waiting of other ranks for this one, shared among all that had not come.";
        last_takes_all: Picoseconds, "Waiting of other ranks in the operations in which it came last.";
        last: Count, "Operations in which it came last.";
        first: Count, "Operations in which it came first.";
        saving: Picoseconds, "Waiting that would go if it had come with the last but one.";
        job_delay: Picoseconds, "The job would be shorter by at most this if it always came as early as the median rank.";
    }
    "Time" {
        wait: Picoseconds, "Time that it waited for other ranks.";
        busy: Ratio, "Share of its time with computation or communication.";
        exposed_share: Ratio, "Share of its time with communication and no computation.";
        exposed_wait_share: Ratio, "Share of its time that it waited and did not compute.";
        compute: Picoseconds, "Time with computation.";
        communication: Picoseconds, "Time with communication.";
        overlap: Picoseconds, "Time with communication under computation.";
        exposed: Picoseconds, "Time with communication and no computation.";
        exposed_wait: Picoseconds, "Time that it waited and did not compute.";
        exposed_transfer: Picoseconds, "Time in which it transferred and did not compute.";
        copy: Picoseconds, "Time in which it copied or filled memory, and did neither compute nor communicate.";
        idle: Picoseconds, "Time without computation, communication, copies and fills.";
        span: Picoseconds, "Time from its first to its last work.";
    }
    "Clock" {
        offset: Picoseconds, "Time that is added to the times of the rank.";
        low: Picoseconds, "Lowest offset that is possible; certain.";
        high: Picoseconds, "Highest offset that is possible; certain.";
        at: Picoseconds, "Time of the rank at which the offset holds, if the offset changes.";
        bound: Picoseconds, "Largest error of the offset; certain.";
        residual: Picoseconds, "Typical difference of its ends to the median end of an operation.";
        clock_calls: Count, "Calls that the offset was found by.";
        drift_ppm: None, "Change of the offset over time, in parts per million.";
        no_bounds: None, "Why the lowest or the highest offset is not known.";
        set_by: None, "Who set the clock: a person by hand, or the calls.";
    }
}

table! {
    /// Causes of waiting, the largest first: where the delays began.
    "cause" CAUSES Cause Side, rows CauseRow;
    "Cause" {
        cause: None, "Rank that came late, or link whose transfers were slow.";
        communicator: None, "Communicator of the link.";
        stands_out: None, "Whether it is more than equal ranks show.";
        root_blame: Picoseconds, "Waiting of all ranks that began there.";
        share: Ratio, "Share of all waiting.";
        excess: Picoseconds, "Time of a link's ranks in transfers beyond the usual. It is no waiting.";
    }
    "Slow transfers" {
        ranks: None, "Ranks that the link joins.";
        operations: Count, "Operations with slow transfers.";
        slower: Picoseconds, "Mean time by which these transfers took longer than usual.";
        operation: Count, "Number of the operation with the slowest transfer.";
        rank: None, "Rank that came late; of a link the one that shows the slowest transfer.";
        start: Picoseconds, "Start of the slowest transfer.";
    }
}

table! {
    /// Operations by kind, size and number of ranks.
    "operation_size" SIZES SizeFields Side, rows SizeRow;
    "Operations" {
        kind: None, "Kind of operation.";
        operation_bytes: Bytes, "The larger of input and output of a rank.";
        ranks: Count, "Members of the group.";
        last_rank: None, "Rank that came last.";
        step: None, "Number of the step.";
        algorithm: None, "Ways of the data among the ranks, if the traces tell them.";
        count: Count, "Operations.";
        of_one_rank: Count, "Operations with a call of one rank only. They are in no median.";
        bytes: Bytes, "Sum of the operations' bytes.";
        slowest_rank: None, "Rank that came last most often.";
    }
    "Step" {
        start: Picoseconds, "First arrival at an operation of the step.";
        span: Picoseconds, "Time from the first arrival to the last end.";
        skew: Picoseconds, "Time from the first rank's first call to the last rank's.";
        imbalance: Ratio, "Computation of the slowest rank over the mean of all ranks, minus 1.";
    }
    "Waiting" {
        total_wait: Picoseconds, "Sum of the waits of all ranks.";
        wait_median: Picoseconds, "Median wait of an operation, summed over its ranks.";
        wait_p95: Picoseconds, "95th percentile of the waits.";
        wait_max: Picoseconds, "Largest wait.";
    }
    "Bandwidth" {
        transfer_median: Picoseconds, "Median time from the last arrival to the last end.";
        transfer_p95: Picoseconds, "95th percentile of the transfer times.";
        transfer_max: Picoseconds, "Longest transfer.";
        algorithm_rate: BytesPerSecond, "Median of bytes over the time of the transfer.";
        algorithm_rate_with_wait: BytesPerSecond, "Median of bytes over the time from the first arrival on.";
        bus_rate: BytesPerSecond, "Median bus bandwidth, as nccl-tests defines it.";
        bus_rate_with_wait: BytesPerSecond, "Median bus bandwidth from the first arrival on.";
    }
}

table! {
    /// Calls that do not fit to those of other ranks: hangs and bugs in the making.
    "mismatch" MISMATCHES MismatchFields Side, rows MismatchRow;
    "Mismatch" {
        operation: Count, "Number of the operation.";
        rank: None, "Rank that differs.";
        what: None, "Size, kind, or a call that is missing.";
        start: Picoseconds, "First arrival at the operation.";
    }
}

table! {
    /// The job as a whole.
    "job" JOB JobFields Side, rows JobRow;
    "Job" {
        ranks: Count, "Ranks of the profile.";
        ranks_of_job: Count, "Ranks of the job, as far as the traces tell.";
        operations: Count, "Collective operations.";
        operations_of_one_rank: Count, "Operations with a call of one rank only. Nobody is known to wait in them.";
        calls: Count, "Calls of all ranks.";
        lost_calls: Count, "Calls that the traces lack, although the job went on with their ranks.";
        clocks: None, "Whether the clocks agree, were aligned by the calls, or are unknown.";
    }
    "Time" {
        compute: Ratio, "Share of the ranks' time with computation.";
        overlapped: Ratio, "Share of the ranks' time with communication under computation.";
        exposed_transfer: Ratio, "Share of the ranks' time in which they transferred and did not compute.";
        exposed_wait: Ratio, "Share of the ranks' time in which they waited and did not compute.";
        copies: Ratio, "Share of the ranks' time in which they copied or filled memory, and did neither compute nor communicate.";
        idle: Ratio, "Share of the ranks' time without computation, communication, copies and fills.";
        imbalance: Ratio, "Computation of the slowest rank over the mean of all ranks, minus 1.";
        wait: Picoseconds, "Waits of all ranks.";
    }
    "Delay by late ranks" {
        straggler: None, "Rank that delays the job most, if one stands out.";
        straggler_delay: Picoseconds, "The job would be shorter by at most this if the straggler always came as early as the median rank.";
        late_ranks_delay: Picoseconds, "The job would be shorter by at most this if no rank ever came later than the median rank.";
    }
}

table! {
    /// Steps or iterations: those that the traces state, else those in which operations repeat.
    "step" STEPS StepFields Side, rows StepRow;
    "Step" {
        number: None, "Number of the step.";
        operations: Count, "Collective operations.";
        start: Picoseconds, "First arrival at an operation of the step.";
        span: Picoseconds, "Time from the first arrival to the last end.";
        skew: Picoseconds, "Time from the first rank's first call to the last rank's.";
    }
    "Waiting" {
        wait: Picoseconds, "Waits of all ranks.";
        slowest: None, "Rank for which the others waited most.";
        imbalance: Ratio, "Computation of the slowest rank over the mean of all ranks, minus 1.";
    }
}

table! {
    /// Activity of ranks in equal spans of the time in which any rank works.
    "activity" ACTIVITY ActivityFields Side, rows ActivityRow;
    "Span" {
        rank: None, "Number of the rank.";
        start: Picoseconds, "Start of the span.";
        end: Picoseconds, "End of the span.";
    }
    "Share of the span" {
        busy: Ratio, "Share in which the rank computed, transferred, copied or filled memory. Waits for others are not busy.";
        wait: Ratio, "Share in which the rank waited for others in collective operations, also under computation.";
        compute: Ratio, "Share in which the rank computed.";
    }
    "Rate" {
        compute_rate: FlopsPerSecond, "Floating-point operations for each second of the span.";
        compute_peak: FlopsPerSecond, "Floating-point operations a second that the device can do.";
    }
}

table! {
    /// Waiting of ranks in steps of time. Made when it is asked for, never stored.
    "wait_step" WAIT_STEPS WaitStepFields Side, rows WaitStepRow;
    "Step" {
        from: Picoseconds, "Start of the step since the first event.";
        start: Picoseconds, "Start of the step.";
        end: Picoseconds, "End of the step.";
    }
    "Waited share" {
        least: Ratio, "Share of the rank that waited least.";
        least_rank: None, "Rank that waited least: the others wait for it.";
        median: Ratio, "Half of the ranks waited no more than this share.";
        most: Ratio, "Share of the rank that waited most.";
        most_rank: None, "Rank that waited most.";
    }
}

/// All stored tables.
pub static TABLES: [&TableSchema; 11] = [
    &OPERATIONS,
    &CALLS,
    &TRANSFERS,
    &COMPUTATION,
    &RANKS,
    &CAUSES,
    &SIZES,
    &MISMATCHES,
    &JOB,
    &STEPS,
    &ACTIVITY,
];

/// The heading over a table in lists of tables.
#[must_use]
pub fn heading_of(table: &str) -> Option<&'static str> {
    match table {
        "operation" | "call" | "transfer" | "operation_size" | "mismatch" => Some("Collectives"),
        "computation" | "rank" | "cause" | "job" | "step" | "activity" => Some("Ranks"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_has_a_heading() {
        for table in TABLES {
            assert!(heading_of(table.name).is_some(), "{}", table.name);
            assert!(table.fields.iter().all(|field| !field.doc.is_empty()));
        }
        assert_eq!(heading_of("slice"), None);
    }
}
