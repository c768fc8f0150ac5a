//! Progress and cancellation of an ingest, an export or a check. Working threads write it; a
//! progress bar or a page reads it.

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use nprof_engine::exec::Cancel;
use serde::{Deserialize, Serialize};

/// Stage of an ingest, an export or a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Stage {
    /// Hashing the inputs, to know whether the profile is already there.
    Identifying,
    /// Reading events.
    Reading,
    /// Writing the profile durably to the store.
    Publishing,
    /// Checking profiles.
    Verifying,
    /// Writing another format.
    Exporting,
    /// Comparing the ranks of a profile.
    Analysing,
}

impl Stage {
    const ALL: [Self; 6] = [
        Self::Identifying,
        Self::Reading,
        Self::Publishing,
        Self::Verifying,
        Self::Exporting,
        Self::Analysing,
    ];
}

/// State of a [`Meter`] at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Stage of the work.
    pub stage: Stage,
    /// Bytes of this stage read so far.
    pub read_bytes: u64,
    /// Bytes of this stage in total; 0 if not known.
    pub total_bytes: u64,
    /// Slices, instants and samples read so far.
    pub events: u64,
}

/// Counters of one ingest, shared by all of its threads.
#[derive(Debug, Default)]
pub struct Meter {
    stage: AtomicU8,
    total_bytes: AtomicU64,
    read_bytes: AtomicU64,
    events: AtomicU64,
    cancelled: AtomicBool,
}

impl Meter {
    /// Begins a stage in which this many bytes are read.
    pub fn begin(&self, stage: Stage, total_bytes: u64) {
        self.read_bytes.store(0, Ordering::Relaxed);
        self.total_bytes.store(total_bytes, Ordering::Relaxed);
        self.stage.store(stage as u8, Ordering::Relaxed);
    }

    /// Counts bytes.
    pub fn add_bytes(&self, count: u64) {
        self.read_bytes.fetch_add(count, Ordering::Relaxed);
    }

    /// Counts slices, instants and samples.
    pub fn add_events(&self, count: u64) {
        self.events.fetch_add(count, Ordering::Relaxed);
    }

    /// The counters.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let (read_bytes, total_bytes) = self.bytes();
        Progress { stage: self.stage(), read_bytes, total_bytes, events: self.events() }
    }

    /// Shows the progress of another process.
    pub fn show(&self, progress: Progress) {
        let Progress { stage, read_bytes, total_bytes, events } = progress;
        self.stage.store(stage as u8, Ordering::Relaxed);
        self.read_bytes.store(read_bytes, Ordering::Relaxed);
        self.total_bytes.store(total_bytes, Ordering::Relaxed);
        self.events.store(events, Ordering::Relaxed);
    }

    /// Cancels the ingest. It ends soon with [`crate::ingest::IngestError::Cancelled`].
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Returns true after [`Self::cancel`].
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Returns an error after [`Self::cancel`].
    pub fn check(&self) -> nprof_engine::base::Result<()> {
        Cancel::when(&|| self.is_cancelled()).check()
    }

    /// [`Self::check`] for readers and writers.
    ///
    /// # Errors
    /// The engine's `Cancelled`, wrapped. Its kind is not `Interrupted`, because readers would try
    /// again.
    pub fn check_io(&self) -> io::Result<()> {
        self.check().map_err(io::Error::other)
    }

    /// Current stage.
    #[must_use]
    pub fn stage(&self) -> Stage {
        Stage::ALL[usize::from(self.stage.load(Ordering::Relaxed)).min(Stage::ALL.len() - 1)]
    }

    /// Bytes of this stage: read so far (for an export: written), and in total if known.
    #[must_use]
    pub fn bytes(&self) -> (u64, u64) {
        (self.read_bytes.load(Ordering::Relaxed), self.total_bytes.load(Ordering::Relaxed))
    }

    /// Slices, instants and samples read so far.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events.load(Ordering::Relaxed)
    }
}

/// A reader or writer that counts its bytes. It fails after the work was cancelled.
#[derive(Debug)]
pub struct Metered<'a, R> {
    inner: R,
    meter: &'a Meter,
}

impl<'a, T> Metered<'a, T> {
    /// Wraps a reader or writer.
    pub fn new(inner: T, meter: &'a Meter) -> Self {
        Self { inner, meter }
    }

    /// The wrapped reader or writer.
    pub fn into_inner(self) -> T {
        self.inner
    }
}

impl<R: Read> Read for Metered<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.meter.check_io()?;
        let count = self.inner.read(buffer)?;
        self.meter.add_bytes(count as u64);
        Ok(count)
    }
}

impl<W: Write> Write for Metered<'_, W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.meter.check_io()?;
        let count = self.inner.write(buffer)?;
        self.meter.add_bytes(count as u64);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted_until_cancelled() {
        let meter = Meter::default();
        meter.begin(Stage::Reading, 10);
        let mut reader = Metered::new(&[7_u8; 10][..], &meter);
        reader.read_exact(&mut [0; 4]).unwrap();
        assert_eq!((meter.bytes(), meter.stage()), ((4, 10), Stage::Reading));
        meter.cancel();
        let error = reader.read(&mut [0; 4]).unwrap_err();
        let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<nprof_engine::base::Error>());
        assert_eq!(cause, Some(&nprof_engine::base::Error::Cancelled), "{error:?}");
        assert_eq!(meter.bytes(), (4, 10));
        meter.begin(Stage::Publishing, 0);
        assert_eq!((meter.bytes(), meter.stage()), ((0, 0), Stage::Publishing));
    }

    #[test]
    fn a_meter_shows_what_another_one_counted() {
        let (theirs, ours) = (Meter::default(), Meter::default());
        theirs.begin(Stage::Reading, 10);
        theirs.add_bytes(4);
        theirs.add_events(3);
        for _ in 0..2 {
            ours.show(theirs.progress());
            assert_eq!((ours.stage(), ours.bytes(), ours.events()), (Stage::Reading, (4, 10), 3));
        }
    }

    #[test]
    fn written_bytes_are_counted_until_cancelled() {
        let meter = Meter::default();
        meter.begin(Stage::Exporting, 0);
        let mut writer = Metered::new(Vec::new(), &meter);
        writer.write_all(b"half").unwrap();
        assert_eq!(meter.bytes(), (4, 0));
        meter.cancel();
        assert!(writer.write_all(b" and half").is_err());
        assert_eq!(writer.into_inner(), b"half");
    }
}
