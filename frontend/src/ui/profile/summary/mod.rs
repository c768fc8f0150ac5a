//! The Summary place, a file for each part.

mod advice;
mod all_metrics;
mod axes;
mod balance;
mod cards;
mod collectives;
mod head;
mod heat_map;
mod layout;
mod number_link;
mod page;
mod region_table;
mod roofline;
mod scope;
mod step_strip;
mod strip;
mod table;
mod time;

pub use page::SummaryPage;
