//! Writes arrows to the segment in bounded memory: a trace can have as many arrows as slices.

use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::link::{FromEnd, Link};
use super::window::{ArrowWindow, Batches};
use crate::base::Result;
use crate::codec::Encoder;
use crate::ingest::encoders::Encoders;
use crate::model::{SliceKey, TrackId};
use crate::segment::{ArrowChunk, ArrowEnd, CHUNK_ARROWS, FlowsMeta, FlowsWriter, PieceWriter, SliceArrow};
use crate::spill::{Pile, Scratch, Sorted, Sorter};

/// Bytes of arrows that are sorted in memory, for each direction.
const SORT_BYTES: usize = 24 << 20;

/// Maximum number of track pairs with separate piles: each pile can use a megabyte of memory.
const MAX_PAIRS: usize = 16;

/// All arrows in arrival order. Arrows between the same two tracks are kept together, because they
/// come nearly in the order of their rows. Arrows of different tracks do not.
pub struct ArrowStore<'a> {
    scratch: &'a dyn Scratch,
    pile_of: FxHashMap<(TrackId, TrackId), usize>,
    piles: Vec<LinkPile<'a>>,
}

struct LinkPile<'a> {
    links: Pile<Link, &'a dyn Scratch>,
    /// Tracks of the first arrow. All arrows of the pile share them, except in the last pile.
    tracks: (TrackId, TrackId),
    /// Row ranges by [`ArrowEnd`]: from, to.
    batches: [Batches; 2],
}

impl<'a> ArrowStore<'a> {
    /// An empty collection.
    pub fn new(scratch: &'a dyn Scratch) -> Self {
        Self { scratch, pile_of: FxHashMap::default(), piles: Vec::new() }
    }

    /// Adds an arrow.
    pub fn push(&mut self, link: Link) -> Result<()> {
        let pair = (link.from.track, link.to.track);
        let at = match self.pile_of.get(&pair) {
            Some(&at) => at,
            None => {
                let at = self.piles.len().min(MAX_PAIRS);
                if at == self.piles.len() {
                    let (links, batches) = (Pile::new(self.scratch), Default::default());
                    self.piles.push(LinkPile { links, tracks: pair, batches });
                }
                if at < MAX_PAIRS {
                    self.pile_of.insert(pair, at);
                }
                at
            }
        };
        let LinkPile { links, batches: [from, to], .. } = &mut self.piles[at];
        from.push(link.from.arrival);
        to.push(link.to.arrival);
        links.push(link)
    }
}

/// All arrows and the row numbers that they need.
pub struct NumberedArrows<'f> {
    /// Arrows whose rows have numbers.
    pub numbered: &'f [SliceArrow],
    /// Arrows whose rows have no numbers yet.
    pub links: &'f ArrowStore<'f>,
    /// First row of each track.
    pub first_rows: &'f [u32],
    /// Rows of tracks by arrival, for tracks whose rows arrived in another order.
    pub arrivals: &'f FxHashMap<u32, Vec<u32>>,
}

impl<'f> NumberedArrows<'f> {
    fn row(&self, key: SliceKey) -> u32 {
        let row = if self.arrivals.is_empty() { None } else { self.arrivals.get(&key.track.0) };
        let row = row.map_or(key.arrival, |rows| rows[key.arrival as usize]);
        self.first_rows[key.track.0 as usize] + row
    }

    /// The arrows of a pile in the order of one end, if a full sort is not needed.
    fn window(&self, at: usize, end: ArrowEnd) -> Option<ArrowWindow<'f>> {
        let LinkPile { links, tracks, batches } = self.links.piles.get(at).filter(|_| at < MAX_PAIRS)?;
        let near = if end == ArrowEnd::From { tracks.0 } else { tracks.1 };
        let batches = &batches[usize::from(end == ArrowEnd::To)];
        if self.arrivals.contains_key(&near.0) { None } else { ArrowWindow::new(links, end, batches) }
    }
}

/// Number of chunks that a direction encodes at once.
const CHUNKS: usize = 64;

/// Writes all distinct arrows once per direction. Both directions are written at the same time.
pub fn write_arrows(
    arrows: &NumberedArrows<'_>,
    scratch: &dyn Scratch,
    encoders: &Encoders<'_>,
    writer: &mut PieceWriter<'_>,
) -> Result<FlowsMeta> {
    const ENDS: [ArrowEnd; 2] = [ArrowEnd::From, ArrowEnd::To];
    let sorted = encoders.gather(ENDS.len(), |at, _| ArrowOrder::new(ENDS[at], arrows, scratch));
    let directions = sorted.into_iter().map(|direction| direction.map(Mutex::new));
    let directions = directions.collect::<Result<Vec<_>>>()?;
    let mut writers = ENDS.map(|_| FlowsWriter::default());
    loop {
        let chunks = encoders.gather(ENDS.len(), |at, encoder| {
            directions[at].lock().unwrap_or_else(PoisonError::into_inner).chunks(encoder)
        });
        let mut is_done = true;
        for (of, chunks) in writers.iter_mut().zip(chunks) {
            for chunk in chunks? {
                of.push(&chunk, writer)?;
                is_done = false;
            }
        }
        if is_done {
            break;
        }
    }
    let [from, to] = writers;
    let ((by_from, from_bytes), (by_to, to_bytes)) = (from.finish(writer)?, to.finish(writer)?);
    let arrows = directions.first().map(|from| from.lock().unwrap_or_else(PoisonError::into_inner).count);
    Ok(FlowsMeta { arrows: arrows.unwrap_or_default(), by_from, by_to, bytes: from_bytes + to_bytes })
}

/// Greater than every arrow.
const NO_HEAD: u128 = u128::MAX;

/// The arrows in the order of one of their ends.
struct ArrowOrder<'f> {
    end: ArrowEnd,
    arrows: &'f NumberedArrows<'f>,
    windows: Vec<ArrowWindow<'f>>,
    /// Arrows that no window covers.
    sorted: Sorted<FromEnd, &'f dyn Scratch>,
    /// The next arrow of each window, then of the sorted ones, each combined with its position
    /// here. Stored as numbers, so that the processor finds the minimum without branches.
    heads: Vec<u128>,
    last: Option<FromEnd>,
    /// Number of arrows so far.
    count: u64,
}

impl<'f> ArrowOrder<'f> {
    fn new(end: ArrowEnd, arrows: &'f NumberedArrows<'f>, scratch: &'f dyn Scratch) -> Result<Self> {
        let mut sorter = Sorter::new(scratch, SORT_BYTES);
        arrows.numbered.iter().try_for_each(|&arrow| sorter.push(FromEnd::of(arrow, end)))?;
        let mut windows = Vec::new();
        for (at, pile) in arrows.links.piles.iter().enumerate() {
            if let Some(window) = arrows.window(at, end) {
                windows.push(window);
                continue;
            }
            let mut links = pile.links.read();
            while let Some(link) = links.next()? {
                let arrow =
                    SliceArrow { from: arrows.row(link.from), to: arrows.row(link.to), name: link.name };
                sorter.push(FromEnd::of(arrow, end))?;
            }
        }
        let heads = vec![NO_HEAD; windows.len() + 1];
        let sorted = sorter.finish()?;
        let mut direction = Self { end, arrows, windows, sorted, heads, last: None, count: 0 };
        (0..direction.heads.len()).try_for_each(|at| direction.advance(at))?;
        Ok(direction)
    }

    fn advance(&mut self, at: usize) -> Result<()> {
        let next = match self.windows.get_mut(at) {
            Some(window) => window.next(&|key| self.arrows.row(key))?,
            None => self.sorted.next()?.copied(),
        };
        self.heads[at] = next.map_or(NO_HEAD, |next| next.number() << u32::BITS | at as u128);
        Ok(())
    }

    /// The next arrow. There are few heads to compare.
    #[expect(clippy::cast_possible_truncation, reason = "the parts are taken apart on purpose")]
    fn next(&mut self) -> Result<Option<FromEnd>> {
        let least = self.heads.iter().copied().fold(NO_HEAD, u128::min);
        if least == NO_HEAD {
            return Ok(None);
        }
        self.advance(least as u32 as usize)?;
        Ok(Some(FromEnd::from_number(least >> u32::BITS)))
    }

    /// The next chunks; empty after the last.
    fn chunks(&mut self, encoder: &mut Encoder) -> Result<Vec<ArrowChunk>> {
        let mut chunks = Vec::new();
        let mut arrows = Vec::with_capacity(CHUNK_ARROWS);
        while chunks.len() < CHUNKS {
            let next = self.next()?;
            if let Some(arrow) = next.filter(|_| next != self.last) {
                arrows.push(arrow.arrow(self.end));
                self.last = next;
                self.count += 1;
            }
            if arrows.len() == CHUNK_ARROWS || (next.is_none() && !arrows.is_empty()) {
                chunks.push(ArrowChunk::new(&arrows, self.end, encoder));
                arrows.clear();
            }
            if next.is_none() {
                break;
            }
        }
        Ok(chunks)
    }
}
