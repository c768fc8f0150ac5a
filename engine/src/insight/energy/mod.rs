//! Energy: which work, which waits and which idle time took the joules that a counter of power
//! recorded.
//!
//! *Invariant.* The parts of a rank add up to the integral of its power, and nothing is estimated:
//! a rank without a counter of power has no energy.
//!
//! A counter measures a whole device. Nothing in it tells pieces of work apart that run at once, so
//! the energy of such a time is split evenly between them.

mod parts;
mod power;
mod rank;
mod regions;
#[cfg(test)]
mod tests;

pub use parts::{EnergyPart, PartTotals, RestSpan, WorkSpan};
pub use power::RankPower;
pub use rank::RankActivity;
pub use regions::by_region;
