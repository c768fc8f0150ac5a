//! Reads the inputs of a case with the reader for AIU traces, each rank into a recorder.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use nprof_capture::archive::{FileBytes, InMemory, PlainFile, open};
use nprof_capture::files::{ImportJob, MemoryFiles, Sinks};
use nprof_capture::formats::aiu::{AiuSettings, OutsideWork, import_with};
use nprof_capture::importer::{Claim, FileRole, TABLE};
use nprof_capture::inputs::{FileKind, plan};
use nprof_capture::probe::{self, Confidence, HEAD_LEN};
use nprof_engine::fixture::Recorder;
use nprof_engine::model::{OwnedValue, Sink};
use nprof_engine::spill::{MemoryScratch, Space};

use super::expectation::Command;

/// A rank as read.
pub struct Rank {
    pub number: i64,
    pub recorder: Recorder,
    /// Time zero in picoseconds on the trace's own clock.
    origin_ps: i128,
}

impl Rank {
    /// A time in microseconds on the trace's own clock.
    #[expect(clippy::cast_precision_loss, reason = "acelyzer's own precision")]
    pub fn us(&self, ps: i64) -> f64 {
        let ps = self.origin_ps + i128::from(ps);
        (ps / 1_000_000) as f64 + (ps % 1_000_000) as f64 / 1e6
    }
}

/// Takes one rank, and counts the ranks.
struct OneOf<'r> {
    recorder: &'r mut Recorder,
    nth: usize,
    count: usize,
}

impl Sinks for OneOf<'_> {
    fn rank(&mut self, nth: usize) -> Option<&mut dyn Sink> {
        self.count = self.count.max(nth + 1);
        (nth == self.nth).then_some(&mut *self.recorder)
    }
}

/// All ranks of a case.
pub fn ranks(folder: &Path, command: &Command) -> Vec<Rank> {
    let mut leaves: Vec<PlainFile> =
        command.inputs.iter().map(|name| leaf(folder, name, FileRole::Trace)).collect();
    if let Some(compiler) = &command.compiler {
        let mut names = Vec::new();
        list(folder, compiler, &mut names);
        leaves.extend(names.iter().map(|name| leaf(folder, name, FileRole::Compiler)));
    }
    let candidates: Vec<_> = leaves.iter().map(|leaf| leaf.candidate.clone()).collect();
    let plans = plan(&candidates).unwrap().plans;
    let files = MemoryFiles(leaves);
    let scratch = MemoryScratch::default();
    let settings = AiuSettings {
        soc_mhz: Some(command.soc_mhz),
        core_mhz: command.core_mhz,
        outside: if command.fixes_jobs { OutsideWork::Shifted } else { OutsideWork::Kept },
        ..AiuSettings::default()
    };
    let mut ranks = Vec::new();
    for plan in &plans {
        let (mut nth, mut count) = (0, 1);
        while nth < count {
            let mut recorder = Recorder::default();
            let space = Space::new(&scratch);
            let job = ImportJob { plan, files: &files, space, origin: None, progress: &|_| {} };
            let mut sinks = OneOf { recorder: &mut recorder, nth, count };
            import_with(&job, settings.clone(), &mut sinks).unwrap();
            count = sinks.count;
            nth += 1;
            let number = i64::from(recorder.rank.rank.unwrap_or(0));
            let origin_ps = origin_ps(&recorder);
            ranks.push(Rank { number, recorder, origin_ps });
        }
    }
    ranks
}

fn origin_ps(recorder: &Recorder) -> i128 {
    let mut rows = recorder.rows.iter().filter(|(_, row)| row.iter().any(|(name, _)| name == "origin_ns"));
    match rows.next().map(|(_, row)| &row[0].1) {
        Some(OwnedValue::Int(ns)) => i128::from(*ns) * 1000,
        Some(OwnedValue::Text(ns)) => ns.parse::<i128>().unwrap() * 1000,
        _ => 0,
    }
}

/// All files below a path, relative to the folder.
fn list(folder: &Path, name: &str, names: &mut Vec<String>) {
    let path = folder.join(name);
    if path.is_file() {
        names.push(name.to_owned());
        return;
    }
    let mut below: Vec<String> = fs::read_dir(path)
        .unwrap()
        .map(|entry| format!("{name}/{}", entry.unwrap().file_name().to_string_lossy()))
        .collect();
    below.sort();
    below.iter().for_each(|name| list(folder, name, names));
}

/// A file that the reader gets whatever its content, as from `nprof aiu`.
fn leaf(folder: &Path, name: &str, role: FileRole) -> PlainFile {
    let bytes = fs::read(folder.join(name)).unwrap();
    let head = bytes[..bytes.len().min(HEAD_LEN)].to_vec();
    let mut leaf = open(name, FileBytes::new(Arc::new(bytes)), &InMemory).leaves.into_iter().next().unwrap();
    let importer = TABLE.iter().find(|row| row.name == "aiu").unwrap();
    let rank = (role == FileRole::Trace).then(|| probe::aiu::rank(&head)).flatten();
    leaf.candidate.found =
        FileKind::Claimed(Claim { importer, role, confidence: Confidence::Certain, rank, companion: None });
    leaf
}
