//! Why a child ended without a report.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use rustix::process::Signal;

/// End of a child that sent no report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildEnd {
    /// It gave up: usually because the system refused further memory. The limit in bytes.
    GaveUp(u64),
    /// It used up its processor time.
    OutOfTime,
    /// A mapped file ended before its length, or could not be read.
    InputLost,
    /// Somebody killed it, for example the system for want of memory.
    Killed,
    /// It crashed or panicked.
    Crashed,
}

impl ChildEnd {
    /// Reads the status of a child whose memory was limited to these bytes.
    #[must_use]
    pub fn of(status: ExitStatus, memory_bytes: u64) -> Self {
        let is = |signal: Signal| status.signal() == Some(signal.as_raw());
        match () {
            () if is(Signal::ABORT) => Self::GaveUp(memory_bytes),
            () if is(Signal::XCPU) => Self::OutOfTime,
            () if is(Signal::BUS) => Self::InputLost,
            () if is(Signal::KILL) || is(Signal::TERM) || is(Signal::INT) => Self::Killed,
            () => Self::Crashed,
        }
    }
}

impl fmt::Display for ChildEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GaveUp(limit_bytes) => write!(
                f,
                "the process needs more memory than the limit of {} MiB, or stopped because of a bug in nprof",
                limit_bytes >> 20
            ),
            Self::OutOfTime => {
                f.write_str("the process took more processor time than an input of this size may take")
            }
            Self::InputLost => f.write_str("an input became shorter or could not be read meanwhile"),
            Self::Killed => {
                f.write_str("the process was killed, perhaps because the server's machine is short of memory")
            }
            Self::Crashed => {
                f.write_str("the process failed because of a bug in nprof; please report the bug")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMORY_BYTES: u64 = 64 << 20;

    #[test]
    fn each_signal_has_its_reason() {
        let of = |signal: Signal| ChildEnd::of(ExitStatus::from_raw(signal.as_raw()), MEMORY_BYTES);
        assert_eq!(of(Signal::ABORT), ChildEnd::GaveUp(MEMORY_BYTES));
        assert_eq!(of(Signal::XCPU), ChildEnd::OutOfTime);
        assert_eq!(of(Signal::BUS), ChildEnd::InputLost);
        assert_eq!(of(Signal::KILL), ChildEnd::Killed);
        assert_eq!(of(Signal::SEGV), ChildEnd::Crashed);
        // A panic of the main thread.
        assert_eq!(ChildEnd::of(ExitStatus::from_raw(101 << 8), MEMORY_BYTES), ChildEnd::Crashed);
    }
}
