//! Space for what does not fit into memory while a trace is read.

use crate::base::{Error, Result};

/// Bytes that can be appended and read back.
pub trait Scratch {
    /// Appends bytes; returns where they begin.
    ///
    /// # Errors
    /// `Storage` where the disk is full, for example; the implementor keeps the cause.
    fn append(&mut self, bytes: &[u8]) -> Result<u64>;

    /// Reads back bytes that were appended: fills `out` from `offset`.
    ///
    /// # Errors
    /// `Storage` where they cannot be read.
    fn read(&self, offset: u64, out: &mut [u8]) -> Result<()>;
}

/// In memory: for small traces, tests, and the page.
impl Scratch for Vec<u8> {
    fn append(&mut self, bytes: &[u8]) -> Result<u64> {
        let offset = self.len() as u64;
        self.extend_from_slice(bytes);
        Ok(offset)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        let outside = Error::Storage { what: "read outside the scratch space" };
        let start = usize::try_from(offset).map_err(|_| outside)?;
        let bytes = self.get(start..).and_then(|rest| rest.get(..out.len())).ok_or(outside)?;
        out.copy_from_slice(bytes);
        Ok(())
    }
}
