//! Slots for times that a replay keeps until the last work that waits for them has come. The order
//! of all points is known, so a slot is free for another time from then on, and a replay needs few.

/// Hands out the numbers of slots.
#[derive(Debug, Default)]
pub(super) struct TimeSlots {
    free: Vec<u32>,
    /// Number of slots.
    pub(super) len: u32,
}

impl TimeSlots {
    /// A slot that is free.
    pub(super) fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.len += 1;
            self.len - 1
        })
    }

    /// Frees a slot.
    pub(super) fn give_back(&mut self, slot: u32) {
        self.free.push(slot);
    }
}
