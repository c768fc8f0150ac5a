//! Counters of pending transfers and of throughput, which several queues change at a time.

use nprof_engine::base::Result;
use nprof_engine::makers::neuron::schema::DmaThroughput;
use nprof_engine::model::{Sink, TrackId, Value};

use super::plan::MovePlan;

/// A change of both counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct CounterChange {
    time: i64,
    /// Transfers that begin less those that end.
    pending: i64,
    /// Bytes a second that begin less those that end.
    rate: i64,
    /// Bytes of transfers that begin.
    bytes: i64,
    tells: ToldCounter,
}

/// The counter that a change tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ToldCounter {
    Pending,
    Throughput,
}

/// Changes that are not told yet, because others can come before them.
#[derive(Debug)]
pub(super) struct TransferCounters {
    pending: TrackId,
    throughput: TrackId,
    table: DmaThroughput,
    changes: Vec<CounterChange>,
    transfers: i64,
    rate: i64,
    bytes: i64,
}

impl TransferCounters {
    pub(super) fn new(pending: TrackId, throughput: TrackId, table: DmaThroughput) -> Self {
        Self { pending, throughput, table, changes: Vec::new(), transfers: 0, rate: 0, bytes: 0 }
    }

    /// Adds a transfer that moves its bytes at this rate in bytes a second.
    pub(super) fn add(&mut self, plan: &MovePlan, rate: i64) {
        let none = CounterChange { time: 0, pending: 0, rate: 0, bytes: 0, tells: ToldCounter::Pending };
        self.changes.extend([
            CounterChange { time: plan.trigger.span.start.0, pending: 1, ..none },
            CounterChange {
                time: plan.span.start.0,
                rate,
                bytes: plan.bytes,
                tells: ToldCounter::Throughput,
                ..none
            },
            CounterChange { time: plan.span.end.0, rate: -rate, tells: ToldCounter::Throughput, ..none },
            CounterChange { time: plan.done(), pending: -1, ..none },
        ]);
    }

    /// Tells the changes before `time`, before which no transfer begins any more. Returns their
    /// number.
    pub(super) fn tell_before(&mut self, time: i64, sink: &mut dyn Sink) -> Result<u64> {
        self.changes.sort_unstable();
        let told = self.changes.partition_point(|change| change.time < time);
        for change in self.changes.drain(..told) {
            self.transfers += change.pending;
            self.rate += change.rate;
            self.bytes += change.bytes;
            match change.tells {
                ToldCounter::Pending => sink.sample(self.pending, change.time, float(self.transfers), &[])?,
                ToldCounter::Throughput => {
                    let fields = [(self.table.total_transfer_bytes, Value::Int(self.bytes))];
                    sink.sample(self.throughput, change.time, float(self.rate), &fields)?;
                }
            }
        }
        Ok(told as u64)
    }
}

#[expect(clippy::cast_precision_loss, reason = "both are far below 2^53")]
fn float(number: i64) -> f64 {
    number as f64
}
