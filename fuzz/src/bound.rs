//! Bounds of memory and of steps for the targets: what a reader allocates, and how often its loops
//! look at what came before, must not grow faster than its input.

use nprof_engine::exec::steps;
use nprof_engine::fixture::{Counting, Spent, cost};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A number of bytes or steps for any input, and more for each of its bytes.
#[derive(Debug, Clone, Copy)]
pub struct Bound {
    pub bytes: u64,
    pub of_byte: u64,
}

impl Bound {
    /// Most bytes for an input of this length.
    #[must_use]
    pub const fn of(self, len: usize) -> u64 {
        self.bytes + self.of_byte * len as u64
    }
}

/// Runs `read` on an input of this length.
///
/// # Panics
/// If it has more than `peak` bytes of memory at once, or allocates more than `all` bytes.
pub fn within<T>(len: usize, peak: Bound, all: Bound, read: impl FnOnce() -> T) -> T {
    let (result, Spent { peak: at_once, allocated: in_all, .. }) = cost(read);
    assert!(
        at_once <= peak.of(len),
        "{at_once} bytes of memory at once for {len}, {} are allowed",
        peak.of(len)
    );
    assert!(in_all <= all.of(len), "{in_all} bytes allocated for {len}, {} are allowed", all.of(len));
    result
}

/// Runs a reader of a format on an input of this length.
///
/// # Panics
/// If it takes more than the bounds of all readers.
pub fn within_reader<T>(len: usize, read: impl FnOnce() -> T) -> T {
    let before = steps();
    let result = within(len, READER_PEAK, READER_ALL, read);
    let steps = steps() - before;
    assert!(steps <= READER_STEPS.of(len), "{steps} steps for {len}, {} are allowed", READER_STEPS.of(len));
    result
}

/// Memory of a reader and of the recorder of its events.
const READER_PEAK: Bound = Bound { bytes: 16 << 20, of_byte: 4 << 10 };
/// Bytes that a reader and its recorder allocate in all. An input that costs the square of its
/// length exceeds it at some ten thousand bytes. Kept inputs take less than a megabyte.
const READER_ALL: Bound = Bound { bytes: 32 << 20, of_byte: 8 << 10 };
/// Steps of a reader. An end looks at up to 1,024 begins, and an event has some ten bytes.
const READER_STEPS: Bound = Bound { bytes: 4 << 20, of_byte: 1 << 10 };
