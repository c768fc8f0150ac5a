//! The metrics of a maker's profiles that a reader looks at first, in cards, and the metrics that
//! divide the time. All other metrics follow in lists.

/// The arrangement of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SummaryLayout {
    /// The parts of the time, in the order of the bar. They sum up to the whole.
    pub time: &'static [TimeShare],
    /// The cards, the most important one first. A card without values is left out.
    pub cards: &'static [SummaryCard],
}

/// A part of the time with the metric that measures it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeShare {
    /// The part.
    pub part: TimePart,
    /// Key of the group of the metric.
    pub group: &'static str,
    /// Name of the metric: a time or a ratio.
    pub metric: &'static str,
}

/// A part of the time of a rank or of all ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimePart {
    /// Before the active stretch.
    StartUp,
    /// Something computes.
    Compute,
    /// Data moves and nothing computes.
    Transfer,
    /// There are only waits.
    Wait,
    /// Nothing is recorded.
    Idle,
    /// After the active stretch.
    TearDown,
}

impl TimePart {
    /// The word for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::StartUp => "start-up",
            Self::Compute => "compute",
            Self::Transfer => "transfer",
            Self::Wait => "wait",
            Self::Idle => "idle",
            Self::TearDown => "tear-down",
        }
    }

    /// Whether it lies in the active stretch.
    #[must_use]
    pub fn is_active(self) -> bool {
        !matches!(self, Self::StartUp | Self::TearDown)
    }
}

/// Metrics that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SummaryCard {
    /// The heading.
    pub title: &'static str,
    /// The rows, in display order.
    pub rows: &'static [CardRow],
}

/// Rows of a card. Values that a summary lacks are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CardRow {
    /// A metric of a group.
    Metric(&'static str, &'static str),
    /// A time of a group, which is a part of the active stretch, with its label in the card.
    Part(&'static str, &'static str, &'static str),
    /// Operations of a group, which are a part of those that an engine can do in the active stretch
    /// at its peak, with their label in the card.
    PartOfPeak {
        /// Key of the group.
        group: &'static str,
        /// Name of the metric.
        metric: &'static str,
        /// Label in the card.
        label: &'static str,
        /// Name of the metric with the operations a second at the peak, of any group.
        peak: &'static str,
    },
    /// The first metrics of a group.
    Group {
        /// Key of the group.
        group: &'static str,
        /// Most rows.
        most: usize,
    },
    /// The first metrics of a group of times by rank, each beside that of the median rank, which is
    /// the last metric of the group.
    BesideMedian {
        /// Key of the group.
        group: &'static str,
        /// Most rows without that of the median rank.
        most: usize,
    },
    /// A column of the first rows of a table.
    Column {
        /// Key of the table.
        table: &'static str,
        /// Name of the column.
        column: &'static str,
        /// Most rows.
        most: usize,
    },
    /// The first row of a table: a value for each column.
    FirstRow(&'static str),
    /// The row of another table that has the name of that first row.
    SameRow(&'static str),
    /// Metrics that the recording lacks, by their key: their label, and the lack in a few words.
    Absent(&'static str, &'static str, &'static str),
    /// A picture of the roofline.
    Roofline,
    /// A picture of collective operations by size and time. It is as wide as two cards where there
    /// is room.
    Collectives,
    /// A heat map of ranks over time. It is as wide as two cards.
    Activity,
}

use CardRow::{Absent, Column, FirstRow, Group, Metric, Part, SameRow};

const fn share(part: TimePart, metric: &'static str) -> TimeShare {
    TimeShare { part, group: "time", metric }
}

const fn of_job(part: TimePart, metric: &'static str) -> TimeShare {
    TimeShare { part, group: "job_job", metric }
}

/// Operations of the Tensor engine as a part of its peak.
const fn of_tensor(group: &'static str, metric: &'static str, label: &'static str) -> CardRow {
    CardRow::PartOfPeak { group, metric, label, peak: "tensor_engine_peak_rate" }
}

const TIME: &[TimeShare] = &[
    share(TimePart::StartUp, "time_starting_up"),
    share(TimePart::Compute, "time_computing"),
    share(TimePart::Transfer, "time_transferring"),
    share(TimePart::Wait, "time_waiting"),
    share(TimePart::Idle, "time_idle"),
    share(TimePart::TearDown, "time_tearing_down"),
];

const NAMES: SummaryCard = SummaryCard {
    title: "Time by name",
    rows: &[
        Group { group: "self_time_by_name", most: MOST },
        Group { group: "self_time_by_name_device", most: MOST },
        Group { group: "self_time_by_name_other", most: 3 },
    ],
};
const HOST: SummaryCard = SummaryCard {
    title: "Time of host threads by name",
    rows: &[Group { group: "self_time_by_name_host", most: MOST }],
};
const BUSY: SummaryCard =
    SummaryCard { title: "Busy tracks", rows: &[Group { group: "busy_share_by_track", most: MOST }] };
const WAITS: SummaryCard = SummaryCard {
    title: "Waiting by name",
    rows: &[
        Group { group: "wait_time_by_name", most: MOST },
        Group { group: "wait_time_by_name_device", most: MOST },
        Group { group: "wait_time_by_name_host", most: MOST },
    ],
};
const COLLECTIVES: SummaryCard =
    SummaryCard { title: "Collective operations", rows: &[CardRow::Collectives] };

/// Rows of a list in a card.
const MOST: usize = 6;

/// The layout of any trace.
pub(super) const ANY: SummaryLayout = SummaryLayout {
    time: TIME,
    cards: &[
        SummaryCard {
            title: "Time of the devices",
            rows: &[
                Part("kernel_kinds", "compute_alone_time", "compute"),
                Part("kernel_kinds", "communication_alone_time", "communication"),
                Part("kernel_kinds", "compute_and_communication_time", "both"),
                Part("kernel_kinds", "copy_alone_time", "copies"),
                Part("kernel_kinds", "compute_and_copy_time", "compute and copies"),
                Part("device_time", "idle_time", "idle"),
                Metric("device_time", "comp_comm_overlap"),
            ],
        },
        SummaryCard {
            title: "Idle because of",
            rows: &[
                FirstRow("idle_by_stream"),
                SameRow("queue_by_stream"),
                Metric("launches", "mean_launch_time"),
                Metric("launches", "short_kernel_count"),
                Metric("launches", "late_kernel_count"),
            ],
        },
        SummaryCard {
            title: "Roofline",
            rows: &[
                Metric("floating_point", "mfu"),
                Metric("floating_point", "flops_rate"),
                Metric("floating_point", "flops_time_share"),
                CardRow::Roofline,
            ],
        },
        SummaryCard {
            title: "Operators, device time",
            rows: &[Column { table: "operators", column: "own_device_time", most: MOST }],
        },
        SummaryCard {
            title: "Kernels",
            rows: &[Column { table: "kernels_by_name", column: "sum", most: MOST }],
        },
        SummaryCard {
            title: "Modules, device time",
            rows: &[Column { table: "modules", column: "own_device_time", most: MOST }],
        },
        NAMES,
        BUSY,
        HOST,
        WAITS,
    ],
};

pub(super) const NEURON: SummaryLayout = SummaryLayout {
    time: TIME,
    cards: &[
        SummaryCard {
            title: "Engines",
            rows: &[
                Part("tensor_engine", "tensor_engine_active_time", "Tensor"),
                Part("vector_engine", "vector_engine_active_time", "Vector"),
                Part("scalar_engine", "scalar_engine_active_time", "Scalar"),
                Part("gpsimd_engine", "gpsimd_engine_active_time", "GpSimd"),
                Part("sync_engine", "sync_engine_active_time", "Sync"),
                Part("data_movement", "dma_active_time", "DMA"),
                Part("cc_engine", "cc_op_active_time", "collectives"),
            ],
        },
        SummaryCard {
            title: "Tensor engine",
            rows: &[
                Metric("tensor_engine", "mfu_estimated_percent"),
                Absent("neuron_model_flops", "MFU", "no NEFF"),
                Metric("tensor_engine", "mfu_max_achievable_estimated_percent"),
                of_tensor("overall_stats", "model_flops", "model"),
                of_tensor("overall_stats", "transpose_flops", "transposes"),
                of_tensor("tensor_engine", "tensor_engine_other_flops", "other"),
                of_tensor("tensor_engine", "tensor_engine_unused_flops", "unused"),
                of_tensor("tensor_engine", "tensor_engine_active_throttled_flops", "throttled"),
                of_tensor("tensor_engine", "tensor_engine_inactive_throttled_flops", "idle, throttled"),
                Metric("tensor_engine", "hfu_estimated_percent"),
                Metric("overall_stats", "hardware_flops"),
                Metric("overall_stats", "mm_arithmetic_intensity"),
                Metric("overall_stats", "peak_flops_bandwidth_ratio"),
                Metric("tensor_engine", "matmul_instruction_count"),
            ],
        },
        SummaryCard {
            title: "Memory",
            rows: &[
                Metric("data_movement", "mbu_estimated_percent"),
                Metric("data_movement", "hbm_read_bytes"),
                Metric("data_movement", "hbm_write_bytes"),
                Metric("data_movement", "useful_read_percent"),
                Metric("data_movement", "spill_save_bytes"),
                Metric("data_movement", "spill_reload_bytes"),
                Metric("data_movement", "weight_queue_bytes"),
                Metric("data_movement", "dma_transfer_count"),
                Metric("data_movement", "dma_transfer_average_bytes"),
            ],
        },
        SummaryCard { title: "Roofline", rows: &[CardRow::Roofline] },
        COLLECTIVES,
        SummaryCard { title: "Throttling", rows: &[Group { group: "throttling_nc0", most: MOST }] },
        BUSY,
        NAMES,
    ],
};

pub(super) const AIU: SummaryLayout = SummaryLayout {
    time: TIME,
    cards: &[
        SummaryCard { title: "Iterations", rows: &[Group { group: "aiu_iterations", most: MOST }] },
        SummaryCard {
            title: "Kernels by category",
            rows: &[Group { group: "aiu_category_time", most: MOST }],
        },
        SummaryCard {
            title: "PT use, exposed time",
            rows: &[
                Part("aiu_exposed", "exposed_preparation_time", "preparation"),
                Part("aiu_exposed", "exposed_data_in_time", "data in"),
                Part("aiu_exposed", "exposed_data_out_time", "data out"),
                Group { group: "aiu_pt_utilization", most: MOST },
            ],
        },
        SummaryCard {
            title: "Ideal of real cycles by kernel",
            rows: &[Column { table: "aiu_kernel_cycles", column: "ideal_of_real", most: MOST }],
        },
        SummaryCard {
            title: "Power and clock",
            rows: &[
                Metric("aiu_power", "with kernels"),
                Metric("aiu_power", "without kernels"),
                Metric("aiu_clock", "used_hz"),
                Metric("aiu_clock", "found_hz"),
                Metric("aiu_clock", "residual"),
                Metric("aiu_clock", "found_by"),
            ],
        },
        SummaryCard { title: "Kernels", rows: &[Group { group: "aiu_kernel_time", most: MOST }] },
        BUSY,
        NAMES,
        HOST,
    ],
};

pub(super) const JOB: SummaryLayout = SummaryLayout {
    time: &[
        of_job(TimePart::Compute, "compute"),
        of_job(TimePart::Transfer, "exposed_transfer"),
        of_job(TimePart::Transfer, "copies"),
        of_job(TimePart::Wait, "exposed_wait"),
        of_job(TimePart::Idle, "idle"),
    ],
    cards: &[
        SummaryCard { title: "Ranks over time", rows: &[CardRow::Activity] },
        SummaryCard {
            title: "Where waiting began",
            rows: &[CardRow::BesideMedian { group: "job_awaited", most: 8 }],
        },
        SummaryCard { title: "Mismatches", rows: &[Group { group: "job_mismatches", most: MOST }] },
        COLLECTIVES,
        SummaryCard { title: "Causes of waiting", rows: &[Group { group: "job_causes", most: MOST }] },
        SummaryCard {
            title: "Job",
            rows: &[
                Metric("job_job", "operations"),
                Metric("job_job", "calls"),
                Metric("job_job", "lost_calls"),
                Metric("job_job", "imbalance"),
                Metric("job_job", "wait"),
                Metric("job_job", "straggler"),
                Metric("job_job", "straggler_delay"),
                Metric("job_job", "clocks"),
            ],
        },
    ],
};

#[cfg(test)]
mod tests {
    use super::super::MakerFacts;
    use super::*;

    #[test]
    fn no_layout_shows_a_value_twice() {
        for facts in MakerFacts::ALL.iter().chain([MakerFacts::OTHER]) {
            let rows: Vec<&CardRow> = facts.layout.cards.iter().flat_map(|card| card.rows).collect();
            for (at, row) in rows.iter().enumerate() {
                assert!(!rows[..at].contains(row), "{}: {row:?}", facts.source);
            }
            let titles: Vec<&str> = facts.layout.cards.iter().map(|card| card.title).collect();
            assert!((1..titles.len()).all(|at| !titles[..at].contains(&titles[at])), "{titles:?}");
            assert!(facts.layout.time.iter().any(|of| of.part == TimePart::Idle));
        }
    }
}
