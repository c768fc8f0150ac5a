//! The origin: the time on a trace's own clock that is the profile's time zero.
//!
//! Timestamps are microseconds since anything: the trace's start, the machine's, 1970. Clocks that
//! start near zero are kept as they are. All others are counted from the first event, because some
//! readers have only 53 bits for times. The ranks of a profile share one origin. The shared origin
//! follows from the set of their beginnings, not from their order.

use super::clock::number;
use super::tokens::{Tail, Tokens};

/// A trace that begins within a minute of its clock's zero keeps that zero.
const NEAR_ZERO_PS: i128 = 60 * 1_000_000_000_000;

/// Timestamps further than an hour from the median of a head are strays and do not affect the
/// origin.
const MAX_STRAY_PS: i128 = 3_600 * 1_000_000_000_000;

/// Ranks further from the median of all ranks than this (26 days) get an origin of their own. This
/// is a quarter of the range of time, so that the times of ranks that share an origin fit.
pub const MAX_APART_PS: i128 = 1 << 61;

/// Most timestamps of a head that are read.
pub(in crate::formats) const MAX_TIMESTAMPS: usize = 10_000;

const PS_PER_NS: i128 = 1_000;

/// Beginning of a trace, from its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beginning {
    /// Earliest time in picoseconds on the trace's own clock.
    first_ps: i128,
    /// Wall clock at the own clock's zero in Unix nanoseconds, if the bytes state it.
    base_ns: Option<i64>,
}

impl Beginning {
    /// Finds the beginning in the first bytes of a trace, which may end anywhere. `None` if they
    /// have no timestamp.
    ///
    /// The beginning is the earliest timestamp near the median of up to 10,000. Zeros do not count,
    /// because metadata events have them.
    #[must_use]
    pub fn of(head: &[u8]) -> Option<Self> {
        let mut times: Vec<i128> = values(head, b"\"ts\"")
            .filter_map(|(value, bytes)| number(value, bytes).ok())
            .filter(|&ps| ps != 0)
            .take(MAX_TIMESTAMPS)
            .collect();
        let first_ps = earliest(&mut times)?;
        let base = values(head, b"\"baseTimeNanoseconds\"").next();
        let base_ns = base.and_then(|(value, bytes)| str::from_utf8(value.of(bytes)).ok()?.parse().ok());
        Some(Self { first_ps, base_ns })
    }

    /// The beginning of a trace with these first times, in picoseconds, and this wall clock at the
    /// own clock's zero. `None` if there are no times.
    pub(in crate::formats) fn of_times(mut times: Vec<i128>, base_ns: Option<i64>) -> Option<Self> {
        let first_ps = earliest(&mut times)?;
        Some(Self { first_ps, base_ns })
    }

    /// Earliest time in picoseconds on the trace's own clock.
    pub(in crate::formats) fn first_ps(&self) -> i128 {
        self.first_ps
    }
}

/// The earliest time near the median.
fn earliest(times: &mut [i128]) -> Option<i128> {
    let middle = times.len().checked_sub(1)? / 2;
    let (_, &mut median, _) = times.select_nth_unstable(middle);
    let near = times.iter().copied().filter(|ps| ps.abs_diff(median) <= MAX_STRAY_PS.unsigned_abs());
    near.min()
}

/// Values after each occurrence of a key, with the bytes that each is a span of.
fn values<'h>(head: &'h [u8], key: &'static [u8]) -> impl Iterator<Item = (super::tokens::Raw, &'h [u8])> {
    memchr::memmem::find_iter(head, key).filter_map(|at| {
        let bytes = &head[at..];
        let mut tokens = Tokens::new(bytes, Tail::Open);
        tokens.key().ok()?;
        Some((tokens.value().ok()?, bytes))
    })
}

/// Ranks that use an origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// All ranks whose clocks are near each other.
    Shared,
    /// This rank alone, whose clock is too far from the others'.
    Alone,
}

/// The profile's time zero on a trace's own clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// Time zero in picoseconds; a whole number of nanoseconds.
    ps: i128,
    sharing: Sharing,
}

impl Origin {
    /// The origin of a trace that is alone, from its first time.
    pub(in crate::formats) fn of_first(ps: i128) -> Self {
        let near_zero = ps.unsigned_abs() <= NEAR_ZERO_PS.unsigned_abs();
        let ps = if near_zero { 0 } else { ps.div_euclid(PS_PER_NS) * PS_PER_NS };
        Self { ps, sharing: Sharing::Shared }
    }

    /// Time zero on the trace's own clock, in picoseconds.
    pub(in crate::formats) fn ps(self) -> i128 {
        self.ps
    }

    /// Ranks that use the origin.
    #[must_use]
    pub fn sharing(self) -> Sharing {
        self.sharing
    }
}

/// The origins of the ranks of a profile, in the order of their beginnings; `None` for a rank
/// without a beginning.
///
/// If every beginning states the wall clock of its zero, clocks with different zeros are put on one
/// axis. A rank whose clock is more than 26 days from the median has an origin of its own.
#[must_use]
pub fn origins(beginnings: &[Option<Beginning>]) -> Vec<Option<Origin>> {
    let known = || beginnings.iter().flatten();
    let bases: Option<Vec<i64>> = known().map(|beginning| beginning.base_ns).collect();
    let first_base = bases.and_then(|bases| bases.into_iter().min());
    // Distance of a trace's zero from the earliest zero.
    let zero_ps = |of: &Beginning| match (first_base, of.base_ns) {
        (Some(first), Some(base)) => (i128::from(base) - i128::from(first)) * PS_PER_NS,
        _ => 0,
    };
    let on_axis = |of: &Beginning| of.first_ps.saturating_add(zero_ps(of));
    let mut firsts: Vec<i128> = known().map(on_axis).collect();
    firsts.sort_unstable();
    let Some(&median) = firsts.get(firsts.len().saturating_sub(1) / 2) else {
        return vec![None; beginnings.len()];
    };
    let is_near = |ps: i128| ps.abs_diff(median) <= MAX_APART_PS.unsigned_abs();
    let first = firsts.iter().copied().find(|&ps| is_near(ps)).unwrap_or(median);
    let shared = Origin::of_first(first);
    let origin = |of: &Beginning| {
        if is_near(on_axis(of)) {
            Origin { ps: shared.ps.saturating_sub(zero_ps(of)), ..shared }
        } else {
            Origin { sharing: Sharing::Alone, ..Origin::of_first(of.first_ps) }
        }
    };
    beginnings.iter().map(|beginning| beginning.as_ref().map(origin)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PS_PER_US: i128 = 1_000_000;

    fn beginning(text: &str) -> Option<Beginning> {
        Beginning::of(text.as_bytes())
    }

    /// The origins of ranks with these heads, in picoseconds.
    fn origins_ps(heads: &[&str]) -> Vec<Option<i128>> {
        let beginnings: Vec<_> = heads.iter().map(|head| beginning(head)).collect();
        origins(&beginnings).into_iter().map(|origin| origin.map(Origin::ps)).collect()
    }

    #[test]
    fn the_first_moment_is_the_earliest_that_is_no_stray() {
        let first = |text: &str| beginning(text).map(|beginning| beginning.first_ps);
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
        let beginnings = heads.map(beginning);
        let sharing: Vec<_> = origins(&beginnings).into_iter().flatten().map(Origin::sharing).collect();
        assert_eq!(sharing, [Sharing::Alone, Sharing::Shared, Sharing::Shared]);
        assert_eq!(origins_ps(&heads)[0], Some(0));
    }

    proptest! {
        /// The order of the ranks changes nothing, and the first times become small numbers.
        #[test]
        fn origins_follow_from_the_set_of_beginnings(
            firsts in prop::collection::vec(any::<u64>(), 1..8),
            apart in 1_u64..1 << 50,
        ) {
            let all: Vec<_> = firsts
                .iter()
                .map(|first| Some(Beginning { first_ps: i128::from(first % apart), base_ns: None }))
                .collect();
            let forward = origins(&all);
            let mut backward = origins(&all.iter().rev().copied().collect::<Vec<_>>());
            backward.reverse();
            prop_assert_eq!(&forward, &backward);
            let least = firsts.iter().map(|first| i128::from(first % apart)).min().unwrap();
            for origin in forward.into_iter().flatten() {
                prop_assert!((0..NEAR_ZERO_PS + 1).contains(&(least - origin.ps())));
            }
        }

        #[test]
        fn any_head_has_a_beginning_or_none(text in r#"("ts"|"baseTimeNanoseconds"|:|[-0-9.e,{}" ]){0,40}"#) {
            let beginning = beginning(&text);
            let both = origins(&[beginning, beginning]);
            prop_assert_eq!(both[0], both[1]);
        }
    }
}
