//! Table `summary`: neuron-profile's own metrics of the whole run, and the tables that sort and
//! explain them.

use crate::model::{FieldSpec, TableKind, Unit};

use super::layer::per_engine;
use super::{FieldSchema, TableSchema};

/// Prefix of field names that contain throttle reasons.
const THROTTLE: &str = "throttle_";

/// The metrics of the run, one row per core.
pub static SUMMARY: TableSchema = TableSchema {
    name: "summary",
    kind: TableKind::Side,
    name_key: "",
    value_key: "",
    doc: "Metrics of the whole run as neuron-profile calculates them.",
    fields: &FIELDS,
    by_pattern: further,
};

/// The group of each metric: one row with a field per metric.
pub static SUMMARY_GROUPS: TableSchema = side(
    "summary_groups",
    "NeuronGroup of each metric in the summary. One row, with a field for each metric.",
);

/// The order of the groups: one row with a field per group.
pub static SUMMARY_GROUP_ORDER: TableSchema =
    side("summary_group_order", "Order of the groups of the summary. One row, with a field for each group.");

/// The exporting tool's explanation of each metric: one row with a field per metric.
pub static TERMINOLOGY: TableSchema = side(
    "terminology",
    "Explanation of each metric by the exporting tool. One row, with a field for each metric.",
);

const fn side(name: &'static str, doc: &'static str) -> TableSchema {
    TableSchema {
        name,
        kind: TableKind::Side,
        name_key: "",
        value_key: "",
        doc,
        fields: &[],
        by_pattern: |_| None,
    }
}

const fn field(name: &'static str, unit: Unit, group: &'static str, doc: &'static str) -> FieldSchema {
    FieldSchema { name, unit, group, doc }
}

const RUN: &str = "Run";
const MEMORY: &str = "Memory traffic";
const DMA: &str = "DMA";
const TENSOR: &str = "Tensor engine";
const SCALAR: &str = "Scalar engine";
const COLLECTIVES: &str = "Collectives";
const SYSTEM: &str = "System";

// Times are in seconds if the text says so: neuron-profile gives times of the summary as fractions
// of a second.
#[rustfmt::skip]
static FIELDS: [FieldSchema; 75] = [
    field("total_time", Unit::None, RUN, "Time on the device, in seconds."),
    field("total_active_time", Unit::None, RUN, "Time with at least one active engine, transfer or collective, in seconds."),
    field("total_active_time_percent", Unit::Ratio, RUN, "Share of the time with at least one active engine, transfer or collective."),
    field("event_count", Unit::Count, RUN, "Number of records of events such as semaphore changes."),
    field("trace_count", Unit::Count, RUN, "Number of records of all kinds."),
    field("neuroncore_cycle_count", Unit::Cycles, RUN, "Cycles of the core's base clock in the run."),
    field("hardware_flops", Unit::Flops, TENSOR, "Floating-point operations of all matrix multiplications. Each multiply-accumulate counts as two."),
    field("transpose_flops", Unit::Flops, TENSOR, "Floating-point operations of matrix multiplications that only transpose data."),
    field("model_flops", Unit::Flops, TENSOR, "Floating-point operations of the model."),
    field("hfu_estimated_percent", Unit::Ratio, TENSOR, "Executed floating-point operations as a share of the engine's peak."),
    field("mfu_estimated_percent", Unit::Ratio, TENSOR, "Floating-point operations of the model as a share of the engine's peak."),
    field("mfu_hlo_estimated_percent", Unit::Ratio, TENSOR, "Floating-point operations of the model, counted in its HLO, as a share of the engine's peak."),
    field("mfu_inst_estimated_percent", Unit::Ratio, TENSOR, "Executed floating-point operations without transposes as a share of the engine's peak."),
    field("mfu_max_achievable_estimated_percent", Unit::Ratio, TENSOR, "Largest share of the peak that the data rate of the memory allows."),
    field("mfu_hlo_max_achievable_estimated_percent", Unit::Ratio, TENSOR, "Largest share of the peak that the data rate of the memory allows, with operations counted in the HLO."),
    field("mfu_inst_max_achievable_estimated_percent", Unit::Ratio, TENSOR, "Largest share of the peak that the data rate of the memory allows, with executed operations without transposes."),
    field("matmul_instruction_count", Unit::Count, TENSOR, "Number of executed matrix multiplications."),
    field("mm_arithmetic_intensity", Unit::None, TENSOR, "Floating-point operations of the model per byte of device memory traffic."),
    field("peak_flops_bandwidth_ratio", Unit::None, TENSOR, "Peak floating-point operations per byte of peak memory traffic. Memory limits a program of lower intensity."),
    field("activate_instruction_count", Unit::Count, SCALAR, "Number of executed activations."),
    field("activate_instruction_time", Unit::None, SCALAR, "Sum of the durations of all activations, in seconds."),
    field("hbm_read_bytes", Unit::Bytes, MEMORY, "Bytes read from device memory."),
    field("hbm_write_bytes", Unit::Bytes, MEMORY, "Bytes written to device memory."),
    field("sbuf_read_bytes", Unit::Bytes, MEMORY, "Bytes read from the state buffer."),
    field("sbuf_write_bytes", Unit::Bytes, MEMORY, "Bytes written to the state buffer."),
    field("psum_read_bytes", Unit::Bytes, MEMORY, "Bytes read from the partial-sum buffer."),
    field("psum_write_bytes", Unit::Bytes, MEMORY, "Bytes written to the partial-sum buffer."),
    field("psum_read_sbuf_write_bytes", Unit::Bytes, MEMORY, "Bytes moved from the partial-sum buffer to the state buffer."),
    field("psum_read_sbuf_write_count", Unit::Count, MEMORY, "Number of instructions that moved partial sums to the state buffer."),
    field("spill_save_bytes", Unit::Bytes, MEMORY, "Bytes saved to device memory because the state buffer was full."),
    field("spill_reload_bytes", Unit::Bytes, MEMORY, "Bytes loaded again that were saved earlier because the state buffer was full."),
    field("input_queue_bytes", Unit::Bytes, MEMORY, "Bytes loaded through queues for inputs."),
    field("output_queue_bytes", Unit::Bytes, MEMORY, "Bytes stored through queues for outputs."),
    field("weight_queue_bytes", Unit::Bytes, MEMORY, "Bytes loaded through queues for weights."),
    field("weight_size_bytes", Unit::Bytes, MEMORY, "Size of all weights."),
    field("inputs_and_weights_size_bytes", Unit::Bytes, MEMORY, "Size of all inputs and weights, which the program must read at least once."),
    field("inputs_outputs_weights_size_bytes", Unit::Bytes, MEMORY, "Size of all inputs, outputs and weights."),
    field("mbu_estimated_percent", Unit::Ratio, MEMORY, "Device memory traffic as a share of the memory's peak."),
    field("mbu_min_read_util_percent", Unit::Ratio, MEMORY, "Inputs and weights, read once, as a share of the memory's peak."),
    field("dma_active_time", Unit::None, DMA, "Time with at least one packet in flight, in seconds."),
    field("dma_active_time_percent", Unit::Ratio, DMA, "Share of the time with at least one packet in flight."),
    field("dma_active_cycles", Unit::Cycles, DMA, "Time with at least one packet in flight, in cycles of the base clock."),
    field("dma_packet_time", Unit::None, DMA, "Sum of the durations of all packets, in seconds."),
    field("dma_queue_count", Unit::Count, DMA, "Number of queues that the program declares."),
    field("dma_transfer_count", Unit::Count, DMA, "Number of whole transfers."),
    field("dma_transfer_time", Unit::None, DMA, "Sum of the durations of all whole transfers, in seconds."),
    field("dma_transfer_total_bytes", Unit::Bytes, DMA, "Bytes of all whole transfers."),
    field("dma_transfer_average_bytes", Unit::Bytes, DMA, "Average bytes of a whole transfer."),
    field("dynamic_dma_active_time_percent", Unit::Ratio, DMA, "Share of the DMA active time with a packet that was set up during the run."),
    field("dynamic_dma_packet_percent", Unit::Ratio, DMA, "Share of the packets that were set up during the run."),
    field("dynamic_dma_size_percent", Unit::Ratio, DMA, "Share of the bytes in packets that were set up during the run."),
    field("static_dma_size", Unit::Bytes, DMA, "Bytes in packets that the compiler set up."),
    field("software_dynamic_dma_size", Unit::Bytes, DMA, "Bytes in packets that software on the device set up."),
    field("hardware_dynamic_dma_size", Unit::Bytes, DMA, "Bytes in packets that the device's generator set up."),
    field("cc_op_count", Unit::Count, COLLECTIVES, "Number of collective operations."),
    field("cc_op_time", Unit::None, COLLECTIVES, "Sum of the durations of all collective operations, in seconds."),
    field("cc_op_active_time", Unit::None, COLLECTIVES, "Time with at least one collective operation, in seconds."),
    field("cc_op_active_time_percent", Unit::Ratio, COLLECTIVES, "Share of the time with at least one collective operation."),
    field("cc_cores_instruction_count", Unit::Count, COLLECTIVES, "Number of steps of the cores for collective communication."),
    field("cc_cores_instruction_time", Unit::None, COLLECTIVES, "Sum of the durations of these steps, in seconds."),
    field("cc_cores_instruction_active_time", Unit::None, COLLECTIVES, "Time with at least one of these cores active, in seconds."),
    field("cc_cores_instruction_active_time_percent", Unit::Ratio, COLLECTIVES, "Share of the time with at least one of these cores active."),
    field("instance_type", Unit::None, SYSTEM, "Type of the machine."),
    field("nd_idx", Unit::None, SYSTEM, "Number of the device."),
    field("nc_idx", Unit::None, SYSTEM, "Number of the core on its device."),
    field("profiler_version", Unit::None, SYSTEM, "Version of the tool that exported the profile."),
    field("runtime_version", Unit::None, SYSTEM, "Version of the Neuron runtime."),
    field("driver_version", Unit::None, SYSTEM, "Version of the Neuron driver."),
    field("compiler_version", Unit::None, SYSTEM, "Version of the compiler that built the program."),
    field("collectives_version", Unit::None, SYSTEM, "Version of the library for collective communication."),
    field("ultraserver_id", Unit::None, SYSTEM, "Identity of the group of machines."),
    field("ultraserver_instance_index", Unit::None, SYSTEM, "Number of the machine in its group."),
    field("ultraserver_size", Unit::Count, SYSTEM, "Machines in the group."),
    field("ultraserver_type", Unit::None, SYSTEM, "Connection between the machines of the group."),
    field("s3_bucket_path", Unit::None, SYSTEM, "Location of the uploaded files of the profile."),
];

fn further(name: &str) -> Option<FieldSpec> {
    per_engine(name, Unit::None).or_else(|| dma_kind(name)).or_else(|| throttling(name))
}

/// Explains `<kind>_dma_<quantity>`.
fn dma_kind(name: &str) -> Option<FieldSpec> {
    let (kind, quantity) = name.split_once("_dma_")?;
    let which = match kind {
        "static" => "that the compiler set up",
        "software_dynamic" => "that software on the device set up",
        "hardware_dynamic" => "that the device's generator set up",
        _ => return None,
    };
    let (unit, doc) = match quantity {
        "active_time" => {
            (Unit::None, format!("Time with at least one packet {which} in flight, in seconds."))
        }
        "active_time_percent" => {
            (Unit::Ratio, format!("Share of the DMA active time with a packet {which}."))
        }
        "packet_count" => (Unit::Count, format!("Number of packets {which}.")),
        "packet_percent" => (Unit::Ratio, format!("Share of the packets {which}.")),
        "size_percent" => (Unit::Ratio, format!("Share of the bytes in packets {which}.")),
        _ => return None,
    };
    Some(FieldSpec::new(name, unit, DMA, &doc))
}

/// Explains `throttle_active_nc<core>_time_ns`, `throttle_avg_util_limit_nc<core>_percent` and
/// `throttle_<reason>_{active_time,avg_util_limit}_nc<core>_percent`.
fn throttling(name: &str) -> Option<FieldSpec> {
    let (what, core) = name.strip_prefix(THROTTLE)?.rsplit_once("_nc")?;
    let (core, suffix) = core.split_once('_')?;
    core.parse::<u32>().ok()?;
    let of = format!("on core {core}");
    let (unit, doc) = match (what, suffix) {
        ("active", "time_ns") => {
            (Unit::Nanoseconds, format!("Time in which the device limited its use {of}."))
        }
        ("avg_util_limit", "percent") => {
            (Unit::Ratio, format!("Average limit {of}, weighted by its time, over the run."))
        }
        (reason, "percent") => match reason.strip_suffix("_active_time") {
            Some(reason) => (Unit::Ratio, format!("Share of the time limited {of} because of {reason}.")),
            None => {
                let reason = reason.strip_suffix("_avg_util_limit")?;
                (Unit::Ratio, format!("Average limit {of} while limited because of {reason}."))
            }
        },
        _ => return None,
    };
    Some(FieldSpec::new(name, unit, "Throttling", &doc))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_explained(name: &str, unit: Unit, part: &str) {
        let field = SUMMARY.field(name);
        assert_eq!(field.unit, unit, "{name}");
        assert!(field.doc.contains(part), "{name}: {}", field.doc);
    }

    #[test]
    fn names_that_follow_a_pattern_are_explained() {
        check_explained("throttle_gpio_3_active_time_nc1_percent", Unit::Ratio, "core 1 because of gpio_3");
        check_explained(
            "throttle_activity_0_avg_util_limit_nc0_percent",
            Unit::Ratio,
            "because of activity_0",
        );
        check_explained("throttle_active_nc0_time_ns", Unit::Nanoseconds, "core 0");
        check_explained("throttle_avg_util_limit_nc0_percent", Unit::Ratio, "Average limit on core 0");
        check_explained("gpsimd_engine_active_time", Unit::None, "in seconds");
        check_explained("hardware_dynamic_dma_packet_count", Unit::Count, "generator");
        assert_eq!(SUMMARY.field("throttle_nonsense").doc, "");
    }
}
