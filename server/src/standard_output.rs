//! Standard output that was closed when the program began.
//!
//! Before `main`, Rust opens `/dev/null` in the place of a closed standard output, so that no file
//! gets its number by accident. All that is written would be lost without an error. So the state is
//! taken earlier, by a constructor of the program.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::{Errno, fcntl_getfd};

/// Whether standard output was closed.
static IS_CLOSED: AtomicBool = AtomicBool::new(false);

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "nothing else runs before Rust opens standard output")]
// SAFETY: the section holds pointers to functions that the loader calls once, before `main`. `look`
// needs nothing that Rust sets up in `main`: it makes one call of the system and sets an atomic.
#[unsafe(link_section = ".init_array")]
#[used]
static LOOK: extern "C" fn() = look;

#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only the loader of Linux calls it"))]
extern "C" fn look() {
    let is_closed = fcntl_getfd(rustix::stdio::stdout()) == Err(Errno::BADF);
    IS_CLOSED.store(is_closed, Ordering::Relaxed);
}

/// Standard output. If it was closed, each write fails.
#[must_use]
pub fn standard_output() -> Box<dyn Write> {
    if is_closed() { Box::new(Closed) } else { Box::new(io::stdout().lock()) }
}

/// Returns true if standard output was closed when the program began.
#[must_use]
pub fn is_closed() -> bool {
    IS_CLOSED.load(Ordering::Relaxed)
}

/// A closed output.
struct Closed;

impl Write for Closed {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        Err(Errno::BADF.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
