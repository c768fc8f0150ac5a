//! What is looked at: values and functions on them, without a browser.

pub mod by_name;
pub mod command;
pub mod extent;
pub mod group_load;
pub mod hit;
pub mod hits;
pub mod hover;
pub mod keys;
pub mod layout;
pub mod moments;
pub mod nearest;
pub mod opening;
pub mod panel;
pub mod scale;
pub mod shortcut;
pub mod state;
pub mod ticks;
pub mod touch;
pub mod url;
pub mod window;

pub use command::{Command, History};
pub use extent::Extent;
pub use hover::{Hover, Hovered};
pub use layout::Layout;
pub use scale::TimeScale;
pub use state::{Tab, View};
