//! Logarithmic axes of pictures.

/// The number whose powers an axis shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LogBase {
    /// Sizes in bytes.
    Two,
    /// Rates and times.
    Ten,
}

impl LogBase {
    fn log(self, value: f64) -> f64 {
        match self {
            Self::Two => value.log2(),
            Self::Ten => value.log10(),
        }
    }

    fn power(self, power: f64) -> f64 {
        match self {
            Self::Two => power.exp2(),
            Self::Ten => 10_f64.powf(power),
        }
    }
}

/// A power of the base of an axis, with its position from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AxisTick {
    /// Position on the axis.
    pub at: f64,
    /// The value there.
    pub value: f64,
}

/// Powers of a number between two ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LogAxis {
    base: LogBase,
    first: f64,
    last: f64,
}

impl LogAxis {
    /// Whole powers around all values. `None` without a value above 0.
    pub(super) fn around(base: LogBase, values: impl Iterator<Item = f64>) -> Option<Self> {
        let logs = values.filter(|value| value.is_finite() && *value > 0.0).map(|value| base.log(value));
        let ends = logs.fold(None, |ends: Option<(f64, f64)>, log| {
            Some(ends.map_or((log, log), |(first, last)| (first.min(log), last.max(log))))
        });
        let (first, last) = ends?;
        let first = first.floor();
        Some(Self { base, first, last: last.ceil().max(first + 1.0) })
    }

    /// The axis with a power more at both ends, so that no value stands at an edge.
    pub(super) fn padded(self) -> Self {
        Self { first: self.first - 1.0, last: self.last + 1.0, ..self }
    }

    /// The position of a value above 0, from 0 to 1.
    pub(super) fn at(&self, value: f64) -> f64 {
        (self.base.log(value) - self.first) / (self.last - self.first)
    }

    /// The value at the begin of the axis.
    pub(super) fn begin(&self) -> f64 {
        self.base.power(self.first)
    }

    /// All powers, by value.
    pub(super) fn ticks(&self) -> Vec<AxisTick> {
        let powers = self.first as i32..=self.last as i32;
        let tick = |power: i32| {
            let value = match self.base {
                LogBase::Two => 2_f64.powi(power),
                LogBase::Ten => 10_f64.powi(power),
            };
            AxisTick { at: self.at(value), value }
        };
        powers.map(tick).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_whole_powers_around_its_values() {
        let axis = LogAxis::around(LogBase::Two, [48.0, 0.0, f64::NAN, 1024.0].into_iter()).unwrap();
        assert_eq!((axis.at(32.0), axis.at(1024.0), axis.begin()), (0.0, 1.0, 32.0));
        let values: Vec<f64> = axis.ticks().iter().map(|tick| tick.value).collect();
        assert_eq!(values, [32.0, 64.0, 128.0, 256.0, 512.0, 1024.0]);
        // A single value stands in the middle of a padded axis, a power from its first one.
        let one = LogAxis::around(LogBase::Ten, std::iter::once(10.0)).unwrap().padded();
        assert!((one.at(10.0) - 1.0 / 3.0).abs() < 1e-9);
        assert_eq!(LogAxis::around(LogBase::Ten, std::iter::once(0.0)), None);
    }
}
