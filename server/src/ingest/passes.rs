//! Builds the segments of all ranks: small ones two at a time, large ones one after another.
//!
//! A trace of several ranks is read once per rank. The first pass finds out how many ranks there
//! are. So a build needs the memory of one large rank or of two small ones, however many ranks a
//! trace holds. A large rank keeps all cores busy by itself.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use nprof_capture::files::Sinks;
use nprof_engine::exec::Cancel;
use nprof_engine::ingest::{BuildOptions, Built};
use nprof_engine::model::Sink;
use nprof_engine::native::{Taking, WriteError, write_segment_while};
use nprof_engine::spill::Space;

use super::event_counter::CountingSink;
use super::source::TraceSource;
use super::{IngestError, Result};
use crate::store::Staging;
use crate::work::Meter;

/// Small ranks that are built in parallel. Both together use the memory budget of one rank.
const MAX_THREADS: usize = 2;

/// Most bytes of a trace whose ranks are small. Beside the budgets a build keeps up to forty bytes
/// for each byte of the trace, so two such ranks take less than 512 MiB.
const MAX_SMALL: u64 = 4 << 20;

/// Limit of ranks in one trace. A larger number is a fault of its reader.
const MAX_RANKS: usize = 65_536;

/// A rank with a complete segment.
pub(super) struct RankBuilt {
    /// Index of its trace in the list of sources.
    pub(super) trace: usize,
    /// Index among the ranks of the trace.
    pub(super) nth: usize,
    /// The segment.
    pub(super) built: Built,
}

impl RankBuilt {
    /// The name under which the segment is written.
    pub(super) fn part_name(&self) -> String {
        part_name(Pass { trace: self.trace, nth: self.nth })
    }
}

/// One reading of a trace, for one of its ranks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Pass {
    trace: usize,
    nth: usize,
}

fn part_name(pass: Pass) -> String {
    format!("part_{}_{}.nseg", pass.trace, pass.nth)
}

/// The sink of one rank, and the number of ranks that the reader requested.
struct OneOf<'s> {
    sink: &'s mut dyn Sink,
    nth: usize,
    ranks: usize,
}

impl Sinks for OneOf<'_> {
    fn rank(&mut self, nth: usize) -> Option<&mut dyn Sink> {
        self.ranks = self.ranks.max(nth.saturating_add(1));
        (nth == self.nth).then_some(&mut *self.sink)
    }
}

/// State of the passes: pending, running and done.
struct Board {
    waiting: VecDeque<Pass>,
    running: usize,
    /// True while the pass that runs must run alone.
    is_alone: bool,
    built: Vec<RankBuilt>,
    /// The first failure. It stops the other passes: a large rank must not delay the report about a
    /// small one.
    failure: Option<IngestError>,
    /// Files that turned out not to be traces and can be left out. All are found in one go: each
    /// would cost a repetition.
    spared: Vec<(PathBuf, nprof_capture::error::Error)>,
}

/// Builds all ranks. The results are in the order of the sources, then of the ranks within each.
pub(super) fn build_all(
    staging: &Staging,
    sources: &[TraceSource<'_>],
    meter: &Meter,
) -> Result<Vec<RankBuilt>> {
    let builder = RankBuilder { staging, sources, meter };
    let waiting = (0..sources.len()).map(|trace| Pass { trace, nth: 0 }).collect();
    let board = Mutex::new(Board {
        waiting,
        running: 0,
        is_alone: false,
        built: Vec::new(),
        failure: None,
        spared: Vec::new(),
    });
    let changed = Condvar::new();
    let failed = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..MAX_THREADS {
            scope.spawn(|| {
                let is_cancelled = || meter.is_cancelled() || failed.load(Ordering::Relaxed);
                while let Some(pass) = builder.next(&board, &changed, &is_cancelled) {
                    let outcome = builder.build(pass, Cancel::when(&is_cancelled));
                    let is_failed =
                        matches!(&outcome, Err(error) if !matches!(error, IngestError::Spared(_)));
                    failed.fetch_or(is_failed, Ordering::Relaxed);
                    lock(&board).done(pass, outcome);
                    changed.notify_all();
                }
                changed.notify_all();
            });
        }
    });
    let mut board = board.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(failure) = board.failure {
        return Err(failure);
    }
    if meter.is_cancelled() {
        return Err(IngestError::Cancelled);
    }
    if !board.waiting.is_empty() || board.running > 0 {
        return Err(IngestError::Died);
    }
    if !board.spared.is_empty() {
        return Err(IngestError::Spared(board.spared));
    }
    board.built.sort_by_key(|of| Pass { trace: of.trace, nth: of.nth });
    Ok(board.built)
}

fn lock(board: &Mutex<Board>) -> MutexGuard<'_, Board> {
    board.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Board {
    fn done(&mut self, pass: Pass, outcome: Result<(Built, usize)>) {
        self.running -= 1;
        self.is_alone = false;
        match outcome {
            Ok((built, ranks)) => {
                self.built.push(RankBuilt { trace: pass.trace, nth: pass.nth, built });
                if pass.nth == 0 {
                    let further = (1..ranks.min(MAX_RANKS)).map(|nth| Pass { nth, ..pass });
                    self.waiting.extend(further);
                }
            }
            Err(IngestError::Spared(files)) => self.spared.extend(files),
            Err(error) => {
                self.failure.get_or_insert(error);
            }
        }
    }
}

/// Builds one rank.
struct RankBuilder<'a> {
    staging: &'a Staging,
    sources: &'a [TraceSource<'a>],
    meter: &'a Meter,
}

impl RankBuilder<'_> {
    /// Returns true if a pass must run alone.
    fn is_alone(&self, pass: Pass) -> bool {
        self.sources.len() == 1 && pass.nth == 0 || self.sources[pass.trace].bytes > MAX_SMALL
    }

    /// The next pass. Waits while a running pass can add further ones, and for the end of passes
    /// beside which it cannot run.
    fn next(&self, board: &Mutex<Board>, changed: &Condvar, is_cancelled: &dyn Fn() -> bool) -> Option<Pass> {
        let must_wait = |board: &mut Board| {
            let fits = |pass: &Pass| !board.is_alone && !self.is_alone(*pass);
            board.running > 0 && board.failure.is_none() && !board.waiting.front().is_some_and(fits)
        };
        let mut board = changed.wait_while(lock(board), must_wait).unwrap_or_else(PoisonError::into_inner);
        // A pass that was taken must be run, because the other thread can wait for its end.
        if is_cancelled() {
            return None;
        }
        let pass = board.waiting.pop_front()?;
        board.running += 1;
        board.is_alone = self.is_alone(pass);
        Some(pass)
    }

    /// Memory options and thread use for a rank that is built alone or shares the machine with
    /// another.
    fn means(&self, pass: Pass) -> (BuildOptions, Taking) {
        let whole = BuildOptions::default();
        if self.is_alone(pass) {
            return (whole, Taking::Beside);
        }
        let shared = BuildOptions {
            sort_bytes: whole.sort_bytes / MAX_THREADS,
            dictionary_bytes: whole.dictionary_bytes / MAX_THREADS,
            group_bytes: whole.group_bytes / MAX_THREADS,
            reader_bytes: whole.reader_bytes / MAX_THREADS,
        };
        // Several ranks already keep the cores busy.
        (shared, Taking::Reader)
    }

    /// Builds the segment of a rank, and returns the number of ranks in its trace.
    fn build(&self, pass: Pass, cancel: Cancel<'_>) -> Result<(Built, usize)> {
        let source = &self.sources[pass.trace];
        let path = self.staging.profile_dir().join(part_name(pass));
        let mut ranks = 0;
        let fill = |sink: &mut dyn Sink, space: Space<'_>| {
            let mut sink = CountingSink::new(sink, self.meter);
            let mut sinks = OneOf { sink: &mut sink, nth: pass.nth, ranks: 0 };
            let filled = (source.fill)(&mut sinks, space);
            ranks = sinks.ranks;
            filled
        };
        let (options, taking) = self.means(pass);
        let built = write_segment_while(&path, options, taking, cancel, fill);
        let place = || source.place.clone();
        match built {
            // An error after a cancellation is caused by the cancellation.
            _ if self.meter.is_cancelled() => Err(IngestError::Cancelled),
            Ok(built) => Ok((built, ranks)),
            Err(WriteError::Read(error)) => Err(error),
            Err(WriteError::Io(source)) => Err(IngestError::Write { path: place(), source }),
            Err(WriteError::Engine(source)) => Err(IngestError::Segment { path: place(), source }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use nprof_engine::model::RankInfo;

    use super::*;
    use crate::ingest::{IngestSettings, InputIdentity, build};
    use crate::store::Store;

    /// A trace with this number of ranks. `first` is the number of its first rank if it states
    /// numbers.
    fn source(ranks: usize, first: Option<u32>) -> TraceSource<'static> {
        TraceSource {
            rank: None,
            host: None,
            inputs: vec!["made".to_owned()],
            place: "made".into(),
            bytes: 0,
            fill: Box::new(move |sinks, _| {
                for (nth, number) in (0..ranks).zip(0..) {
                    if let Some(sink) = sinks.rank(nth) {
                        let rank = first.map(|first| first + number);
                        sink.rank(RankInfo { rank, title: format!("{nth}"), ..RankInfo::default() });
                    }
                }
                Ok(())
            }),
        }
    }

    #[test]
    fn a_trace_of_several_ranks_makes_a_segment_of_each() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let sources = [source(3, Some(4)), source(1, None), source(2, Some(4))];
        let id =
            |at: u8| nprof_engine::base::ProfileId::new(nprof_engine::base::id::RankCount::One, [at; 20]);
        let identity = InputIdentity { profile: id(9), traces: vec![id(1), id(2), id(3)], input_bytes: 0 };
        let staged =
            build(store.stage().unwrap(), &sources, &IngestSettings::default(), &Meter::default(), |_| {
                Ok(identity)
            })
            .unwrap();
        let ranks = &staged.manifest.ranks;
        // The ranks of the last trace whose numbers are taken get the next free numbers.
        assert_eq!(ranks.iter().map(|rank| rank.rank).collect::<Vec<_>>(), [0, 1, 2, 4, 5, 6]);
        assert_eq!(ranks.iter().filter(|rank| !rank.notes.is_empty()).count(), 2);
        let ids: std::collections::HashSet<&str> = ranks.iter().map(|rank| rank.id.as_str()).collect();
        assert_eq!(ids.len(), 6);
        for rank in ranks {
            assert!(staged.profile().segment_path(rank).is_file(), "{}", rank.file);
        }
    }

    #[test]
    fn a_build_that_is_cancelled_before_its_first_pass_ends() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let meter = Meter::default();
        meter.cancel();
        let built = build_all(&store.stage().unwrap(), &[source(2, None)], &meter);
        assert!(matches!(built, Err(IngestError::Cancelled)));
    }

    /// Two ranks at once would take the memory of two.
    #[test]
    fn large_ranks_are_built_one_after_another() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let large = || TraceSource {
            bytes: MAX_SMALL + 1,
            fill: Box::new(|sinks, _| {
                most.fetch_max(running.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
                thread::sleep(std::time::Duration::from_millis(20));
                sinks.rank(1);
                running.fetch_sub(1, Ordering::Relaxed);
                Ok(())
            }),
            ..source(0, None)
        };
        let staging = store.stage().unwrap();
        let built = build_all(&staging, &[large(), source(2, None), large()], &Meter::default()).unwrap();
        assert_eq!((built.len(), most.into_inner()), (6, 1));
    }

    #[test]
    fn the_first_failure_ends_all() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let failing = TraceSource { fill: Box::new(|_, _| Err(IngestError::NoInput)), ..source(1, None) };
        let staging = store.stage().unwrap();
        let built = build_all(&staging, &[failing, source(9, None), source(1, None)], &Meter::default());
        assert!(matches!(built, Err(IngestError::NoInput)));
    }
}
