//! Who does the work of encoding. The engine has no threads of its own: it says which tasks there are.

use std::sync::OnceLock;

use crate::codec::Encoder;

/// Runs tasks, at the same time where it can.
pub trait Workers: Send {
    /// Runs `task` for every number below `count`, each with working memory that nobody else uses meanwhile, and returns
    /// when all are done.
    fn run(&mut self, count: usize, task: &(dyn Fn(usize, &mut Encoder) + Sync));
}

/// What the tasks give, in the order of their numbers.
pub fn gather<T: Send + Sync>(
    workers: &mut dyn Workers,
    count: usize,
    task: impl Fn(usize, &mut Encoder) -> T + Sync,
) -> Vec<T> {
    let slots: Vec<OnceLock<T>> = (0..count).map(|_| OnceLock::new()).collect();
    workers.run(count, &|at, encoder| {
        // Each task runs once.
        let _ = slots[at].set(task(at, encoder));
    });
    slots.into_iter().map(|slot| slot.into_inner().expect("workers run every task")).collect()
}

/// Runs tasks one after the other, right here.
#[derive(Debug, Default)]
pub struct Alone(Encoder);

impl Workers for Alone {
    fn run(&mut self, count: usize, task: &(dyn Fn(usize, &mut Encoder) + Sync)) {
        (0..count).for_each(|index| task(index, &mut self.0));
    }
}
