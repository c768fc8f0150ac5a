//! The hits of a search as light on the rows of the timeline: where they are, lane by lane.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use nprof_engine::base::Interval;
use nprof_engine::base::order::sort_by_key;
use nprof_engine::wire::light::SearchLight;

use super::rows::sheet::Sheet;
use super::source_id::SourceId;
use super::time::scale::TimeScale;

/// Least and largest number of parts of a window.
const LEAST_CELLS: u32 = 512;
const MOST_CELLS: u32 = 8_192;
/// Number of parts of the whole time.
pub const WHOLE_CELLS: u32 = 2_048;

/// Stretches of parts, in order.
pub type LitStretches = Vec<Range<u32>>;

/// The hits of a search by rank.
pub type RankLights = BTreeMap<SourceId, RankLight>;

/// The hits of a search in the ranks that are shown: over the time around the window, to the pixel,
/// and over all time, which is coarser. Either can be missing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Light {
    near: Option<Arc<RankLights>>,
    whole: Option<Arc<RankLights>>,
}

/// The time over which a light is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LitTime {
    /// Around a window.
    Near,
    /// All time.
    Whole,
}

/// The hits of a search in a rank.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RankLight {
    /// The span that has the parts, on the page.
    pub span: Interval,
    /// Number of its parts.
    pub cells: u32,
    /// The lit parts of each track and lane that has any.
    lanes: HashMap<(u32, u32), LitStretches>,
    /// The tracks that have hits, also outside of the span.
    tracks: HashSet<u32>,
}

/// A row of light: a lane of a track, or all lanes below a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LitRow {
    /// The rank.
    pub source: SourceId,
    /// Index of the track in the sheet.
    pub track: usize,
    /// The lane; `None` for a group.
    pub lane: Option<u32>,
    /// The time over which it is known.
    pub time: LitTime,
}

/// A span and the number of its parts, for which light is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LitSpan {
    /// The span.
    pub span: Interval,
    /// Number of its parts.
    pub cells: u32,
}

impl LitSpan {
    /// The span around a window. It stays the same while the window moves a little, and has a part
    /// for each pixel at least.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the width of a screen")]
    pub fn around(scale: &TimeScale) -> Self {
        let window_ps = scale.window.duration_ps().max(1).unsigned_abs();
        let step_ps = i64::try_from(window_ps.next_power_of_two()).unwrap_or(i64::MAX / 4);
        let start_ps = scale.window.start.0.div_euclid(step_ps).saturating_mul(step_ps);
        let end_ps = start_ps.saturating_add(step_ps.saturating_mul(2));
        let cells = (scale.width_px.ceil() as u32).next_power_of_two().clamp(LEAST_CELLS, MOST_CELLS);
        Self { span: Interval::new(start_ps, end_ps), cells: cells * 2 }
    }
}

impl RankLight {
    /// Whether the light of a window is known, but for what clocks round.
    fn covers(&self, window: Interval) -> bool {
        let slack_ps = window.duration_ps() / 1_000 + 1;
        self.span.start.0 <= window.start.0.saturating_add(slack_ps)
            && self.span.end.0 >= window.end.0.saturating_sub(slack_ps)
    }

    /// The light of an answer, whose times are those of the page.
    #[must_use]
    pub fn of(answer: &SearchLight) -> Self {
        let lanes = answer.lanes.iter().map(|of| ((of.track, of.lane), of.stretches().collect()));
        Self {
            span: Interval::new(answer.start_ps, answer.end_ps),
            cells: answer.cells,
            lanes: lanes.collect(),
            tracks: answer.tracks.iter().map(|of| of.track).collect(),
        }
    }

    /// The lit parts of all lanes as rectangles of a picture that is as wide as the number of parts
    /// and 1 high: a path of SVG. Each is as wide as a thousandth of the picture at least.
    #[must_use]
    pub fn outline(&self) -> String {
        let least = self.cells.div_ceil(1_000).max(1);
        let all = self.lanes.values().flatten().map(|lit| lit.start..lit.end.max(lit.start + least));
        let rectangles = merged(all.collect()).into_iter().map(|Range { start, end }| {
            let wide = end - start;
            format!("M{start} 0h{wide}v1h-{wide}z")
        });
        rectangles.collect()
    }

    /// The lit parts of all lanes below a group.
    fn below(&self, sheet: &Sheet, source: SourceId, group: usize) -> LitStretches {
        let is_below = |track: u32| {
            sheet.position(source, track).is_some_and(|at| sheet.above(at).any(|above| above == group))
        };
        let of_lanes = self.lanes.iter().filter(|((track, _), _)| is_below(*track));
        merged(of_lanes.flat_map(|(_, stretches)| stretches).cloned().collect())
    }
}

impl Light {
    /// The light of what is known. `None` if nothing is, or without a hit: nothing would stand out.
    #[must_use]
    pub fn of(near: Option<Arc<RankLights>>, whole: Option<Arc<RankLights>>) -> Option<Self> {
        let light = Self { near, whole };
        let has_any = |ranks: &Arc<RankLights>| ranks.values().any(|rank| !rank.tracks.is_empty());
        light.near.iter().chain(&light.whole).any(has_any).then_some(light)
    }

    /// The light of a rank over a time, if it is known.
    #[must_use]
    pub fn rank(&self, source: SourceId, time: LitTime) -> Option<&RankLight> {
        match time {
            LitTime::Near => self.near.as_ref()?.get(&source),
            LitTime::Whole => self.whole.as_ref()?.get(&source),
        }
    }

    /// Most parts that a rank has over any time.
    #[must_use]
    pub fn most_cells(&self) -> u32 {
        let ranks = self.near.iter().chain(&self.whole).flat_map(|ranks| ranks.values());
        ranks.map(|rank| rank.cells).max().unwrap_or(0)
    }

    /// The finest light of a rank that covers a window, else any that is known.
    #[must_use]
    pub fn best(&self, source: SourceId, window: Interval) -> Option<(LitTime, &RankLight)> {
        let known = |time| Some((time, self.rank(source, time)?));
        let near = known(LitTime::Near);
        near.filter(|(_, rank)| rank.covers(window)).or_else(|| known(LitTime::Whole)).or(near)
    }

    /// The lit parts of a row.
    #[must_use]
    pub fn stretches(&self, sheet: &Sheet, row: &LitRow) -> LitStretches {
        let Some(rank) = self.rank(row.source, row.time) else { return Vec::new() };
        let of_lane = |lane: u32| {
            let number = sheet.tracks().get(row.track)?.number?;
            rank.lanes.get(&(number, lane)).cloned()
        };
        match row.lane {
            Some(lane) => of_lane(lane).unwrap_or_default(),
            None => rank.below(sheet, row.source, row.track),
        }
    }

    /// Whether a track has hits. True as long as its rank is not known.
    #[must_use]
    pub fn has_hits(&self, source: SourceId, track: u32) -> bool {
        let known = self.rank(source, LitTime::Whole).or_else(|| self.rank(source, LitTime::Near));
        known.is_none_or(|rank| rank.tracks.contains(&track))
    }
}

/// The same parts as stretches that do not touch.
fn merged(mut all: LitStretches) -> LitStretches {
    sort_by_key(&mut all, |lit| (lit.start, lit.end));
    let mut merged = LitStretches::new();
    for lit in all {
        match merged.last_mut() {
            Some(last) if lit.start <= last.end => last.end = last.end.max(lit.end),
            _ => merged.push(lit),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use nprof_engine::wire::light::{LitLaneEntry, TrackHitsEntry};
    use proptest::prelude::*;

    use super::*;
    use crate::view::rows::sheet::tests::sheet_of;

    proptest! {
        #[test]
        fn a_window_lies_in_its_lit_span(start in -1_000_000_i64..1 << 50, duration in 1_i64..1 << 50, width_px in 1.0..5_000.0_f64) {
            let scale = TimeScale { window: Interval::new(start, start + duration), width_px };
            let LitSpan { span, cells } = LitSpan::around(&scale);
            prop_assert!(span.start.0 <= start && start + duration <= span.end.0);
            let cell_px = span.duration_ps() as f64 / f64::from(cells) * scale.px_per_ps();
            prop_assert!(cell_px <= 2.0 + 1e-9, "{}", cell_px);
        }
    }

    /// The lit parts of a row: of the track at this index, or of all below it.
    #[track_caller]
    fn check(track: usize, lane: Option<u32>, expected: &str) {
        let sheet = sheet_of("Engines/\n  Tensor\n  Vector\nlow");
        let source = SourceId::of_first(0);
        let number = |at: usize| sheet.tracks()[at].number.unwrap();
        let lanes = [(1, vec![2, 3]), (2, vec![0, 1, 3, 4])].map(|(at, lengths)| LitLaneEntry {
            track: number(at),
            lane: 0,
            lengths,
        });
        let tracks = [1, 2].map(|at| TrackHitsEntry { track: number(at), hits: 1 });
        let (lanes, tracks) = (lanes.to_vec(), tracks.to_vec());
        let answer = SearchLight { end_ps: 100, cells: 10, lanes, tracks, ..SearchLight::default() };
        let ranks = Arc::new(RankLights::from([(source, RankLight::of(&answer))]));
        let light = Light::of(Some(ranks), None).unwrap();
        let time = LitTime::Near;
        let stretches = light.stretches(&sheet, &LitRow { source, track, lane, time });
        let stretches: Vec<String> = stretches.iter().map(|lit| format!("{lit:?}")).collect();
        assert_eq!(stretches.join(" "), expected);
        assert!(!light.has_hits(source, number(3)));
        assert!(light.has_hits(source, number(1)));
        assert!(light.has_hits(SourceId::of_first(9), number(3)));
    }

    #[test]
    fn a_window_beyond_what_is_known_has_the_light_of_all_time() {
        let source = SourceId::of_first(0);
        let of = |start_ps, end_ps, hits| {
            let tracks = vec![TrackHitsEntry { track: 0, hits }; hits as usize];
            let cells = if end_ps > 500 { 10 } else { 40 };
            let answer = SearchLight { start_ps, end_ps, cells, tracks, ..SearchLight::default() };
            Some(Arc::new(RankLights::from([(source, RankLight::of(&answer))])))
        };
        let time = |light: &Light, start, end| Some(light.best(source, Interval::new(start, end))?.0);
        let light = Light::of(of(100, 200, 1), of(0, 1_000, 1)).unwrap();
        assert_eq!(light.most_cells(), 40);
        assert_eq!(time(&light, 120, 180), Some(LitTime::Near));
        assert_eq!(time(&light, 120, 280), Some(LitTime::Whole));
        let light = Light::of(of(100, 200, 1), None).unwrap();
        assert_eq!(time(&light, 120, 280), Some(LitTime::Near));
        assert_eq!(Light::of(of(100, 200, 0), of(0, 1_000, 0)), None);
        assert_eq!(Light::of(None, None), None);
    }

    #[test]
    fn an_outline_joins_all_lanes() {
        let lane = |lane, lengths: &[u32]| LitLaneEntry { track: 0, lane, lengths: lengths.to_vec() };
        let lanes = vec![lane(0, &[2, 3]), lane(1, &[4, 4, 1, 1])];
        let answer = SearchLight { end_ps: 100, cells: 10, lanes, ..SearchLight::default() };
        assert_eq!(RankLight::of(&answer).outline(), "M2 0h6v1h-6zM9 0h1v1h-1z");
    }

    #[test]
    fn a_lane_is_lit_where_its_hits_are_and_a_group_where_those_below_are() {
        check(1, Some(0), "2..5");
        check(2, Some(0), "0..1 4..8");
        check(2, Some(1), "");
        check(3, Some(0), "");
        check(0, None, "0..1 2..8");
    }
}
