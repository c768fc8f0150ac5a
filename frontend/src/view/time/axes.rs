//! The axes of all ranks of a profile in a time base, and what alignment adds to the raw times.

use std::collections::BTreeMap;
use std::sync::Arc;

use nprof_engine::base::order::gathered;
use nprof_engine::base::{ClockFit, Interval, Time};
use nprof_engine::wire::catalog::{ProfileInfo, RankEntry};
use nprof_engine::wire::clock::ClockBy;

use super::axis::Axis;
use crate::view::source_id::SourceId;

/// The clocks on which ranks are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Timebase {
    /// The clock that all ranks share: as set by hand, else as the calls of all ranks show it.
    #[default]
    Aligned,
    /// The times of the traces, as far as they state their wall clocks.
    Raw,
}

impl Timebase {
    /// The name in addresses of the base that is not the usual one.
    pub const RAW: &str = "raw";

    /// The other base.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Aligned => Self::Raw,
            Self::Raw => Self::Aligned,
        }
    }

    fn clock_of(self, rank: &RankEntry) -> ClockFit {
        let stated = rank.clock.filter(|_| rank.clock_by == Some(ClockBy::Trace));
        let clock = match self {
            Self::Aligned => rank.clock.filter(|_| is_by_hand(rank)).or(rank.found).or(rank.clock),
            Self::Raw => stated,
        };
        clock.map(|clock| clock.0).unwrap_or_default()
    }
}

fn is_by_hand(rank: &RankEntry) -> bool {
    rank.clock_by == Some(ClockBy::Hand)
}

/// The axes of the ranks whose times are not the shared ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Axes(BTreeMap<SourceId, Axis>);

/// How the times of several ranks and profiles are put on one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimeFrame {
    /// The clocks of ranks.
    pub base: Timebase,
    /// Picoseconds by which the profiles after the first one stand later than if all began
    /// together, so that another moment of them is the common one.
    pub later_ps: i64,
}

impl From<Timebase> for TimeFrame {
    fn from(base: Timebase) -> Self {
        Self { base, later_ps: 0 }
    }
}

impl Axes {
    /// The axes of the ranks of these profiles. With a frame that moves none, they begin together:
    /// with the zero of the first.
    #[must_use]
    pub fn of(profiles: &[Arc<ProfileInfo>], frame: impl Into<TimeFrame>) -> Self {
        let frame = frame.into();
        let TimeFrame { base, .. } = frame;
        let of = |(position, profile): (u8, &Arc<ProfileInfo>)| {
            let later_ps = later_ps(profiles, position, frame);
            let axis = |rank: &RankEntry| Axis(base.clock_of(rank)).moved(later_ps);
            let ranks = profile.ranks.iter();
            ranks
                .map(|rank| (SourceId { rank: rank.rank, profile: position }, axis(rank)))
                .collect::<Vec<_>>()
        };
        let axes = (0..).zip(profiles).flat_map(of);
        Self(gathered(axes.filter(|(_, axis)| axis.0.offset_ps() != 0 || axis.0.drift_ppb() != 0)))
    }

    /// The axis of a rank.
    #[must_use]
    pub fn axis(&self, source: SourceId) -> Axis {
        self.0.get(&source).copied().unwrap_or_default()
    }
}

/// Picoseconds by which the profile at this position stands later than its own times.
fn later_ps(profiles: &[Arc<ProfileInfo>], position: u8, frame: TimeFrame) -> i64 {
    let zero_of = |at: usize| profiles.get(at).map_or(Time(0), |profile| zero(profile, frame.base));
    let together_ps = zero_of(0).0.saturating_sub(zero_of(usize::from(position)).0);
    if position == 0 { together_ps } else { together_ps.saturating_add(frame.later_ps) }
}

/// From the first to the last time of all ranks of these profiles in a frame.
#[must_use]
pub fn whole(profiles: &[Arc<ProfileInfo>], frame: impl Into<TimeFrame>) -> Interval {
    let frame = frame.into();
    let own = |profile: &ProfileInfo| {
        let of_ranks = whole_of(&profile.ranks, frame.base);
        of_ranks.unwrap_or_else(|| Interval::new(profile.start_ps, profile.end_ps))
    };
    let of = |(position, profile): (u8, &Arc<ProfileInfo>)| {
        Axis::default().moved(later_ps(profiles, position, frame)).shared_span(own(profile))
    };
    (0..).zip(profiles).map(of).reduce(Interval::cover).unwrap_or_default()
}

/// `None` if no rank has events.
fn whole_of(ranks: &[RankEntry], base: Timebase) -> Option<Interval> {
    let own = ranks.iter().filter(|rank| !rank.rank.is_all() && rank.events > 0);
    own.map(|rank| Axis(base.clock_of(rank)).shared_span(span_of(rank))).reduce(Interval::cover)
}

/// The moment that counts as zero in a time base: the first event of the profile, or of the profile
/// of which this is a part.
#[must_use]
pub fn zero(profile: &ProfileInfo, base: Timebase) -> Time {
    let of = if profile.whole.is_empty() { &profile.ranks } else { &profile.whole };
    whole_of(of, base).map_or(Time(profile.start_ps), |whole| whole.start)
}

/// The busiest span of a profile in a time base. It is known on the clocks of the manifest, so it
/// becomes longer by what moves the ranks apart. `None` for several profiles, which are seen whole.
#[must_use]
pub fn active(profiles: &[Arc<ProfileInfo>], base: Timebase) -> Option<Interval> {
    let [profile] = profiles else { return None };
    let (start_ps, end_ps) = profile.active_ps?;
    let own = profile.ranks.iter().filter(|rank| !rank.rank.is_all() && rank.events > 0);
    let moved = own.map(|rank| {
        let kept = rank.clock.map(|clock| clock.0).unwrap_or_default();
        let moved = |ps: i64| base.clock_of(rank).to_shared(kept.to_local(Time(ps))).0;
        Interval::new(moved(start_ps), moved(end_ps))
    });
    Some(moved.reduce(Interval::cover).unwrap_or_else(|| Interval::new(start_ps, end_ps)))
}

fn span_of(rank: &RankEntry) -> Interval {
    Interval::new(rank.start_ps, rank.end_ps.max(rank.start_ps))
}

/// Time that alignment adds to the raw times of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shift {
    /// Picoseconds from the raw to the aligned time, where the clock was compared.
    pub offset_ps: i64,
    /// Growth of the offset in nanoseconds per second.
    pub drift_ppb: i32,
    /// Largest possible error of the offset, if known.
    pub bound_ps: Option<u64>,
    /// Whether the user set the clock.
    pub is_by_hand: bool,
}

impl Shift {
    /// The shift of a rank.
    #[must_use]
    pub fn of(rank: &RankEntry) -> Self {
        let (raw, aligned) = (Timebase::Raw.clock_of(rank), Timebase::Aligned.clock_of(rank));
        let at = Time(aligned.at_ps());
        Self {
            offset_ps: aligned.to_shared(at).0.saturating_sub(raw.to_shared(at).0),
            drift_ppb: aligned.drift_ppb().saturating_sub(raw.drift_ppb()),
            bound_ps: aligned.bound_ps(),
            is_by_hand: is_by_hand(rank),
        }
    }

    /// Whether the rank stands elsewhere in the other time base.
    #[must_use]
    pub fn moves(&self) -> bool {
        self.offset_ps != 0 || self.drift_ppb != 0
    }
}

/// Whether any rank stands elsewhere in the other time base.
#[must_use]
pub fn is_any_moved(ranks: &[RankEntry]) -> bool {
    ranks.iter().any(|rank| Shift::of(rank).moves())
}

#[cfg(test)]
pub(crate) mod tests {
    use nprof_engine::wire::catalog::ProfileEntry;
    use nprof_engine::wire::clock::Clock;

    use super::*;

    const MS: i64 = 1_000_000_000;

    /// A clock that is behind by this offset.
    pub(crate) fn clock(offset_ps: i64) -> Option<Clock> {
        ClockFit::new(0, offset_ps, 0, Some(18)).ok().map(Clock)
    }

    /// A rank from 0 to 10 ms of its own time with a set and a found clock.
    pub(crate) fn rank(number: u32, set: Option<(i64, ClockBy)>, found: Option<i64>) -> RankEntry {
        RankEntry {
            rank: number.into(),
            host: None,
            device: None,
            core: None,
            events: 1,
            start_ps: 0,
            end_ps: 10 * MS,
            content: "c".into(),
            input: "test".into(),
            clock: set.and_then(|(offset_ps, _)| clock(offset_ps)),
            clock_by: set.map(|(_, by)| by),
            found: found.and_then(clock),
        }
    }

    pub(crate) fn profile(ranks: Vec<RankEntry>) -> Arc<ProfileInfo> {
        let entry = ProfileEntry {
            id: "n".into(),
            slug: "p".into(),
            aliases: vec![],
            display_name: "p".into(),
            created_unix_ms: 0,
            ranks: 2,
            events: 2,
            size_bytes: 0,
            warnings: 0,
            source: "test".into(),
        };
        Arc::new(ProfileInfo {
            entry,
            start_ps: 0,
            end_ps: 10 * MS,
            active_ps: Some((MS, 2 * MS)),
            ranks,
            whole: vec![],
        })
    }

    #[track_caller]
    fn check(set: Option<(i64, ClockBy)>, found: Option<i64>, aligned: i64, raw: i64) {
        let ranks = vec![rank(3, set, found)];
        let profiles = [profile(ranks.clone())];
        let at = |base| Axes::of(&profiles, base).axis(SourceId::of_first(3)).shared(0);
        assert_eq!((at(Timebase::Aligned), at(Timebase::Raw)), (aligned, raw), "{set:?} {found:?}");
        assert_eq!(Shift::of(&ranks[0]).offset_ps, aligned - raw);
    }

    #[test]
    fn the_hand_wins_over_the_calls_and_they_win_over_the_trace() {
        check(None, None, 0, 0);
        check(None, Some(5), 5, 0);
        check(Some((7, ClockBy::Hand)), Some(5), 7, 0);
        check(Some((7, ClockBy::Hand)), None, 7, 0);
        check(Some((7, ClockBy::Trace)), Some(5), 5, 7);
        check(Some((7, ClockBy::Trace)), None, 7, 7);
        check(Some((7, ClockBy::Calls)), Some(5), 5, 0);
        check(Some((7, ClockBy::Calls)), None, 7, 0);
    }

    #[test]
    fn agreeing_clocks_move_nothing() {
        let both = [rank(0, None, Some(0)), rank(1, Some((7, ClockBy::Trace)), Some(7))];
        assert!(!is_any_moved(&both));
        assert!(is_any_moved(&[rank(0, None, Some(0)), rank(1, None, Some(7))]));
        assert_eq!(Axes::of(&[profile(both[..1].to_vec())], Timebase::Aligned), Axes::default());
    }

    #[test]
    fn the_whole_and_the_busy_span_hold_all_ranks_in_each_base() {
        let profile = [profile(vec![rank(0, None, Some(0)), rank(1, None, Some(-5 * MS))])];
        let ms = |start, end| Interval::new(start * MS, end * MS);
        assert_eq!(whole(&profile, Timebase::Aligned), ms(-5, 10));
        assert_eq!(whole(&profile, Timebase::Raw), ms(0, 10));
        assert_eq!(active(&profile, Timebase::Aligned), Some(ms(-4, 2)));
        assert_eq!(active(&profile, Timebase::Raw), Some(ms(1, 2)));
    }

    #[test]
    fn times_of_a_part_count_from_the_first_event_of_the_whole() {
        let all = vec![rank(0, None, Some(0)), rank(1, None, Some(-5 * MS))];
        let mut part =
            ProfileInfo::clone(&profile(vec![RankEntry { start_ps: 7 * MS, ..rank(0, None, Some(0)) }]));
        assert_eq!(zero(&part, Timebase::Raw), Time(7 * MS));
        part.whole = all;
        assert_eq!(zero(&part, Timebase::Raw), Time(0));
        assert_eq!(zero(&part, Timebase::Aligned), Time(-5 * MS));
        assert_eq!(whole(&[Arc::new(part)], Timebase::Aligned).start, Time(7 * MS));
    }

    #[test]
    fn profiles_begin_together() {
        let late = RankEntry { start_ps: 7 * MS, end_ps: 30 * MS, ..rank(0, None, None) };
        let both = [profile(vec![rank(0, None, None)]), profile(vec![late.clone(), rank(1, None, Some(MS))])];
        let axes = Axes::of(&both, Timebase::Raw);
        let shared = |text: &str, ps| axes.axis(text.parse().unwrap()).shared(ps);
        assert_eq!((shared("0", 0), shared("0.1", 0), shared("1.1", 0)), (0, 0, 0), "rank 1 begins first");
        let both = [profile(vec![rank(0, None, None)]), profile(vec![late])];
        let axis = Axes::of(&both, Timebase::Raw).axis("0.1".parse().unwrap());
        assert_eq!((axis.shared(7 * MS), axis.local(0)), (0, 7 * MS));
        assert_eq!(whole(&both, Timebase::Raw), Interval::new(0, 23 * MS));
        assert_eq!((active(&both, Timebase::Raw), zero(&both[1], Timebase::Raw)), (None, Time(7 * MS)));
        // Moved by hand, another moment of the second one is the common one.
        let frame = TimeFrame { base: Timebase::Raw, later_ps: -2 * MS };
        let axes = Axes::of(&both, frame);
        let shared = |text: &str, ps| axes.axis(text.parse().unwrap()).shared(ps);
        assert_eq!((shared("0", 0), shared("0.1", 9 * MS)), (0, 0));
        assert_eq!(whole(&both, frame), Interval::new(-2 * MS, 21 * MS));
    }
}
