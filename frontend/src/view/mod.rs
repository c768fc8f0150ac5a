//! State of the page: values and functions on them, without a browser.

pub mod act;
pub mod band;
pub mod comparison_table;
pub mod edit_choice;
pub mod finding_changes;
pub mod finding_place;
#[cfg(test)]
pub(crate) mod fixture;
pub mod hits;
pub mod metric_share;
pub mod point;
pub mod pointing;
pub mod profile_order;
pub mod ranks;
pub mod ring;
pub mod rows;
pub mod run_path;
pub mod run_times;
pub mod run_waits;
pub mod shell;
pub mod size;
pub mod source_id;
pub mod state;
pub mod summary;
pub mod table;
pub mod text;
pub mod time;
pub mod url;

pub use act::Act;
pub use point::Point;
pub use pointing::hover::{Hover, Hovered};
pub use ranks::straggler::Late;
pub use rows::extent::Extent;
pub use rows::layout::Layout;
pub use rows::sheet::Sheet;
pub use shell::panel::{PanelSide, Tab};
pub use shell::place::ProfilePlace;
pub use size::Size;
pub use state::View;
pub use state::command::{Command, History};
pub use state::data::{DataChange, DataView};
pub use state::reading::Reading;
pub use time::axes::{Axes, Timebase};
pub use time::axis::Axis;
pub use time::clock::Clock;
pub use time::scale::TimeScale;
