//! How many transfers have been set off and not completed.

use super::core::{Core, Output};
use super::decoded::Decoder;
use super::dma::Transfer;
use super::instruction::Executed;
use crate::formats::Error;
use crate::formats::neuron::schema::{CounterTrack, PendingDma};

/// Writes table `pending_dma`: up at each trigger, down at the end of a static transfer. The end of a transfer that was
/// set up during the run is not in the trace, so it stays pending.
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
    let starts_transfer = |run: &&Executed| {
        decoder.known(run.engine, run.pc).is_some_and(|decoded| decoded.completion.is_some())
    };
    let mut steps: Vec<(i64, i64)> =
        executed.iter().filter(starts_transfer).map(|run| (run.start_ps, 1)).collect();
    for transfer in transfers {
        let Some(trigger) = transfer.trigger else { continue };
        steps.push((trigger.start_ps - core.origin_ps, 1));
        steps.push((transfer.end_ps, -1));
    }
    if steps.is_empty() {
        return Ok(());
    }
    steps.sort_unstable();
    PendingDma::define(out.sink)?;
    let track = out.counter(core, CounterTrack::PendingDmas)?;
    let mut pending = 0_i64;
    for (time_ps, step) in steps {
        pending += step;
        #[expect(clippy::cast_precision_loss, reason = "a count far below 2^53")]
        out.sink.sample(track, time_ps, pending as f64, &[])?;
    }
    Ok(())
}
