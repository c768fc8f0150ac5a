//! Warnings and unknown records of a segment that are found before or while its rows are written.
//! Findings are kept in bounded memory and go to the sink together.

use nprof_engine::base;
use nprof_engine::base::bytes::{Cursor, Put};
use nprof_engine::model::{WarningKind, Warnings};
use nprof_engine::spill::{NoBytes, Pile, Scratch, Space, SpillKey};

use super::core::NtffOutput;
use super::record::{DeviceRecord, RECORD_LEN, SegmentKind};
use super::unknown_records::UnknownRecords;
use crate::error::Error;

/// An unknown record, with its number in its segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Unknown {
    number: u64,
    record: [u8; RECORD_LEN],
}

impl SpillKey for Unknown {
    type Span = NoBytes;
    const MAX_LEN: usize = 10 + RECORD_LEN;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_varint(self.number);
        out.extend_from_slice(&self.record);
    }

    fn take(cursor: &mut Cursor<'_>) -> base::Result<Self> {
        let (number, mut record) = (cursor.varint()?, [0; RECORD_LEN]);
        record.copy_from_slice(cursor.take(RECORD_LEN)?);
        Ok(Self { number, record })
    }
}

/// Findings in all segments of a kind.
pub struct Findings<'s> {
    kind: SegmentKind,
    records: u64,
    unknown: Pile<Unknown, &'s dyn Scratch>,
    warnings: Warnings,
}

impl<'s> Findings<'s> {
    /// An empty list of findings.
    #[must_use]
    pub fn new(kind: SegmentKind, space: Space<'s>) -> Self {
        Self { kind, records: 0, unknown: space.pile(), warnings: Warnings::default() }
    }

    /// Counts a record that was read.
    pub fn record_read(&mut self) {
        self.records += 1;
    }

    /// Keeps an unknown record.
    pub fn unknown(&mut self, number: u64, record: &DeviceRecord) -> Result<(), Error> {
        Ok(self.unknown.push(Unknown { number, record: record.to_bytes() })?)
    }

    /// Counts a warning.
    pub fn warn(&mut self, kind: WarningKind, what: &str, place: impl FnOnce() -> String) {
        self.warnings.add(kind, what, place);
    }

    /// Counts a warning about a record.
    pub fn warn_of(&mut self, kind: WarningKind, what: &str, number: u64) {
        let segment = self.kind.title();
        self.warn(kind, what, || format!("record {number} of the {segment} segment"));
    }

    /// Passes everything to the sink: unknown records in their order, then warnings.
    pub fn tell(self, unknown: &mut UnknownRecords, out: &mut NtffOutput<'_>) -> Result<(), Error> {
        let mut records = self.unknown.read();
        while let Some(&Unknown { number, record }) = records.next()? {
            unknown.keep(out.sink, self.kind.title(), number, &DeviceRecord::from_bytes(&record))?;
        }
        for warning in self.warnings.iter() {
            for _ in 0..warning.count {
                out.sink.warn(warning.kind, &warning.what, &|| warning.first_place.clone());
            }
        }
        out.records_read(self.records);
        Ok(())
    }
}
