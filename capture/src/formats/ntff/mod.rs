//! NTFF, version 5: the device trace that `neuron-profile capture` writes.
//!
//! A header, a protobuf part that describes what ran, and segments of 16-byte records. The readers take the file's
//! bytes as a slice, so that a mapped file is read page by page. What they keep grows with the trace, since counters and
//! arrows follow the order of time and the records do not: 24 bytes for each packet (48 in the file) while packets are
//! read, then 56 for each static transfer, 32 for each instruction that touches memory (32 in the file), and 16 to 24 for
//! each change of what memories hold. A trace of nothing but such records takes about its own size (measured: 244 MiB for
//! 256 MB, `benches/benches/readers.rs`): several GB need as much free memory.
//!
//! The format is not documented by its vendor. What is read here was learned from traces and their exports; what is
//! not understood is kept as it is (`unknown_record`, `raw_instruction`) and never ends the reading.

pub mod clock;
pub mod container;
pub mod core;
pub mod decoded;
pub mod dependency;
pub mod disassemble;
pub mod dma;
pub mod effect;
pub mod engine;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod instruction;
pub mod landmark;
pub mod memory;
pub mod pending;
pub mod program;
pub mod proto;
pub mod queues;
pub mod record;
pub mod region;
pub mod run;
pub mod semaphore;
pub mod throttle;
pub mod throughput;
pub mod unknown;
pub mod usage;
pub mod word;

#[cfg(test)]
mod tests;

use nprof_engine::model::{Sink, WarningKind};

use self::container::{Container, RecordSegment};
use self::core::{Core, Output};
use self::decoded::Decoder;
use self::disassemble::SemaphoreNames;
use self::dma::{DmaReader, DmaResult, Transfer};
use self::instruction::{InstructionReader, InstructionResult};
use self::landmark::{Landmarks, TriggerStart};
use self::record::{SegmentKind, records};
use self::run::Counts;
use self::semaphore::EventReader;
use self::unknown::UnknownRecords;
use super::Error;
use super::neff::Neff;

/// Reads a whole trace into the sink. `neff` is the program that ran, where it is at hand; `progress` is told how many
/// bytes have been read.
///
/// # Errors
/// Where the container is damaged or of another version, and the sink's own. Damaged records are warnings.
pub fn read(
    input: &[u8],
    neff: Option<&Neff>,
    sink: &mut dyn Sink,
    progress: &mut dyn FnMut(u64),
) -> Result<(), Error> {
    let container = Container::open(input)?;
    let mut cores: Vec<Core<'_>> =
        (0_u32..).zip(container.subgraphs()).map(|(number, subgraph)| Core::new(number, subgraph)).collect();
    run::write_rank(&container.capture, sink);
    let mut segments = Vec::with_capacity(cores.len());
    let mut landmarks = Vec::with_capacity(cores.len());
    for core in &cores {
        let of_core = container.segments(core.subgraph)?;
        let found = Landmarks::find(core, &of_kind(&of_core, SegmentKind::Instruction));
        segments.push(of_core);
        landmarks.push(found);
    }
    let origin_ps = origin_ps(&cores, &segments, &landmarks, sink);
    for core in &mut cores {
        core.origin_ps = origin_ps;
    }
    let mut out = Output::new(sink, progress);
    let record_bytes: usize = segments.iter().flatten().map(|segment| segment.bytes.len()).sum();
    out.advance(input.len().saturating_sub(record_bytes) as u64);
    let names = neff.map(Neff::semaphore_names).unwrap_or_default();
    let mut last_end_ps = 0;
    for ((core, segments), landmarks) in cores.iter().zip(&segments).zip(&landmarks) {
        run::write_segments(core, segments, &container.capture.buffers, out.sink)?;
        let counts = read_core(core, segments, &landmarks.triggers, &names, &mut out)?;
        last_end_ps = last_end_ps.max(counts.last_end_ps);
        run::write_core(core, &counts, out.sink)?;
        queues::write(core, out.sink)?;
        memory::write(core, out.sink)?;
    }
    run::write_capture(&container, &cores, last_end_ps, neff, out.sink)?;
    run::write_program(&container.capture, neff, out.sink)?;
    Ok(())
}

/// The bytes of all segments of a kind.
fn of_kind<'a>(segments: &[RecordSegment<'a>], kind: SegmentKind) -> Vec<&'a [u8]> {
    segments.iter().filter(|segment| segment.kind == kind).map(|segment| segment.bytes).collect()
}

/// Time zero: when the last engine was ready. Cores of one file share it, so that their rows can be compared.
fn origin_ps(
    cores: &[Core<'_>],
    segments: &[Vec<RecordSegment<'_>>],
    landmarks: &[Landmarks],
    sink: &mut dyn Sink,
) -> i64 {
    if let Some(begin) = landmarks.iter().filter_map(|found| found.run_begin_ps).min() {
        return begin;
    }
    let what = "the trace does not say when the run began; time starts with its first record";
    sink.warn(WarningKind::MissingData, what, &|| "instruction segment".to_owned());
    let instructions = landmarks.iter().filter_map(|found| found.earliest_ps);
    let packets = cores.iter().zip(segments).flat_map(|(core, segments)| {
        of_kind(segments, SegmentKind::Dma)
            .into_iter()
            .flat_map(records)
            .filter_map(|(_, record)| core.clocks.dma_ps(record.kind(), record.ticks))
    });
    let events = cores.iter().zip(segments).flat_map(|(core, segments)| {
        of_kind(segments, SegmentKind::Event)
            .into_iter()
            .flat_map(records)
            .filter_map(|(_, record)| core.clocks.event_ps(record.ticks))
    });
    instructions.chain(packets).chain(events).min().unwrap_or(0)
}

/// Reads the segments of one core.
fn read_core(
    core: &Core<'_>,
    segments: &[RecordSegment<'_>],
    triggers: &[TriggerStart],
    names: &SemaphoreNames,
    out: &mut Output<'_>,
) -> Result<Counts, Error> {
    let mut unknown = UnknownRecords::default();
    // Transfers come first: the rows of the instructions that set them off show their size.
    let mut dma = read_dma(core, segments, triggers, &mut unknown, out)?;
    // Before the instructions are read: packets and instructions are then not in memory at the same time.
    throughput::write(core, std::mem::take(&mut dma.flights), out)?;
    let (instructions, decoder) = read_instructions(core, segments, &dma, names, &mut unknown, out)?;
    let mut events = EventReader::new(core, names, out)?;
    for bytes in of_kind(segments, SegmentKind::Event) {
        events.read(bytes, &mut unknown, out)?;
    }
    for bytes in of_kind(segments, SegmentKind::Throttle) {
        throttle::read(core, bytes, instructions.last_end_ps, out)?;
    }
    for segment in segments.iter().filter(|s| matches!(s.kind, SegmentKind::Error | SegmentKind::Unknown)) {
        for (number, record) in records(segment.bytes) {
            out.record_done();
            unknown.keep(out.sink, segment.kind.title(), number, &record)?;
        }
    }
    out.segment_done();
    let counts = Counts {
        instructions: instructions.rows,
        dma_rows: dma.rows,
        events: events.records,
        last_end_ps: instructions.last_end_ps,
    };
    derive(core, instructions, &decoder, &dma.transfers, out)?;
    Ok(counts)
}

fn read_dma(
    core: &Core<'_>,
    segments: &[RecordSegment<'_>],
    triggers: &[TriggerStart],
    unknown: &mut UnknownRecords,
    out: &mut Output<'_>,
) -> Result<DmaResult, Error> {
    let mut reader = DmaReader::new(core, out)?;
    for bytes in of_kind(segments, SegmentKind::Dma) {
        reader.read(bytes, unknown, out)?;
    }
    reader.finish(triggers, out)
}

fn read_instructions(
    core: &Core<'_>,
    segments: &[RecordSegment<'_>],
    dma: &DmaResult,
    names: &SemaphoreNames,
    unknown: &mut UnknownRecords,
    out: &mut Output<'_>,
) -> Result<(InstructionResult, Decoder), Error> {
    let decoder = Decoder::new(core, names.clone());
    let mut reader = InstructionReader::new(core, decoder, &dma.transfers, out)?;
    for bytes in of_kind(segments, SegmentKind::Instruction) {
        reader.read(bytes, unknown, out)?;
    }
    let (mut result, decoder) = reader.finish(out)?;
    result.executed.sort_unstable();
    Ok((result, decoder))
}

/// Writes what follows from the rows: counters and arrows.
fn derive(
    core: &Core<'_>,
    instructions: InstructionResult,
    decoder: &Decoder,
    transfers: &[Transfer],
    out: &mut Output<'_>,
) -> Result<(), Error> {
    dma::link_triggers(&instructions.triggered, out)?;
    dependency::write(&instructions.executed, decoder, out)?;
    usage::write(core, &instructions.executed, decoder, transfers, out)?;
    pending::write(core, &instructions.executed, decoder, transfers, out)
}
