//! Controls that every part of the page uses. None of them knows which page is shown.

mod actions;
mod close_button;
mod context_menu;
mod dialog;
mod events;
mod explain;
mod failure;
mod icon;
mod key_list;
mod name;
mod prose;
mod rank_order;
mod rest;
mod tooltip;

pub use actions::{Action, BarActions};
pub use close_button::CloseButton;
pub use context_menu::ContextMenu;
pub use dialog::Dialog;
pub use events::{capture, keeps_focus, own_element, scrolled_px};
pub use explain::{Explained, Explanation, ExplanationView};
pub use failure::{Failure, Loading};
pub use icon::{Glyph, Icon};
pub use key_list::{If, keyed};
pub use name::Name;
pub use prose::Prose;
pub use rank_order::{RankOrderMenu, RankTime};
pub use rest::{paced, rested};
pub use tooltip::{Tooltip, viewport};
