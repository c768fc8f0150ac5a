//! The clock of a device: its counters' overflows and its frequency.
//!
//! The counters have 32 bits and overflow every few seconds. A slice's end is a pair of times: by
//! the host and by the counter. Consecutive pairs tell how often the counter overflowed between
//! them, if the frequency is about known: the slope of the lines through the pairs of each job.
//! When all pairs are known, the overflows between jobs are counted again with the final slope. The
//! frequency is the slope of the least-squares line through all pairs. If the files of a rank do
//! not lie on one line, because their times on the host were shifted, each file gets a line of its
//! own, and all lines share one slope. If the times within a file are shifted against each other,
//! each of its pieces ([`super::pieces`]) gets one.

use super::line::LeastSquares;
use super::pieces::{Pieces, Points};

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

/// A file whose points are further from its line can have steps, in seconds.
const MIN_RESIDUAL_S: f64 = 10e-6;
/// Files whose points are kept, so that their steps are found.
const MAX_SEARCHED: usize = 64;

const PS_PER_S: f64 = 1e12;

/// A counter with all overflows, at a time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct CounterPoint {
    time_ps: i64,
    cycles: i64,
}

impl CounterPoint {
    fn seconds_since(self, origin: Self) -> f64 {
        self.time_ps.saturating_sub(origin.time_ps) as f64 / PS_PER_S
    }

    fn cycles_since(self, origin: Self) -> f64 {
        self.cycles.saturating_sub(origin.cycles) as f64
    }
}

/// The counters of one job.
#[derive(Debug, Clone, Copy)]
struct JobCounters {
    line: LeastSquares,
    first: CounterPoint,
    /// Lowest and highest repaired counter.
    span: (i64, i64),
    is_used: bool,
}

impl JobCounters {
    const UNUSED: Self = Self {
        line: LeastSquares::empty(FIRST_GUESS_HZ),
        first: CounterPoint { time_ps: 0, cycles: 0 },
        span: (0, 0),
        is_used: false,
    };

    /// The job, with all counters moved to another number of overflows.
    fn moved_to(self, repaired: i64) -> Self {
        let by = repaired.saturating_sub(self.first.cycles);
        let span = (self.span.0.saturating_add(by), self.span.1.saturating_add(by));
        Self { first: CounterPoint { cycles: repaired, ..self.first }, span, ..self }
    }
}

/// The counters of one device while slices come.
#[derive(Debug)]
pub(super) struct DeviceCounters {
    /// The frequency that the user stated, in hertz.
    stated_hz: Option<f64>,
    jobs: Vec<JobCounters>,
    /// Points of the first jobs.
    points: Vec<Points>,
    /// The lines of the finished jobs, on one another.
    within: LeastSquares,
    /// Time and repaired counter of the last point, and its job.
    last: Option<(i64, i64, usize)>,
    /// Cycles and picoseconds of all kernels.
    kernels: (u64, i64),
}

/// Source of the frequency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Basis {
    /// One line through all slices.
    Run,
    /// A line for each job, all with one slope.
    Jobs,
    /// A line for each piece of a job, all with one slope.
    Pieces,
    /// There are too few slices for a line: cycles over durations.
    Durations,
    /// No slice tells a frequency.
    Guess,
}

impl Basis {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Run => "one line through all slices",
            Self::Jobs => "a line for each job",
            Self::Pieces => "a line for each piece of a job",
            Self::Durations => "cycles over durations",
            Self::Guess => "assumed",
        }
    }
}

/// The clock of a device.
#[derive(Debug, Clone)]
pub(super) struct CounterClock {
    /// Frequency for durations, in hertz.
    pub(super) used_hz: f64,
    /// Frequency that the slices tell, in hertz.
    pub(super) found_hz: f64,
    /// Cycles of all kernels over their durations, in hertz.
    pub(super) mean_hz: Option<f64>,
    pub(super) basis: Basis,
    /// Root mean square distance from the line in seconds, if there is a line.
    pub(super) residual_s: Option<f64>,
    /// Standard error of the found frequency as a share of it, if there is a line.
    pub(super) error: Option<f64>,
    /// Steps of the host's clock within jobs, and the largest one in seconds.
    pub(super) steps: (u64, f64),
    /// Time and repaired counter of the first point of each job.
    firsts: Vec<Option<CounterPoint>>,
    /// Distance of each job from the line of the earliest job, in seconds.
    pub(super) shifts_s: Vec<f64>,
    /// The same with the slope that is used.
    used_shifts_s: Vec<f64>,
    /// Overflows over the run.
    pub(super) wraps: i64,
    first_wrap: i64,
}

impl DeviceCounters {
    /// Counters of a device whose frequency the user stated, or not.
    pub(super) fn new(stated_hz: Option<f64>) -> Self {
        Self {
            stated_hz,
            jobs: Vec::new(),
            points: Vec::new(),
            within: LeastSquares::empty(FIRST_GUESS_HZ),
            last: None,
            kernels: (0, 0),
        }
    }

    /// Best frequency so far, in hertz: the slope of the lines of all jobs so far. Durations on the
    /// host are longer than those of the device, so they are worse.
    fn running_hz(&self) -> f64 {
        let mut within = self.within;
        if let Some((.., job)) = self.last {
            within.stack(&self.jobs[job].line);
        }
        within.sure_slope().or(self.mean_hz()).or(self.stated_hz).unwrap_or(FIRST_GUESS_HZ)
    }

    /// Takes the duration of a kernel: cycles and picoseconds.
    pub(super) fn kernel(&mut self, cycles: u32, host_ps: i64) {
        if host_ps > 0 {
            self.kernels.0 = self.kernels.0.saturating_add(u64::from(cycles));
            self.kernels.1 = self.kernels.1.saturating_add(host_ps);
        }
    }

    /// Cycles of all kernels over their durations, in hertz.
    fn mean_hz(&self) -> Option<f64> {
        let (cycles, ps) = self.kernels;
        (ps > 0 && cycles > 0).then(|| cycles as f64 / ps as f64 * PS_PER_S)
    }

    /// Takes a pair: time of the host, and counter. The slice's first counter was `back` cycles
    /// before.
    pub(super) fn point(&mut self, job: u32, time_ps: i64, counter: u32, back: u32) {
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
            self.jobs.resize(at + 1, JobCounters::UNUSED);
        }
        self.last = Some((time_ps, repaired, at));
        let of = &mut self.jobs[at];
        let point = CounterPoint { time_ps, cycles: repaired };
        let first = repaired.saturating_sub(i64::from(back));
        if of.is_used {
            of.span = (of.span.0.min(first), of.span.1.max(repaired));
        } else {
            *of = JobCounters { first: point, span: (first, repaired), is_used: true, ..*of };
        }
        let (seconds, cycles) = (point.seconds_since(of.first), point.cycles_since(of.first));
        of.line.add(seconds, cycles);
        if at < MAX_SEARCHED {
            self.points.resize(self.points.len().max(at + 1), Points::default());
            self.points[at].add(seconds, cycles);
        }
    }

    /// The pieces of each job whose times are shifted against each other.
    fn pieces(&self) -> Vec<Option<Pieces>> {
        let of = |(job, points): (&JobCounters, &Points)| {
            let slope = job.line.slope()?;
            let residual_s = (job.line.squares(slope) / job.line.count).sqrt() / slope;
            points.pieces().filter(|_| residual_s > MIN_RESIDUAL_S)
        };
        self.jobs.iter().zip(&self.points).map(of).collect()
    }

    /// The jobs, with the overflows between them counted by this frequency.
    fn settled(&self, hz: f64) -> Vec<JobCounters> {
        let mut jobs = self.jobs.clone();
        for pair in by_time(&jobs).windows(2) {
            let (before, now) = (jobs[pair[0]].first, jobs[pair[1]]);
            let expected = before.cycles as f64 + now.first.seconds_since(before) * hz;
            let repaired = near(now.first.cycles.rem_euclid(WRAP_INT), expected);
            jobs[pair[1]] = now.moved_to(repaired);
        }
        jobs
    }

    /// The clock of all slices. The order of the jobs does not matter.
    pub(super) fn finish(&self) -> CounterClock {
        let (mean_hz, pieces) = (self.mean_hz(), self.pieces());
        let piece = |at: usize| pieces.get(at).copied().flatten();
        let steps = pieces.iter().flatten().fold((0, 0.0_f64), |(steps, most), of| {
            (steps + of.steps, if of.largest_s.abs() > most.abs() { of.largest_s } else { most })
        });
        let mut shared = LeastSquares::empty(FIRST_GUESS_HZ);
        for at in by_time(&self.jobs) {
            shared.stack(&piece(at).map_or(self.jobs[at].line, |piece| piece.within));
        }
        let jobs = match shared.sure_slope() {
            Some(hz) => self.settled(hz),
            None => self.jobs.clone(),
        };
        let used: Vec<&JobCounters> = by_time(&jobs).into_iter().map(|at| &jobs[at]).collect();
        let (found_hz, basis, residual_s) = fit(&used, &shared, mean_hz, steps.0 > 0);
        let error = residual_s.and(shared.relative_error());
        let used_hz = self.stated_hz.unwrap_or(found_hz);
        let low = used.iter().map(|job| job.span.0).min().unwrap_or(0).div_euclid(WRAP_INT);
        let high = used.iter().map(|job| job.span.1).max().unwrap_or(0).div_euclid(WRAP_INT);
        let origin = used.first().map_or(CounterPoint::default(), |first| first.first);
        let shift = |job: &JobCounters, hz: f64| {
            let (seconds, cycles) = (job.first.seconds_since(origin), job.first.cycles_since(origin));
            (seconds + job.line.mean_t) - (cycles + job.line.mean_cycles()) / hz
        };
        let shifts = |hz: f64| {
            let of_first = used.first().map_or(0.0, |first| shift(first, hz));
            jobs.iter().map(|job| if job.is_used { shift(job, hz) - of_first } else { 0.0 }).collect()
        };
        CounterClock {
            used_hz,
            found_hz,
            mean_hz,
            basis,
            residual_s,
            error,
            steps,
            firsts: jobs.iter().map(|job| job.is_used.then_some(job.first)).collect(),
            shifts_s: shifts(found_hz),
            used_shifts_s: shifts(used_hz),
            wraps: high - low,
            first_wrap: low,
        }
    }
}

/// The places of the jobs with points, by the time of their first point.
fn by_time(jobs: &[JobCounters]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..jobs.len()).filter(|&at| jobs[at].is_used).collect();
    order.sort_by_key(|&at| (jobs[at].first, jobs[at].span));
    order
}

/// Frequency, basis, and residual in seconds, if there is a line. The jobs come by their times;
/// `shared` are their lines on one another, or those of their pieces.
fn fit(
    jobs: &[&JobCounters],
    shared: &LeastSquares,
    mean_hz: Option<f64>,
    has_steps: bool,
) -> (f64, Basis, Option<f64>) {
    let Some(within) = shared.slope() else {
        let basis = if mean_hz.is_some() { Basis::Durations } else { Basis::Guess };
        return (mean_hz.unwrap_or(FIRST_GUESS_HZ), basis, None);
    };
    let residual = |line: &LeastSquares, hz: f64| (line.squares(hz) / shared.count).sqrt() / hz;
    let within_s = residual(shared, within);
    if has_steps {
        return (within, Basis::Pieces, Some(within_s));
    }
    let mut pooled = LeastSquares::empty(within);
    let origin = jobs.first().map_or(CounterPoint::default(), |job| job.first);
    for job in jobs {
        pooled.merge(&job.line, job.first.seconds_since(origin), job.first.cycles_since(origin));
    }
    let Some(hz) = pooled.slope() else { return (within, Basis::Jobs, Some(within_s)) };
    let pooled_s = residual(&pooled, hz);
    if pooled_s <= (within_s * MAX_SPREAD).max(MIN_SHIFT_S) {
        (hz, Basis::Run, Some(pooled_s))
    } else {
        (within, Basis::Jobs, Some(within_s))
    }
}

/// The number that is `counter` after whole overflows, nearest to `expected`.
fn near(counter: i64, expected: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "casts of floats saturate")]
    let wraps = ((expected - counter as f64) / WRAP).round() as i64;
    counter.saturating_add(wraps.saturating_mul(WRAP_INT))
}

impl CounterClock {
    /// Duration of cycles in picoseconds.
    #[expect(clippy::cast_possible_truncation, reason = "casts of floats saturate")]
    pub(super) fn ps(&self, cycles: f64) -> i64 {
        (cycles / self.used_hz * PS_PER_S).round() as i64
    }

    /// The counter at a time of a job, with the overflows since the first slice of the rank.
    pub(super) fn repaired(&self, job: u32, time_ps: i64, counter: u32) -> i64 {
        let Some(first) = self.firsts.get(job as usize).copied().flatten() else {
            return i64::from(counter);
        };
        let seconds = time_ps.saturating_sub(first.time_ps) as f64 / PS_PER_S;
        let expected = first.cycles as f64 + seconds * self.found_hz;
        near(i64::from(counter), expected).saturating_sub(self.first_wrap.saturating_mul(WRAP_INT))
    }

    /// Largest shift of a job against the earliest one by the found frequency, in seconds.
    pub(super) fn drift_s(&self) -> f64 {
        largest(&self.shifts_s)
    }

    /// Largest shift of a job against the earliest one by the used frequency, in seconds.
    pub(super) fn used_drift_s(&self) -> f64 {
        largest(&self.used_shifts_s)
    }
}

/// The shift that is furthest from zero, with its sign. Ties between +x and −x resolve to
/// +x, so that the order of the files does not matter.
fn largest(shifts_s: &[f64]) -> f64 {
    let nearer = |a: &f64, b: &f64| a.abs().total_cmp(&b.abs()).then(a.total_cmp(b));
    shifts_s.iter().copied().chain([0.0]).max_by(nearer).unwrap_or(0.0)
}

#[cfg(test)]
mod tests;
