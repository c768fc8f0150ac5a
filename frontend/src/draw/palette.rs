//! Colours, built in OKLCH (Björn Ottosson, "A perceptual color space for image processing"), in
//! which equal distances look equal.
//!
//! The first [`FIRST_COLOURS`] differ in lightness as well as in hue, so people who see no red or
//! no green can tell them apart. Every colour has enough contrast to either dark or white text.

use std::sync::LazyLock;

/// A colour as red, green and blue from 0 to 1, in sRGB.
pub type Rgb = [f32; 3];

/// Lightness, chroma and hue on a light background. The order counts: the names with the most time
/// get the first colours.
const NAMES: [(f64, f64, f64); NAME_COLOURS] = [
    (0.62, 0.15, 255.0),
    (0.69, 0.16, 52.0),
    (0.60, 0.125, 160.0),
    (0.72, 0.15, 350.0),
    (0.79, 0.09, 222.0),
    (0.84, 0.15, 103.0),
    (0.50, 0.17, 292.0),
    (0.55, 0.16, 30.0),
    (0.66, 0.10, 195.0),
    (0.76, 0.18, 130.0),
    (0.80, 0.09, 40.0),
    (0.74, 0.11, 305.0),
    (0.44, 0.12, 262.0),
    (0.50, 0.12, 140.0),
    (0.46, 0.13, 345.0),
    (0.64, 0.12, 80.0),
];
/// Number of colours for names.
pub const NAME_COLOURS: usize = 16;
/// Number of leading colours that differ most from each other.
pub const FIRST_COLOURS: usize = 8;
/// Index of the colour of counters, after the names' colours.
pub const COUNTER: u8 = NAME_COLOURS as u8;
/// Index of the colour of closed groups. It belongs to no name, because a band shows many.
pub const GROUP: u8 = COUNTER + 1;
/// Index of the colour of waits, in which nothing is done.
pub const WAIT: u8 = GROUP + 1;
/// Index of the colour of waiting in rows that are too low for hatches.
pub const HEAT: u8 = WAIT + 1;
/// Number of all colours.
pub const COLOURS: usize = HEAT as usize + 1;

/// Background of the page, which selects the colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Ground {
    /// Dark text on white.
    #[default]
    Light,
    /// Light text on black.
    Dark,
}

/// Colour of the text on a bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// Text on light bars.
    Dark,
    /// Text on dark bars.
    White,
}

impl Ink {
    /// Colour of text on the background itself.
    #[must_use]
    pub fn of_ground(ground: Ground) -> Self {
        match ground {
            Ground::Light => Self::Dark,
            Ground::Dark => Self::White,
        }
    }

    /// The colour in CSS.
    #[must_use]
    pub fn css(self) -> &'static str {
        match self {
            Self::Dark => "#10141a",
            Self::White => "#ffffff",
        }
    }
}

/// The colours for a background, by index.
#[must_use]
pub fn colours(ground: Ground) -> [Rgb; COLOURS] {
    kept(ground).0
}

/// The text colour that reads better on each colour of a background.
#[must_use]
pub fn inks(ground: Ground) -> [Ink; COLOURS] {
    kept(ground).1
}

/// Colours and inks. Every frame asks for them several times, and a colour takes a dozen of powers
/// and sines.
fn kept(ground: Ground) -> &'static ([Rgb; COLOURS], [Ink; COLOURS]) {
    static ALL: LazyLock<[([Rgb; COLOURS], [Ink; COLOURS]); 2]> = LazyLock::new(|| {
        [Ground::Light, Ground::Dark].map(|ground| {
            let colours = computed(ground);
            (colours, colours.map(ink))
        })
    });
    &ALL[usize::from(ground == Ground::Dark)]
}

fn computed(ground: Ground) -> [Rgb; COLOURS] {
    let mut all = [[0.0; 3]; COLOURS];
    for (colour, (lightness, chroma, hue)) in all.iter_mut().zip(NAMES) {
        *colour = match ground {
            Ground::Light => rgb_from_oklch(lightness, chroma, hue),
            // On black, light colours glare and dark ones are lost: all move towards the middle.
            Ground::Dark => rgb_from_oklch(lightness * 0.82 + 0.10, chroma * 0.95, hue),
        };
    }
    all[COUNTER as usize] = match ground {
        Ground::Light => rgb_from_oklch(0.58, 0.13, 255.0),
        Ground::Dark => rgb_from_oklch(0.72, 0.12, 255.0),
    };
    all[GROUP as usize] = match ground {
        Ground::Light => rgb_from_oklch(0.56, 0.055, 265.0),
        Ground::Dark => rgb_from_oklch(0.66, 0.055, 265.0),
    };
    all[WAIT as usize] = match ground {
        Ground::Light => rgb_from_oklch(0.62, 0.02, 265.0),
        Ground::Dark => rgb_from_oklch(0.60, 0.02, 265.0),
    };
    all[HEAT as usize] = match ground {
        Ground::Light => rgb_from_oklch(0.58, 0.19, 33.0),
        Ground::Dark => rgb_from_oklch(0.70, 0.17, 45.0),
    };
    all
}

/// The text colour that reads better on a colour.
fn ink(colour: Rgb) -> Ink {
    // Luminance at which both contrasts are equal: white has luminance 1, the dark ink almost 0.
    const MIDDLE: f32 = 0.19;
    if luminance(colour) > MIDDLE { Ink::Dark } else { Ink::White }
}

/// Relative luminance (WCAG 2.2).
fn luminance(colour: Rgb) -> f32 {
    let [r, g, b] = colour.map(|c| if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) });
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

fn rgb_from_oklch(lightness: f64, chroma: f64, hue_degrees: f64) -> Rgb {
    let (sin, cos) = hue_degrees.to_radians().sin_cos();
    let (a, b) = (chroma * cos, chroma * sin);
    let l = (lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
    let m = (lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
    let s = (lightness - 0.089_484_177_5 * a - 1.291_485_548 * b).powi(3);
    [
        4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s,
        -1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s,
        -0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701 * s,
    ]
    .map(|linear| srgb_from_linear(linear) as f32)
}

fn srgb_from_linear(linear: f64) -> f64 {
    let linear = linear.clamp(0.0, 1.0);
    if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Matrices of the linear light that remains without red perception, and without green
    /// perception. Source: Machado, Oliveira and Fernandes, "A physiologically-based model for
    /// simulation of color vision deficiency", severity 1.
    const NO_RED: [[f32; 3]; 3] = [
        [0.152_286, 1.052_583, -0.204_868],
        [0.114_503, 0.786_281, 0.099_216],
        [-0.003_882, -0.048_116, 1.051_998],
    ];
    const NO_GREEN: [[f32; 3]; 3] = [
        [0.367_322, 0.860_646, -0.227_968],
        [0.280_085, 0.672_501, 0.047_413],
        [-0.011_820, 0.042_940, 0.968_881],
    ];
    const ALL: [[f32; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

    fn oklab(colour: Rgb, seen: [[f32; 3]; 3]) -> [f32; 3] {
        let linear = colour.map(|c| if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) });
        let dot = |row: [f32; 3], of: [f32; 3]| row[0] * of[0] + row[1] * of[1] + row[2] * of[2];
        let linear = seen.map(|row| dot(row, linear).max(0.0));
        let cones = [
            [0.412_221_47, 0.536_332_55, 0.051_445_995],
            [0.211_903_5, 0.680_699_5, 0.107_396_96],
            [0.088_302_46, 0.281_718_85, 0.629_978_7],
        ]
        .map(|row| dot(row, linear).cbrt());
        [
            [0.210_454_26, 0.793_617_8, -0.004_072_047],
            [1.977_998_5, -2.428_592_2, 0.450_593_7],
            [0.025_904_037, 0.782_771_77, -0.808_675_77],
        ]
        .map(|row| dot(row, cones))
    }

    #[track_caller]
    fn check_differ(count: usize, seen: [[f32; 3]; 3], least: f32) {
        for ground in [Ground::Light, Ground::Dark] {
            let all = colours(ground).map(|colour| oklab(colour, seen));
            for (at, one) in all[..count].iter().enumerate() {
                for (offset, other) in all[at + 1..count].iter().enumerate() {
                    let distance = one.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt();
                    assert!(distance >= least, "{ground:?}: {at} and {}, {distance}", at + 1 + offset);
                }
            }
        }
    }

    #[test]
    fn colours_differ_also_for_those_who_see_fewer() {
        check_differ(FIRST_COLOURS, ALL, 0.12);
        check_differ(FIRST_COLOURS, NO_RED, 0.06);
        check_differ(FIRST_COLOURS, NO_GREEN, 0.06);
        check_differ(NAME_COLOURS, ALL, 0.08);
    }

    #[test]
    fn text_can_be_read_on_every_bar() {
        for ground in [Ground::Light, Ground::Dark] {
            for (colour, ink) in colours(ground).into_iter().zip(inks(ground)).take(NAME_COLOURS) {
                let ink = match ink {
                    Ink::Dark => luminance([0x10, 0x14, 0x1a].map(|c| c as f32 / 255.0)),
                    Ink::White => 1.0,
                };
                let (light, dark) = (luminance(colour).max(ink), luminance(colour).min(ink));
                assert!((light + 0.05) / (dark + 0.05) >= 4.5, "{ground:?} {colour:?}");
            }
        }
    }

    #[test]
    fn bars_stand_out_from_the_ground() {
        for (ground, surface) in [(Ground::Light, [255, 255, 255]), (Ground::Dark, [0x15, 0x19, 0x1f])] {
            let surface = luminance(surface.map(|c: u8| f32::from(c) / 255.0));
            for colour in colours(ground).map(luminance) {
                assert!((surface.max(colour) + 0.05) / (surface.min(colour) + 0.05) >= 1.5, "{ground:?}");
            }
        }
    }
}
