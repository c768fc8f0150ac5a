//! Work that cannot be cancelled in the middle, on a thread of its own. A caller that gives it up
//! goes on at once.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use nprof_engine::exec::Cancel;

/// Time between two looks at the cancellation.
const TICK: Duration = Duration::from_millis(50);

/// Runs `work` and returns its result. `None` within [`TICK`] after a cancellation: the thread then
/// goes on until `work` sees that its flag is set, and its result is dropped.
pub(super) fn abandonable<T: Send + 'static>(
    cancel: Cancel<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send + 'static,
) -> Option<T> {
    let is_given_up = Arc::new(AtomicBool::new(false));
    let (send, receive) = channel();
    let flag = Arc::clone(&is_given_up);
    let thread = thread::spawn(move || {
        // Fails only if nobody waits any more.
        let _ = send.send(work(&flag));
    });
    while !cancel.is_cancelled() {
        match receive.recv_timeout(TICK) {
            Ok(done) => return Some(done),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Ok(()) => return None,
                Err(panic) => resume_unwind(panic),
            },
        }
    }
    is_given_up.store(true, Ordering::Relaxed);
    None
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn work_that_is_given_up_holds_nobody_up() {
        let (told, hears) = channel();
        let (release, released) = channel::<()>();
        let start = Instant::now();
        let cancel = || start.elapsed() > Duration::from_millis(20);
        let given_up = abandonable(Cancel::when(&cancel), move |flag| {
            let _ = released.recv();
            let _ = told.send(flag.load(Ordering::Relaxed));
        });
        // Its thread still waits: without a thread of its own, this line would never be reached.
        assert_eq!(given_up, None);
        drop(release);
        assert_eq!(hears.recv(), Ok(true));
        assert_eq!(abandonable(Cancel::NEVER, |_| 7), Some(7));
    }

    #[test]
    #[should_panic(expected = "in the work")]
    fn a_panic_of_the_work_is_one_of_the_caller() {
        let _ = abandonable::<()>(Cancel::NEVER, |_| panic!("in the work"));
    }
}
