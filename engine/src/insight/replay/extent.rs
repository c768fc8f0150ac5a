//! First and last times of work.

use super::time::{MODELS, ReplayTime};

/// The first start and the last end.
#[derive(Debug, Clone, Copy)]
pub(super) struct WorkExtent {
    pub(super) first: ReplayTime,
    pub(super) last: ReplayTime,
}

impl WorkExtent {
    pub(super) const EMPTY: Self = Self {
        first: ReplayTime { new: [i64::MAX; MODELS], old: [i64::MAX; MODELS] },
        last: ReplayTime::NEVER,
    };

    pub(super) fn is_empty(&self) -> bool {
        self.last.old[0] == i64::MIN
    }

    /// Takes a start. One that is not known does not count.
    pub(super) fn start(&mut self, time: ReplayTime) {
        if time.old[0] == i64::MIN {
            return;
        }
        for model in 0..MODELS {
            self.first.new[model] = self.first.new[model].min(time.new[model]);
            self.first.old[model] = self.first.old[model].min(time.old[model]);
        }
    }

    pub(super) fn end(&mut self, time: ReplayTime) {
        self.last = self.last.later(time);
    }
}
