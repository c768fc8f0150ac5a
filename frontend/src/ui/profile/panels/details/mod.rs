//! The panel of details: all about the selected slice or counter.

pub mod counter_lines;
pub mod field;

#[cfg(feature = "browser")]
mod members;
#[cfg(feature = "browser")]
mod reading;
#[cfg(feature = "browser")]
mod slice;
#[cfg(feature = "browser")]
mod what_if;

#[cfg(feature = "browser")]
pub use self::slice::{Details, call_of, edited};
