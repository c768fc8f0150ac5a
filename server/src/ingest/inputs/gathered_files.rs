//! The files that a user named, and those of the directories and archives.

use std::fs;
use std::path::{Path, PathBuf};

use nprof_capture::archive::{self, FileBytes, PlainFile, Spool};
use nprof_capture::importer::{Claim, FileRole, TABLE};
use nprof_capture::inputs::directory::Why;
use nprof_capture::inputs::name_order::natural;
use nprof_capture::inputs::{Candidate, FileChoice, FileKind, choose, is_named_like_trace};
use nprof_capture::probe::Confidence;
use nprof_capture::refusal::FileRefusal;

use super::unread_files::{self, Folder};
use super::{FileOrigin, InputFile, file_name, logs};
use crate::ingest::mapped_file::{self, MappedFile};
use crate::ingest::{IngestError, Result};

/// Levels of folders below a directory that are searched for traces.
const MAX_DEPTH: usize = 4;

/// Treatment of files in a directory that go with traces.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NeighbourFiles {
    Taken,
    Ignored,
}

/// The files that have been found so far.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) files: Vec<InputFile>,
    /// The directories and archives that the user named.
    pub(super) wholes: Vec<PathBuf>,
    pub(super) left_out: Vec<String>,
    pub(super) sources: Vec<MappedFile>,
}

impl Gathered {
    /// The bytes of a file.
    fn open(&mut self, path: &Path) -> Result<FileBytes> {
        let (bytes, source) = mapped_file::open(path)?;
        self.sources.push(source);
        Ok(bytes)
    }

    /// Adds a file that the user named.
    pub(super) fn file(&mut self, path: &Path, spool: &dyn Spool) -> Result<()> {
        let name = file_name(path);
        let opened = archive::open(&name, self.open(path)?, spool);
        let files =
            opened.leaves.into_iter().map(|leaf| InputFile::new(leaf, path, &name, FileOrigin::ByName));
        if !opened.is_archive {
            self.files.extend(files);
            return Ok(());
        }
        let files: Vec<InputFile> =
            files.map(|file| InputFile { chosen: FileOrigin::ByDirectory, ..file }).collect();
        self.wholes.push(path.to_owned());
        self.choose(files, NeighbourFiles::Taken, || IngestError::EmptyArchive { path: path.to_owned() })
    }

    /// Adds the files of a directory and of the folders below: captures of several nodes have a
    /// folder each, at any depth down to [`MAX_DEPTH`].
    pub(super) fn directory(&mut self, path: &Path, beside: NeighbourFiles, spool: &dyn Spool) -> Result<()> {
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
        self.left_out.extend(unread_files::too_deep(&folders, MAX_DEPTH));
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
                        let file = |leaf| InputFile::new(leaf, &path, &name, FileOrigin::ByDirectory);
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
        beside: NeighbourFiles,
        none: impl FnOnce() -> IngestError,
    ) -> Result<()> {
        let candidates: Vec<Candidate> = files.iter().map(|file| file.leaf.candidate.clone()).collect();
        let FileChoice { traces, beside: models, left_out } = choose(&candidates);
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
            self.left_out.extend(unread_files::lines(said.collect()));
        }
        let is_taken = |file: usize| {
            traces.contains(&file) || (beside == NeighbourFiles::Taken && models.contains(&file))
        };
        let whole = self.wholes.len().checked_sub(1);
        for (_, mut file) in files.into_iter().enumerate().filter(|(at, _)| is_taken(*at)) {
            file.leaf.candidate.whole = whole;
            self.files.push(file);
        }
        Ok(())
    }

    /// Adds a log of a compiler, or all files of the compiler below a folder. Their names keep the
    /// folders, which name kernels.
    pub(super) fn compiler(&mut self, path: &Path, spool: &dyn Spool) -> Result<()> {
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
                    let is_it = |leaf: &PlainFile| leaf.candidate.claim(FileRole::Compiler).is_some();
                    let leaves = leaves.into_iter().filter(is_it);
                    let file = |leaf| InputFile::new(leaf, path, &whole, FileOrigin::ByDirectory);
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
            let mut file = InputFile::new(leaf, path, &name, FileOrigin::ByName);
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
    pub(super) fn model(&mut self, path: &Path, spool: &dyn Spool) -> Result<()> {
        let bytes = self.open(path)?;
        let name = file_name(path);
        let opened = archive::open(&name, bytes.clone(), spool).leaves;
        let is_model = |leaf: &PlainFile| leaf.candidate.claim(FileRole::Model).is_some();
        let leaf = opened.into_iter().find(is_model).unwrap_or_else(|| {
            // The reader of programs reports what is wrong with the file.
            let importer =
                TABLE.iter().find(|row| row.takes.iter().any(|takes| takes.role == FileRole::Model));
            let claim = |importer| {
                let confidence = Confidence::Certain;
                Claim { importer, role: FileRole::Model, confidence, rank: None, companion: None }
            };
            let found = importer.map_or_else(
                || {
                    FileKind::Refused(FileRefusal::unread(
                        "no supported format reads a program",
                        "leave this file out",
                    ))
                },
                |importer| FileKind::Claimed(claim(importer)),
            );
            PlainFile { candidate: Candidate::new(&name, found), packed: bytes, layers: Vec::new() }
        });
        self.files.push(InputFile::new(leaf, path, &name, FileOrigin::ByName));
        Ok(())
    }
}

/// Leaves out programs with the same bytes as an earlier one: each node has a copy.
fn only_once(files: &mut Vec<InputFile>) {
    let is_model = |file: &InputFile| file.leaf.candidate.claim(FileRole::Model).is_some();
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

fn reason(why: Why) -> String {
    match why {
        Why::Refused(refusal) => nprof_capture::error::Error::from(refusal).to_string(),
        Why::Others(kind) => format!("not read, because {kind} files are present and take precedence"),
    }
}
