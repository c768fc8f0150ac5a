//! The panels of the dock and the drawer: details, findings, the critical path, waits, statistics,
//! hits of the search, warnings, plots.

pub mod comparison;
pub mod counter_lines;
pub mod field;

#[cfg(feature = "browser")]
mod details;
#[cfg(feature = "browser")]
mod edge;
#[cfg(feature = "browser")]
mod findings;
#[cfg(feature = "browser")]
mod frame;
#[cfg(feature = "browser")]
mod members;
#[cfg(feature = "browser")]
mod path;
#[cfg(feature = "browser")]
mod pending_answer;
#[cfg(feature = "browser")]
mod reading;
#[cfg(feature = "browser")]
mod region_name;
#[cfg(feature = "browser")]
mod run_answer;
#[cfg(feature = "browser")]
mod search_panel;
#[cfg(feature = "browser")]
mod selection;
#[cfg(feature = "browser")]
mod state;
#[cfg(feature = "browser")]
mod waits;
#[cfg(feature = "browser")]
mod warnings;
#[cfg(feature = "browser")]
mod what_if;

#[cfg(feature = "browser")]
pub use details::{call_of, edited};
#[cfg(feature = "browser")]
pub use frame::PanelFrame;
#[cfg(feature = "browser")]
pub use pending_answer::PendingAnswer;
#[cfg(feature = "browser")]
pub use selection::table_of;
#[cfg(feature = "browser")]
pub use state::Panels;
#[cfg(feature = "browser")]
pub use warnings::has_warnings;
