//! The end of a command whose input shrinks, or cannot be read, while nprof reads it.
//!
//! Readers take inputs from memory maps. The kernel tells of missing bytes by `SIGBUS`, and no
//! reader can go on from there. So the handler writes one line and ends the process. The store
//! stays as it was: nothing is published before the reading has ended, and the next command that
//! changes the store clears `tmp/`. An upload is read by a child, whose server says the same.

use std::ffi::c_int;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::libc;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

use crate::ingest::NamedInputs;
use crate::terminal::visible;

/// Exit code of a failure.
const FAILURE: c_int = 1;

/// The line that the handler writes.
static LINE: OnceLock<Vec<u8>> = OnceLock::new();
/// True once a thread has met missing bytes. Others can meet them at the same time.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// Ends the process with one line if an input becomes shorter from here on.
pub(super) fn watch_for(inputs: &NamedInputs) {
    watch(&inputs.paths().map(|path| &**path).collect::<Vec<&Path>>());
}

/// Ends the process with one line if one of these files becomes shorter from here on.
pub(super) fn watch(inputs: &[&Path]) {
    LINE.get_or_init(|| line(inputs, io::stderr().is_terminal()).into_bytes());
    let action = SigAction::new(SigHandler::Handler(end), SaFlags::empty(), SigSet::empty());
    #[expect(unsafe_code, reason = "a handler of a signal has no safe interface")]
    // SAFETY: `end` calls nothing but functions that a handler may call: `write`, `pause`, `_exit`
    // and loads of atomics. It never returns to the code that read the missing bytes.
    let installed = unsafe { sigaction(Signal::SIGBUS, &action) };
    if let Err(error) = installed {
        tracing::warn!("cannot install the handler of SIGBUS ({error}); an input that shrinks ends nprof");
    }
}

fn line(inputs: &[&Path], on_terminal: bool) -> String {
    let which = match inputs {
        [only] => visible(&only.display().to_string()).into_owned(),
        all => format!("one of {} inputs", all.len()),
    };
    // A progress bar may stand in the line of a terminal.
    let start = if on_terminal { "\n" } else { "" };
    format!(
        "{start}nprof: {which}: the file became shorter or could not be read during the ingest; the store is \
         unchanged; run the command again when nothing writes to the file\n"
    )
}

extern "C" fn end(_signal: c_int) {
    if IS_ENDING.swap(true, Ordering::Relaxed) {
        loop {
            nix::unistd::pause();
        }
    }
    if let Some(line) = LINE.get() {
        // Nobody may read the standard error.
        let _ = rustix::io::write(io::stderr(), line);
    }
    #[expect(unsafe_code, reason = "`exit` would run code that a handler must not run")]
    // SAFETY: `_exit` has no condition, and a handler may call it.
    unsafe {
        libc::_exit(FAILURE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_names_the_only_input() {
        let said = line(&[Path::new("a\u{1b}b.json")], false);
        assert!(said.starts_with("nprof: a") && said.contains("b.json: the file became shorter"), "{said}");
        assert!(!said.contains('\u{1b}') && said.lines().count() == 1, "{said}");
        let said = line(&[Path::new("a"), Path::new("b")], true);
        assert!(said.starts_with("\nnprof: one of 2 inputs: "), "{said}");
    }
}
