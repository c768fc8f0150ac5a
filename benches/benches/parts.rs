//! The parts of the store, each beside its floor: the time that the machine takes for the same
//! bytes.
//!
//! `cargo bench -p nprof-benches --bench parts -- [FILTER]`, for example `integers::decode`. Prefix
//! it with `EVENTS=10000000` for more than a million events. In each group the benches named
//! `floor_…` do only the necessary minimum: they copy the bytes, add the numbers, or decode them
//! with zstd.

use std::fmt;
use std::sync::LazyLock;

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use nprof_benches::generate::files::{ColumnReader, Fixed, read_texts};
use nprof_benches::generate::random::{Purpose, RandomStream};
use nprof_benches::generate::{GeneratorSettings, Meta, cache, generate};
use nprof_benches::ingest;
use nprof_benches::source::EventSource;
use nprof_engine::base::time::PS_PER_NS;
use nprof_engine::exec::Work;
use nprof_engine::native::SegmentFile;
use nprof_engine::rank::RankView;

/// Number of values that are encoded together.
const BLOCK: usize = nprof_engine::block::ROWS;
/// Number of values in each column.
const VALUES: usize = 1 << 17;
const ZSTD_LEVEL: i32 = 3;

fn main() {
    divan::main();
}

/// The events, generated or cached, and their segment.
struct PartEvents {
    directory: std::path::PathBuf,
    meta: Meta,
    segment: SegmentFile,
    operands: String,
    /// Starts and ends of the first engine's instructions, in picoseconds.
    spans: Vec<(i64, i64)>,
}

static EVENTS: LazyLock<PartEvents> = LazyLock::new(|| {
    let events = std::env::var("EVENTS").ok().and_then(|events| events.parse().ok()).unwrap_or(1_000_000);
    let settings = GeneratorSettings::standard(events);
    let directory = cache(&settings);
    let meta = generate(&directory, &settings).expect("the target folder can be written");
    let path = directory.join("rank_0.nseg");
    ingest::write(EventSource::Files(&directory), &path).expect("the target folder can be written");
    let segment = SegmentFile::open_file(&path).expect("it was just written");
    let operands = read_texts(&directory, "instruction.operands").expect("they were just written");
    let spans = spans(&directory, &meta).expect("they were just written");
    PartEvents { directory, meta, segment, operands, spans }
});

fn spans(directory: &std::path::Path, meta: &Meta) -> std::io::Result<Vec<(i64, i64)>> {
    let rows = meta.instructions[0] as usize;
    let (mut starts, mut durations) = (Vec::new(), Vec::new());
    ColumnReader::<u64>::open(directory, "instruction.start")?.read(rows, &mut starts)?;
    ColumnReader::<u32>::open(directory, "instruction.duration")?.read(rows, &mut durations)?;
    let span = |(start, duration): (&u64, &u32)| {
        let start = start.cast_signed() * PS_PER_NS;
        (start, start + i64::from(*duration) * PS_PER_NS)
    };
    Ok(starts.iter().zip(&durations).map(span).collect())
}

/// Zstd frames over pieces of this length, with the length of their content.
fn zstd_frames(bytes: &[u8], len: usize) -> Vec<(Vec<u8>, usize)> {
    let frame = |of: &[u8]| (zstd::bulk::compress(of, ZSTD_LEVEL).expect("it fits"), of.len());
    bytes.chunks(len).map(frame).collect()
}

fn unpack(frames: &[(Vec<u8>, usize)], decoder: &mut zstd::bulk::Decompressor<'_>, out: &mut Vec<u8>) {
    for (frame, len) in frames {
        out.clear();
        out.reserve(*len);
        decoder.decompress_to_buffer(frame, out).expect("it was just compressed");
        black_box(&out);
    }
}

/// Reads files into a sink that only counts: the part of the ingest benches outside the store.
#[divan::bench]
fn reading_events(bencher: Bencher) {
    let PartEvents { directory, meta, .. } = &*EVENTS;
    let tally = nprof_benches::tally::Tally::default;
    bencher
        .counter(ItemsCount::new(meta.rows()))
        .bench(|| ingest::fill(EventSource::Files(directory), &mut tally()).is_ok());
}

/// Integers in blocks: the columns of the first engine, queue and counter, and one column for each
/// codec that none of them uses.
mod integers {
    use nprof_engine::codec;

    use super::*;

    struct IntegerColumn {
        name: &'static str,
        values: Vec<i64>,
        blocks: Vec<Vec<u8>>,
    }

    impl fmt::Display for IntegerColumn {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let bytes = self.blocks.iter().map(Vec::len).sum::<usize>() as f64 / self.values.len() as f64;
            write!(f, "{}: {}, {bytes:.3} B", self.name, codec::codec_name(&self.blocks[0]))
        }
    }

    static COLUMNS: LazyLock<Vec<IntegerColumn>> = LazyLock::new(|| {
        let meta = &EVENTS.meta;
        let (engine, queue) = (meta.instructions[0], meta.dmas[0]);
        let ps = |ns: Vec<i64>| ns.into_iter().map(|ns| ns * PS_PER_NS).collect();
        let mut random = RandomStream::stream(1, Purpose::Questions, 2, 0);
        let columns: Vec<(&'static str, Vec<i64>)> = vec![
            ("instruction.start", ps(column::<u64>("instruction.start", engine))),
            ("instruction.duration", ps(column::<u32>("instruction.duration", engine))),
            ("instruction.pc", column::<u32>("instruction.pc", engine)),
            ("instruction.opcode", column::<u8>("instruction.opcode", engine)),
            ("instruction.operands", column::<u32>("instruction.operands", engine)),
            ("instruction.hlo_name", column::<u16>("instruction.hlo_name", engine)),
            ("dma.start", ps(column::<u64>("dma.start", queue))),
            ("dma.duration", ps(column::<u32>("dma.duration", queue))),
            ("dma.size", column::<u32>("dma.size", queue)),
            ("dma.dma_id", column::<u32>("dma.dma_id", queue)),
            ("counter.pending_dma", column::<u16>("counter.pending_dma", meta.samples)),
            ("the same", vec![7; VALUES]),
            ("long runs", (0..VALUES).map(|at| (at / 100 * 37 % 11) as i64).collect()),
            ("few, far apart", (0..VALUES).map(|_| random.between(0, 9).pow(13)).collect()),
            ("10 random bits", (0..VALUES).map(|_| random.between(0, 1 << 10)).collect()),
            ("mostly small", (0..VALUES).map(|_| 1 << random.geometric(0.5).min(40)).collect()),
            ("64 random bits", (0..VALUES).map(|_| random.bits().cast_signed()).collect()),
        ];
        let encoded =
            |(name, values): (_, Vec<i64>)| IntegerColumn { name, blocks: blocks_of(&values), values };
        columns.into_iter().map(encoded).collect()
    });

    fn column<T: Fixed + Into<u64>>(name: &str, rows: u64) -> Vec<i64> {
        let mut values = Vec::new();
        let mut reader = ColumnReader::<T>::open(&EVENTS.directory, name).expect("it was just written");
        reader.read(VALUES.min(rows as usize), &mut values).expect("it was just written");
        values.into_iter().map(|value| value.into().cast_signed()).collect()
    }

    fn blocks_of(values: &[i64]) -> Vec<Vec<u8>> {
        let mut encoder = codec::Encoder::default();
        let mut one = |block: &[i64]| {
            let mut out = Vec::new();
            encoder.ints(block, &mut out);
            out
        };
        values.chunks(BLOCK).map(&mut one).collect()
    }

    #[divan::bench(args = COLUMNS.iter())]
    fn encode(bencher: Bencher, column: &IntegerColumn) {
        bencher.counter(ItemsCount::new(column.values.len())).bench(|| blocks_of(&column.values));
    }

    #[divan::bench(args = COLUMNS.iter())]
    fn decode(bencher: Bencher, column: &IntegerColumn) {
        let (mut decoder, mut out) = (codec::BlockDecoder::default(), Vec::new());
        bencher.counter(ItemsCount::new(column.values.len())).bench_local(|| {
            for (block, of) in column.blocks.iter().zip(column.values.chunks(BLOCK)) {
                decoder.ints(block, of.len(), &mut out).expect("it was just encoded");
                black_box(&out);
            }
        });
    }

    #[divan::bench]
    fn floor_copy(bencher: Bencher) {
        let values = &COLUMNS[0].values;
        let mut copy = vec![0; BLOCK];
        bencher.counter(ItemsCount::new(values.len())).bench_local(|| {
            for of in values.chunks(BLOCK) {
                copy[..of.len()].copy_from_slice(black_box(of));
                black_box(&copy);
            }
        });
    }

    #[divan::bench(args = COLUMNS.iter())]
    fn floor_zstd_decode(bencher: Bencher, column: &IntegerColumn) {
        let bytes: Vec<u8> = column.values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let frames = zstd_frames(&bytes, BLOCK * size_of::<i64>());
        let (mut decoder, mut out) = (zstd::bulk::Decompressor::new().expect("there is memory"), Vec::new());
        let bencher = bencher.counter(ItemsCount::new(column.values.len()));
        bencher.bench_local(|| unpack(&frames, &mut decoder, &mut out));
    }
}

/// Operands of one chunk.
mod texts {
    use nprof_engine::codec;

    use super::*;

    static TEXTS: LazyLock<Vec<&str>> =
        LazyLock::new(|| EVENTS.operands.lines().take(nprof_engine::segment::CHUNK_TEXTS).collect());

    fn bytes() -> BytesCount {
        BytesCount::new(TEXTS.iter().map(|text| text.len()).sum::<usize>())
    }

    #[divan::bench]
    fn encode(bencher: Bencher) {
        let mut encoder = codec::Encoder::default();
        bencher.counter(bytes()).bench_local(|| {
            let mut out = Vec::new();
            encoder.texts(TEXTS.iter().copied(), &mut out);
            out
        });
    }

    #[divan::bench]
    fn decode(bencher: Bencher) {
        let (mut encoded, mut decoder) = (Vec::new(), codec::BlockDecoder::default());
        codec::encode_texts(TEXTS.iter().copied(), &mut encoded);
        bencher.counter(bytes()).bench_local(|| decoder.texts(&encoded, TEXTS.len(), usize::MAX).is_ok());
    }

    #[divan::bench]
    fn floor_zstd_decode(bencher: Bencher) {
        let text = TEXTS.concat();
        let frames = zstd_frames(text.as_bytes(), text.len());
        let (mut decoder, mut out) = (zstd::bulk::Decompressor::new().expect("there is memory"), Vec::new());
        bencher.counter(bytes()).bench_local(|| unpack(&frames, &mut decoder, &mut out));
    }
}

/// The interval index over the rows of an engine. Queries are a thousand windows, each 2,000 rows
/// wide.
mod intervals {
    use nprof_engine::index::MaxEndTree;

    use super::*;

    const WIDTH: usize = 2000;

    fn ends() -> Vec<i64> {
        EVENTS.spans.iter().map(|span| span.1).collect()
    }

    fn windows() -> Vec<usize> {
        let mut random = RandomStream::stream(1, Purpose::Questions, 3, 0);
        let last = (EVENTS.spans.len() as i64 - WIDTH as i64).max(1);
        (0..1000).map(|_| random.between(0, last) as usize).collect()
    }

    fn to(from: usize) -> usize {
        (from + WIDTH).min(EVENTS.spans.len())
    }

    #[divan::bench]
    fn build(bencher: Bencher) {
        let ends = ends();
        bencher.counter(ItemsCount::new(ends.len())).bench(|| MaxEndTree::new(ends.clone()));
    }

    #[divan::bench]
    fn floor_build_copy(bencher: Bencher) {
        let ends = ends();
        bencher.counter(ItemsCount::new(ends.len())).bench(|| ends.clone());
    }

    /// All rows that overlap a window: earlier rows that reach into it, and rows that start in it.
    #[divan::bench]
    fn query(bencher: Bencher) {
        let (tree, windows, spans) = (MaxEndTree::new(ends()), windows(), &EVENTS.spans);
        bencher.counter(ItemsCount::new(windows.len())).bench(|| {
            let found = windows.iter().map(|&from| tree.reaching(0, to(from), spans[from].0 + 1).count());
            found.sum::<usize>()
        });
    }

    /// Finds only rows that start in the window, which misses long earlier rows.
    #[divan::bench]
    fn floor_query_scan(bencher: Bencher) {
        let (ends, windows, spans) = (ends(), windows(), &EVENTS.spans);
        bencher.counter(ItemsCount::new(windows.len())).bench(|| {
            let found = |from: usize| ends[from..to(from)].iter().filter(|&&end| end > spans[from].0).count();
            windows.iter().map(|&from| found(from)).sum::<usize>()
        });
    }
}

/// The pyramid of an engine, and a tile of all engines in the middle of the trace.
mod tiles {
    use nprof_engine::base::Interval;
    use nprof_engine::tile::{Cascade, Level, PlacedCell, SliceSummary, TileId};
    use nprof_engine::wire::answer;
    use nprof_engine::wire::tile::Tile;

    use super::*;

    /// Cell width in nanoseconds for slices, cells from rows, and cells from the pyramid.
    const CELLS_NS: [u32; 3] = [32, 1_000, 32_000];

    #[divan::bench]
    fn build_pyramid(bencher: Bencher) {
        let PartEvents { directory, meta, spans, .. } = &*EVENTS;
        let mut opcodes = Vec::new();
        let mut reader =
            ColumnReader::<u8>::open(directory, "instruction.opcode").expect("it was just written");
        reader.read(meta.instructions[0] as usize, &mut opcodes).expect("it was just written");
        let (first, last) = (Level::for_cell_ps(4e6), Level::for_cell_ps(1e12));
        bencher.counter(ItemsCount::new(spans.len())).bench(|| {
            let mut cells = 0;
            let mut out = |_, _: PlacedCell<SliceSummary>| cells += 1;
            let mut cascade: Cascade<SliceSummary> = Cascade::new(first, last);
            for ((row, &(start, end)), &name) in (0_u32..).zip(spans).zip(&opcodes) {
                cascade.slice(Interval::new(start, end), row, u32::from(name), false, &mut out);
            }
            cascade.finish(last, &mut out);
            cells
        });
    }

    #[divan::bench]
    fn floor_build_sum(bencher: Bencher) {
        let spans = &EVENTS.spans;
        let sum = || spans.iter().map(|span| span.1 - span.0).sum::<i64>();
        bencher.counter(ItemsCount::new(spans.len())).bench(sum);
    }

    fn tile_of(ns: u32) -> TileId {
        let meta = &EVENTS.meta;
        let whole = Interval::new(meta.start_ns as i64 * PS_PER_NS, meta.end_ns as i64 * PS_PER_NS);
        let level = Level::for_cell_ps(f64::from(ns) * 1e3);
        let tiles = level.tiles_of(whole);
        TileId { group: 0, level, index: (tiles.start() + tiles.end()) / 2 }
    }

    fn bytes_of(ns: u32) -> Vec<u8> {
        let tile = answer::tile(RankView::of(&EVENTS.segment), tile_of(ns), Work::IN_PLACE)
            .expect("it was just written");
        postcard::to_allocvec(&tile).expect("it fits")
    }

    #[divan::bench(args = CELLS_NS)]
    fn cut(bencher: Bencher, ns: u32) {
        let id = tile_of(ns);
        bencher.bench(|| answer::tile(RankView::of(&EVENTS.segment), id, Work::IN_PLACE).is_ok());
    }

    #[divan::bench(args = CELLS_NS)]
    fn pack(bencher: Bencher, ns: u32) {
        let tile = answer::tile(RankView::of(&EVENTS.segment), tile_of(ns), Work::IN_PLACE)
            .expect("it was just written");
        bencher.counter(BytesCount::new(bytes_of(ns).len())).bench(|| {
            let bytes = postcard::to_allocvec(&tile).expect("it fits");
            zstd::bulk::compress(&bytes, ZSTD_LEVEL).expect("it fits")
        });
    }

    /// Decodes a tile like the page.
    #[divan::bench(args = CELLS_NS)]
    fn decode(bencher: Bencher, ns: u32) {
        let bytes = bytes_of(ns);
        let frame = zstd::bulk::compress(&bytes, ZSTD_LEVEL).expect("it fits");
        bencher.counter(BytesCount::new(bytes.len())).bench(|| {
            let bytes = zstd::bulk::decompress(&frame, bytes.len()).expect("it was just compressed");
            postcard::from_bytes::<Tile>(&bytes).expect("it was just written")
        });
    }

    #[divan::bench(args = CELLS_NS)]
    fn floor_zstd_decode(bencher: Bencher, ns: u32) {
        let bytes = bytes_of(ns);
        let frames = zstd_frames(&bytes, bytes.len());
        let (mut decoder, mut out) = (zstd::bulk::Decompressor::new().expect("there is memory"), Vec::new());
        bencher.counter(BytesCount::new(bytes.len())).bench_local(|| unpack(&frames, &mut decoder, &mut out));
    }
}

/// Texts that occur in no, few and many operands. The floor searches all operands as one text.
mod search {
    use memchr::memmem;
    use nprof_engine::native::AllCores;
    use nprof_engine::query::{self, HitPage, SearchPattern};

    use super::*;

    const NEEDLES: [&str; 4] = ["no_such_text", "S[17]>=", "dst=0x2045180", "row_grp=q3"];

    #[divan::bench(args = NEEDLES)]
    fn text(bencher: Bencher, needle: &str) {
        bencher.bench(|| {
            query::search::find(
                &EVENTS.segment,
                &SearchPattern::text(needle),
                HitPage::first(0),
                Work::on(&AllCores),
            )
            .map(|found| found.rows)
        });
    }

    #[divan::bench(args = NEEDLES)]
    fn floor_memmem(bencher: Bencher, needle: &str) {
        let finder = memmem::Finder::new(needle);
        bencher
            .counter(BytesCount::new(EVENTS.operands.len()))
            .bench(|| finder.find_iter(EVENTS.operands.as_bytes()).count());
    }
}
