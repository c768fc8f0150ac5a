//! The clock of a device: its counters' overflows and its frequency.
//!
//! The counters have 32 bits and overflow every few seconds. A slice's end is a pair of times: by
//! the host and by the counter. Consecutive pairs tell how often the counter overflowed between
//! them, if the frequency is about known: the slope of the lines through the pairs of each job.
//! When all pairs are known, the overflows between jobs are counted again with the final slope. The
//! frequency is the slope of the least-squares line through all pairs. If the files of a rank do
//! not lie on one line, because their times on the host were shifted, each file gets a line of its
//! own, and all lines share one slope.

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

/// Two points nearer than this are less than half an overflow apart, at any frequency up to 2 GHz.
const SURE_S: f64 = 0.5;

/// Largest standard error of a slope that tells overflows, as a share of the slope.
const MAX_ERROR: f64 = 0.01;

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

    /// Adds the points of another line, whose time and cycles begin this much later.
    fn merge(&mut self, other: &Self, (seconds, cycles): (f64, f64)) {
        let count = self.count + other.count;
        if other.count == 0.0 {
            return;
        }
        let (dt, dc) = (other.mean_t + seconds - self.mean_t, other.mean_c + cycles - self.mean_c);
        let weight = self.count * other.count / count;
        self.tt += other.tt + dt * dt * weight;
        self.tc += other.tc + dt * dc * weight;
        self.cc += other.cc + dc * dc * weight;
        self.mean_t += dt * other.count / count;
        self.mean_c += dc * other.count / count;
        self.count = count;
    }

    /// Adds the points of a line of another job, with the means of both on one another.
    fn stack(&mut self, other: &Self) {
        self.count += other.count;
        self.tt += other.tt;
        self.tc += other.tc;
        self.cc += other.cc;
    }

    /// The slope, if its standard error is small.
    fn sure_slope(&self) -> Option<f64> {
        let slope = self.slope()?;
        let error = (self.squares(slope) / (self.count - 2.0).max(1.0) / self.tt).sqrt() / slope;
        (self.count > 3.0 && error < MAX_ERROR).then_some(slope)
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
    /// Lowest and highest repaired counter.
    span: (i64, i64),
    is_used: bool,
}

impl Job {
    const UNUSED: Self = Self {
        line: Line { count: 0.0, mean_t: 0.0, mean_c: 0.0, tt: 0.0, tc: 0.0, cc: 0.0 },
        first: (0, 0),
        span: (0, 0),
        is_used: false,
    };

    /// The job, with all counters moved to another number of overflows.
    fn moved_to(self, repaired: i64) -> Self {
        let by = repaired.saturating_sub(self.first.1);
        let span = (self.span.0.saturating_add(by), self.span.1.saturating_add(by));
        Self { first: (self.first.0, repaired), span, ..self }
    }
}

/// The counters of one device while slices come.
#[derive(Debug)]
pub(super) struct Counters {
    /// The frequency that the user stated, in hertz.
    stated_hz: Option<f64>,
    jobs: Vec<Job>,
    /// The lines of the finished jobs, on one another.
    within: Line,
    /// Time and repaired counter of the last point, and its job.
    last: Option<(i64, i64, usize)>,
    /// Cycles and picoseconds of all kernels.
    kernels: (f64, f64),
}

/// Source of the frequency.
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
        Self { stated_hz, jobs: Vec::new(), within: Line::default(), last: None, kernels: (0.0, 0.0) }
    }

    /// Best frequency so far, in hertz: the slope of the lines of all jobs so far. Durations on the
    /// host are longer than those of the device, so they are worse.
    fn running_hz(&self) -> f64 {
        let mut within = self.within;
        if let Some((.., job)) = self.last {
            within.stack(&self.jobs[job].line);
        }
        let (cycles, ps) = self.kernels;
        let of_kernels = (ps > 0.0 && cycles > 0.0).then(|| cycles / ps * PS_PER_S);
        within.sure_slope().or(of_kernels).or(self.stated_hz).unwrap_or(FIRST_GUESS_HZ)
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
        let at = job as usize;
        if let Some((.., before)) = self.last.filter(|(.., before)| *before != at) {
            self.within.stack(&self.jobs[before].line);
        }
        let counter = i64::from(counter);
        let repaired = match self.last {
            None => counter,
            Some((last_ps, last, _)) => {
                let seconds = time_ps.saturating_sub(last_ps) as f64 / PS_PER_S;
                // The frequency matters only if an overflow can lie between.
                let hz = if seconds.abs() < SURE_S { FIRST_GUESS_HZ } else { self.running_hz() };
                near(counter, last as f64 + seconds * hz)
            }
        };
        if self.jobs.len() <= at {
            self.jobs.resize(at + 1, Job::UNUSED);
        }
        self.last = Some((time_ps, repaired, at));
        let of = &mut self.jobs[at];
        let first = repaired.saturating_sub(i64::from(back));
        if of.is_used {
            of.span = (of.span.0.min(first), of.span.1.max(repaired));
        } else {
            *of = Job { first: (time_ps, repaired), span: (first, repaired), is_used: true, ..*of };
        }
        let seconds = time_ps.saturating_sub(of.first.0) as f64 / PS_PER_S;
        of.line.add(seconds, repaired.saturating_sub(of.first.1) as f64);
    }

    /// The jobs, with the overflows between them counted by this frequency.
    fn settled(&self, hz: f64) -> Vec<Job> {
        let mut jobs = self.jobs.clone();
        let mut order: Vec<usize> = (0..jobs.len()).filter(|&at| jobs[at].is_used).collect();
        order.sort_by_key(|&at| jobs[at].first.0);
        for pair in order.windows(2) {
            let ((before_ps, before), now) = (jobs[pair[0]].first, jobs[pair[1]]);
            let seconds = now.first.0.saturating_sub(before_ps) as f64 / PS_PER_S;
            let repaired = near(now.first.1.rem_euclid(WRAP_INT), before as f64 + seconds * hz);
            jobs[pair[1]] = now.moved_to(repaired);
        }
        jobs
    }

    /// The clock of all slices.
    pub(super) fn finish(&self) -> Clock {
        let (cycles, ps) = self.kernels;
        let mean_hz = (ps > 0.0 && cycles > 0.0).then(|| cycles / ps * PS_PER_S);
        let mut shared = Line::default();
        self.jobs.iter().for_each(|job| shared.stack(&job.line));
        let jobs = match shared.sure_slope() {
            Some(hz) => self.settled(hz),
            None => self.jobs.clone(),
        };
        let (found_hz, basis, residual_s) = fit(&jobs, &shared, mean_hz);
        let used_hz = self.stated_hz.unwrap_or(found_hz);
        let used = || jobs.iter().filter(|job| job.is_used);
        let low = used().map(|job| job.span.0).min().unwrap_or(0).div_euclid(WRAP_INT);
        let high = used().map(|job| job.span.1).max().unwrap_or(0).div_euclid(WRAP_INT);
        let firsts: Vec<Option<(i64, i64)>> =
            jobs.iter().map(|job| job.is_used.then_some(job.first)).collect();
        let origin = firsts.iter().flatten().next().copied().unwrap_or_default();
        let shift = |job: &Job| {
            let (seconds, cycles) = (
                job.first.0.saturating_sub(origin.0) as f64 / PS_PER_S + job.line.mean_t,
                job.first.1.saturating_sub(origin.1) as f64 + job.line.mean_c,
            );
            if job.is_used { seconds - cycles / found_hz } else { 0.0 }
        };
        let first_shift = used().next().map_or(0.0, shift);
        let shifts_s = jobs.iter().map(|job| shift(job) - first_shift).collect();
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
}

/// Frequency, basis and residual in seconds. `shared` are the lines of all jobs on one another.
fn fit(jobs: &[Job], shared: &Line, mean_hz: Option<f64>) -> (f64, Basis, f64) {
    let Some(within) = shared.slope() else {
        let basis = if mean_hz.is_some() { Basis::Durations } else { Basis::Guess };
        return (mean_hz.unwrap_or(FIRST_GUESS_HZ), basis, 0.0);
    };
    let residual = |line: &Line, hz: f64| (line.squares(hz) / shared.count).sqrt() / hz;
    let within_s = residual(shared, within);
    let mut pooled = Line::default();
    let origin = jobs.iter().find(|job| job.is_used).map_or((0, 0), |job| job.first);
    for job in jobs.iter().filter(|job| job.is_used) {
        let seconds = job.first.0.saturating_sub(origin.0) as f64 / PS_PER_S;
        pooled.merge(&job.line, (seconds, job.first.1.saturating_sub(origin.1) as f64));
    }
    let Some(hz) = pooled.slope() else { return (within, Basis::Jobs, within_s) };
    let pooled_s = residual(&pooled, hz);
    if pooled_s <= (within_s * MAX_SPREAD).max(MIN_SHIFT_S) {
        (hz, Basis::Run, pooled_s)
    } else {
        (within, Basis::Jobs, within_s)
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
        /// The host sees ends up to 20 us late, and pauses of 30 s lie between and within jobs: no
        /// overflow is lost.
        #[test]
        fn late_ends_and_long_pauses_lose_no_overflow(
            start: u32,
            hz in 300e6..1500e6_f64,
            late in prop::collection::vec(0_i64..20_000_000, 160),
            pause_s in 20_i64..60,
        ) {
            let mut counters = Counters::new(None);
            let mut ends = Vec::new();
            for (n, late_ps) in (0_i64..).zip(late) {
                // Four jobs of 40 kernels, and a pause after each 20.
                let job = u32::try_from(n / 40).unwrap();
                let time_ps = n * 100 * PS_PER_US + n / 20 * pause_s * 1_000_000 * PS_PER_US;
                counters.kernel((60e-6 * hz) as u32, 60 * PS_PER_US + late_ps);
                counters.point(job, time_ps + late_ps, (counter(hz, start, time_ps), 0));
                ends.push((job, time_ps, late_ps));
            }
            let clock = counters.finish();
            prop_assert!((clock.found_hz / hz - 1.0).abs() < 1e-6, "{} instead of {hz}", clock.found_hz);
            for (job, time_ps, late_ps) in ends {
                let repaired = clock.repaired(job, time_ps + late_ps, counter(hz, start, time_ps));
                let cycles = (time_ps as f64 / PS_PER_S * hz).round() as i64 + i64::from(start);
                prop_assert_eq!(repaired, cycles);
            }
        }

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
