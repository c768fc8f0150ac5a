//! The panels of the dock and the drawer, a module each: details, findings, the critical path,
//! waits, what-ifs, regions, the marked span, hits of the search, warnings, plots. The table
//! in [`content`] tells what they show; their names, letters and sides are that of
//! [`PANELS`](crate::view::shell::panel::PANELS).

pub mod details;
pub mod selection;

#[cfg(feature = "browser")]
mod content;
#[cfg(feature = "browser")]
mod edge;
#[cfg(feature = "browser")]
mod findings;
#[cfg(feature = "browser")]
mod frame;
#[cfg(feature = "browser")]
mod hits;
#[cfg(feature = "browser")]
mod panel_table;
#[cfg(feature = "browser")]
mod path;
#[cfg(feature = "browser")]
mod pending_answer;
#[cfg(feature = "browser")]
mod plots;
#[cfg(feature = "browser")]
mod rank_hits;
#[cfg(feature = "browser")]
mod regions;
#[cfg(feature = "browser")]
mod run_answer;
#[cfg(feature = "browser")]
mod state;
#[cfg(feature = "browser")]
mod waits;
#[cfg(feature = "browser")]
mod warnings;
#[cfg(feature = "browser")]
mod what_if;

#[cfg(feature = "browser")]
pub use frame::PanelFrame;
#[cfg(feature = "browser")]
pub use panel_table::table_of;
#[cfg(feature = "browser")]
pub use pending_answer::PendingAnswer;
#[cfg(feature = "browser")]
pub use state::Panels;
#[cfg(feature = "browser")]
pub use warnings::has_warnings;
