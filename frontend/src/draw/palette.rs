//! Colours, chosen in OKLCH (Björn Ottosson, "A perceptual color space for image processing"), in
//! which equal distances look equal.
//!
//! People who see no red, no green or no blue can tell any two colours of names apart, and the
//! first [`FIRST_COLOURS`] most easily: the colours differ in lightness as well as in hue. Every
//! colour has enough contrast to either dark or white text.
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
    0x3f91ee, 0xec6f00, 0x188566, 0xdf87b4, 0x74caf1, 0xded24e, 0x6e47b7, 0xc13e2e, 0x679c8d, 0x88c33a,
    0xf0ab91, 0xb797dd, 0x294c91, 0x007225, 0x883468, 0xaf8c4f, 0x407bc5, 0x657495, 0x808693, 0xd33e21,
];
/// The same colours on a dark background. On black, light colours glare and dark ones are lost, so
/// the colours of names are nearer to the middle.
const DARK: [u32; COLOURS] = [
    0x408ce3, 0xe16b0b, 0x238467, 0xd280a9, 0x6bbce0, 0xccc144, 0x704cb6, 0xbe4233, 0x659688, 0x80b737,
    0xdf9e86, 0xac8ed0, 0x315395, 0x14752d, 0x8b3c6d, 0xa8874d, 0x6fa7ee, 0x8292b5, 0x7a808d, 0xf27636,
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
        (0.65, 0.16, 254.0),
        (0.68, 0.18, 50.0),
        (0.55, 0.105, 168.0),
        (0.73, 0.12, 349.0),
        (0.80, 0.1, 229.0),
        (0.85, 0.15, 104.0),
        (0.50, 0.17, 296.0),
        (0.55, 0.17, 30.0),
        (0.65, 0.06, 175.0),
        (0.75, 0.175, 130.0),
        (0.80, 0.09, 41.0),
        (0.73, 0.105, 305.0),
        (0.43, 0.12, 262.0),
        (0.48, 0.145, 147.0),
        (0.46, 0.13, 345.0),
        (0.66, 0.09, 80.0),
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

    /// Matrices of the linear light that remains without perception of red, of green and of blue.
    /// Source: Machado, Oliveira and Fernandes, "A physiologically-based model for simulation of
    /// color vision deficiency", severity 1.
    const WITHOUT: [(&str, [[f32; 3]; 3]); 3] = [
        (
            "red",
            [
                [0.152_286, 1.052_583, -0.204_868],
                [0.114_503, 0.786_281, 0.099_216],
                [-0.003_882, -0.048_116, 1.051_998],
            ],
        ),
        (
            "green",
            [
                [0.367_322, 0.860_646, -0.227_968],
                [0.280_085, 0.672_501, 0.047_413],
                [-0.011_820, 0.042_940, 0.968_881],
            ],
        ),
        (
            "blue",
            [
                [1.255_528, -0.076_749, -0.178_779],
                [-0.078_411, 0.930_809, 0.147_602],
                [0.004_733, 0.691_367, 0.303_9],
            ],
        ),
    ];
    const ALL: [[f32; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

    fn oklab(colour: Rgb, seen: [[f32; 3]; 3]) -> [f32; 3] {
        let dot = |row: [f32; 3], of: [f32; 3]| row[0] * of[0] + row[1] * of[1] + row[2] * of[2];
        let linear = seen.map(|row| dot(row, linear(colour)).clamp(0.0, 1.0));
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

    /// Least distance of two of these colours on any background, in OKLab.
    fn least_distance(indexes: &[usize], seen: [[f32; 3]; 3]) -> f32 {
        let mut least = f32::MAX;
        for ground in [Ground::Light, Ground::Dark] {
            let all = colours(ground).map(|colour| oklab(colour, seen));
            for (position, &one) in indexes.iter().enumerate() {
                for &other in &indexes[position + 1..] {
                    let parts = all[one].iter().zip(all[other]);
                    least = least.min(parts.map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt());
                }
            }
        }
        least
    }

    #[track_caller]
    fn check_differ(indexes: &[usize], least: f32, least_without: f32) {
        let distance = least_distance(indexes, ALL);
        assert!(distance >= least, "{distance}");
        for (without, seen) in WITHOUT {
            let distance = least_distance(indexes, seen);
            assert!(distance >= least_without, "without {without}: {distance}");
        }
    }

    #[test]
    fn colours_differ_also_for_those_who_see_fewer() {
        let names: Vec<usize> = (0..NAME_COLOURS).collect();
        check_differ(&names[..FIRST_COLOURS], 0.12, 0.08);
        check_differ(&names, 0.08, 0.05);
        // A strip of a rank shows both.
        check_differ(&[GROUP.into(), HEAT.into()], 0.12, 0.08);
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
