//! Execution: who runs the parts of a piece of work, and whether it is still wanted.
//!
//! The engine has no threads of its own. It names tasks that are independent of each other, and an
//! [`Exec`] runs them: in place in a page, on all cores natively.

mod cancel;
mod conveyor;
mod tasks;
mod work;

pub use cancel::Cancel;
pub use conveyor::{Feeder, Taker, conveyor};
pub use tasks::{Exec, InPlace, gather};
pub use work::Work;
