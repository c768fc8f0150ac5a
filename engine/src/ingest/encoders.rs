//! Encoders for tasks that run at the same time: each task has one that no other uses meanwhile.

use std::sync::Mutex;

use crate::codec::Encoder;
use crate::exec::{Exec, gather};

/// Runs encoding tasks, and keeps the encoders' working memory from one task to the next.
pub struct Encoders<'a> {
    exec: &'a dyn Exec,
    /// Those that no task uses now.
    free: Mutex<Vec<Encoder>>,
}

impl<'a> Encoders<'a> {
    /// Without working memory yet.
    #[must_use]
    pub fn new(exec: &'a dyn Exec) -> Self {
        Self { exec, free: Mutex::default() }
    }

    /// The results of `count` tasks, in the order of their numbers.
    pub fn gather<T: Send + Sync>(
        &self,
        count: usize,
        task: impl Fn(usize, &mut Encoder) -> T + Sync,
    ) -> Vec<T> {
        gather(self.exec, count, |at| {
            let mut encoder = self.free.lock().ok().and_then(|mut free| free.pop()).unwrap_or_default();
            let result = task(at, &mut encoder);
            if let Ok(mut free) = self.free.lock() {
                free.push(encoder);
            }
            result
        })
    }
}
