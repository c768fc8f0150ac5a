//! Data rate over time, with a step at each start and end of a packet.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use nprof_engine::base::clamped;
use nprof_engine::model::{Filled, NumberBits, TemplateId, TemplateValue, TrackId, Value};

use super::core::{CoreProgram, NtffOutput};
use super::packet::{Packet, transfer_rate};
use crate::error::Error;
use nprof_engine::makers::neuron::CounterTrack;
use nprof_engine::makers::neuron::schema::DmaThroughput;

/// Smallest distance of two points. Closer ones are left out.
const MIN_DISTANCE_PS: i64 = 10_000;

/// Table `dma_throughput`, written while packets arrive ordered by start. Edges at the same time
/// make one step.
#[derive(Debug)]
pub struct Throughput {
    template: TemplateId,
    track: TrackId,
    /// End, start and size of the packets in flight.
    in_flight: BinaryHeap<Reverse<(i64, i64, u32)>>,
    /// Total rate of the packets in flight, in bytes a second.
    rate: f64,
    total_bytes: u64,
    /// Time of the last edge.
    now: Option<i64>,
    last_written_ps: Option<i64>,
}

impl Throughput {
    /// Throughput of a core that has packets.
    pub fn new(core: &CoreProgram<'_>, out: &mut NtffOutput<'_>) -> Result<Self, Error> {
        let handles = DmaThroughput::define(out.sink)?;
        let track = out.counter(core, CounterTrack::DmaThroughput)?;
        let no = out.sink.name("false")?;
        let in_flight = BinaryHeap::new();
        let parts = [
            (handles.total_transfer_bytes, TemplateValue::Int(0)),
            (handles.hbm_transfer_rate, TemplateValue::Fixed(Value::Int(0))),
            (handles.hbm_total_transfer_bytes, TemplateValue::Fixed(Value::Int(0))),
            (handles.uses_hbm, TemplateValue::Fixed(Value::Name(no))),
        ];
        Ok(Self {
            template: out.sink.template(handles.table, &parts)?,
            track,
            in_flight,
            rate: 0.0,
            total_bytes: 0,
            now: None,
            last_written_ps: None,
        })
    }

    /// Takes the next packet.
    pub fn packet(&mut self, packet: &Packet, out: &mut NtffOutput<'_>) -> Result<(), Error> {
        let Packet { start_ps, end_ps: Reverse(end_ps), size_bytes, .. } = *packet;
        self.end_before(start_ps, out)?;
        self.edge(start_ps, out)?;
        self.rate += rate(start_ps, end_ps, size_bytes);
        self.total_bytes += u64::from(size_bytes);
        self.in_flight.push(Reverse((end_ps, start_ps, size_bytes)));
        Ok(())
    }

    /// Writes the last steps, after all packets.
    pub fn finish(mut self, out: &mut NtffOutput<'_>) -> Result<(), Error> {
        self.end_before(i64::MAX, out)?;
        self.write(out)
    }

    /// Ends the packets that end before this time.
    fn end_before(&mut self, moment_ps: i64, out: &mut NtffOutput<'_>) -> Result<(), Error> {
        while let Some(&Reverse((end_ps, start_ps, size_bytes))) = self.in_flight.peek() {
            if end_ps >= moment_ps {
                break;
            }
            self.edge(end_ps, out)?;
            self.in_flight.pop();
            self.rate -= rate(start_ps, end_ps, size_bytes);
        }
        Ok(())
    }

    /// Begins a step, unless there is one at this time.
    fn edge(&mut self, moment_ps: i64, out: &mut NtffOutput<'_>) -> Result<(), Error> {
        if self.now != Some(moment_ps) {
            self.write(out)?;
            self.now = Some(moment_ps);
        }
        Ok(())
    }

    fn write(&mut self, out: &mut NtffOutput<'_>) -> Result<(), Error> {
        let Some(now) = self.now else { return Ok(()) };
        if self.in_flight.is_empty() {
            // Rates have 24 significant bits, so the sum of millions is exact and this changes
            // nothing. Rates of absurd packets can leave a rest, which must not stay.
            self.rate = 0.0;
        }
        if self.last_written_ps.is_some_and(|last| now - last < MIN_DISTANCE_PS) {
            return Ok(());
        }
        self.last_written_ps = Some(now);
        #[expect(clippy::cast_possible_truncation, reason = "the table has single precision")]
        let shown = f64::from(self.rate as f32);
        let numbers = [NumberBits::from(clamped(self.total_bytes))];
        let filled = Filled { template: self.template, numbers: &numbers };
        Ok(out.sink.sample_by(filled, self.track, now, shown)?)
    }
}

fn rate(start_ps: i64, end_ps: i64, size_bytes: u32) -> f64 {
    f64::from(transfer_rate(u64::from(size_bytes), end_ps - start_ps))
}
