//! Numbers as neuron-profile writes them. Its floats have single precision and the fewest digits
//! that tell them apart. A value that is such a float is written the same way.

use std::io::{self, Write};

use nprof_engine::model::Unit;
use serde_json::Value as Json;

/// Limit below which a float holds every whole number exactly. Such numbers are written as
/// integers.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Number of digits of a float.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Precision {
    /// All digits of double precision.
    Double,
    /// The digits of single precision.
    Single,
    /// Like `Single`, but whole numbers are counts or bytes and are written in full.
    SingleFraction,
}

impl Precision {
    /// The precision for values of this unit in a Neuron profile.
    pub(crate) fn of_neuron(unit: Unit) -> Self {
        if unit == Unit::BytesPerSecond { Self::Single } else { Self::SingleFraction }
    }

    /// The value in single precision, if it must be written so.
    #[expect(clippy::cast_possible_truncation, reason = "compared with the original")]
    fn single(self, value: f64) -> Option<f32> {
        let is_wanted = match self {
            Self::Double => false,
            Self::Single => true,
            Self::SingleFraction => value.fract() != 0.0,
        };
        Some(value as f32).filter(|single| is_wanted && f64::from(*single) == value)
    }
}

/// Writes whole numbers without a point, and values that are not JSON numbers as text.
pub(crate) fn float(value: f64, precision: Precision, out: &mut dyn Write) -> io::Result<()> {
    if !value.is_finite() {
        write!(out, "\"{value}\"")
    } else if let Some(single) = precision.single(value) {
        write!(out, "{single}")
    } else if value.fract() == 0.0 && value.abs() < MAX_EXACT {
        write!(out, "{value:.0}")
    } else {
        write!(out, "{}", Json::from(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_float(value: f64, precision: Precision, expected: &str) {
        let mut out = Vec::new();
        float(value, precision, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn floats_are_json() {
        use Precision::{Double, Single, SingleFraction};
        check_float(1.0, Double, "1");
        check_float(1_133_304_960.0, Double, "1133304960");
        check_float(1_133_304_960.0, Single, "1133305000");
        check_float(1_133_304_960.0, SingleFraction, "1133304960");
        check_float(1_133_304_961.0, Single, "1133304961");
        check_float(0.001_302_083_372_138_440_6, SingleFraction, "0.0013020834");
        check_float(0.001_302_083_372_138_440_6, Double, "0.0013020833721384406");
        check_float(0.010_416_667, SingleFraction, "0.010416667");
        check_float(0.1, SingleFraction, "0.1");
        check_float(1e300, Single, "1e+300");
        check_float(f64::NAN, Single, "\"NaN\"");
        check_float(f64::NEG_INFINITY, Double, "\"-inf\"");
        check_float(-0.0, Double, "-0");
    }
}
