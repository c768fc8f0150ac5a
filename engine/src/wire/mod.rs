//! Questions and answers between server and page: the only serialised types of the engine.
//!
//! Each is plain data, written as postcard (for the page) or JSON (for all other clients). Times
//! are picoseconds since the profile's origin, on the clock of their rank. [`clock::Clock`] maps
//! them to the time that all ranks share. Row numbers identify slices, samples and side-table rows
//! of one rank alike.

pub mod activity;
pub mod allowance;
pub mod answer;
pub mod ask;
pub mod bundle;
pub mod bundles;
pub mod catalog;
pub mod clock;
pub mod comparison;
pub mod completions;
pub mod counter;
pub mod coverage_entry;
pub mod detail;
pub mod export;
pub mod finding_changes;
pub mod findings;
mod findings_part;
pub mod grammar;
pub mod graph_progress;
pub mod job;
pub mod light;
pub mod message_times;
pub mod notes;
pub mod page_link;
pub mod paired_tracks;
pub mod percent;
pub mod questions;
pub mod rank_balance;
pub mod rank_ref;
pub mod refusal;
pub mod regions;
mod row_columns;
pub mod rows;
pub mod run_graph;
pub mod run_path;
pub mod run_waits;
pub mod search;
pub mod selection;
pub mod span_entry;
pub mod summary;
pub mod table_rows;
pub mod tile;
pub mod waits;
pub mod what_if;
pub mod window;
pub mod work_slack;

/// The version of these messages; part of every URL of a tile, so that caches never mix versions.
pub const VERSION: u16 = 8;

/// The media type of postcard messages.
pub const POSTCARD: &str = "application/x-nprof";
/// The media type of zstd frames with a postcard message inside.
pub const POSTCARD_ZSTD: &str = "application/x-nprof+zstd";
