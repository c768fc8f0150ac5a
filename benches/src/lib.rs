//! Benches of nprof: the events they run on, how those reach the store, what it and its peers are asked, and the right
//! answers.

pub mod chart;
pub mod figure;
pub mod generate;
pub mod ingest;
pub mod process;
pub mod questions;
pub mod reference;
pub mod report;
pub mod store;
pub mod tally;
pub mod traces;
