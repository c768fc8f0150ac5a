//! The clock of a device: its counters' overflows and its frequency.
//!
//! The counters have 32 bits and overflow every few seconds. A slice's end is a pair of times: by
//! the host and by the counter. Consecutive pairs tell how often the counter overflowed between
//! them. The frequency is the slope of the least-squares line through all pairs. If the files of a
//! rank do not lie on one line, because their times on the host were shifted, each file gets a line
//! of its own, and all lines share one slope.

/// Cycles of one overflow.
pub(super) const WRAP: f64 = 4_294_967_296.0;
const WRAP_INT: i64 = 1 << 32;

/// Frequency in hertz that is assumed before any slice tells one.
const FIRST_GUESS_HZ: f64 = 560e6;

/// A job that is further from the common line than this, and than [`MAX_SPREAD`] of its own
/// scatter, was shifted.
const MIN_SHIFT_S: f64 = 2e-6;
/// See [`MIN_SHIFT_S`].
const MAX_SPREAD: f64 = 4.0;

const PS_PER_S: f64 = 1e12;

/// Running sums of a line `cycles = hz · seconds + offset`, around the first point.
#[derive(Debug, Clone, Copy, Default)]
struct Line {
    count: f64,
    mean_t: f64,
    mean_c: f64,
    /// Sums of products of the distances from the means.
    tt: f64,
    tc: f64,
    cc: f64,
}

impl Line {
    fn add(&mut self, seconds: f64, cycles: f64) {
        self.count += 1.0;
        let (dt, dc) = (seconds - self.mean_t, cycles - self.mean_c);
        self.mean_t += dt / self.count;
        self.mean_c += dc / self.count;
        self.tt += dt * (seconds - self.mean_t);
        self.tc += dt * (cycles - self.mean_c);
        self.cc += dc * (cycles - self.mean_c);
    }

    fn slope(&self) -> Option<f64> {
        let slope = self.tc / self.tt;
        (self.count > 2.0 && slope.is_finite() && slope > 0.0).then_some(slope)
    }

    /// Sum of the squares of the distances in cycles, from a line with this slope.
    fn squares(&self, slope: f64) -> f64 {
        (slope.mul_add(slope * self.tt, self.cc) - 2.0 * slope * self.tc).max(0.0)
    }
}

/// The counters of one job.
#[derive(Debug, Clone, Copy)]
struct Job {
    line: Line,
    /// Time and repaired counter of the first point.
    first: (i64, i64),
    is_used: bool,
}

/// The counters of one device while slices come.
#[derive(Debug)]
pub(super) struct Counters {
    /// The frequency that the user stated, in hertz.
    stated_hz: Option<f64>,
    jobs: Vec<Job>,
    pooled: Line,
    /// Time and repaired counter of the last point.
    last: Option<(i64, i64)>,
    /// Cycles and picoseconds of all kernels.
    kernels: (f64, f64),
    /// Lowest and highest number of overflows.
    wraps: Option<(i64, i64)>,
}

/// How the frequency was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Basis {
    /// One line through all slices.
    Run,
    /// A line for each job, all with one slope.
    Jobs,
    /// There are too few slices for a line: cycles over durations.
    Durations,
    /// No slice tells a frequency.
    Guess,
}

impl Basis {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Run => "one line through all kernels",
            Self::Jobs => "a line for each job",
            Self::Durations => "cycles over durations",
            Self::Guess => "assumed",
        }
    }
}

/// The clock of a device.
#[derive(Debug, Clone)]
pub(super) struct Clock {
    /// Frequency for durations, in hertz.
    pub(super) used_hz: f64,
    /// Frequency that the slices tell, in hertz.
    pub(super) found_hz: f64,
    /// Cycles of all kernels over their durations, in hertz.
    pub(super) mean_hz: Option<f64>,
    pub(super) basis: Basis,
    /// Root mean square distance from the line in seconds.
    pub(super) residual_s: f64,
    /// Time and repaired counter of the first point of each job.
    firsts: Vec<Option<(i64, i64)>>,
    /// Distance of each job from the line of the first job, in seconds.
    pub(super) shifts_s: Vec<f64>,
    /// Overflows over the run.
    pub(super) wraps: i64,
    first_wrap: i64,
}

impl Counters {
    /// Counters of a device whose frequency the user stated, or not.
    pub(super) fn new(stated_hz: Option<f64>) -> Self {
        let pooled = Line::default();
        Self { stated_hz, jobs: Vec::new(), pooled, last: None, kernels: (0.0, 0.0), wraps: None }
    }

    /// Best frequency so far, in hertz.
    fn running_hz(&self) -> f64 {
        let (cycles, ps) = self.kernels;
        if ps > 0.0 && cycles > 0.0 {
            return cycles / ps * PS_PER_S;
        }
        self.stated_hz.unwrap_or(FIRST_GUESS_HZ)
    }

    /// Takes the duration of a kernel: cycles and picoseconds.
    pub(super) fn kernel(&mut self, cycles: u32, host_ps: i64) {
        if host_ps > 0 {
            self.kernels.0 += f64::from(cycles);
            self.kernels.1 += host_ps as f64;
        }
    }

    /// Takes a pair: time of the host, and counter. The slice's first counter was `back` cycles
    /// before.
    pub(super) fn point(&mut self, job: u32, time_ps: i64, (counter, back): (u32, u32)) {
        let counter = i64::from(counter);
        let repaired = match self.last {
            None => counter,
            Some((last_ps, last)) => {
                let expected = (time_ps.saturating_sub(last_ps)) as f64 / PS_PER_S * self.running_hz();
                near(counter, last as f64 + expected)
            }
        };
        self.last = Some((time_ps, repaired));
        let first = (repaired - i64::from(back)).div_euclid(WRAP_INT);
        let last = repaired.div_euclid(WRAP_INT);
        self.wraps = Some(self.wraps.map_or((first, last), |(low, high)| (low.min(first), high.max(last))));
        let at = job as usize;
        while self.jobs.len() <= at {
            self.jobs.push(Job { line: Line::default(), first: (0, 0), is_used: false });
        }
        let of = &mut self.jobs[at];
        if !of.is_used {
            (of.first, of.is_used) = ((time_ps, repaired), true);
        }
        let since = |(ps, cycles): (i64, i64)| {
            (time_ps.saturating_sub(ps) as f64 / PS_PER_S, repaired.saturating_sub(cycles) as f64)
        };
        let (seconds, cycles) = since(of.first);
        of.line.add(seconds, cycles);
        let first = self.jobs.iter().find(|job| job.is_used).map_or((time_ps, repaired), |job| job.first);
        let (seconds, cycles) = since(first);
        self.pooled.add(seconds, cycles);
    }

    /// The clock of all slices.
    pub(super) fn finish(&self) -> Clock {
        let (cycles, ps) = self.kernels;
        let mean_hz = (ps > 0.0 && cycles > 0.0).then(|| cycles / ps * PS_PER_S);
        let (found_hz, basis, residual_s) = self.fit(mean_hz);
        let used_hz = self.stated_hz.unwrap_or(found_hz);
        let (low, high) = self.wraps.unwrap_or_default();
        let firsts: Vec<Option<(i64, i64)>> =
            self.jobs.iter().map(|job| job.is_used.then_some(job.first)).collect();
        let origin = firsts.iter().flatten().next().copied().unwrap_or_default();
        let shift = |job: &Job| {
            let (seconds, cycles) = (
                job.first.0.saturating_sub(origin.0) as f64 / PS_PER_S + job.line.mean_t,
                job.first.1.saturating_sub(origin.1) as f64 + job.line.mean_c,
            );
            if job.is_used { seconds - cycles / found_hz } else { 0.0 }
        };
        let first_shift = self.jobs.iter().find(|job| job.is_used).map_or(0.0, shift);
        let shifts_s = self.jobs.iter().map(|job| shift(job) - first_shift).collect();
        Clock {
            used_hz,
            found_hz,
            mean_hz,
            basis,
            residual_s,
            firsts,
            shifts_s,
            wraps: high - low,
            first_wrap: low,
        }
    }

    /// Frequency, basis and residual in seconds.
    fn fit(&self, mean_hz: Option<f64>) -> (f64, Basis, f64) {
        let count: f64 = self.jobs.iter().map(|job| job.line.count).sum();
        let sum = |of: fn(&Line) -> f64| self.jobs.iter().map(|job| of(&job.line)).sum::<f64>();
        let shared =
            Line { count, tt: sum(|l| l.tt), tc: sum(|l| l.tc), cc: sum(|l| l.cc), ..Line::default() };
        let Some(within) = shared.slope() else {
            let basis = if mean_hz.is_some() { Basis::Durations } else { Basis::Guess };
            return (mean_hz.unwrap_or(FIRST_GUESS_HZ), basis, 0.0);
        };
        let residual = |line: &Line, hz: f64| (line.squares(hz) / count).sqrt() / hz;
        let within_s = residual(&shared, within);
        let Some(pooled) = self.pooled.slope() else { return (within, Basis::Jobs, within_s) };
        let pooled_s = residual(&self.pooled, pooled);
        if pooled_s <= (within_s * MAX_SPREAD).max(MIN_SHIFT_S) {
            (pooled, Basis::Run, pooled_s)
        } else {
            (within, Basis::Jobs, within_s)
        }
    }
}

/// The number that is `counter` after whole overflows, nearest to `expected`.
fn near(counter: i64, expected: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "casts of floats saturate")]
    let wraps = ((expected - counter as f64) / WRAP).round() as i64;
    counter.saturating_add(wraps.saturating_mul(WRAP_INT))
}

impl Clock {
    /// Duration of cycles in picoseconds.
    #[expect(clippy::cast_possible_truncation, reason = "casts of floats saturate")]
    pub(super) fn ps(&self, cycles: f64) -> i64 {
        (cycles / self.used_hz * PS_PER_S).round() as i64
    }

    /// The counter at a time of a job, with the overflows since the first slice of the rank.
    pub(super) fn repaired(&self, job: u32, time_ps: i64, counter: u32) -> i64 {
        let Some((first_ps, first)) = self.firsts.get(job as usize).copied().flatten() else {
            return i64::from(counter);
        };
        let expected = first as f64 + time_ps.saturating_sub(first_ps) as f64 / PS_PER_S * self.found_hz;
        near(i64::from(counter), expected).saturating_sub(self.first_wrap.saturating_mul(WRAP_INT))
    }

    /// Largest shift of a job against the first, in seconds.
    pub(super) fn drift_s(&self) -> f64 {
        self.shifts_s.iter().fold(0.0, |most: f64, shift| most.max(shift.abs()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PS_PER_US: i64 = 1_000_000;

    /// The counter of a device of this frequency at a time.
    fn counter(hz: f64, start: u32, time_ps: i64) -> u32 {
        let cycles = (time_ps as f64 / PS_PER_S * hz).round() as i64;
        (i64::from(start) + cycles).rem_euclid(WRAP_INT) as u32
    }

    fn found(hz: f64, start: u32, jobs: &[(i64, i64)]) -> Clock {
        let mut counters = Counters::new(None);
        for (job, &(begin_ps, shift_ps)) in (0..).zip(jobs) {
            for n in 0..40 {
                let time_ps = begin_ps + n * 250 * PS_PER_US;
                counters.kernel((100e-6 * hz) as u32, 100 * PS_PER_US);
                counters.point(job, time_ps + shift_ps, (counter(hz, start, time_ps), 0));
            }
        }
        counters.finish()
    }

    #[track_caller]
    fn check(clock: &Clock, hz: f64, basis: Basis) {
        assert!((clock.found_hz / hz - 1.0).abs() < 1e-6, "{} instead of {hz}", clock.found_hz);
        assert_eq!(clock.basis, basis);
    }

    #[test]
    fn the_frequency_is_found_across_overflows() {
        let second = 1_000_000 * PS_PER_US;
        let clock = found(557.05e6, 4_290_000_000, &[(0, 0), (9 * second, 0), (31 * second, 0)]);
        check(&clock, 557.05e6, Basis::Run);
        assert_eq!(clock.wraps, 5);
        assert!(clock.drift_s() < 1e-6);
        let (time_ps, raw) = (31 * second, counter(557.05e6, 4_290_000_000, 31 * second));
        assert_eq!(clock.repaired(2, time_ps, raw).div_euclid(WRAP_INT), 5);
    }

    #[test]
    fn shifted_jobs_do_not_change_the_frequency() {
        let (second, ms) = (1_000_000 * PS_PER_US, 1_000 * PS_PER_US);
        let clock = found(560e6, 77, &[(0, 0), (second, 40 * ms), (2 * second, -25 * ms)]);
        check(&clock, 560e6, Basis::Jobs);
        let shifts: Vec<f64> = clock.shifts_s.iter().map(|s| (s * 1e3).round()).collect();
        assert_eq!(shifts, [0.0, 40.0, -25.0]);
    }

    #[test]
    fn without_slices_there_is_a_guess() {
        let clock = Counters::new(None).finish();
        assert_eq!((clock.basis, clock.wraps), (Basis::Guess, 0));
        assert_eq!(clock.repaired(0, 5, 9), 9);
        assert_eq!(Counters::new(Some(1e9)).finish().ps(1.0), 1000);
    }

    proptest! {
        /// Order of points and start of the counter change nothing.
        #[test]
        fn order_and_overflow_do_not_matter(start: u32, hz in 300e6..1500e6_f64, gap_s in 0_i64..40) {
            let second = 1_000_000 * PS_PER_US;
            let forward = found(hz, start, &[(0, 0), (gap_s * second, 0)]);
            let from_zero = found(hz, 0, &[(0, 0), (gap_s * second, 0)]);
            prop_assert!((forward.found_hz / hz - 1.0).abs() < 1e-6);
            prop_assert!((forward.found_hz / from_zero.found_hz - 1.0).abs() < 1e-9);
        }
    }
}
