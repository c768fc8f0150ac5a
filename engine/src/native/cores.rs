//! Work on all cores.

use rayon::prelude::*;

use crate::exec::Exec;

/// Shares tasks among the threads of the process-wide pool.
#[derive(Debug, Clone, Copy)]
pub struct AllCores;

impl Exec for AllCores {
    fn run(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        // One task at a time each: of the tasks of an encoder the first takes as long as several others.
        (0..count).into_par_iter().with_max_len(1).for_each(task);
    }

    fn beside(&self, aside: &mut (dyn FnMut() + Send), here: &mut dyn FnMut()) {
        // A thread of its own: tasks of the pool may wait for `here`.
        std::thread::scope(|scope| {
            scope.spawn(aside);
            here();
        });
    }

    fn is_parallel(&self) -> bool {
        true
    }
}
