//! Any text as a search and as a query, over a segment: it ends with hits or a message, and regular
//! expressions take no more memory than their limits permit.

use std::sync::OnceLock;

use crate::bound::within_reader;
use nprof_capture::device::simulation::{self, Simulation};
use nprof_engine::exec::Work;
use nprof_engine::ingest::{BuildOptions, Builder};
use nprof_engine::makers::SHORT_NAMES;
use nprof_engine::query::{self, FilterScope, HitPage, ResolvedFilter, SearchPattern, Syntax};
use nprof_engine::segment::Segment;
use nprof_engine::spill::MemoryScratch;

fn segment() -> &'static Segment<Vec<u8>> {
    static SEGMENT: OnceLock<Segment<Vec<u8>>> = OnceLock::new();
    SEGMENT.get_or_init(|| {
        let settings = Simulation { ranks: 1, events_per_rank: 300, layers: 1, ..Simulation::default() };
        let (scratch, mut segment) = (MemoryScratch::default(), Vec::new());
        let mut builder =
            Builder::new(&scratch, &mut segment, BuildOptions::default()).expect("a vector takes all bytes");
        simulation::capture(&settings, 0, &mut builder, &mut |_| {}).expect("the settings are in range");
        builder.finish().expect("memory is enough");
        Segment::open(segment).expect("it was just written")
    })
}

/// Runs the target on an input.
pub(super) fn run(bytes: &[u8]) {
    let Ok(query) = std::str::from_utf8(bytes) else { return };
    let segment = segment();
    within_reader(query.len(), || search(segment, query));
}

fn search(segment: &Segment<Vec<u8>>, query: &str) {
    for syntax in [Syntax::Text, Syntax::Regex] {
        if let Ok(pattern) = SearchPattern::new(query, syntax) {
            let found = query::search::find(segment, &pattern, HitPage::first(10), Work::IN_PLACE);
            found.expect("the segment is whole");
        }
    }
    let scope = FilterScope { rank: Some(0), short_names: &SHORT_NAMES, ..FilterScope::default() };
    if let Ok(filter) = ResolvedFilter::new(segment, query, &scope) {
        filter.find(segment, HitPage::first(10), Work::IN_PLACE).expect("the segment is whole");
    }
}
