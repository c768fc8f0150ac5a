//! Basics that every layer needs: time, clocks, ids, checked bytes, errors.

mod byte_size;
pub mod bytes;
pub mod checksum;
pub mod clock;
pub mod error;
pub mod id;
mod median;
pub mod name_order;
mod narrow;
pub mod order;
pub mod time;

pub use byte_size::bytes_in_words;
pub use clock::ClockFit;
pub use error::{ANNEX, Error, Result};
pub use id::ProfileId;
pub use median::{lower_median, median, most_frequent, quantile, upper_median};
pub use narrow::{clamped, in_memory, narrow, signed};
pub use time::{Covered, Interval, Time};
