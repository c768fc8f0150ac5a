//! Who waited for whom: an arrow to each instruction from those whose results it uses.
//!
//! The trace does not say it; it follows from what the instructions read and write, and from who raises the semaphores
//! that they wait for. Only the compiler's program counts.

use nprof_engine::model::{NameId, SliceKey};
use rustc_hash::FxHashMap;

use super::core::Output;
use super::decoded::{Decoded, Decoder};
use super::effect::Region;
use super::engine::Engine;
use super::instruction::Executed;
use super::region::Regions;
use super::word::Opcode;
use crate::formats::Error;
use crate::formats::neuron::schema::FLOW_DEPENDENCE;

/// Who wrote a region: a MATMUL together with the LDWEIGHTS right before it, or anything else alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Writer {
    key: SliceKey,
    with: Option<SliceKey>,
}

/// An LDWEIGHTS whose first MATMUL has not come yet.
#[derive(Debug)]
struct Loaded {
    key: SliceKey,
    before: Vec<SliceKey>,
}

#[derive(Debug, Default)]
struct Dependencies {
    sbuf: Regions<Writer>,
    psum: Regions<Writer>,
    /// Instructions that only waited, since the last other one of each engine.
    waits: [Vec<SliceKey>; Engine::ALL.len()],
    /// The last transfer that raises each semaphore.
    transfers: FxHashMap<u8, SliceKey>,
    loaded: Option<Loaded>,
    /// Who wrote the weights that the Tensor engine holds.
    weights: Vec<SliceKey>,
    links: Vec<(SliceKey, SliceKey)>,
}

/// Draws the arrows. `executed` is in the order of starts.
///
/// # Errors
/// The sink's own.
pub fn write(executed: &[Executed], decoder: &Decoder, out: &mut Output<'_>) -> Result<(), Error> {
    let name = out.sink.name(FLOW_DEPENDENCE)?;
    let mut dependencies = Dependencies::default();
    for run in executed {
        let Some(decoded) = decoder.known(run.engine, run.pc) else { continue };
        dependencies.step(run, decoded);
        dependencies.flush(name, out)?;
    }
    dependencies.load_without_product();
    dependencies.flush(name, out)
}

impl Dependencies {
    fn step(&mut self, run: &Executed, decoded: &Decoded) {
        if decoded.only_waits {
            let awaited = decoded.wait.and_then(|wait| self.transfers.get(&wait.id));
            self.links.extend(awaited.map(|&transfer| (transfer, run.key)));
            self.waits[run.engine.index()].push(run.key);
            return;
        }
        let read = decoded.effect.read.as_ref();
        let mut before = self.writers(read);
        let waits = std::mem::take(&mut self.waits[run.engine.index()]);
        let mut with = None;
        match decoded.opcode {
            Opcode::LdWeights => {
                self.load_without_product();
                self.weights.clone_from(&before);
                before.extend(waits);
                self.loaded = Some(Loaded { key: run.key, before });
                return;
            }
            Opcode::MatMul => {
                before.extend(self.weights.iter().copied());
                before.extend(waits);
                if let Some(loaded) = self.loaded.take() {
                    before.extend(loaded.before);
                    with = Some(loaded.key);
                    self.link_all(&mut before, loaded.key);
                }
            }
            _ => before.extend(waits),
        }
        self.link_all(&mut before, run.key);
        let writer = Writer { key: run.key, with };
        match &decoded.effect.write {
            Some(Region::Sbuf(range)) => self.sbuf.put(range.clone(), writer),
            Some(Region::Psum(range)) => self.psum.put(range.clone(), writer),
            None => {}
        }
        if let Some(semaphore) = decoded.completion {
            self.transfers.insert(semaphore, run.key);
        }
    }

    fn writers(&self, read: Option<&Region>) -> Vec<SliceKey> {
        let (regions, range) = match read {
            Some(Region::Sbuf(range)) => (&self.sbuf, range),
            Some(Region::Psum(range)) => (&self.psum, range),
            None => return Vec::new(),
        };
        let mut writers = Vec::new();
        for (_, writer) in regions.overlapping(range) {
            writers.push(writer.key);
            writers.extend(writer.with);
        }
        writers
    }

    /// Weights that no product followed stand for themselves.
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

    fn flush(&mut self, name: NameId, out: &mut Output<'_>) -> Result<(), Error> {
        for (from, to) in self.links.drain(..) {
            out.sink.link(from, to, name)?;
        }
        Ok(())
    }
}
