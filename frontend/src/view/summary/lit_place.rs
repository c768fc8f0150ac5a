//! The part of a rank that lights up in the strip while a number or a finding is looked at.

use std::fmt::Write as _;

use nprof_engine::base::Interval;

/// Cells in which the hits of a query are counted.
pub const CELLS: u32 = 512;

/// A place that lights up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LitPlace {
    /// Spans, in times of the page.
    Spans(Vec<Interval>),
    /// The slices that a query finds.
    Slices(String),
}

/// A span of the strip, in percent of its width.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StripSpan {
    /// Left end.
    pub left: f64,
    /// Width.
    pub width: f64,
}

impl StripSpan {
    /// The part of a span in the whole. `None` if it lies outside.
    #[must_use]
    pub fn of(span: Interval, whole: Interval) -> Option<Self> {
        if span.end.0 < whole.start.0 || span.start.0 > whole.end.0 {
            return None;
        }
        let length = (whole.duration_ps() as f64).max(1.0);
        let percent = |ps: i64| (100.0 * (ps - whole.start.0) as f64 / length).clamp(0.0, 100.0);
        let (left, right) = (percent(span.start.0), percent(span.end.0));
        Some(Self { left, width: right - left })
    }

    /// The place as a style.
    #[must_use]
    pub fn style(self) -> String {
        format!("--left: {:.3}%; --width: {:.3}%", self.left, self.width)
    }
}

/// The outline of bars as a path of SVG, one unit wide each and at most one unit high. The fullest
/// cell has the whole height; the square root keeps single hits visible.
#[must_use]
pub fn density_path(density: &[u32]) -> String {
    let most = f64::from(density.iter().copied().max().unwrap_or(0).max(1));
    let mut path = String::new();
    for (at, &count) in density.iter().enumerate().filter(|(_, count)| **count > 0) {
        let height = (f64::from(count) / most).sqrt();
        // A string takes everything.
        let _ = write!(path, "M{at} 1v-{height:.3}h1v{height:.3}z");
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_parts_of_the_width() {
        let whole = Interval::new(100, 300);
        let of = |start, end| StripSpan::of(Interval::new(start, end), whole).map(|of| (of.left, of.width));
        assert_eq!(of(150, 200), Some((25.0, 25.0)));
        assert_eq!(of(0, 110), Some((0.0, 5.0)));
        assert_eq!(of(0, 99), None);
        assert_eq!(of(300, 300), Some((100.0, 0.0)));
    }

    #[test]
    fn single_hits_stay_visible_beside_many() {
        assert_eq!(density_path(&[0, 1, 100]), "M1 1v-0.100h1v0.100zM2 1v-1.000h1v1.000z");
        assert_eq!(density_path(&[0, 0]), "");
    }
}
