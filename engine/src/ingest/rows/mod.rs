//! Rows that are not encoded yet: the rows of one track, column by column, and rows that are packed
//! to be sorted. The producer fills them, the consumer encodes them.

mod arrivals;
mod by_use;
mod field_column;
mod packer;
mod positions;
mod row;
mod run;
mod template;
mod track_rows;
mod unsettled_rows;

pub(super) use arrivals::{Arrived, NUMBER_BYTES, VALUE_BYTES};
pub(super) use by_use::BlockUses;
pub(super) use field_column::FieldColumn;
pub(super) use packer::{MAX_DICTIONARY_TEXT, ValuePacker, cut_off, start_of};
pub(super) use row::{PackedValue, RowHead, RowSortKey, put_value, values};
pub(super) use run::{RowTimes, RunRow, TrackRun};
pub(super) use template::Template;
pub(super) use track_rows::{GROUP_ROWS, MAX_GROUP_BYTES, RowBuffer};
