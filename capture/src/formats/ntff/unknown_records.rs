//! Unknown records, kept as they are.

use std::fmt::Write;

use nprof_engine::base::Result;
use nprof_engine::model::{FieldId, FieldSpec, Sink, TableId, TableSpec, Unit, Value, WarningKind};

use super::record::DeviceRecord;

/// The side table `unknown_record`, defined with the first such record.
#[derive(Debug, Default)]
pub struct UnknownRecords {
    handles: Option<Handles>,
}

#[derive(Debug, Clone, Copy)]
struct Handles {
    table: TableId,
    segment: FieldId,
    record: FieldId,
    kind: FieldId,
    bytes: FieldId,
}

impl UnknownRecords {
    /// Keeps a record and counts a warning.
    pub fn keep(
        &mut self,
        sink: &mut dyn Sink,
        segment: &str,
        number: u64,
        record: &DeviceRecord,
    ) -> Result<()> {
        let handles = match self.handles {
            Some(handles) => handles,
            None => *self.handles.insert(Handles::define(sink)?),
        };
        sink.warn(WarningKind::UnknownRecord, "a record of an unknown kind; its bytes are kept", &|| {
            format!("record {number} of the {segment} segment")
        });
        let mut hex = String::new();
        for byte in record.to_bytes() {
            // Writing to a string cannot fail.
            let _ = write!(hex, "{byte:02x}");
        }
        sink.row(
            handles.table,
            &[
                (handles.segment, Value::Text(segment)),
                (handles.record, Value::unsigned(number)),
                (handles.kind, Value::Int(i64::from(record.kind()))),
                (handles.bytes, Value::Text(&hex)),
            ],
        )
    }
}

impl Handles {
    fn define(sink: &mut dyn Sink) -> Result<Self> {
        let table = sink.table(TableSpec::side(
            "unknown_record",
            "Unchanged records of the trace whose meaning is unknown.",
        ))?;
        let mut field = |name, unit, doc| sink.field(table, FieldSpec::new(name, unit, "Record", doc));
        Ok(Self {
            table,
            segment: field("segment", Unit::None, "Subject of the segment's records.")?,
            record: field("record", Unit::None, "Number of the record within its segment.")?,
            kind: field("kind", Unit::None, "Low five bits of the fourth byte of the record.")?,
            bytes: field("bytes", Unit::Hexadecimal, "Bytes of the record.")?,
        })
    }
}
