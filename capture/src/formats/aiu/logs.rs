//! The files of the compiler that go with a plan, and which of them are for a rank.
//!
//! Several logs whose names tell no rank belong to the ranks in their order, if there are as many.
//! Otherwise each log is for all ranks.

use std::io::Read;

use nprof_engine::makers::aiu::{IDEAL_CYCLES, SETTINGS};
use nprof_engine::model::{Sink, WarningKind};

use super::emit::SliceTotals;
use super::ideal::{IdealTable, IdealTables, read_log};
use super::inductor::read_inductor;
use crate::files::{Fault, ImportJob};
use crate::importer::FileRole;
use crate::inputs::rank_of;

/// Kind of a file of the compiler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CompilerFile {
    /// A log with tables.
    Log,
    /// A file of the PyTorch compiler.
    Inductor,
    /// Settings of the reader, which have been read.
    Settings,
}

impl CompilerFile {
    fn of(bytes: &[u8]) -> Self {
        if bytes.starts_with(SETTINGS.as_bytes()) {
            return Self::Settings;
        }
        let is_json = bytes.trim_ascii_start().first().is_some_and(|first| matches!(first, b'[' | b'{'));
        let has_cycles = || memchr::memmem::find(bytes, IDEAL_CYCLES.as_bytes()).is_some();
        if is_json && has_cycles() { Self::Inductor } else { Self::Log }
    }
}

/// The files of the compiler.
pub(super) struct Logs<'a> {
    job: &'a ImportJob<'a>,
    files: Vec<usize>,
}

impl<'a> Logs<'a> {
    pub(super) fn of(job: &'a ImportJob<'a>) -> Self {
        let parts = job.plan.files.iter().filter(|part| part.role == FileRole::Compiler);
        Self { job, files: parts.map(|part| part.file).collect() }
    }

    /// Whether there is a file of the compiler, and not only one with settings.
    pub(super) fn has_any(&self) -> bool {
        self.first().is_some()
    }

    /// The first file of the compiler.
    fn first(&self) -> Option<usize> {
        let is_its = |file: &usize| {
            let mut begin = Vec::new();
            // A file that cannot be read is reported when it is read as a whole.
            let _ = self.job.files.leaf(*file).reader().take(SETTINGS.len() as u64).read_to_end(&mut begin);
            CompilerFile::of(&begin) != CompilerFile::Settings
        };
        self.files.iter().copied().find(is_its)
    }

    /// Whether several files can be those of several ranks.
    pub(super) fn may_be_of_ranks(&self) -> bool {
        let is_named = |file: &usize| rank_of(&self.job.files.leaf(*file).candidate.name).is_some();
        self.files.len() > 1 && !self.files.iter().any(is_named)
    }

    /// The tables for a rank: its position, and the number of ranks.
    pub(super) fn tables(
        &self,
        rank: Option<(usize, usize)>,
        sink: &mut dyn Sink,
    ) -> Result<Vec<IdealTable>, Fault> {
        let mut logs = Vec::new();
        let mut tables = IdealTables::default();
        for &file in &self.files {
            let bytes = self.job.files.whole(file).map_err(|source| Fault { file, source })?;
            match CompilerFile::of(&bytes) {
                CompilerFile::Settings => {}
                CompilerFile::Log => logs.push(file),
                CompilerFile::Inductor => {
                    let name = &self.job.files.leaf(file).candidate.name;
                    if let Err(what) = read_inductor(name, &bytes, &mut tables) {
                        let what = format!("a file of the compiler is not used: {what}");
                        sink.warn(WarningKind::DamagedRecord, &what, &|| name.clone());
                    }
                }
            }
        }
        let own =
            rank.filter(|&(_, ranks)| ranks > 1 && ranks == logs.len()).and_then(|(nth, _)| logs.get(nth));
        if let Some(&own) = own {
            logs = vec![own];
        }
        for file in logs {
            self.log(file, &mut tables, sink)?;
        }
        if tables.dropped > 0 {
            let what =
                "more different tables of ideal cycles than nprof reads; the further ones are left out";
            sink.warn(WarningKind::MissingData, what, &|| format!("{} tables", tables.dropped));
        }
        Ok(tables.all)
    }

    /// Says if the tables name no kernel of the traces.
    pub(super) fn warn_of_other_run(&self, totals: &SliceTotals, sink: &mut dyn Sink) {
        if !totals.has_other_tables {
            return;
        }
        let what = "the compiler's tables name no kernel of the traces; they may be those of another run";
        let first = self.first().map(|file| &self.job.files.leaf(file).candidate.name);
        sink.warn(WarningKind::MissingData, what, &|| first.cloned().unwrap_or_default());
    }

    fn log(&self, file: usize, tables: &mut IdealTables, sink: &mut dyn Sink) -> Result<(), Fault> {
        let bytes = self.job.files.whole(file).map_err(|source| Fault { file, source })?;
        let is_cut = read_log(&bytes, tables);
        let name = &self.job.files.leaf(file).candidate.name;
        if is_cut {
            let what = "a log of the compiler ends within a table; its complete rows count";
            sink.warn(WarningKind::TruncatedInput, what, &|| name.clone());
        }
        if tables.all.is_empty() {
            let what = "a log of the compiler has no table of ideal cycles";
            sink.warn(WarningKind::MissingData, what, &|| name.clone());
        }
        Ok(())
    }
}
