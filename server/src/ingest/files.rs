//! The files of a profile in the form that readers need: unpacked ahead on a thread of their own,
//! or complete on the disk. Bytes are counted when they are read.

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::OnceLock;

use nprof_capture::archive::limit::DiskAllowance;
use nprof_capture::archive::unpack::EarlyEnd;
use nprof_capture::archive::{FileBytes, PlainFile, SharedBytes, Spool};
use nprof_capture::error::Error;
use nprof_capture::files::{Files, Take, whole};
use nprof_capture::owners::Owners;
use nprof_engine::exec::Cancel;

use super::inputs::Inputs;
use super::lookahead::read_ahead;
use crate::file_map;
use crate::work::{Meter, Metered};

/// Chunk length for unpacking to the disk, in bytes.
const CHUNK_LEN: u64 = 1 << 20;

/// Unpacks to unnamed files, which vanish when their last handle is closed.
#[derive(Debug)]
pub struct DiskSpool<'a> {
    directory: &'a Path,
    meter: &'a Meter,
    allowance: DiskAllowance,
}

impl<'a> DiskSpool<'a> {
    /// Unpacks to a directory, until `meter` is cancelled.
    #[must_use]
    pub fn new(directory: &'a Path, meter: &'a Meter) -> Self {
        Self { directory, meter, allowance: DiskAllowance::default() }
    }
}

impl Spool for DiskSpool<'_> {
    fn keep(&self, unpacked: &mut dyn Read) -> io::Result<SharedBytes> {
        let mut file = tempfile::tempfile_in(self.directory)?;
        let mut chunk = Vec::new();
        loop {
            self.meter.check_io()?;
            chunk.clear();
            if (&mut *unpacked).take(CHUNK_LEN).read_to_end(&mut chunk)? == 0 {
                return file_map::map(&file);
            }
            file.write_all(&chunk)?;
        }
    }

    fn allowance(&self) -> Option<&DiskAllowance> {
        Some(&self.allowance)
    }

    fn is_cancelled(&self) -> bool {
        self.meter.is_cancelled()
    }
}

/// The files of a profile.
pub(super) struct InputFiles<'a> {
    pub(super) inputs: &'a Inputs,
    pub(super) spool: DiskSpool<'a>,
    pub(super) meter: &'a Meter,
    /// Ranks of the events of each input, for the passes of the other ranks.
    pub(super) owners: Vec<OnceLock<Owners>>,
}

impl Files for InputFiles<'_> {
    fn leaf(&self, file: usize) -> &PlainFile {
        &self.inputs.files[file].leaf
    }

    fn whole(&self, file: usize) -> Result<FileBytes, Error> {
        let leaf = self.leaf(file);
        let bytes = whole(leaf, &self.spool)?;
        if leaf.is_packed() {
            self.meter.add_bytes(leaf.packed.len() as u64);
        }
        Ok(bytes)
    }

    fn stream(&self, file: usize, take: Take<'_>) -> Result<Option<EarlyEnd>, Error> {
        let leaf = self.leaf(file);
        // Count bytes before they are unpacked, because the total is the file's packed size.
        let mut unpacked = leaf.unpacked(Box::new(Metered::new(&*leaf.packed, self.meter)));
        let is_cancelled = || self.meter.is_cancelled();
        read_ahead(&mut unpacked, Cancel::when(&is_cancelled), |ahead| take(ahead))?;
        Ok(unpacked.damage().cloned())
    }

    fn owners(&self, file: usize) -> Option<&OnceLock<Owners>> {
        self.owners.get(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cancellation comes with the first bytes.
    struct Cancelling<'a> {
        meter: &'a Meter,
        left: u64,
    }

    impl Read for Cancelling<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.meter.cancel();
            let count = io::repeat(0).take(self.left).read(out)?;
            self.left -= count as u64;
            Ok(count)
        }
    }

    #[test]
    fn unpacking_to_the_disk_ends_after_the_chunk_that_is_being_read() {
        let directory = tempfile::tempdir().unwrap();
        let meter = Meter::default();
        let mut unpacked = Cancelling { meter: &meter, left: 3 * CHUNK_LEN };
        let kept = DiskSpool::new(directory.path(), &meter).keep(&mut unpacked);
        assert!(kept.is_err());
        assert_eq!(unpacked.left, 2 * CHUNK_LEN);
    }
}
