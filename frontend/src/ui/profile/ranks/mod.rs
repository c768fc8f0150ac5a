//! The ranks of a profile: tabs, the list to find one, and how the current one is aligned.

pub mod clock_words;

#[cfg(feature = "browser")]
mod clock_switch;
#[cfg(feature = "browser")]
mod finder;
#[cfg(feature = "browser")]
mod rank_choice;
#[cfg(feature = "browser")]
mod tabs;

#[cfg(feature = "browser")]
pub use finder::find_rank;
#[cfg(feature = "browser")]
pub use rank_choice::{open_neighbour, show_fewer, show_more};
#[cfg(feature = "browser")]
pub use tabs::{RankTabs, needs};
