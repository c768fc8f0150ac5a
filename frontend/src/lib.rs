//! The page: a profile as a timeline in the browser.
//!
//! [`view`] is what is looked at, as values: pure, no browser, tested natively. [`fetch`] brings profiles and tiles
//! here, [`draw`] turns tiles into pixels, [`ui`] is the components. Imports go one way: `view` < `fetch`, `draw` <
//! `ui` (checked by `tests/tests/tidy.rs`).

pub mod draw;
pub mod fetch;
pub mod ui;
pub mod view;
#[cfg(feature = "worker")]
pub mod worker;
