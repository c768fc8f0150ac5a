//! The tables of an AIU profile.

use crate::makers::table::TableSchema;

table! {
    /// Work of an AIU, with the cycle counters that delimit it.
    "aiu_op" OPS AiuOp Slices, name in "name", rows OpRow;
    "Work" {
        class: None, "Class of the slice, as acelyzer names it.";
        job: None, "File that the slice comes from.";
        thread: None, "Thread id in the trace.";
    }
    "Clock" {
        ts1: Cycles, "Counter before the transfer to the device; 32 bits.";
        ts2: Cycles, "Counter after the transfer to the device.";
        ts3: Cycles, "Counter at the start of the execution.";
        ts4: Cycles, "Counter at the end of the execution.";
        ts5: Cycles, "Counter after the transfer from the device.";
        wraps: Count, "Overflows of the counter since the first slice of the rank.";
        cycles: Cycles, "Length of the slice on the device. The slice ends when the host saw it end.";
        host_duration: Picoseconds, "Length of the slice by the clock of the host.";
    }
    "Power" {
        charge: None, "Accumulated charge as read; 32 bits.";
    }
    "Transfer" {
        bytes: Bytes, "Bytes that the transfer moved.";
        group = "CollGroup": None, "Instance of the collective operation.";
        peer = "Peer": None, "Rank at the other end.";
        peers = "Peers": None, "Ranks at the other ends.";
        kind = "Type": None, "Step of the collective operation.";
    }
    "Utilization" {
        category: None, "Category of the kernel, by the compiler.";
        phase: None, "Phase of the model whose table gives the ideal cycles.";
        ideal_cycles: Cycles, "Cycles of the kernel at full use of the PT arrays, by the compiler.";
        pt_active: Ratio, "Ideal time over measured time.";
    }
}

table! {
    /// Collective operations: all steps of an instance on this rank.
    "aiu_collective" COLLECTIVES AiuCollective Slices, name in "name", rows AiuCollectiveRow;
    "Transfer" {
        bytes: Bytes, "Bytes of a step.";
        ranks: Count, "Ranks that the steps name, and this one.";
        members: None, "Numbers of these ranks, ascending.";
        steps: Count, "Slices of the operation on this rank.";
        algorithm: None, "`chain` if the first or the last rank sends to several, else `tree`.";
        moved_bytes: Bytes, "Bytes that a chain of these ranks moves: 2 (n - 1) times those of a step.";
        bandwidth: BytesPerSecond, "Moved bytes over the duration.";
    }
}

table! {
    /// Samples of counters that follow from the slices.
    "aiu_counter" COUNTERS AiuCounter Samples, value in "value";
    "Power" {
        charge: None, "Charge since the reading before.";
    }
}

table! {
    /// Clock of the device: its frequency, found by least squares, and its counters' overflows.
    "aiu_clock" CLOCK AiuClock Side, rows ClockRow;
    "Clock" {
        used_hz: Hertz, "Frequency that durations were computed with.";
        core_hz: Hertz, "Frequency of the cores that ideal cycles count at.";
        found_hz: Hertz, "Slope of the least-squares line through repaired counters and times of the host.";
        mean_hz: Hertz, "Cycles of all kernels over their durations on the host.";
        found_by: None, "How the frequency was found.";
        slices: Count, "Slices with counters.";
        residual: Nanoseconds, "Root mean square distance of the line from the times of the host.";
        drift: Nanoseconds, "Largest shift of a job against the earliest job, by the found frequency.";
        used_drift: Nanoseconds, "Largest shift of a job against the earliest job, by the used frequency.";
        wraps: Count, "Overflows of the counter over the run.";
        wraps_in_slices: Count, "Slices within which the counter overflowed.";
        reversed: Count, "Slices whose counters run backwards. Their durations are those of the host.";
        host_duration: Nanoseconds, "Sum of the durations of all kernels by the clock of the host.";
        device_duration: Nanoseconds, "Sum of the durations of all kernels by their cycles.";
        torch_shift: Nanoseconds, "Time added to the times of the runtime, so that they are on PyTorch's clock.";
        torch_pairs: Count, "Round trips of the runtime within calls of PyTorch, which tell the added time.";
    }
}

table! {
    /// Jobs: the files of a rank, with the spans of their work on the host and on the device.
    "aiu_job" JOBS AiuJob Side, rows AiuJobRow;
    "Job" {
        job: None, "Name of the file.";
        slices: Count, "Slices with counters.";
        kernels: Count, "Executed kernels.";
        device_start: Nanoseconds, "Start of the first slice on the device.";
        device_end: Nanoseconds, "End of the last slice on the device.";
        host_start: Nanoseconds, "Start of the first round trip on the host.";
        host_end: Nanoseconds, "End of the last round trip on the host.";
        shift: Nanoseconds, "Time that puts the work on the device inside the round trips of the host.";
        clock_shift: Nanoseconds, "Distance of the job from the line of the earliest job's counters.";
    }
}

table! {
    /// Kernels by name, longest first. Numbers after `_` or `-` count as one name.
    "aiu_kernel" KERNELS AiuKernel Side, rows KernelRow;
    "Time" {
        device: None, "Device of the rank that the row is about, if the rank has several.";
        share: Ratio, "Share of the time of all kernels.";
        total: Nanoseconds, "Sum of durations.";
        calls: Count, "Executions.";
        mean: Nanoseconds, "Mean duration.";
        median: Nanoseconds, "Median duration.";
        min: Nanoseconds, "Shortest duration.";
        max: Nanoseconds, "Longest duration.";
        stdev: Nanoseconds, "Standard deviation of durations, with n - 1.";
        name: None, "Name of the kernels.";
    }
}

table! {
    /// Cycles between neighbouring counters, by kernel.
    "aiu_cycles" CYCLES AiuCycles Side, rows CyclesRow;
    "Cycles" {
        device: None, "Device of the rank that the row is about, if the rank has several.";
        calls: Count, "Executions.";
        step: None, "The two counters.";
        mean: Cycles, "Mean.";
        median: Cycles, "Median.";
        min: Cycles, "Minimum.";
        max: Cycles, "Maximum.";
        stdev: Cycles, "Standard deviation, with n - 1.";
        name: None, "Name of the kernels.";
    }
}

table! {
    /// Time in which the device executed kernels.
    "aiu_active" ACTIVE AiuActive Side, rows ActiveRow;
    "Time" {
        device: None, "Device of the rank that the row is about, if the rank has several.";
        kernel_time: Nanoseconds, "Sum of the durations of all kernels.";
        busy_time: Nanoseconds, "Time in which at least one kernel ran.";
        elapsed: Nanoseconds, "From the start of the first kernel to the end of the last.";
        start: Nanoseconds, "Start of the first kernel.";
        end: Nanoseconds, "End of the last kernel.";
        share: Ratio, "Busy time over elapsed time.";
        summed_share: Ratio, "Sum of durations over elapsed time. More than 1 if kernels overlap.";
    }
}

table! {
    /// Use of the PT arrays by category of kernels, shortest first. The total comes last.
    "aiu_category" CATEGORIES AiuCategory Side, rows CategoryRow;
    "Utilization" {
        device: None, "Device of the rank that the row is about, if the rank has several.";
        phase: None, "Phase of the model whose table gives the ideal cycles.";
        category: None, "Category of the kernels, by the compiler.";
        kernel_time: Nanoseconds, "Sum of measured durations.";
        share: Ratio, "Share of the measured time of the phase.";
        calls: Count, "Executions.";
        pt_util: Ratio, "Ideal time over measured time.";
        ideal_time: Nanoseconds, "Ideal cycles over the frequency of the cores.";
        ideal_cycles: Cycles, "Sum of ideal cycles.";
        ideal_share: Ratio, "Share of the ideal cycles of the phase.";
    }
}

table! {
    /// Iterations: the kernels whose order repeats. Times are from start to start.
    "aiu_iteration" ITERATIONS AiuIteration Side, rows IterationRow;
    "Time" {
        device: None, "Device of the rank that the row is about, if the rank has several.";
        iterations: Count, "Iterations that another one follows without other kernels between them.";
        mean: Nanoseconds, "Mean time.";
        min: Nanoseconds, "Shortest time.";
        max: Nanoseconds, "Longest time.";
        kernels: Count, "Kernels of an iteration.";
    }
}

table! {
    /// Power, weighted with time: while kernels run, and while none runs.
    "aiu_power" POWER AiuPower Side, rows PowerRow;
    "Power" {
        part: None, "Times that the statistics are about.";
        min: Watts, "Lowest power above 0.";
        max: Watts, "Highest power.";
        mean: Watts, "Mean of the power above 0.";
        median: Watts, "Median of the power above 0.";
        average: Watts, "Mean of the power.";
        duration: Nanoseconds, "Time for which the power is known.";
        duration_above: Nanoseconds, "Time with a power above 0.";
    }
}

table! {
    /// Ideal cycles of kernels, as the compiler printed them.
    "aiu_ideal" IDEAL AiuIdeal Side, rows IdealRow;
    "Compiler" {
        number = "table": Count, "Number of the table in the logs, from 1.";
        phase: None, "Phase of the model that the table is for.";
        kernel: None, "Name of the kernel.";
        category: None, "Category of the kernel.";
        cycles: Cycles, "Ideal cycles.";
    }
}

/// All tables.
pub static TABLES: [&TableSchema; 12] = [
    &OPS,
    &COLLECTIVES,
    &COUNTERS,
    &CLOCK,
    &JOBS,
    &KERNELS,
    &CYCLES,
    &ACTIVE,
    &CATEGORIES,
    &ITERATIONS,
    &POWER,
    &IDEAL,
];

/// The heading over a table in lists of tables.
#[must_use]
pub fn heading_of(table: &str) -> Option<&'static str> {
    match table {
        name if name == IDEAL.name => Some("Compiler"),
        name if name.starts_with("aiu_") => Some("AIU"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_headings() {
        let names = [OPS.name, KERNELS.name, CATEGORIES.name, CLOCK.name];
        assert!(names.iter().all(|name| heading_of(name) == Some("AIU")));
        assert_eq!((heading_of(IDEAL.name), heading_of("slice")), (Some("Compiler"), None));
    }
}
