//! Scratch space for data that does not fit into memory while a trace is read.

use std::sync::{Mutex, PoisonError};

use crate::base::{Error, Result};

/// Bytes that can be appended and read back. Several users can append to the same space, also at
/// the same time. The space is freed as a whole only.
pub trait Scratch: Sync {
    /// Appends bytes; returns the offset of the first.
    fn append(&self, bytes: &[u8]) -> Result<u64>;

    /// Reads back appended bytes: fills `out` from `offset`.
    ///
    /// # Errors
    /// `Storage` if the bytes cannot be read.
    fn read(&self, offset: u64, out: &mut [u8]) -> Result<()>;
}

impl<S: Scratch + ?Sized> Scratch for &S {
    fn append(&self, bytes: &[u8]) -> Result<u64> {
        (**self).append(bytes)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        (**self).read(offset, out)
    }
}

/// Scratch space in memory: for small traces, tests, and the page.
#[derive(Debug, Default)]
pub struct MemoryScratch(Mutex<Vec<u8>>);

impl Scratch for MemoryScratch {
    fn append(&self, bytes: &[u8]) -> Result<u64> {
        let mut space = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let offset = space.len() as u64;
        space.extend_from_slice(bytes);
        Ok(offset)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        let outside = Error::Storage { what: "a read outside the scratch space" };
        let start = usize::try_from(offset).map_err(|_| outside)?;
        let space = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = space.get(start..).and_then(|rest| rest.get(..out.len())).ok_or(outside)?;
        out.copy_from_slice(bytes);
        Ok(())
    }
}
