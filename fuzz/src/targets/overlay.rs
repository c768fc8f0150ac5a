//! Any bytes, or a good overlay with changed bytes: the matched calls that are kept beside a
//! profile are read, or computed again.

use std::sync::OnceLock;

use crate::bound::within_reader;
use nprof_capture::device::simulation::{self, Simulation};
use nprof_engine::analysis::{Job, RankInput, matched, overlay};
use nprof_engine::exec::Cancel;
use nprof_engine::ingest::{BuildOptions, Builder};
use nprof_engine::makers::{CallIds, collectives};
use nprof_engine::segment::Segment;
use nprof_engine::spill::MemoryScratch;

const RANKS: u32 = 4;
/// A change is an offset and the bits to flip there.
const CHANGE_LEN: usize = 3;

/// A job, and its overlay.
fn made() -> &'static (Job, Vec<u8>) {
    static MADE: OnceLock<(Job, Vec<u8>)> = OnceLock::new();
    MADE.get_or_init(|| {
        let job = Job::new((0..RANKS).map(rank).collect());
        let bytes = overlay::encode(&job, &matched(&job, Cancel::NEVER).expect("nobody cancels it"));
        assert!(overlay::decode(&job, &bytes).is_ok(), "a good overlay is read");
        (job, bytes)
    })
}

fn rank(rank: u32) -> RankInput {
    let settings = Simulation { ranks: RANKS, events_per_rank: 400, layers: 1, ..Simulation::default() };
    let (scratch, mut segment) = (MemoryScratch::default(), Vec::new());
    let mut builder =
        Builder::new(&scratch, &mut segment, BuildOptions::default()).expect("a vector takes all bytes");
    simulation::capture(&settings, rank, &mut builder, &mut |_| {}).expect("the settings are in range");
    builder.finish().expect("memory is enough");
    let segment = Segment::open(segment).expect("it was just written");
    let calls = collectives(&segment, rank, CallIds::Read, Cancel::NEVER).expect("it was just written");
    RankInput { rank, calls, given: None, stated_ps: 0 }
}

/// Runs the target on an input.
pub(super) fn run(bytes: &[u8]) {
    let (job, good) = made();
    within_reader(bytes.len(), || read(bytes, job, good));
}

fn read(bytes: &[u8], job: &Job, good: &[u8]) {
    let Some((&mode, rest)) = bytes.split_first() else { return };
    if mode % 2 == 0 {
        let _ = overlay::decode(job, rest);
        return;
    }
    let mut changed = good.to_vec();
    for change in rest.chunks_exact(CHANGE_LEN) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % changed.len();
        changed[at] ^= change[2];
    }
    let _ = overlay::decode(job, &changed);
}
