//! Sorting of long lists on all cores.

use std::sync::Mutex;

use super::Exec;

/// Parts that are sorted one beside the other.
const PARTS: usize = 4;
/// Shorter lists are sorted at once.
const LEAST: usize = 1 << 16;

/// Sorts a list as [`slice::sort_by_key`] does. Parts are sorted on all cores; the sort of the
/// whole then only merges them.
pub fn sort_by_key<T: Send, K: Ord>(exec: &dyn Exec, items: &mut [T], key: impl Fn(&T) -> K + Sync) {
    if exec.is_parallel() && items.len() >= LEAST {
        let parts = items.chunks_mut(items.len().div_ceil(PARTS)).map(Mutex::new);
        let parts: Vec<Mutex<&mut [T]>> = parts.collect();
        exec.run(parts.len(), &|at| {
            if let Ok(mut part) = parts[at].lock() {
                part.sort_by_key(&key);
            }
        });
    }
    items.sort_by_key(key);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::CallerThread;

    /// Says that it is parallel, and runs the tasks from the last to the first.
    struct Backwards;

    impl Exec for Backwards {
        fn run(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
            (0..count).rev().for_each(task);
        }

        fn beside(&self, aside: &mut (dyn FnMut() + Send), here: &mut dyn FnMut()) {
            CallerThread.beside(aside, here);
        }

        fn is_parallel(&self) -> bool {
            true
        }
    }

    #[test]
    fn equal_items_keep_their_order() {
        for len in [0, 1, 10, LEAST, LEAST + 3] {
            let items: Vec<(usize, usize)> = (0..len).map(|at| (at * 7_919 % 1_000, at)).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            let mut sorted = items;
            sort_by_key(&Backwards, &mut sorted, |item| item.0);
            assert_eq!(sorted, expected, "{len}");
        }
    }
}
