//! Codes of texts that occur in a block of a column, as a few spans. Texts are numbered by first
//! use, so the texts of a loop have neighbouring codes. A zone map can reach over all loops of a
//! block; spans tell the loops apart.
//!
//! Spans are not stored. A reader that decodes such a block keeps them: 60 bytes a block.

use std::ops::RangeInclusive;

/// Most spans of a block.
const SPANS: usize = 6;
/// Codes that are at most this far apart share a span.
const NEAR: u32 = 16;

/// The codes of a block, as spans that do not touch each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeSpans(Box<[RangeInclusive<u32>]>);

impl CodeSpans {
    /// Most bytes of the spans of a block.
    pub(super) const BYTES: usize = SPANS * size_of::<RangeInclusive<u32>>();

    /// Spans of these codes. `None` if one of them is not a valid text number.
    #[must_use]
    pub fn of(codes: &[i64]) -> Option<Self> {
        let mut spans: Vec<(u32, u32)> = Vec::with_capacity(SPANS * 2 + 1);
        // The span of the previous code.
        let mut last = 0;
        for &code in codes {
            let code = u32::try_from(code).ok()?;
            let is_near = |&(start, end): &(u32, u32)| {
                code >= start.saturating_sub(NEAR) && code <= end.saturating_add(NEAR)
            };
            if !spans.get(last).is_some_and(is_near) {
                last = spans.iter().position(is_near).unwrap_or(spans.len());
            }
            match spans.get_mut(last) {
                Some((start, end)) => (*start, *end) = (code.min(*start), code.max(*end)),
                None => spans.push((code, code)),
            }
            if spans.len() > SPANS * 2 {
                join(&mut spans);
                last = 0;
            }
        }
        join(&mut spans);
        Some(Self(spans.into_iter().map(|(start, end)| start..=end).collect()))
    }

    /// The spans in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = &RangeInclusive<u32>> {
        self.0.iter()
    }
}

/// Joins spans that touch, then spans with the smallest gaps, until at most [`SPANS`] are left.
fn join(spans: &mut Vec<(u32, u32)>) {
    spans.sort_unstable();
    let gap = |spans: &[(u32, u32)], at: usize| spans[at + 1].0.saturating_sub(spans[at].1);
    while let Some(at) = (0..spans.len().saturating_sub(1)).min_by_key(|&at| gap(spans, at)) {
        if spans.len() <= SPANS && gap(spans, at) > NEAR {
            break;
        }
        let (_, end) = spans.remove(at + 1);
        spans[at].1 = spans[at].1.max(end);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_code_is_in_a_span_and_none_touch(codes in prop::collection::vec(0_i64..3000, 0..100)) {
            let spans = CodeSpans::of(&codes).unwrap();
            for code in &codes {
                prop_assert!(spans.iter().any(|span| span.contains(&(*code as u32))), "{} in {:?}", code, spans);
            }
            let spans: Vec<_> = spans.iter().collect();
            prop_assert!(spans.len() <= SPANS);
            prop_assert!(spans.windows(2).all(|pair| pair[0].end() < pair[1].start()));
        }
    }

    #[test]
    fn loops_have_spans_of_their_own() {
        let codes: Vec<i64> = (0..100).flat_map(|at| [1_000 + at, 90_000 - at, 500_000]).collect();
        let spans = CodeSpans::of(&codes).unwrap();
        assert_eq!(
            spans.iter().cloned().collect::<Vec<_>>(),
            [1_000..=1_099, 89_901..=90_000, 500_000..=500_000]
        );
        assert_eq!(CodeSpans::of(&[-1]), None);
    }
}
