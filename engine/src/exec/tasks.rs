//! Independent tasks.

use std::sync::OnceLock;

/// Runs tasks, in parallel if it can.
pub trait Exec: Sync {
    /// Runs `task` for every number below `count`. Returns when all are done.
    fn run(&self, count: usize, task: &(dyn Fn(usize) + Sync));

    /// Runs both tasks to their ends. `aside` can run on another thread.
    fn beside(&self, aside: &mut (dyn FnMut() + Send), here: &mut dyn FnMut());

    /// Whether the tasks of [`Exec::beside`] run in parallel. If not, one must not wait for the
    /// other.
    fn is_parallel(&self) -> bool;
}

/// Runs tasks one after the other, on the caller's thread.
#[derive(Debug, Clone, Copy, Default)]
pub struct CallerThread;

impl Exec for CallerThread {
    fn run(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        (0..count).for_each(task);
    }

    fn beside(&self, aside: &mut (dyn FnMut() + Send), here: &mut dyn FnMut()) {
        here();
        aside();
    }

    fn is_parallel(&self) -> bool {
        false
    }
}

/// Results of `count` tasks, in the order of their numbers.
pub fn gather<T: Send + Sync>(exec: &dyn Exec, count: usize, task: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let slots: Vec<OnceLock<T>> = (0..count).map(|_| OnceLock::new()).collect();
    exec.run(count, &|at| {
        // Each number comes once, so the slot is free.
        slots[at].set(task(at)).ok();
    });
    slots.into_iter().map(|slot| slot.into_inner().expect("every task is run")).collect()
}
