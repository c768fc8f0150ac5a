//! The name of a rank's devices, as its trace states it among their properties.

use super::group::texts;
use crate::base::Result;
use crate::exec::Cancel;
use crate::makers::columns::NamedColumns;
use crate::makers::rows::{self, text_of};
use crate::model::OwnedValue;
use crate::segment::{Bytes, Segment};

/// The name of the first device that the trace describes: those of a rank are alike. `None` if the
/// trace describes no device.
pub(in crate::makers) fn read<B: Bytes>(segment: &Segment<B>, cancel: Cancel<'_>) -> Result<Option<String>> {
    let Some(table) = NamedColumns::of(segment, "metadata", cancel).filter(|table| table.has("key")) else {
        return Ok(None);
    };
    let rows = table.all_rows()?;
    let stated = rows.iter().find(|row| text_of(row, "key").is_some_and(|key| key == "deviceProperties"));
    let Some(value) = stated.and_then(|row| rows::of(row, "value")) else { return Ok(None) };
    let (OwnedValue::Json(text) | OwnedValue::Text(text)) = value else { return Ok(None) };
    let name = texts(text, "\"name\":").first().map(|name| (*name).to_owned());
    Ok(name.filter(|name| !name.trim().is_empty()))
}
