//! Execution: running the tasks of a piece of work, and cancelling it.
//!
//! The engine has no threads of its own. The engine splits work into independent tasks, and an
//! [`Exec`] runs them: in place in a page, on all cores natively.

mod cancel;
mod conveyor;
mod sort;
mod steps;
mod tasks;
mod work;

pub use cancel::Cancel;
pub use conveyor::{ConveyorEnd, Feeder, conveyor};
pub use sort::sort_by_key;
pub use steps::step;
#[cfg(any(test, feature = "fixture"))]
pub use steps::steps;
pub use tasks::{CallerThread, Exec, gather};
pub use work::Work;
