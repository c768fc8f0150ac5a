//! Number of transfers that have been triggered and not completed.

use nprof_engine::model::{Filled, TrackId};
use nprof_engine::spill::{Scratch, Sorter, Space};

use super::core::{CoreProgram, NtffOutput};
use super::decoder::DecodedInstruction;
use super::execution::Executed;
use super::step::CounterStep;
use super::transfer::Transfers;
use crate::error::Error;
use nprof_engine::makers::neuron::CounterTrack;
use nprof_engine::makers::neuron::schema::PendingDma;

/// Table `pending_dma`: up at each trigger, down at the end of a static transfer. The trace has no
/// end of a transfer that was set up during the run, so such a transfer stays pending.
pub struct PendingTransfers<'s> {
    steps: Sorter<CounterStep, &'s dyn Scratch>,
    any: bool,
}

impl<'s> PendingTransfers<'s> {
    /// Starts with the static transfers.
    pub fn new(core: &CoreProgram<'_>, transfers: &Transfers<'s>, space: Space<'s>) -> Result<Self, Error> {
        let mut pending = Self { steps: space.sorter(8), any: false };
        let mut transfers = transfers.read();
        while let Some(transfer) = transfers.next()? {
            let Some(trigger) = transfer.trigger else { continue };
            pending.push(trigger.start_ps - core.origin_ps, 1)?;
            pending.push(transfer.end_ps, -1)?;
        }
        Ok(pending)
    }

    /// Takes an execution.
    pub fn step(&mut self, run: &Executed, decoded: &DecodedInstruction) -> Result<(), Error> {
        if decoded.completion.is_some() { self.push(run.start_ps, 1) } else { Ok(()) }
    }

    fn push(&mut self, time_ps: i64, by: i64) -> Result<(), Error> {
        self.any = true;
        Ok(self.steps.push(CounterStep { time_ps, what: 0, by })?)
    }

    /// Writes the table, after all executions.
    pub fn write(self, core: &CoreProgram<'_>, out: &mut NtffOutput<'_>) -> Result<(), Error> {
        if !self.any {
            return Ok(());
        }
        let table = PendingDma::define(out.sink)?.table;
        let track: TrackId = out.counter(core, CounterTrack::PendingDmas)?;
        let template = out.sink.template(table, &[])?;
        let mut steps = self.steps.finish()?;
        let mut pending = 0_i64;
        while let Some(step) = steps.next()? {
            pending += step.by;
            #[expect(clippy::cast_precision_loss, reason = "a count far below 2^53")]
            out.sink.sample_by(Filled { template, numbers: &[] }, track, step.time_ps, pending as f64)?;
        }
        Ok(())
    }
}
