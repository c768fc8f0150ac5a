//! Columns of integers of any length, in the encoding of segments.

use crate::base::bytes::{Cursor, Put};
use crate::base::{Error, Result};
use crate::codec::{BlockDecoder, Encoder, MAX_VALUES};

/// Error for bytes that contradict each other.
pub(super) const DAMAGED: Error = Error::Inconsistent { what: "the dependency graph" };

/// Writes columns one after the other.
#[derive(Default)]
pub(super) struct IntColumnWriter {
    encoder: Encoder,
    packed: Vec<u8>,
    pub(super) bytes: Vec<u8>,
}

impl IntColumnWriter {
    pub(super) fn ints(&mut self, values: &[i64]) {
        for run in values.chunks(MAX_VALUES) {
            self.packed.clear();
            self.encoder.ints(run, &mut self.packed);
            self.bytes.put_bytes(&self.packed);
        }
    }
}

/// Reads columns in the order in which they were written.
pub(super) struct IntColumnReader<'b> {
    decoder: BlockDecoder,
    run: Vec<i64>,
    cursor: Cursor<'b>,
}

impl<'b> IntColumnReader<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        let cursor = Cursor::new(bytes, 0, "dependency graph");
        Self { decoder: BlockDecoder::default(), run: Vec::new(), cursor }
    }

    /// A column of `count` values.
    pub(super) fn ints(&mut self, count: usize) -> Result<Vec<i64>> {
        let mut values = Vec::new();
        while values.len() < count {
            let next = (count - values.len()).min(MAX_VALUES);
            self.decoder.ints(self.cursor.bytes()?, next, &mut self.run)?;
            values.extend_from_slice(&self.run);
        }
        Ok(values)
    }

    /// A column of numbers below `most`.
    pub(super) fn numbers(&mut self, count: usize, most: usize) -> Result<Vec<u32>> {
        let number = |value: i64| u32::try_from(value).ok().filter(|number| (*number as usize) < most);
        self.ints(count)?.into_iter().map(|value| number(value).ok_or(DAMAGED)).collect()
    }

    /// Asserts that everything has been read.
    pub(super) fn finish(&self) -> Result<()> {
        self.cursor.finish()
    }
}
