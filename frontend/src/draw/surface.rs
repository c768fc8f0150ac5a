//! Properties of a frame other than its rectangles.

use super::palette::Ground;
use crate::view::rows::layout::sight::Area;

/// The drawing area of a frame, in CSS pixels.
#[derive(Debug, Clone)]
pub struct Surface {
    /// Width.
    pub width_px: f64,
    /// Height.
    pub height_px: f64,
    /// Device pixels per CSS pixel.
    pub ratio: f64,
    /// Positions of the vertical lines below all rectangles.
    pub lines_px: Vec<f64>,
    /// Background of the frame.
    pub ground: Ground,
}

/// Opacity of the vertical lines.
const LINE_ALPHA: f32 = 0.09;

impl Surface {
    /// Width and height in device pixels.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "a size in pixels")]
    pub fn size_px(&self) -> (i32, i32) {
        let px = |length: f64| (length * self.ratio).round() as i32;
        (px(self.width_px), px(self.height_px))
    }

    /// Upper and lower edge of an area in device pixels.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "a position in pixels")]
    pub fn edges_px(&self, area: &Area) -> (i32, i32) {
        let px = |length: f64| (length * self.ratio).round() as i32;
        (px(area.top_px), px(area.foot_px()))
    }

    /// Colour of the vertical lines: red, green, blue and alpha from 0 to 1, premultiplied.
    #[must_use]
    pub fn line_premultiplied(&self) -> [f32; 4] {
        let [red, green, blue] = match self.ground {
            Ground::Light => [0.08, 0.10, 0.14],
            Ground::Dark => [0.90, 0.91, 0.93],
        };
        [red * LINE_ALPHA, green * LINE_ALPHA, blue * LINE_ALPHA, LINE_ALPHA]
    }

    /// Colour of the vertical lines in CSS.
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
        let surface =
            |ground| Surface { width_px: 1.0, height_px: 1.0, ratio: 1.0, lines_px: Vec::new(), ground };
        assert_eq!(surface(Ground::Light).line_css(), "rgb(20 26 36 / 0.09)");
        assert_eq!(surface(Ground::Dark).line_css(), "rgb(230 232 237 / 0.09)");
    }
}
