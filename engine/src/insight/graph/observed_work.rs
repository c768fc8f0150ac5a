//! The work of a rank as evidence looks at it: its queues and classes, with keys that they have on
//! all ranks.

use crate::model::{MachineSide, RankWork, Role, WorkClass, WorkQueue};

/// Time by which a slice must reach into another one to count as under it, in picoseconds: the
/// clock of a device repeats a time within this.
pub(in crate::insight) const LEAST_UNDER_PS: i64 = 1_000_000;
/// Queues of a rank that are told apart. The middle model knows no others.
const MOST_QUEUES: usize = 64;
/// Key that a queue has on all ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct QueueKey {
    role: Role,
    number: Option<u32>,
    lane: u32,
}

/// Key that a class has on all ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ClassKey<'w> {
    name: &'w str,
    queue: QueueKey,
}

/// The work of a rank, and what of it communicates.
#[derive(Debug, Clone, Copy)]
pub(super) struct ObservedWork<'w> {
    pub(super) work: &'w RankWork,
    /// Whether a class has calls of operations.
    pub(super) communicates: &'w [bool],
    /// Rows from this one on were not recorded, and show nothing.
    pub(super) first_absent_row: u32,
}

impl<'w> ObservedWork<'w> {
    /// The queues of the devices that are told apart.
    pub(super) fn told_apart(self) -> Vec<u32> {
        let device = (0_u32..).zip(&self.work.queues).filter(|(_, queue)| queue.side == MachineSide::Device);
        device.map(|(at, _)| at).take(MOST_QUEUES).collect()
    }

    /// For each queue of the work its position among those that are told apart.
    pub(super) fn places(self, told_apart: &[u32]) -> Vec<Option<usize>> {
        let mut places = vec![None; self.work.queues.len()];
        for (place, &queue) in told_apart.iter().enumerate() {
            places[queue as usize] = Some(place);
        }
        places
    }

    pub(super) fn queue(self, at: u32) -> QueueKey {
        let WorkQueue { identity, lane, .. } = self.work.queues[at as usize];
        QueueKey { role: identity.role, number: identity.number, lane }
    }

    pub(super) fn class(self, class: &WorkClass) -> ClassKey<'w> {
        ClassKey { name: self.work.name(class.name).unwrap_or_default(), queue: self.queue(class.queue) }
    }

    /// The queue of the device that computes most.
    pub(super) fn computing_queue(self) -> Option<u32> {
        let mut busy_ps = vec![0_i64; self.work.queues.len()];
        for node in &self.work.nodes {
            if !self.communicates[node.class as usize] {
                let busy_ps = &mut busy_ps[self.work.classes[node.class as usize].queue as usize];
                *busy_ps = busy_ps.saturating_add(node.duration_ps);
            }
        }
        let queues = self.told_apart().into_iter().filter(|queue| busy_ps[*queue as usize] > 0);
        queues.max_by_key(|queue| (busy_ps[*queue as usize], std::cmp::Reverse(*queue)))
    }
}
