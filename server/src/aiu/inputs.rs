//! The inputs of acelyzer as inputs of an ingest. Every trace is read as a trace of an AIU, also
//! one without work of a device, and the settings of the reader are one more input.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nprof_capture::archive::{FileBytes, PlainFile, Spool};
use nprof_capture::formats::aiu::AiuSettings;
use nprof_capture::importer::{Claim, FileRole, TABLE};
use nprof_capture::inputs::FileKind;
use nprof_capture::probe::{self, Confidence, HEAD_LEN};

use super::error::{AiuError, Result};
use crate::ingest::{IngestError, Inputs, NamedInputs};

/// Name of the file with the settings. Messages leave out files with such names.
const SETTINGS: &str = ".nprof-settings.json";

/// The files that a text names: paths or patterns, separated by commas or white space.
///
/// # Errors
/// If a pattern finds no file.
pub fn files(text: &str) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    // A file with a comma or a blank in its name is one file.
    if Path::new(text).exists() {
        return Ok(vec![PathBuf::from(text)]);
    }
    let words = text.split(|sign: char| sign == ',' || sign.is_whitespace());
    for word in words.filter(|word| !word.is_empty()) {
        if Path::new(word).exists() {
            files.push(PathBuf::from(word));
            continue;
        }
        let none = || AiuError::NoFile(word.to_owned());
        // Paths come in alphabetical order.
        let found: Vec<PathBuf> = glob::glob(word).map_err(|_| none())?.flatten().collect();
        if found.is_empty() {
            return Err(none());
        }
        files.extend(found);
    }
    Ok(files)
}

/// Finds the inputs. `dir` holds the file with the settings as long as the inputs are read.
///
/// # Errors
/// If a file cannot be read, or there is no trace.
pub fn inputs(
    traces: &[PathBuf],
    compiler: &[PathBuf],
    settings: &AiuSettings,
    dir: &Path,
    spool: &dyn Spool,
) -> Result<Inputs> {
    let path = dir.join(SETTINGS);
    std::fs::write(&path, settings.to_file()?)?;
    let mut beside = compiler.to_vec();
    beside.push(path.clone());
    let named = NamedInputs { files: traces.to_vec(), compiler: beside, ..NamedInputs::default() };
    let mut inputs = named.inputs(spool).map_err(|error| match error {
        // The file of the settings is no file of the user.
        IngestError::CompilerAlone { path: of } if of == path => {
            IngestError::CompilerAlone { path: traces.first().cloned().unwrap_or(of) }
        }
        error => error,
    })?;
    for file in &mut inputs.files {
        fill(&mut file.leaf);
        claim(&mut file.leaf);
    }
    inputs.plan_again()?;
    Ok(inputs)
}

/// Documents without an event that say nothing else, as acelyzer takes them.
const EMPTY: [&[u8]; 2] = [b"[]", b"{}"];
/// The document that says the same as a trace.
const NO_EVENTS: &[u8] = br#"{"traceEvents":[]}"#;

/// Makes a document without events the trace that it is for acelyzer. The reader warns about it.
fn fill(leaf: &mut PlainFile) {
    /// Bytes of a document with white space around it.
    const MAX_LEN: u64 = 64;
    let mut bytes = Vec::new();
    // A file that cannot be read is reported when it is read as a whole.
    let _ = leaf.reader().take(MAX_LEN).read_to_end(&mut bytes);
    let text: Vec<u8> = bytes.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    if EMPTY.contains(&&*text) {
        (leaf.packed, leaf.layers) = (FileBytes::new(Arc::new(NO_EVENTS.to_vec())), Vec::new());
    }
}

/// Makes the reader of AIU traces read a trace.
fn claim(leaf: &mut PlainFile) {
    let FileKind::Claimed(claim) = &leaf.candidate.found else { return };
    let importer = TABLE.iter().find(|row| row.stated_rank.is_some());
    if claim.role != FileRole::Trace || importer.is_none_or(|importer| *importer == *claim.importer) {
        return;
    }
    let mut head = Vec::new();
    // A file that cannot be read is reported when it is read as a whole.
    let _ = leaf.reader().take(HEAD_LEN as u64).read_to_end(&mut head);
    if let Some(importer) = importer {
        let (confidence, rank) = (Confidence::Certain, probe::aiu::rank(&head));
        leaf.candidate.found =
            FileKind::Claimed(Claim { importer, role: FileRole::Trace, confidence, rank, companion: None });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_lists_and_patterns() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["job_1.json", "job_0.json", "a,b.json"] {
            std::fs::write(dir.path().join(name), "[]").unwrap();
        }
        let of = |text: &str| {
            let names = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
            let text = text.replace("DIR", &dir.path().to_string_lossy());
            files(&text).map(|files| files.iter().map(names).collect::<Vec<String>>())
        };
        assert_eq!(of("DIR/job_*.json").unwrap(), ["job_0.json", "job_1.json"]);
        assert_eq!(of("DIR/job_1.json,DIR/job_0.json").unwrap(), ["job_1.json", "job_0.json"]);
        assert_eq!(of("DIR/a,b.json").unwrap(), ["a,b.json"]);
        assert!(of("DIR/job_7.json").is_err() && of("DIR/x*").is_err());
    }
}
