//! The page: shows a profile as a timeline in the browser.
//!
//! [`view`] is the state of the page as pure values, without a browser and tested natively.
//! [`fetch`] gets profiles and tiles, [`draw`] turns tiles into pixels, [`ui`] contains the
//! components. Imports go one way: `view` < `fetch`, `draw` < `ui` (checked by
//! `tests/tests/tidy.rs`).

pub mod draw;
pub mod fetch;
pub mod ui;
pub mod view;
