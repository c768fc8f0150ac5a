//! Use of the on-chip memories: table `instruction_usage`.
//!
//! Bytes of the state buffer are live from the start of their writer to the end of their last
//! reader. If nobody reads them, they are live to the end of the writer. A bank of the partial-sum
//! buffer is full from the first product into it to the end of the last read. Bytes loaded by
//! transfers that were set up during the run do not count, and reads by transfers do not count as
//! reads. The trace has no end of such transfers.

use std::ops::Range;

use nprof_engine::base::in_memory;
use nprof_engine::model::{FieldId, Filled, NumberBits, TemplateValue, TrackId, Value};
use nprof_engine::spill::{Scratch, Sorter, Space};

use super::core::{CoreProgram, NtffOutput};
use super::decoder::DecodedInstruction;
use super::effect::Region;
use super::execution::Executed;
use super::region::MemoryRegions;
use super::step::{CounterStep, Moments};
use super::transfer::{TransferCursor, TransferRow, Transfers};
use super::word::Opcode;
use crate::error::Error;
use nprof_engine::makers::neuron::CounterTrack;
use nprof_engine::makers::neuron::schema::{INSTRUCTION_USAGE, InstructionUsage};

/// Bytes of each partition of the state buffer.
const SBUF_PARTITION_BYTES: f32 = 196_608.0;
/// Bytes of a bank of the partial-sum buffer, per partition.
const PSUM_BANK_BYTES: u64 = 2048;
/// Number of banks of the partial-sum buffer.
const PSUM_BANKS: usize = 8;

/// Bytes of the state buffer that were written together.
#[derive(Debug, Clone, Copy)]
enum Live {
    /// Live from a start to at least the writer's end.
    Since { start_ps: i64, writer_end_ps: i64, read_end_ps: Option<i64> },
    /// Written by a transfer whose end is not known.
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

/// Follows the memories. Takes the executions in the order of their starts.
pub struct MemoryUsage<'p, 's> {
    transfers: TransferCursor<'p, 's>,
    /// The last static transfer that has started.
    loading: Option<TransferRow>,
    sbuf: MemoryRegions<Live>,
    /// Changes of the number of live bytes.
    sbuf_steps: Sorter<CounterStep, &'s dyn Scratch>,
    banks: [Option<OpenBank>; PSUM_BANKS],
    /// Changes of the number of full banks.
    psum_steps: Sorter<CounterStep, &'s dyn Scratch>,
    /// The highest bank that was ever full.
    highest_bank: Option<u8>,
}

impl<'p, 's> MemoryUsage<'p, 's> {
    /// The state before the first execution.
    pub fn new(transfers: &'p Transfers<'s>, space: Space<'s>) -> Result<Self, Error> {
        Ok(Self {
            transfers: TransferCursor::new(transfers)?,
            loading: None,
            sbuf: MemoryRegions::default(),
            sbuf_steps: space.sorter(8),
            banks: [None; PSUM_BANKS],
            psum_steps: space.sorter(8),
            highest_bank: None,
        })
    }

    /// Takes the next execution.
    pub fn step(&mut self, run: &Executed, decoded: &DecodedInstruction) -> Result<(), Error> {
        while let Some(started) = self.transfers.next_if(|next| next.start_ps <= run.start_ps)? {
            self.loading = Some(started);
        }
        let is_transfer = decoded.opcode == Opcode::DmaDirect2d;
        match &decoded.effect.read {
            Some(Region::Sbuf(_)) if is_transfer => {}
            Some(Region::Sbuf(range)) => {
                self.read_sbuf(decoded.effect.counted_read.as_ref().unwrap_or(range), run);
            }
            Some(Region::Psum(range)) => {
                let banks = self.banks.iter_mut().skip(first_bank(range)).take(bank_count(range));
                for bank in banks.flatten() {
                    bank.read_end_ps = bank.read_end_ps.max(Some(run.end_ps));
                }
            }
            None => {}
        }
        match &decoded.effect.write {
            Some(Region::Sbuf(range)) if is_transfer => self.replace(range, Live::NotCounted),
            Some(Region::Sbuf(range)) => {
                let (start_ps, writer_end_ps) = (run.start_ps, run.end_ps);
                self.replace(range, Live::Since { start_ps, writer_end_ps, read_end_ps: None })
            }
            Some(Region::Psum(range)) => self.fill_banks(range, run),
            None => Ok(()),
        }
    }

    fn read_sbuf(&mut self, range: &Range<u64>, run: &Executed) {
        if let Some(live) = self.sbuf.exactly(range) {
            live.read_until(run.end_ps);
            return;
        }
        let mut at = range.start;
        let mut pieces = self.sbuf.take(range);
        // Bytes without a writer must come from the last static transfer before.
        if let Some(transfer) = self.loading {
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

    fn replace(&mut self, range: &Range<u64>, live: Live) -> Result<(), Error> {
        if let Some(old) = self.sbuf.exactly(range) {
            let old = std::mem::replace(old, live);
            return self.sbuf_done(range, old);
        }
        for (piece, old) in self.sbuf.take(range) {
            self.sbuf_done(&piece, old)?;
        }
        self.sbuf.put(range.clone(), live);
        Ok(())
    }

    fn fill_banks(&mut self, range: &Range<u64>, run: &Executed) -> Result<(), Error> {
        let first = first_bank(range);
        for number in first..first.saturating_add(bank_count(range)).min(PSUM_BANKS) {
            match &mut self.banks[number] {
                // Another product into the same sums.
                Some(bank) if bank.read_end_ps.is_none() => {
                    bank.writer_end_ps = bank.writer_end_ps.max(run.end_ps);
                }
                bank => {
                    let fresh =
                        OpenBank { start_ps: run.start_ps, writer_end_ps: run.end_ps, read_end_ps: None };
                    if let Some(old) = bank.replace(fresh) {
                        self.bank_done(number, old)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Counts bytes that have been replaced.
    fn sbuf_done(&mut self, piece: &Range<u64>, live: Live) -> Result<(), Error> {
        let Live::Since { start_ps, writer_end_ps, read_end_ps } = live else { return Ok(()) };
        let bytes = i64::try_from(piece.end - piece.start).unwrap_or(0);
        self.sbuf_steps.push(CounterStep { time_ps: start_ps, what: 0, by: bytes })?;
        let end_ps = read_end_ps.unwrap_or(writer_end_ps);
        Ok(self.sbuf_steps.push(CounterStep { time_ps: end_ps, what: 0, by: -bytes })?)
    }

    /// Counts a bank that has been filled again.
    fn bank_done(&mut self, number: usize, bank: OpenBank) -> Result<(), Error> {
        let what = u8::try_from(number).unwrap_or(u8::MAX);
        self.highest_bank = self.highest_bank.max(Some(what));
        self.psum_steps.push(CounterStep { time_ps: bank.start_ps, what, by: 1 })?;
        let end_ps = bank.read_end_ps.unwrap_or(bank.writer_end_ps);
        Ok(self.psum_steps.push(CounterStep { time_ps: end_ps, what, by: -1 })?)
    }

    /// Writes the table, after all executions.
    pub fn write(mut self, core: &CoreProgram<'_>, out: &mut NtffOutput<'_>) -> Result<(), Error> {
        for (piece, live) in std::mem::take(&mut self.sbuf).into_pieces() {
            self.sbuf_done(&piece, live)?;
        }
        for (number, bank) in std::mem::take(&mut self.banks).into_iter().enumerate() {
            bank.map_or(Ok(()), |bank| self.bank_done(number, bank))?;
        }
        write_sbuf(core, Moments::new(self.sbuf_steps.finish()?)?, out)?;
        match self.highest_bank {
            Some(highest) => write_psum(core, highest, Moments::new(self.psum_steps.finish()?)?, out),
            None => Ok(()),
        }
    }
}

fn first_bank(range: &Range<u64>) -> usize {
    in_memory(range.start / PSUM_BANK_BYTES)
}

fn bank_count(range: &Range<u64>) -> usize {
    let after = range.end.div_ceil(PSUM_BANK_BYTES);
    in_memory(after - range.start / PSUM_BANK_BYTES)
}

fn write_sbuf(
    core: &CoreProgram<'_>,
    mut moments: Moments<'_>,
    out: &mut NtffOutput<'_>,
) -> Result<(), Error> {
    if moments.is_over() {
        return Ok(());
    }
    let handles = InstructionUsage::define(out.sink)?;
    let track: TrackId = out.counter(core, CounterTrack::SbufUsage)?;
    let kind = out.sink.name("sb")?;
    let partitions = [
        handles.partition_0_usage,
        handles.partition_32_usage,
        handles.partition_64_usage,
        handles.partition_96_usage,
    ];
    let mut parts = vec![(handles.kind, TemplateValue::Fixed(Value::Name(kind)))];
    parts.extend(partitions.map(|field| (field, TemplateValue::Float(0))));
    let template = out.sink.template(handles.table, &parts)?;
    let mut live_bytes = 0_i64;
    while let Some(time_ps) = moments.next(|step| live_bytes += step.by)? {
        #[expect(clippy::cast_precision_loss, reason = "a partition's bytes are far below 2^24")]
        let share = f64::from(live_bytes as f32 / SBUF_PARTITION_BYTES);
        let numbers = [NumberBits::from(share)];
        out.sink.sample_by(Filled { template, numbers: &numbers }, track, time_ps, share)?;
    }
    Ok(())
}

fn write_psum(
    core: &CoreProgram<'_>,
    highest: u8,
    mut moments: Moments<'_>,
    out: &mut NtffOutput<'_>,
) -> Result<(), Error> {
    let handles = InstructionUsage::define(out.sink)?;
    let track: TrackId = out.counter(core, CounterTrack::PsumUsage)?;
    let kind = out.sink.name("psum")?;
    let mut banks: Vec<FieldId> = Vec::new();
    for bank in 0..=highest {
        let spec = INSTRUCTION_USAGE.field(&format!("bank_{bank}_usage"));
        banks.push(out.sink.field(handles.table, spec)?);
    }
    let mut parts = vec![(handles.kind, TemplateValue::Fixed(Value::Name(kind)))];
    parts.extend((0..).zip(&banks).map(|(place, &field)| (field, TemplateValue::Int(place))));
    let template = out.sink.template(handles.table, &parts)?;
    let mut full = [0_i64; PSUM_BANKS];
    while let Some(time_ps) = moments.next(|step| full[usize::from(step.what)] += step.by)? {
        let in_use = full.map(|count| count.clamp(0, 1));
        #[expect(clippy::cast_precision_loss, reason = "at most eight banks")]
        let share = in_use.iter().sum::<i64>() as f64 / PSUM_BANKS as f64;
        let numbers = in_use.map(NumberBits::from);
        let filled = Filled { template, numbers: &numbers[..banks.len()] };
        out.sink.sample_by(filled, track, time_ps, share)?;
    }
    Ok(())
}
