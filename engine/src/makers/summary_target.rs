//! The places that show what the numbers of a summary are about.
//!
//! A number without such a place has none here. A test lists the rows of the layouts that lead
//! nowhere, each with its reason.

use super::TimePart;
use super::aiu::schema as aiu;
use super::job::schema as job;
use super::neuron::schema::DMA;

/// The place that shows what a number of a summary is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummaryTarget {
    /// The slices that a query finds.
    Slices(&'static str),
    /// The slices whose name is that of the row.
    SlicesOfName,
    /// The slices with the name of the row in their name or in a field.
    TextOfName,
    /// The tracks with this word in their names or in those of their groups.
    Tracks(&'static str),
    /// The track whose path is the name of the row.
    TrackOfName,
    /// The track of the counter with this name.
    Counter(&'static str),
    /// The part of the recording in which a part of the time lies: before, in or after the active
    /// stretch.
    Stretch(TimePart),
    /// The waits of the rank.
    Waits,
    /// The findings.
    Findings,
    /// A table of the profile.
    Table(&'static str),
    /// A table of metrics of the same summary, by its key.
    Metrics(&'static str),
}

/// Metrics of a group or columns of a table that lead to the same place.
struct TargetRule {
    /// Key of the group or table.
    group: &'static str,
    /// Names of the metrics; all that no earlier rule names if it is empty.
    metrics: &'static [&'static str],
    target: SummaryTarget,
}

use SummaryTarget::{
    Counter, Findings, Metrics, Slices, SlicesOfName, Stretch, Table, TextOfName, TrackOfName, Tracks, Waits,
};

const fn all(group: &'static str, target: SummaryTarget) -> TargetRule {
    TargetRule { group, metrics: &[], target }
}

const fn some(group: &'static str, metrics: &'static [&'static str], target: SummaryTarget) -> TargetRule {
    TargetRule { group, metrics, target }
}

const COMMUNICATION: SummaryTarget = Slices("name:nccl,rccl,hccl");
/// By the beginnings of names, because each device has a category of its own.
const COPIES: SummaryTarget = Slices("/^(memcpy|memset|dma_request)/");
const KERNELS: SummaryTarget =
    Slices("cat:kernel,ccp_event -name:nccl,rccl,hccl -/^(event_wait|event_record|dma_request)/");
const LAUNCHES: SummaryTarget = Slices("name:launch,enqueue,runfunction");
const PRODUCTS: SummaryTarget = Slices("opcode=MATMUL");

/// Rules of any trace and of kernels on streams.
const OF_TRACE: &[TargetRule] = &[
    some("time", &["time_starting_up"], Stretch(TimePart::StartUp)),
    some("time", &["time_computing"], Stretch(TimePart::Compute)),
    some("time", &["time_transferring"], Stretch(TimePart::Transfer)),
    some("time", &["time_waiting"], Waits),
    some("time", &["time_idle"], Stretch(TimePart::Idle)),
    some("time", &["time_tearing_down"], Stretch(TimePart::TearDown)),
    all("self_time_by_name", SlicesOfName),
    all("self_time_by_name_device", SlicesOfName),
    all("self_time_by_name_host", SlicesOfName),
    all("self_time_by_name_other", SlicesOfName),
    all("wait_time_by_name", SlicesOfName),
    all("wait_time_by_name_device", SlicesOfName),
    all("wait_time_by_name_host", SlicesOfName),
    all("busy_share_by_track", TrackOfName),
    all("wait_share_by_track", TrackOfName),
    some("kernel_kinds", &["compute_alone_time"], KERNELS),
    some(
        "kernel_kinds",
        &["communication_alone_time", "compute_and_communication_time", "communication_and_copy_time"],
        COMMUNICATION,
    ),
    some("kernel_kinds", &["copy_alone_time", "compute_and_copy_time"], COPIES),
    some("device_time", &["comp_comm_overlap"], COMMUNICATION),
    some("device_time", &["idle_time"], Findings),
    all("idle_by_stream", TrackOfName),
    all("queue_by_stream", TrackOfName),
    some("launches", &["mean_launch_time", "mean_launch_delay", "launch_count"], LAUNCHES),
    all("launches", Findings),
    some("floating_point", &["mfu", "flops_rate"], Metrics("roofline")),
    all("floating_point", Metrics("operators")),
    all("kernels_by_name", SlicesOfName),
    all("operators", TextOfName),
    all("modules", TextOfName),
];

/// Rules of the maker whose devices have engines.
const OF_ENGINES: &[TargetRule] = &[
    some(
        "tensor_engine",
        &[
            "mfu_estimated_percent",
            "mfu_max_achievable_estimated_percent",
            "hfu_estimated_percent",
            "matmul_instruction_count",
        ],
        PRODUCTS,
    ),
    some(
        "tensor_engine",
        &["tensor_engine_active_throttled_flops", "tensor_engine_inactive_throttled_flops"],
        Tracks("Throttling"),
    ),
    all("tensor_engine", Tracks("Tensor")),
    all("vector_engine", Tracks("Vector")),
    all("scalar_engine", Tracks("Scalar")),
    all("gpsimd_engine", Tracks("GpSimd")),
    all("sync_engine", Tracks("Sync")),
    some("overall_stats", &["model_flops", "hardware_flops"], PRODUCTS),
    some("overall_stats", &["transpose_flops"], Slices("instruction_type=TRANSPOSE")),
    some("overall_stats", &["mm_arithmetic_intensity", "peak_flops_bandwidth_ratio"], Metrics("roofline")),
    some("data_movement", &["dma_active_time"], Tracks("DMA")),
    some("data_movement", &["mbu_estimated_percent"], Counter("DMA throughput")),
    some("data_movement", &["hbm_read_bytes", "useful_read_percent"], Slices("hbm_read_bytes>0")),
    some("data_movement", &["hbm_write_bytes"], Slices("hbm_write_bytes>0")),
    some("data_movement", &["spill_save_bytes"], Slices("spill_save_bytes>0")),
    some("data_movement", &["spill_reload_bytes"], Slices("spill_reload_bytes>0")),
    some("data_movement", &["weight_queue_bytes"], Slices("weight_queue_bytes>0")),
    all("data_movement", Table(DMA.name)),
    some("cc_engine", &["cc_cores_instruction_count", "cc_cores_instruction_time"], Tracks("CC-core")),
    all("cc_engine", Tracks("Collectives")),
    all("throttling_nc0", Tracks("Throttling")),
];

/// Rules of the maker whose kernels have categories and ideal cycles.
const OF_CATEGORIES: &[TargetRule] = &[
    all("aiu_iterations", Table(aiu::ITERATIONS.name)),
    all("aiu_category_time", Table(aiu::CATEGORIES.name)),
    some("aiu_exposed", &["exposed_preparation_time"], Tracks("Preparation")),
    some("aiu_exposed", &["exposed_data_in_time"], Tracks("Data in")),
    some("aiu_exposed", &["exposed_data_out_time"], Tracks("Data out")),
    all("aiu_pt_utilization", Counter("PT active")),
    all("aiu_kernel_cycles", Table(aiu::KERNELS.name)),
    all("aiu_kernel_time", Table(aiu::KERNELS.name)),
    all("aiu_power", Counter("Power")),
    all("aiu_clock", Table(aiu::CLOCK.name)),
];

/// Rules of all ranks together. Places of single metrics come before them.
const OF_JOB: &[TargetRule] = &[
    some("job_job", &["operations"], Table(job::OPERATIONS.name)),
    some("job_job", &["calls"], Table(job::CALLS.name)),
    all("job_job", Table(job::RANKS.name)),
    all("job_causes", Table(job::CAUSES.name)),
    all("job_waits", Table(job::RANKS.name)),
    all("job_mismatches", Table(job::MISMATCHES.name)),
    all("job_sizes", Table(job::SIZES.name)),
];

/// The place that shows what a metric of a group, or a column of a table, is about. `None` if no
/// place does.
#[must_use]
pub fn summary_target(group: &str, metric: &str) -> Option<SummaryTarget> {
    let rules = [OF_TRACE, OF_ENGINES, OF_CATEGORIES, OF_JOB];
    let is_it = |rule: &&TargetRule| {
        rule.group == group && (rule.metrics.is_empty() || rule.metrics.contains(&metric))
    };
    rules.into_iter().flatten().find(is_it).map(|rule| rule.target)
}

#[cfg(test)]
mod tests {
    use super::super::{CardRow, MakerFacts};
    use super::*;

    /// The rows of layouts without a place, with the reason.
    const NOWHERE: [(&str, &str); 1] =
        [("Absent neuron_model_flops", "the recording lacks the number; its explanation says what gives it")];

    /// The row as text, and its place.
    fn place_of(row: &CardRow) -> Option<(String, Option<SummaryTarget>)> {
        Some(match *row {
            CardRow::Metric(group, name)
            | CardRow::Part(group, name, _)
            | CardRow::PartOfPeak { group, metric: name, .. } => {
                (format!("Metric {group}.{name}"), summary_target(group, name))
            }
            CardRow::Group { group, .. } => (format!("Group {group}"), summary_target(group, "")),
            CardRow::Column { table, column, .. } => {
                (format!("Column {table}.{column}"), summary_target(table, column))
            }
            CardRow::FirstRow(table) => (format!("FirstRow {table}"), summary_target(table, "")),
            CardRow::Absent(key, ..) => (format!("Absent {key}"), None),
            // Pictures lead to places by their marks.
            _ => return None,
        })
    }

    #[test]
    fn rows_of_layouts_lead_somewhere() {
        let layouts = MakerFacts::ALL.iter().chain([MakerFacts::OTHER]).map(|facts| facts.layout);
        let mut nowhere = Vec::new();
        for layout in layouts {
            let rows = layout.cards.iter().flat_map(|card| card.rows).filter_map(place_of);
            let parts = layout
                .time
                .iter()
                .map(|of| (format!("Time {}.{}", of.group, of.metric), summary_target(of.group, of.metric)));
            nowhere.extend(rows.chain(parts).filter(|(_, target)| target.is_none()).map(|(row, _)| row));
        }
        assert_eq!(nowhere, NOWHERE.map(|(row, _)| row));
    }

    #[test]
    fn a_metric_comes_before_its_group() {
        assert_eq!(summary_target("launches", "late_kernel_count"), Some(Findings));
        assert_eq!(summary_target("launches", "mean_launch_time"), Some(LAUNCHES));
        assert_eq!(summary_target("overall_stats", "total_time"), None);
        assert_eq!(summary_target("nothing", "mfu"), None);
    }
}
