//! The dependency graph of a job: the work of each rank on the clock that all share, and the calls
//! in which ranks meet.
//!
//! Order on a queue, launches and meetings are edges that the trace states. Edges between queues of
//! one device are not in a trace, and [`evidence`] tells which are possible.

mod absent_call;
mod evidence;
mod int_columns;
mod job;
mod meeting;
mod observed_work;
mod overlay;
mod point_order;
mod rank;
mod shared_executor;
mod stated_edges;
mod time_slots;
mod work_columns;

pub(super) use evidence::QueueOrder;
pub use job::JobGraph;
#[cfg(test)]
pub(super) use job::ranks;
pub(super) use meeting::{AwaitedCalls, Meeting, MeetingCall};
pub(super) use observed_work::LEAST_UNDER_PS;
pub use overlay::{GraphOverlay, RankOverlay, TimesOfRows};
pub(super) use point_order::PointOrder;
pub use rank::RankGraph;
pub(super) use rank::{ClassFacts, communicating_classes};
pub(super) use stated_edges::StatedView;
