//! Arrows on their way into the segment, in bounded memory: a trace may draw as many as it has slices.

use std::cmp::Ordering;
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::encoders::Encoders;
use crate::base::Result;
use crate::base::bytes::{Cursor, Put};
use crate::codec::Encoder;
use crate::model::{NameId, SliceKey, TrackId};
use crate::segment::{Arrow, ArrowChunk, CHUNK_ARROWS, End, FlowsMeta, FlowsWriter, PieceWriter};
use crate::spill::{Key, NoBytes, Pile, Scratch, Sorted, Sorter};

/// Bytes of arrows that are sorted in memory, for each direction.
const SORT_BYTES: usize = 24 << 20;

/// An arrow as it arrives, before rows have numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    pub from: SliceKey,
    pub to: SliceKey,
    pub name: NameId,
}

impl Key for Link {
    type Span = NoBytes;
    const MAX_LEN: usize = 25;

    fn put(&self, out: &mut Vec<u8>) {
        for part in [self.from.track.0, self.from.arrival, self.to.track.0, self.to.arrival, self.name.0] {
            out.put_varint(u64::from(part));
        }
    }

    fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
        let mut end = || {
            let track = TrackId(cursor.varint_u32()?);
            Ok::<_, crate::base::Error>(SliceKey { track, arrival: cursor.varint_u32()? })
        };
        Ok(Self { from: end()?, to: end()?, name: NameId(cursor.varint_u32()?) })
    }
}

/// Pairs of tracks whose arrows are kept apart at most: each pile may hold a megabyte in memory.
const MAX_PAIRS: usize = 16;

/// All arrows as they arrive, those between the same two tracks one after the other: they come nearly in order of their
/// rows, where those of different tracks do not.
pub struct Links<'a> {
    scratch: &'a dyn Scratch,
    pile_of: FxHashMap<(TrackId, TrackId), usize>,
    piles: Vec<Pile<Link, &'a dyn Scratch>>,
}

impl<'a> Links<'a> {
    /// None.
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
                    self.piles.push(Pile::new(self.scratch));
                }
                if at < MAX_PAIRS {
                    self.pile_of.insert(pair, at);
                }
                at
            }
        };
        self.piles[at].push(link)
    }

    /// Gives `take` every arrow.
    pub fn for_each(&self, mut take: impl FnMut(Link) -> Result<()>) -> Result<()> {
        for pile in &self.piles {
            let mut links = pile.read();
            while let Some(link) = links.next()? {
                take(link)?;
            }
        }
        Ok(())
    }
}

/// An arrow with the end first that it is sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FromEnd {
    near: u32,
    far: u32,
    name: u32,
}

/// By the near end, the far one, the name: compared as one number, for which the processor needs no branches.
impl Ord for FromEnd {
    fn cmp(&self, other: &Self) -> Ordering {
        let ends = |of: &Self| u64::from(of.near) << 32 | u64::from(of.far);
        let all = |of: &Self| u128::from(ends(of)) << 32 | u128::from(of.name);
        all(self).cmp(&all(other))
    }
}

impl PartialOrd for FromEnd {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl FromEnd {
    fn of(arrow: Arrow, end: End) -> Self {
        let Arrow { from, to, name } = arrow;
        let (near, far) = if end == End::From { (from, to) } else { (to, from) };
        Self { near, far, name: name.0 }
    }

    fn arrow(self, end: End) -> Arrow {
        let Self { near, far, name } = self;
        let (from, to) = if end == End::From { (near, far) } else { (far, near) };
        Arrow { from, to, name: NameId(name) }
    }
}

impl Key for FromEnd {
    type Span = NoBytes;
    const MAX_LEN: usize = 15;

    fn put(&self, out: &mut Vec<u8>) {
        for part in [self.near, self.far, self.name] {
            out.put_varint(u64::from(part));
        }
    }

    fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
        Ok(Self { near: cursor.varint_u32()?, far: cursor.varint_u32()?, name: cursor.varint_u32()? })
    }
}

/// Chunks that a direction encodes at once.
const CHUNKS: usize = 64;

/// Calls what it is given with every arrow, whose rows are numbered, in any order.
pub type ForEachArrow<'f> = &'f (dyn Fn(&mut dyn FnMut(Arrow) -> Result<()>) -> Result<()> + Sync);

/// Writes all arrows, each once a direction; equal ones only once. The two directions go on side by side.
pub fn write_arrows(
    for_each: ForEachArrow<'_>,
    scratch: &dyn Scratch,
    encoders: &Encoders<'_>,
    writer: &mut PieceWriter<'_>,
) -> Result<FlowsMeta> {
    const ENDS: [End; 2] = [End::From, End::To];
    let sorted = encoders.gather(ENDS.len(), |at, _| Direction::sorted(ENDS[at], for_each, scratch));
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

/// The arrows sorted by one of their ends.
struct Direction<'a> {
    end: End,
    sorted: Sorted<FromEnd, &'a dyn Scratch>,
    last: Option<FromEnd>,
    /// Arrows so far.
    count: u64,
}

impl<'a> Direction<'a> {
    fn sorted(end: End, for_each: ForEachArrow<'_>, scratch: &'a dyn Scratch) -> Result<Self> {
        let mut sorter = Sorter::new(scratch, SORT_BYTES);
        for_each(&mut |arrow| sorter.push(FromEnd::of(arrow, end)))?;
        Ok(Self { end, sorted: sorter.finish()?, last: None, count: 0 })
    }

    /// The next chunks; none behind the last.
    fn chunks(&mut self, encoder: &mut Encoder) -> Result<Vec<ArrowChunk>> {
        let mut chunks = Vec::new();
        let mut arrows = Vec::with_capacity(CHUNK_ARROWS);
        while chunks.len() < CHUNKS {
            let next = self.sorted.next()?;
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
