//! The host that a trace states among its properties.

use crate::base::Result;
use crate::exec::Cancel;
use crate::makers::columns::NamedColumns;
use crate::makers::rows::{NamedValues, text_of};
use crate::segment::{Bytes, Segment};

/// Keys of the name of a host, the best first.
const KEYS: [&str; 4] = ["host_name", "hostname", "host", "node_name"];

/// The host on which the trace was recorded, if the trace states it.
pub fn read<B: Bytes>(segment: &Segment<B>, cancel: Cancel<'_>) -> Result<Option<String>> {
    let Some(table) = NamedColumns::of(segment, "metadata", cancel).filter(|table| table.has("key")) else {
        return Ok(None);
    };
    let rows = table.all_rows()?;
    let stated = |key: &str| {
        let is_of_key = |row: &&NamedValues<'_>| text_of(row, "key").is_some_and(|own| own == key);
        text_of(rows.iter().find(is_of_key)?, "value").filter(|host| !host.trim().is_empty())
    };
    Ok(KEYS.iter().find_map(|key| stated(key)))
}
