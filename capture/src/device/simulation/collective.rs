//! Collective operations: each rank arrives, waits for the last one, and all leave together.

use nprof_engine::base::time::PS_PER_NS;
use nprof_engine::base::{Interval, Result};
use nprof_engine::model::{FieldId, Sink, SliceKey, Value};

use super::device_tracks::{ADVANCES, CollectiveTracks};
use super::program::COLLECTIVE;
use super::rig::Rig;
use super::schedule::{LayerPart, RankPhase};
use super::tile::{body_of, bytes_per_second};
use nprof_engine::makers::neuron::Engine;

/// Time that the GpSimd engine needs to start an operation.
const TRIGGER_PS: i64 = 50_000;

/// Bytes of an element, of type bf16.
const ELEMENT_BYTES: i64 = 2;

impl CollectiveTracks {
    /// Emits the operation of a phase with the instruction that starts it, and the cores' work.
    pub(super) fn exchange(&self, phase: &RankPhase, rig: &mut Rig<'_>, sink: &mut dyn Sink) -> Result<()> {
        let body = body_of(phase);
        let trigger_start = phase.arrival - TRIGGER_PS;
        let trigger = rig.op(body, COLLECTIVE, Interval::lasting(trigger_start, TRIGGER_PS), 0, sink)?;
        let op = self.operation(phase, rig, sink)?;
        sink.link(trigger, op, rig.links.collective)?;
        for &(core, track) in &self.cores {
            let fields = [
                (self.steps.core_idx, Value::Int(i64::from(core))),
                (self.steps.trigger_engine, Value::Text(Engine::GpSimd.name())),
                (self.steps.trigger_start_ts, Value::Int(trigger_start / PS_PER_NS)),
                (self.steps.op_id, Value::Int(phase.number.cast_signed())),
            ];
            let wait = Interval::new(phase.arrival, phase.last_arrival);
            rig.slice(track, wait, self.wait, &fields, sink)?;
            let step = (phase.end - phase.last_arrival) / ADVANCES;
            for advance in 0..ADVANCES {
                let span = Interval::lasting(phase.last_arrival + advance * step, step);
                rig.slice(track, span, self.advance, &fields, sink)?;
            }
        }
        Ok(())
    }

    /// Emits the operation alone.
    pub(super) fn operation(
        &self,
        phase: &RankPhase,
        rig: &mut Rig<'_>,
        sink: &mut dyn Sink,
    ) -> Result<SliceKey> {
        let name = sink.name(phase.part.collective())?;
        let fields = self.fields(phase, phase.arrival - TRIGGER_PS);
        rig.slice(self.stream, Interval::new(phase.arrival, phase.end), name, &fields, sink)
    }

    fn fields(&self, phase: &RankPhase, trigger_start: i64) -> [(FieldId, Value<'_>); 17] {
        let output = phase.part.collective_bytes();
        // Data crosses the links once for a gather. A reduce crosses twice, to reduce and to spread
        // the result.
        let (input, crossings, algorithm) = match phase.part {
            LayerPart::Attention => (output / self.ranks, 1, "Ring"),
            LayerPart::Mlp => (output, 2, "Mesh"),
        };
        let rate = bytes_per_second(output, phase.end - phase.arrival);
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
            (of.cc_trigger_start_delay, Value::Int(TRIGGER_PS / PS_PER_NS)),
            (of.rank_wait_time, Value::Int((phase.last_arrival - phase.arrival) / PS_PER_NS)),
            (of.op_id, Value::Int(phase.number.cast_signed())),
            (of.stream_id, Value::Int(0)),
            (of.stream_index, Value::Int(0)),
            (of.pcore_idx, Value::Int(0)),
        ]
    }
}
