//! A value that is computed at its first use, if that succeeds.

use std::sync::OnceLock;

use super::room::{RoomShare, SegmentRoom};
use crate::base::Result;

/// `OnceLock::get_or_try_init` is not stable yet. Two threads can both compute a value; one result
/// is kept, and its memory stays taken. `compute` takes that memory first.
pub fn get_or_keep<'s, 'r, T>(
    slot: &'s OnceLock<T>,
    room: &'r SegmentRoom,
    compute: impl FnOnce(&mut RoomShare<'r>) -> Result<T>,
) -> Result<&'s T> {
    if let Some(value) = slot.get() {
        return Ok(value);
    }
    let mut taken = room.part();
    let value = compute(&mut taken)?;
    Ok(slot.get_or_init(|| {
        taken.keep();
        value
    }))
}
