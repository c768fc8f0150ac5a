//! A remote segment: the number of bytes that a reader fetches.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use nprof_engine::base::{Error, Interval, Result};
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::ingest::{BuildOptions, Builder};
use nprof_engine::model::{
    FieldSpec, Nesting, Sink, SliceForm, SliceRecord, TableKind, TableSpec, TrackId, TrackSpec, Unit, Value,
};
use nprof_engine::query;
use nprof_engine::rank::RankView;
use nprof_engine::segment::{Bytes, Fetch, Fetched, Segment};
use nprof_engine::spill::MemoryScratch;
use nprof_engine::tile::{Level, TileId};
use nprof_engine::wire::answer;

const TRACKS: i64 = 3;
const PERIOD_PS: i64 = 1_000;

/// A remote file, and the lengths that were requested.
#[derive(Debug)]
struct Host {
    bytes: Vec<u8>,
    asked: Mutex<Vec<u64>>,
    is_gone: AtomicBool,
}

impl Host {
    /// A segment on this host, whose last `end` bytes are already here.
    fn segment(bytes: Vec<u8>, end: usize) -> Segment<Fetched<Self>> {
        let (len, end) = (bytes.len() as u64, bytes[bytes.len() - end..].to_vec());
        let host = Self { bytes, asked: Mutex::default(), is_gone: AtomicBool::new(false) };
        Segment::open(Fetched::new(host, len, end)).unwrap()
    }

    fn take_asked(&self) -> Vec<u64> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

impl Fetch for Host {
    fn fetch(&self, offset: u64, len: u64) -> Result<Vec<u8>> {
        self.asked.lock().unwrap().push(len);
        if self.is_gone.load(Ordering::Relaxed) {
            return Err(Error::Storage { what: "gone" });
        }
        Ok(self.bytes[offset as usize..(offset + len) as usize].to_vec())
    }
}

/// Slices on three tracks in turn, each with a text of its own, and a counter.
fn build(rows: i64) -> Vec<u8> {
    let (scratch, mut bytes) = (MemoryScratch::default(), Vec::new());
    let mut builder = Builder::new(&scratch, &mut bytes, BuildOptions::default()).unwrap();
    let table = |name: &str, kind| TableSpec::new(name, kind, "");
    let instruction = builder.table(table("instruction", TableKind::Slices)).unwrap();
    let samples = builder.table(table("counter", TableKind::Samples)).unwrap();
    let text = builder.field(instruction, FieldSpec::named("operands")).unwrap();
    let counter = builder.track(TrackSpec::counter("Pending", None, samples, Unit::Count, 9)).unwrap();
    let tracks: Vec<TrackId> = (0..TRACKS)
        .map(|at| {
            let name = format!("Track {at}");
            let spec = TrackSpec::slices(&name, None, instruction, Nesting::Concurrent, at);
            builder.track(spec).unwrap()
        })
        .collect();
    for at in 0..rows {
        let name = builder.name(&format!("OP_{}", at % 5)).unwrap();
        let operand = format!("operand {}", at * 7919 % 1_000_003);
        let record = SliceRecord {
            track: tracks[(at % TRACKS) as usize],
            start_ps: at * PERIOD_PS,
            duration_ps: at * 7 % 900,
            name,
            form: SliceForm::Complete,
            fields: &[(text, Value::Text(&operand))],
        };
        builder.slice(&record).unwrap();
        if at % TRACKS == 0 {
            builder.sample(counter, at * PERIOD_PS, (at % 17) as f64, &[]).unwrap();
        }
    }
    builder.finish().unwrap();
    bytes
}

#[test]
fn a_window_takes_few_requests_and_none_twice() {
    let bytes = build(60_000);
    let len = bytes.len() as u64;
    let segment = Host::segment(bytes, 4096);
    let host = segment.bytes().fetcher();
    let window = Interval::new(5_000_000, 5_003_000);
    let found = || {
        query::slice::window(&segment, &[TrackId(1)], window, 10, Cancel::NEVER)
            .map(|(found, _)| found[0].slice.row)
    };
    let row = found().unwrap();
    let asked = host.take_asked();
    assert!(asked.len() < 8 && asked.iter().sum::<u64>() < 2 * len, "{asked:?} of {len} bytes");

    host.is_gone.store(true, Ordering::Relaxed);
    assert_eq!(found(), Ok(row));
    assert!(host.take_asked().is_empty(), "what is here is asked for no more");
}

#[test]
fn a_host_that_is_gone_is_an_error_that_passes() {
    let segment = Host::segment(build(60_000), 4096);
    let host = segment.bytes().fetcher();
    host.is_gone.store(true, Ordering::Relaxed);
    let window = || {
        query::slice::window(&segment, &[TrackId(1)], Interval::new(5_000_000, 5_003_000), 10, Cancel::NEVER)
    };
    assert_eq!(window().unwrap_err(), Error::Storage { what: "gone" });
    host.is_gone.store(false, Ordering::Relaxed);
    assert!(!window().unwrap().0.is_empty());
}

#[test]
fn reads_in_a_row_grow() {
    let bytes = vec![7; 4 << 20];
    let len = bytes.len() as u64;
    let host = Host { bytes, asked: Mutex::default(), is_gone: AtomicBool::new(false) };
    let remote = Fetched::new(host, len, vec![7; 16]);
    // From a place in the middle to the end.
    for offset in ((1 << 20)..len).step_by(1_000) {
        remote.range(offset, 1_000.min(len - offset)).unwrap();
    }
    let kib: Vec<u64> = remote.fetcher().take_asked().into_iter().map(|len| len >> 10).collect();
    assert_eq!(kib[..4], [128, 256, 512, 512], "{kib:?}");
    assert!(kib.iter().sum::<u64>() < 3 * 1024 + 64 && kib.iter().all(|kib| *kib <= 512), "{kib:?}");
    // A place of its own.
    remote.range(100_000, 10).unwrap();
    assert_eq!(remote.fetcher().take_asked(), [128 << 10]);
}

#[test]
fn an_overview_of_all_tracks_is_at_the_end() {
    const END: usize = 64 * 1024;
    let rows = 120_000;
    let bytes = build(rows);
    assert!(bytes.len() > 4 * END, "{} bytes", bytes.len());
    let segment = Host::segment(bytes, END);
    let host = segment.bytes().fetcher();
    host.take_asked();
    let whole = Interval::new(0, rows * PERIOD_PS);
    let level = Level::for_cell_ps(whole.end.0 as f64 / 256.0);
    let (groups, _) = nprof_engine::tile::groups(segment.footer());
    let mut lanes = 0;
    for (group, _) in (0..).zip(&groups) {
        for index in level.tiles_of(whole) {
            lanes += answer::tile(RankView::of(&segment), TileId { group, level, index }, Work::IN_PLACE)
                .unwrap()
                .lanes
                .len();
        }
    }
    assert!(lanes as i64 > TRACKS, "{lanes} lanes");
    assert!(host.take_asked().is_empty());
}
