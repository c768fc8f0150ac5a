//! Colours. A name always has the same one; all are equally light, so that none stands out by accident.
//!
//! Built in OKLCH (Björn Ottosson, "A perceptual color space for image processing"), where equal distances look equal.

/// A colour as red, green and blue from 0 to 1, in sRGB.
pub type Rgb = [f32; 3];

/// Hues, evenly around the circle.
const HUES: usize = 12;
/// Of each hue, shades that can be told apart.
const SHADES: usize = 2;
/// Colours for names.
pub const NAME_COLOURS: usize = HUES * SHADES;
/// The colour of counters, after those of the names.
pub const COUNTER: u8 = NAME_COLOURS as u8;
/// All colours.
pub const COLOURS: usize = NAME_COLOURS + 1;

/// The ground that colours stand on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Ground {
    /// Dark text on white.
    #[default]
    Light,
    /// Light text on black.
    Dark,
}

/// Text on a bar, on both grounds: bars are light enough for it.
pub const TEXT_ON_BAR: &str = "#10141a";

/// Lightness and chroma of each shade.
fn shades(ground: Ground) -> [(f64, f64); SHADES] {
    match ground {
        Ground::Light => [(0.80, 0.105), (0.72, 0.115)],
        Ground::Dark => [(0.74, 0.105), (0.66, 0.110)],
    }
}

/// The colours for a ground, by number.
#[must_use]
pub fn colours(ground: Ground) -> [Rgb; COLOURS] {
    let mut all = [[0.0; 3]; COLOURS];
    for (number, colour) in all.iter_mut().take(NAME_COLOURS).enumerate() {
        let (lightness, chroma) = shades(ground)[number / HUES];
        // The second shade's hues lie between those of the first.
        let turn = (number % HUES) as f64 + 0.5 * (number / HUES) as f64;
        *colour = rgb_from_oklch(lightness, chroma, 360.0 / HUES as f64 * turn);
    }
    all[COUNTER as usize] = match ground {
        Ground::Light => rgb_from_oklch(0.58, 0.13, 255.0),
        Ground::Dark => rgb_from_oklch(0.72, 0.12, 255.0),
    };
    all
}

/// The number of a name's colour. Numbers in a name do not count: `fusion.12` and `fusion.7` are of one kind.
#[must_use]
pub fn colour_of(name: &str) -> u8 {
    // FNV-1a, and a last mixing so that similar names do not get neighbouring colours.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in name.bytes().filter(|byte| !byte.is_ascii_digit()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((hash >> 40) % NAME_COLOURS as u64) as u8
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

    /// Relative luminance (WCAG 2.2).
    fn luminance(colour: Rgb) -> f32 {
        let [r, g, b] =
            colour.map(|c| if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) });
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    #[test]
    fn text_can_be_read_on_every_bar() {
        let ink = luminance([0x10, 0x14, 0x1a].map(|c| c as f32 / 255.0));
        for ground in [Ground::Light, Ground::Dark] {
            for colour in &colours(ground)[..NAME_COLOURS] {
                let contrast = (luminance(*colour) + 0.05) / (ink + 0.05);
                assert!(contrast >= 4.5, "{ground:?} {colour:?} {contrast}");
            }
        }
    }

    #[test]
    fn numbers_do_not_count_and_names_spread() {
        assert_eq!(colour_of("fusion.12"), colour_of("fusion.7"));
        let used: std::collections::BTreeSet<_> =
            ('a'..='z').flat_map(|a| ('a'..='z').map(move |b| colour_of(&format!("{a}{b}")))).collect();
        assert_eq!(used.len(), NAME_COLOURS);
    }

    #[test]
    fn colours_differ() {
        let all = colours(Ground::Light);
        for (at, one) in all.iter().enumerate() {
            for other in &all[at + 1..] {
                let distance: f32 = one.iter().zip(other).map(|(a, b)| (a - b).abs()).sum();
                assert!(distance > 0.04, "{one:?} {other:?}");
            }
        }
    }
}
