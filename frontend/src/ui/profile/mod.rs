//! The page of a profile: its places (timeline, summary, data), search, and the panels.

pub mod aligned;
pub mod compared;
pub mod data;
pub mod field;

#[cfg(feature = "browser")]
mod bar;
#[cfg(feature = "browser")]
mod clock_switch;
#[cfg(feature = "browser")]
mod culprit;
#[cfg(feature = "browser")]
mod details;
#[cfg(feature = "browser")]
mod hovered;
#[cfg(feature = "browser")]
mod late;
#[cfg(feature = "browser")]
mod members;
#[cfg(feature = "browser")]
mod missing;
#[cfg(feature = "browser")]
mod opened;
#[cfg(feature = "browser")]
mod page;
#[cfg(feature = "browser")]
mod panels;
#[cfg(feature = "browser")]
mod plots;
#[cfg(feature = "browser")]
mod profile_source;
#[cfg(feature = "browser")]
mod rail;
#[cfg(feature = "browser")]
mod rank_details;
#[cfg(feature = "browser")]
mod rank_finder;
#[cfg(feature = "browser")]
mod rank_times;
#[cfg(feature = "browser")]
mod ranks;
#[cfg(feature = "browser")]
mod reading;
#[cfg(feature = "browser")]
mod search;
#[cfg(feature = "browser")]
mod search_box;
#[cfg(feature = "browser")]
mod search_panel;
#[cfg(feature = "browser")]
mod selection;
#[cfg(feature = "browser")]
mod shown_tracks;
#[cfg(feature = "browser")]
mod summary;
#[cfg(feature = "browser")]
mod warnings;

#[cfg(feature = "browser")]
pub use missing::HomeLink;
#[cfg(feature = "browser")]
pub use page::ProfilePage;
