//! A position on the page.

/// A position in CSS pixels, from the upper left corner of the viewport or of an element.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Point {
    /// Distance from the left.
    pub x_px: f64,
    /// Distance from the top.
    pub y_px: f64,
}

impl Point {
    /// The point at these distances from the left and from the top.
    #[must_use]
    pub const fn new(x_px: f64, y_px: f64) -> Self {
        Self { x_px, y_px }
    }

    /// Distance between two points.
    #[must_use]
    pub fn distance_px(self, other: Self) -> f64 {
        (self.x_px - other.x_px).hypot(self.y_px - other.y_px)
    }

    /// The point halfway between two.
    #[must_use]
    pub fn middle(self, other: Self) -> Self {
        Self::new(f64::midpoint(self.x_px, other.x_px), f64::midpoint(self.y_px, other.y_px))
    }
}
