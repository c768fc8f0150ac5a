//! The profiles that the named files make.

use std::path::{Component, Path, PathBuf};

use nprof_capture::importer::FileRole;
use nprof_capture::inputs::{Apart, Candidate, FileGroup, GroupReason, Plan, groups};

use super::gathered_files::Gathered;
use super::{InputFile, Inputs};
use crate::ingest::{IngestError, Result};

/// The profiles of all named files.
pub struct Grouped {
    /// The profiles, at least one.
    pub profiles: Vec<GroupedInputs>,
    /// Reason for several profiles.
    pub apart: Option<Apart>,
}

/// The inputs of a profile.
pub struct GroupedInputs {
    /// The inputs.
    pub inputs: Inputs,
    /// Reason why they are one profile.
    pub why: GroupReason,
}

impl Grouped {
    /// The first trace of each profile, of at most four.
    pub(in crate::ingest) fn firsts(&self) -> Vec<String> {
        let first = |of: &GroupedInputs| {
            let inputs = &of.inputs;
            let trace = inputs.plans.first().map_or(0, Plan::trace);
            inputs.files[trace].leaf.candidate.name.clone()
        };
        self.profiles.iter().take(4).map(first).collect()
    }

    /// The profiles of these files. Lines about files that are not read go to the first profile.
    pub(super) fn of(gathered: Gathered) -> Result<Self> {
        let candidates: Vec<Candidate> =
            gathered.files.iter().map(|file| file.leaf.candidate.clone()).collect();
        let groups = groups(&candidates);
        let mut left_out = gathered.left_out.clone();
        let mut profiles = Vec::new();
        for FileGroup { files, why } in groups.groups {
            let inputs = Gathered {
                files: files.iter().map(|&file| gathered.files[file].clone()).collect(),
                wholes: wholes(&gathered, &files),
                left_out: std::mem::take(&mut left_out),
                sources: gathered.sources.clone(),
            };
            profiles.push(GroupedInputs { inputs: inputs.into_inputs()?, why });
        }
        if profiles.is_empty() {
            return Err(IngestError::NoInput);
        }
        Ok(Self { profiles, apart: groups.apart })
    }
}

/// The directories and archives of which a profile has all traces.
fn wholes(gathered: &Gathered, files: &[usize]) -> Vec<PathBuf> {
    let is_whole = |whole: usize| {
        let is_of_whole = |file: &InputFile| {
            file.leaf.candidate.whole == Some(whole) && file.leaf.candidate.claim(FileRole::Trace).is_some()
        };
        let mut of_whole =
            (0..gathered.files.len()).filter(|&at| is_of_whole(&gathered.files[at])).peekable();
        of_whole.peek().is_some() && of_whole.all(|at| files.contains(&at))
    };
    (0..gathered.wholes.len()).filter(|&at| is_whole(at)).map(|at| gathered.wholes[at].clone()).collect()
}

/// Gives the traces their paths below the folder that has all of them. A name that has more folders
/// stays the path.
pub(super) fn set_paths(files: &mut [InputFile]) {
    let is_other = |file: &InputFile| {
        let candidate = &file.leaf.candidate;
        [FileRole::Model, FileRole::Compiler].into_iter().any(|role| candidate.claim(role).is_some())
    };
    let mut traces: Vec<&mut InputFile> = files.iter_mut().filter(|file| !is_other(file)).collect();
    let places: Vec<Vec<String>> = traces.iter().map(|file| parts(&file.place)).collect();
    let Some(first) = places.first() else { return };
    let is_shared = |at: &usize| places.iter().all(|parts| at + 1 < parts.len() && parts[*at] == first[*at]);
    let shared = (0..first.len()).take_while(is_shared).count();
    for (file, parts) in traces.iter_mut().zip(&places) {
        let candidate = &mut file.leaf.candidate;
        if parts.len() - shared > candidate.name.split('/').count() {
            candidate.path = parts[shared..].join("/");
        }
    }
}

fn parts(place: &Path) -> Vec<String> {
    let part = |part: Component<'_>| part.as_os_str().to_string_lossy().into_owned();
    place.components().map(part).collect()
}
