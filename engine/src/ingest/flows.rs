//! Arrows on their way into the segment, in bounded memory: a trace may draw as many as it has slices.

use crate::base::Result;
use crate::base::bytes::{Cursor, Put};
use crate::model::{NameId, SliceKey, TrackId};
use crate::segment::{Arrow, End, FlowsMeta, FlowsWriter, PieceWriter};
use crate::spill::{Key, Scratch, Sorter};

/// Bytes of arrows that are sorted in memory, for each direction.
const SORT_BYTES: usize = 16 << 20;

/// An arrow as it arrives, before rows have numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    pub from: SliceKey,
    pub to: SliceKey,
    pub name: NameId,
}

impl Key for Link {
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

/// An arrow with the end first that it is sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct FromEnd {
    near: u32,
    far: u32,
    name: u32,
}

impl Key for FromEnd {
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

/// All arrows of a segment.
pub struct Arrows<'a> {
    scratch: &'a dyn Scratch,
    by_from: Sorter<FromEnd, &'a dyn Scratch>,
}

impl<'a> Arrows<'a> {
    /// None yet.
    pub fn new(scratch: &'a dyn Scratch) -> Self {
        Self { scratch, by_from: Sorter::new(scratch, SORT_BYTES) }
    }

    /// Takes an arrow; its rows are numbered.
    pub fn push(&mut self, arrow: Arrow) -> Result<()> {
        self.by_from.push(FromEnd { near: arrow.from, far: arrow.to, name: arrow.name.0 })
    }

    /// Writes all, each once a direction; equal ones only once.
    pub fn write(self, writer: &mut PieceWriter<'_>) -> Result<FlowsMeta> {
        let mut by_to = Sorter::new(self.scratch, SORT_BYTES);
        let mut sorted = self.by_from.finish()?;
        let mut direction = FlowsWriter::new(End::From);
        let (mut last, mut count) = (None, 0);
        while let Some(arrow) = sorted.next()? {
            if last.replace(arrow) == Some(arrow) {
                continue;
            }
            let FromEnd { near, far, name } = arrow;
            direction.push(Arrow { from: near, to: far, name: NameId(name) }, writer)?;
            by_to.push(FromEnd { near: far, far: near, name })?;
            count += 1;
        }
        let (from, from_bytes) = direction.finish(writer)?;
        let mut sorted = by_to.finish()?;
        let mut direction = FlowsWriter::new(End::To);
        while let Some(FromEnd { near, far, name }) = sorted.next()? {
            direction.push(Arrow { from: far, to: near, name: NameId(name) }, writer)?;
        }
        let (to, to_bytes) = direction.finish(writer)?;
        Ok(FlowsMeta { arrows: count, by_from: from, by_to: to, bytes: from_bytes + to_bytes })
    }
}
