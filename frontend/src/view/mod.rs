//! State of the page: values and functions on them, without a browser.

pub mod clock;
pub mod command;
pub mod data;
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
pub mod outside;
pub mod panel;
pub mod place;
pub mod reading;
pub mod scale;
pub mod shortcut;
pub mod state;
pub mod table;
pub mod ticks;
pub mod touch;
pub mod trail;
pub mod url;
pub mod window;

pub use clock::Clock;
pub use command::{Command, History};
pub use data::{DataChange, DataView};
pub use extent::Extent;
pub use hover::{Hover, Hovered};
pub use layout::Layout;
pub use place::ProfilePlace;
pub use reading::Reading;
pub use scale::TimeScale;
pub use state::{Tab, View};
