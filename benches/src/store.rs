//! Queries nprof: one segment with the questions of [`crate::questions`].

use std::ops::Range;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use nprof_engine::base::Interval;
use nprof_engine::base::time::PS_PER_NS;
use nprof_engine::block::{BlockColumn, BlockValues, ColumnType};
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::model::TrackId;
use nprof_engine::native::{AllCores, SegmentFile};
use nprof_engine::query::{self, HitPage, SearchPattern};
use nprof_engine::rank::RankView;
use nprof_engine::segment::{BlockReader, ColumnRole};
use nprof_engine::tile::{LaneContent, Level, TileId, cut, groups};
use nprof_engine::wire::answer;

use crate::figure::{AnswerSummary, Figure, FigureKind, peak_mib, time};
use crate::generate::random::{Purpose, RandomStream};
use crate::ingest;
use crate::questions::{EngineWindow, Questions};
use crate::source::{EventSource, LoadedEvents};

/// Name of the store in tables.
pub const NAME: &str = "nprof";
/// Number of runs of a question without arguments.
const RUNS: usize = 50;
/// Number of tiles that are fetched at random.
const TILES: usize = 400;

fn figure(content: FigureKind) -> Figure {
    Figure { store: NAME.to_owned(), content }
}

/// Name of [`ingest_from_memory`] in tables.
pub const FROM_MEMORY: &str = "in from memory";

/// Ingests the events in `directory` into the segment `path`. All events are in memory before the
/// clock starts.
pub fn ingest_from_memory(directory: &Path, path: &Path) -> Result<Vec<Figure>> {
    let loaded = LoadedEvents::read(directory)?;
    let start = Instant::now();
    ingest::write(EventSource::Memory(&loaded), path)?;
    let times_ms = vec![start.elapsed().as_secs_f64() * 1e3];
    Ok(vec![figure(FigureKind::Question { name: FROM_MEMORY.to_owned(), times_ms, answer: None })])
}

/// Ingests the events in `directory` into the segment `path`, and reports its bytes by column.
pub fn ingest(directory: &Path, path: &Path) -> Result<Vec<Figure>> {
    let start = Instant::now();
    let built = ingest::write(EventSource::Files(directory), path)?;
    let seconds = start.elapsed().as_secs_f64();
    let peak_mib = peak_mib();
    let anatomy = open(path)?.anatomy()?;
    let mut figures = vec![figure(FigureKind::Ingest { seconds, bytes: built.bytes, peak_mib })];
    figures.extend(anatomy.tables.into_iter().map(|table| {
        let columns = table.columns.into_iter();
        let bytes = columns.map(|column| (column.name, column.bytes)).collect();
        figure(FigureKind::Columns { table: table.name, rows: table.rows, bytes })
    }));
    let whole = [
        ("dictionary", anatomy.dictionary.1),
        ("pyramid", anatomy.pyramid_bytes),
        ("other", anatomy.other_bytes),
    ];
    let bytes = whole.map(|(name, bytes)| (name.to_owned(), bytes)).into();
    figures.push(figure(FigureKind::Columns { table: "segment".to_owned(), rows: built.events, bytes }));
    Ok(figures)
}

fn open(path: &Path) -> Result<SegmentFile> {
    SegmentFile::open_file(path).with_context(|| path.display().to_string())
}

/// Rows with all their columns: numbers, and texts if the segment has them.
#[derive(Default)]
struct FullRows<'a> {
    start_ps: Vec<i64>,
    duration_ps: Vec<i64>,
    numbers: Vec<i64>,
    texts: Vec<&'a str>,
    /// Texts that are stored in place.
    long_texts: Vec<String>,
}

/// Opens the segment and answers one window, like a page after a restart.
pub fn cold(path: &Path, questions: &Questions, run: usize) -> Result<Vec<Figure>> {
    let window = &questions.windows[run % questions.windows.len()];
    let start = Instant::now();
    let segment = open(path)?;
    let engines = engines(&segment);
    window_rows(&segment, engines[window.engine_index], window, questions.lookback_ns)?;
    let times_ms = vec![start.elapsed().as_secs_f64() * 1e3];
    Ok(vec![figure(FigureKind::Question { name: "cold".to_owned(), times_ms, answer: None })])
}

/// Answers all questions, each for the first time and again.
pub fn query(path: &Path, questions: &Questions) -> Result<Vec<Figure>> {
    let segment = open(path)?;
    let engines = engines(&segment);
    let whole = Interval::new(ps(questions.start_ns), ps(questions.end_ns + questions.longest_ns));
    let level = Level::for_cell_ps(ps(questions.cell_ns) as f64);
    let [near, far] = windows(&segment, &engines, questions)?;
    let timed = [
        near,
        far,
        time(
            NAME,
            "Z1",
            &std::array::from_fn::<usize, RUNS, _>(|run| run),
            |_| cells(&segment, &engines, level, whole),
            // The answer is the same in each run.
            |&run, sum| if run == 0 { *sum } else { AnswerSummary::default() },
        )?,
        selections(&segment, &engines, questions)?,
        searches(&segment, questions)?,
        tiles(&segment, questions, whole)?,
    ];
    let memory = figure(FigureKind::Memory { peak_mib: peak_mib() });
    Ok(timed.into_iter().flatten().chain([memory]).collect())
}

/// W1 and W2: the rows of windows that start shortly before the window, and all of them.
fn windows(segment: &SegmentFile, engines: &[TrackId], questions: &Questions) -> Result<[[Figure; 2]; 2]> {
    let of = |name, lookback_ns| {
        let ask =
            |window: &EngineWindow| window_rows(segment, engines[window.engine_index], window, lookback_ns);
        time(NAME, name, &questions.windows, ask, |_, rows| sum_of_rows(rows))
    };
    Ok([of("W1", questions.lookback_ns)?, of("W2", u64::MAX)?])
}

/// G1: the time of names in spans.
fn selections(segment: &SegmentFile, engines: &[TrackId], questions: &Questions) -> Result<[Figure; 2]> {
    time(
        NAME,
        "G1",
        &questions.spans,
        |&(start, end)| {
            let span = Interval::new(ps(start), ps(end));
            Ok(query::selection::select(segment, engines, span, Work::on(&AllCores))?)
        },
        |_, selection| {
            let ps: u64 = selection.by_name.iter().map(|name| name.total_ps).sum();
            AnswerSummary { rows: selection.count, sum: ps / PS_PER_NS.unsigned_abs() }
        },
    )
}

/// S1: the rows with a text.
fn searches(segment: &SegmentFile, questions: &Questions) -> Result<[Figure; 2]> {
    let find = |needle: &String| {
        let (pattern, none) = (SearchPattern::text(needle), HitPage::first(0));
        Ok(query::search::find(segment, &pattern, none, Work::on(&AllCores))?.rows)
    };
    time(NAME, "S1", &questions.needles, find, |_, rows| AnswerSummary { rows: rows.len(), sum: 0 })
}

fn ps(ns: u64) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX / PS_PER_NS) * PS_PER_NS
}

/// The engines' tracks are the first ones.
fn engines(segment: &SegmentFile) -> Vec<TrackId> {
    query::slice::tracks(segment, None).into_iter().take(crate::generate::text::ENGINES.len()).collect()
}

/// The slices of a window with all their fields, if they start at most `lookback_ns` before the
/// window.
fn window_rows<'a>(
    segment: &'a SegmentFile,
    track: TrackId,
    window: &EngineWindow,
    lookback_ns: u64,
) -> Result<FullRows<'a>> {
    let interval = Interval::new(ps(window.start_ns), ps(window.end_ns));
    let from = ps(window.start_ns.saturating_sub(lookback_ns));
    let table = segment.table_of(track).context("an engine's track has slices")?;
    let mut found = FullRows::default();
    for block in segment.blocks(table)?.overlapping(segment.blocks_of(track)?, interval) {
        let mut reader = BlockReader::new(segment, table, block)?;
        let starts = reader.core_ints(ColumnRole::Start)?;
        let durations = reader.core_ints(ColumnRole::Duration)?;
        let begin = starts.partition_point(|&start| start < from);
        let mut wanted = interval.runs_of(&starts, &durations);
        wanted.retain_mut(|run| {
            run.start = run.start.max(begin);
            run.start < run.end
        });
        let (Some(first), Some(last)) = (wanted.first(), wanted.last()) else { continue };
        let rows = first.start..last.end;
        for run in &wanted {
            found.start_ps.extend_from_slice(&starts[run.clone()]);
            found.duration_ps.extend_from_slice(&durations[run.clone()]);
        }
        for column in segment.columns_of(table) {
            if matches!(segment.footer().columns[column].role, ColumnRole::Name | ColumnRole::Field(_))
                && let Some(values) = reader.column_of(column, rows.clone())?
            {
                found.add(segment, segment.kind(column), &values, &wanted)?;
            }
        }
    }
    Ok(found)
}

impl<'a> FullRows<'a> {
    /// Adds the values of the wanted rows of a block's column.
    fn add(
        &mut self,
        segment: &'a SegmentFile,
        kind: ColumnType,
        column: &BlockColumn,
        wanted: &[Range<usize>],
    ) -> Result<()> {
        for span in wanted.iter().map(|run| column.span(run.clone())) {
            match column.values() {
                BlockValues::Ints(codes) if kind.is_code() => segment.texts(&codes[span], &mut self.texts)?,
                BlockValues::Ints(numbers) => self.numbers.extend_from_slice(&numbers[span]),
                BlockValues::Texts(texts) => {
                    self.long_texts.extend(span.map(|slot| texts.get(slot).to_owned()));
                }
                BlockValues::Floats(_) => {}
            }
        }
        Ok(())
    }
}

fn sum_of_rows(rows: &FullRows<'_>) -> AnswerSummary {
    let time_ps: i64 = rows.duration_ps.iter().sum();
    let numbers: i64 = rows.numbers.iter().sum();
    let texts = rows.texts.iter().copied().chain(rows.long_texts.iter().map(String::as_str));
    let sum = (time_ps / PS_PER_NS + numbers).unsigned_abs() + texts.map(str::len).sum::<usize>() as u64;
    AnswerSummary { rows: rows.start_ps.len() as u64, sum }
}

/// Time and number of slices in all cells of a level.
fn cells(segment: &SegmentFile, engines: &[TrackId], level: Level, whole: Interval) -> Result<AnswerSummary> {
    let mut sum = AnswerSummary::default();
    let mut ps = 0;
    for &track in engines {
        for index in level.tiles_of(whole) {
            let tile = TileId { group: 0, level, index };
            for lane in cut(segment, track, tile, Cancel::NEVER)? {
                match lane.content {
                    LaneContent::SliceCells(cells) => {
                        sum.rows += cells.iter().map(|cell| u64::from(cell.content.count)).sum::<u64>();
                        ps += cells.iter().map(|cell| cell.content.busy_ps).sum::<u64>();
                    }
                    LaneContent::Slices(slices) => {
                        let span = tile.interval();
                        let starts = slices.iter().filter(|slice| slice.start_ps >= span.start.0);
                        sum.rows += starts.count() as u64;
                        let inside =
                            slices.iter().map(|s| span.overlap_ps(s.start_ps, s.start_ps + s.duration_ps));
                        ps += inside.sum::<i64>().unsigned_abs();
                    }
                    LaneContent::Samples(_) | LaneContent::Ranges(_) => {}
                }
            }
        }
    }
    Ok(AnswerSummary { sum: ps / PS_PER_NS.unsigned_abs(), ..sum })
}

/// Tiles of all groups, for levels from a thousand slices wide to the whole profile, before
/// compression.
fn tiles(segment: &SegmentFile, questions: &Questions, whole: Interval) -> Result<[Figure; 2]> {
    let (groups, _) = groups(segment.footer());
    let coarsest = Level::for_cell_ps(ps(questions.cell_ns) as f64).number();
    let finest = Level::for_cell_ps(1e5).number().min(coarsest);
    let mut random = RandomStream::stream(0, Purpose::Questions, 1, 0);
    let ids: Vec<TileId> = (0..TILES)
        .map(|at| {
            let number = random.between(i64::from(finest), i64::from(coarsest) + 1);
            let level = Level::new(number as u8).unwrap_or(Level::COARSEST);
            let of = level.tiles_of(whole);
            let index = random.between(*of.start(), *of.end() + 1);
            TileId { group: (at % groups.len()) as u32, level, index }
        })
        .collect();
    time(
        NAME,
        "tile",
        &ids,
        |&id| Ok(answer::tile(RankView::of(segment), id, Work::IN_PLACE)?),
        |_, tile| AnswerSummary { rows: tile.lanes.len() as u64, sum: 0 },
    )
}
