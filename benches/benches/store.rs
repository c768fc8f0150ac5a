//! The store as a whole: ingest of a simulated rank, then the questions of the page.
//!
//! `cargo bench -p nprof-benches --bench store -- [EVENTS]` (default 1,000,000). Each figure stands
//! beside its parts. `benches/RESULTS.md` keeps the figures of known machines.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use nprof_capture::device::simulation::{self, Simulation};
use nprof_engine::base::Interval;
use nprof_engine::exec::Work;
use nprof_engine::ingest::BuildOptions;
use nprof_engine::metrics::MetricScope;
use nprof_engine::native::{AllCores, SegmentFile, WriteError, write_segment};
use nprof_engine::query::{self, HitPage, SearchPattern};
use nprof_engine::rank::RankView;
use nprof_engine::tile::{Level, TileId, groups};
use nprof_engine::wire::answer;

/// Cells of a view that is 1,000 pixels wide.
const VIEW_CELLS: f64 = 1000.0;
/// Number of runs of each question.
const RUNS: usize = 50;

fn main() {
    let events = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(1_000_000);
    let directory = tempfile::tempdir().expect("the temporary directory is writable");
    let path = directory.path().join("rank_0.nseg");
    let settings = Simulation { ranks: 2, events_per_rank: events, layers: 24, ..Simulation::default() };

    let start = Instant::now();
    let built = write_segment(&path, BuildOptions::default(), |sink, _| {
        simulation::capture(&settings, 0, sink, &mut |_| ())
    });
    let built = match built {
        Ok(built) => built,
        Err(WriteError::Io(error)) => return println!("not written: {error}"),
        Err(WriteError::Engine(error) | WriteError::Read(error)) => return println!("not written: {error}"),
    };
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "simulate and ingest  {:10.0} events/s  {seconds:.2} s for {} events",
        built.events as f64 / seconds,
        built.events
    );
    println!("at rest              {:10.2} bytes/event", built.bytes as f64 / built.events as f64);
    println!("peak memory          {:10} MiB", peak_memory_mib());
    questions(&path);
}

fn questions(path: &Path) {
    let open = || SegmentFile::open_file(path).expect("it was just written");
    report("open", time(|| drop(black_box(open()))));
    let segment = open();
    let (groups, _) = groups(segment.footer());
    let tracks = query::slice::tracks(&segment, None);
    let spans = segment.footer().tracks.iter().filter(|track| track.rows > 0);
    let (from, to) =
        spans.fold((i64::MAX, i64::MIN), |(from, to), t| (from.min(t.start_ps), to.max(t.end_ps)));
    println!("tracks               {:10}             in {} groups", tracks.len(), groups.len());

    let view = |share: f64| {
        let width = (to - from) as f64 * share;
        let level = Level::for_cell_ps(width / VIEW_CELLS);
        let middle = from + (to - from) / 2;
        (level, Interval::new(middle - (width / 2.0) as i64, middle + (width / 2.0) as i64))
    };
    for (name, share) in
        [("view, all", 1.0), ("view, 10 %", 0.1), ("view, 1 %", 0.01), ("view, 0.1 %", 0.001)]
    {
        let (level, window) = view(share);
        let all_tiles = || {
            for group in 0..groups.len() as u32 {
                for index in level.tiles_of(window) {
                    black_box(
                        answer::tile(RankView::of(&segment), TileId { group, level, index }, Work::IN_PLACE)
                            .expect("it is readable"),
                    );
                }
            }
        };
        report(&format!("{name}, all tracks"), time(all_tiles));
    }
    let (_, window) = view(0.001);
    report(
        "window, 0.1 %",
        time(|| drop(black_box(answer::window(RankView::of(&segment), window, None, 2000, Work::IN_PLACE)))),
    );
    let (_, window) = view(0.1);
    report(
        "selection, 10 %",
        time(|| drop(black_box(query::selection::select(&segment, &tracks, window, Work::on(&AllCores))))),
    );
    report(
        "search, rare text",
        time(|| {
            drop(black_box(query::search::find(
                &segment,
                &SearchPattern::text("layers.7"),
                HitPage::first(100),
                Work::on(&AllCores),
            )))
        }),
    );
    let summary = || answer::summary(RankView::of(&segment), 0, &MetricScope::default(), Work::IN_PLACE);
    report("summary", time(|| drop(black_box(summary()))));
}

fn time(mut question: impl FnMut()) -> Vec<Duration> {
    let mut times = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let start = Instant::now();
        question();
        times.push(start.elapsed());
    }
    times.sort_unstable();
    times
}

fn report(name: &str, times: Vec<Duration>) {
    let ms = |at: usize| times[at].as_secs_f64() * 1e3;
    println!("{name:<24} {:10.3} ms p50  {:10.3} ms p99", ms(RUNS / 2), ms(RUNS * 99 / 100));
}

/// Peak resident memory from the system, in MiB; 0 if the system does not report it.
fn peak_memory_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}
