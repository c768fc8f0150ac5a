//! Threads that the system can refuse, for example in a container with a limit of processes.

use std::error::Error;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder};

/// Threads that a process has at once beside those of its pools.
const OTHERS: usize = 8;

/// Starts the threads that [`super::AllCores`] uses, and checks that the system allows as many
/// again, and some more. A command that starts threads calls this first: a refusal in the middle of
/// the work would be a panic. Costs less than a millisecond.
///
/// # Errors
/// If the system allows too few threads. The error says what to do.
pub fn start_threads() -> io::Result<()> {
    if let Err(error) = rayon::ThreadPoolBuilder::new().build_global()
        // Without a cause, the pool has been started before.
        && let Some(cause) = error.source()
    {
        return Err(refused(&cause));
    }
    let gate = Mutex::new(());
    thread::scope(|scope| {
        // The threads end when the gate opens, so they exist at the same time.
        let _closed = gate.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..rayon::current_num_threads() + OTHERS {
            let start = Builder::new().spawn_scoped(scope, || drop(gate.lock()));
            start.map_err(|error| refused(&error))?;
        }
        Ok(())
    })
}

fn refused(cause: &dyn std::fmt::Display) -> io::Error {
    io::Error::new(
        io::ErrorKind::WouldBlock,
        format!(
            "the system allows no more threads ({cause}); raise the limit of processes, with `ulimit -u` or \
             that of the container"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_started_once_and_checked_each_time() {
        start_threads().unwrap();
        start_threads().unwrap();
    }
}
