//! Data rate over time: a step at each start and end of a packet.

use nprof_engine::model::Value;

use super::core::{Core, Output};
use super::dma::transfer_rate;
use crate::formats::Error;
use crate::formats::neuron::schema::{CounterTrack, DmaThroughput};

/// Points closer than this to the last one are left out.
const MIN_DISTANCE_PS: i64 = 10_000;

/// A packet in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flight {
    /// Since the origin.
    pub start_ps: i64,
    /// Since the origin; not before the start.
    pub end_ps: i64,
    /// Its bytes.
    pub size_bytes: u32,
}

impl Flight {
    fn rate(&self) -> f64 {
        f64::from(transfer_rate(u64::from(self.size_bytes), self.end_ps - self.start_ps))
    }
}

/// Writes table `dma_throughput`. Edges at the same moment make one step.
///
/// # Errors
/// The sink's own.
pub fn write(core: &Core<'_>, mut flights: Vec<Flight>, out: &mut Output<'_>) -> Result<(), Error> {
    if flights.is_empty() {
        return Ok(());
    }
    let handles = DmaThroughput::define(out.sink)?;
    let track = out.counter(core, CounterTrack::DmaThroughput)?;
    flights.sort_unstable();
    let mut starts = flights.iter().peekable();
    let mut in_flight = std::collections::BinaryHeap::new();
    let (mut rate, mut total_bytes, mut last_ps) = (0.0_f64, 0_u64, None);
    loop {
        let next_start = starts.peek().map(|flight| flight.start_ps);
        let next_end = in_flight.peek().map(|&std::cmp::Reverse((end_ps, _))| end_ps);
        let Some(now) = next_start.into_iter().chain(next_end).min() else { break };
        while let Some(flight) = starts.next_if(|flight| flight.start_ps == now) {
            rate += flight.rate();
            total_bytes += u64::from(flight.size_bytes);
            in_flight.push(std::cmp::Reverse((flight.end_ps, *flight)));
        }
        while let Some(&std::cmp::Reverse((end_ps, flight))) = in_flight.peek() {
            if end_ps != now {
                break;
            }
            in_flight.pop();
            rate -= flight.rate();
        }
        if in_flight.is_empty() {
            // Rates have 24 significant bits, so the sum of millions is exact and this changes nothing; rates of
            // absurd packets may leave a rest, which must not stay.
            rate = 0.0;
        }
        if last_ps.is_none_or(|last| now - last >= MIN_DISTANCE_PS) {
            last_ps = Some(now);
            #[expect(clippy::cast_possible_truncation, reason = "the table has single precision")]
            let shown = f64::from(rate as f32);
            let fields = [
                (handles.total_transfer_bytes, Value::Int(i64::try_from(total_bytes).unwrap_or(i64::MAX))),
                (handles.hbm_transfer_rate, Value::Int(0)),
                (handles.hbm_total_transfer_bytes, Value::Int(0)),
                (handles.uses_hbm, Value::Text("false")),
            ];
            out.sink.sample(track, now, shown, &fields)?;
        }
    }
    Ok(())
}
