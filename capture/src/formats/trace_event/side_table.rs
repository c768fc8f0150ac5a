//! Side tables with fields that the reader knows.

use nprof_engine::base::Result;
use nprof_engine::model::{FieldId, FieldSpec, Sink, TableId, TableSpec, Value};

/// A side table and its fields.
#[derive(Debug)]
pub(super) struct SideTable<const FIELDS: usize> {
    table: TableId,
    fields: [FieldId; FIELDS],
}

impl<const FIELDS: usize> SideTable<FIELDS> {
    /// Defines the table and its fields.
    pub(super) fn define(
        sink: &mut dyn Sink,
        name: &str,
        doc: &str,
        fields: [FieldSpec; FIELDS],
    ) -> Result<Self> {
        let table = sink.table(TableSpec::side(name, doc))?;
        let mut ids = [FieldId(0); FIELDS];
        for (id, spec) in ids.iter_mut().zip(fields) {
            *id = sink.field(table, spec)?;
        }
        Ok(Self { table, fields: ids })
    }

    /// Adds a row with a value for each field.
    pub(super) fn row(&self, sink: &mut dyn Sink, values: [Value<'_>; FIELDS]) -> Result<()> {
        sink.row(self.table, &std::array::from_fn::<_, FIELDS, _>(|at| (self.fields[at], values[at])))
    }
}
