//! The size of a part of the page.

/// A size in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Size {
    /// From left to right.
    pub width_px: f64,
    /// From top to bottom.
    pub height_px: f64,
}

impl Size {
    /// The size with this width and height.
    #[must_use]
    pub const fn new(width_px: f64, height_px: f64) -> Self {
        Self { width_px, height_px }
    }
}
