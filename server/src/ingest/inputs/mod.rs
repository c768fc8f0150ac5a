//! Turns the files and directories that a user names into the plans of a profile.

mod left_out;
mod logs;
mod title;

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use nprof_capture::archive::{self, FileBytes, Leaf, Spool};
use nprof_capture::error::Error;
use nprof_capture::importer::{Claim, Role, TABLE};
use nprof_capture::inputs::directory::Why;
use nprof_capture::inputs::natural::natural;
use nprof_capture::inputs::{Candidate, Choice, Found, Plan, choose, hosts, is_named_like_trace};
use nprof_capture::probe::Confidence;
use nprof_capture::refusal::Refusal;

use self::logs::Planned;
use self::title::title;
use super::mapped::{self, Source};
use super::{IngestError, Result};

/// The way in which a file was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chosen {
    /// The user named the file. If it is not a trace, that is an error.
    ByName,
    /// The user named the file's directory or archive. If the file is not a trace, it is left out.
    ByDirectory,
}

/// A file that can be read.
#[derive(Clone)]
pub struct InputFile {
    /// Bytes and kind of the file.
    pub leaf: Leaf,
    /// Path for messages. A file within an archive has a path that does not exist on disk.
    pub place: PathBuf,
    /// The way in which the file was chosen.
    pub chosen: Chosen,
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
    sources: Vec<Source>,
}

impl Inputs {
    /// Checks that no file has become shorter since it was opened.
    ///
    /// # Errors
    /// If one has.
    pub(super) fn check_lengths(&self) -> Result<()> {
        self.sources.iter().try_for_each(Source::check)
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
        match error {
            IngestError::Format { path, source }
                if self.files[plan.trace()].chosen == Chosen::ByDirectory && self.place(plan) == path =>
            {
                IngestError::Spared(vec![(path, source)])
            }
            error => error,
        }
    }

    /// Removes the plans of these traces, if other plans are left.
    fn leave_out(&mut self, files: Vec<(PathBuf, Error)>) -> Result<()> {
        let mut bad: HashMap<PathBuf, Error> = files.into_iter().collect();
        if self.plans.iter().all(|plan| bad.contains_key(self.place(plan))) {
            let last = self.plans.last().and_then(|plan| bad.remove_entry(self.place(plan)));
            let (path, source) = last.ok_or(IngestError::NoInput)?;
            return Err(IngestError::Format { path, source });
        }
        for plan in std::mem::take(&mut self.plans) {
            match bad.remove(self.place(&plan)) {
                Some(source) => {
                    let name = &self.files[plan.trace()].leaf.candidate.name;
                    self.left_out.push(format!("{name}: {source}"));
                }
                None => self.plans.push(plan),
            }
        }
        Ok(())
    }

    /// Plans the files once more, after their claims have changed.
    ///
    /// # Errors
    /// If no file is a trace, or it is not clear which files belong to which trace.
    pub fn plan_again(&mut self) -> Result<()> {
        let Planned { plans, unused } = logs::planned(&self.files)?;
        self.plans = plans;
        self.left_out.retain(|line| !line.ends_with(left_out::UNUSED));
        self.left_out.extend(left_out::unused(&self.files, &unused));
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
pub struct Named {
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

impl Named {
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

    /// The plans of a profile. Traces with a rank number in their names come first, in order; the
    /// others follow as named. Archives are opened. Entries that must be unpacked for that go to
    /// `spool`.
    ///
    /// # Errors
    /// If the files contain no trace, or a file or directory cannot be read. Also if it is not
    /// clear which of several files belongs to which trace. `Cancelled` if the spool is cancelled.
    pub fn inputs(&self, spool: &dyn Spool) -> Result<Inputs> {
        let planned = self.planned(spool);
        // Whatever the result: files can be missing after a cancellation.
        if spool.is_cancelled() { Err(IngestError::Cancelled) } else { planned }
    }

    fn planned(&self, spool: &dyn Spool) -> Result<Inputs> {
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
                let keep = if self.neff.is_some() { Beside::Ignored } else { Beside::Taken };
                found.directory(path, keep, spool)?;
            } else {
                found.file(path, spool)?;
            }
        }
        let Gathered { files, wholes, mut left_out, sources } = found;
        let Planned { plans, unused } = logs::planned(&files)?;
        left_out.extend(left_out::unused(&files, &unused));
        left_out.sort();
        left_out.dedup();
        let title = title(&wholes, &files, &plans);
        Ok(Inputs { title, plans, files, left_out, sources })
    }
}

/// Levels of folders below a directory that are searched for traces.
const MAX_DEPTH: usize = 4;

/// Treatment of files in a directory that go with traces.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    Taken,
    Ignored,
}

/// The files that have been found so far.
#[derive(Default)]
struct Gathered {
    files: Vec<InputFile>,
    /// The directories and archives that the user named.
    wholes: Vec<PathBuf>,
    left_out: Vec<String>,
    sources: Vec<Source>,
}

impl Gathered {
    /// The bytes of a file.
    fn open(&mut self, path: &Path) -> Result<FileBytes> {
        let (bytes, source) = mapped::open(path)?;
        self.sources.push(source);
        Ok(bytes)
    }

    /// Adds a file that the user named.
    fn file(&mut self, path: &Path, spool: &dyn Spool) -> Result<()> {
        let name = file_name(path);
        let opened = archive::open(&name, self.open(path)?, spool);
        let files = opened.leaves.into_iter().map(|leaf| InputFile::new(leaf, (path, &name), Chosen::ByName));
        if !opened.is_archive {
            self.files.extend(files);
            return Ok(());
        }
        let files: Vec<InputFile> =
            files.map(|file| InputFile { chosen: Chosen::ByDirectory, ..file }).collect();
        self.wholes.push(path.to_owned());
        self.choose(files, Beside::Taken, || IngestError::EmptyArchive { path: path.to_owned() })
    }

    /// Adds the files of a directory and of the folders below: captures of several nodes have a
    /// folder each, at any depth down to [`MAX_DEPTH`].
    fn directory(&mut self, path: &Path, beside: Beside, spool: &dyn Spool) -> Result<()> {
        let (mut files, mut folders) = self.listed(path, "", spool)?;
        for _ in 0..MAX_DEPTH {
            let mut below = Vec::new();
            for (folder, prefix) in folders {
                let (found, further) = self.listed(&folder, &prefix, spool)?;
                files.extend(found);
                below.extend(further);
            }
            folders = below;
        }
        self.left_out.extend(left_out::too_deep(&folders, MAX_DEPTH));
        only_once(&mut files);
        self.wholes.push(path.to_owned());
        self.choose(files, beside, || IngestError::EmptyDirectory { path: path.to_owned() })
    }

    /// The files of a folder that can be read, and its folders, both in the order of their names.
    fn listed(
        &mut self,
        path: &Path,
        prefix: &str,
        spool: &dyn Spool,
    ) -> Result<(Vec<InputFile>, Vec<Folder>)> {
        let mut paths: Vec<PathBuf> = fs::read_dir(path)
            .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect())
            .map_err(|source| IngestError::open(path, source))?;
        paths.sort_by(|a, b| natural(&a.to_string_lossy(), &b.to_string_lossy()));
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        for path in paths {
            let name = format!("{prefix}{}", file_name(&path));
            // A link to a folder above would never end.
            if path.is_dir() && !path.is_symlink() {
                folders.push((path, name + "/"));
            } else if path.is_file() {
                match self.open(&path) {
                    Ok(bytes) => {
                        let leaves = archive::open(&name, bytes, spool).leaves;
                        let file = |leaf| InputFile::new(leaf, (&path, &name), Chosen::ByDirectory);
                        files.extend(leaves.into_iter().map(file));
                    }
                    Err(error) if is_named_like_trace(&name) => return Err(error),
                    Err(_) => {}
                }
            }
        }
        Ok((files, folders))
    }

    /// Adds the traces of a directory or an archive.
    fn choose(
        &mut self,
        files: Vec<InputFile>,
        beside: Beside,
        none: impl FnOnce() -> IngestError,
    ) -> Result<()> {
        let candidates: Vec<Candidate> = files.iter().map(|file| file.leaf.candidate.clone()).collect();
        let Choice { traces, beside: models, left_out } = choose(&candidates);
        if traces.is_empty() {
            let refused = left_out.into_iter().find_map(|left_out| match left_out.why {
                Why::Refused(refusal) => Some((left_out.file, refusal)),
                Why::Others(_) => None,
            });
            if let Some((file, refusal)) = refused {
                return Err(IngestError::Format { path: files[file].place.clone(), source: refusal.into() });
            }
            if models.is_empty() {
                return Err(none());
            }
        } else {
            let said = left_out
                .into_iter()
                .map(|left_out| (candidates[left_out.file].name.clone(), reason(left_out.why)));
            self.left_out.extend(left_out::lines(said.collect()));
        }
        let is_taken =
            |file: usize| traces.contains(&file) || (beside == Beside::Taken && models.contains(&file));
        self.files
            .extend(files.into_iter().enumerate().filter(|(at, _)| is_taken(*at)).map(|(_, file)| file));
        Ok(())
    }

    /// Adds a log of a compiler, or all files of the compiler below a folder. Their names keep the
    /// folders, which name kernels.
    fn compiler(&mut self, path: &Path, spool: &dyn Spool) -> Result<()> {
        if !path.is_dir() {
            return self.log(path, spool);
        }
        let before = self.files.len();
        let whole = file_name(path);
        let mut folders = vec![(path.to_owned(), whole.clone())];
        while let Some((folder, name)) = folders.pop() {
            let entries = fs::read_dir(&folder).map_err(|source| IngestError::open(&folder, source))?;
            let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            paths.sort();
            for below in paths {
                let name = format!("{name}/{}", file_name(&below));
                // A link to a folder above would never end.
                if below.is_dir() && !below.is_symlink() {
                    folders.push((below, name));
                } else if below.is_file() {
                    let leaves = archive::open(&name, self.open(&below)?, spool).leaves;
                    let is_it = |leaf: &Leaf| leaf.candidate.claim(Role::Compiler).is_some();
                    let leaves = leaves.into_iter().filter(is_it);
                    let file = |leaf| InputFile::new(leaf, (path, &whole), Chosen::ByDirectory);
                    self.files.extend(leaves.map(file));
                }
            }
        }
        if self.files.len() == before {
            return Err(IngestError::NoCompilerFile { path: path.to_owned() });
        }
        Ok(())
    }

    /// Adds a log of a compiler, whatever its first bytes.
    fn log(&mut self, path: &Path, spool: &dyn Spool) -> Result<()> {
        let name = file_name(path);
        let opened = archive::open(&name, self.open(path)?, spool);
        if opened.is_archive {
            return self.file(path, spool);
        }
        let logs = self.files.iter().filter_map(|file| file.nth_log);
        let mut nth_log = logs.max().map_or(0, |last| last + 1);
        for leaf in opened.leaves {
            let mut file = InputFile::new(leaf, (path, &name), Chosen::ByName);
            if logs::is_trace(&file.leaf) {
                return Err(IngestError::TraceAsLog { path: path.to_owned() });
            }
            if logs::claim(&mut file.leaf) {
                file.nth_log = Some(nth_log);
                nth_log += 1;
            }
            self.files.push(file);
        }
        Ok(())
    }

    /// Adds the file that the user named as the program. The program can be inside an archive.
    fn model(&mut self, path: &Path, spool: &dyn Spool) -> Result<()> {
        let bytes = self.open(path)?;
        let name = file_name(path);
        let opened = archive::open(&name, bytes.clone(), spool).leaves;
        let is_model = |leaf: &Leaf| leaf.candidate.claim(Role::Model).is_some();
        let leaf = opened.into_iter().find(is_model).unwrap_or_else(|| {
            // The reader of programs reports what is wrong with the file.
            let importer = TABLE.iter().find(|row| row.takes.iter().any(|takes| takes.role == Role::Model));
            let claim = |importer| {
                let confidence = Confidence::Certain;
                Claim { importer, role: Role::Model, confidence, rank: None, companion: None }
            };
            let found = importer.map_or_else(
                || {
                    Found::Refused(Refusal::unread(
                        "no supported format reads a program",
                        "leave this file out",
                    ))
                },
                |importer| Found::Claimed(claim(importer)),
            );
            Leaf { candidate: Candidate { name: name.clone(), found }, packed: bytes, layers: Vec::new() }
        });
        self.files.push(InputFile::new(leaf, (path, &name), Chosen::ByName));
        Ok(())
    }
}

/// A folder, and the path below the named directory, which begins the names of its files.
type Folder = (PathBuf, String);

/// Leaves out programs with the same bytes as an earlier one: each node has a copy.
fn only_once(files: &mut Vec<InputFile>) {
    let is_model = |file: &InputFile| file.leaf.candidate.claim(Role::Model).is_some();
    let mut at = 0;
    while at < files.len() {
        let (before, rest) = files.split_at(at);
        let own = &rest[0];
        let is_copy = is_model(own)
            && before.iter().any(|file| is_model(file) && file.leaf.packed[..] == own.leaf.packed[..]);
        if is_copy {
            files.remove(at);
        } else {
            at += 1;
        }
    }
}

impl InputFile {
    /// A file that was found in the file or folder at `path`. The names of files from there begin
    /// with `name`.
    fn new(leaf: Leaf, (path, name): (&Path, &str), chosen: Chosen) -> Self {
        let below = leaf.candidate.name.strip_prefix(name).and_then(|rest| rest.strip_prefix('/'));
        let place = match below {
            Some(entry) => PathBuf::from(format!("{}/{entry}", path.display())),
            None => path.to_owned(),
        };
        Self { place, leaf, chosen, nth_log: None }
    }
}

fn reason(why: Why) -> String {
    match why {
        Why::Refused(refusal) => nprof_capture::error::Error::from(refusal).to_string(),
        Why::Others(kind) => format!("not read, because {kind} files are present and take precedence"),
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
