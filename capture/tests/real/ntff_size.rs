//! Real traces of about a thousand events take few bytes an event in the store, indexes and all.

use std::path::Path;

use nprof_capture::formats::ntff;
use nprof_engine::ingest::{BuildOptions, Builder};
use nprof_engine::segment::Segment;
use nprof_engine::spill::{MemoryScratch, Space};

/// Most bytes of the whole segment for each slice, sample and instant.
const BYTES_PER_EVENT: u64 = 16;

#[test]
fn a_small_trace_takes_few_bytes_an_event() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/neuron");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("skipped: {} is not there", folder.display());
        return;
    };
    let mut traces = 0;
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.extension().is_none_or(|extension| extension != "ntff") {
            continue;
        }
        let scratch = MemoryScratch::default();
        let mut bytes = Vec::new();
        let mut builder = Builder::new(&scratch, &mut bytes, BuildOptions::default()).unwrap();
        let trace = std::fs::read(&path).unwrap();
        ntff::read(&trace, None, Space::new(&scratch), &mut builder, &mut |_| {}).unwrap();
        let built = builder.finish().unwrap();
        let (events, written) = (built.events, built.bytes);
        assert!(written <= events * BYTES_PER_EVENT, "{}: {written} bytes, {events} events", path.display());
        assert_eq!(written, bytes.len() as u64);
        assert!(Segment::open(bytes).is_ok());
        traces += 1;
    }
    assert!(traces > 0, "{} has traces", folder.display());
}
