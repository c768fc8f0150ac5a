//! Which steps take longer than the others.
//!
//! The median and the median of distances from it (MAD) are not moved by the outliers themselves.
//! 1.4826 MAD are a standard deviation of normal values (Rousseeuw and Croux, "Alternatives to the
//! median absolute deviation", 1993).

use super::bound::median;

/// Deviations in MAD from which a step stands out: about 3.5 standard deviations.
const MOST_DEVIATIONS: f64 = 3.5 * 1.4826;
/// Part of the median from which a step can stand out at all.
const LEAST_DEVIATION: f64 = 0.05;
/// Steps that are enough to tell what is usual.
const ENOUGH: usize = 3;

/// The duration of a step beside that of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepPace {
    /// About the median.
    Usual,
    /// Longer, and before all steps that are not.
    WarmUp,
    /// Much longer.
    Slow,
    /// Much shorter.
    Fast,
    /// Not known: the step is cut, or there are too few.
    Unknown,
}

/// The duration of a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepTime {
    /// In picoseconds; `None` if it is not known.
    pub(super) ps: Option<i64>,
    /// Whether a part of it is missing, so that it tells nothing if it is short.
    pub(super) is_short: bool,
}

/// The paces of steps.
#[derive(Debug, PartialEq)]
pub(super) struct Paces {
    pub(super) of_steps: Vec<StepPace>,
    /// Median duration of the steps behind the warm-up.
    pub(super) median_ps: i64,
}

/// The paces of steps by their durations.
pub(super) fn paces(times: &[StepTime]) -> Paces {
    let known = |times: &[StepTime]| -> Vec<i64> { times.iter().filter_map(|time| time.ps).collect() };
    let all = known(times);
    let median_ps = median(all.clone());
    if all.len() < ENOUGH {
        return Paces { of_steps: vec![StepPace::Unknown; times.len()], median_ps };
    }
    let deviations = all.iter().map(|ps| ps.saturating_sub(median_ps).saturating_abs());
    let deviation_ps = median(deviations.collect());
    let most = (MOST_DEVIATIONS * deviation_ps as f64).max(LEAST_DEVIATION * median_ps as f64);
    let pace = |time: &StepTime| match time.ps.map(|ps| ps as f64 - median_ps as f64) {
        None => StepPace::Unknown,
        Some(longer) if longer > most => StepPace::Slow,
        Some(longer) if longer < -most && time.is_short => StepPace::Unknown,
        Some(longer) if longer < -most => StepPace::Fast,
        Some(_) => StepPace::Usual,
    };
    let mut of_steps: Vec<StepPace> = times.iter().map(pace).collect();
    let warm_up =
        of_steps.iter().take_while(|pace| matches!(pace, StepPace::Slow | StepPace::Unknown)).count();
    for pace in of_steps[..warm_up].iter_mut().filter(|pace| **pace == StepPace::Slow) {
        *pace = StepPace::WarmUp;
    }
    Paces { median_ps: median(known(&times[warm_up..])), of_steps }
}
