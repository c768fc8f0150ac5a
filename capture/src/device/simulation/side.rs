//! Side tables of a capture: the device, the program and the capture itself.

use nprof_engine::base::time::PS_PER_NS;
use nprof_engine::base::{Result, signed};
use nprof_engine::model::{RankInfo, Sink, Value};

use super::Simulation;
use super::device_tracks::CORES;
use super::place::LayerPart;
use super::program::weights_of;
use super::queue::{DMA_ENGINES, QUEUES};
use super::rig::Rig;
use super::sources::{Frames, SOURCES};
use nprof_engine::makers::neuron::SOURCE;
use nprof_engine::makers::neuron::schema::{
    CcStream, DmaQueuesInfo, Metadata, ModelInfo, NcMemUsage, NeffHeader, NeffNode, ProfileInfo, StackFrame,
    StackFrameFileLocation, StackFrameFileName, StackFrameFunctionName,
};

/// Name of the program.
const PROGRAM: &str = "simulated-transformer";
/// Number of cores of a device.
const CORES_PER_DEVICE: u32 = 2;
/// Number of ranks of a host: one for each core.
const RANKS_PER_HOST: u32 = 16;

/// Name of the host of a rank.
#[must_use]
pub fn host_of(rank: u32) -> String {
    format!("host-{}", rank / RANKS_PER_HOST)
}

/// Number of the device of a rank on its host.
fn device_of(rank: u32) -> u32 {
    rank % RANKS_PER_HOST / CORES_PER_DEVICE
}

pub(super) fn describe(
    settings: &Simulation,
    rank: u32,
    rig: &Rig<'_>,
    frames: &Frames,
    sink: &mut dyn Sink,
) -> Result<()> {
    sink.rank(RankInfo {
        rank: Some(rank),
        device: Some(device_of(rank)),
        core: Some(rank % CORES_PER_DEVICE),
        origin_unix_ns: None,
        source: SOURCE.to_owned(),
        title: format!("{PROGRAM}, {} layers", settings.layers),
    });
    device(rig, sink)?;
    program(settings, sink)?;
    queues(sink)?;
    stacks(frames, sink)?;
    memory(settings, rank, sink)?;
    if settings.ranks > 1 {
        let table = CcStream::define(sink)?;
        let cores = format!("{CORES:?}").replace(' ', "");
        let fields = [
            (table.stream_id, Value::Int(0)),
            (table.stream_index, Value::Int(0)),
            (table.cc_core_ids, Value::Text(&cores)),
        ];
        sink.row(table.table, &fields)?;
    }
    let table = ModelInfo::define(sink)?;
    let fields = [
        (table.nd_idx, Value::Int(device_of(rank).into())),
        (table.nc_idx, Value::Int(i64::from(rank % CORES_PER_DEVICE))),
        (table.sg_name, Value::Text("sg00")),
        (table.trace_count, Value::Int(rig.events().cast_signed())),
        (table.dma_queue_count, Value::Int(i64::from(DMA_ENGINES) * 4)),
    ];
    sink.row(table.table, &fields)
}

/// Data of a core of the second generation, as in captures of real ones.
fn device(rig: &Rig<'_>, sink: &mut dyn Sink) -> Result<()> {
    let table = Metadata::define(sink)?;
    let fields = [
        (table.first_hw_timestamp, Value::Int(0)),
        (table.last_hw_timestamp, Value::Int(rig.end / PS_PER_NS)),
        (table.ticks_per_nanosec, Value::Int(PS_PER_NS)),
        (table.pe_clock_freq, Value::Float(2.8)),
        (table.pe_clock_others, Value::Float(1.4)),
        (table.pe_num_rows, Value::Int(128)),
        (table.pe_num_cols, Value::Int(128)),
        (table.hbm_ddr_bandwidth, Value::Int(410_000_000_000)),
        (table.dma_ddr_bandwidth, Value::Int(435_000_000_000)),
        (table.num_physical_cores, Value::Int(1)),
        (table.num_subgraphs, Value::Int(1)),
        (table.vnc_enabled, Value::Bool(false)),
        (table.is_simulation, Value::Bool(true)),
    ];
    sink.row(table.table, &fields)
}

fn program(settings: &Simulation, sink: &mut dyn Sink) -> Result<()> {
    let table = ProfileInfo::define(sink)?;
    sink.row(
        table.table,
        &[(table.profile_name, Value::Text(PROGRAM)), (table.cc_only, Value::Bool(false))],
    )?;
    let table = NeffHeader::define(sink)?;
    sink.row(table.table, &[(table.network_name, Value::Text(PROGRAM))])?;
    let table = NeffNode::define(sink)?;
    for layer in 0..settings.layers {
        for (part, block, weight) in
            [(LayerPart::Attention, "self_attn", "qkv_proj"), (LayerPart::Mlp, "mlp", "down_proj")]
        {
            let name = format!("layers.{layer}.{block}.{weight}.weight");
            let ([rows, columns], bytes) = weights_of(part);
            let (shape, size) = (format!("[{rows} {columns}]"), bytes.to_string());
            let fields = [
                (table.variable_name, Value::Text(&name)),
                (table.kind, Value::Text("WEIGHT")),
                (table.format, Value::Text("NC")),
                (table.shape, Value::Text(&shape)),
                (table.size, Value::Text(&size)),
                (table.sg_name, Value::Text("sg00")),
            ];
            sink.row(table.table, &fields)?;
        }
    }
    Ok(())
}

fn queues(sink: &mut dyn Sink) -> Result<()> {
    let table = DmaQueuesInfo::define(sink)?;
    for queue in &QUEUES {
        for engine in 0..DMA_ENGINES {
            let fields = [
                (table.q_name, Value::Text(queue.name)),
                (table.q_type, Value::Text(queue.queue_type)),
                (table.q_idx, Value::Int(i64::from(queue.number))),
                (table.q_eng_idx, Value::Int(i64::from(engine))),
                (table.subgraph, Value::Text("sg00")),
            ];
            sink.row(table.table, &fields)?;
        }
    }
    Ok(())
}

/// Stack frames, and the files and functions that they stand in. Ids count from 1.
fn stacks(frames: &Frames, sink: &mut dyn Sink) -> Result<()> {
    let id = |at: usize| (at + 1).to_string();
    let files = StackFrameFileName::define(sink)?;
    for (at, file) in SOURCES.iter().enumerate() {
        sink.row(files.table, &[(files.id, Value::Text(&id(at))), (files.name, Value::Text(file.name))])?;
    }
    let mut names: Vec<&str> = frames.0.iter().map(|frame| frame.function).collect();
    names.sort_unstable();
    names.dedup();
    let functions = StackFrameFunctionName::define(sink)?;
    for (at, name) in names.iter().enumerate() {
        sink.row(
            functions.table,
            &[(functions.id, Value::Text(&id(at))), (functions.name, Value::Text(name))],
        )?;
    }
    let (locations, stack) = (StackFrameFileLocation::define(sink)?, StackFrame::define(sink)?);
    for (at, frame) in frames.0.iter().enumerate() {
        let function = names.iter().position(|name| *name == frame.function).unwrap_or(0);
        let fields = [
            (locations.id, Value::Text(&id(at))),
            (locations.file_name_id, Value::Int(signed(frame.file) + 1)),
            (locations.function_name_id, Value::Int(signed(function) + 1)),
            (locations.line_number, Value::Int(signed(frame.line))),
        ];
        sink.row(locations.table, &fields)?;
        let caller = frame.caller.map_or_else(|| "0".to_owned(), id);
        let fields = [
            (stack.id, Value::Text(&id(at))),
            (stack.file_location_id, Value::Int(signed(at) + 1)),
            (stack.parent_frame_id, Value::Text(&caller)),
        ];
        sink.row(stack.table, &fields)?;
    }
    Ok(())
}

/// Uses of device memory, by purpose as the runtime states them.
fn memory(settings: &Simulation, rank: u32, sink: &mut dyn Sink) -> Result<()> {
    let table = NcMemUsage::define(sink)?;
    let weights: i64 = LayerPart::ALL.map(|part| weights_of(part).1).iter().sum();
    let uses = [
        ("Weights", weights * i64::from(settings.layers)),
        ("Tensors", 64 << 20),
        ("Scratchpad", 16 << 20),
        ("Shared Scratchpad", 4 << 20),
        ("DRAM Spill", 2 << 20),
        ("Collectives", 8 << 20),
        ("DMA Rings IO", 1 << 20),
    ];
    let total = ("Total", uses.iter().map(|(_, bytes)| bytes).sum());
    for (purpose, bytes) in uses.into_iter().chain([total]) {
        let fields = [
            (table.nd, Value::Int(device_of(rank).into())),
            (table.nc, Value::Int(i64::from(rank % CORES_PER_DEVICE))),
            (table.usage_type, Value::Text(purpose)),
            (table.amount_bytes, Value::Int(bytes)),
        ];
        sink.row(table.table, &fields)?;
    }
    Ok(())
}
