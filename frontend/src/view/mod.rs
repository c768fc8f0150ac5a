//! State of the page: values and functions on them, without a browser.

pub mod axis;
pub mod by_name;
pub mod clock;
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
pub mod outside;
pub mod panel;
pub mod reading;
pub mod scale;
pub mod sheet;
pub mod shortcut;
pub mod state;
pub mod ticks;
pub mod touch;
pub mod track_path;
pub mod trail;
pub mod url;
pub mod window;

pub use axis::Axis;
pub use clock::Clock;
pub use command::{Command, History};
pub use extent::Extent;
pub use hover::{Hover, Hovered};
pub use layout::Layout;
pub use reading::Reading;
pub use scale::TimeScale;
pub use sheet::Sheet;
pub use state::{Tab, View};
