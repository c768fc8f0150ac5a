//! What a frame needs beside its rectangles.

use super::palette::Ground;

/// The surface of a frame, in CSS pixels.
#[derive(Debug, Clone)]
pub struct Surface {
    /// Width.
    pub width_px: f64,
    /// Height.
    pub height_px: f64,
    /// Distance of its top from the top of the first row.
    pub scroll_px: f64,
    /// Pixels of the screen for a CSS pixel.
    pub ratio: f64,
    /// The left edges of vertical lines, which lie below all rectangles.
    pub lines_px: Vec<f64>,
    /// What everything stands on.
    pub ground: Ground,
}

/// How solid the vertical lines are.
const LINE_ALPHA: f32 = 0.09;

impl Surface {
    /// Width and height in pixels of the screen.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "a size in pixels")]
    pub fn size_px(&self) -> (i32, i32) {
        let px = |length: f64| (length * self.ratio).round() as i32;
        (px(self.width_px), px(self.height_px))
    }

    /// The vertical lines' red, green, blue and alpha from 0 to 1, premultiplied.
    #[must_use]
    pub fn line_premultiplied(&self) -> [f32; 4] {
        let [red, green, blue] = match self.ground {
            Ground::Light => [0.08, 0.10, 0.14],
            Ground::Dark => [0.90, 0.91, 0.93],
        };
        [red * LINE_ALPHA, green * LINE_ALPHA, blue * LINE_ALPHA, LINE_ALPHA]
    }

    /// The vertical lines' colour as CSS writes it.
    #[must_use]
    pub fn line_css(&self) -> String {
        let [red, green, blue, alpha] = self.line_premultiplied();
        let [red, green, blue] = [red, green, blue].map(|part| (part / alpha * 255.0).round());
        format!("rgb({red} {green} {blue} / {alpha})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_the_lines_are_one_colour() {
        let surface = |ground| Surface {
            width_px: 1.0,
            height_px: 1.0,
            scroll_px: 0.0,
            ratio: 1.0,
            lines_px: Vec::new(),
            ground,
        };
        assert_eq!(surface(Ground::Light).line_css(), "rgb(20 26 36 / 0.09)");
        assert_eq!(surface(Ground::Dark).line_css(), "rgb(230 232 237 / 0.09)");
    }
}
