//! Any bytes as an input: recognised, opened as an archive, planned, and read by the format that
//! recognises them.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::bound::{Bound, within};
use nprof_capture::archive::{FileBytes, InMemory, open};
use nprof_capture::files::{ImportJob, MemoryFiles, OneRank};
use nprof_capture::formats;
use nprof_capture::inputs::{choose, plan, profiles};
use nprof_engine::fixture::Recorder;
use nprof_engine::spill::{MemoryScratch, Space};

/// Memory of the unpacked files and of their readers. A byte of an archive is at most 1,100 bytes
/// of its files, in a vector that grows by doubling.
const PEAK: Bound = Bound { bytes: 64 << 20, of_byte: 8 << 10 };
/// Four plans are read, each of them in a few passes.
const ALL: Bound = Bound { bytes: 256 << 20, of_byte: 64 << 10 };

/// Runs the target on an input.
pub(super) fn run(bytes: &[u8]) {
    within(bytes.len(), PEAK, ALL, || read(bytes));
}

fn read(bytes: &[u8]) {
    let leaves = open("input.json", FileBytes::new(Arc::new(bytes.to_vec())), &InMemory).leaves;
    let candidates: Vec<_> = leaves.iter().map(|leaf| leaf.candidate.clone()).collect();
    let files: BTreeSet<usize> = profiles(&candidates).into_iter().flatten().collect();
    assert_eq!(files.len(), candidates.len(), "each file is in a profile");
    let choice = choose(&candidates);
    assert!(choice.traces.len() + choice.beside.len() + choice.left_out.len() <= candidates.len());
    let Ok(plans) = plan(&candidates) else { return };
    let (scratch, files) = (MemoryScratch::default(), MemoryFiles(leaves));
    let space = Space { sort_bytes: 4_000, ..Space::new(&scratch) };
    for plan in plans.plans.iter().take(4) {
        let job = ImportJob { plan, files: &files, space, origin: None, progress: &|_| {} };
        let _ = formats::read(&job, &mut OneRank(&mut Recorder::default()));
    }
}
