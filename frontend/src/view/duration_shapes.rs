//! The durations of slices in two runs as shapes that lie one over the other. Pure.

use std::fmt::Write;

use nprof_engine::base::time::short_duration;
use nprof_engine::wire::comparison::ComparedDurations;

/// Width of the picture.
pub const WIDTH: f64 = 96.0;
/// Height of the picture.
pub const HEIGHT: f64 = 16.0;

/// The outlines of both runs as paths of SVG. A bar is as high as its part of the slices of the
/// run, relative to the highest one of both. Empty for a run without slices.
#[must_use]
pub fn duration_shapes(of: &ComparedDurations) -> [String; 2] {
    let part = |counts: &[u64], count: u64| count as f64 / counts.iter().sum::<u64>().max(1) as f64;
    let highest = |counts: &[u64]| part(counts, counts.iter().copied().max().unwrap_or_default());
    let most = highest(&of.a).max(highest(&of.b));
    let shape = |counts: &[u64]| {
        let mut path = String::new();
        if counts.iter().all(|count| *count == 0) {
            return path;
        }
        let wide = WIDTH / counts.len() as f64;
        // Writing to memory does not fail.
        let _ = write!(path, "M0 {HEIGHT}");
        for (at, count) in counts.iter().enumerate() {
            let top = HEIGHT * (1.0 - part(counts, *count) / most);
            let _ = write!(path, "V{top:.1}H{:.1}", wide * (at + 1) as f64);
        }
        let _ = write!(path, "V{HEIGHT}Z");
        path
    };
    [shape(&of.a), shape(&of.b)]
}

/// From which to which duration the slices of each run take.
#[must_use]
pub fn in_words(of: &ComparedDurations) -> String {
    let range = |letter: &str, counts: &[u64]| {
        let first = counts.iter().position(|count| *count > 0)?;
        let last = counts.iter().rposition(|count| *count > 0)?;
        let edge = |at: usize| of.edges_ps.get(at).map(|ps| short_duration(*ps as f64));
        Some(format!("{letter}: {} to {}", edge(first)?, edge(last + 1)?))
    };
    let ranges: Vec<String> = [range("A", &of.a), range("B", &of.b)].into_iter().flatten().collect();
    ranges.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_stand_over_the_bars_of_their_run() {
        let of = ComparedDurations {
            edges_ps: vec![1_000_000, 2_000_000, 4_000_000],
            a: vec![1, 1],
            b: vec![0, 8],
        };
        let [a, b] = duration_shapes(&of);
        // Half of the slices of A are as high as half of what all of B are.
        assert_eq!(a, "M0 16V8.0H48.0V8.0H96.0V16Z");
        assert_eq!(b, "M0 16V16.0H48.0V0.0H96.0V16Z");
        assert_eq!(in_words(&of), "A: 1.00 µs to 4.00 µs, B: 2.00 µs to 4.00 µs");
        let none = ComparedDurations { b: vec![0, 0], ..of };
        assert_eq!(duration_shapes(&none)[1], "");
        assert_eq!(in_words(&none), "A: 1.00 µs to 4.00 µs");
    }
}
