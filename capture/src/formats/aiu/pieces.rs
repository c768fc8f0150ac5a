//! Steps of the host's clock within a file, such as those of jobs that were merged into one file.
//!
//! The counter of the device has no steps, so the points come in its order. A rough slope is the
//! median of many short ones, of which only those across a step are wrong. A piece ends if the time
//! goes further from that slope than the scatter explains. Pieces whose lines meet are one piece.

use nprof_engine::base::median;

use super::line::LeastSquares;

/// Most points of a file that are kept: every second one is dropped when there are more.
const MAX_POINTS: usize = 4096;
/// Fewest points that are searched, and fewest of a piece. Fewer ones are late ends, no piece.
const MIN_POINTS: usize = 8;
const MIN_PIECE: usize = 4;
/// Short slopes are those of points this share of all points apart.
const LAG: usize = 32;
/// A smaller step is none, in seconds.
const MIN_STEP_S: f64 = 20e-6;
/// A step is larger than this many times the usual distance between neighbours.
const MIN_SPREAD: f64 = 12.0;
/// Standard errors by which lines of one piece can miss each other.
const MAX_ERRORS: f64 = 4.0;

/// Some points of a file: seconds and cycles since its first one.
#[derive(Debug, Clone, Default)]
pub(super) struct Points {
    kept: Vec<(f64, f64)>,
    taken: usize,
    /// Each point of this many is kept.
    every: usize,
}

/// The pieces of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pieces {
    /// The lines of the pieces on one another.
    pub(super) within: LeastSquares,
    pub(super) steps: u64,
    /// The largest step in seconds.
    pub(super) largest_s: f64,
}

impl Points {
    /// Takes a point.
    pub(super) fn add(&mut self, seconds: f64, cycles: f64) {
        let every = self.every.max(1);
        if self.taken.is_multiple_of(every) {
            self.kept.push((seconds, cycles));
        }
        self.taken += 1;
        if self.kept.len() >= MAX_POINTS {
            let mut at = 0;
            self.kept.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.every = 2 * every;
        }
    }

    /// The pieces; `None` if the clock of the host has no steps.
    pub(super) fn pieces(&self) -> Option<Pieces> {
        let mut points = self.kept.clone();
        points.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.total_cmp(&b.0)));
        if points.len() < MIN_POINTS {
            return None;
        }
        let rough_hz = rough_hz(&points)?;
        let late = |point: &(f64, f64)| point.0 - point.1 / rough_hz;
        let distances: Vec<f64> = points.windows(2).map(|pair| late(&pair[1]) - late(&pair[0])).collect();
        let usual = median(distances.iter().map(|distance| distance.abs()).collect())?;
        let limit = (usual * MIN_SPREAD).max(MIN_STEP_S);
        let mut pieces: Vec<LeastSquares> = Vec::new();
        let mut open = LeastSquares::empty(rough_hz);
        for (at, &(seconds, cycles)) in points.iter().enumerate() {
            if at > 0 && distances[at - 1].abs() > limit {
                pieces.push(std::mem::replace(&mut open, LeastSquares::empty(rough_hz)));
            }
            open.add(seconds, cycles);
        }
        pieces.push(open);
        pieces.retain(|piece| piece.count >= MIN_PIECE as f64);
        joined(&pieces, limit)
    }
}

/// The pieces without those whose lines meet.
fn joined(pieces: &[LeastSquares], limit: f64) -> Option<Pieces> {
    let within = stacked(pieces);
    let hz = within.slope()?;
    let error = within.relative_error().unwrap_or(0.0);
    let late = |piece: &LeastSquares| piece.mean_t - piece.mean_cycles() / hz;
    let mut found: Vec<LeastSquares> = Vec::new();
    let (mut steps, mut largest_s) = (0, 0.0_f64);
    for piece in pieces {
        let Some(before) = found.last_mut() else {
            found.push(*piece);
            continue;
        };
        let (step_s, pause_s) = (late(piece) - late(before), (piece.mean_t - before.mean_t).abs());
        if step_s.abs() > limit + MAX_ERRORS * error * pause_s {
            (steps, largest_s) = (steps + 1, if step_s.abs() > largest_s.abs() { step_s } else { largest_s });
            found.push(*piece);
        } else {
            before.merge(piece, 0.0, 0.0);
        }
    }
    (steps > 0).then(|| Pieces { within: stacked(&found), steps, largest_s })
}

fn stacked(pieces: &[LeastSquares]) -> LeastSquares {
    let mut within = LeastSquares::empty(pieces.first().map_or(0.0, |piece| piece.base_hz));
    pieces.iter().for_each(|piece| within.stack(piece));
    within
}

/// Median of the slopes of points that are some points apart.
fn rough_hz(points: &[(f64, f64)]) -> Option<f64> {
    let lag = (points.len() / LAG).max(1);
    let slopes = points.iter().zip(&points[lag..]).map(|(a, b)| (b.1 - a.1) / (b.0 - a.0));
    median(slopes.filter(|slope| slope.is_finite()).collect()).filter(|hz| *hz > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HZ: f64 = 557.05e6;

    /// Points of jobs with kernels of 250 us that begin at these seconds, by a clock of the host
    /// that is this much ahead. The host sees ends up to 15 us late.
    fn points(jobs: &[(f64, f64)], kernels: usize) -> Points {
        let mut points = Points::default();
        for (job, &(begin, ahead)) in jobs.iter().enumerate() {
            for n in 0..kernels {
                let seconds = begin + n as f64 * 250e-6;
                let late = ((n * 7_919 + job * 31) % 16) as f64 * 1e-6;
                points.add(seconds + ahead + late, (seconds * HZ).round());
            }
        }
        points
    }

    #[track_caller]
    fn check(jobs: &[(f64, f64)], kernels: usize, steps: u64, largest_s: f64) {
        let found = points(jobs, kernels).pieces();
        assert_eq!(found.map_or(0, |pieces| pieces.steps), steps, "{jobs:?}: {found:?}");
        let Some(Pieces { within, largest_s: found_s, .. }) = found else { return };
        let hz = within.slope().unwrap();
        assert!((hz / HZ - 1.0).abs() < 1e-3, "{hz}");
        assert!((found_s - largest_s).abs() < 50e-6, "{found_s}");
    }

    #[test]
    fn steps_are_found_and_pauses_are_none() {
        check(&[(0.0, 0.0), (0.02, 0.0), (9.0, 0.0)], 40, 0, 0.0);
        check(&[(0.0, 0.0), (0.02, 0.04), (0.04, -0.025)], 40, 2, -0.065);
        check(&[(0.0, 0.0), (0.02, 300e-6)], 40, 1, 300e-6);
        // After a long pause, the slopes of few kernels do not tell a small step.
        check(&[(0.0, 0.0), (5.0, 300e-6)], 40, 0, 0.0);
        check(&[(0.0, 0.0), (0.01, 0.04)], 20, 1, 0.04);
        // More points than are kept.
        check(&[(0.0, 0.0), (9.0, 0.04), (30.0, 0.0)], 9_000, 2, 0.04);
        check(&[(0.0, 0.0)], 9_000, 0, 0.0);
        check(&[], 0, 0, 0.0);
    }

    #[test]
    fn a_late_end_is_no_step() {
        let mut late = points(&[(0.0, 0.0)], 60);
        late.kept[20].0 += 0.01;
        late.kept[40].0 += 0.002;
        assert!(late.pieces().is_none());
    }
}
