//! Collective operations: each rank arrives, waits for the last one, and all leave together.

use nprof_engine::base::time::PS_PER_NS;
use nprof_engine::base::{Interval, Result};
use nprof_engine::makers::neuron::Engine;
use nprof_engine::model::{FieldId, Sink, SliceKey, Value};

use super::device_tracks::{ADVANCES, CollectiveTracks};
use super::job::RankMeeting;
use super::op::COLLECTIVE;
use super::phase::{COLLECTIVE_PS, COLLECTIVE_SET_PS};
use super::place::{LayerPart, PhasePlace};
use super::plan::EngineRun;
use super::rig::Rig;
use super::semaphore::Semaphore;
use super::transfer::bytes_per_second;

/// Bytes of an element, of type bf16.
const ELEMENT_BYTES: i64 = 2;

impl CollectiveTracks {
    /// Emits the operation of a phase with the instruction that starts it, and the cores' work.
    pub(super) fn exchange(
        &self,
        place: &PhasePlace,
        meeting: &RankMeeting,
        rig: &mut Rig<'_>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let trigger_start = meeting.arrival - COLLECTIVE_PS;
        let run = EngineRun { span: Interval::lasting(trigger_start, COLLECTIVE_PS), wait_ps: 0 };
        let trigger = rig.op(place.body(), COLLECTIVE, place.part.tiles(), run, sink)?;
        let op = self.operation(place, meeting, rig, sink)?;
        sink.link(trigger, op, rig.links.collective)?;
        for &(core, track) in &self.cores {
            let fields = [
                (self.steps.core_idx, Value::Int(i64::from(core))),
                (self.steps.trigger_engine, Value::Text(Engine::GpSimd.name())),
                (self.steps.trigger_start_ts, Value::Int(trigger_start / PS_PER_NS)),
                (self.steps.op_id, Value::Int(place.number.cast_signed())),
            ];
            let wait = Interval::new(meeting.arrival, meeting.last_arrival);
            rig.slice(track, wait, self.wait, &fields, sink)?;
            let step = (meeting.end - meeting.last_arrival) / ADVANCES;
            for advance in 0..ADVANCES {
                // A rank whose links are not the slow ones moves its part in time and then waits.
                let span = Interval::lasting(meeting.last_arrival + advance * step, step / meeting.ahead);
                rig.slice(track, span, self.advance, &fields, sink)?;
            }
        }
        rig.change(Semaphore::Collective, meeting.end + COLLECTIVE_SET_PS, 1, "CC", sink)
    }

    /// Emits the operation alone.
    pub(super) fn operation(
        &self,
        place: &PhasePlace,
        meeting: &RankMeeting,
        rig: &mut Rig<'_>,
        sink: &mut dyn Sink,
    ) -> Result<SliceKey> {
        let name = sink.name(place.part.collective())?;
        let fields = self.fields(place, meeting);
        rig.slice(self.stream, Interval::new(meeting.arrival, meeting.end), name, &fields, sink)
    }

    fn fields(&self, place: &PhasePlace, meeting: &RankMeeting) -> [(FieldId, Value<'_>); 17] {
        let trigger_start = meeting.arrival - COLLECTIVE_PS;
        let output = place.part.collective_bytes();
        // Data crosses the links once for a gather. A reduce crosses twice, to reduce and to spread
        // the result.
        let (input, crossings, algorithm) = match place.part {
            LayerPart::Attention => (output / self.ranks, 1, "Ring"),
            LayerPart::Mlp => (output, 2, "Mesh"),
        };
        let rate = bytes_per_second(output, meeting.end - meeting.arrival);
        let of = &self.ops;
        [
            (of.algorithm, Value::Text(algorithm)),
            (of.dtype, Value::Text("bf16")),
            (of.num_elements, Value::Int(input / ELEMENT_BYTES)),
            (of.input_size, Value::Int(input)),
            (of.output_size, Value::Int(output)),
            (of.algorithm_bandwidth, Value::Int(rate)),
            (of.bus_bandwidth, Value::Int(rate / self.ranks * (self.ranks - 1) * crossings)),
            (of.replica_group, Value::Text(&self.replica_group)),
            (of.replica_group_id, Value::Int(0)),
            (of.trigger_engine, Value::Text(Engine::GpSimd.name())),
            (of.trigger_start_ts, Value::Int(trigger_start / PS_PER_NS)),
            (of.cc_trigger_start_delay, Value::Int(COLLECTIVE_PS / PS_PER_NS)),
            (of.rank_wait_time, Value::Int((meeting.last_arrival - meeting.arrival) / PS_PER_NS)),
            (of.op_id, Value::Int(place.number.cast_signed())),
            (of.stream_id, Value::Int(0)),
            (of.stream_index, Value::Int(0)),
            (of.pcore_idx, Value::Int(0)),
        ]
    }
}
