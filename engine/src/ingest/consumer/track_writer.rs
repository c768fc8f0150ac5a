//! Writes the rows of one track, which arrive in their final order: a group of blocks at a time.

use std::sync::{Arc, Mutex};

use super::encode::BlockGroup;
use super::encoded_block::EncodedBlock;
use super::learn::Learner;
use super::shared_program::{SharedPieces, SharedProgram, TrackProgram};
use super::track_output::TrackOutput;
use crate::base::{Interval, Result};
use crate::block::{ROWS, ValuesRef};
use crate::codec::Encoder;
use crate::ingest::encoders::Encoders;
use crate::ingest::lanes::LaneAssigner;
use crate::ingest::rows::RowBuffer;
use crate::model::{Nesting, TableId, TrackContent, WaitNames};
use crate::segment::{ColumnRole, PieceWriter, TotalsWriter};
use crate::tile::{Base, PyramidWriter, Range, SliceCell, Stored};

/// Most lanes of a track with a pyramid. Each lane has cells of its own.
const MAX_PYRAMID_LANES: u32 = 4096;

/// Takes the rows of a track in order and writes their blocks.
#[derive(Debug)]
pub struct TrackWriter {
    shape: RowShape,
    learner: Option<Learner>,
    out: TrackOutput,
    /// `None` if a block has too many names.
    totals: Option<TotalsWriter>,
    /// The latest end so far.
    reach_ps: i64,
    /// Span of the whole trace, if it is known already.
    whole: Option<Interval>,
    /// Program of the table.
    shared: Option<Arc<SharedProgram>>,
}

/// Kind of the rows of a track.
#[derive(Debug)]
enum RowShape {
    Slices(Slices),
    Counter(CounterWriter),
    Side,
}

#[derive(Debug)]
struct Slices {
    lanes: LaneAssigner,
    pyramid: Option<PyramidWriter<SliceCell>>,
    /// Whether depths are stored.
    nests: bool,
    rows: u32,
}

#[derive(Debug)]
struct CounterWriter {
    pyramid: Option<PyramidWriter<Range>>,
    range: Option<(f64, f64)>,
}

impl TrackWriter {
    /// Creates a writer for a track, or for the rows of a side table. `whole` is the span of the
    /// whole trace, if it is known already. `shared` is the program of the table, if it has one.
    pub fn new(
        kind: Option<TrackContent>,
        whole: Option<Interval>,
        shared: Option<Arc<SharedProgram>>,
    ) -> Self {
        let shape = match kind {
            Some(TrackContent::Slices(_, nesting)) => RowShape::Slices(Slices::new(nesting)),
            Some(TrackContent::Counter(_)) => RowShape::Counter(CounterWriter { pyramid: None, range: None }),
            Some(TrackContent::Group) | None => RowShape::Side,
        };
        let (out, totals) = (TrackOutput::default(), Some(TotalsWriter::default()));
        Self { shape, learner: None, out, totals, reach_ps: i64::MIN, whole, shared }
    }

    /// Approximate bytes of the cells of the pyramid that are not written.
    pub fn pyramid_bytes(&mut self) -> usize {
        match &mut self.shape {
            RowShape::Slices(Slices { pyramid: Some(pyramid), .. }) => pyramid.bytes(),
            RowShape::Counter(CounterWriter { pyramid: Some(pyramid), .. }) => pyramid.bytes(),
            RowShape::Slices(_) | RowShape::Counter(_) | RowShape::Side => 0,
        }
    }

    /// Writes the cells of the pyramid that are closed, and gives up the pyramid if the others take
    /// more than `most_bytes`.
    pub fn shed(
        &mut self,
        most_bytes: usize,
        encoders: &Encoders<'_>,
        writer: &mut PieceWriter<'_>,
    ) -> Result<()> {
        match &mut self.shape {
            RowShape::Slices(Slices { pyramid: Some(pyramid), .. }) => {
                shed(pyramid, most_bytes, encoders, writer)
            }
            RowShape::Counter(CounterWriter { pyramid: Some(pyramid), .. }) => {
                shed(pyramid, most_bytes, encoders, writer)
            }
            RowShape::Slices(_) | RowShape::Counter(_) | RowShape::Side => Ok(()),
        }
    }

    /// Writes the next rows.
    pub fn write(
        &mut self,
        rows: &RowBuffer,
        waits: &WaitNames,
        encoders: &Encoders<'_>,
        writer: &mut PieceWriter<'_>,
    ) -> Result<()> {
        if rows.len() == 0 {
            return Ok(());
        }
        let (learner, codes) = match self.learner.take() {
            Some(mut learner) => {
                let codes = learner.codes(rows, encoders);
                (learner, codes)
            }
            None => Learner::begin(self.shared.take(), rows, encoders),
        };
        let learner = self.learner.insert(learner);
        let group =
            BlockGroup { rows, starts: learner.starts, program: learner.program().zip(codes.as_deref()) };
        let ranges = block_ranges(rows);
        let reaches = reaches_before(rows, &ranges, &mut self.reach_ps);
        // Lanes and pyramid need the rows in order, so one task computes both beside the tasks of
        // the blocks.
        let whole = self.whole;
        let in_order = Mutex::new((&mut self.shape, Vec::new(), Vec::new()));
        let blocks = encoders.gather(ranges.len() + 1, |task, encoder| match task.checked_sub(1) {
            Some(block) => Some(group.block(ranges[block].clone(), reaches[block], encoder)),
            None => {
                if let Ok(mut in_order) = in_order.lock() {
                    let (shape, lanes, shifts) = &mut *in_order;
                    shape.pass(rows, waits, whole, lanes, shifts, encoder);
                }
                None
            }
        });
        let Ok((shape, lanes, shifts)) = in_order.into_inner() else { return Ok(()) };
        let of_lanes = encoders.gather(ranges.len(), |at, encoder| {
            let mut block = EncodedBlock::default();
            for (role, values) in [(ColumnRole::Lane, &lanes), (ColumnRole::LaneShift, &shifts)] {
                if !values.is_empty() {
                    block.plain(role, ValuesRef::Ints(&values[ranges[at].clone()]), encoder);
                }
            }
            block.columns
        });
        for (mut block, of_lanes) in blocks.into_iter().flatten().zip(of_lanes) {
            block.columns.extend(of_lanes);
            match (&mut self.totals, block.totals.take()) {
                (Some(totals), Some(block)) => totals.push(&block),
                _ => self.totals = None,
            }
            self.out.add(block, writer)?;
        }
        match shape {
            RowShape::Slices(Slices { pyramid: Some(pyramid), .. }) => pyramid.write(writer),
            RowShape::Counter(CounterWriter { pyramid: Some(pyramid), .. }) => pyramid.write(writer),
            RowShape::Slices(_) | RowShape::Counter(_) | RowShape::Side => Ok(()),
        }
    }

    /// Encodes the parts of the whole track: program, pyramid, totals. `span` covers the whole
    /// trace. Depends on no other track, so tracks can be closed in any order.
    pub fn close(self, span: Interval, encoder: &mut Encoder) -> ClosedTrack {
        let Self { mut shape, learner, mut out, totals, .. } = self;
        let mut put = Vec::new();
        let program = learner.map_or(TrackProgram::default(), Learner::into_written);
        match &mut shape {
            RowShape::Slices(slices) => {
                (out.lanes, out.crowded) = (slices.lanes.count(), slices.lanes.crowded());
                slices.lanes.end();
                if let Some(pyramid) = &mut slices.pyramid {
                    pyramid.close(span, encoder);
                }
                if let Some(totals) = totals.filter(|totals| totals.blocks() > 1) {
                    totals.encode(&mut put);
                }
            }
            RowShape::Counter(counter) => {
                out.lanes = 1;
                out.value_range = counter.range;
                if let Some(pyramid) = &mut counter.pyramid {
                    pyramid.close(span, encoder);
                }
            }
            RowShape::Side => {}
        }
        ClosedTrack { shape, span, out, program, totals: put }
    }
}

/// A track whose blocks are written and whose other parts are encoded.
#[derive(Debug)]
pub struct ClosedTrack {
    shape: RowShape,
    span: Interval,
    out: TrackOutput,
    program: TrackProgram,
    totals: Vec<u8>,
}

impl ClosedTrack {
    /// Writes the other parts, without the pyramid. The track is of this table. The first track
    /// with a shared program writes it.
    pub fn write(
        self,
        table: TableId,
        pieces: &mut SharedPieces,
        writer: &mut PieceWriter<'_>,
    ) -> Result<TrackOutput> {
        let Self { shape, span, mut out, program, totals } = self;
        out.program = program.write(table, pieces, writer)?;
        let bytes = program.is_shared().then(|| out.core_bytes());
        out.pyramid = match shape {
            RowShape::Slices(slices) => slices.pyramid.and_then(|pyramid| pyramid.finish(span, bytes)),
            RowShape::Counter(counter) => counter.pyramid.and_then(|pyramid| pyramid.finish(span, bytes)),
            RowShape::Side => None,
        };
        out.totals = writer.piece_of(&totals)?;
        Ok(out)
    }
}

fn shed<C: Stored>(
    pyramid: &mut PyramidWriter<C>,
    most_bytes: usize,
    encoders: &Encoders<'_>,
    writer: &mut PieceWriter<'_>,
) -> Result<()> {
    encoders.with(|encoder| pyramid.shed(encoder));
    pyramid.write(writer)?;
    if pyramid.bytes() > most_bytes {
        pyramid.give_up();
    }
    Ok(())
}

/// A block ends early when its texts in place reach this size. The codec takes 256 MiB, and a
/// reader holds a whole block.
const MAX_BLOCK_TEXT: usize = 16 << 20;

fn block_ranges(rows: &RowBuffer) -> Vec<std::ops::Range<usize>> {
    let mut ranges = Vec::with_capacity(rows.len().div_ceil(ROWS));
    let mut start = 0;
    while start < rows.len() {
        let mut end = rows.len().min(start + ROWS);
        while end > start + 1 && rows.text_bytes(&(start..end)) > MAX_BLOCK_TEXT {
            end = start + (end - start) / 2;
        }
        ranges.push(start..end);
        start = end;
    }
    ranges
}

/// For each block, the latest end of the rows before it. `reach_ps` is the latest end of all rows
/// before the blocks, and is updated to include them.
fn reaches_before(rows: &RowBuffer, ranges: &[std::ops::Range<usize>], reach_ps: &mut i64) -> Vec<i64> {
    let reach_before = |range: &std::ops::Range<usize>| {
        let before = *reach_ps;
        // Samples have no duration, and rows of side tables have no time.
        if let (Some(starts), Some(durations)) =
            (rows.starts.get(range.clone()), rows.durations.get(range.clone()))
        {
            let ends = starts.iter().zip(durations).map(|(start, duration)| start + duration);
            *reach_ps = ends.fold(before, i64::max);
        }
        before
    };
    ranges.iter().map(reach_before).collect()
}

impl Slices {
    fn new(nesting: Nesting) -> Self {
        Self { lanes: LaneAssigner::new(nesting), pyramid: None, nests: nesting == Nesting::Calls, rows: 0 }
    }
}

/// Number of rows in a row's lane, averaged over the rows. The cells of a pyramid belong to one
/// lane.
fn rows_of_a_lane(lanes: &[i64]) -> u64 {
    let mut counts: Vec<u64> = Vec::new();
    for &lane in lanes {
        let lane = usize::try_from(lane).unwrap_or_default();
        counts.resize(counts.len().max(lane + 1), 0);
        counts[lane] += 1;
    }
    counts.iter().map(|count| count * count).sum::<u64>() / (lanes.len() as u64).max(1)
}

impl RowShape {
    /// Computes everything that needs the rows in order: lanes and the pyramid. Lanes go to
    /// `lanes`. If slices nest, lane minus depth goes to `shifts`.
    fn pass(
        &mut self,
        rows: &RowBuffer,
        waits: &WaitNames,
        whole: Option<Interval>,
        lanes: &mut Vec<i64>,
        shifts: &mut Vec<i64>,
        encoder: &mut Encoder,
    ) {
        match self {
            Self::Slices(slices) => {
                let ends = rows.starts.iter().zip(&rows.durations).map(|(start, duration)| start + duration);
                lanes.reserve(rows.len());
                for (&start, end) in rows.starts.iter().zip(ends.clone()) {
                    let place = slices.lanes.place(start, end);
                    lanes.push(i64::from(place.lane));
                    if slices.nests {
                        shifts.push(i64::from(place.lane) - i64::from(place.depth));
                    }
                }
                let pyramid = slices.pyramid.get_or_insert_with(|| {
                    let span = Interval::new(rows.starts[0], ends.clone().max().unwrap_or_default());
                    let base = Base::new(rows_of_a_lane(lanes), lanes.len() as u64, span);
                    PyramidWriter::new(base, whole)
                });
                if slices.lanes.crowded() > 0 || slices.lanes.count() > MAX_PYRAMID_LANES {
                    pyramid.give_up();
                }
                for (((&start, end), &name), &lane) in
                    rows.starts.iter().zip(ends).zip(&rows.names).zip(lanes.iter())
                {
                    let lane = u32::try_from(lane).unwrap_or_default();
                    let name = u32::try_from(name).unwrap_or_default();
                    let is_wait = waits.contains(name);
                    pyramid.slice(lane, Interval::new(start, end), slices.rows, name, is_wait);
                    slices.rows += 1;
                }
                pyramid.encode_full(encoder);
            }
            Self::Counter(counter) => {
                let pyramid = counter.pyramid.get_or_insert_with(|| {
                    let span = Interval::new(rows.starts[0], rows.starts[rows.len() - 1]);
                    let rows = rows.len() as u64;
                    PyramidWriter::new(Base::new(rows, rows, span), whole)
                });
                for (&time_ps, &value) in rows.starts.iter().zip(&rows.values) {
                    if !value.is_nan() {
                        let (min, max) = counter.range.unwrap_or((value, value));
                        counter.range = Some((min.min(value), max.max(value)));
                    }
                    pyramid.sample(time_ps, value);
                }
                pyramid.encode_full(encoder);
            }
            Self::Side => {}
        }
    }
}
