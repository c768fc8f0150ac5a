//! Lines of source that instructions come from.

use crate::base::Result;
use crate::model::OwnedValue;
use crate::query::fields;
use crate::segment::{Bytes, Segment};

/// Fields that state a line, the best first.
pub(crate) const FIELDS: [&str; 2] = ["nki_source_location", "bir_debug_info_source_location"];

/// Fields that state the operation of the compiler's program; the second one is the first again.
pub(crate) const HLO_FIELDS: [&str; 2] = ["hlo_name", "hlo_name"];
/// Fields that state the layer of the model; the second one is the first again.
pub(crate) const LAYER_FIELDS: [&str; 2] = ["layer", "layer"];

/// The file and line that the instruction in a row comes from, if its trace states them.
pub(in crate::makers) fn read<B: Bytes>(segment: &Segment<B>, row: u32) -> Result<Option<String>> {
    let fields = fields::read(segment, row)?;
    let text = |column: &str| {
        let name =
            |field: u32| segment.footer().fields.get(field as usize).map(|(_, spec)| spec.name.as_str());
        let found = fields.iter().find(|(field, _)| name(field.0) == Some(column));
        match found {
            Some((_, OwnedValue::Text(text))) if !text.is_empty() => Some(text.clone()),
            _ => None,
        }
    };
    Ok(FIELDS.iter().find_map(|column| text(column)))
}
