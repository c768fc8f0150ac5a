//! Progress of dependency graphs that are being made.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use nprof_engine::wire::graph_progress::{GraphProgress, GraphStage};

/// Stages in their order, by the number that [`GraphMeter`] holds.
const STAGES: [GraphStage; 3] = [GraphStage::Calls, GraphStage::Work, GraphStage::Edges];

/// Progress of one graph.
#[derive(Debug, Default)]
pub struct GraphMeter {
    stage: AtomicU8,
    done: AtomicU32,
}

impl GraphMeter {
    /// The calls are compared.
    pub fn begin_work(&self) {
        self.stage.store(1, Ordering::Relaxed);
    }

    /// The work of one more rank is read.
    pub fn rank_is_read(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// The work of all ranks is read.
    pub fn begin_edges(&self) {
        self.stage.store(2, Ordering::Relaxed);
    }

    /// The progress of a profile of so many ranks.
    #[must_use]
    pub fn progress(&self, ranks: u32) -> GraphProgress {
        let stage = STAGES[usize::from(self.stage.load(Ordering::Relaxed))];
        GraphProgress { stage, done: self.done.load(Ordering::Relaxed).min(ranks), ranks }
    }
}

/// The meters of all graphs that are being made, by a key of their profiles.
#[derive(Debug, Default)]
pub struct GraphMeters(Mutex<HashMap<String, Arc<GraphMeter>>>);

impl GraphMeters {
    /// Makes a graph with a meter, which is known meanwhile.
    pub fn metered<T>(&self, key: &str, make: impl FnOnce(&GraphMeter) -> T) -> T {
        let meter = Arc::new(GraphMeter::default());
        self.all().insert(key.to_owned(), Arc::clone(&meter));
        let _forgotten = Forgotten { meters: self, key };
        make(&meter)
    }

    /// The meter of a graph that is being made.
    #[must_use]
    pub fn of(&self, key: &str) -> Option<Arc<GraphMeter>> {
        self.all().get(key).cloned()
    }

    fn all(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<GraphMeter>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes a meter out at its end, also if the work panics.
struct Forgotten<'m> {
    meters: &'m GraphMeters,
    key: &'m str,
}

impl Drop for Forgotten<'_> {
    fn drop(&mut self) {
        self.meters.all().remove(self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_tells_its_progress_while_it_is_made() {
        let meters = GraphMeters::default();
        assert!(meters.of("a").is_none());
        meters.metered("a", |meter| {
            let progress = || meters.of("a").unwrap().progress(4);
            assert_eq!(progress(), GraphProgress { stage: GraphStage::Calls, done: 0, ranks: 4 });
            meter.begin_work();
            (0..3).for_each(|_| meter.rank_is_read());
            assert_eq!(progress(), GraphProgress { stage: GraphStage::Work, done: 3, ranks: 4 });
            meter.begin_edges();
            assert_eq!(progress().stage, GraphStage::Edges);
        });
        assert!(meters.of("a").is_none());
    }
}
