//! Times of a replay beside those of the unchanged run.

use super::observer::PointTime;

/// Number of models.
pub(super) const MODELS: usize = 3;
/// Position of the loosest model.
pub(super) const LOOSE: usize = 0;
/// Position of the middle model.
pub(super) const MIDDLE: usize = 1;
/// Position of the strictest model.
pub(super) const STRICT: usize = 2;

/// A time in each model, in picoseconds.
pub(super) type ByModel = [i64; MODELS];
/// Before all times.
pub(super) const NEVER: ByModel = [i64::MIN; MODELS];

/// The later one, model by model.
pub(super) fn later(mut one: ByModel, other: ByModel) -> ByModel {
    for (one, other) in one.iter_mut().zip(other) {
        *one = other.max(*one);
    }
    one
}

/// A time in the replay beside the same time of the unchanged run.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReplayTime {
    pub(super) new: ByModel,
    pub(super) old: ByModel,
}

impl ReplayTime {
    pub(super) const NEVER: Self = Self { new: NEVER, old: NEVER };

    pub(super) fn at(time_ps: i64) -> Self {
        Self { new: [time_ps; MODELS], old: [time_ps; MODELS] }
    }

    /// The later one, model by model.
    pub(super) fn later(self, other: Self) -> Self {
        Self { new: later(self.new, other.new), old: later(self.old, other.old) }
    }

    /// The time of the unchanged run. In the new run nothing waits for it.
    pub(super) fn only_old(self) -> Self {
        Self { new: NEVER, ..self }
    }

    /// The time in the middle model.
    pub(super) fn middle(self) -> PointTime {
        PointTime { unchanged_ps: self.old[MIDDLE], changed_ps: self.new[MIDDLE] }
    }

    /// Waits for another time in one model.
    pub(super) fn take(&mut self, model: usize, other: Self) {
        self.new[model] = self.new[model].max(other.new[model]);
        self.old[model] = self.old[model].max(other.old[model]);
    }

    pub(super) fn plus(self, by_ps: i64) -> Self {
        let add = |time: i64| if time == i64::MIN { time } else { time.saturating_add(by_ps) };
        Self { new: self.new.map(add), old: self.old.map(add) }
    }

    /// The time that was recorded at `time_ps` and follows this one.
    pub(super) fn followed_by(self, time_ps: i64) -> Self {
        let mut next = Self::at(time_ps);
        for model in 0..MODELS {
            if self.old[model] != i64::MIN && self.new[model] != i64::MIN {
                let shift_ps = self.new[model].saturating_sub(self.old[model]);
                next.new[model] = time_ps.saturating_add(shift_ps);
            }
        }
        next
    }

    /// The time if the new run took this much longer.
    pub(super) fn shifted(mut self, by_ps: i64) -> Self {
        for time in &mut self.new {
            *time = time.saturating_add(by_ps);
        }
        self
    }

    /// The time, or the start of its call if that is later in the new run: a call that left before
    /// others came has a wrong clock.
    pub(super) fn not_before(self, start: Self) -> Self {
        Self { new: later(self.new, start.new), ..self }
    }
}
