//! The power of a rank over time, and its integral.

use crate::base::Interval;
use crate::base::time::PS_PER_S;

/// The power of a rank: steps that follow each other. A value holds from its sample to the next.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RankPower {
    /// Starts of the steps in picoseconds, ascending, and the end of the last one.
    times_ps: Vec<i64>,
    /// Watts of each step.
    watts: Vec<f64>,
    /// Joules from the first step to each time.
    joules: Vec<f64>,
}

impl RankPower {
    /// The power of these samples, times in picoseconds and values in watts. The last value holds
    /// until `end_ps`. Values that are no powers count as zero.
    #[must_use]
    pub fn new(samples: &[(i64, f64)], end_ps: i64) -> Self {
        let mut sorted = samples.to_vec();
        sorted.sort_by_key(|(time_ps, _)| *time_ps);
        let mut power = Self::default();
        let mut joules = 0.0;
        let ends = sorted.iter().skip(1).map(|(time_ps, _)| *time_ps).chain([end_ps]);
        for (&(start_ps, watts), end_ps) in sorted.iter().zip(ends) {
            if end_ps <= start_ps {
                continue;
            }
            let watts = if watts.is_finite() { watts.max(0.0) } else { 0.0 };
            power.times_ps.push(start_ps);
            power.watts.push(watts);
            power.joules.push(joules);
            joules += watts * seconds(end_ps.saturating_sub(start_ps));
        }
        if !power.watts.is_empty() {
            power.times_ps.push(end_ps);
            power.joules.push(joules);
        }
        power
    }

    /// The same watts over a span.
    #[must_use]
    pub fn constant(watts: f64, span: Interval) -> Self {
        Self::new(&[(span.start.0, watts)], span.end.0)
    }

    /// Number of values that hold for some time.
    #[must_use]
    pub fn len(&self) -> usize {
        self.watts.len()
    }

    /// Whether no power is known at any time.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.watts.is_empty()
    }

    /// The span in which the power is known.
    #[must_use]
    pub fn span(&self) -> Interval {
        match (self.times_ps.first(), self.times_ps.last()) {
            (Some(start_ps), Some(end_ps)) => Interval::new(*start_ps, *end_ps),
            _ => Interval::default(),
        }
    }

    /// The integral of the power, in joules.
    #[must_use]
    pub fn joules(&self) -> f64 {
        self.joules.last().copied().unwrap_or(0.0)
    }

    /// Time with a power above zero, in picoseconds.
    #[must_use]
    pub fn known_ps(&self) -> i64 {
        let steps = self.times_ps.windows(2).zip(&self.watts);
        let above = steps.filter(|(_, watts)| **watts > 0.0);
        above.fold(0, |sum, (step, _)| sum.saturating_add(step[1].saturating_sub(step[0])))
    }

    /// Joules up to a time.
    #[must_use]
    pub fn joules_until(&self, time_ps: i64) -> f64 {
        let next = self.times_ps.partition_point(|start_ps| *start_ps <= time_ps);
        match (next.checked_sub(1), self.watts.get(next.saturating_sub(1))) {
            (None, _) => 0.0,
            (Some(at), Some(watts)) => {
                self.joules[at] + watts * seconds(time_ps.saturating_sub(self.times_ps[at]))
            }
            (Some(_), None) => self.joules(),
        }
    }
}

/// Seconds of a time in picoseconds.
fn seconds(ps: i64) -> f64 {
    ps as f64 / PS_PER_S as f64
}
