//! Encoding on all cores.

use std::sync::Mutex;

use rayon::prelude::*;

use crate::codec::Encoder;
use crate::ingest::Workers;
use crate::spill::Together;

/// Shares tasks among the threads of the process-wide pool.
#[derive(Debug, Default)]
pub struct Threads {
    /// Working memory that no task uses now.
    free: Mutex<Vec<Encoder>>,
}

impl Workers for Threads {
    fn run(&mut self, count: usize, task: &(dyn Fn(usize, &mut Encoder) + Sync)) {
        let free = &self.free;
        // One task at a time each: the first, which must see all rows, takes as long as several others.
        (0..count).into_par_iter().with_max_len(1).for_each(|index| {
            let mut encoder = free.lock().ok().and_then(|mut free| free.pop()).unwrap_or_default();
            task(index, &mut encoder);
            if let Ok(mut free) = free.lock() {
                free.push(encoder);
            }
        });
    }
}

/// Runs the task that may go aside on a thread of its own.
#[derive(Debug, Clone, Copy)]
pub struct TwoThreads;

impl Together for TwoThreads {
    fn run(&self, aside: &mut (dyn FnMut() + Send), here: &mut dyn FnMut()) {
        std::thread::scope(|scope| {
            scope.spawn(aside);
            here();
        });
    }

    fn is_at_once(&self) -> bool {
        true
    }
}
