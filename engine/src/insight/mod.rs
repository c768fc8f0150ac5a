//! Insight: what a run costs, and what would make it shorter. A dependency graph of the work of all
//! ranks, and its replay under changes.
//!
//! Pure functions of what [`crate::makers::work`] reads from the ranks' segments and of the
//! analysis of all ranks.

mod bracket;
pub mod difference;
pub mod edge;
#[cfg(test)]
mod edge_tests;
pub mod edit;
mod editable_work;
pub mod energy;
pub mod finding;
pub mod graph;
#[cfg(test)]
mod graph_law_tests;
mod median_rank;
mod names;
mod node_change;
#[cfg(test)]
mod overlay_tests;
pub mod path_sight;
mod prediction;
pub mod prediction_sentence;
pub mod rank_balance;
pub mod region;
mod replay;
pub mod run_match;
mod scenario;
pub mod slack;
#[cfg(test)]
mod step_tests;
mod sweep;
#[cfg(test)]
mod tests;
pub mod wait;
pub mod walk;

pub use bracket::Bracket;
pub use edit::{Edit, EditError};
pub use editable_work::subjects_of;
pub use graph::{GraphOverlay, JobGraph, RankGraph, RankOverlay, TimesOfRows};
pub use prediction::{Prediction, Predictions, predict};
pub use replay::{Replayed, replay};
pub use scenario::Scenario;
pub use sweep::{SweptEdit, sweep};
