//! Buffer for a row's fields, reused for the next row.

use nprof_engine::model::{FieldId, Value};

/// An empty list of fields. Only its memory is of use.
pub(crate) type FieldBuffer = Vec<(FieldId, Value<'static>)>;

/// Empties a list of fields and keeps its memory. Collecting in place reuses the allocation.
pub(crate) fn emptied(mut fields: Vec<(FieldId, Value<'_>)>) -> FieldBuffer {
    fields.clear();
    fields.into_iter().map(|(id, _)| (id, Value::Bool(false))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_storage_stays() {
        let text = String::from("a");
        let mut fields: Vec<(FieldId, Value<'_>)> = Vec::with_capacity(24);
        fields.push((FieldId(1), Value::Text(&text)));
        let room = emptied(fields);
        assert!(room.is_empty() && room.capacity() >= 24);
    }
}
