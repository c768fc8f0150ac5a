//! Colours, chosen in OKLCH (Björn Ottosson, "A perceptual color space for image processing"), in
//! which equal distances look equal.
//!
//! The first [`FIRST_COLOURS`] differ in lightness as well as in hue, so people who see no red or
//! no green can tell them apart. Every colour has enough contrast to either dark or white text.
//!
//! The colours are written down in sRGB, and the tests derive them from OKLCH: powers and sines
//! would be a hundredth of the page.

/// A colour as red, green and blue, in sRGB.
pub type Rgb = [u8; 3];

/// Number of colours for names.
pub const NAME_COLOURS: usize = 16;
/// Number of leading colours that differ most from each other.
pub const FIRST_COLOURS: usize = 8;
/// Index of the colour of counters, after the names' colours.
pub const COUNTER: u16 = NAME_COLOURS as u16;
/// Index of the colour of closed groups. It belongs to no name, because a band shows many.
pub const GROUP: u16 = COUNTER + 1;
/// Index of the colour of waits, in which nothing is done.
pub const WAIT: u16 = GROUP + 1;
/// Index of the colour of waiting in rows that are too low for hatches.
pub const HEAT: u16 = WAIT + 1;
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

/// The colours on a light background: those of names, then [`COUNTER`], [`GROUP`], [`WAIT`] and
/// [`HEAT`]. The order counts: the names with the most time get the first colours.
const LIGHT: [u32; COLOURS] = [
    0x4087de, 0xe67a2a, 0x229666, 0xe97ab2, 0x75c8e4, 0xddce49, 0x6949ba, 0xbd4334, 0x31a5a5, 0x8ac738,
    0xf1aa92, 0xbb99e3, 0x2c4f94, 0x3a732c, 0x883468, 0xb28324, 0x407bc5, 0x657495, 0x808693, 0xd33e21,
];
/// The same colours on a dark background. On black, light colours glare and dark ones are lost, so
/// the colours of names are nearer to the middle.
const DARK: [u32; COLOURS] = [
    0x4184d6, 0xdb752b, 0x299365, 0xdc73a8, 0x6cbad4, 0xcbbd40, 0x6b4eb9, 0xba4738, 0x339e9e, 0x81ba35,
    0xdf9e87, 0xb090d5, 0x335697, 0x3f7533, 0x8b3c6d, 0xab7f28, 0x6fa7ee, 0x8292b5, 0x7a808d, 0xf27636,
];

/// The colours for a background, by index.
#[must_use]
pub fn colours(ground: Ground) -> [Rgb; COLOURS] {
    let all = match ground {
        Ground::Light => LIGHT,
        Ground::Dark => DARK,
    };
    all.map(|colour| {
        let [_, red, green, blue] = colour.to_be_bytes();
        [red, green, blue]
    })
}

/// The text colour that reads better on each colour of a background.
#[must_use]
pub fn inks(ground: Ground) -> [Ink; COLOURS] {
    colours(ground).map(ink)
}

/// The text colour that reads better on a colour.
fn ink(colour: Rgb) -> Ink {
    // Luminance at which both contrasts are about equal. Squares stand for the powers of sRGB.
    const MIDDLE: f32 = 0.21;
    let [red, green, blue] = colour.map(|part| (f32::from(part) / 255.0).powi(2));
    let luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    if luminance > MIDDLE { Ink::Dark } else { Ink::White }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lightness, chroma and hue in degrees of the names' colours on a light background.
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
    /// The colours after those of names, on a light and on a dark background.
    const OTHERS: [[(f64, f64, f64); COLOURS - NAME_COLOURS]; 2] = [
        [(0.58, 0.13, 255.0), (0.56, 0.055, 265.0), (0.62, 0.02, 265.0), (0.58, 0.19, 33.0)],
        [(0.72, 0.12, 255.0), (0.66, 0.055, 265.0), (0.60, 0.02, 265.0), (0.70, 0.17, 45.0)],
    ];

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "shares of 0 to 1 times 255")]
    fn rgb_from_oklch((lightness, chroma, hue_degrees): (f64, f64, f64)) -> Rgb {
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
        .map(|linear: f64| (srgb_from_linear(linear) * 255.0).round() as u8)
    }

    fn srgb_from_linear(linear: f64) -> f64 {
        let linear = linear.clamp(0.0, 1.0);
        if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 }
    }

    fn linear(colour: Rgb) -> [f32; 3] {
        colour
            .map(|part| f32::from(part) / 255.0)
            .map(|c| if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) })
    }

    /// Relative luminance (WCAG 2.2).
    fn luminance(colour: Rgb) -> f32 {
        let [red, green, blue] = linear(colour);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    #[test]
    fn the_colours_are_those_of_oklch() {
        let dark = |(lightness, chroma, hue)| (lightness * 0.82 + 0.10, chroma * 0.95, hue);
        let light = NAMES.into_iter().chain(OTHERS[0]).map(rgb_from_oklch);
        assert_eq!(colours(Ground::Light).to_vec(), light.collect::<Vec<_>>());
        let dark = NAMES.into_iter().map(dark).chain(OTHERS[1]).map(rgb_from_oklch);
        assert_eq!(colours(Ground::Dark).to_vec(), dark.collect::<Vec<_>>());
    }

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
        let dot = |row: [f32; 3], of: [f32; 3]| row[0] * of[0] + row[1] * of[1] + row[2] * of[2];
        let linear = seen.map(|row| dot(row, linear(colour)).max(0.0));
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
                    Ink::Dark => luminance([0x10, 0x14, 0x1a]),
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
            let surface = luminance(surface);
            for colour in colours(ground).map(luminance) {
                assert!((surface.max(colour) + 0.05) / (surface.min(colour) + 0.05) >= 1.5, "{ground:?}");
            }
        }
    }
}
