//! Any text as a search, over a segment: it ends with hits or a message, and regular expressions
//! take no more memory than their limits permit.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use nprof_capture::device::simulated::{self, Simulation};
use nprof_engine::exec::Work;
use nprof_engine::ingest::{BuildOptions, Builder};
use nprof_engine::query::{self, HitPage, Pattern, Syntax};
use nprof_engine::segment::Segment;
use nprof_engine::spill::MemoryScratch;
use nprof_fuzz::within_reader;

fn segment() -> &'static Segment<Vec<u8>> {
    static SEGMENT: OnceLock<Segment<Vec<u8>>> = OnceLock::new();
    SEGMENT.get_or_init(|| {
        let settings = Simulation { ranks: 1, events_per_rank: 300, layers: 1, ..Simulation::default() };
        let (scratch, mut segment) = (MemoryScratch::default(), Vec::new());
        let mut builder =
            Builder::new(&scratch, &mut segment, BuildOptions::default()).expect("a vector takes all bytes");
        simulated::capture(&settings, 0, &mut builder, &mut |_| {}).expect("the settings are in range");
        builder.finish().expect("memory is enough");
        Segment::open(segment).expect("it was just written")
    })
}

fuzz_target!(|query: &str| {
    let segment = segment();
    within_reader(query.len(), || search(segment, query));
});

fn search(segment: &Segment<Vec<u8>>, query: &str) {
    for syntax in [Syntax::Text, Syntax::Regex] {
        if let Ok(pattern) = Pattern::new(query, syntax) {
            let found = query::search::find(segment, &pattern, HitPage::first(10), Work::IN_PLACE);
            found.expect("the segment is whole");
        }
    }
}
