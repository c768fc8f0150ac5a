//! How far an ingest is, an export or a check, and the wish to stop it: written by the threads that work, watched by a
//! progress bar or a page.

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

/// What an ingest is doing, an export or a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Hashing the inputs, to know whether the profile is already there.
    Identifying,
    /// Reading events.
    Reading,
    /// Making them last.
    Publishing,
    /// Checking what was made.
    Verifying,
    /// Writing in another format.
    Exporting,
}

impl Stage {
    const ALL: [Self; 5] =
        [Self::Identifying, Self::Reading, Self::Publishing, Self::Verifying, Self::Exporting];
}

/// Counts of one ingest. All of its threads share it.
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

    /// Asks the ingest to stop; it ends soon with [`crate::ingest::IngestError::Cancelled`].
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether it shall stop.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// What it is doing.
    #[must_use]
    pub fn stage(&self) -> Stage {
        Stage::ALL[usize::from(self.stage.load(Ordering::Relaxed)).min(Stage::ALL.len() - 1)]
    }

    /// Bytes of this stage: read so far (written, of an export), and in all where that is known.
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

/// A reader or writer whose bytes are counted, and that ends with an error once the work shall stop.
#[derive(Debug)]
pub struct Metered<'a, R> {
    inner: R,
    meter: &'a Meter,
}

impl<'a, T> Metered<'a, T> {
    /// Over a reader or writer.
    pub fn new(inner: T, meter: &'a Meter) -> Self {
        Self { inner, meter }
    }

    /// What it is over.
    pub fn into_inner(self) -> T {
        self.inner
    }

    fn goes_on(&self) -> io::Result<()> {
        // Not `Interrupted`: readers would try again.
        if self.meter.is_cancelled() { Err(io::Error::other("cancelled")) } else { Ok(()) }
    }
}

impl<R: Read> Read for Metered<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.goes_on()?;
        let count = self.inner.read(buffer)?;
        self.meter.add_bytes(count as u64);
        Ok(count)
    }
}

impl<W: Write> Write for Metered<'_, W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.goes_on()?;
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
        assert!(reader.read(&mut [0; 4]).is_err());
        assert_eq!(meter.bytes(), (4, 10));
        meter.begin(Stage::Publishing, 0);
        assert_eq!((meter.bytes(), meter.stage()), ((0, 0), Stage::Publishing));
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
