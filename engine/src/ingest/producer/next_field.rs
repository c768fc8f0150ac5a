//! The fields of an event, one after the other.

use crate::base::Result;
use crate::block::ColumnType;
use crate::ingest::rows::{PackedValue, ValuePacker};
use crate::model::{FieldId, Value};

/// The fields of a row, in order. Each is packed when it is taken, so its value stays in registers.
pub trait NextField {
    /// The next field.
    fn next(
        &mut self,
        packer: &mut ValuePacker<'_, '_>,
    ) -> Result<Option<(FieldId, ColumnType, PackedValue<'_>)>>;
}

/// Fields as a reader gives them.
pub struct GivenFields<'f, 'v>(pub std::slice::Iter<'f, (FieldId, Value<'v>)>);

impl NextField for GivenFields<'_, '_> {
    #[inline(always)]
    fn next(
        &mut self,
        packer: &mut ValuePacker<'_, '_>,
    ) -> Result<Option<(FieldId, ColumnType, PackedValue<'_>)>> {
        let Some(&(id, value)) = self.0.next() else { return Ok(None) };
        let (kind, packed) = packer.pack(value)?;
        Ok(Some((id, kind, packed)))
    }
}
