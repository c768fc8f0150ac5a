//! The page's work on the store: unpacking a tile and summarising a selection over a million rows.
//! The same code runs on the machine and as wasm in node.
//!
//! `cargo bench -p nprof-benches --bench page -- [EVENTS]` (default 1,000,000). Needs the target
//! wasm32-unknown-unknown, clang for zstd, and node. `scripts/page.sh` says how to get them.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nprof_benches::figure::percentile;
use nprof_benches::generate::{GeneratorSettings, cache, generate};
use nprof_benches::ingest;
use nprof_benches::page::PageBytes;
use nprof_benches::source::EventSource;
use nprof_engine::base::Interval;
use nprof_engine::base::time::PS_PER_NS;
use nprof_engine::exec::Work;
use nprof_engine::native::SegmentFile;
use nprof_engine::rank::RankView;
use nprof_engine::tile::{CELLS, Level, TileId};
use nprof_engine::wire::answer;

const RUN_FOR: Duration = Duration::from_secs(1);
const FEWEST_RUNS: usize = 5;
/// Compression level of the server's tiles.
const ZSTD_LEVEL: i32 = 3;

/// Answer of a question, and the time of each run.
#[derive(Debug, serde::Deserialize)]
struct AskedAnswer {
    answer: f64,
    times_ms: Vec<f64>,
}

#[derive(serde::Deserialize)]
struct Wasm {
    memory_mib: f64,
    #[serde(flatten)]
    asked: BTreeMap<String, AskedAnswer>,
}

fn main() -> Result<()> {
    let events = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(1_000_000);
    let settings = GeneratorSettings::standard(events);
    let events = cache(&settings);
    let meta = generate(&events, &settings)?;
    let segment = events.join("page.nseg");
    ingest::write(EventSource::Files(&events), &segment)?;
    let opened = SegmentFile::open_file(&segment).context("it was just written")?;
    let whole = Interval::new(meta.start_ns as i64 * PS_PER_NS, meta.end_ns as i64 * PS_PER_NS);
    let tile_file = events.join("page.tile");
    std::fs::write(&tile_file, fullest_tile(&opened, whole)?)?;

    let wasm = build()?;
    let page = PageBytes::new(std::fs::read(&tile_file)?, std::fs::read(&segment)?)?;
    let native = BTreeMap::from([
        ("unpack_tile", asked(|| page.unpack_tile().map(|lanes| lanes as f64))?),
        ("select_all", asked(|| page.select_all().ok().map(|count| count as f64))?),
    ]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("page.mjs");
    let output =
        Command::new("node").arg(script).args([&wasm, &tile_file, &segment]).output().context("node")?;
    if !output.status.success() {
        bail!("node: {}", String::from_utf8_lossy(&output.stderr));
    }
    let in_wasm: Wasm = serde_json::from_slice(&output.stdout)?;
    println!(
        "{} rows; a tile of {} bytes, {} packed; wasm took {:.0} MiB.\n",
        meta.rows(),
        page.tile_bytes().unwrap_or_default(),
        std::fs::metadata(&tile_file)?.len(),
        in_wasm.memory_mib
    );
    println!("{:<14} {:>12} {:>12} {:>8}", "p50, ms", "native", "wasm", "times");
    for (name, native) in native {
        let wasm = in_wasm.asked.get(name).with_context(|| format!("node did not answer {name}"))?;
        if wasm.answer != native.answer {
            bail!("{name}: {} in wasm, {} on the machine", wasm.answer, native.answer);
        }
        let (of_native, of_wasm) = (percentile(&native.times_ms, 0.5), percentile(&wasm.times_ms, 0.5));
        println!("{name:<14} {of_native:>12.3} {of_wasm:>12.3} {:>8.2}", of_wasm / of_native);
    }
    Ok(())
}

/// The largest of the first group's tiles in the middle of the profile, packed.
fn fullest_tile(segment: &SegmentFile, whole: Interval) -> Result<Vec<u8>> {
    let widest = Level::for_cell_ps(whole.duration_ps() as f64 / CELLS as f64).number();
    let mut largest = Vec::new();
    for level in (0..=widest).filter_map(Level::new) {
        let tiles = level.tiles_of(whole);
        let id = TileId { group: 0, level, index: i64::midpoint(*tiles.start(), *tiles.end()) };
        let bytes = postcard::to_allocvec(&answer::tile(RankView::of(segment), id, Work::IN_PLACE)?)?;
        if bytes.len() > largest.len() {
            largest = bytes;
        }
    }
    Ok(zstd::bulk::compress(&largest, ZSTD_LEVEL)?)
}

fn asked(mut ask: impl FnMut() -> Option<f64>) -> Result<AskedAnswer> {
    let (begin, mut times_ms, mut answer) = (Instant::now(), Vec::new(), 0.0);
    while begin.elapsed() < RUN_FOR || times_ms.len() < FEWEST_RUNS {
        let start = Instant::now();
        answer = ask().context("the bytes are damaged")?;
        times_ms.push(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(AskedAnswer { answer, times_ms })
}

/// Builds the example for wasm with the same settings as the page.
fn build() -> Result<PathBuf> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace.join("target"), PathBuf::from);
    let target = target.join("bench-wasm");
    let mut build = Command::new("cargo");
    build.args(["build", "--package", "nprof-benches", "--example", "page", "--profile", "page-small"]);
    build.args(["--target", "wasm32-unknown-unknown", "--target-dir"]).arg(&target).current_dir(&workspace);
    build.envs([("CC_wasm32_unknown_unknown", "clang"), ("AR_wasm32_unknown_unknown", "llvm-ar")]);
    let status = build.status().context("cargo")?;
    if !status.success() {
        bail!("{build:?}: {status}");
    }
    Ok(target.join("wasm32-unknown-unknown/page-small/examples/page.wasm"))
}
