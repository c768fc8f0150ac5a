//! IBM AIU traces: the inputs of acelyzer.
//!
//! Both dialects are Trace Event JSON, and [`packets`] makes such JSON of Perfetto's form. FLEX,
//! the runtime, writes lists of events; its slices of the device have five cycle counters.
//! PyTorch's profiler writes its usual object. [`taker`] takes the slices of the device out of the
//! events, and the ordinary reader takes everything else. When all files of a rank have been read,
//! [`clock`] tells the frequency of the device, and [`emit`] writes the slices with what follows
//! from them. Logs of the compiler ([`ideal`]) give ideal cycles.
//!
//! A rank can have many files, its jobs. A FLEX file can have many ranks: each process is one.
//! Slices wait in a sorter, so memory is bounded for any size of input.

mod argument;
mod attribute;
mod autopilot;
mod choice;
mod clock;
mod collective;
mod device_slice;
mod edges;
mod emit;
mod filter;
mod hcoll;
mod ideal;
mod inductor;
mod iteration;
mod job;
mod kernel;
mod limit;
mod line;
mod logs;
mod names;
mod null_sink;
mod packets;
mod part;
mod pieces;
mod power;
mod rank;
mod report;
mod runs;
mod settings;
mod shift;
mod summary;
mod taker;
mod torch;
mod torch_arguments;
mod torch_event;
mod usage;
mod watts;

#[cfg(test)]
mod fixture;
#[cfg(any(test, feature = "fixture"))]
pub mod packet_fixture;
#[cfg(test)]
mod tests;

use std::io::Read;
use std::sync::OnceLock;

use nprof_engine::makers::aiu::SOURCE;
use nprof_engine::model::{RankInfo, Sink, WarningKind};
use nprof_engine::spill::Space;

use self::autopilot::shares;
use self::choice::{Measure, choose};
use self::emit::{RankFacts, SliceEmitter};
use self::filter::{Filter, of_durations};
use self::ideal::{IdealTable, IdealTableKind};
use self::kernel::listed;
use self::limit::{Allowed, Look};
use self::logs::Logs;
use self::null_sink::Silent;
use self::part::{FileForm, PlanTrace, TraceDialect};
use self::power::Scale;
use self::rank::{FlexRanks, most_ranks};
use self::shift::{ClockShift, HostCalls};
use self::taker::SliceTaker;
use self::torch::TorchIdeals;
use self::usage::ArrayUsage;
use super::trace_event::Context;
use super::trace_event::layer::{Layer, LayerSession};
use crate::archive::unpack::EarlyEnd;
use crate::error::Error;
use crate::files::{Fault, ImportJob, Sinks, warn_of};
use crate::importer::FileRole;
use crate::inputs::rank_of;
use crate::origin::{Origin, TraceBeginning, origins};
use crate::owners::Skips;

pub use self::part::beginning;
pub use self::settings::{AiuSettings, DurationClock, EventLimit, Globals, OutsideWork, ValuePattern};

/// A border between files.
#[derive(Debug, Clone, Copy)]
enum Border {
    /// This file begins.
    Begin(PlanTrace),
    /// The file ends.
    End,
}

/// Reads the ranks of a plan.
///
/// # Errors
/// If a trace is no JSON of events or cannot be read, or if the sink fails.
pub fn import(job: &ImportJob<'_>, sinks: &mut dyn Sinks) -> Result<(), Fault> {
    import_with(job, AiuSettings::default(), sinks)
}

/// Reads the ranks of a plan with settings. A file of settings among the inputs takes precedence.
pub fn import_with(job: &ImportJob<'_>, settings: AiuSettings, sinks: &mut dyn Sinks) -> Result<(), Fault> {
    // The sinks tell which rank this pass is for.
    let Some(nth) = (0..MAX_RANKS).find(|&nth| sinks.rank(nth).is_some()) else { return Ok(()) };
    let Some(sink) = sinks.rank(nth) else { return Ok(()) };
    let beside = job.plan.files.iter().filter(|part| part.role == FileRole::Compiler);
    let settings = settings::of_job(job, beside.map(|part| part.file), settings)?;
    let ranks = AiuImport::new(job, settings, nth).run(sink)?;
    if let Some(last) = ranks.checked_sub(1) {
        sinks.rank(last);
    }
    Ok(())
}

/// Whether the ideal of a kernel depends on other kernels.
fn has_choice(tables: &[IdealTable]) -> bool {
    tables.len() > 1 || tables.iter().any(|table| table.kind == IdealTableKind::Autopilot)
}

/// Most ranks of a plan.
const MAX_RANKS: usize = 1 << 16;

struct AiuImport<'a> {
    job: &'a ImportJob<'a>,
    settings: AiuSettings,
    nth: usize,
    /// The traces of all ranks.
    parts: Vec<PlanTrace>,
    logs: Logs<'a>,
    most_ranks: usize,
}

impl<'a> AiuImport<'a> {
    fn new(job: &'a ImportJob<'a>, settings: AiuSettings, nth: usize) -> Self {
        let parts = job.plan.files.iter().filter(|part| part.role == FileRole::Trace);
        let mut parts: Vec<PlanTrace> = parts.map(|part| PlanTrace::of(job, part)).collect();
        if settings.limit != EventLimit::default() {
            // With a limit, events count in the order of time.
            parts.sort_by_key(|part| part.beginning.map(|beginning| beginning.first_ps()));
        }
        // All passes must find the same ranks, so only traces that all of them read count.
        let of_all = parts.iter().filter(|part| part.has_ranks());
        let most_ranks = most_ranks(of_all.map(|part| job.files.leaf(part.file).packed.len() as u64).sum());
        Self { job, settings, nth, parts, logs: Logs::of(job), most_ranks }
    }

    /// The traces of this rank. Those of PyTorch are of one rank: the first, if traces of the
    /// runtime have several. Exports state the ranks of their events.
    fn traces(&self) -> impl Iterator<Item = &PlanTrace> {
        self.parts.iter().filter(move |part| self.nth == 0 || part.has_ranks())
    }

    /// Reads the files, then writes the slices. Returns the number of ranks in the files.
    fn run(&self, sink: &mut dyn Sink) -> Result<usize, Fault> {
        let shift = self.shift()?;
        let is_of_torch = self.traces().all(|part| part.dialect == TraceDialect::Torch);
        let is_early = is_of_torch || !self.logs.may_be_of_ranks();
        let early = if is_early { Some(self.logs.tables(None, sink)?) } else { None };
        let space = self.job.space;
        let stated_hz = self.settings.soc_mhz.map(|mhz| mhz * 1e6);
        let wants_kernels = early.as_deref().is_none_or(has_choice);
        let ideals = early.as_deref().map(|tables| self.ideals(tables)).transpose()?.flatten();
        let mut taker =
            SliceTaker::new(self.ranks(), stated_hz, wants_kernels, space).with(self.filter()?, ideals);
        let info = {
            let context = Context { origin: self.origin(shift), space: Some(space) };
            let mut session =
                self.job.of_trace(LayerSession::new(context, &mut *sink).map_err(Error::from))?;
            for &part in self.traces() {
                let shift_ps =
                    shift.filter(|_| part.dialect == TraceDialect::Flex).map_or(0, |shift| shift.ps);
                session.shift_by(shift_ps);
                let read = self.file(part, &mut session, &mut taker);
                read.map_err(|source| Fault { file: part.file, source })?;
            }
            self.job.of_trace(session.close().map_err(Error::from))?
        };
        let ranks = taker.ranks.count().max(1);
        let late = match early {
            Some(_) => Vec::new(),
            None => self.logs.tables(Some((self.nth, ranks)), sink)?,
        };
        let tables = early.as_deref().unwrap_or(&late);
        if taker.ranks.is_full() && self.nth == 0 {
            let what = "more processes than nprof makes ranks of; the further ones are in the first rank";
            sink.warn(WarningKind::AdjustedValue, what, &|| format!("{ranks} ranks"));
        }
        if shift.is_none() && self.has_both() && self.nth == 0 {
            let what = "the clocks of the runtime and of PyTorch are not aligned: no shift puts the round trips \
                into the calls";
            sink.warn(WarningKind::MissingData, what, &String::new);
        }
        let written = self.write(taker, tables, shift, info, sink);
        self.job.of_trace(written)?;
        Ok(ranks)
    }

    fn ranks(&self) -> FlexRanks {
        FlexRanks::new(self.nth, self.most_ranks)
    }

    /// Events that the settings leave out.
    fn filter(&self) -> Result<Filter, Fault> {
        Ok(self.job.of_trace(Filter::new(&self.settings))?.within(self.allowed()?))
    }

    /// The ideals of the kernels of PyTorch's dialect. If the choice of tables depends on all
    /// kernels, the traces are read once for it.
    fn ideals<'t>(&self, tables: &'t [IdealTable]) -> Result<Option<TorchIdeals<'t>>, Fault> {
        let core_hz = self.settings.core_mhz * 1e6;
        let is_torch = |part: &PlanTrace| part.dialect == TraceDialect::Torch;
        if tables.is_empty() || !self.traces().any(is_torch) {
            return Ok(None);
        }
        if !has_choice(tables) {
            return Ok(Some(TorchIdeals::of_one(tables, core_hz)));
        }
        let space = self.job.space;
        let mut taker = SliceTaker::new(self.ranks(), None, true, space).with(self.filter()?, None);
        self.look(self.traces(), self.origin(None), &mut taker, |taker, border| {
            if let Border::Begin(part) = border {
                taker.begin("", part.dialect, self.rank_of_all(part));
            }
        })?;
        let SliceTaker { kernels, names, counters, .. } = taker;
        let choose = || {
            let list = listed(kernels, space, |kernel| kernel.is_torch)?;
            let kernels = || {
                let mut reader = list.read();
                move || Ok(reader.next()?.copied())
            };
            let clock = &counters.finish();
            TorchIdeals::choose(kernels, Measure { tables, names: &names, clock, core_hz })
        };
        self.job.of_trace(choose().map(Some).map_err(Error::from))
    }

    /// Whether the files are of both dialects.
    fn has_both(&self) -> bool {
        let has = |dialect| self.parts.iter().any(|part| part.dialect == dialect);
        has(TraceDialect::Flex) && has(TraceDialect::Torch)
    }

    /// The time to add to the times of the runtime, if traces of PyTorch tell it.
    fn shift(&self) -> Result<Option<ClockShift>, Fault> {
        let zero = |dialect| self.origin_of(|part| part.dialect == dialect);
        if !self.has_both() {
            return Ok(None);
        }
        let (Some(flex), Some(torch)) = (zero(TraceDialect::Flex), zero(TraceDialect::Torch)) else {
            return Ok(None);
        };
        let mut calls = HostCalls::new();
        for (dialect, zero) in [(TraceDialect::Flex, flex), (TraceDialect::Torch, torch)] {
            calls.begin(dialect);
            let parts = self.parts.iter().filter(|part| part.dialect == dialect);
            self.look(parts, Some(zero), &mut calls, |_, _| {})?;
        }
        Ok(calls.shift(torch.ps() - flex.ps()))
    }

    /// The events that the settings allow as far as this takes a first pass; `None` if it takes
    /// none.
    fn allowed(&self) -> Result<Option<Allowed>, Fault> {
        let durations = self.job.of_trace(of_durations(&self.settings))?;
        let limit = Some(&self.settings.limit).filter(|limit| **limit != EventLimit::default());
        if limit.is_none() && durations.is_empty() {
            return Ok(None);
        }
        let mut look = Look::new(self.ranks(), limit, durations);
        self.look(self.traces(), self.origin(None), &mut look, |look, border| match border {
            Border::Begin(part) => look.begin(part.dialect),
            Border::End => look.end(),
        })?;
        Ok(Some(look.finish()))
    }

    /// The rank of all events of a file that belong to the rank that is read, if it is not their
    /// process.
    fn rank_of_all(&self, part: PlanTrace) -> Option<u32> {
        part.rank.filter(|_| self.nth == 0)
    }

    /// Passes the events of traces to a layer, and drops what it leaves to the ordinary reader.
    fn look<'p, L: Layer>(
        &self,
        parts: impl Iterator<Item = &'p PlanTrace>,
        origin: Option<Origin>,
        layer: &mut L,
        mut between: impl FnMut(&mut L, Border),
    ) -> Result<(), Fault> {
        let mut sink = Silent;
        let context = Context { origin, space: Some(self.job.space) };
        let mut session = self.job.of_trace(LayerSession::new(context, &mut sink).map_err(Error::from))?;
        for &part in parts {
            let file = part.file;
            between(layer, Border::Begin(part));
            // Damage is reported when the file is read for good.
            let read = self.events(part, &mut session, layer, &mut |_| {});
            read.map_err(|source| Fault { file, source })?;
            between(layer, Border::End);
        }
        Ok(())
    }

    /// The events of a file that this pass leaves out, as far as the first pass noted them.
    fn skips(&self, file: usize) -> Skips<'_> {
        let owners = self.job.files.owners(file).filter(|_| self.nth > 0);
        owners.and_then(OnceLock::get).map_or_else(Skips::default, |owners| Skips::of(owners, self.nth))
    }

    /// Time zero: that of the profile, or that of the earliest file. Times of the runtime that are
    /// shifted are near PyTorch's.
    fn origin(&self, shift: Option<ClockShift>) -> Option<Origin> {
        let is_stated = |part: &PlanTrace| shift.is_none() || part.dialect == TraceDialect::Torch;
        self.job.origin.or_else(|| self.origin_of(is_stated))
    }

    /// Time zero of some traces.
    fn origin_of(&self, is_it: impl Fn(&PlanTrace) -> bool) -> Option<Origin> {
        let parts = self.parts.iter().filter(|part| is_it(part));
        let beginnings: Vec<Option<TraceBeginning>> = parts.map(|part| part.beginning).collect();
        origins(&beginnings).into_iter().flatten().next()
    }

    fn file(
        &self,
        part: PlanTrace,
        session: &mut LayerSession<'_>,
        taker: &mut SliceTaker<'_, '_>,
    ) -> Result<(), Error> {
        let file = part.file;
        let leaf = self.job.files.leaf(file);
        let name = leaf.candidate.name.rsplit('/').next().unwrap_or_default();
        taker.begin(name, part.dialect, self.rank_of_all(part));
        session.name(name);
        // Packets are read as a whole by every pass.
        let has_owners =
            self.nth == 0 && part.dialect == TraceDialect::Flex && part.written == FileForm::Json;
        let owners = self.job.files.owners(file).filter(|_| has_owners);
        if owners.is_some() {
            session.note();
        }
        // Other files of the plan are counted as a whole.
        let is_first = file == self.job.plan.trace();
        let progress = &mut |done| {
            if is_first {
                (self.job.progress)(done)
            }
        };
        if let Some(damage) = self.events(part, &mut *session, &mut *taker, progress)? {
            warn_of(&damage, session.sink());
        }
        if let (Some(owners), Some(noted)) = (owners, session.noted()) {
            // The first pass over the file notes first.
            let _ = owners.set(noted);
        }
        let unfinished = taker.end()?;
        if unfinished > 0 {
            let what = "a slice of the device without its end";
            session.sink().warn_times(WarningKind::Unpaired, what, unfinished, &|| name.to_owned());
        }
        Ok(())
    }

    /// Reads the events of a file through a layer: from its bytes if they are not packed, else
    /// while it is unpacked. Returns damage of the packing.
    fn events(
        &self,
        part: PlanTrace,
        session: &mut LayerSession<'_>,
        layer: &mut dyn Layer,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Option<EarlyEnd>, Error> {
        let (file, space) = (part.file, self.job.space);
        let leaf = self.job.files.leaf(file);
        let of = packets::PacketFile {
            dialect: part.dialect,
            beginning: part.beginning,
            is_export: part.written == FileForm::Export,
            has_compiler: self.logs.has_any(),
            most_unpacked: leaf.most_unpacked(),
        };
        session.begin();
        match (part.written, leaf.plain()) {
            (FileForm::Json, Some(bytes)) => session.read_bytes(&bytes, self.skips(file), layer, progress)?,
            (FileForm::Packets | FileForm::Export, Some(bytes)) => {
                packets::read(&mut &bytes[..], of, space, session, layer, progress)?;
            }
            (written, None) => {
                let mut read = |input: &mut dyn Read| match written {
                    FileForm::Json => session.read(input, self.skips(file), &mut *layer, &mut |_| {}),
                    FileForm::Packets | FileForm::Export => {
                        packets::read(input, of, space, &mut *session, &mut *layer, &mut |_| {})
                    }
                };
                return self.job.files.stream(file, &mut read);
            }
        }
        Ok(leaf.damage())
    }

    /// Number of the rank: the one that the name of a trace tells, or that a trace states. A
    /// process id is the number of a rank if there is no other.
    fn rank(&self, taker: &SliceTaker<'_, '_>, stated: Option<u32>) -> Option<u32> {
        let of_process = taker.ranks.number();
        if self.nth > 0 {
            return of_process;
        }
        let name = |part: &PlanTrace| rank_of(&self.job.files.leaf(part.file).candidate.name);
        let named = self.traces().find_map(name);
        let of_whole = stated.or(self.job.plan.rank).filter(|_| taker.ranks.count() < 2);
        named.or(of_whole).or(of_process)
    }

    fn write(
        &self,
        taker: SliceTaker<'_, '_>,
        tables: &[IdealTable],
        shift: Option<ClockShift>,
        info: RankInfo,
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        let space: Space<'_> = self.job.space;
        let core_hz = self.settings.core_mhz * 1e6;
        let rank = self.rank(&taker, info.rank);
        // A rank of FLEX is a device. Several devices of a rank have numbers of their own.
        let device = rank.filter(|_| taker.devices.len() < 2);
        let clock = taker.counters.finish();
        // Kernels that the runtime has written count once, with their counters.
        let (names, jobs) = (&taker.names, &taker.jobs);
        let counts_torch = jobs.all.iter().all(|job| job.kernels == 0);
        // Kernels are read twice: for the choice of tables, and those of PyTorch for their times.
        let list = listed(taker.kernels, space, |kernel| counts_torch || !kernel.is_torch)?;
        let measure = Measure { tables, names, clock: &clock, core_hz };
        let mut reader = list.read();
        let choices = choose(|| Ok(reader.next()?.copied()), measure)?;
        let scale = Scale { watts: self.settings.power_scale, max_watts: self.settings.max_watts };
        let facts = RankFacts {
            clock: &clock,
            names,
            jobs,
            threads: &taker.threads,
            has_devices: counts_torch && taker.devices.len() > 1,
            fixes_jobs: self.settings.outside == OutsideWork::Shifted,
            durations: self.settings.durations,
            core_hz: (!tables.is_empty()).then_some(core_hz),
            shift,
            scale,
        };
        let mut reader = list.read();
        let next = || Ok(reader.next()?.copied());
        let shares = shares(next, &choices, measure)?;
        let usage = ArrayUsage::new(tables, core_hz, shares);
        let mut emitter = SliceEmitter::new(&mut *sink, facts, usage, choices, rank, space)?;
        emitter.slices(taker.held)?;
        let mut reader = list.read();
        emitter.torch_kernels(|| Ok(reader.next()?.copied()))?;
        emitter.transfers(taker.transfers, space)?;
        if counts_torch {
            emitter.written(taker.written)?;
            emitter.protocols(taker.protocols)?;
        }
        let totals = emitter.finish(space)?;
        self.logs.warn_of_other_run(&totals, sink);
        report::write(sink, facts, &totals)?;
        let title = jobs.all.first().map(|job| job.name.to_string()).unwrap_or_default();
        let title = if info.title.is_empty() { title } else { info.title.clone() };
        sink.rank(RankInfo { rank, device, source: SOURCE.to_owned(), title, ..info });
        Ok(())
    }
}
