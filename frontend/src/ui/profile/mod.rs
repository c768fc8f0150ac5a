//! The page of a profile: its places (timeline, summary, data, compare), search, and the panels.

pub mod data;
pub mod panels;
pub mod ranks;

#[cfg(feature = "browser")]
mod bar;
#[cfg(feature = "browser")]
mod compare;
#[cfg(feature = "browser")]
mod culprit;
#[cfg(feature = "browser")]
mod finding_list;
#[cfg(feature = "browser")]
mod finding_notice;
#[cfg(feature = "browser")]
mod found_places;
#[cfg(feature = "browser")]
mod ground;
#[cfg(feature = "browser")]
mod lit;
#[cfg(feature = "browser")]
mod missing_page;
#[cfg(feature = "browser")]
mod open_profile;
#[cfg(feature = "browser")]
mod page;
#[cfg(feature = "browser")]
mod rail;
#[cfg(feature = "browser")]
mod region_choice;
#[cfg(feature = "browser")]
mod row_tooltip;
#[cfg(feature = "browser")]
mod run_pair;
#[cfg(feature = "browser")]
mod search;
#[cfg(feature = "browser")]
mod shown_bands;
#[cfg(feature = "browser")]
mod slice_menu;
#[cfg(feature = "browser")]
mod summary;
#[cfg(feature = "browser")]
mod time_axis;

#[cfg(feature = "browser")]
pub use missing_page::HomeLink;
#[cfg(feature = "browser")]
pub use page::ProfilePage;
