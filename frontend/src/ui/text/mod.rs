//! Texts for people: numbers, dates, labels and JSON. Pure.

pub mod format;
mod json;
pub mod label;
pub mod width;
