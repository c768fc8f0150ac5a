//! The stored pyramid of a track: pages of cells of all levels at which a cell holds many rows.

use std::collections::{BTreeMap, BTreeSet};

use super::cascade::Cascade;
use super::cell_codec::{PAGE_CELLS, Stored};
use super::grid::{CELLS, Level};
use super::summary::{CellSummary, PlacedCell, Range, SliceCell};
use crate::base::{Interval, Result, Time, narrow};
use crate::block::list;
use crate::codec::Encoder;
use crate::exec::step;
use crate::segment::{Piece, PieceWriter, PyramidPage, put_pages};

/// Average number of rows in the cells of a stored level. Cells of finer levels take more bytes
/// than the rows themselves. They are computed from at most this many times [`super::CELLS`] rows a
/// tile.
const ROWS_PER_CELL: i64 = 128;
/// Approximate number of cells of a view of the whole trace. The level of this view must be stored;
/// otherwise the view reads all rows.
const VIEW_CELLS: i64 = 2048;
/// The level of such a view is stored if its cells hold at least this many rows times the number of
/// lanes. Cells of fewer rows take more bytes than the rows, which are quickly summed up.
const MIN_VIEW_ROWS: i64 = 8;
/// Tracks that share a program store a level with fewer rows a cell than [`ROWS_PER_CELL`], if its
/// cells take at most one in this many of the bytes of the rows. Otherwise a view reads the rows: a
/// number each, and at most this many times as much as the cells.
const CELLS_SHARE: u64 = 4;
/// A track with at most this many rows has no pyramid: its rows are quickly summed up.
const MIN_ROWS: u64 = (ROWS_PER_CELL * TOP_CELLS).unsigned_abs();
/// Number of cells in which the coarsest stored level shows the whole trace.
const TOP_CELLS: i64 = 64;
/// Cells of a lane that are written together.
const WRITE_CELLS: usize = 2048;
/// Finest levels of a track's pyramid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Base {
    /// Level whose cells hold [`ROWS_PER_CELL`] rows on average.
    level: Level,
    /// Level of a view of the whole, if it is finer and its cells are worth their bytes.
    view: Level,
}

impl Base {
    /// Chooses the levels for a track over this span. A lane has `rows_of_lane` of the track's
    /// `rows` on average.
    #[must_use]
    pub fn new(rows_of_lane: u64, rows: u64, span: Interval) -> Self {
        let (rows_of_lane, span_ps) = (rows_of_lane.max(1), span.duration_ps() as f64);
        let level = at_least(span_ps / rows_of_lane as f64 * ROWS_PER_CELL as f64);
        let view = view_level(span);
        let rows_of_cell = rows_of_lane as f64 * (view.cell_ps() as f64 / span_ps.max(1.0));
        // Each lane has cells of its own: cells of many lanes must save more.
        let min_rows = MIN_VIEW_ROWS as f64 * (rows as f64 / rows_of_lane as f64).max(1.0);
        let view = if rows_of_cell < min_rows { level } else { view.min(level) };
        Self { level, view }
    }
}

/// The finest level whose cells have at least this width.
fn at_least(cell_ps: f64) -> Level {
    let level = Level::for_cell_ps(cell_ps);
    if (level.cell_ps() as f64) < cell_ps { level.coarser() } else { level }
}

/// The finest level at which a trace of this span has at most as many cells as a view.
fn view_level(span: Interval) -> Level {
    at_least(span.duration_ps() as f64 / VIEW_CELLS as f64)
}

/// The coarsest stored level of a trace of this span.
#[must_use]
fn top_level(span: Interval) -> Level {
    Level::for_cell_ps(span.duration_ps() as f64 / TOP_CELLS as f64).coarser()
}

/// Builds the pyramid of one track while its rows pass by. `C` is the stored form of a cell. The
/// caller decides where pages are encoded, for example on another thread. Encoded pages wait until
/// [`PyramidWriter::write`] is called.
///
/// The finest level is chosen before all rows are known. A level that turns out too fine is given
/// up; the next one is already complete. Levels that only a view of the whole needs wait until the
/// level of that view is known.
#[derive(Debug)]
pub struct PyramidWriter<C: Stored> {
    chosen: Base,
    base: Level,
    /// Coarsest level that can be stored, as far as it is known.
    top: Level,
    lanes: Vec<Cascade<C::Summary>>,
    /// Cells that are closed and not encoded, by lane and level.
    closed: BTreeMap<(u32, u8), Vec<PlacedCell<C>>>,
    /// Pages that are encoded and not written.
    encoded: Vec<EncodedPage>,
    pages: Vec<PyramidPage>,
    written_bytes: u64,
    rows: u64,
    /// From the start of the first row to the start of the last.
    span: Option<Interval>,
    /// Number of cells of the finest level so far.
    cells: u64,
    /// Whether the track gets no pyramid.
    is_given_up: bool,
}

/// A page that has no position yet. `cells` holds the indexes of its first and its last cell.
#[derive(Debug)]
struct EncodedPage {
    lane: u32,
    level: u8,
    cells: (i64, i64),
    bytes: Vec<u8>,
}

impl EncodedPage {
    fn written(&self, writer: &mut PieceWriter<'_>) -> Result<PyramidPage> {
        let &Self { lane, level, cells: (first, last), ref bytes } = self;
        Ok(PyramidPage { lane, level, first, last, piece: writer.piece(bytes)? })
    }
}

/// Approximate bytes of a list besides its cells.
const LIST_BYTES: usize = 64;
/// A pyramid is given up if it has more lists of cells, one for each lane and level, than
/// `GIVE_UP_LISTS` plus one for each `GIVE_UP_LIST_ROWS` rows. Such cells hold few rows.
const GIVE_UP_LISTS: u64 = 1 << 12;
const GIVE_UP_LIST_ROWS: u64 = 32;

/// A level is given up when it has more cells than `GIVE_UP_CELLS` plus one for each `GIVE_UP_ROWS`
/// rows.
const GIVE_UP_ROWS: u64 = 16;
const GIVE_UP_CELLS: u64 = 1 << 14;

/// Whether the cell at this position, 1 or more, is the first of its tile.
fn is_edge<T>(cells: &[PlacedCell<T>], at: usize) -> bool {
    cells[at].index.div_euclid(CELLS) != cells[at - 1].index.div_euclid(CELLS)
}

impl<C: Stored> PyramidWriter<C> {
    /// Creates a writer for a track with these levels. `whole` is the span of the whole trace, if
    /// it is known: coarser levels than it needs take no memory then.
    #[must_use]
    pub fn new(chosen: Base, whole: Option<Interval>) -> Self {
        Self {
            chosen,
            base: chosen.view,
            top: whole.map_or(Level::COARSEST, top_level),
            lanes: Vec::new(),
            closed: BTreeMap::new(),
            encoded: Vec::new(),
            pages: Vec::new(),
            written_bytes: 0,
            rows: 0,
            span: None,
            cells: 0,
            is_given_up: false,
        }
    }

    /// Approximate bytes of the cells that are not encoded.
    #[must_use]
    pub fn bytes(&mut self) -> usize {
        let open: usize = self.lanes.iter_mut().flat_map(Cascade::contents).map(|cell| cell.bytes()).sum();
        let closed: usize = self.closed.values().map(Vec::capacity).sum();
        open + closed * size_of::<PlacedCell<C>>() + (self.lanes.len() + self.closed.len()) * LIST_BYTES
    }

    /// Gives back memory. Encodes all closed cells, in pages that can be small, and gives up levels
    /// that only a view of the whole needs.
    pub fn shed(&mut self, encoder: &mut Encoder) {
        while self.base < self.chosen.level {
            self.give_up_finest();
        }
        self.lanes.iter_mut().flat_map(Cascade::contents).for_each(CellSummary::shed);
        for (key, cells) in std::mem::take(&mut self.closed) {
            self.encode_pages(key.0, key.1, &cells, encoder);
        }
    }

    /// Gives up the pyramid. Tiles are then computed from the rows.
    pub fn give_up(&mut self) {
        self.is_given_up = true;
        (self.lanes, self.closed) = (Vec::new(), BTreeMap::new());
        (self.encoded, self.pages) = (Vec::new(), Vec::new());
    }

    /// Updates a lane's open cells through `change`, which passes on the cells that close.
    fn update(
        &mut self,
        lane: u32,
        change: impl FnOnce(&mut Cascade<C::Summary>, &mut dyn FnMut(Level, PlacedCell<C::Summary>)),
    ) {
        while self.lanes.len() <= lane as usize {
            self.lanes.push(Cascade::new(self.base, self.top.max(self.base)));
        }
        let (closed, cells, base) = (&mut self.closed, &mut self.cells, self.base);
        change(&mut self.lanes[lane as usize], &mut |level, cell| {
            *cells += u64::from(level == base);
            let cell = PlacedCell { index: cell.index, content: C::of(&cell.content) };
            closed.entry((lane, level.number())).or_default().push(cell);
        });
    }

    fn reach(&mut self, start_ps: i64) {
        let start = Time(start_ps);
        self.span.get_or_insert(Interval { start, end: start }).end = start;
    }

    /// Gives up levels until the number of rows so far permits `more` further cells.
    fn make_room(&mut self, more: impl Fn(Level) -> u64) {
        self.rows += 1;
        while self.base < Level::COARSEST
            && self.cells.saturating_add(more(self.base)) > GIVE_UP_CELLS + self.rows / GIVE_UP_ROWS
        {
            self.give_up_finest();
        }
    }

    fn give_up_finest(&mut self) {
        step(self.lanes.len() + self.pages.len() + self.closed.len());
        for lane in 0..self.lanes.len() {
            let lane = narrow(lane);
            self.update(lane, |cascade, mut out| cascade.drop_finest(&mut out));
        }
        self.base = self.base.coarser();
        let base = self.base.number();
        self.closed.retain(|&(_, level), _| level >= base);
        let stored = self.pages.iter().filter(|page| page.level == self.base.number());
        let stored: u64 = stored.map(|page| page.last.abs_diff(page.first) + 1).sum();
        let waiting = self.closed.iter().filter(|&(&(_, level), _)| level == base);
        self.cells = stored + waiting.map(|(_, cells)| cells.len() as u64).sum::<u64>();
    }

    /// Encodes the full pages.
    pub fn encode_full(&mut self, encoder: &mut Encoder) {
        if self.is_given_up {
            return;
        }
        // The final view is at least as coarse as the view of the span so far.
        let view = self.span.map_or(self.base, view_level);
        while self.base < view.min(self.chosen.level) {
            self.give_up_finest();
        }
        let finest = self.chosen.level.number();
        step(self.closed.len());
        let full = |(key, cells): (&(u32, u8), &Vec<_>)| {
            (key.1 >= finest && cells.len() >= WRITE_CELLS).then_some(*key)
        };
        for key in self.closed.iter().filter_map(full).collect::<Vec<_>>() {
            let mut cells = self.closed.remove(&key).unwrap_or_default();
            // This many cells are more than those of one tile, so an edge exists.
            let edge = (1..cells.len()).rev().find(|&at| is_edge(&cells, at));
            let rest = cells.split_off(edge.unwrap_or(cells.len()));
            self.encode_pages(key.0, key.1, &cells, encoder);
            if !rest.is_empty() {
                self.closed.insert(key, rest);
            }
        }
    }

    fn encode_pages(&mut self, lane: u32, level: u8, cells: &[PlacedCell<C>], encoder: &mut Encoder) {
        let mut left = cells;
        while !left.is_empty() {
            let end = (PAGE_CELLS..left.len()).find(|&at| is_edge(left, at)).unwrap_or(left.len());
            let (cells, rest) = left.split_at(end);
            left = rest;
            let (Some(first), Some(last)) = (cells.first(), cells.last()) else { continue };
            let mut bytes = Vec::new();
            let indexes: Vec<i64> = cells.iter().map(|cell| cell.index).collect();
            list::put_ints_with(&indexes, encoder, &mut bytes);
            C::encode(cells, encoder, &mut bytes);
            self.encoded.push(EncodedPage { lane, level, cells: (first.index, last.index), bytes });
        }
    }

    /// Writes the encoded pages.
    pub fn write(&mut self, writer: &mut PieceWriter<'_>) -> Result<()> {
        for page in self.encoded.drain(..) {
            let page = page.written(writer)?;
            self.written_bytes += u64::from(page.piece.len);
            self.pages.push(page);
        }
        Ok(())
    }

    fn has_too_few_rows(&self) -> bool {
        self.is_given_up || self.rows <= MIN_ROWS && self.pages.is_empty()
    }

    /// Closes all cells and encodes the rest, up to the level that is coarse enough for the span of
    /// the whole trace.
    pub fn close(&mut self, span: Interval, encoder: &mut Encoder) {
        if self.has_too_few_rows() {
            return;
        }
        self.base = self.base.max(view_level(span).min(self.chosen.level));
        let top = self.top(span);
        let levels = self.base.number()..=top.number();
        for (lane, cascade) in (0_u32..).zip(std::mem::take(&mut self.lanes)) {
            let closed = &mut self.closed;
            cascade.finish(top, &mut |level, cell| {
                if levels.contains(&level.number()) {
                    let cell = PlacedCell { index: cell.index, content: C::of(&cell.content) };
                    closed.entry((lane, level.number())).or_default().push(cell);
                }
            });
        }
        let lists = self.closed.keys().filter(|(_, level)| levels.contains(level)).count() as u64;
        if lists > GIVE_UP_LISTS + self.rows / GIVE_UP_LIST_ROWS {
            return self.give_up();
        }
        for (key, cells) in std::mem::take(&mut self.closed) {
            if levels.contains(&key.1) {
                self.encode_pages(key.0, key.1, &cells, encoder);
            }
        }
    }

    /// Bytes of the pages of a level. `None` if some are written already.
    fn waiting_bytes(&self, level: Level) -> Option<u64> {
        let number = level.number();
        let is_written = self.pages.iter().any(|page| page.level == number);
        let waiting = self.encoded.iter().filter(|page| page.level == number);
        (!is_written).then(|| waiting.map(|page| page.bytes.len() as u64).sum())
    }

    fn top(&self, span: Interval) -> Level {
        top_level(span).max(self.base)
    }

    /// Pages that remain to be written after [`PyramidWriter::close`]. `None` if the track has too
    /// few rows. `shared_bytes` are the bytes of the rows of a track with a shared program.
    #[must_use]
    pub fn finish(self, span: Interval, shared_bytes: Option<u64>) -> Option<ClosedPyramid> {
        if self.has_too_few_rows() {
            return None;
        }
        let top = self.top(span);
        let mut base = self.base;
        while base < self.chosen.level.min(top)
            && let Some((cells, rows)) = self.waiting_bytes(base).zip(shared_bytes)
            && cells * CELLS_SHARE > rows
        {
            base = base.coarser();
        }
        let levels = base.number()..=top.number();
        let Self { mut encoded, mut pages, written_bytes: bytes, .. } = self;
        pages.retain(|page| levels.contains(&page.level));
        encoded.retain(|page| levels.contains(&page.level));
        Some(ClosedPyramid { encoded, pages, bytes })
    }
}

/// The pyramid of a track after its last row.
#[derive(Debug)]
pub struct ClosedPyramid {
    /// Pages that are not written yet.
    encoded: Vec<EncodedPage>,
    /// Pages that are written.
    pages: Vec<PyramidPage>,
    /// Bytes of the written pages.
    bytes: u64,
}

impl ClosedPyramid {
    /// Bytes of the encoded pages that are not written.
    #[must_use]
    pub fn waiting_bytes(&self) -> usize {
        self.encoded.iter().map(|page| page.bytes.len() + size_of::<EncodedPage>()).sum()
    }

    /// Writes all pages, if other pyramids take too much memory to wait for them.
    pub fn write(&mut self, writer: &mut PieceWriter<'_>) -> Result<()> {
        for page in std::mem::take(&mut self.encoded) {
            let page = page.written(writer)?;
            self.bytes += u64::from(page.piece.len);
            self.pages.push(page);
        }
        Ok(())
    }

    fn write_pages(&mut self, level: u8, writer: &mut PieceWriter<'_>) -> Result<()> {
        for page in self.encoded.iter().filter(|page| page.level == level) {
            let page = page.written(writer)?;
            self.bytes += u64::from(page.piece.len);
            self.pages.push(page);
        }
        Ok(())
    }

    fn write_directory(&mut self, writer: &mut PieceWriter<'_>) -> Result<Piece> {
        self.pages.sort_by_key(|page| (page.level, page.lane, page.first));
        let mut bytes = Vec::new();
        put_pages(&self.pages, &mut bytes);
        writer.piece(&bytes)
    }
}

/// Writes the pyramids of all tracks level by level, the coarsest last, and then their directories.
/// So an overview of a whole segment reads neighbouring bytes. Returns, pyramid by pyramid, the
/// directory and the bytes of the pages.
pub fn write_pyramids(
    pyramids: &mut [ClosedPyramid],
    writer: &mut PieceWriter<'_>,
) -> Result<Vec<(Piece, u64)>> {
    let encoded = pyramids.iter().flat_map(|pyramid| &pyramid.encoded);
    let levels: BTreeSet<u8> = encoded.map(|page| page.level).collect();
    for level in levels {
        for pyramid in &mut *pyramids {
            pyramid.write_pages(level, writer)?;
        }
    }
    pyramids.iter_mut().map(|pyramid| Ok((pyramid.write_directory(writer)?, pyramid.bytes))).collect()
}

impl PyramidWriter<SliceCell> {
    /// Adds a slice by its lane, its time, its row within the track and its name.
    /// `is_wait` says whether the name is that of a wait. A pyramid that is given up takes nothing.
    pub fn slice(&mut self, lane: u32, slice: Interval, row: u32, name: u32, is_wait: bool) {
        if self.is_given_up {
            return;
        }
        self.reach(slice.start.0);
        let duration_ps = slice.end.0.abs_diff(slice.start.0);
        let reach = |level: Level| duration_ps >> level.cell_ps().trailing_zeros();
        self.make_room(reach);
        self.update(lane, |cascade, mut out| {
            cascade.slice(slice, row, name, is_wait, &mut out);
        });
    }
}

impl PyramidWriter<Range> {
    /// Adds a sample of a counter.
    pub fn sample(&mut self, time_ps: i64, value: f64) {
        if self.is_given_up {
            return;
        }
        self.reach(time_ps);
        self.make_room(|_| 0);
        self.update(0, |cascade, mut out| cascade.at(Time(time_ps), &mut out).merge(&Range::of(value)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: u32 = 20_000;
    const ROW_PS: i64 = 1_000_000;

    /// Bytes by level of the pyramid of slices that follow each other.
    fn bytes_by_level(shared_bytes: Option<u64>) -> BTreeMap<u8, u64> {
        let span = Interval::new(0, i64::from(ROWS) * ROW_PS);
        let base = Base::new(ROWS.into(), ROWS.into(), span);
        let mut pyramid = PyramidWriter::<SliceCell>::new(base, Some(span));
        for row in 0..ROWS {
            let start_ps = i64::from(row) * ROW_PS;
            pyramid.slice(0, Interval::lasting(start_ps, ROW_PS), row, row % 7, false);
        }
        pyramid.close(span, &mut Encoder::default());
        let mut bytes = BTreeMap::new();
        for page in pyramid.finish(span, shared_bytes).expect("the track has enough rows").encoded {
            *bytes.entry(page.level).or_default() += page.bytes.len() as u64;
        }
        bytes
    }

    #[test]
    fn a_fine_level_of_a_shared_program_takes_at_most_a_quarter_of_the_rows() {
        let all = bytes_by_level(None);
        let (&finest, &bytes) = all.first_key_value().expect("a pyramid has levels");
        let without_finest: BTreeMap<_, _> = all.clone().split_off(&(finest + 1));
        assert_eq!(bytes_by_level(Some(bytes * CELLS_SHARE)), all);
        assert_eq!(bytes_by_level(Some(bytes * CELLS_SHARE - 1)), without_finest);
    }
}
