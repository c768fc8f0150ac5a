//! Benches of nprof: the events they run on, and how those reach the store.

pub mod generate;
pub mod ingest;
