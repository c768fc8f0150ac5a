//! The Summary place: cards of metrics, the parts of the time, and the steps over time. Pure.

pub mod cards;
pub mod heat_map;
pub mod region_table;
pub mod roofline;
pub mod step_bars;
pub mod time_bar;
