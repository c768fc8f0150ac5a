//! Errors that the hardware of a Neuron device reported.

use std::collections::BTreeMap;

use super::schema::ERROR;
use crate::base::Result;
use crate::exec::Cancel;
use crate::makers::call_columns::{FieldColumns, first_row, slice_tracks};
use crate::metrics::DeviceError;
use crate::model::NameId;
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// The category of entries that are errors. Others are warnings and notices of programs.
const ERRORS: &str = "Errors";

/// The errors of a rank by name, on the clock of its segment, the earliest first.
pub(in crate::makers) fn errors<B: Bytes>(
    segment: &Segment<B>,
    rank: u32,
    cancel: Cancel<'_>,
) -> Result<Vec<DeviceError>> {
    let Some(wanted) = segment.table(ERROR.name) else { return Ok(Vec::new()) };
    let columns = FieldColumns::of(segment, wanted, ["type"]);
    let mut found: BTreeMap<i64, DeviceError> = BTreeMap::new();
    for (track, table) in slice_tracks(segment, |_| true).filter(|(_, table)| *table == wanted) {
        for block in segment.blocks_of(track)? {
            cancel.check()?;
            let kinds = columns.block(segment, block)?;
            let mut core = BlockReader::new(segment, table, block)?;
            let (starts, names) = (core.core_ints(ColumnRole::Start)?, core.core_ints(ColumnRole::Name)?);
            let rows = first_row(segment, table, block)?..;
            for (at, (row, (&start_ps, &name))) in rows.zip(starts.iter().zip(&names)).enumerate() {
                let kind = kinds.code(0, at).map(|code| segment.text(NameId(code))).transpose()?;
                if kind.is_some_and(|kind| kind != ERRORS) {
                    continue;
                }
                let text = segment.text(NameId(u32::try_from(name).unwrap_or_default()))?;
                let error = found.entry(name).or_insert_with(|| DeviceError {
                    rank,
                    name: text.to_owned(),
                    count: 0,
                    start_ps,
                    row,
                });
                error.count += 1;
                if start_ps < error.start_ps {
                    (error.start_ps, error.row) = (start_ps, row);
                }
            }
        }
    }
    let mut all: Vec<DeviceError> = found.into_values().collect();
    all.sort_by_key(|error| error.start_ps);
    Ok(all)
}
