//! Questions to a segment: the fields of a row, the slices of a window, neighbours, search, statistics of a selection.
//!
//! All are plain calls that decode the blocks they need and nothing else.

mod fields;
mod neighbour;
mod search;
mod selection;
mod slice;

pub use fields::RowFields;
pub use neighbour::Direction;
pub use search::{Found, Hit};
pub use selection::{NameTime, Selection, TrackTime};
pub use slice::SliceAt;
