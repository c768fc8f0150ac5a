//! Regions of a rank: named spans such as iterations and layers.
//!
//! Steps come from the marks of the program, else from the order of work that repeats. The order is
//! that of launches, so streams that run beside each other do not disturb it. None are claimed
//! where nothing repeats.

mod bound;
mod candidate;
mod likeness;
mod mark_bounds;
mod pace;
mod program_order;
mod regions;
mod repetition;
mod step;
mod step_marks;
mod steps;
#[cfg(test)]
mod tests;

pub use pace::StepPace;
pub use regions::{RankRegion, RankRegions, RegionKind};
pub use step::{NoSteps, StepOrigin, StepShape, WorkStep, WorkSteps};
pub use steps::steps;
