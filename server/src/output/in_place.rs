//! Writing to pipes and devices without a wait that no signal ends: the other end of a pipe can be
//! missing, or read nothing.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::work::Meter;

/// Time between two looks at the cancellation.
const TICK: Duration = Duration::from_millis(50);

/// A pipe or a device. Waits end soon after the work was cancelled.
pub(super) struct InPlace<'a> {
    file: File,
    meter: &'a Meter,
}

impl<'a> InPlace<'a> {
    /// Opens a pipe, a device or a descriptor. Waits for the reader of a pipe that has a name.
    pub(super) fn open(path: &Path, meter: &'a Meter) -> io::Result<Self> {
        let kind = path.metadata()?.file_type();
        let mut options = OpenOptions::new();
        // A descriptor of a file stands at its end, where the shell's redirection has put it.
        options.write(true).append(kind.is_file()).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
        loop {
            match options.open(path) {
                Err(error) if kind.is_fifo() && Errno::from_io_error(&error) == Some(Errno::NXIO) => {
                    meter.check_io()?;
                    thread::sleep(TICK);
                }
                opened => return Ok(Self { file: opened?, meter }),
            }
        }
    }
}

impl Write for InPlace<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            self.meter.check_io()?;
            match self.file.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let tick = Timespec { tv_sec: 0, tv_nsec: TICK.subsec_nanos().into() };
                    let waited = poll(&mut [PollFd::new(&self.file, PollFlags::OUT)], Some(&tick));
                    match waited {
                        Err(errno) if errno != Errno::INTR => return Err(errno.into()),
                        _ => {}
                    }
                }
                written => return written,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
