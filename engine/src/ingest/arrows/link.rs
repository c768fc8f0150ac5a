//! An arrow between slices before it has a row, in both orders that arrows are sorted by.

use std::cmp::Ordering;

use crate::base::Result;
use crate::base::bytes::{Cursor, Put};
use crate::model::{NameId, SliceKey, TrackId};
use crate::segment::{ArrowEnd, SliceArrow};
use crate::spill::{NoBytes, SpillKey};

/// An arrow before rows have numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    pub from: SliceKey,
    pub to: SliceKey,
    pub name: NameId,
}

impl SpillKey for Link {
    type Span = NoBytes;
    const MAX_LEN: usize = 8 + 3 * 5;

    fn put(&self, out: &mut Vec<u8>) {
        let arrivals = u64::from(self.from.arrival) << 32 | u64::from(self.to.arrival);
        out.extend_from_slice(&arrivals.to_le_bytes());
        for part in [self.from.track.0, self.to.track.0, self.name.0] {
            out.put_varint(u64::from(part));
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the halves are taken apart on purpose")]
    fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
        let arrivals = cursor.u64()?;
        let mut end = |arrival| Ok(SliceKey { track: TrackId(cursor.varint_u32()?), arrival });
        let (from, to) = (end((arrivals >> 32) as u32)?, end(arrivals as u32)?);
        Ok(Self { from, to, name: NameId(cursor.varint_u32()?) })
    }
}

/// An arrow in which the end to sort by comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FromEnd {
    pub near: u32,
    pub far: u32,
    pub name: u32,
}

/// Ordered by near end, far end and name. Compared as one number, which needs no branches.
impl Ord for FromEnd {
    fn cmp(&self, other: &Self) -> Ordering {
        self.number().cmp(&other.number())
    }
}

impl PartialOrd for FromEnd {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl FromEnd {
    /// The parts in comparison order, 32 bits each.
    pub fn number(self) -> u128 {
        let ends = u64::from(self.near) << 32 | u64::from(self.far);
        u128::from(ends) << 32 | u128::from(self.name)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the parts are taken apart on purpose")]
    pub fn from_number(number: u128) -> Self {
        Self { near: (number >> 64) as u32, far: (number >> 32) as u32, name: number as u32 }
    }

    /// Converts an arrow for sorting by this end.
    pub fn of(arrow: SliceArrow, end: ArrowEnd) -> Self {
        let SliceArrow { from, to, name } = arrow;
        let (near, far) = if end == ArrowEnd::From { (from, to) } else { (to, from) };
        Self { near, far, name: name.0 }
    }

    pub fn arrow(self, end: ArrowEnd) -> SliceArrow {
        let Self { near, far, name } = self;
        let (from, to) = if end == ArrowEnd::From { (near, far) } else { (far, near) };
        SliceArrow { from, to, name: NameId(name) }
    }
}

impl SpillKey for FromEnd {
    type Span = NoBytes;
    const MAX_LEN: usize = 8 + 5;

    fn put(&self, out: &mut Vec<u8>) {
        let ends = u64::from(self.near) << 32 | u64::from(self.far);
        out.extend_from_slice(&ends.to_le_bytes());
        out.put_varint(u64::from(self.name));
    }

    #[expect(clippy::cast_possible_truncation, reason = "the halves are taken apart on purpose")]
    fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
        let ends = cursor.u64()?;
        Ok(Self { near: (ends >> 32) as u32, far: ends as u32, name: cursor.varint_u32()? })
    }
}
