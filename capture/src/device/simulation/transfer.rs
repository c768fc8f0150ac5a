//! Rows of a transfer: its trigger, itself, its packets, and the changes of its semaphore.

use nprof_engine::base::time::{PS_PER_NS, PS_PER_S};
use nprof_engine::base::{Result, signed};
use nprof_engine::makers::neuron::schema::{Dma, dma_name};
use nprof_engine::model::{FieldId, Sink, SliceKey, Value};

use super::op::FIRST_TRIGGER;
use super::plan::MovePlan;
use super::queue::{DMA_ENGINES, Move, QUEUES};
use super::rig::{AwaitedTransfer, Rig};

/// Cause of the changes that the end of a packet makes.
const BUS: &str = "AXI";

/// Numbers of the DMA engines as text.
static ENGINES: [&str; DMA_ENGINES as usize] =
    ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15"];

impl Rig<'_> {
    /// Emits a transfer of a body with its trigger.
    pub(super) fn moved(&mut self, body: usize, plan: &MovePlan, sink: &mut dyn Sink) -> Result<()> {
        let at = FIRST_TRIGGER + plan.kind.index();
        let fields = &mut self.bodies[body].ops[at].fields;
        let bytes = fields.len() - 2;
        for (_, value) in &mut fields[bytes..] {
            *value = Value::Int(plan.bytes);
        }
        let trigger = self.op(body, at, plan.slot, plan.trigger, sink)?;
        let key = self.transfer(body, plan, sink)?;
        sink.link(trigger, key, self.links.trigger)?;
        self.counters.add(plan, bytes_per_second(plan.bytes, plan.span.duration_ps()));
        let count = plan.kind.packets();
        for (number, &time) in plan.sets[..count].iter().enumerate() {
            let value = plan.condition.value - signed(count) + signed(number) + 1;
            self.change(plan.condition.semaphore, time, value, BUS, sink)?;
        }
        self.end = self.end.max(plan.done());
        self.arrivals.push(AwaitedTransfer { condition: plan.condition, transfer: key });
        Ok(())
    }

    fn transfer(&mut self, body: usize, plan: &MovePlan, sink: &mut dyn Sink) -> Result<SliceKey> {
        let queue = &QUEUES[plan.kind.queue()];
        let tensor = self.bodies[body].tensors.get(plan.kind.index()).map_or("", String::as_str);
        let name = sink.name(dma_name(tensor, queue.queue_type))?;
        let (id, dma) = (self.id(), self.tables.dma);
        let mut fields = std::mem::take(&mut self.scratch);
        fields.clear();
        fields.extend(of_both(&dma, plan.kind, tensor, plan.bytes, plan.span.duration_ps()));
        fields.extend([
            (dma.id, id),
            (dma.subgroup, Value::Text(queue.name)),
            (dma.aggregated, Value::Text("yes")),
            (dma.block_id, Value::Int(plan.slot)),
            (dma.trigger, Value::Int(plan.trigger.span.start.0 / PS_PER_NS)),
            (dma.completion, Value::Int(plan.done() / PS_PER_NS)),
        ]);
        let [source, dest] = plan.kind.ends();
        fields.extend([
            (dma.source, Value::Json(source)),
            (dma.dest, Value::Json(dest)),
            (dma.semaphore_id, Value::Text(&self.semaphore_ids[plan.condition.semaphore.index()])),
        ]);
        let key = self.slice(self.queues[plan.kind.queue()].transfers, plan.span, name, &fields, sink)?;

        let count = plan.kind.packets();
        let bytes = plan.bytes / signed(count);
        let subgroups = &self.subgroups[plan.kind.queue()];
        for (index, (engine, &span)) in ENGINES.iter().zip(&plan.packets).take(count).enumerate() {
            fields.clear();
            fields.extend(of_both(&dma, plan.kind, tensor, bytes, span.duration_ps()));
            fields.extend([
                (dma.id, self.id()),
                (dma.packet_aggregation_id, id),
                (dma.packet_idx, Value::Int(signed(index))),
                (dma.aggregated, Value::Text("no")),
                (dma.subgroup, Value::Text(&subgroups[index])),
                (dma.dma_engine, Value::Text(engine)),
            ]);
            let track = self.queues[plan.kind.queue()].packets[index];
            self.slice(track, span, name, &fields, sink)?;
        }
        fields.clear();
        self.scratch = fields;
        Ok(key)
    }
}

/// Fields that a transfer's row and the rows of its packets share.
fn of_both<'a>(
    dma: &Dma,
    kind: Move,
    tensor: &'a str,
    bytes: i64,
    duration_ps: i64,
) -> [(FieldId, Value<'a>); 9] {
    let queue = &QUEUES[kind.queue()];
    [
        (dma.variable, Value::Text(tensor)),
        (dma.op, Value::Text("copy")),
        (dma.transfer_size, Value::Int(bytes)),
        (dma.read_size, Value::Int(bytes)),
        (dma.write_size, Value::Int(bytes)),
        (dma.transfer_rate, Value::Int(bytes_per_second(bytes, duration_ps))),
        (dma.is_cc_dma, Value::Text("no")),
        (dma.dma_queue, Value::Text(queue.number_text)),
        (dma.queue_type, Value::Text(queue.queue_type)),
    ]
}

/// Rate in bytes a second that moves these bytes in this time.
pub(super) fn bytes_per_second(bytes: i64, duration_ps: i64) -> i64 {
    let rate = i128::from(bytes) * i128::from(PS_PER_S) / i128::from(duration_ps.max(1));
    i64::try_from(rate).unwrap_or(i64::MAX)
}
