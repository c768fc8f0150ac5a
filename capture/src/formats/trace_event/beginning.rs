//! The beginning of a trace, from its first bytes.

use super::time::number;
use super::tokens::{Raw, Tail, Tokens};
use crate::origin::{MAX_TIMESTAMPS, TraceBeginning};

/// Finds the beginning in the first bytes of a trace, which may end anywhere. `None` if they have
/// no timestamp.
///
/// The beginning is the earliest timestamp near the median of up to 10,000. Zeros do not count,
/// because metadata events have them.
#[must_use]
pub fn beginning(head: &[u8]) -> Option<TraceBeginning> {
    let times = values(head, b"\"ts\"")
        .filter_map(|(value, bytes)| number(value, bytes).ok())
        .filter(|&ps| ps != 0)
        .take(MAX_TIMESTAMPS)
        .collect();
    let base = values(head, b"\"baseTimeNanoseconds\"").next();
    let base_ns = base.and_then(|(value, bytes)| str::from_utf8(value.of(bytes)).ok()?.parse().ok());
    TraceBeginning::of_times(times, base_ns)
}

/// Values after each occurrence of a key, with the bytes that each is a span of.
fn values<'h>(head: &'h [u8], key: &'static [u8]) -> impl Iterator<Item = (Raw, &'h [u8])> {
    memchr::memmem::find_iter(head, key).filter_map(|at| {
        let bytes = &head[at..];
        let mut tokens = Tokens::new(bytes, Tail::Open);
        tokens.key().ok()?;
        Some((tokens.value().ok()?, bytes))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::origin::{Origin, Sharing, origins};

    const PS_PER_US: i128 = 1_000_000;

    fn of_text(text: &str) -> Option<TraceBeginning> {
        beginning(text.as_bytes())
    }

    /// The origins of ranks with these heads, in picoseconds.
    fn origins_ps(heads: &[&str]) -> Vec<Option<i128>> {
        let beginnings: Vec<_> = heads.iter().map(|head| of_text(head)).collect();
        origins(&beginnings).into_iter().map(|origin| origin.map(Origin::ps)).collect()
    }

    #[test]
    fn the_first_moment_is_the_earliest_that_is_no_stray() {
        let first = |text: &str| of_text(text).map(|beginning| beginning.first_ps());
        assert_eq!(first(r#"{"ts":5,"x":1},{"ts" : "3.5"}"#), Some(3_500_000));
        let stray = r#"{"ts":0} {"ts":7} {"ts":1712195495520834.5} {"ts":1712195495520833}"#;
        assert_eq!(first(stray), Some(1_712_195_495_520_833 * PS_PER_US));
        assert_eq!(first(r#"{"ts":0} {"ts":null} {"ts":"#), None);
    }

    #[test]
    fn ranks_on_two_sides_of_midnight_share_an_origin() {
        let zero = 1_712_188_799_900_000 * PS_PER_US;
        let heads = [r#"[{"ts":1712188799900000}]"#, r#"[{"ts":1712188800050000}]"#];
        assert_eq!(origins_ps(&heads), [Some(zero); 2]);
        // A machine that has been up for a day.
        let heads = [r#"{"ts":86400000100}"#, "no trace", r#"{"ts":86399999900.0015}"#];
        let zero = 86_399_999_900_001_000;
        assert_eq!(origins_ps(&heads), [Some(zero), None, Some(zero)]);
    }

    #[test]
    fn clocks_that_start_near_zero_are_kept() {
        assert_eq!(origins_ps(&[r#"{"ts":1.5}"#, r#"{"ts":90000000}"#]), [Some(0); 2]);
        assert_eq!(origins_ps(&[r#"{"ts":-3}"#]), [Some(0)]);
    }

    #[test]
    fn clocks_with_different_zeros_are_put_on_one_axis() {
        let at = |base: u64, ts: u64| format!(r#"{{"baseTimeNanoseconds":{base},"e":{{"ts":{ts}}}}}"#);
        let heads = [at(1_751_410_836_000_000_000, 70_000_000), at(1_751_410_835_000_000_000, 71_500_000)];
        let heads = [&*heads[0], &heads[1]];
        assert_eq!(origins_ps(&heads), [70_000_000 * PS_PER_US, 71_000_000 * PS_PER_US].map(Some));
        // A trace that does not state its zero is assumed to have that of the others.
        let heads = [heads[0], r#"{"ts":71000000}"#];
        assert_eq!(origins_ps(&heads), [Some(70_000_000 * PS_PER_US); 2]);
    }

    #[test]
    fn a_clock_that_is_far_from_the_others_has_its_own_origin() {
        let heads = [r#"{"ts":7}"#, r#"{"ts":1712188799900000}"#, r#"{"ts":1712188799900005}"#];
        let beginnings = heads.map(of_text);
        let sharing: Vec<_> = origins(&beginnings).into_iter().flatten().map(Origin::sharing).collect();
        assert_eq!(sharing, [Sharing::Alone, Sharing::Shared, Sharing::Shared]);
        assert_eq!(origins_ps(&heads)[0], Some(0));
    }

    proptest! {
        #[test]
        fn any_head_has_a_beginning_or_none(text in r#"("ts"|"baseTimeNanoseconds"|:|[-0-9.e,{}" ]){0,40}"#) {
            let beginning = of_text(&text);
            let both = origins(&[beginning, beginning]);
            prop_assert_eq!(both[0], both[1]);
        }
    }
}
