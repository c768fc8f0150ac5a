//! Texts of rows: what a field states, and the operator that launched the work.

use rustc_hash::FxHashMap;

use super::call_columns::{FieldColumns, first_row, slice_tracks};
use super::work_reader::is_device_work;
use crate::base::Result;
use crate::exec::Cancel;
use crate::segment::{Bytes, Segment};

/// The numbers of texts by row.
pub type TextsOfRows = FxHashMap<u32, u32>;

/// The texts of the first of these fields that a row of work of the devices states. Rows without
/// any are not listed.
pub fn field_texts<B: Bytes, const N: usize>(
    segment: &Segment<B>,
    fields: [&str; N],
    cancel: Cancel<'_>,
) -> Result<TextsOfRows> {
    let mut texts = TextsOfRows::default();
    for (track, table) in slice_tracks(segment, is_device_work) {
        let columns = FieldColumns::of(segment, table, fields);
        for block in segment.blocks_of(track)? {
            cancel.check()?;
            let values = columns.block(segment, block)?;
            let rows = segment.blocks(table)?.rows(block);
            for (at, row) in (0..rows).zip(first_row(segment, table, block)?..) {
                if let Some(code) = (0..N).find_map(|field| values.code(field, at)) {
                    texts.insert(row, code);
                }
            }
        }
    }
    Ok(texts)
}
