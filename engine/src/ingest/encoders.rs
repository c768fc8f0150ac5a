//! Encoders for tasks that run at the same time. Each task has its own encoder.

use std::sync::Mutex;

use crate::codec::Encoder;
use crate::exec::{Exec, gather};

/// Runs encoding tasks and reuses the working memory of encoders between tasks.
pub struct Encoders<'a> {
    exec: &'a dyn Exec,
    /// Encoders that no task uses now.
    free: Mutex<Vec<Encoder>>,
}

impl<'a> Encoders<'a> {
    /// Creates a pool without working memory.
    #[must_use]
    pub fn new(exec: &'a dyn Exec) -> Self {
        Self { exec, free: Mutex::default() }
    }

    /// Runs `count` tasks and returns their results in the order of task numbers.
    pub fn gather<T: Send + Sync>(
        &self,
        count: usize,
        task: impl Fn(usize, &mut Encoder) -> T + Sync,
    ) -> Vec<T> {
        gather(self.exec, count, |at| self.with(|encoder| task(at, encoder)))
    }

    /// Runs a task here.
    pub fn with<T>(&self, task: impl FnOnce(&mut Encoder) -> T) -> T {
        let mut encoder = self.free.lock().ok().and_then(|mut free| free.pop()).unwrap_or_default();
        let result = task(&mut encoder);
        if let Ok(mut free) = self.free.lock() {
            free.push(encoder);
        }
        result
    }
}
