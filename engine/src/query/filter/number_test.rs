//! Tests of numbers.

use super::quantity::quantity;
use super::word::NumberComparison;
use crate::base::Interval;

/// Ranges of numbers, one of which must have a number.
#[derive(Debug, Clone, PartialEq)]
pub struct NumberTest(Vec<NumberRange>);

/// A range of numbers. Whole numbers have bounds of their own: a float has no room for all digits
/// of an id.
#[derive(Debug, Clone, Copy, PartialEq)]
struct NumberRange {
    low: NumberBound,
    high: NumberBound,
}

/// A bound of a range.
#[derive(Debug, Clone, Copy, PartialEq)]
struct NumberBound {
    /// The bound.
    value: f64,
    /// The outermost whole number in the range.
    whole: i128,
    /// Whether the bound itself is outside.
    is_open: bool,
}

impl NumberTest {
    /// The numbers that compare like this with a quantity. `None` if it is none in this unit.
    pub fn compared(comparison: NumberComparison, text: &str, unit: &str) -> Option<Self> {
        let (value, whole) = number_in(text, unit)?;
        let is_open = matches!(comparison, NumberComparison::Above | NumberComparison::Below);
        let range = match comparison {
            NumberComparison::Above | NumberComparison::AtLeast => {
                NumberRange { low: NumberBound::low(value, whole, is_open), high: NumberBound::HIGHEST }
            }
            NumberComparison::Below | NumberComparison::AtMost => {
                NumberRange { low: NumberBound::LOWEST, high: NumberBound::high(value, whole, is_open) }
            }
        };
        Some(Self(vec![range]))
    }

    /// The numbers that are one of these, or lie in one of the ranges `a..b`, with their ends. A
    /// missing end leaves a range open. `None` if a text is no number in this unit.
    pub fn one_of(texts: &[String], unit: &str) -> Option<Self> {
        let range = |text: &String| {
            let (low, high) = text.split_once("..").unwrap_or((text, text));
            let end = |text: &str| if text.is_empty() { Some(None) } else { number_in(text, unit).map(Some) };
            let (low, high) = (end(low)?, end(high)?);
            (low.is_some() || high.is_some()).then(|| NumberRange {
                low: low.map_or(NumberBound::LOWEST, |(value, whole)| NumberBound::low(value, whole, false)),
                high: high
                    .map_or(NumberBound::HIGHEST, |(value, whole)| NumberBound::high(value, whole, false)),
            })
        };
        texts.iter().map(range).collect::<Option<Vec<_>>>().map(Self)
    }

    /// The numbers in one of these spans, without their ends.
    pub fn within(spans: impl Iterator<Item = Interval>) -> Self {
        let range = |span: Interval| {
            let (start, end) = (span.start.0, span.end.0);
            NumberRange {
                low: NumberBound::low(start as f64, Some(start.into()), false),
                high: NumberBound::high(end as f64, Some(end.into()), true),
            }
        };
        Self(spans.map(range).collect())
    }

    /// Whether a whole number passes.
    pub fn has_whole(&self, value: i128) -> bool {
        self.0.iter().any(|of| (of.low.whole..=of.high.whole).contains(&value))
    }

    /// Whether a number passes.
    pub fn has(&self, value: f64) -> bool {
        let is_above = |low: NumberBound| if low.is_open { value > low.value } else { value >= low.value };
        let is_below =
            |high: NumberBound| if high.is_open { value < high.value } else { value <= high.value };
        self.0.iter().any(|of| is_above(of.low) && is_below(of.high))
    }

    /// Whether a number from `min` to `max` can pass.
    pub fn meets_wholes(&self, min: i128, max: i128) -> bool {
        self.0.iter().any(|of| of.low.whole <= max && of.high.whole >= min)
    }

    /// Whether a number from `min` to `max` can pass.
    pub fn meets(&self, min: f64, max: f64) -> bool {
        self.0.iter().any(|of| of.low.value <= max && of.high.value >= min)
    }
}

impl NumberBound {
    const LOWEST: Self = Self { value: f64::NEG_INFINITY, whole: i128::MIN, is_open: false };
    const HIGHEST: Self = Self { value: f64::INFINITY, whole: i128::MAX, is_open: false };

    fn low(value: f64, whole: Option<i128>, is_open: bool) -> Self {
        let first = match (whole, is_open) {
            (Some(whole), _) => whole.saturating_add(is_open.into()),
            (None, _) => value.ceil() as i128,
        };
        Self { value, whole: first, is_open }
    }

    fn high(value: f64, whole: Option<i128>, is_open: bool) -> Self {
        let last = match whole {
            Some(whole) => whole.saturating_sub(is_open.into()),
            None => value.floor() as i128,
        };
        Self { value, whole: last, is_open }
    }
}

/// A quantity in a unit; as a whole number, too, if it is one.
fn number_in(text: &str, unit: &str) -> Option<(f64, Option<i128>)> {
    let digits = text.trim().replace(',', "");
    let whole = match digits.strip_prefix("0x") {
        Some(digits) => Some(i128::from_str_radix(digits, 16).ok()?),
        None => digits.parse().ok(),
    };
    let value = match whole {
        Some(whole) => whole as f64,
        None => quantity(text, unit)?,
    };
    // A multiple of a unit, such as 32KiB, is whole in the small unit.
    let is_whole = value.fract() == 0.0 && value.abs() < 9e15;
    Some((value, whole.or_else(|| is_whole.then_some(value as i128))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_of(texts: &[&str], unit: &str) -> Option<NumberTest> {
        NumberTest::one_of(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>(), unit)
    }

    fn wholes(test: &NumberTest, of: &[i128]) -> Vec<bool> {
        let found: Vec<bool> = of.iter().map(|value| test.has_whole(*value)).collect();
        let as_floats: Vec<bool> = of.iter().map(|value| test.has(*value as f64)).collect();
        assert_eq!(found, as_floats);
        found
    }

    #[test]
    fn numbers_are_compared_in_the_unit_of_the_field() {
        let above = NumberTest::compared(NumberComparison::Above, "5us", "ps").unwrap();
        assert_eq!(wholes(&above, &[4_999_999, 5_000_000, 5_000_001]), [false, false, true]);
        let at_most = NumberTest::compared(NumberComparison::AtMost, "1.5", "").unwrap();
        assert_eq!(wholes(&at_most, &[1, 2]), [true, false]);
        assert_eq!(NumberTest::compared(NumberComparison::Above, "many", "ps"), None);
    }

    #[test]
    fn ranges_have_their_ends() {
        let sizes = one_of(&["512..32KiB", "7"], "B").unwrap();
        assert_eq!(
            wholes(&sizes, &[7, 8, 511, 512, 32_768, 32_769]),
            [true, false, false, true, true, false]
        );
        assert!(!sizes.meets_wholes(8, 511) && sizes.meets_wholes(8, 512));
        let open = one_of(&["5.."], "").unwrap();
        assert_eq!(wholes(&open, &[4, 5, 1 << 60]), [false, true, true]);
        assert_eq!((one_of(&[".."], ""), one_of(&["5", "x"], "")), (None, None));
    }

    #[test]
    fn large_ids_are_told_apart() {
        let id = one_of(&["9007199254740993"], "").unwrap();
        assert!(id.has_whole(9_007_199_254_740_993) && !id.has_whole(9_007_199_254_740_992));
        assert!(one_of(&["0xff"], "hex").unwrap().has_whole(255));
    }
}
