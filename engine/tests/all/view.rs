//! A view of a whole trace is cut from stored cells, however many rows the trace has.

use nprof_engine::base::Interval;
use nprof_engine::exec::Cancel;
use nprof_engine::ingest::{BuildOptions, Builder};
use nprof_engine::model::{
    Nesting, Sink, SliceForm, SliceRecord, TableKind, TableSpec, TrackId, TrackSpec, Unit,
};
use nprof_engine::segment::Segment;
use nprof_engine::spill::MemoryScratch;
use nprof_engine::tile::{LaneContent, Level, TileId, cut};

const STEP_PS: i64 = 700_001;
/// Number of rows at the beginning that have more time between them.
const SPARSE_ROWS: i64 = 150_000;
/// Cells of a view that is 1,000 pixels wide.
const VIEW_CELLS: f64 = 1_000.0;

fn start_of(row: i64) -> i64 {
    row * STEP_PS + row.min(SPARSE_ROWS) * STEP_PS * 3
}

/// A track of slices and a counter with as many rows each, and another track of slices, which
/// begins late.
fn built(rows: i64) -> Segment<Vec<u8>> {
    let scratch = MemoryScratch::default();
    let mut bytes = Vec::new();
    let mut sink = Builder::new(&scratch, &mut bytes, BuildOptions::default()).unwrap();
    let table = |name: &str, kind| TableSpec::new(name, kind, "");
    let slices = sink.table(table("slices", TableKind::Slices)).unwrap();
    let samples = sink.table(table("samples", TableKind::Samples)).unwrap();
    let [first, late] = ["first", "late"].map(|name| {
        let track = sink.track(TrackSpec::slices(name, None, slices, Nesting::Concurrent, 0)).unwrap();
        sink.in_order(track).unwrap();
        track
    });
    let counter = sink.track(TrackSpec::counter("counter", None, samples, Unit::Count, 0)).unwrap();
    sink.in_order(counter).unwrap();
    for row in 0..rows {
        let name = sink.name(["MATMUL", "LDWEIGHTS", "ACTIVATE"][row as usize % 3]).unwrap();
        // The first rows have more time between them, so that they predict the others less well.
        let (start_ps, duration_ps) = (start_of(row), 1_000 + row * 37 % 600_000);
        let slice = |track, start_ps| SliceRecord {
            track,
            start_ps,
            duration_ps,
            name,
            form: SliceForm::Complete,
            fields: &[],
        };
        sink.slice(&slice(first, start_ps)).unwrap();
        sink.slice(&slice(late, start_of(rows) / 2 + start_ps / 2)).unwrap();
        sink.sample(counter, start_ps, (row % 17) as f64, &[]).unwrap();
    }
    sink.finish().unwrap();
    Segment::open(bytes).unwrap()
}

#[track_caller]
fn check(rows: i64) {
    let segment = built(rows);
    let span = Interval::new(0, start_of(rows));
    let level = Level::for_cell_ps(span.duration_ps() as f64 / VIEW_CELLS);
    for track in (0..3).map(TrackId) {
        let pages = segment.pages(track).unwrap();
        let finest = pages.first().unwrap_or_else(|| unreachable!("{rows} rows have a pyramid")).level;
        assert!(finest <= level.number(), "{rows} rows: {finest} is coarser than the view's {level:?}");
        let mut starting = 0;
        for index in level.tiles_of(span) {
            for lane in cut(&segment, track, TileId { group: 0, level, index }, Cancel::NEVER).unwrap() {
                match lane.content {
                    LaneContent::SliceCells(cells) => {
                        starting += cells.iter().map(|cell| i64::from(cell.content.count)).sum::<i64>();
                    }
                    LaneContent::Ranges(cells) => {
                        starting += cells.iter().map(|cell| i64::from(cell.content.count)).sum::<i64>();
                    }
                    other => unreachable!("{rows} rows are read: {other:?}"),
                }
            }
        }
        assert_eq!(starting, i64::from(segment.footer().tracks[track.0 as usize].rows));
    }
}

/// At the fewest rows, a cell of the view holds eight rows. At the most, the pyramid's finest level
/// is finer than the view. The end of the first group of rows is in between.
#[test]
fn a_view_of_the_whole_reads_no_rows() {
    for rows in [17_000, 40_000, 100_000, 131_072, 140_000, 260_000, 300_000, 400_000] {
        check(rows);
    }
}

#[test]
fn a_large_trace_has_no_finer_levels_than_its_rows_pay_for() {
    let segment = built(600_000);
    let pages = segment.pages(TrackId(0)).unwrap();
    let finest = Level::new(pages[0].level).unwrap();
    let rows_of_cell = finest.cell_ps() / STEP_PS;
    assert!(rows_of_cell >= 100, "{rows_of_cell} rows a cell");
}

#[test]
fn blocks_that_stay_decoded_change_no_tile() {
    const ROWS: i64 = 5_000;
    let bytes = built(ROWS).bytes().clone();
    let kept = Segment::open(bytes.clone()).unwrap();
    let span = Interval::new(0, start_of(ROWS));
    for cells in [VIEW_CELLS, VIEW_CELLS * 16.0] {
        let level = Level::for_cell_ps(span.duration_ps() as f64 / cells);
        for index in level.tiles_of(span) {
            let tile = TileId { group: 0, level, index };
            for track in [0, 1, 0].map(TrackId) {
                let fresh = Segment::open(bytes.clone()).unwrap();
                assert_eq!(
                    cut(&kept, track, tile, Cancel::NEVER),
                    cut(&fresh, track, tile, Cancel::NEVER),
                    "{track:?} {tile:?}"
                );
            }
        }
    }
}
