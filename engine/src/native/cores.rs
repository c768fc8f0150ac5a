//! Runs work on all cores.

use rayon::prelude::*;

use crate::exec::Exec;

/// Shares tasks among the threads of the process-wide pool.
#[derive(Debug, Clone, Copy)]
pub struct AllCores;

impl Exec for AllCores {
    fn run(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        // One task at a time per thread: the first task of an encoder takes as long as several
        // others.
        (0..count).into_par_iter().with_max_len(1).for_each(task);
    }

    fn beside(&self, aside: &mut (dyn FnMut() + Send), here: &mut dyn FnMut()) {
        // A separate thread: tasks of the pool can wait for `here`.
        std::thread::scope(|scope| {
            scope.spawn(aside);
            here();
        });
    }

    fn is_parallel(&self) -> bool {
        true
    }
}
