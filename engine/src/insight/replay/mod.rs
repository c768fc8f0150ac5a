//! A replay: the times at which all work would have run if some of it took another time.
//!
//! Each node starts after the work that it waits for, plus the gap that was recorded between them.
//! Two models bound what it waits for on its device besides the work before it on its queue, and
//! besides its launch. Both look only at queues that it can wait for (`graph/evidence.rs`). In the
//! loosest one it is the work of them that had ended last; in the strictest one all work that had
//! ended. The middle one adds to the loosest the work of each queue that it likely waits for.
//!
//! A call of an operation ends when the ranks that it waits for have come, plus the recorded rest.
//!
//! Every time is kept as it would be in an unchanged run beside it, and only differences count. So
//! the replay of an unchanged run is the recorded run to the picosecond.
//!
//! Time is linear in nodes. A rank runs until it must wait for another one, so no order of the
//! clocks of different ranks is needed.

mod extent;
mod job;
mod meeting_times;
mod observer;
mod rank;
mod time;

pub(super) use job::observed;
pub use job::{Replayed, replay};
pub(super) use observer::{PointTime, ReplayObserver, ReplayPoint};
