//! A straight line from a rank's local times to shared times, in floats relative to a time near
//! the job, and its fit.

use crate::base::ClockFit;

/// `shared = local + offset + slope * (local - at)`, in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct ClockLine {
    /// Local time at which the offset holds.
    pub(crate) at_ps: i64,
    pub(crate) offset_ps: f64,
    pub(crate) slope: f64,
}

impl ClockLine {
    /// The difference between shared and local time.
    pub(crate) fn shift(&self, local_ps: i64) -> f64 {
        self.offset_ps + self.slope * local_ps.saturating_sub(self.at_ps) as f64
    }

    pub(crate) fn shared(&self, local_ps: i64) -> i64 {
        local_ps.saturating_add(rounded(self.shift(local_ps)))
    }

    /// This line, then `next`. The result holds at the same local time.
    pub(crate) fn then(&self, next: &Self) -> Self {
        let offset_ps = self.offset_ps + next.shift(self.shared(self.at_ps));
        Self { offset_ps, slope: self.slope + next.slope, ..*self }
    }

    /// The line from shared times to local ones.
    pub(crate) fn back(&self) -> Self {
        Self { at_ps: self.shared(self.at_ps), offset_ps: -self.offset_ps, slope: -self.slope }
    }

    /// The clock with this line, with its offset at another local time. Slopes beyond what a clock
    /// can have are limited.
    pub(crate) fn clock(&self, at_ps: i64, bound_ps: Option<u64>) -> ClockFit {
        const BILLION: f64 = 1e9;
        let limit = f64::from(ClockFit::MAX_DRIFT_PPB);
        let drift = rounded((self.slope * BILLION).clamp(-limit, limit));
        let drift = i32::try_from(drift).unwrap_or_default();
        ClockFit::new(at_ps, rounded(self.shift(at_ps)), drift, bound_ps).unwrap_or_default()
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a cast of a float saturates")]
pub(crate) fn rounded(value: f64) -> i64 {
    value.round() as i64
}

/// A difference between two clocks at a time, and its weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WeightedPoint {
    pub(crate) time_ps: i64,
    pub(crate) difference_ps: f64,
    pub(crate) weight: f64,
    /// Group of the operation.
    pub(crate) group: u32,
}

/// Weight of an operation with this transfer time: ends of long ones are farther apart.
pub(crate) fn weight_of(transfer_ps: i64) -> f64 {
    let spread_us = 1.0 + 0.03 * (transfer_ps.max(0) as f64 / 1e6);
    1.0 / (spread_us * spread_us)
}

/// The value with half of the weight on each side. 0 without values.
pub(crate) fn weighted_median(values: &mut [(f64, f64)]) -> f64 {
    values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let half = values.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    for (at, &(value, weight)) in values.iter().enumerate() {
        sum += weight;
        if sum > half {
            return value;
        }
        if sum >= half {
            return values.get(at + 1).map_or(value, |next| f64::midpoint(value, next.0));
        }
    }
    0.0
}

fn median_difference(points: &[WeightedPoint]) -> f64 {
    let mut values: Vec<(f64, f64)> =
        points.iter().map(|point| (point.difference_ps, point.weight)).collect();
    weighted_median(&mut values)
}

/// Deviations that prove a slope.
pub(crate) const PROOF: f64 = 4.0;

/// A line through points that survives wrong ones: the medians of the outer thirds give the slope.
/// The slope stays 0 if it changes less than `least_ps` over the points, or if the spread of the
/// points can explain it.
pub(crate) fn resistant(points: &mut [WeightedPoint], least_ps: f64) -> Option<ClockLine> {
    points.sort_unstable_by_key(|point| point.time_ps);
    let (first, last) = (points.first()?.time_ps, points.last()?.time_ps);
    let at_ps = i64::midpoint(first, last);
    let flat = ClockLine { at_ps, offset_ps: median_difference(points), slope: 0.0 };
    let third = points.len() / 3;
    if third < 4 {
        return Some(flat);
    }
    let (low, high) = (&points[..third], &points[points.len() - third..]);
    let run = high[third / 2].time_ps.saturating_sub(low[third / 2].time_ps) as f64;
    let slope = if run > 0.0 { (median_difference(high) - median_difference(low)) / run } else { 0.0 };
    if (slope * last.saturating_sub(first) as f64).abs() < least_ps {
        return Some(flat);
    }
    let mut levels: Vec<(f64, f64)> = points
        .iter()
        .map(|point| {
            let since = point.time_ps.saturating_sub(at_ps) as f64;
            (point.difference_ps - slope * since, point.weight)
        })
        .collect();
    let offset_ps = weighted_median(&mut levels);
    let mut off: Vec<(f64, f64)> = levels.iter().map(|(level, _)| ((level - offset_ps).abs(), 1.0)).collect();
    // The standard error of a median, and of the difference of two.
    let error = 1.25 * 1.48 * weighted_median(&mut off) * (2.0 / third as f64).sqrt();
    let is_proven = (slope * run).abs() >= PROOF * error;
    Some(if is_proven { ClockLine { at_ps, offset_ps, slope } } else { flat })
}

/// Sums of weighted points, for the line of least squares.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PointSums {
    w: f64,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
}

impl PointSums {
    pub(crate) fn add(&mut self, x: f64, y: f64, w: f64) {
        self.w += w;
        self.x += w * x;
        self.y += w * y;
        self.xx += w * x * x;
        self.xy += w * x * y;
    }

    /// Sum of the squared distances from the mean of `x`.
    fn spread(&self) -> f64 {
        self.xx - self.x * self.x / self.w
    }

    /// The slope; `None` if all points have one `x`.
    pub(crate) fn slope(&self) -> Option<f64> {
        let spread = self.spread();
        (spread > 0.0).then(|| (self.xy - self.x * self.y / self.w) / spread)
    }

    /// Height at `x` zero of the line with this slope.
    pub(crate) fn level(&self, slope: f64) -> f64 {
        (self.y - slope * self.x) / self.w
    }
}

/// Slope of points by weighted least squares, and its standard error. Points beyond four deviations
/// are left out.
pub(crate) fn slope_of(points: &[WeightedPoint]) -> Option<(f64, f64)> {
    let middle = median_difference(points);
    let mut off: Vec<(f64, f64)> =
        points.iter().map(|point| ((point.difference_ps - middle).abs(), 1.0)).collect();
    let limit = 4.0 * 1.48 * weighted_median(&mut off);
    let first = points.first()?.time_ps;
    let mut sums = PointSums::default();
    let mut count = 0.0;
    for point in points {
        let (x, y) = (point.time_ps.saturating_sub(first) as f64, point.difference_ps - middle);
        if y.abs() <= limit {
            sums.add(x, y, point.weight);
            count += 1.0;
        }
    }
    let slope = sums.slope().filter(|_| count >= 8.0)?;
    let (level, spread) = (sums.level(slope), sums.spread());
    let mut left = 0.0;
    for point in points {
        let (x, y) = (point.time_ps.saturating_sub(first) as f64, point.difference_ps - middle);
        if y.abs() <= limit {
            left += point.weight * (y - level - slope * x).powi(2);
        }
    }
    Some((slope, (left / (count - 2.0) / spread).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(count: i64, of: impl Fn(i64) -> f64) -> Vec<WeightedPoint> {
        let point =
            |at: i64| WeightedPoint { time_ps: at * 1_000_000, difference_ps: of(at), weight: 1.0, group: 0 };
        (0..count).map(point).collect()
    }

    #[test]
    fn a_line_survives_wrong_points_and_a_flat_one_stays_flat() {
        let mut drifting =
            points(90, |at| if at % 10 == 0 { 9e9 } else { 7_000.0 + 20e-6 * at as f64 * 1e6 });
        let line = resistant(&mut drifting, 500.0).unwrap();
        assert!((line.slope - 20e-6).abs() < 1e-6, "{line:?}");
        assert!((line.shift(0) - 7_000.0).abs() < 60.0, "{line:?}");
        let mut flat = points(90, |at| 5.0 + (at % 3) as f64);
        assert_eq!(resistant(&mut flat, 500.0).unwrap().slope, 0.0);
        // The outer thirds differ by 1.3 deviations, and so many points do not prove it.
        let mut scattered = points(36, |at| ((at * 17 % 36) * 1_000 + at * 400) as f64);
        assert_eq!(resistant(&mut scattered, 500.0).unwrap().slope, 0.0);
        assert_eq!(resistant(&mut [], 1.0), None);
    }

    #[test]
    fn slopes_have_errors_and_lines_add_up() {
        let (slope, error) = slope_of(&points(50, |at| 3.0 * at as f64 + (at % 2) as f64)).unwrap();
        assert!((slope - 3e-6).abs() < 4.0 * error && error < 1e-8, "{slope} {error}");
        let a = ClockLine { at_ps: 100, offset_ps: 10.0, slope: 0.5 };
        let b = ClockLine { at_ps: 0, offset_ps: -3.0, slope: 0.1 };
        assert_eq!(a.then(&b).shared(100), b.shared(a.shared(100)));
        assert_eq!(weighted_median(&mut [(1.0, 1.0), (9.0, 1.0), (2.0, 5.0)]), 2.0);
    }
}
