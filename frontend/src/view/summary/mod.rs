//! The Summary place: cards of metrics, the parts of the time, and the steps over time. Pure.

pub mod cards;
pub mod collectives;
pub mod coverage_words;
pub mod heat_map;
pub mod lit_place;
pub mod log_axis;
pub mod number_target;
pub mod region_table;
pub mod roofline;
pub mod step_bars;
mod table_columns;
pub mod time_bar;
