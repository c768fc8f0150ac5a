//! Plans of the files, and the logs of a compiler that the user named: which rank each is for.
//!
//! Names can tell ranks. If none does, and there are as many logs as ranks, each rank has the log
//! at its position. Logs whose names differ by numbers only are in the order of these numbers. The
//! same log can be named for several ranks. If one trace has several ranks,
//! its reader gets all logs in their order.

use std::io::Read;

use nprof_capture::archive::PlainFile;
use nprof_capture::importer::{Claim, FileRole, TABLE};
use nprof_capture::inputs::{Candidate, FileKind, Plan, Unplanned, name_order, plan, rank_of};
use nprof_capture::probe::Confidence;
use nprof_engine::makers::aiu::SETTINGS;

use super::InputFile;
use crate::ingest::{IngestError, Result};

/// The plans of files, and the files that no plan takes.
pub(super) struct Planned {
    pub plans: Vec<Plan>,
    /// Positions of the files.
    pub unused: Vec<usize>,
}

/// The plans of these files.
pub(super) fn planned(files: &[InputFile]) -> Result<Planned> {
    let candidates: Vec<Candidate> = files.iter().map(|file| file.leaf.candidate.clone()).collect();
    let place = |file: usize| files[file].place.clone();
    let mut plans = plan(&candidates).map_err(|unplanned| match unplanned {
        Unplanned::Nothing => IngestError::NoInput,
        Unplanned::Alone(file) if candidates[file].claim(FileRole::Compiler).is_some() => {
            IngestError::CompilerAlone { path: place(file) }
        }
        Unplanned::Alone(file) => IngestError::NeffAlone { path: place(file) },
        Unplanned::Several(first, second) => {
            IngestError::SeveralNeffs { first: place(first), second: place(second) }
        }
    })?;
    if let Some((file, refusal)) = plans.refused.into_iter().next() {
        return Err(IngestError::Format { path: place(file), source: refusal.into() });
    }
    share_out(files, &mut plans.plans);
    Ok(Planned { plans: plans.plans, unused: plans.unused })
}

/// Gives each rank the log at its position.
fn share_out(files: &[InputFile], plans: &mut [Plan]) {
    let logs: Vec<&InputFile> = files.iter().filter(|file| file.nth_log.is_some()).collect();
    let is_named = |file: &&InputFile| rank_of(&file.leaf.candidate.name).is_some();
    let takes_logs =
        |plan: &&mut Plan| plan.importer.takes.iter().any(|takes| takes.role == FileRole::Compiler);
    let mut ranks: Vec<&mut Plan> = plans.iter_mut().filter(takes_logs).collect();
    if logs.len() < 2 || logs.len() != ranks.len() || logs.iter().any(is_named) {
        return;
    }
    let names: Vec<&str> = logs.iter().map(|file| file.leaf.candidate.name.as_str()).collect();
    for (plan, at) in ranks.iter_mut().zip(name_order::order(&names)) {
        let of_rank = logs[at].nth_log;
        plan.files.retain(|part| files[part.file].nth_log.is_none_or(|nth| Some(nth) == of_rank));
    }
}

/// Whether a file is a trace for sure. A log can look like one at its beginning: `[INFO] …`.
pub(super) fn is_trace(leaf: &PlainFile) -> bool {
    leaf.candidate.claim(FileRole::Trace).is_some_and(|claim| claim.confidence > Confidence::Possible)
}

/// Makes the reader of logs read a file, whatever its first bytes. Returns whether it is a log, and
/// no settings.
pub(super) fn claim(leaf: &mut PlainFile) -> bool {
    let mut head = Vec::new();
    // A file that cannot be read is reported when it is read as a whole.
    let _ = leaf.reader().take(SETTINGS.len() as u64).read_to_end(&mut head);
    let importer = TABLE.iter().find(|row| row.takes.iter().any(|takes| takes.role == FileRole::Compiler));
    if let (None, Some(importer)) = (leaf.candidate.claim(FileRole::Compiler), importer) {
        let (role, confidence) = (FileRole::Compiler, Confidence::Certain);
        leaf.candidate.found =
            FileKind::Claimed(Claim { importer, role, confidence, rank: None, companion: None });
    }
    head != SETTINGS.as_bytes()
}
