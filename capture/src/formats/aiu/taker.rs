//! Takes the slices of the device out of a trace. All other events go to the ordinary reader.
//!
//! Begins and ends may be nested, crossed or lone: an end closes the last open begin of its name on
//! its thread.

use std::collections::BTreeSet;

use nprof_engine::base::{Result, narrow};
use nprof_engine::makers::aiu::{Phase, PhaseStamps};
use nprof_engine::model::WarningKind;
use nprof_engine::spill::{Scratch, Sorter, Space};
use rustc_hash::FxHashMap;

use super::TraceDialect;
use super::attribute::Attributes;
use super::clock::DeviceCounters;
use super::device_slice::{DeviceSlice, IS_UNFINISHED};
use super::filter::Filter;
use super::hcoll::Protocol;
use super::job::{JobFiles, StatedFile};
use super::kernel::{Kernel, RatedTransfer};
use super::names::SliceNames;
use super::rank::{FlexRanks, Whose};
use super::torch::TorchIdeals;
use super::torch_arguments::TorchArguments;
use super::torch_event::{Begins, TorchEvent};
use crate::formats::trace_event::layer::{Layer, LayerClaim, LayerEvent, LowerReader};

/// Most slices of the device that are open at a time. Further begins become unfinished slices.
const MAX_OPEN: usize = 1 << 16;

/// Most threads whose ids are kept. Further ones count as one.
const MAX_THREADS: usize = 1 << 16;

/// A begin that waits for its end.
#[derive(Debug)]
struct OpenBegin {
    held: DeviceSlice,
    rest: Vec<u8>,
}

/// State while the files of a rank are read.
pub(super) struct SliceTaker<'s, 't> {
    /// Processes of this rank.
    pub(super) ranks: FlexRanks,
    /// The slices of the device.
    pub(super) held: Sorter<DeviceSlice, &'s dyn Scratch>,
    /// Kernels that are needed before the slices are written.
    pub(super) kernels: Sorter<Kernel, &'s dyn Scratch>,
    /// Transfers of PyTorch's dialect whose rate is stated.
    pub(super) transfers: Sorter<RatedTransfer, &'s dyn Scratch>,
    /// Slices of the runtime in files of PyTorch's dialect, which the ordinary reader takes, with
    /// their devices in the place of their threads.
    pub(super) written: Sorter<DeviceSlice, &'s dyn Scratch>,
    /// Steps of collective operations of PyTorch's dialect.
    pub(super) protocols: Sorter<Protocol, &'s dyn Scratch>,
    pub(super) names: SliceNames,
    pub(super) counters: DeviceCounters,
    pub(super) jobs: JobFiles,
    /// Devices of the kernels and transfers of PyTorch's dialect.
    pub(super) devices: BTreeSet<u16>,
    /// Thread ids as written, by number.
    pub(super) threads: Vec<Box<str>>,
    /// Whether kernels are sorted for the choice between several tables of the compiler.
    wants_kernels: bool,
    dialect: TraceDialect,
    job: u32,
    thread_numbers: FxHashMap<Box<[u8]>, u32>,
    /// The begin that came last, if its end may follow.
    last: Option<OpenBegin>,
    open: FxHashMap<(u32, u32), Vec<OpenBegin>>,
    open_count: usize,
    /// Begins of PyTorch's dialect.
    begins: Begins,
    attributes: Attributes,
    number: u32,
    filter: Filter,
    /// Ideals of the kernels of PyTorch's dialect.
    ideals: Option<TorchIdeals<'t>>,
}

impl<'s, 't> SliceTaker<'s, 't> {
    /// A taker for one of the ranks.
    pub(super) fn new(
        ranks: FlexRanks,
        stated_hz: Option<f64>,
        wants_kernels: bool,
        space: Space<'s>,
    ) -> Self {
        Self {
            ranks,
            held: space.sorter(1),
            kernels: space.sorter(8),
            transfers: space.sorter(16),
            written: space.sorter(16),
            protocols: space.sorter(16),
            names: SliceNames::default(),
            counters: DeviceCounters::new(stated_hz),
            jobs: JobFiles::default(),
            devices: BTreeSet::new(),
            threads: Vec::new(),
            wants_kernels,
            dialect: TraceDialect::Flex,
            job: 0,
            thread_numbers: FxHashMap::default(),
            last: None,
            open: FxHashMap::default(),
            open_count: 0,
            begins: Begins::default(),
            attributes: Attributes::default(),
            number: 0,
            filter: Filter::default(),
            ideals: None,
        }
    }

    /// Leaves out what the filter leaves out, and tells kernels of PyTorch's dialect their ideals.
    pub(super) fn with(self, filter: Filter, ideals: Option<TorchIdeals<'t>>) -> Self {
        Self { filter, ideals, ..self }
    }

    /// Begins a file of this dialect, and of this rank if its events are not of their processes.
    pub(super) fn begin(&mut self, name: &str, dialect: TraceDialect, rank: Option<u32>) {
        self.job = self.jobs.begin(name);
        self.filter.begin(name, dialect, rank);
        self.dialect = dialect;
        self.ranks.within(None);
    }

    /// Ends a file: begins without ends become unfinished slices. Returns their number.
    pub(super) fn end(&mut self) -> Result<u64> {
        let mut left: Vec<OpenBegin> = self.open.drain().flat_map(|(_, opens)| opens).collect();
        left.extend(self.last.take());
        self.open_count = 0;
        self.begins.clear();
        // The order of a hash map must not show.
        left.sort_by_key(|open| open.held.number);
        let count = left.len() as u64;
        for open in left {
            self.hold_unfinished(open)?;
        }
        Ok(count)
    }

    fn hold_unfinished(&mut self, open: OpenBegin) -> Result<()> {
        let mut held = open.held;
        held.flags |= IS_UNFINISHED;
        self.hold(held, &open.rest)
    }

    /// Keeps a slice whose end is known.
    fn hold(&mut self, held: DeviceSlice, rest: &[u8]) -> Result<()> {
        let phase = self.names.of(held.name).phase;
        self.count(&held, phase);
        if phase == Phase::Exec && self.wants_kernels {
            self.kernels.push(Kernel::of(&held))?;
        }
        self.jobs.device(held.job, &held, phase);
        self.held.push_with(held, |out| {
            out.extend_from_slice(rest);
            Ok(())
        })
    }

    /// Passes the counters of a slice to the clock.
    fn count(&mut self, held: &DeviceSlice, phase: Phase) {
        let stamps = phase.stamps();
        if !held.has(stamps) || held.is(IS_UNFINISHED) {
            return;
        }
        if phase != Phase::Prep {
            let whole = PhaseStamps { first: 0, ..stamps };
            let back = if held.has(whole) { held.cycles(whole) } else { 0 };
            self.counters.point(held.job, held.end_ps, held.stamps[stamps.last], back);
        }
        if phase == Phase::Exec {
            self.counters.kernel(held.cycles(stamps), held.host_ps());
        }
    }

    /// The number of a thread that is known, or of all further threads.
    fn known_thread(&self, tid: &[u8]) -> Option<u32> {
        let is_full = self.threads.len() > MAX_THREADS;
        let known = self.thread_numbers.get(tid).copied();
        known.or_else(|| is_full.then(|| narrow(MAX_THREADS)))
    }

    fn thread(&mut self, below: &mut LowerReader<'_, '_>, met: LayerEvent<'_>) -> u32 {
        let tid = met.tid();
        let number = self.known_thread(tid);
        if number.is_some_and(|number| number as usize == MAX_THREADS) {
            let what = "more threads than nprof tells apart; the slice is on the last one";
            below.warn(WarningKind::AdjustedValue, what, met);
        }
        if let Some(number) = number {
            return number;
        }
        let number = narrow(self.threads.len());
        self.threads.push(String::from_utf8_lossy(tid).into());
        self.thread_numbers.insert(tid.into(), number);
        number
    }

    /// A slice of the device that begins with an event whose attributes have been read.
    fn held(
        &mut self,
        below: &mut LowerReader<'_, '_>,
        met: LayerEvent<'_>,
        start_ps: i64,
    ) -> Result<DeviceSlice> {
        if self.attributes.is_wide {
            let what = "a counter of more than 32 bits; its lower 32 bits are used";
            below.warn(WarningKind::AdjustedValue, what, met);
        }
        let number = self.number;
        self.number = self.number.saturating_add(1);
        let Attributes { stamps, charge, flags, .. } = self.attributes;
        let job = self
            .attributes
            .job
            .take()
            .map_or(self.job, |name| self.jobs.named(self.job, StatedFile { name, device: 0 }));
        let (name, thread) = (self.names.number(below.sink(), &met.name())?, self.thread(below, met));
        if *self.names.of(name).text != *met.name() {
            self.attributes.add_name(&met.name());
        }
        Ok(DeviceSlice { start_ps, number, end_ps: start_ps, stamps, charge, flags, name, thread, job })
    }

    fn begin_slice(&mut self, below: &mut LowerReader<'_, '_>, met: LayerEvent<'_>) -> Result<LayerClaim> {
        self.attributes.read(met);
        if !self.attributes.is_of_device() {
            return Ok(LayerClaim::Passed);
        }
        let Some(time_ps) = below.time(met)? else { return Ok(LayerClaim::ByLayer) };
        self.attributes.add_extras(met);
        let held = self.held(below, met, time_ps)?;
        if let Some(before) = self.last.take() {
            if self.open_count < MAX_OPEN {
                self.open_count += 1;
                self.open.entry((before.held.thread, before.held.name)).or_default().push(before);
            } else {
                self.hold_unfinished(before)?;
                let what = "more open slices than nprof matches; their ends are not known";
                below.warn(WarningKind::Unpaired, what, met);
            }
        }
        let rest = std::mem::take(&mut self.attributes.rest);
        self.last = Some(OpenBegin { held, rest });
        Ok(LayerClaim::ByLayer)
    }

    fn end_slice(&mut self, below: &mut LowerReader<'_, '_>, met: LayerEvent<'_>) -> Result<LayerClaim> {
        let (name, tid) = (met.name(), met.tid());
        let thread = self.known_thread(tid);
        let number = self.names.known(&name);
        let is_last =
            |open: &mut OpenBegin| number == Some(open.held.name) && thread == Some(open.held.thread);
        let open = match self.last.take_if(is_last) {
            Some(open) => Some(open),
            None => self.take_open(number, thread),
        };
        let Some(OpenBegin { mut held, rest }) = open else { return Ok(LayerClaim::Passed) };
        let Some(time_ps) = below.time(met)? else {
            self.hold_unfinished(OpenBegin { held, rest })?;
            return Ok(LayerClaim::ByLayer);
        };
        held.end_ps = time_ps;
        self.check_order(below, met, &mut held);
        self.hold(held, &rest)?;
        // The memory serves the next slice.
        self.attributes.rest = rest;
        Ok(LayerClaim::ByLayer)
    }

    fn take_open(&mut self, name: Option<u32>, thread: Option<u32>) -> Option<OpenBegin> {
        if self.open_count == 0 {
            return None;
        }
        let key = (thread?, name?);
        let opens = self.open.get_mut(&key)?;
        let open = opens.pop();
        self.open_count -= usize::from(open.is_some());
        open
    }

    fn complete(&mut self, below: &mut LowerReader<'_, '_>, met: LayerEvent<'_>) -> Result<LayerClaim> {
        self.attributes.read(met);
        if !self.attributes.is_of_device() {
            return Ok(LayerClaim::Passed);
        }
        let Some(time_ps) = below.time(met)? else { return Ok(LayerClaim::ByLayer) };
        self.attributes.add_extras(met);
        let mut held = self.held(below, met, time_ps)?;
        held.end_ps = time_ps.saturating_add(met.duration().unwrap_or(0));
        self.check_order(below, met, &mut held);
        let rest = std::mem::take(&mut self.attributes.rest);
        self.hold(held, &rest)?;
        self.attributes.rest = rest;
        Ok(LayerClaim::ByLayer)
    }

    fn check_order(&self, below: &mut LowerReader<'_, '_>, met: LayerEvent<'_>, held: &mut DeviceSlice) {
        if held.end_ps < held.start_ps {
            let what = "a slice of the device that ends before it begins; its end is used";
            below.warn(WarningKind::AdjustedValue, what, met);
            held.start_ps = held.end_ps;
        }
    }

    /// Looks at an event of PyTorch's dialect. The ordinary reader takes it. Steps of collective
    /// operations have the category of annotations, but the device executes them.
    fn look(&mut self, below: &mut LowerReader<'_, '_>, met: LayerEvent<'_>) -> Result<LayerClaim> {
        match met.phase() {
            b"X" => {
                let watched = TorchEvent::of(&mut self.names, below, met)?;
                let is_step = watched.as_ref().is_some_and(|watched| watched.is_step);
                if let Some((watched, duration_ps)) = watched.zip(met.duration()) {
                    let end_ps = watched.start_ps.saturating_add(duration_ps.max(0));
                    self.watch(below, met, watched, end_ps)?;
                }
                return Ok(if is_step { LayerClaim::PassedAsWork } else { LayerClaim::Passed });
            }
            b"B" => {
                let watched = TorchEvent::of(&mut self.names, below, met)?;
                self.begins.push(met, watched);
            }
            b"E" => {
                if let Some(watched) = self.begins.end(met)
                    && let Some(end_ps) = below.known_time(met)
                {
                    let end_ps = end_ps.max(watched.start_ps);
                    self.watch(below, met, watched, end_ps)?;
                }
            }
            _ => {}
        }
        Ok(LayerClaim::Passed)
    }

    /// Takes an event of PyTorch's dialect whose end is known.
    fn watch(
        &mut self,
        below: &mut LowerReader<'_, '_>,
        met: LayerEvent<'_>,
        watched: TorchEvent,
        end_ps: i64,
    ) -> Result<()> {
        let TorchEvent { start_ps, name, is_original, is_kernel, is_step, device, mut stated } = watched;
        let (rate, has_counters) = (stated.rate, stated.has_counters());
        let job = if has_counters {
            let file = stated.file.take();
            let name = file.unwrap_or_else(|| self.jobs.all[self.job as usize].name.clone());
            self.jobs.named(self.job, StatedFile { name, device })
        } else {
            self.job
        };
        let number = self.number;
        self.number = self.number.saturating_add(1);
        if has_counters {
            let TorchArguments { stamps, charge, flags, .. } = stated;
            let thread = u32::from(device);
            let seen = DeviceSlice { start_ps, number, end_ps, stamps, charge, flags, name, thread, job };
            self.keep(seen, &stated)?;
        }
        if is_kernel || rate.is_some() {
            self.devices.insert(device);
        }
        if is_kernel {
            let kernel = Kernel { job, device, start_ps, number, end_ps, name, cycles: 0, is_torch: true };
            self.kernels.push(kernel)?;
            if let Some(ideals) = &self.ideals {
                let (own, known) = (met.name(), &*self.names.of(name).text);
                let text = if is_original || own.is_empty() { known } else { &*own };
                let (category, used) = ideals.of(text, kernel.lot(), number, end_ps.saturating_sub(start_ps));
                below.add_argument("user_cat", &serde_json::Value::from(category).to_string());
                if let Some(used) = used {
                    below.add_argument("pt_active", &serde_json::Value::from(used).to_string());
                    below.add_argument("core used", "true");
                }
            }
        }
        if is_step {
            let (correlation, bytes) = (stated.correlation, stated.bytes);
            self.protocols.push(Protocol { job, start_ps, number, end_ps, name, correlation, bytes })?;
        }
        if let Some(rate) = rate {
            self.transfers.push(RatedTransfer { start_ps, number, end_ps, rate, device })?;
        }
        Ok(())
    }
}

impl SliceTaker<'_, '_> {
    /// Keeps a slice of the runtime that the ordinary reader takes: for its counters.
    fn keep(&mut self, seen: DeviceSlice, stated: &TorchArguments) -> Result<()> {
        let phase = self.names.of(seen.name).phase;
        let host_ps = stated.host_ps(phase, seen.host_ps());
        let held = DeviceSlice { start_ps: seen.end_ps.saturating_sub(host_ps), ..seen };
        self.count(&held, phase);
        self.written.push_with(held, |_| Ok(()))
    }
}

impl Layer for SliceTaker<'_, '_> {
    fn event(&mut self, below: &mut LowerReader<'_, '_>, met: LayerEvent<'_>) -> Result<LayerClaim> {
        let phase = met.phase();
        let is_slice = matches!(phase, b"X" | b"B" | b"E");
        let has_ranks = self.dialect == TraceDialect::Flex || self.ranks.is_within();
        if has_ranks && self.ranks.of(met.pid(), is_slice) == Whose::Other {
            return Ok(LayerClaim::ByLayer);
        }
        if self.dialect == TraceDialect::Torch {
            if self.filter.leaves_out(met) {
                return Ok(LayerClaim::ByLayer);
            }
            return self.look(below, met);
        }
        if self.filter.leaves_out(met) {
            // Round trips that are left out still say where the work of the job belongs.
            self.jobs.host(self.job, met, below);
            return Ok(LayerClaim::ByLayer);
        }
        let taken = match phase {
            b"B" => self.begin_slice(below, met)?,
            b"E" => self.end_slice(below, met)?,
            b"X" => self.complete(below, met)?,
            _ => LayerClaim::Passed,
        };
        if taken == LayerClaim::Passed && is_slice {
            self.jobs.host(self.job, met, below);
        }
        Ok(taken)
    }

    fn owner(&self) -> Option<u32> {
        self.ranks.owner().filter(|_| self.dialect == TraceDialect::Flex)
    }

    fn is_own(&self, pid: &[u8]) -> Option<bool> {
        self.ranks.is_own(pid).filter(|_| self.dialect == TraceDialect::Flex || self.ranks.is_within())
    }

    fn within(&mut self, rank: &[u8]) {
        self.ranks.within(Some(rank));
    }
}
