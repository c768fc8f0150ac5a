//! Instructions of engines, with the semaphores in their operands.

use rustc_hash::FxHashMap;

use super::arrow::WorkArrows;
use super::author::{ChangeByInstruction, InstructionChanges};
use super::history::SemaphoreKey;
use super::operand::{SemaphoreTest, SemaphoreUse, semaphores};
use super::transfer::Trigger;
use crate::base::Result;
use crate::exec::Cancel;
use crate::makers::call_columns::FieldColumns;
use crate::makers::columns::NamedColumns;
use crate::makers::neuron::schema::INSTRUCTION;
use crate::makers::work_reader::{EndedSlice, WorkReader};
use crate::model::rank_work::NO_LAYER;
use crate::model::{EngineKind, MachineSide, NameId, NodePoint, Role, TableId, TrackId};
use crate::segment::{Bytes, Segment};

/// The instruction that waits until all before it on its engine are done.
const DRAIN: &str = "DRAIN";
const PS_PER_NS: i64 = 1_000;

/// An engine of a physical core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct EngineKey {
    pub(super) core: u32,
    pub(super) kind: EngineKind,
}

/// An instruction in the order of its engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OrderedInstruction {
    pub(super) start_ps: i64,
    pub(super) row: u32,
    pub(super) end_ps: i64,
    pub(super) node: u32,
    /// Number of its track and line.
    pub(super) line: (u32, u32),
    pub(super) drains: bool,
}

/// A wait for a semaphore.
#[derive(Debug, Clone, Copy)]
pub(super) struct SemaphoreWait {
    pub(super) node: u32,
    pub(super) engine: EngineKey,
    pub(super) number: u32,
    pub(super) at: NodePoint,
    pub(super) test: SemaphoreTest,
    pub(super) start_ps: i64,
    pub(super) end_ps: i64,
    /// Time waited before the start, as the device counts it: with 16 bits, in cycles.
    pub(super) counted_ps: Option<i64>,
}

/// An instruction with an arrow.
#[derive(Debug, Clone, Copy)]
pub(super) struct LinkedInstruction {
    pub(super) of: Trigger,
    /// Whether its name says that it waits.
    waits: bool,
}

/// A transfer for which an instruction waited, as an arrow states it.
#[derive(Debug, Clone, Copy)]
pub(super) struct CompletedTransfer {
    /// Row of the transfer.
    pub(super) row: u32,
    /// The point of the instruction that waited.
    pub(super) at: NodePoint,
    /// That time.
    pub(super) end_ps: i64,
    /// Whether the instruction's operands state a wait.
    pub(super) is_stated: bool,
}

/// An instruction of a block.
#[derive(Debug, Clone, Copy)]
struct BlockInstruction {
    slice: EndedSlice,
    node: u32,
    engine: EngineKey,
    /// Number of the engine's name.
    name_of_engine: Option<u32>,
    counted_ps: Option<i64>,
}

/// All instructions of a rank.
pub(super) struct InstructionWork<'s, B> {
    segment: &'s Segment<B>,
    fields: FieldColumns<3>,
    columns: Option<NamedColumns<'s, B>>,
    pub(super) order: FxHashMap<EngineKey, Vec<OrderedInstruction>>,
    pub(super) waits: Vec<SemaphoreWait>,
    pub(super) changes: InstructionChanges,
    /// Instructions that set up transfers, by core.
    pub(super) dynamic: FxHashMap<u32, Vec<Trigger>>,
    /// Instructions with arrows, by row.
    pub(super) by_row: FxHashMap<u32, LinkedInstruction>,
    /// Rows of instructions that arrows lead from or to.
    wanted: &'s WorkArrows,
    names: KnownNames,
}

/// Facts about names that were looked up.
#[derive(Debug, Default)]
struct KnownNames {
    /// Whether a name is that of [`DRAIN`].
    drains: FxHashMap<u32, bool>,
    /// Whether a layer has a name.
    layers: FxHashMap<u32, bool>,
}

const FIELDS: [&str; 3] = ["evt_wait_time", "layer", "subgroup"];
const WAIT: usize = 0;
const LAYER: usize = 1;
const SUBGROUP: usize = 2;
const OPERANDS: &str = "operands";

impl<'s, B: Bytes> InstructionWork<'s, B> {
    pub(super) fn new(segment: &'s Segment<B>, cancel: Cancel<'s>, wanted: &'s WorkArrows) -> Self {
        let columns = NamedColumns::of(segment, INSTRUCTION.name, cancel);
        let table = columns.map_or(TableId(0), |columns| columns.table());
        Self {
            segment,
            fields: FieldColumns::of(segment, table, FIELDS),
            columns,
            order: FxHashMap::default(),
            waits: Vec::new(),
            changes: InstructionChanges::default(),
            dynamic: FxHashMap::default(),
            by_row: FxHashMap::default(),
            wanted,
            names: KnownNames::default(),
        }
    }

    /// Reads the instructions of a track.
    pub(super) fn track(
        &mut self,
        track: TrackId,
        table: TableId,
        work: &mut WorkReader<'s, B>,
    ) -> Result<()> {
        let identity = self.segment.footer().tracks[track.0 as usize].spec.identity;
        let Role::Engine(kind) = identity.role else { return Ok(()) };
        let engine = EngineKey { core: identity.core.unwrap_or(0), kind };
        let Some(columns) = self.columns.filter(|columns| columns.table() == table) else { return Ok(()) };
        for block in self.segment.blocks_of(track)? {
            let fields = self.fields.block(self.segment, block)?;
            let mut by_place: Vec<Option<BlockInstruction>> = Vec::new();
            for mut slice in work.slices(table, block)? {
                slice.layer = match fields.code(LAYER, slice.at) {
                    Some(layer) if self.is_named(layer)? => layer,
                    _ => NO_LAYER,
                };
                let node = work.add(slice, track, MachineSide::Device);
                let counted_ps = fields.int(WAIT, slice.at).map(|ns| ns.saturating_mul(PS_PER_NS));
                let name_of_engine = fields.code(SUBGROUP, slice.at);
                let of = BlockInstruction { slice, node, engine, name_of_engine, counted_ps };
                self.add(&of, track, work)?;
                by_place.resize(by_place.len().max(slice.at + 1), None);
                by_place[slice.at] = Some(of);
            }
            columns.for_each_text(OPERANDS, block, |at, text| {
                if let Some(of) = by_place.get(at).copied().flatten() {
                    self.operands(&of, text);
                }
            })?;
        }
        Ok(())
    }

    fn add(&mut self, of: &BlockInstruction, track: TrackId, work: &mut WorkReader<'s, B>) -> Result<()> {
        let EndedSlice { start_ps, end_ps, row, lane, name, .. } = of.slice;
        let drains = match self.names.drains.get(&name) {
            Some(known) => *known,
            None => *self.names.drains.entry(name).or_insert(self.segment.text(NameId(name))? == DRAIN),
        };
        let (line, node) = ((track.0, lane), of.node);
        let instruction = OrderedInstruction { start_ps, row, end_ps, node, line, drains };
        self.order.entry(of.engine).or_default().push(instruction);
        if self.wanted.rows.contains(row) {
            let of = Trigger { node, start_ps, end_ps, semaphore: None };
            self.by_row.insert(row, LinkedInstruction { of, waits: work.is_wait(name)? });
        }
        Ok(())
    }

    /// Notes the semaphores of an instruction.
    fn operands(&mut self, of: &BlockInstruction, text: &str) {
        let EndedSlice { start_ps, end_ps, .. } = of.slice;
        let (node, engine) = (of.node, of.engine);
        let operands = semaphores(text);
        for operand in &operands {
            let number = operand.number;
            match operand.of {
                SemaphoreUse::Wait { at, test } => {
                    let counted_ps = of.counted_ps.filter(|_| at == NodePoint::Start);
                    let wait = SemaphoreWait { node, engine, number, at, test, start_ps, end_ps, counted_ps };
                    self.waits.push(wait);
                }
                SemaphoreUse::Change(step) => {
                    let before = operands.iter().find_map(|other| match other.of {
                        SemaphoreUse::Wait { test: SemaphoreTest::Equal(value), .. } => {
                            Some(value).filter(|_| other.number == number)
                        }
                        _ => None,
                    });
                    let engine = of.name_of_engine;
                    let change = ChangeByInstruction { end_ps, node, step, before, engine };
                    self.changes.push(SemaphoreKey { core: of.engine.core, number }, change);
                }
                SemaphoreUse::ByTransfer => {
                    let trigger = Trigger { node, start_ps, end_ps, semaphore: Some(number) };
                    self.dynamic.entry(engine.core).or_default().push(trigger);
                }
            }
        }
    }

    /// The transfers for which instructions waited by arrows, by instruction.
    pub(super) fn completed(&self, arrows: &WorkArrows) -> FxHashMap<u32, CompletedTransfer> {
        let stated: FxHashMap<u32, NodePoint> = self.waits.iter().map(|wait| (wait.node, wait.at)).collect();
        let of = |&(row, to): &(u32, u32)| {
            let LinkedInstruction { of, waits } = self.by_row.get(&to)?;
            let wait = stated.get(&of.node).copied();
            let at = wait.unwrap_or(if *waits { NodePoint::End } else { NodePoint::Start });
            let end_ps = if at == NodePoint::Start { of.start_ps } else { of.end_ps };
            Some((of.node, CompletedTransfer { row, at, end_ps, is_stated: wait.is_some() }))
        };
        arrows.completions.iter().filter_map(of).collect()
    }

    fn is_named(&mut self, layer: u32) -> Result<bool> {
        Ok(match self.names.layers.get(&layer) {
            Some(known) => *known,
            None => *self.names.layers.entry(layer).or_insert(!self.segment.text(NameId(layer))?.is_empty()),
        })
    }
}
