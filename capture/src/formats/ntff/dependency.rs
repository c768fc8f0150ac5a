//! Arrows of dependence: to each instruction from those whose results it uses.
//!
//! The trace does not state dependences. The reader derives them from the reads and writes of
//! instructions, and from the semaphores that they raise and wait for. Only the compiler's program
//! counts.

use std::collections::VecDeque;

use nprof_engine::model::{NameId, SliceKey, WarningKind};
use rustc_hash::FxHashMap;

use super::core::NtffOutput;
use super::decoder::DecodedInstruction;
use super::effect::Region;
use super::execution::Executed;
use super::region::MemoryRegions;
use super::word::Opcode;
use crate::error::Error;
use nprof_engine::makers::neuron::Engine;
use nprof_engine::makers::neuron::schema::FLOW_DEPENDENCE;

/// Most waits in a row of one engine that can have arrows to the next instruction.
const MAX_WAITS: usize = 1 << 16;

/// The writer of a region: a MATMUL together with the LDWEIGHTS right before it, or any other
/// instruction alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RegionWriter {
    key: SliceKey,
    with: Option<SliceKey>,
}

/// An LDWEIGHTS whose first MATMUL has not started yet.
#[derive(Debug)]
struct LoadedWeights {
    key: SliceKey,
    before: Vec<SliceKey>,
}

/// Draws the arrows. Takes the executions in the order of their starts.
#[derive(Debug)]
pub struct Dependencies {
    name: NameId,
    sbuf: MemoryRegions<RegionWriter>,
    psum: MemoryRegions<RegionWriter>,
    /// Instructions that only waited, since the last other instruction of each engine.
    waits: [VecDeque<SliceKey>; Engine::ALL.len()],
    /// The last transfer that raises each semaphore.
    transfers: FxHashMap<u8, SliceKey>,
    loaded: Option<LoadedWeights>,
    /// Writers of the weights that the Tensor engine holds.
    weights: Vec<SliceKey>,
    links: Vec<(SliceKey, SliceKey)>,
    /// Sources of arrows to the current instruction. The buffer is reused.
    before: Vec<SliceKey>,
    /// Buffer for the sources of arrows to the next LDWEIGHTS.
    before_load: Vec<SliceKey>,
}

impl Dependencies {
    /// The state before the first execution.
    pub fn new(out: &mut NtffOutput<'_>) -> Result<Self, Error> {
        Ok(Self {
            name: out.sink.name(FLOW_DEPENDENCE)?,
            sbuf: MemoryRegions::default(),
            psum: MemoryRegions::default(),
            waits: Default::default(),
            transfers: FxHashMap::default(),
            loaded: None,
            weights: Vec::new(),
            links: Vec::new(),
            before: Vec::new(),
            before_load: Vec::new(),
        })
    }

    /// Takes the next execution.
    pub fn step(
        &mut self,
        run: &Executed,
        decoded: &DecodedInstruction,
        out: &mut NtffOutput<'_>,
    ) -> Result<(), Error> {
        if decoded.only_waits {
            let awaited = decoded.wait.and_then(|wait| self.transfers.get(&wait.id));
            self.links.extend(awaited.map(|&transfer| (transfer, run.key)));
            self.wait(run, out);
        } else {
            self.work(run, decoded);
        }
        self.flush(out)
    }

    fn wait(&mut self, run: &Executed, out: &mut NtffOutput<'_>) {
        let waits = &mut self.waits[run.engine.index()];
        if waits.len() == MAX_WAITS {
            waits.pop_front();
            let what =
                "an engine waited more than 65,536 times in a row; the waits before these get no arrows";
            out.sink.warn(WarningKind::MissingData, what, &|| format!("{} engine", run.engine.name()));
        }
        waits.push_back(run.key);
    }

    fn work(&mut self, run: &Executed, decoded: &DecodedInstruction) {
        let read = decoded.effect.read.as_ref();
        let mut before = std::mem::take(&mut self.before);
        before.clear();
        self.add_writers(read, &mut before);
        let mut with = None;
        match decoded.opcode {
            Opcode::LdWeights => {
                self.load_without_product();
                self.weights.clone_from(&before);
                before.extend(self.waits[run.engine.index()].drain(..));
                self.loaded = Some(LoadedWeights { key: run.key, before });
                self.before = std::mem::take(&mut self.before_load);
                return;
            }
            Opcode::MatMul => {
                before.extend_from_slice(&self.weights);
                before.extend(self.waits[run.engine.index()].drain(..));
                if let Some(mut loaded) = self.loaded.take() {
                    before.append(&mut loaded.before);
                    self.before_load = loaded.before;
                    with = Some(loaded.key);
                    self.link_all(&mut before, loaded.key);
                }
            }
            _ => before.extend(self.waits[run.engine.index()].drain(..)),
        }
        self.link_all(&mut before, run.key);
        self.before = before;
        let writer = RegionWriter { key: run.key, with };
        match &decoded.effect.write {
            Some(Region::Sbuf(range)) => self.sbuf.put(range.clone(), writer),
            Some(Region::Psum(range)) => self.psum.put(range.clone(), writer),
            None => {}
        }
        if let Some(semaphore) = decoded.completion {
            self.transfers.insert(semaphore, run.key);
        }
    }

    fn add_writers(&self, read: Option<&Region>, writers: &mut Vec<SliceKey>) {
        let (regions, range) = match read {
            Some(Region::Sbuf(range)) => (&self.sbuf, range),
            Some(Region::Psum(range)) => (&self.psum, range),
            None => return,
        };
        for (_, writer) in regions.overlapping(range) {
            writers.push(writer.key);
            writers.extend(writer.with);
        }
    }

    /// Links weights that no product followed.
    fn load_without_product(&mut self) {
        if let Some(mut loaded) = self.loaded.take() {
            self.link_all(&mut loaded.before, loaded.key);
        }
    }

    fn link_all(&mut self, before: &mut Vec<SliceKey>, to: SliceKey) {
        before.sort_unstable();
        before.dedup();
        self.links.extend(before.iter().map(|&from| (from, to)));
    }

    /// Draws the last arrows, after all executions.
    pub fn finish(mut self, out: &mut NtffOutput<'_>) -> Result<(), Error> {
        self.load_without_product();
        self.flush(out)
    }

    fn flush(&mut self, out: &mut NtffOutput<'_>) -> Result<(), Error> {
        for (from, to) in self.links.drain(..) {
            out.sink.link(from, to, self.name)?;
        }
        Ok(())
    }
}
