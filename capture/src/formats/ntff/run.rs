//! Side tables about the capture as a whole: versions, counts, clocks, segments.

use nprof_engine::base::time::PS_PER_NS;
use nprof_engine::base::{Result, Time};
use nprof_engine::model::{FieldId, FieldSpec, RankInfo, Sink, TableId, TableSpec, Unit, Value, WarningKind};

use super::container::{NtffContainer, RecordSegment, text};
use super::core::CoreProgram;
use super::proto;
use super::record::RECORD_LEN;
use crate::formats::neff::Neff;
use crate::probe::ntff::VERSION;
use nprof_engine::makers::neuron::schema::{
    MODEL_INFO, Metadata, ModelInfo, NeffHeader, ProfileInfo, SUMMARY, TableSchema,
};
use nprof_engine::makers::neuron::{Engine, SOURCE};

/// Version of neuron-profile's export whose table layout is used here.
const DATA_VERSION: i64 = 8;

/// Data of a chip, which no trace contains.
struct Chip {
    architecture: u32,
    tensor_ghz: f64,
    base_ghz: f64,
    rows: i64,
    columns: i64,
    hbm_bytes_per_s: i64,
    dma_bytes_per_s: i64,
}

/// Chips by the trace's architecture code: Inferentia 2 and Trainium 1.
const CHIPS: [Chip; 1] = [Chip {
    architecture: 2,
    tensor_ghz: 2.8,
    base_ghz: 1.4,
    rows: 128,
    columns: 128,
    hbm_bytes_per_s: 410_000_000_000,
    dma_bytes_per_s: 435_000_000_000,
}];

fn chip_of(architecture: u32) -> Option<&'static Chip> {
    CHIPS.iter().find(|chip| chip.architecture == architecture)
}

/// Counts from the readers of a core's segments.
#[derive(Debug, Default, Clone, Copy)]
pub struct Counts {
    /// Number of rows in `instruction`, by [`Engine::index`].
    pub instructions: [u64; Engine::ALL.len()],
    /// Number of rows in `dma`.
    pub dma_rows: u64,
    /// Number of records in the event segments.
    pub events: u64,
    /// End of the last instruction, since the origin.
    pub last_end_ps: i64,
}

/// Sets the identity of the rank.
pub fn write_rank(capture: &proto::Capture, sink: &mut dyn Sink) {
    let title = text(&capture.neff_path).into_owned();
    sink.rank(RankInfo { source: SOURCE.to_owned(), title, ..RankInfo::default() });
}

/// Writes `metadata`, `profile_info` and the parts of `summary` that the trace itself states.
pub fn write_capture(
    container: &NtffContainer<'_>,
    cores: &[CoreProgram<'_>],
    last_end_ps: i64,
    neff: Option<&Neff>,
    sink: &mut dyn Sink,
) -> Result<()> {
    write_metadata(container, cores, last_end_ps, sink)?;
    let capture = &container.capture;
    let path = text(&capture.neff_path);
    let handles = ProfileInfo::define(sink)?;
    sink.row(
        handles.table,
        &[
            (handles.profile_name, Value::Text(&path)),
            (handles.neff_name, Value::Text(&path)),
            (handles.profile_type, Value::Text("normal")),
            (handles.cc_only, Value::Bool(false)),
        ],
    )?;
    let total_ps = cores.iter().map(|core| core.subgraph.total_time_ps).max().unwrap_or(0);
    let (runtime, driver) = (version(capture.runtime.as_ref()), version(capture.driver.as_ref()));
    let collectives = version(capture.collectives.as_ref());
    let instance = text(&capture.instance_type);
    let mut row = vec![
        ("instance_type", Value::Text(&instance)),
        ("runtime_version", Value::Text(&runtime)),
        ("driver_version", Value::Text(&driver)),
        ("collectives_version", Value::Text(&collectives)),
        ("nd_idx", Value::Int(0)),
        ("nc_idx", Value::Int(0)),
        ("total_time", Value::Float(seconds(total_ps))),
    ];
    if let Some(compiler) = neff.and_then(Neff::compiler_version) {
        row.push(("compiler_version", Value::Text(compiler)));
    }
    if let Some(flops) = neff.and_then(Neff::model_flops) {
        row.push(("model_flops", Value::unsigned(flops)));
    }
    write_named(&SUMMARY, &row, sink)
}

/// Writes the tables of the NEFF, or the trace's own statements about it.
pub fn write_program(capture: &proto::Capture, neff: Option<&Neff>, sink: &mut dyn Sink) -> Result<()> {
    if let Some(neff) = neff {
        let header = neff.header();
        if header.is_some_and(|header| !is_same_program(&capture.neff_uuid, &header.uuid)) {
            let what = "the NEFF is not the traced program; name the NEFF that ran";
            sink.warn(WarningKind::MissingData, what, &|| text(&capture.neff_path).into_owned());
        }
        neff.write(sink)?;
        if header.is_some() {
            return Ok(());
        }
    }
    let handles = NeffHeader::define(sink)?;
    sink.row(handles.table, &[(handles.network_name, Value::Text(&text(&capture.neff_path)))])
}

/// Compares uuids. The trace's is a C string: cut at its first zero byte, or with stray bytes after
/// it.
fn is_same_program(traced: &[u8], uuid: &[u8]) -> bool {
    traced.iter().zip(uuid).all(|(a, b)| a == b)
}

fn write_metadata(
    container: &NtffContainer<'_>,
    cores: &[CoreProgram<'_>],
    last_end_ps: i64,
    sink: &mut dyn Sink,
) -> Result<()> {
    let last_ns = Time(last_end_ps).floor_ns();
    let last_ts = rfc3339(last_ns);
    let count = Value::unsigned(cores.len() as u64);
    let handles = Metadata::define(sink)?;
    let mut row = vec![
        (handles.ntff_version, Value::Int(i64::from(VERSION))),
        (handles.data_version, Value::Int(DATA_VERSION)),
        (handles.first_hw_timestamp, Value::Int(0)),
        (handles.last_hw_timestamp, Value::Int(last_ns)),
        (handles.first_ts, Value::Text("1970-01-01T00:00:00Z")),
        (handles.last_ts, Value::Text(&last_ts)),
        (handles.ticks_per_nanosec, Value::Int(1000)),
        (handles.num_subgraphs, count),
        (handles.num_physical_cores, count),
        (handles.is_simulation, Value::Bool(false)),
        (handles.is_ext, Value::Bool(true)),
        (handles.vnc_enabled, Value::Bool(cores.len() > 1)),
    ];
    let architecture = container.capture.architecture;
    match chip_of(architecture) {
        Some(chip) => row.extend([
            (handles.pe_clock_freq, Value::Float(chip.tensor_ghz)),
            (handles.pe_clock_others, Value::Float(chip.base_ghz)),
            (handles.pe_num_rows, Value::Int(chip.rows)),
            (handles.pe_num_cols, Value::Int(chip.columns)),
            (handles.hbm_ddr_bandwidth, Value::Int(chip.hbm_bytes_per_s)),
            (handles.dma_ddr_bandwidth, Value::Int(chip.dma_bytes_per_s)),
        ]),
        None => {
            let what = "the chip is unknown, so metrics that need its peak rates are missing";
            sink.warn(WarningKind::MissingData, what, &|| format!("architecture code {architecture}"));
        }
    }
    let doc = "Code of the chip's architecture in the trace.";
    let spec = FieldSpec::new("architecture", Unit::None, "Device", doc);
    row.push((sink.field(handles.table, spec)?, Value::Int(i64::from(architecture))));
    sink.row(handles.table, &row)
}

/// Writes a core's row of `model_info`.
pub fn write_core(
    core: &CoreProgram<'_>,
    counts: &Counts,
    architecture: u32,
    sink: &mut dyn Sink,
) -> Result<()> {
    let handles = ModelInfo::define(sink)?;
    let count = Value::unsigned;
    let instructions: u64 = counts.instructions.iter().sum();
    let trace_count = instructions + counts.dma_rows + counts.events;
    let mut row = vec![
        (handles.nd_idx, Value::Int(0)),
        (handles.nc_idx, Value::Int(i64::from(core.number))),
        (handles.sg_name, Value::Text(&core.name)),
        (handles.event_count, count(counts.events)),
        (handles.trace_count, count(trace_count)),
        (handles.dma_queue_count, count(core.subgraph.queues.len() as u64)),
    ];
    if let Some(chip) = chip_of(architecture) {
        let cycles = base_cycles(counts.last_end_ps, chip.base_ghz);
        row.push((handles.neuroncore_cycle_count, Value::Int(cycles)));
    }
    for engine in Engine::ALL {
        let name = format!("{}_engine_instruction_count", engine.name().to_lowercase());
        let field = sink.field(handles.table, MODEL_INFO.field(&name))?;
        row.push((field, count(counts.instructions[engine.index()])));
    }
    let doc = "Duration of the run.";
    let spec = FieldSpec::new("total_time_ps", Unit::Picoseconds, "Run", doc);
    let total_field = sink.field(handles.table, spec)?;
    row.push((total_field, count(core.subgraph.total_time_ps)));
    sink.row(handles.table, &row)
}

/// Cycles of the base clock. Each step is in single precision, as in the vendor's tool: scripts
/// compare these numbers.
#[expect(clippy::cast_possible_truncation, reason = "casts of floats saturate")]
#[expect(clippy::cast_precision_loss, reason = "single precision is what is asked for")]
fn base_cycles(ps: i64, base_ghz: f64) -> i64 {
    (ps as f32 * base_ghz as f32 / PS_PER_NS as f32) as i64
}

/// Writes side table `trace_segment` and warns of buffers that were full.
pub fn write_segments(
    core: &CoreProgram<'_>,
    segments: &[RecordSegment<'_>],
    buffers: &[proto::Buffer],
    sink: &mut dyn Sink,
) -> Result<()> {
    let table: TableId =
        sink.table(TableSpec::side("trace_segment", "Parts of the trace file that hold records."))?;
    let mut field =
        |name: &str, unit, doc: &str| sink.field(table, FieldSpec::new(name, unit, "Segment", doc));
    let subgraph = field("subgraph", Unit::None, "Subgraph that was traced.")?;
    let kind = field("kind", Unit::None, "Subject of the records.")?;
    let block_kind = field("block_kind", Unit::None, "Code of the writer of the records, as in the file.")?;
    let record_kind = field("record_kind", Unit::None, "Code of the kind of the records, as in the file.")?;
    let records = field("records", Unit::Count, "Number of records.")?;
    let offset = field("offset_bytes", Unit::Bytes, "Offset of the first record in the file.")?;
    let buffer =
        field("buffer_bytes", Unit::Bytes, "Capacity that the runtime had reserved for the records.")?;
    let int = Value::unsigned;
    for segment in segments {
        let size_bytes = segment.bytes.len() as u64;
        let mut row: Vec<(FieldId, Value<'_>)> = vec![
            (subgraph, Value::Text(&core.name)),
            (kind, Value::Text(segment.kind.title())),
            (block_kind, Value::Int(i64::from(segment.block_kind))),
            (record_kind, Value::Int(i64::from(segment.record_kind))),
            (records, int(size_bytes / RECORD_LEN as u64)),
            (offset, int(segment.at)),
        ];
        let room = buffers.iter().find(|buffer| {
            (buffer.block_kind, buffer.record_kind) == (segment.block_kind, segment.record_kind)
        });
        if let Some(room) = room {
            row.push((buffer, int(room.size_bytes)));
            if room.size_bytes > 0 && size_bytes >= room.size_bytes {
                let what = "the trace buffer was full, so some records are missing; trace a shorter run";
                sink.warn(WarningKind::MissingData, what, &|| {
                    format!("{} segment of {}", segment.kind.title(), core.name)
                });
            }
        }
        sink.row(table, &row)?;
    }
    Ok(())
}

fn write_named(table: &TableSchema, row: &[(&str, Value<'_>)], sink: &mut dyn Sink) -> Result<()> {
    let id = sink.table(table.spec())?;
    let mut fields = Vec::with_capacity(row.len());
    for &(name, value) in row {
        fields.push((sink.field(id, table.field(name))?, value));
    }
    sink.row(id, &fields)
}

/// A version as neuron-profile prints it: `2.29.40 (f954c)`, with the first digits of the source's
/// hash.
fn version(version: Option<&proto::LibraryVersion>) -> String {
    const HASH_DIGITS: usize = 5;
    let Some(proto::LibraryVersion { major, minor, patch, hash }) = version else { return String::new() };
    let hash: String = text(hash).chars().take(HASH_DIGITS).collect();
    format!("{major}.{minor}.{patch} ({hash})")
}

#[expect(clippy::cast_precision_loss, reason = "the table has seconds as a float")]
fn seconds(ps: u64) -> f64 {
    ps as f64 / 1e12
}

/// Nanoseconds since 1970 as a timestamp of RFC 3339.
fn rfc3339(ns: i64) -> String {
    // Every 64-bit count of nanoseconds is in range.
    jiff::Timestamp::from_nanosecond(i128::from(ns.max(0))).unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates_of_1970() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(1_879_317), "1970-01-01T00:00:00.001879317Z");
        assert_eq!(rfc3339(951_782_400_500_000_000), "2000-02-29T00:00:00.5Z");
    }

    #[test]
    fn versions_are_printed_with_five_digits_of_the_hash() {
        let known = proto::LibraryVersion { major: 2, minor: 29, patch: 40, hash: b"f954cd7a".to_vec() };
        assert_eq!(version(Some(&known)), "2.29.40 (f954c)");
        assert_eq!(version(Some(&proto::LibraryVersion::default())), "0.0.0 ()");
    }
}
