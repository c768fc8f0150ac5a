//! How a profile comes in: readers of trace formats, clocks, devices.

#![warn(missing_docs)]

pub mod clock;
pub mod device;
pub mod formats;
