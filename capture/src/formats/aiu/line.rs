//! Least-squares lines through pairs of a time and a counter, in one pass and in any number.

/// Largest standard error of a slope that tells overflows, as a share of the slope.
const MAX_ERROR: f64 = 0.01;

/// Running sums of a line `cycles = hz · seconds + offset`, around the first point.
///
/// The sums are those of the distances in cycles from a line with the slope `base_hz`. Cycles of
/// hours themselves would have squares of which the scatter is less than the last digit.
#[derive(Debug, Clone, Copy)]
pub(super) struct LeastSquares {
    pub(super) base_hz: f64,
    pub(super) count: f64,
    pub(super) mean_t: f64,
    mean_c: f64,
    /// Sums of products of the distances from the means.
    tt: f64,
    tc: f64,
    cc: f64,
}

impl LeastSquares {
    /// A line without points, with this base.
    pub(super) const fn empty(base_hz: f64) -> Self {
        Self { base_hz, count: 0.0, mean_t: 0.0, mean_c: 0.0, tt: 0.0, tc: 0.0, cc: 0.0 }
    }

    pub(super) fn add(&mut self, seconds: f64, cycles: f64) {
        self.count += 1.0;
        let (dt, dc) = (seconds - self.mean_t, cycles - self.base_hz * seconds - self.mean_c);
        self.mean_t += dt / self.count;
        self.mean_c += dc / self.count;
        self.tt += dt * (seconds - self.mean_t);
        self.tc += dt * (cycles - self.base_hz * seconds - self.mean_c);
        self.cc += dc * (cycles - self.base_hz * seconds - self.mean_c);
        // The base is the slope of at least half of the points.
        let is_power_of_two = (self.count as u64).is_power_of_two();
        if let Some(slope) = self.slope().filter(|_| is_power_of_two) {
            *self = self.based(slope);
        }
    }

    /// The same points, by their distances from a line with this slope.
    fn based(&self, hz: f64) -> Self {
        let by = hz - self.base_hz;
        Self {
            base_hz: hz,
            mean_c: self.mean_c - by * self.mean_t,
            tc: self.tc - by * self.tt,
            cc: self.squares(hz),
            ..*self
        }
    }

    pub(super) fn slope(&self) -> Option<f64> {
        let slope = self.base_hz + self.tc / self.tt;
        (self.count > 2.0 && slope.is_finite() && slope > 0.0).then_some(slope)
    }

    /// Mean of the cycles themselves.
    pub(super) fn mean_cycles(&self) -> f64 {
        self.base_hz.mul_add(self.mean_t, self.mean_c)
    }

    /// Adds the points of another line, whose time and cycles begin this much later.
    pub(super) fn merge(&mut self, other: &Self, seconds: f64, cycles: f64) {
        let (other, count) = (other.based(self.base_hz), self.count + other.count);
        if other.count == 0.0 {
            return;
        }
        let later = cycles - self.base_hz * seconds;
        let (dt, dc) = (other.mean_t + seconds - self.mean_t, other.mean_c + later - self.mean_c);
        let weight = self.count * other.count / count;
        self.tt += other.tt + dt * dt * weight;
        self.tc += other.tc + dt * dc * weight;
        self.cc += other.cc + dc * dc * weight;
        self.mean_t += dt * other.count / count;
        self.mean_c += dc * other.count / count;
        self.count = count;
    }

    /// Adds the points of a line of another job, with the means of both on one another.
    pub(super) fn stack(&mut self, other: &Self) {
        let base_hz = if self.count == 0.0 { other.base_hz } else { self.base_hz };
        let (own, other) = (self.based(base_hz), other.based(base_hz));
        *self = Self {
            count: own.count + other.count,
            tt: own.tt + other.tt,
            tc: own.tc + other.tc,
            cc: own.cc + other.cc,
            ..own
        };
    }

    /// The slope, if its standard error is small.
    pub(super) fn sure_slope(&self) -> Option<f64> {
        self.slope().filter(|_| self.relative_error().is_some_and(|error| error < MAX_ERROR))
    }

    /// Standard error of the slope as a share of it, of more than three points.
    pub(super) fn relative_error(&self) -> Option<f64> {
        let slope = self.slope().filter(|_| self.count > 3.0)?;
        Some((self.squares(slope) / (self.count - 2.0) / self.tt).sqrt() / slope)
    }

    /// Sum of the squares of the distances in cycles, from a line with this slope.
    pub(super) fn squares(&self, slope: f64) -> f64 {
        let by = slope - self.base_hz;
        (by.mul_add(by * self.tt, self.cc) - 2.0 * by * self.tc).max(0.0)
    }
}
