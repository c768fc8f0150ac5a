//! DMA queues: the queue of each packet, and the side table of queues.

use nprof_engine::base::Result;
use nprof_engine::model::{Sink, Value};

use super::clock::DMA_ENGINES;
use super::container::text;
use super::core::CoreProgram;
use super::proto;
use nprof_engine::makers::neuron::schema::DmaQueuesInfo;

/// Number of queues of a DMA engine that records can name.
pub const QUEUES: usize = 16;

/// Code of a queue for weights.
const WEIGHTS: u32 = 2;

/// Producer of a queue's descriptors, as far as the file states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filling {
    /// The compiler: descriptors laid out in advance.
    Static,
    /// Software on the device, during the run.
    SoftwareDynamic,
    /// The loader of instructions and tables.
    Instruction,
}

impl Filling {
    /// All variants, in the order of their values.
    pub const ALL: [Self; 3] = [Self::Static, Self::SoftwareDynamic, Self::Instruction];

    /// The value of a row's `queue_type`.
    #[must_use]
    pub fn queue_type(self) -> &'static str {
        match self {
            Self::Static => "data",
            Self::SoftwareDynamic => "software_dynamic",
            Self::Instruction => "instruction",
        }
    }
}

/// A queue on one DMA engine.
#[derive(Debug)]
pub struct QueueRing<'a> {
    /// Name of the queue, as the vendor's tool shows it.
    pub name: String,
    /// Producer of the descriptors.
    pub filling: Filling,
    /// Packets that one trigger of each block makes here.
    pub blocks: &'a [proto::StaticBlock],
}

/// The queues of a core by DMA engine and number.
#[derive(Debug)]
pub struct Queues<'a> {
    rings: Vec<Option<QueueRing<'a>>>,
}

impl<'a> Queues<'a> {
    /// The queues of a core. Entries beyond the numbers of records are listed in the side table
    /// only.
    #[must_use]
    pub fn new(core: &CoreProgram<'a>) -> Self {
        let mut rings: Vec<Option<QueueRing<'a>>> = Vec::new();
        rings.resize_with(DMA_ENGINES * QUEUES, || None);
        for queue in &core.subgraph.queues {
            if let Some(slot) = slot(queue.dma_engine, queue.index).and_then(|slot| rings.get_mut(slot)) {
                let filling = match (queue.blocks.is_empty(), queue.kind) {
                    (false, _) => Filling::Static,
                    (true, WEIGHTS) => Filling::SoftwareDynamic,
                    (true, _) => Filling::Instruction,
                };
                let name = display_name(&text(&queue.name));
                *slot = Some(QueueRing { name, filling, blocks: &queue.blocks });
            }
        }
        Self { rings }
    }

    /// The queue with this number on this DMA engine, if the program declares it.
    #[must_use]
    pub fn ring(&self, dma_engine: u8, number: u8) -> Option<&QueueRing<'a>> {
        self.rings.get(slot(u32::from(dma_engine), u32::from(number))?)?.as_ref()
    }
}

fn slot(dma_engine: u32, number: u32) -> Option<usize> {
    let (engine, number) = (usize::try_from(dma_engine).ok()?, usize::try_from(number).ok()?);
    (engine < DMA_ENGINES && number < QUEUES).then_some(engine * QUEUES + number)
}

/// Name of a queue with the engines' usual names. The runtime uses the hardware's names.
fn display_name(name: &str) -> String {
    for (hardware, engine) in [("qPool", "qGpSimd"), ("qSP", "qSync"), ("qAct", "qScalar")] {
        if let Some(rest) = name.strip_prefix(hardware) {
            return format!("{engine}{rest}");
        }
    }
    name.to_owned()
}

/// Writes table `dma_queues_info`: a row per queue, with its highest DMA engine.
pub fn write(core: &CoreProgram<'_>, sink: &mut dyn Sink) -> Result<()> {
    let handles = DmaQueuesInfo::define(sink)?;
    let mut listed = std::collections::BTreeMap::new();
    for queue in &core.subgraph.queues {
        let highest = listed.entry((queue.index, &queue.name)).or_insert(queue);
        if queue.dma_engine > highest.dma_engine {
            *highest = queue;
        }
    }
    for queue in listed.into_values() {
        let kind = match queue.kind {
            0 => "unknown".to_owned(),
            WEIGHTS => "weights".to_owned(),
            other => format!("type {other}"),
        };
        sink.row(
            handles.table,
            &[
                (handles.q_name, Value::Text(&display_name(&text(&queue.name)))),
                (handles.q_type, Value::Text(&kind)),
                (handles.q_idx, Value::Int(i64::from(queue.index))),
                (handles.q_eng_idx, Value::Int(i64::from(queue.dma_engine))),
                (handles.q_event_id, Value::Int(queue.event_id)),
                (handles.q_axi_port, Value::Int(0)),
                (handles.q_dram_channel, Value::Int(0)),
                (handles.subgraph, Value::Text(&core.name)),
            ],
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_are_named_after_engines_as_people_know_them() {
        let names = ["qPoolDynamic", "qSPSpillReload0", "qActTable", "qDveTable"].map(display_name);
        assert_eq!(names, ["qGpSimdDynamic", "qSyncSpillReload0", "qScalarTable", "qDveTable"]);
    }
}
