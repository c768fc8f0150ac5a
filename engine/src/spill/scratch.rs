//! Space for what does not fit into memory while a trace is read.

use std::sync::{Mutex, PoisonError};

use crate::base::{Error, Result};

/// Bytes that can be appended and read back. Several may append to the same space, also at the same time; none of it is
/// ever freed before all of it.
pub trait Scratch: Sync {
    /// Appends bytes; returns where they begin.
    ///
    /// # Errors
    /// `Storage` where the disk is full, for example; the implementor keeps the cause.
    fn append(&self, bytes: &[u8]) -> Result<u64>;

    /// Reads back bytes that were appended: fills `out` from `offset`.
    ///
    /// # Errors
    /// `Storage` where they cannot be read.
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

/// In memory: for small traces, tests, and the page.
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
        let outside = Error::Storage { what: "read outside the scratch space" };
        let start = usize::try_from(offset).map_err(|_| outside)?;
        let space = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = space.get(start..).and_then(|rest| rest.get(..out.len())).ok_or(outside)?;
        out.copy_from_slice(bytes);
        Ok(())
    }
}
