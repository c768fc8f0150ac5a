//! How full the on-chip memories are: table `instruction_usage`.
//!
//! Bytes of the state buffer are live from the start of their writer to the end of their last reader, or of the writer
//! where nobody reads them. A bank of the partial-sum buffer is full from the first product into it to the end of the
//! last read. What transfers set up during the run load is not counted, and what transfers read does not count as
//! read: the trace does not say when they end.

use std::ops::Range;

use nprof_engine::model::{FieldId, TrackId, Value};

use super::core::{Core, Output};
use super::decoded::{Decoded, Decoder};
use super::dma::Transfer;
use super::effect::Region;
use super::instruction::Executed;
use super::region::Regions;
use super::word::Opcode;
use crate::formats::Error;
use crate::formats::neuron::schema::{CounterTrack, INSTRUCTION_USAGE, InstructionUsage};

/// Bytes of the state buffer in each of its partitions.
const SBUF_PARTITION_BYTES: f32 = 196_608.0;
/// Bytes of a bank of the partial-sum buffer in each partition.
const PSUM_BANK_BYTES: u64 = 2048;
/// Banks of the partial-sum buffer.
const PSUM_BANKS: usize = 8;

/// Bytes of the state buffer that were written together.
#[derive(Debug, Clone, Copy)]
enum Live {
    /// From a moment to at least another.
    Since { start_ps: i64, writer_end_ps: i64, read_end_ps: Option<i64> },
    /// By a transfer whose end is not known.
    NotCounted,
}

impl Live {
    fn read_until(&mut self, until_ps: i64) {
        if let Self::Since { read_end_ps, .. } = self {
            *read_end_ps = (*read_end_ps).max(Some(until_ps));
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct OpenBank {
    start_ps: i64,
    writer_end_ps: i64,
    read_end_ps: Option<i64>,
}

#[derive(Debug, Default)]
struct Usage {
    sbuf: Regions<Live>,
    /// Moments and how many bytes become live or dead.
    sbuf_steps: Vec<(i64, i64)>,
    open: [Option<OpenBank>; PSUM_BANKS],
    /// Moments, banks and whether they fill or drain.
    psum_steps: Vec<(i64, usize, i64)>,
}

/// Writes the table. `executed` and `transfers` are in the order of starts.
///
/// # Errors
/// The sink's own.
pub fn write(
    core: &Core<'_>,
    executed: &[Executed],
    decoder: &Decoder,
    transfers: &[Transfer],
    out: &mut Output<'_>,
) -> Result<(), Error> {
    let mut usage = Usage::default();
    for run in executed {
        if let Some(decoded) = decoder.known(run.engine, run.pc) {
            usage.step(run, decoded, transfers);
        }
    }
    usage.finish();
    let Usage { sbuf_steps, psum_steps, .. } = usage;
    write_sbuf(core, sbuf_steps, out)?;
    write_psum(core, psum_steps, out)
}

impl Usage {
    fn step(&mut self, run: &Executed, decoded: &Decoded, transfers: &[Transfer]) {
        let is_transfer = decoded.opcode == Opcode::DmaDirect2d;
        match &decoded.effect.read {
            Some(Region::Sbuf(_)) if is_transfer => {}
            Some(Region::Sbuf(range)) => {
                let counted = decoded.effect.counted_read.clone().unwrap_or_else(|| range.clone());
                self.read_sbuf(&counted, run, transfers);
            }
            Some(Region::Psum(range)) => {
                let banks = self.open.iter_mut().skip(first_bank(range)).take(bank_count(range));
                for bank in banks.flatten() {
                    bank.read_end_ps = bank.read_end_ps.max(Some(run.end_ps));
                }
            }
            None => {}
        }
        match &decoded.effect.write {
            Some(Region::Sbuf(range)) => {
                let live = if is_transfer {
                    Live::NotCounted
                } else {
                    Live::Since { start_ps: run.start_ps, writer_end_ps: run.end_ps, read_end_ps: None }
                };
                self.replace(range, live);
            }
            Some(Region::Psum(range)) => self.fill_banks(range, run),
            None => {}
        }
    }

    fn read_sbuf(&mut self, range: &Range<u64>, run: &Executed, transfers: &[Transfer]) {
        if let Some(live) = self.sbuf.exactly(range) {
            live.read_until(run.end_ps);
            return;
        }
        let mut at = range.start;
        let mut pieces = self.sbuf.take(range);
        // What nobody wrote must come from the last static transfer before.
        let before = transfers.partition_point(|transfer| transfer.start_ps <= run.start_ps);
        if let Some(transfer) = before.checked_sub(1).map(|last| transfers[last]) {
            let loaded = Live::Since {
                start_ps: transfer.start_ps,
                writer_end_ps: transfer.end_ps,
                read_end_ps: None,
            };
            let mut gaps = Vec::new();
            for (piece, _) in &pieces {
                gaps.push((at..piece.start, loaded));
                at = piece.end;
            }
            gaps.push((at..range.end, loaded));
            pieces.extend(gaps.into_iter().filter(|(gap, _)| !gap.is_empty()));
        }
        for (piece, mut live) in pieces {
            live.read_until(run.end_ps);
            self.sbuf.put(piece, live);
        }
    }

    fn replace(&mut self, range: &Range<u64>, live: Live) {
        if let Some(old) = self.sbuf.exactly(range) {
            let old = std::mem::replace(old, live);
            self.sbuf_steps.extend(steps(range, old));
            return;
        }
        for (piece, old) in self.sbuf.take(range) {
            self.sbuf_steps.extend(steps(&piece, old));
        }
        self.sbuf.put(range.clone(), live);
    }

    fn fill_banks(&mut self, range: &Range<u64>, run: &Executed) {
        let banks = self.open.iter_mut().enumerate().skip(first_bank(range)).take(bank_count(range));
        for (number, open) in banks {
            match open {
                // More products into the same sums.
                Some(bank) if bank.read_end_ps.is_none() => {
                    bank.writer_end_ps = bank.writer_end_ps.max(run.end_ps);
                }
                _ => {
                    let fresh =
                        OpenBank { start_ps: run.start_ps, writer_end_ps: run.end_ps, read_end_ps: None };
                    if let Some(old) = open.replace(fresh) {
                        self.psum_steps.extend(bank_steps(number, &old));
                    }
                }
            }
        }
    }

    fn finish(&mut self) {
        for (piece, live) in std::mem::take(&mut self.sbuf).into_pieces() {
            self.sbuf_steps.extend(steps(&piece, live));
        }
        for (number, open) in self.open.iter().enumerate() {
            self.psum_steps.extend(open.iter().flat_map(|open| bank_steps(number, open)));
        }
        self.sbuf_steps.sort_unstable();
        self.psum_steps.sort_unstable();
    }
}

fn steps(piece: &Range<u64>, live: Live) -> impl Iterator<Item = (i64, i64)> {
    let bytes = i64::try_from(piece.end - piece.start).unwrap_or(0);
    let steps = match live {
        Live::Since { start_ps, writer_end_ps, read_end_ps } => {
            Some([(start_ps, bytes), (read_end_ps.unwrap_or(writer_end_ps), -bytes)])
        }
        Live::NotCounted => None,
    };
    steps.into_iter().flatten()
}

fn bank_steps(number: usize, bank: &OpenBank) -> [(i64, usize, i64); 2] {
    let end_ps = bank.read_end_ps.unwrap_or(bank.writer_end_ps);
    [(bank.start_ps, number, 1), (end_ps, number, -1)]
}

fn first_bank(range: &Range<u64>) -> usize {
    usize::try_from(range.start / PSUM_BANK_BYTES).unwrap_or(usize::MAX)
}

fn bank_count(range: &Range<u64>) -> usize {
    let after = range.end.div_ceil(PSUM_BANK_BYTES);
    usize::try_from(after - range.start / PSUM_BANK_BYTES).unwrap_or(usize::MAX)
}

fn write_sbuf(core: &Core<'_>, steps: Vec<(i64, i64)>, out: &mut Output<'_>) -> Result<(), Error> {
    if steps.is_empty() {
        return Ok(());
    }
    let handles = InstructionUsage::define(out.sink)?;
    let track: TrackId = out.counter(core, CounterTrack::SbufUsage)?;
    let partitions = [
        handles.partition_0_usage,
        handles.partition_32_usage,
        handles.partition_64_usage,
        handles.partition_96_usage,
    ];
    let mut live_bytes = 0_i64;
    for same_time in steps.chunk_by(|a, b| a.0 == b.0) {
        live_bytes += same_time.iter().map(|(_, bytes)| bytes).sum::<i64>();
        #[expect(clippy::cast_precision_loss, reason = "a partition's bytes are far below 2^24")]
        let share = f64::from(live_bytes as f32 / SBUF_PARTITION_BYTES);
        let mut fields = vec![(handles.kind, Value::Text("sb"))];
        fields.extend(partitions.map(|field| (field, Value::Float(share))));
        out.sink.sample(track, same_time[0].0, share, &fields)?;
    }
    Ok(())
}

fn write_psum(core: &Core<'_>, steps: Vec<(i64, usize, i64)>, out: &mut Output<'_>) -> Result<(), Error> {
    let Some(highest) = steps.iter().map(|&(_, bank, _)| bank).max() else { return Ok(()) };
    let handles = InstructionUsage::define(out.sink)?;
    let track: TrackId = out.counter(core, CounterTrack::PsumUsage)?;
    let mut banks: Vec<FieldId> = Vec::with_capacity(highest + 1);
    for bank in 0..=highest {
        let spec = INSTRUCTION_USAGE.field(&format!("bank_{bank}_usage"));
        banks.push(out.sink.field(handles.table, spec)?);
    }
    let mut full = [0_i64; PSUM_BANKS];
    for same_time in steps.chunk_by(|a, b| a.0 == b.0) {
        for &(_, bank, step) in same_time {
            full[bank] += step;
        }
        let in_use = full.map(|count| count.clamp(0, 1));
        #[expect(clippy::cast_precision_loss, reason = "at most eight banks")]
        let share = in_use.iter().sum::<i64>() as f64 / PSUM_BANKS as f64;
        let mut fields = vec![(handles.kind, Value::Text("psum"))];
        fields.extend(banks.iter().zip(in_use).map(|(&field, full)| (field, Value::Int(full))));
        out.sink.sample(track, same_time[0].0, share, &fields)?;
    }
    Ok(())
}
