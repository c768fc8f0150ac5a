//! The parts of the store, each beside its floor: what the machine itself takes for the same bytes.
//!
//! `cargo bench -p nprof-benches --bench parts -- [EVENTS]` (1,000,000 unless told otherwise). A part runs for a fifth of a
//! second; the fastest run counts, which is the one that nothing else disturbed.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use memchr::memmem;
use nprof_benches::generate::files::{ColumnReader, Fixed, read_texts};
use nprof_benches::generate::random::{Purpose, Random};
use nprof_benches::generate::{Meta, Settings, cache, generate};
use nprof_benches::ingest;
use nprof_benches::tally::Tally;
use nprof_engine::base::Interval;
use nprof_engine::base::time::PS_PER_NS;
use nprof_engine::codec;
use nprof_engine::index::MaxEndTree;
use nprof_engine::native::{AllCores, SegmentFile};
use nprof_engine::query::Pattern;
use nprof_engine::tile::{Cascade, Cell, Level, SliceSummary, TileId};
use nprof_engine::wire::answer;
use nprof_engine::wire::tile::Tile;

/// Values that are encoded together.
const BLOCK: usize = nprof_engine::block::ROWS;
/// Values of each column.
const VALUES: usize = 1 << 17;
const RUN_FOR: Duration = Duration::from_millis(200);
const ZSTD_LEVEL: i32 = 3;

/// Seconds of the fastest run.
fn fastest<R>(mut run: impl FnMut() -> R) -> f64 {
    let (begin, mut fastest) = (Instant::now(), f64::MAX);
    while begin.elapsed() < RUN_FOR {
        let start = Instant::now();
        black_box(run());
        fastest = fastest.min(start.elapsed().as_secs_f64());
    }
    fastest
}

fn main() -> Result<()> {
    let events = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(1_000_000);
    let settings = Settings::standard(events);
    let directory = cache(&settings);
    let meta = generate(&directory, &settings)?;
    let path = directory.join("rank_0.nseg");
    ingest::write(&directory, &path)?;
    let segment = SegmentFile::open_file(&path)?.context("it was just written")?;
    println!(
        "Reading the events and numbering their texts: {:.1} million a second.\n",
        reading(&directory, &meta)?
    );
    integers(&directory, &meta)?;
    texts(&directory)?;
    intervals(&directory, &meta)?;
    tile_build(&directory, &meta)?;
    tile_decode(&segment, &meta)?;
    search(&directory, &segment)
}

/// Million events a second that the benches can hand over.
fn reading(directory: &Path, meta: &Meta) -> Result<f64> {
    ingest::fill(directory, &mut Tally::default())?;
    let seconds = fastest(|| ingest::fill(directory, &mut Tally::default()).is_ok());
    Ok(meta.rows() as f64 / seconds / 1e6)
}

fn column<T: Fixed + Into<u64>>(directory: &Path, name: &str, rows: u64) -> Result<Vec<i64>> {
    let mut values = Vec::new();
    ColumnReader::<T>::open(directory, name)?.read(VALUES.min(rows as usize), &mut values)?;
    Ok(values.into_iter().map(|value| value.into().cast_signed()).collect())
}

/// The columns of the first engine, queue and counter; then one for each codec that none of these needs.
fn columns(directory: &Path, meta: &Meta) -> Result<Vec<(&'static str, Vec<i64>)>> {
    let (engine, queue) = (meta.instructions[0], meta.dmas[0]);
    let ps = |ns: Vec<i64>| ns.into_iter().map(|ns| ns * PS_PER_NS).collect();
    let mut random = Random::stream(1, Purpose::Questions, 2, 0);
    Ok(vec![
        ("instruction.start", ps(column::<u64>(directory, "instruction.start", engine)?)),
        ("instruction.duration", ps(column::<u32>(directory, "instruction.duration", engine)?)),
        ("instruction.pc", column::<u32>(directory, "instruction.pc", engine)?),
        ("instruction.opcode", column::<u8>(directory, "instruction.opcode", engine)?),
        ("instruction.operands", column::<u32>(directory, "instruction.operands", engine)?),
        ("instruction.hlo_name", column::<u16>(directory, "instruction.hlo_name", engine)?),
        ("dma.start", ps(column::<u64>(directory, "dma.start", queue)?)),
        ("dma.duration", ps(column::<u32>(directory, "dma.duration", queue)?)),
        ("dma.size", column::<u32>(directory, "dma.size", queue)?),
        ("dma.dma_id", column::<u32>(directory, "dma.dma_id", queue)?),
        ("counter.pending_dma", column::<u16>(directory, "counter.pending_dma", meta.samples)?),
        ("the same", vec![7; VALUES]),
        ("long runs", (0..VALUES).map(|at| (at / 100 * 37 % 11) as i64).collect()),
        ("few, far apart", (0..VALUES).map(|_| random.between(0, 9).pow(13)).collect()),
        ("10 random bits", (0..VALUES).map(|_| random.between(0, 1 << 10)).collect()),
        ("mostly small", (0..VALUES).map(|_| 1 << random.geometric(0.5).min(40)).collect()),
        ("64 random bits", (0..VALUES).map(|_| random.bits().cast_signed()).collect()),
    ])
}

fn integers(directory: &Path, meta: &Meta) -> Result<()> {
    println!(
        "Integers in blocks of {BLOCK}: million values a second, beside copying them and zstd's own decoding.\n"
    );
    println!(
        "{:<22} {:<28} {:>11} {:>8} {:>8} {:>8} {:>8}",
        "column", "codec", "bytes/value", "encode", "decode", "copy", "zstd"
    );
    for (name, values) in columns(directory, meta)? {
        let encode = || -> Vec<Vec<u8>> {
            let one = |block: &[i64]| {
                let mut out = Vec::new();
                codec::encode_ints(block, &mut out);
                out
            };
            values.chunks(BLOCK).map(one).collect()
        };
        let blocks = encode();
        let rate = |seconds: f64| values.len() as f64 / seconds / 1e6;
        let mut out = Vec::new();
        let decode = fastest(|| {
            for (block, of) in blocks.iter().zip(values.chunks(BLOCK)) {
                codec::decode_ints(block, of.len(), &mut out).expect("it was just encoded");
                black_box(&out);
            }
        });
        let mut copy = vec![0; BLOCK];
        let copied = fastest(|| {
            for of in values.chunks(BLOCK) {
                copy[..of.len()].copy_from_slice(black_box(of));
                black_box(&copy);
            }
        });
        println!(
            "{name:<22} {:<28} {:>11.3} {:>8.0} {:>8.0} {:>8.0} {:>8.0}",
            codec::codec_name(&blocks[0]),
            blocks.iter().map(Vec::len).sum::<usize>() as f64 / values.len() as f64,
            rate(fastest(encode)),
            rate(decode),
            rate(copied),
            rate(zstd_decode(&bytes_of(&values), BLOCK * size_of::<i64>())?),
        );
    }
    Ok(())
}

fn bytes_of(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Seconds that zstd takes for these bytes, in frames of this length.
fn zstd_decode(bytes: &[u8], frame: usize) -> Result<f64> {
    let frames = bytes.chunks(frame).map(|of| zstd::bulk::compress(of, ZSTD_LEVEL));
    let frames = frames.collect::<std::io::Result<Vec<_>>>()?;
    let mut out = vec![0; frame];
    let mut decoder = zstd::bulk::Decompressor::new()?;
    Ok(fastest(|| {
        for frame in &frames {
            decoder.decompress_to_buffer(frame, &mut out).expect("it was just compressed");
            black_box(&out);
        }
    }))
}

fn texts(directory: &Path) -> Result<()> {
    let all = read_texts(directory, "instruction.operands")?;
    let of: Vec<&str> = all.lines().take(BLOCK * 16).collect();
    let text_bytes: usize = of.iter().map(|text| text.len()).sum();
    let mut encoded = Vec::new();
    codec::encode_texts(of.iter().copied(), &mut encoded);
    let encode = fastest(|| {
        let mut out = Vec::new();
        codec::encode_texts(of.iter().copied(), &mut out);
        out
    });
    let decode = fastest(|| codec::decode_texts(&encoded, of.len()).expect("it was just encoded"));
    let plain = zstd_decode(of.concat().as_bytes(), text_bytes)?;
    let rate = |seconds: f64| text_bytes as f64 / seconds / 1e6;
    println!(
        "\n{} operands, {}: {:.2} bytes each of {:.1}; encode {:.0}, decode {:.0}, zstd alone {:.0} MB/s",
        of.len(),
        codec::codec_name(&encoded),
        encoded.len() as f64 / of.len() as f64,
        text_bytes as f64 / of.len() as f64,
        rate(encode),
        rate(decode),
        rate(plain)
    );
    Ok(())
}

/// Starts and ends of the first engine's instructions, in picoseconds.
fn spans(directory: &Path, meta: &Meta) -> Result<Vec<(i64, i64)>> {
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

fn intervals(directory: &Path, meta: &Meta) -> Result<()> {
    let spans = spans(directory, meta)?;
    let ends: Vec<i64> = spans.iter().map(|span| span.1).collect();
    let tree = MaxEndTree::new(ends.clone());
    let build = fastest(|| MaxEndTree::new(ends.clone()));
    let copy = fastest(|| ends.clone());
    let mut random = Random::stream(1, Purpose::Questions, 3, 0);
    let windows: Vec<usize> =
        (0..1000).map(|_| random.between(0, (spans.len() as i64 - 2000).max(1)) as usize).collect();
    let to = |from: usize| (from + 2000).min(spans.len());
    // All rows that reach into a window 2,000 rows wide: those before it that last, and those in it.
    let query = fastest(|| {
        let found = windows.iter().map(|&from| tree.reaching(0, to(from), spans[from].0 + 1).count());
        found.sum::<usize>()
    });
    let in_window = |from: usize| ends[from..to(from)].iter().filter(|&&end| end > spans[from].0).count();
    let floor = fastest(|| windows.iter().map(|&from| in_window(from)).sum::<usize>());
    println!(
        "\nInterval index over {} rows: built at {:.0} million a second (copying: {:.0}); a window of 2,000 rows takes\
         \n{:.2} µs (looking at those that start in it, which misses the long ones: {:.2} µs)",
        spans.len(),
        spans.len() as f64 / build / 1e6,
        spans.len() as f64 / copy / 1e6,
        query / windows.len() as f64 * 1e6,
        floor / windows.len() as f64 * 1e6
    );
    Ok(())
}

fn tile_build(directory: &Path, meta: &Meta) -> Result<()> {
    let spans = spans(directory, meta)?;
    let opcodes = column::<u8>(directory, "instruction.opcode", meta.instructions[0])?;
    let (first, last) = (Level::for_cell_ps(4e6), Level::for_cell_ps(1e12));
    let build = fastest(|| {
        let mut cells = 0;
        let mut out = |_, _: Cell<SliceSummary>| cells += 1;
        let mut cascade: Cascade<SliceSummary> = Cascade::new(first, last);
        for (row, &span) in (0_u32..).zip(&spans) {
            let name = opcodes[row as usize % opcodes.len()];
            cascade.slice(span, (row, name as u32), &mut out);
        }
        cascade.finish(&mut out);
        cells
    });
    let sum = fastest(|| spans.iter().map(|span| span.1 - span.0).sum::<i64>());
    println!(
        "\nPyramid of {} rows: {:.1} million rows a second (adding up their durations: {:.0})",
        spans.len(),
        spans.len() as f64 / build / 1e6,
        spans.len() as f64 / sum / 1e6
    );
    Ok(())
}

fn tile_decode(segment: &SegmentFile, meta: &Meta) -> Result<()> {
    println!("\nA tile of the engines, by level: cut from the segment, packed, and unpacked by the page.\n");
    println!(
        "{:<10} {:>9} {:>9} {:>9} {:>11} {:>11}",
        "cell", "bytes", "cut ms", "pack ms", "unpack MB/s", "zstd MB/s"
    );
    let whole = Interval::new(meta.start_ns as i64 * PS_PER_NS, meta.end_ns as i64 * PS_PER_NS);
    for ns in [32.0, 1e3, 32e3] {
        let level = Level::for_cell_ps(ns * 1e3);
        let tiles = level.tiles_of(whole);
        let id = TileId { group: 0, level, index: (tiles.start() + tiles.end()) / 2 };
        let tile = answer::tile(segment, id)?;
        let bytes = postcard::to_allocvec(&tile)?;
        let frame = zstd::bulk::compress(&bytes, ZSTD_LEVEL)?;
        let unpack = fastest(|| {
            let bytes = zstd::bulk::decompress(&frame, bytes.len()).expect("it was just compressed");
            postcard::from_bytes::<Tile>(&bytes).expect("it was just written")
        });
        let pack = fastest(|| {
            let bytes = postcard::to_allocvec(&tile).expect("it fits");
            zstd::bulk::compress(&bytes, ZSTD_LEVEL).expect("it fits")
        });
        println!(
            "{:<10} {:>9} {:>9.3} {:>9.3} {:>11.0} {:>11.0}",
            format!("{ns} ns"),
            frame.len(),
            fastest(|| answer::tile(segment, id)) * 1e3,
            pack * 1e3,
            bytes.len() as f64 / unpack / 1e6,
            bytes.len() as f64 / zstd_decode(&bytes, bytes.len())? / 1e6,
        );
    }
    Ok(())
}

fn search(directory: &Path, segment: &SegmentFile) -> Result<()> {
    let all = read_texts(directory, "instruction.operands")?;
    let search =
        |needle| segment.search(&Pattern::text(needle), 0, &AllCores(&|| true)).map(|found| found.rows);
    println!("\nSearch, beside looking for the same text in all operands as one:\n");
    println!("{:<16} {:>9} {:>9} {:>9}", "text", "rows", "ms", "floor ms");
    for needle in ["no_such_text", "S[17]>=", "dst=0x2045180", "row_grp=q3"] {
        let finder = memmem::Finder::new(needle);
        println!(
            "{needle:<16} {:>9} {:>9.3} {:>9.3}",
            search(needle)?.len(),
            fastest(|| search(needle)) * 1e3,
            fastest(|| finder.find_iter(all.as_bytes()).count()) * 1e3
        );
    }
    Ok(())
}
