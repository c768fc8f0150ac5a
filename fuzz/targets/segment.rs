//! A good segment with changed bytes, or arbitrary bytes: every question ends with an answer or an
//! error.
//!
//! Built with `--cfg fuzzing`, so that checksums are not compared and changes reach the code behind
//! them.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use nprof_capture::device::simulated::{self, Settings};
use nprof_engine::base::Interval;
use nprof_engine::codec;
use nprof_engine::exec::Work;
use nprof_engine::ingest::{BuildOptions, Builder};
use nprof_engine::query::{HitPage, HitPlace, Pattern, Syntax};
use nprof_engine::rank::RankView;
use nprof_engine::segment::{Segment, WORDS};
use nprof_engine::spill::MemoryScratch;
use nprof_engine::tile::{Level, TileId};
use nprof_engine::wire::answer;

const EVENTS: u64 = 300;
/// More events than a small segment can have.
const LARGE_EVENTS: u64 = 9_000;
/// A change is an offset and the bits to flip there.
const CHANGE_LEN: usize = 4;
/// Length of the trailer: the footer's offset, stored length and unpacked length.
const TRAILER_LEN: usize = 36;
const STORED_LEN_AT: usize = 8;
const UNPACKED_LEN_AT: usize = 12;

fuzz_target!(|bytes: &[u8]| {
    let Some((&mode, changes)) = bytes.split_first() else { return };
    match mode % 3 {
        0 => ask(changes.to_vec()),
        1 => ask(changed(large(), changes)),
        _ => ask(with_changed_footer(small(), changes)),
    }
});

/// A segment with its columns behind its footer, and with every kind of table.
fn small() -> &'static [u8] {
    static SMALL: OnceLock<Vec<u8>> = OnceLock::new();
    simulated_once(&SMALL, EVENTS)
}

/// A segment whose columns are pieces of the file.
fn large() -> &'static [u8] {
    static LARGE: OnceLock<Vec<u8>> = OnceLock::new();
    simulated_once(&LARGE, LARGE_EVENTS)
}

fn simulated_once(once: &'static OnceLock<Vec<u8>>, events_per_rank: u64) -> &'static [u8] {
    once.get_or_init(|| {
        let settings = Settings { ranks: 2, events_per_rank, layers: 1, ..Settings::default() };
        let scratch = MemoryScratch::default();
        let mut segment = Vec::new();
        let mut builder =
            Builder::new(&scratch, &mut segment, BuildOptions::default()).expect("a vector takes all bytes");
        simulated::capture(&settings, 0, &mut builder, &mut |_| {}).expect("the settings are in range");
        builder.finish().expect("memory is enough");
        segment
    })
}

fn changed(bytes: &[u8], changes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let len = bytes.len();
    for change in changes.chunks_exact(CHANGE_LEN) {
        let offset = u32::from_le_bytes([change[0], change[1], change[2], 0]) as usize;
        bytes[offset % len] ^= change[3];
    }
    bytes
}

/// Changes bytes of the unpacked footer and packs it again. Changes of the compressed bytes would
/// seldom get past zstd.
fn with_changed_footer(segment: &[u8], changes: &[u8]) -> Vec<u8> {
    let (body, trailer) = segment.split_at(segment.len() - TRAILER_LEN);
    let word = |at: usize| u32::from_le_bytes(trailer[at..at + 4].try_into().expect("four bytes")) as usize;
    let (body, stored) = body.split_at(body.len() - word(STORED_LEN_AT));
    let footer = codec::decompress_with(WORDS, stored, word(UNPACKED_LEN_AT)).expect("the segment is good");
    let mut packed = Vec::new();
    codec::compress_with(WORDS, &changed(&footer, changes), &mut packed);
    let mut trailer = trailer.to_vec();
    let len = u32::try_from(packed.len()).expect("a small footer");
    trailer[STORED_LEN_AT..STORED_LEN_AT + 4].copy_from_slice(&len.to_le_bytes());
    [body, &packed, &trailer].concat()
}

fn ask(bytes: Vec<u8>) {
    let Ok(segment) = Segment::open(bytes) else { return };
    let _ = segment.anatomy();
    let rank = RankView::of(&segment);
    let span = Interval::new(0, 1_000_000_000);
    let _ = answer::search(rank, &Pattern::text("matmul"), HitPage::first(10), Work::IN_PLACE);
    if let Ok(pattern) = Pattern::new("size > \\d|x", Syntax::Regex) {
        let _ = answer::search(
            rank,
            &pattern,
            HitPage::around(HitPlace { start_ps: 1_000_000, row: 3 }, 10),
            Work::IN_PLACE,
        );
    }
    let _ = answer::selection(rank, span, None, Work::IN_PLACE);
    let _ = answer::window(rank, span, None, 100);
    let _ = answer::summary(rank, 0, Work::IN_PLACE);
    for row in [0, 1, 100, u32::MAX] {
        let _ = answer::slice(rank, row);
    }
    let groups = segment.footer().tracks.len().min(8);
    for group in 0..u32::try_from(groups).unwrap_or(0) {
        for level in [0, 8, 20] {
            if let Some(level) = Level::new(level) {
                let _ = answer::tile(rank, TileId { group, level, index: 0 });
            }
        }
    }
}
