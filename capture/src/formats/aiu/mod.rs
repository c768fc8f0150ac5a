//! IBM AIU traces: the inputs of acelyzer.
//!
//! Both dialects are Trace Event JSON. FLEX, the runtime, writes lists of events; its slices of the
//! device have five cycle counters. PyTorch's profiler writes its usual object. [`taker`] takes the
//! slices of the device out of the events, and the ordinary reader takes everything else. When all
//! files of a rank have been read, [`clock`] tells the frequency of the device, and [`emit`] writes
//! the slices with what follows from them. Logs of the compiler ([`ideal`]) give ideal cycles.
//!
//! A rank can have many files, its jobs. A FLEX file can have many ranks: each process is one.
//! Slices wait in a sorter, so memory is bounded for any size of input.

mod attribute;
mod choice;
mod clock;
mod collective;
mod edges;
mod emit;
mod filter;
mod held;
mod ideal;
mod iteration;
mod job;
mod kernel;
mod limit;
mod names;
mod power;
mod rank;
mod report;
mod settings;
mod silent;
mod summary;
mod taker;
mod usage;
mod watts;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tests;

use std::io::Read;

use nprof_engine::model::{RankInfo, Sink, WarningKind};
use nprof_engine::spill::Space;
use nprof_engine::vendor::aiu::{IDEAL_CYCLES, SETTINGS, SOURCE};

use self::choice::{Choices, choose};
use self::emit::{Emitter, Facts};
use self::filter::Filter;
use self::ideal::{Table, read_inductor, read_log};
use self::limit::{Allowed, Look};
use self::silent::Silent;
use self::taker::Taker;
use self::usage::Usage;
use super::Error;
use super::trace_event::layer::Session;
use super::trace_event::{Beginning, Context, Origin, origins};
use crate::files::{Fault, Job};
use crate::importer::{Role, Sinks};
use crate::inputs::PlanFile;
use crate::probe::HEAD_LEN;

pub use self::settings::{Durations, Globals, Limit, Outside, Pattern, Settings};

/// Dialect of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    /// The runtime's.
    Flex,
    /// PyTorch's.
    Torch,
}

impl Dialect {
    /// The dialect of a file with these first bytes.
    fn of(head: &[u8]) -> Self {
        let has = |key: &[u8]| memchr::memmem::find(head, key).is_some();
        if has(b"\"deviceProperties\"") || has(b"\"schemaVersion\"") { Self::Torch } else { Self::Flex }
    }
}

/// Reads the ranks of a plan.
///
/// # Errors
/// If a trace is no JSON of events or cannot be read, or if the sink fails.
pub fn import(job: &Job<'_>, sinks: &mut dyn Sinks) -> Result<(), Fault> {
    import_with(job, Settings::default(), sinks)
}

/// Reads the ranks of a plan with settings. A file of settings among the inputs takes precedence.
///
/// # Errors
/// The same as for [`import`].
pub fn import_with(job: &Job<'_>, settings: Settings, sinks: &mut dyn Sinks) -> Result<(), Fault> {
    // The sinks tell which rank this pass is for.
    let Some(nth) = (0..MAX_RANKS).find(|&nth| sinks.rank(nth).is_some()) else { return Ok(()) };
    let Some(sink) = sinks.rank(nth) else { return Ok(()) };
    let beside = job.plan.files.iter().filter(|part| part.role == Role::Compiler);
    let settings = settings::of_job(job, beside.map(|part| part.file), settings)?;
    let ranks = Import { job, settings, nth }.run(sink)?;
    if let Some(last) = ranks.checked_sub(1) {
        sinks.rank(last);
    }
    Ok(())
}

/// Most ranks of a plan.
const MAX_RANKS: usize = 1 << 16;

struct Import<'a> {
    job: &'a Job<'a>,
    settings: Settings,
    nth: usize,
}

impl Import<'_> {
    /// Reads the files, then writes the slices. Returns the number of ranks in the files.
    fn run(&self, sink: &mut dyn Sink) -> Result<usize, Fault> {
        let tables = self.tables(sink)?;
        let space = self.job.space;
        let stated_hz = self.settings.soc_mhz.map(|mhz| mhz * 1e6);
        let filter = self.job.of_trace(Filter::new(&self.settings))?.within(self.allowed()?);
        let mut taker = Taker::new(self.nth, stated_hz, tables.len() > 1, space).with(filter);
        let info = {
            let context = Context { origin: self.origin(), space: Some(space) };
            let mut session = self.job.of_trace(Session::new(context, &mut *sink).map_err(Error::from))?;
            for file in self.traces() {
                self.file(file, &mut session, &mut taker).map_err(|source| Fault { file, source })?;
            }
            self.job.of_trace(session.close().map_err(Error::from))?
        };
        let ranks = taker.ranks.count().max(1);
        let written = self.write(taker, &tables, info, sink);
        self.job.of_trace(written)?;
        Ok(ranks)
    }

    fn files(&self, role: Role) -> impl Iterator<Item = PlanFile> {
        self.job.plan.files.iter().copied().filter(move |part| part.role == role)
    }

    /// The traces. With a limit they come by the time of their beginning, because events count in
    /// the order of time.
    fn traces(&self) -> Vec<usize> {
        let mut traces: Vec<usize> = self.files(Role::Trace).map(|part| part.file).collect();
        if self.settings.limit != Limit::default() {
            let first = |file: &usize| Beginning::of(&self.head(*file)).map(|beginning| beginning.first_ps());
            traces.sort_by_cached_key(first);
        }
        traces
    }

    /// The events within the limit of the settings; `None` without a limit.
    fn allowed(&self) -> Result<Option<Allowed>, Fault> {
        let limit = &self.settings.limit;
        if *limit == Limit::default() {
            return Ok(None);
        }
        let (mut look, mut sink) = (Look::new(self.nth, limit), Silent);
        let context = Context { origin: self.origin(), space: Some(self.job.space) };
        let mut session = self.job.of_trace(Session::new(context, &mut sink).map_err(Error::from))?;
        for file in self.traces() {
            look.begin(Dialect::of(&self.head(file)));
            // Damage is reported when the file is read for good.
            let read = match self.job.files.leaf(file).plain() {
                Some(bytes) => session.read_bytes(&bytes, &mut look, &mut |_| {}),
                None => {
                    let mut read = |input: &mut dyn Read| session.read(input, &mut look, &mut |_| {});
                    self.job.files.stream(file, &mut read).map(|_| ())
                }
            };
            read.map_err(|source| Fault { file, source })?;
            look.end();
        }
        Ok(Some(look.finish()))
    }

    fn head(&self, file: usize) -> Vec<u8> {
        let mut head = Vec::new();
        // A file that cannot be read is reported when it is read as a whole.
        let _ = self.job.files.leaf(file).reader().take(HEAD_LEN as u64).read_to_end(&mut head);
        head
    }

    /// Time zero: that of the profile, or that of the earliest file.
    fn origin(&self) -> Option<Origin> {
        if self.job.origin.is_some() {
            return self.job.origin;
        }
        let beginnings: Vec<Option<Beginning>> =
            self.files(Role::Trace).map(|part| Beginning::of(&self.head(part.file))).collect();
        origins(&beginnings).into_iter().flatten().next()
    }

    fn file(&self, file: usize, session: &mut Session<'_>, taker: &mut Taker<'_>) -> Result<(), Error> {
        let leaf = self.job.files.leaf(file);
        let name = leaf.candidate.name.rsplit('/').next().unwrap_or_default();
        taker.begin(name, Dialect::of(&self.head(file)));
        session.name(name);
        // Other files of the plan are counted as a whole.
        let is_first = file == self.job.plan.trace();
        let progress = &mut |done| {
            if is_first {
                (self.job.progress)(done)
            }
        };
        match leaf.plain() {
            Some(bytes) => session.read_bytes(&bytes, taker, progress)?,
            None => {
                let damage = self
                    .job
                    .files
                    .stream(file, &mut |input| session.read(input, &mut *taker, &mut |_| {}))?;
                if let Some(damage) = damage {
                    let what = "the file is cut off or damaged; nprof has read everything before this place";
                    let place = || format!("{}: {}", damage.place(), damage.what);
                    session.sink().warn(WarningKind::TruncatedInput, what, &place);
                }
            }
        }
        let unfinished = taker.end()?;
        for _ in 0..unfinished {
            let what = "a slice of the device without its end";
            session.sink().warn(WarningKind::Unpaired, what, &|| name.to_owned());
        }
        Ok(())
    }

    /// The tables of the compiler's files.
    fn tables(&self, sink: &mut dyn Sink) -> Result<Vec<Table>, Fault> {
        let mut tables = Vec::new();
        for PlanFile { file, .. } in self.files(Role::Compiler) {
            let bytes = self.job.files.whole(file).map_err(|source| Fault { file, source })?;
            let name = &self.job.files.leaf(file).candidate.name;
            if bytes.starts_with(SETTINGS.as_bytes()) {
                continue;
            }
            let is_json = bytes.trim_ascii_start().first().is_some_and(|first| matches!(first, b'[' | b'{'));
            if is_json && memchr::memmem::find(&bytes, IDEAL_CYCLES.as_bytes()).is_some() {
                if let Err(what) = read_inductor(name, &bytes, &mut tables) {
                    let what = format!("a file of the compiler is not used: {what}");
                    sink.warn(WarningKind::DamagedRecord, &what, &|| name.clone());
                }
                continue;
            }
            let before = tables.len();
            read_log(&bytes, &mut tables);
            if tables.len() == before && before == 0 {
                let what = "a log of the compiler has no table of ideal cycles";
                sink.warn(WarningKind::MissingData, what, &|| name.clone());
            }
        }
        Ok(tables)
    }

    fn write(
        &self,
        taker: Taker<'_>,
        tables: &[Table],
        info: RankInfo,
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        let space: Space<'_> = self.job.space;
        let core_hz = self.settings.core_mhz * 1e6;
        let Taker { ranks, held, kernels, transfers, names, counters, jobs, threads, .. } = taker;
        let clock = counters.finish();
        // Kernels are read twice: for the choice of tables, and those of PyTorch for their times.
        let mut list = space.pile();
        let mut sorted = kernels.finish()?;
        while let Some(&kernel) = sorted.next()? {
            list.push(kernel)?;
        }
        let choices = match tables.len() {
            0 | 1 => Choices::of_one(),
            _ => {
                let mut reader = list.read();
                choose(|| Ok(reader.next()?.copied()), (&names, tables), core_hz)?
            }
        };
        let device = ranks.number().or(info.rank);
        let fixes_jobs = self.settings.outside == Outside::Shifted;
        let durations = self.settings.durations;
        let facts =
            Facts { clock: &clock, names: &names, jobs: &jobs, threads: &threads, fixes_jobs, durations };
        let usage = Usage::new(tables, core_hz);
        let mut emitter = Emitter::new(&mut *sink, facts, (usage, choices), device, space)?;
        emitter.slices(held)?;
        let mut reader = list.read();
        emitter.torch_kernels(|| Ok(reader.next()?.copied()))?;
        emitter.transfers(transfers, space)?;
        let totals = emitter.finish(space)?;
        report::write(sink, facts, &totals)?;
        let title = jobs.all.first().map(|job| job.name.to_string()).unwrap_or_default();
        let title = if info.title.is_empty() { title } else { info.title.clone() };
        sink.rank(RankInfo { rank: device, device, source: SOURCE.to_owned(), title, ..info });
        Ok(())
    }
}
