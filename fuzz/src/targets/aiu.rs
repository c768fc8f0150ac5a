//! Any bytes as an AIU trace, and as a file of the AIU compiler beside one.

use std::sync::Arc;

use crate::bound::within_reader;
use nprof_capture::archive::{FileBytes, PlainFile};
use nprof_capture::files::{ImportJob, MemoryFiles, OneRank};
use nprof_capture::formats::aiu::import;
use nprof_capture::importer::{Claim, FileRole, TABLE};
use nprof_capture::inputs::{Candidate, FileKind, Plan, PlanFile};
use nprof_capture::probe::{Confidence, aiu};
use nprof_engine::fixture::Recorder;
use nprof_engine::spill::{MemoryScratch, Space};

/// A trace that the compiler's file goes with.
const TRACE: &[u8] = br#"[{"name":"a Cmpt Exec","ph":"X","pid":0,"tid":1,"ts":1,"dur":9,
    "attr":{"TS1":"1","TS2":"2","TS3":"3","TS4":"5000","TS5":"5001","Power":"7"}}]"#;

/// Settings that read a part of the events, which takes a first pass over them.
const LIMITED: &[u8] = br#"{"aiu_settings":{"limit":{"skip":1,"count":9,"ts_start":1}}}"#;

/// Runs the target on an input.
pub(super) fn run(bytes: &[u8]) {
    let _ = aiu::probe(bytes);
    let _ = aiu::probe_compiler(bytes);
    let _ = aiu::rank(bytes);
    read(&[(FileRole::Trace, bytes)]);
    read(&[(FileRole::Trace, bytes), (FileRole::Compiler, LIMITED)]);
    read(&[(FileRole::Trace, TRACE), (FileRole::Trace, bytes), (FileRole::Compiler, bytes)]);
}

fn read(files: &[(FileRole, &[u8])]) {
    let len = files.iter().map(|(_, bytes)| bytes.len()).sum();
    within_reader(len, || import_all(files));
}

fn import_all(files: &[(FileRole, &[u8])]) {
    let importer = TABLE.iter().find(|row| row.name == "aiu").expect("the format is in the table");
    let leaves: Vec<PlainFile> = files
        .iter()
        .map(|&(role, bytes)| {
            let claim =
                Claim { importer, role, confidence: Confidence::Certain, rank: None, companion: None };
            let candidate = Candidate::new("x/perf/a", FileKind::Claimed(claim));
            PlainFile { candidate, packed: FileBytes::new(Arc::new(bytes.to_vec())), layers: Vec::new() }
        })
        .collect();
    let files = files.iter().enumerate().map(|(file, &(role, _))| PlanFile { role, file }).collect();
    let plan = Plan { importer, files, rank: None };
    let (scratch, files, mut sink) = (MemoryScratch::default(), MemoryFiles(leaves), Recorder::default());
    let space = Space::new(&scratch);
    let job = ImportJob { plan: &plan, files: &files, space, origin: None, progress: &|_| {} };
    let _ = import(&job, &mut OneRank(&mut sink));
}
