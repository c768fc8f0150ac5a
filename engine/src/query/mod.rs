//! Queries on a segment: the fields of a row, the rows of a window, neighbours, search, filters,
//! statistics of a selection, and the damaged parts.
//!
//! A query is a function of an open segment: `query::slice::read(segment, row)`. It decodes only
//! the blocks that it needs. A module names the topic, so names of functions are short.

mod active;
pub mod copy;
pub mod counter;
mod density;
mod extent;
pub mod fields;
mod filter;
mod light;
pub mod listing;
mod load;
mod name_slots;
pub mod neighbour;
pub mod part;
mod row_times;
mod rows;
pub mod search;
pub mod selection;
mod self_time;
pub mod slice;
pub mod verify;

pub use active::{active_span, is_better_view};
pub use copy::SegmentCut;
pub use counter::{CounterAt, CounterSpan};
pub use density::{DensityCells, density};
pub use extent::extent;
pub use fields::BlockFields;
pub use filter::{
    Completion, CompletionKind, Completions, FieldTest, FilterScope, FilterWord, NumberComparison, OpenWord,
    RegionSpan, ResolvedFilter, ShortName, WordFilter, WordTest, completions, quantity,
};
pub use light::{HitLight, LitLane, TrackHits, light};
pub use listing::{ListedRow, Listing, RowFilter};
pub use name_slots::{FIRST_SLOTS, KindSlot, NameUses, SLOTS, kind_of, slot_of_rare};
pub use neighbour::StepDirection;
pub use part::{PartMap, PartName, SegmentPart};
pub use row_times::{RowTime, row_times};
pub use rows::{RowContent, RowOrder, TimedRow, for_each_of_track, for_each_timed};
pub use search::{HitPage, HitPlace, PatternError, SearchHits, SearchMatch, SearchPattern, Syntax};
pub use selection::{NameTime, Selection, TrackStats};
pub use slice::SliceAt;
pub use verify::{VerifyFinding, VerifyReport};
