//! Queries on a segment: the fields of a row, the rows of a window, neighbours, search,
//! statistics of a selection, and the damaged parts.
//!
//! All queries are plain calls that decode only the blocks they need.

mod active;
mod copy;
mod counter;
mod fields;
mod listing;
mod name_slots;
mod neighbour;
mod part;
mod rows;
mod search;
mod selection;
mod self_time;
mod slice;
mod verify;

pub use active::{active_span, is_small_part};
pub use copy::Cut;
pub use counter::{CounterAt, CounterSpan};
pub use fields::RowFields;
pub use listing::{ListedRow, Listing, RowFilter};
pub use name_slots::{FIRST_SLOTS, NameSlot, NameUses, SLOTS, kind_of, slot_of_rare};
pub use neighbour::Direction;
pub use part::{Part, PartMap, PartName};
pub use rows::{Order, RowContent, TimedRow, for_each_of_track, for_each_timed};
pub use search::{Found, Hit, HitPage, HitPlace, Pattern, PatternError, Syntax};
pub use selection::{NameTime, Selection, TrackTime};
pub use slice::SliceAt;
pub use verify::{Finding, Report};
