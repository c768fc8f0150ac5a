//! The input of a reader: the files of a plan, and the resources to read them.

use std::io::Read;
use std::sync::OnceLock;

use nprof_engine::model::{Sink, WarningKind};
use nprof_engine::spill::Space;

use crate::archive::limit::{self, DiskAllowance};
use crate::archive::unpack::EarlyEnd;
use crate::archive::{FileBytes, InMemory, PlainFile, Spool};
use crate::error::Error;
use crate::inputs::Plan;
use crate::origin::Origin;
use crate::owners::Owners;
use crate::refusal::FileRefusal;

/// The files of a profile, by their index in the list that was planned.
pub trait Files {
    /// A file as stored, still packed.
    fn leaf(&self, file: usize) -> &PlainFile;

    /// All bytes of a file, unpacked if they are packed.
    fn whole(&self, file: usize) -> Result<FileBytes, Error>;

    /// Calls `take` once, with a reader of the unpacked file. Damage of the packing ends the file
    /// and is returned.
    fn stream(&self, file: usize, take: Take<'_>) -> Result<Option<EarlyEnd>, Error>;

    /// Place for the ranks of a file's events, which the first pass over the file notes for the
    /// passes of the other ranks. `None` if nothing is kept between passes.
    fn owners(&self, _file: usize) -> Option<&OnceLock<Owners>> {
        None
    }
}

/// Reads a file to its end.
pub type Take<'t> = &'t mut dyn FnMut(&mut dyn Read) -> Result<(), Error>;

/// The files of a plan, and the resources to read them.
#[derive(Clone, Copy)]
pub struct ImportJob<'a> {
    /// The files to read, with their roles.
    pub plan: &'a Plan,
    /// Access to the files by index.
    pub files: &'a dyn Files,
    /// Memory and scratch space for sorting.
    pub space: Space<'a>,
    /// The time zero that the ranks of the profile share; `None` if the trace is alone.
    pub origin: Option<Origin>,
    /// Receives the number of bytes read of an unpacked trace. Packed files are counted by their
    /// reader.
    pub progress: &'a dyn Fn(u64),
}

/// The reason why a plan could not be read, and the file with the fault.
#[derive(Debug)]
pub struct Fault {
    /// The file's index in the list.
    pub file: usize,
    /// The error.
    pub source: Error,
}

impl ImportJob<'_> {
    /// Attributes an error to the trace.
    pub fn of_trace<T>(&self, result: Result<T, Error>) -> Result<T, Fault> {
        result.map_err(|source| Fault { file: self.plan.trace(), source })
    }

    /// Streams the trace into the file's only rank. Damage of its packing becomes a warning.
    pub fn stream_trace(
        &self,
        sinks: &mut dyn Sinks,
        mut read: impl FnMut(&mut dyn Read, &mut dyn Sink) -> Result<(), Error>,
    ) -> Result<(), Fault> {
        let Some(sink) = sinks.rank(0) else { return Ok(()) };
        let streamed = self.files.stream(self.plan.trace(), &mut |input| read(input, &mut *sink));
        if let Some(damage) = self.of_trace(streamed)? {
            warn_of(&damage, sink);
        }
        Ok(())
    }

    /// Reads the bytes of a trace that is not packed into the file's only rank. Damage that a
    /// checksum of its archive tells becomes a warning.
    pub fn plain_trace(
        &self,
        sinks: &mut dyn Sinks,
        read: impl FnOnce(&mut dyn Sink) -> Result<(), Error>,
    ) -> Result<(), Fault> {
        let Some(sink) = sinks.rank(0) else { return Ok(()) };
        self.of_trace(read(&mut *sink))?;
        if let Some(damage) = self.files.leaf(self.plan.trace()).damage() {
            warn_of(&damage, sink);
        }
        Ok(())
    }
}

/// Warns of a file that is damaged or was cut off.
pub fn warn_of(damage: &EarlyEnd, sink: &mut dyn Sink) {
    let what = "the file is cut off or damaged; nprof has read everything before this place";
    sink.warn(WarningKind::TruncatedInput, what, &|| format!("{}: {}", damage.place(), damage.what));
}

/// Unpacks a file as a whole. All files of a spool share its allowance.
///
/// # Errors
/// If unpacking fails, or the file is truncated. Readers of whole files rely on their lengths.
pub fn whole(leaf: &PlainFile, spool: &dyn Spool) -> Result<FileBytes, Error> {
    let refused = |damage: &EarlyEnd| Error::from(FileRefusal::damaged(damage.what.clone(), damage.place()));
    if let Some(plain) = leaf.plain() {
        return leaf.damage().map_or(Ok(plain), |damage| Err(refused(&damage)));
    }
    let own = DiskAllowance::default();
    let allowance = spool.allowance().unwrap_or(&own);
    let packed_len = leaf.packed.len() as u64;
    allowance.add_file(packed_len);
    let mut unpacked = leaf.reader();
    unpacked.limit(limit::spooled(packed_len).min(allowance.left()));
    let kept = spool.keep(&mut unpacked);
    allowance.take(unpacked.unpacked_len());
    let held = kept.map_err(|error| match error.kind() {
        // The storage is full, or the user has cancelled.
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::Other => Error::Io(error),
        _ => Error::from(unpacked.refusal(&error)),
    })?;
    if let Some(damage) = unpacked.damage() {
        return Err(refused(damage));
    }
    Ok(FileBytes::new(held))
}

/// Receiver of the ranks of a file.
pub trait Sinks {
    /// The sink of the file's `nth` rank, counted from 0 in the order of the file. `None` if that
    /// rank is not wanted now. A file of several ranks can be read once for each.
    fn rank(&mut self, nth: usize) -> Option<&mut dyn Sink>;
}

/// The sink of the only rank of a file.
pub struct OneRank<'s>(pub &'s mut dyn Sink);

impl Sinks for OneRank<'_> {
    fn rank(&mut self, nth: usize) -> Option<&mut dyn Sink> {
        (nth == 0).then_some(&mut *self.0)
    }
}

/// Files in memory: for fuzzing and tests.
pub struct MemoryFiles(pub Vec<PlainFile>);

impl Files for MemoryFiles {
    fn leaf(&self, file: usize) -> &PlainFile {
        &self.0[file]
    }

    fn whole(&self, file: usize) -> Result<FileBytes, Error> {
        whole(&self.0[file], &InMemory)
    }

    fn stream(&self, file: usize, take: Take<'_>) -> Result<Option<EarlyEnd>, Error> {
        let mut unpacked = self.0[file].reader();
        take(&mut unpacked)?;
        Ok(unpacked.damage().cloned())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use nprof_engine::fixture::Recorder;
    use nprof_engine::spill::MemoryScratch;

    use super::*;
    use crate::archive::fixture::{gzip, packed_by, zip, zstd};
    use crate::archive::open;
    use crate::formats::ntff::fixture::varied;
    use crate::formats::{perfetto, read as read_plan};
    use crate::inputs::{Candidate, plan};

    const TRACE: &[u8] = br#"[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"a"}]"#;

    /// Reads the only trace of a file. Returns the number of rows, and the warnings.
    fn read(bytes: Vec<u8>) -> Result<(usize, Vec<String>), Fault> {
        let leaves = open("x", FileBytes::new(Arc::new(bytes)), &InMemory).leaves;
        let candidates: Vec<Candidate> = leaves.iter().map(|leaf| leaf.candidate.clone()).collect();
        let plans = plan(&candidates).unwrap().plans;
        let (scratch, files, mut sink) = (MemoryScratch::default(), MemoryFiles(leaves), Recorder::default());
        let space = Space::new(&scratch);
        let job = ImportJob { plan: &plans[0], files: &files, space, origin: None, progress: &|_| {} };
        read_plan(&job, &mut OneRank(&mut sink))?;
        let warnings = sink.warnings().into_iter().map(|warning| warning.what).collect();
        Ok((sink.slices.len(), warnings))
    }

    #[test]
    fn every_format_reads_packed_what_it_reads_plain() {
        let tables: &[u8] =
            br#"{"instruction":[{"timestamp":10,"duration":5,"label":"Tensor","opcode":"X"}]}"#;
        for trace in [TRACE, tables, &varied().bytes(), &perfetto::fixture::varied()] {
            let plain = read(trace.to_vec()).unwrap();
            assert!(plain.0 > 0);
            for packed in [gzip(trace), zstd(trace), zip(&[("t", trace)]), zip(&[("t.gz", &gzip(trace))])] {
                assert_eq!(read(packed).unwrap(), plain);
            }
        }
    }

    #[test]
    fn a_cut_packing_is_a_warning_where_events_come_one_by_one() {
        let events: Vec<u8> =
            (0..9_000).flat_map(|n| format!("{{\"ph\":\"X\",\"ts\":{n}}},").into_bytes()).collect();
        let packed = gzip(&[b"[", &events[..]].concat());
        let (rows, warnings) = read(packed[..packed.len() / 2].to_vec()).unwrap();
        assert!(rows > 100, "{rows}");
        assert!(warnings.iter().any(|what| what.contains("cut off or damaged")), "{warnings:?}");
    }

    #[test]
    fn an_entry_of_a_zip_with_another_checksum_is_a_warning_or_an_error() {
        let stated = |bytes: &[u8], crc: u32| {
            packed_by(0, "t", bytes, crate::archive::fixture::EntryHeader { len: bytes.len(), crc })
        };
        let (trace, packets, whole) = (TRACE, perfetto::fixture::varied(), varied().bytes());
        for bytes in [trace, &packets] {
            let right = read(stated(bytes, crc32fast::hash(bytes))).unwrap();
            let (rows, warnings) = read(stated(bytes, 7)).unwrap();
            assert_eq!(rows, right.0);
            assert_eq!(warnings.len(), right.1.len() + 1, "{warnings:?}");
            assert!(warnings.iter().any(|what| what.contains("cut off or damaged")), "{warnings:?}");
        }
        assert!(read(stated(&whole, crc32fast::hash(&whole))).is_ok());
        let said = read(stated(&whole, 7)).unwrap_err().source.to_string();
        assert!(said.contains("its checksum differs"), "{said}");
    }

    #[test]
    fn files_that_are_unpacked_as_a_whole_share_an_allowance() {
        struct Sharing(DiskAllowance);

        impl Spool for Sharing {
            fn keep(&self, unpacked: &mut dyn Read) -> std::io::Result<crate::archive::SharedBytes> {
                InMemory.keep(unpacked)
            }

            fn allowance(&self) -> Option<&DiskAllowance> {
                Some(&self.0)
            }
        }

        let packed = zstd(&[0; 1 << 20]);
        assert!(1_100 * packed.len() < 1 << 19, "{} bytes", packed.len());
        let leaf = open("x.zst", FileBytes::new(Arc::new(packed)), &InMemory).leaves.remove(0);
        let spool = Sharing(DiskAllowance::of(3 << 19));
        assert!(whole(&leaf, &spool).is_ok());
        let said = whole(&leaf, &spool).err().unwrap().to_string();
        assert!(said.contains("unpacks to more than"), "{said}");
    }

    #[test]
    fn a_cut_packing_is_an_error_where_the_whole_file_is_needed() {
        let packed = gzip(&varied().bytes());
        let fault = read(packed[..packed.len() - 12].to_vec()).unwrap_err();
        assert_eq!(fault.file, 0);
        let said = fault.source.to_string();
        assert!(said.contains("of the unpacked file"), "{said}");
    }
}
