//! Turns the files and directories that a user names into the plans of a profile.

mod gathered_files;
mod input_groups;
mod logs;
mod survey;
mod title;
mod unread_files;

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use nprof_capture::archive::{PlainFile, Spool};
use nprof_capture::error::Error;
use nprof_capture::inputs::{Plan, hosts};

use self::gathered_files::{Gathered, NeighbourFiles};
pub use self::input_groups::{Grouped, GroupedInputs};
use self::logs::Planned;
use self::title::title;
use super::mapped_file::MappedFile;
use super::{IngestError, Result};
use crate::output::FileId;

/// The way in which a file was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileOrigin {
    /// The user named the file. If it is not a trace, that is an error.
    ByName,
    /// The user named the file's directory or archive. If the file is not a trace, it is left out.
    ByDirectory,
}

/// A file that can be read.
#[derive(Clone)]
pub struct InputFile {
    /// Bytes and kind of the file.
    pub leaf: PlainFile,
    /// Path for messages. A file within an archive has a path that does not exist on disk.
    pub place: PathBuf,
    /// The way in which the file was chosen.
    pub chosen: FileOrigin,
    /// Position among the logs of a compiler that the user named.
    pub nth_log: Option<usize>,
}

/// All files to read.
#[derive(Clone)]
pub struct Inputs {
    /// The files. Plans refer to them by index.
    pub files: Vec<InputFile>,
    /// One plan per trace, at least one.
    pub plans: Vec<Plan>,
    /// A name for several traces together: of their directory, their archive, or the first file.
    pub title: Option<String>,
    /// Files that look like traces but are not read, each with the reason.
    pub left_out: Vec<String>,
    /// The files on the disk.
    sources: Vec<MappedFile>,
}

impl Inputs {
    /// Checks that no file has become shorter since it was opened.
    pub(super) fn check_lengths(&self) -> Result<()> {
        self.sources.iter().try_for_each(MappedFile::check)
    }

    /// The ids of the files on the disk that are read.
    pub fn file_ids(&self) -> impl Iterator<Item = FileId> {
        self.sources.iter().map(MappedFile::id)
    }

    /// Calls `read`. If files of a directory turn out not to be traces, they are left out and
    /// `read` is called again.
    ///
    /// # Errors
    /// Errors of `read` about a file that the user named, or about the last file.
    pub fn reading<T>(mut self, mut read: impl FnMut(&Self) -> Result<T>) -> Result<T> {
        loop {
            match read(&self) {
                Err(IngestError::Spared(files)) => self.leave_out(files)?,
                done => return done,
            }
        }
    }

    /// The error for a plan whose reader failed: files of directories and archives are spared.
    pub(super) fn spared(&self, plan: &Plan, error: IngestError) -> IngestError {
        let is_spared = |path: &Path| {
            let mut traces = plan.traces().map(|file| &self.files[file]);
            traces.any(|file| file.chosen == FileOrigin::ByDirectory && file.place == path)
        };
        match error {
            IngestError::Format { path, source } if is_spared(&path) => {
                IngestError::Spared(vec![(path, source)])
            }
            error => error,
        }
    }

    /// Removes these traces from their plans, if other traces are left.
    fn leave_out(&mut self, files: Vec<(PathBuf, Error)>) -> Result<()> {
        let mut bad: HashMap<PathBuf, Error> = files.into_iter().collect();
        let traces = || self.plans.iter().flat_map(Plan::traces).map(|file| &self.files[file]);
        if traces().all(|file| bad.contains_key(&file.place)) {
            let last = traces().last().and_then(|file| bad.remove_entry(&file.place));
            let (path, source) = last.ok_or(IngestError::NoInput)?;
            return Err(IngestError::Format { path, source });
        }
        let lines = traces()
            .filter_map(|file| Some(format!("{}: {}", file.leaf.candidate.name, bad.get(&file.place)?)));
        let lines: Vec<String> = lines.collect();
        self.left_out.extend(lines);
        for plan in &mut self.plans {
            plan.files.retain(|part| !bad.contains_key(&self.files[part.file].place));
        }
        self.plans.retain(|plan| plan.traces().next().is_some());
        Ok(())
    }

    /// Plans the files once more, after their claims have changed.
    ///
    /// # Errors
    /// If no file is a trace, or it is not clear which files belong to which trace.
    pub fn plan_again(&mut self) -> Result<()> {
        let Planned { plans, unused } = logs::planned(&self.files)?;
        self.plans = plans;
        self.left_out.retain(|line| !line.ends_with(unread_files::UNUSED));
        self.left_out.extend(unread_files::unused(&self.files, &unused));
        Ok(())
    }

    /// The files of a plan; the trace first.
    pub fn files_of<'i>(&'i self, plan: &'i Plan) -> impl Iterator<Item = &'i InputFile> {
        plan.files.iter().map(|part| &self.files[part.file])
    }

    /// The path of a plan's trace, for messages.
    #[must_use]
    pub fn place(&self, plan: &Plan) -> &Path {
        &self.files[plan.trace()].place
    }

    /// The host of each plan, if the paths of the traces tell it.
    #[must_use]
    pub fn hosts(&self) -> Vec<Option<String>> {
        let part = |part: Component<'_>| part.as_os_str().to_string_lossy().into_owned();
        let path = |plan: &Plan| self.place(plan).components().map(part).collect::<Vec<_>>().join("/");
        let paths: Vec<String> = self.plans.iter().map(path).collect();
        hosts(&paths.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Stored bytes of the files of all plans.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        let files = self.plans.iter().flat_map(|plan| self.files_of(plan));
        files.map(|file| file.leaf.packed.len() as u64).sum()
    }
}

/// The inputs that a user named: `view -n NEFF -s NTFF -d DIR FILES…`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedInputs {
    /// The program that was traced.
    pub neff: Option<PathBuf>,
    /// Logs of a compiler, and folders with its files.
    pub compiler: Vec<PathBuf>,
    /// A single trace.
    pub session_file: Option<PathBuf>,
    /// A directory with one trace a rank.
    pub session_dir: Option<PathBuf>,
    /// Files, archives and directories of any supported format.
    pub files: Vec<PathBuf>,
}

impl NamedInputs {
    /// Returns true if the user named nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// All paths.
    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        let single = self.neff.iter().chain(&self.session_file).chain(&self.session_dir);
        single.chain(&self.compiler).chain(&self.files)
    }

    /// The plans of one profile of all traces. Traces that tell a rank come first, in order; the
    /// others follow as named. Archives are opened. Entries that must be unpacked for that go to
    /// `spool`.
    ///
    /// # Errors
    /// If the files contain no trace, or a file or directory cannot be read. Also if it is not
    /// clear which of several files belongs to which trace. `Cancelled` if the spool is cancelled.
    pub fn inputs(&self, spool: &dyn Spool) -> Result<Inputs> {
        let planned = self.gathered(spool).and_then(Gathered::into_inputs);
        // The result does not count: files can be missing after a cancellation.
        if spool.is_cancelled() { Err(IngestError::Cancelled) } else { planned }
    }

    /// The plans of the profiles that the traces make, by the rules of
    /// [`nprof_capture::inputs::groups`].
    pub fn profiles(&self, spool: &dyn Spool) -> Result<Grouped> {
        let planned = self.gathered(spool).and_then(Grouped::of);
        if spool.is_cancelled() { Err(IngestError::Cancelled) } else { planned }
    }

    fn gathered(&self, spool: &dyn Spool) -> Result<Gathered> {
        let mut found = Gathered::default();
        if let Some(neff) = &self.neff {
            found.model(neff, spool)?;
        }
        for path in &self.compiler {
            found.compiler(path, spool)?;
        }
        let named: Vec<&PathBuf> =
            self.session_file.iter().chain(&self.session_dir).chain(&self.files).collect();
        for &path in &named {
            if path.is_dir() {
                // A program that the user named takes precedence over a program in the directory.
                let keep = if self.neff.is_some() { NeighbourFiles::Ignored } else { NeighbourFiles::Taken };
                found.directory(path, keep, spool)?;
            } else {
                found.file(path, spool)?;
            }
        }
        input_groups::set_paths(&mut found.files);
        survey::survey(&mut found.files, spool);
        Ok(found)
    }
}

impl Gathered {
    /// The plans of one profile of all files.
    fn into_inputs(self) -> Result<Inputs> {
        let Self { files, wholes, mut left_out, sources } = self;
        let Planned { plans, unused } = logs::planned(&files)?;
        left_out.extend(unread_files::unused(&files, &unused));
        left_out.extend(unread_files::same_rank(&files, &plans));
        left_out.sort();
        left_out.dedup();
        let title = title(&wholes, &files, &plans);
        Ok(Inputs { title, plans, files, left_out, sources })
    }
}

impl InputFile {
    /// A file that was found in the file or folder at `path`. The names of files from there begin
    /// with `name`.
    fn new(leaf: PlainFile, path: &Path, name: &str, chosen: FileOrigin) -> Self {
        let below = leaf.candidate.name.strip_prefix(name).and_then(|rest| rest.strip_prefix('/'));
        let place = match below {
            Some(entry) => PathBuf::from(format!("{}/{entry}", path.display())),
            None => path.to_owned(),
        };
        Self { place, leaf, chosen, nth_log: None }
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
