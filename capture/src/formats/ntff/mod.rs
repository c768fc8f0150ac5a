//! NTFF, version 5: the device trace that `neuron-profile capture` writes.
//!
//! The file has a header, a protobuf part that describes the programs, and segments of 16-byte
//! records. The readers take the file's bytes as a slice, so that a mapped file is read page by
//! page. Records are ordered by engine and by end, but rows by start. Each core's records are
//! therefore paired to small values, which wait in bounded memory ([`Space`]) until no later record
//! can precede them. Rows, arrows and counters are written meanwhile, ordered by time.
//!
//! The vendor does not document the format. It was learned from traces and their exports. Unknown
//! parts are kept as they are (`unknown_record`, `raw_instruction`) and never end the reading.

mod clock;
pub mod container;
pub mod core;
pub mod decoder;
pub mod dependency;
pub mod disassemble;
pub mod dma;
pub mod effect;
pub mod execution;
pub mod finding;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod floor;
pub mod instruction;
pub mod landmark;
pub mod lookahead;
pub mod memory;
pub mod packet;
pub mod pending_transfers;
pub mod program;
pub mod proto;
pub mod queues;
pub mod record;
pub mod region;
pub mod run;
pub mod semaphore;
pub mod step;
pub mod throttle;
pub mod throughput;
pub mod transfer;
pub mod unknown_records;
pub mod usage;
pub mod word;

#[cfg(test)]
mod tests;

use nprof_engine::exec::Cancel;
use nprof_engine::model::{Sink, WarningKind};
use nprof_engine::spill::Space;

use self::container::{NtffContainer, RecordSegment};
use self::core::{CoreProgram, NtffOutput};
use self::disassemble::SemaphoreNames;
use self::dma::DmaWriter;
use self::execution::ExecutionReader;
use self::floor::RecordBlock;
use self::landmark::Landmarks;
use self::packet::PacketReader;
use self::record::{SegmentKind, records};
use self::run::Counts;
use self::semaphore::EventReader;
use self::unknown_records::UnknownRecords;
use super::neff::Neff;
use crate::archive::unpack::PackingLayer;
use crate::error::Error;
use crate::files::{Fault, ImportJob, Sinks};
use crate::importer::FileRole;

/// Reads a whole trace into the sink. `neff` is the program that ran, if it is available.
/// `progress` receives the number of bytes done. Sorting uses `space`.
///
/// # Errors
/// If the container is damaged or of another version, or the sink fails. Damaged records are
/// warnings.
pub fn read(
    input: &[u8],
    neff: Option<&Neff>,
    space: Space<'_>,
    sink: &mut dyn Sink,
    progress: &mut dyn FnMut(u64),
) -> Result<(), Error> {
    let container = NtffContainer::open(input)?;
    let mut cores: Vec<CoreProgram<'_>> = (0_u32..)
        .zip(container.subgraphs())
        .map(|(number, subgraph)| CoreProgram::new(number, subgraph))
        .collect();
    run::write_rank(&container.capture, sink);
    let mut segments = Vec::with_capacity(cores.len());
    let mut landmarks = Vec::with_capacity(cores.len());
    for core in &cores {
        let of_core = container.segments(core.subgraph)?;
        let blocks = RecordBlock::of(&of_kind(&of_core, SegmentKind::Instruction));
        let found = Landmarks::find(core, &blocks, space)?;
        segments.push(of_core);
        landmarks.push(found);
    }
    let origin_ps = origin_ps(&cores, &segments, &landmarks, sink);
    for core in &mut cores {
        core.origin_ps = origin_ps;
    }
    let mut out = NtffOutput::new(sink, progress);
    let record_bytes: usize = segments.iter().flatten().map(|segment| segment.bytes.len()).sum();
    out.part_done(input.len().saturating_sub(record_bytes) as u64);
    let names = neff.map(Neff::semaphore_names).unwrap_or_default();
    let mut last_end_ps = 0;
    for ((core, segments), landmarks) in cores.iter().zip(&segments).zip(landmarks) {
        run::write_segments(core, segments, &container.capture.buffers, out.sink)?;
        let counts = read_core(core, segments, landmarks, &names, space, &mut out)?;
        last_end_ps = last_end_ps.max(counts.last_end_ps);
        run::write_core(core, &counts, container.capture.architecture, out.sink)?;
        queues::write(core, out.sink)?;
        memory::write(core, out.sink)?;
    }
    run::write_capture(&container, &cores, last_end_ps, neff, out.sink)?;
    run::write_program(&container.capture, neff, out.sink)?;
    Ok(())
}

/// Size of the largest NEFF that is read. A larger one would not leave memory for the trace.
const MAX_NEFF_BYTES: usize = 4 << 30;

/// Reads a plan's trace, and the program beside it. Each is unpacked as a whole if it is packed,
/// because records are read in place.
///
/// # Errors
/// If [`read`] fails, or the NEFF cannot be read.
pub fn import(job: &ImportJob<'_>, sinks: &mut dyn Sinks) -> Result<(), Fault> {
    let Some(sink) = sinks.rank(0) else { return Ok(()) };
    let trace = job.of_trace(job.files.whole(job.plan.trace()))?;
    let neff = match job.plan.file(FileRole::Model) {
        Some(file) => Some(neff(job, file).map_err(|source| Fault { file, source })?),
        None => None,
    };
    job.of_trace(read(&trace, neff.as_ref(), job.space, sink, &mut |done| (job.progress)(done)))
}

/// Reads a program. A gzip file is passed packed, because few of its members are needed.
fn neff(job: &ImportJob<'_>, file: usize) -> Result<Neff, Error> {
    let (leaf, cancel) = (job.files.leaf(file), job.space.work.cancel);
    match leaf.layers[..] {
        [] | [PackingLayer::Gzip] | [PackingLayer::Checksum { .. }, PackingLayer::Gzip] => {
            read_neff(&leaf.packed, cancel)
        }
        _ => read_neff(&job.files.whole(file)?, cancel),
    }
}

fn read_neff(bytes: &[u8], cancel: Cancel<'_>) -> Result<Neff, Error> {
    if bytes.len() > MAX_NEFF_BYTES {
        let what = format!("the NEFF has {} bytes; the limit is {MAX_NEFF_BYTES}", bytes.len());
        return Err(Error::format(what, "byte 0", "leave the NEFF out; nprof can read the trace without it"));
    }
    Neff::read_while(bytes, cancel)
}

/// Bytes of all segments of a kind.
fn of_kind<'a>(segments: &[RecordSegment<'a>], kind: SegmentKind) -> Vec<&'a [u8]> {
    segments.iter().filter(|segment| segment.kind == kind).map(|segment| segment.bytes).collect()
}

/// Time zero: the time at which the last engine was ready. Cores of one file share it, so that
/// their rows can be compared.
fn origin_ps(
    cores: &[CoreProgram<'_>],
    segments: &[Vec<RecordSegment<'_>>],
    landmarks: &[Landmarks<'_>],
    sink: &mut dyn Sink,
) -> i64 {
    if let Some(begin) = landmarks.iter().filter_map(|found| found.run_begin_ps).min() {
        return begin;
    }
    let what = "the trace does not state the start of the run; time starts at the first record";
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
fn read_core<'s>(
    core: &CoreProgram<'_>,
    segments: &[RecordSegment<'_>],
    landmarks: Landmarks<'s>,
    names: &SemaphoreNames,
    space: Space<'s>,
    out: &mut NtffOutput<'_>,
) -> Result<Counts, Error> {
    let mut unknown = UnknownRecords::default();
    let mut packets =
        PacketReader::new(core, &of_kind(segments, SegmentKind::Dma), space, &mut unknown, out)?;
    let mut dma = DmaWriter::new(core, out)?;
    let transfers = dma.packets(&mut packets, space, out)?;
    packets.found.tell(&mut unknown, out)?;
    // Transfers come before the instructions, because rows of their triggers show their size.
    let transfers = dma.transfers(transfers, landmarks.triggers.finish()?, space, out)?;
    out.part_done(bytes_of(segments, SegmentKind::Dma));

    landmarks.found.tell(&mut unknown, out)?;
    let blocks = RecordBlock::of(&of_kind(segments, SegmentKind::Instruction));
    let mut executions = ExecutionReader::new(core, blocks, landmarks.floors, space);
    let instructions = instruction::write(core, &mut executions, &transfers, names, space, out)?;
    let ExecutionReader { last_end_ps, found, .. } = executions;
    found.tell(&mut unknown, out)?;
    out.part_done(bytes_of(segments, SegmentKind::Instruction));

    let (mut events, found) = EventReader::new(core, &of_kind(segments, SegmentKind::Event), space)?;
    found.tell(&mut unknown, out)?;
    let event_records = events.write(names, out)?;
    events.found.tell(&mut unknown, out)?;
    out.part_done(bytes_of(segments, SegmentKind::Event));

    for bytes in of_kind(segments, SegmentKind::Throttle) {
        throttle::read(core, bytes, last_end_ps, out)?;
    }
    for segment in segments.iter().filter(|s| matches!(s.kind, SegmentKind::Error | SegmentKind::Unknown)) {
        for (number, record) in records(segment.bytes) {
            out.record_read();
            unknown.keep(out.sink, segment.kind.title(), number, &record)?;
        }
    }
    let others = [SegmentKind::Throttle, SegmentKind::Error, SegmentKind::Unknown];
    out.part_done(others.into_iter().map(|kind| bytes_of(segments, kind)).sum());
    Ok(Counts { instructions, dma_rows: dma.rows, events: event_records, last_end_ps })
}

/// Number of bytes of the segments of a kind.
fn bytes_of(segments: &[RecordSegment<'_>], kind: SegmentKind) -> u64 {
    of_kind(segments, kind).into_iter().map(|bytes| bytes.len() as u64).sum()
}
