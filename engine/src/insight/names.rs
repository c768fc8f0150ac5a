//! Names of work.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::graph::JobGraph;
use crate::model::{MachineSide, RankWork, Role};

/// A name that a class of work has beside its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClassName {
    /// The engine that executes it.
    Engine,
    /// The DMA queue that moves it.
    DmaQueue,
    /// The layer of the model that contains it.
    Layer,
}

impl ClassName {
    /// The name of a class of a rank.
    pub(super) fn of(self, work: &RankWork, class: usize) -> Option<&str> {
        let class = work.classes[class];
        let queue = &work.queues[class.queue as usize];
        let is_of = match self {
            Self::Engine => matches!(queue.identity.role, Role::Engine(_) | Role::CollectiveCore),
            Self::DmaQueue => queue.identity.role == Role::Queue,
            Self::Layer => return work.name(class.layer),
        };
        (is_of && queue.side == MachineSide::Device).then(|| work.party(class.queue))
    }
}

/// All names of work of devices, engines, queues or layers of a job, without an order.
pub(super) fn all_names(graph: &JobGraph, of: Option<ClassName>) -> BTreeSet<&str> {
    let names = graph.ranks.iter().flat_map(|rank| {
        let work = &rank.work;
        (0..work.classes.len()).filter_map(move |class| match of {
            Some(of) => of.of(work, class),
            None => {
                let queue = work.classes[class].queue as usize;
                let on_device = work.queues[queue].side == MachineSide::Device;
                work.name(work.classes[class].name).filter(|_| on_device)
            }
        })
    });
    names.collect()
}

/// The names of work of devices, without the calls of operations, by the time that they take over
/// all ranks, the longest first.
pub(super) fn longest_names(graph: &JobGraph) -> Vec<&str> {
    by_time(graph, |work, class| work.name(work.classes[class].name).or(Some("")))
}

/// The engines, queues or layers of this work in the same order.
pub(super) fn longest_of(graph: &JobGraph, of: ClassName) -> Vec<&str> {
    by_time(graph, |work, class| of.of(work, class))
}

fn by_time<'g>(graph: &'g JobGraph, name: impl Fn(&'g RankWork, usize) -> Option<&'g str>) -> Vec<&'g str> {
    let mut times: FxHashMap<&str, i64> = FxHashMap::default();
    for rank in &graph.ranks {
        let mut of_classes = vec![None; rank.work.classes.len()];
        for (_, node) in rank.device_work() {
            let time_ps = of_classes[node.class as usize].get_or_insert(0_i64);
            *time_ps = time_ps.saturating_add(node.duration_ps);
        }
        for (class, time_ps) in of_classes.into_iter().enumerate() {
            if let (Some(time_ps), Some(name)) = (time_ps, name(&rank.work, class)) {
                let sum_ps = times.entry(name).or_default();
                *sum_ps = sum_ps.saturating_add(time_ps);
            }
        }
    }
    let mut names: Vec<(&str, i64)> = times.into_iter().collect();
    names.sort_unstable_by_key(|(name, time_ps)| (std::cmp::Reverse(*time_ps), *name));
    names.into_iter().map(|(name, _)| name).collect()
}
