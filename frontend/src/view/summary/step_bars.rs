//! The steps of a rank over time, as bars: where each one is, and how long it takes.

use nprof_engine::base::Interval;
use nprof_engine::wire::regions::{RegionEntry, RegionKindEntry, RegionList};

/// Bars that a screen can show apart.
const MOST_BARS: usize = 400;

/// Steps over time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StepBars {
    /// The steps by start; the longest ones if there are many.
    pub bars: Vec<StepBar>,
    /// Number of steps.
    pub steps: usize,
    /// Usual duration in picoseconds.
    pub median_ps: i64,
    /// Standard deviation of the durations in picoseconds.
    pub deviation_ps: f64,
    /// Word for one, e.g. `iteration`.
    pub kind: &'static str,
}

/// A step.
#[derive(Debug, Clone, PartialEq)]
pub struct StepBar {
    /// Its name.
    pub name: String,
    /// Its span.
    pub span: Interval,
    /// Start as a share of the whole.
    pub start: f64,
    /// Length as a share of the whole.
    pub width: f64,
    /// Duration beside that of the longest, from 0 to 1.
    pub height: f64,
    /// Whether it stands out.
    pub is_outlier: bool,
}

impl StepBars {
    /// The bars of the steps of a rank, else of its layers, else of its phases. `None` without any.
    #[must_use]
    pub fn of(list: &RegionList, whole: Interval) -> Option<Self> {
        let kinds = [
            (RegionKindEntry::Iteration, "step"),
            (RegionKindEntry::Layer, "layer"),
            (RegionKindEntry::Phase, "phase"),
        ];
        let of_kind = |kind| list.regions.iter().filter(move |region| region.kind == kind);
        let (kind, word) = kinds.into_iter().find(|(kind, _)| of_kind(*kind).next().is_some())?;
        let regions: Vec<&RegionEntry> = of_kind(kind).collect();
        let longest = regions.iter().map(|region| region.duration_ps()).max().unwrap_or(0).max(1) as f64;
        let length = (whole.duration_ps() as f64).max(1.0);
        let bar = |region: &&RegionEntry| StepBar {
            name: region.name.clone(),
            span: Interval::new(region.start_ps, region.end_ps),
            start: (region.start_ps.saturating_sub(whole.start.0) as f64 / length).clamp(0.0, 1.0),
            width: (region.duration_ps() as f64 / length).clamp(0.0, 1.0),
            height: region.duration_ps() as f64 / longest,
            is_outlier: region.step.as_ref().is_some_and(|step| step.is_outlier),
        };
        let mut bars: Vec<StepBar> = longest_of_each(&regions).iter().map(bar).collect();
        bars.sort_by_key(|bar| bar.span.start);
        let median_ps = list.median_ps.unwrap_or_else(|| median(&regions));
        let deviation_ps = deviation_ps(&regions);
        Some(Self { bars, steps: regions.len(), median_ps, deviation_ps, kind: word })
    }

    /// The slowest one, if it takes longer than the usual one.
    #[must_use]
    pub fn slowest(&self) -> Option<&StepBar> {
        let slowest = self.bars.iter().max_by_key(|bar| bar.span.duration_ps());
        slowest.filter(|bar| bar.span.duration_ps() > self.median_ps)
    }
}

/// All regions, or of many the longest of each few neighbours.
fn longest_of_each<'r>(regions: &[&'r RegionEntry]) -> Vec<&'r RegionEntry> {
    let few = regions.len().div_ceil(MOST_BARS).max(1);
    let longest = |of: &[&'r RegionEntry]| of.iter().copied().max_by_key(|region| region.duration_ps());
    regions.chunks(few).filter_map(longest).collect()
}

fn median(regions: &[&RegionEntry]) -> i64 {
    let mut durations: Vec<i64> = regions.iter().map(|region| region.duration_ps()).collect();
    durations.sort_unstable();
    durations.get(durations.len() / 2).copied().unwrap_or(0)
}

fn deviation_ps(regions: &[&RegionEntry]) -> f64 {
    let count = regions.len().max(1) as f64;
    let durations = || regions.iter().map(|region| region.duration_ps() as f64);
    let mean = durations().sum::<f64>() / count;
    (durations().map(|duration| (duration - mean).powi(2)).sum::<f64>() / count).sqrt()
}

#[cfg(test)]
mod tests {
    use nprof_engine::wire::regions::StepEntry;

    use super::*;

    fn region(kind: RegionKindEntry, name: &str, start_ps: i64, end_ps: i64) -> RegionEntry {
        let source = "marks".to_owned();
        RegionEntry { kind, name: name.to_owned(), start_ps, end_ps, source, step: None }
    }

    fn slow(of: RegionEntry) -> RegionEntry {
        let step = StepEntry {
            kernels: 7,
            pace: Some("slow".to_owned()),
            shape: "usual".to_owned(),
            is_outlier: true,
            mark_start_ps: None,
            mark_end_ps: None,
        };
        RegionEntry { step: Some(step), ..of }
    }

    #[test]
    fn steps_stand_where_they_are_and_are_as_high_as_they_take() {
        let step = |name, start_ps, end_ps| region(RegionKindEntry::Iteration, name, start_ps, end_ps);
        let regions = vec![
            step("0", 100, 200),
            slow(step("1", 200, 400)),
            step("2", 400, 500),
            region(RegionKindEntry::Layer, "mlp", 0, 900),
        ];
        let list = RegionList { median_ps: Some(100), no_steps: None, regions };
        let bars = StepBars::of(&list, Interval::new(0, 1_000)).unwrap();
        let drawn: Vec<_> = bars.bars.iter().map(|bar| (bar.start, bar.width, bar.height)).collect();
        assert_eq!(drawn, [(0.1, 0.1, 0.5), (0.2, 0.2, 1.0), (0.4, 0.1, 0.5)]);
        assert_eq!((bars.kind, bars.steps), ("step", 3));
        assert_eq!(bars.slowest().map(|bar| bar.name.as_str()), Some("1"));
        // Durations 100, 200 and 100.
        assert!((bars.deviation_ps - (20_000.0_f64 / 9.0).sqrt()).abs() < 1e-9);
    }

    #[test]
    fn of_many_steps_the_longest_are_shown() {
        let step = |at: i64| region(RegionKindEntry::Layer, &at.to_string(), at * 10, at * 10 + 1 + at % 7);
        let list = RegionList { regions: (0..1_000).map(step).collect(), ..RegionList::default() };
        let bars = StepBars::of(&list, Interval::new(0, 10_000)).unwrap();
        assert_eq!((bars.kind, bars.steps, bars.median_ps), ("layer", 1_000, 4));
        assert!(bars.bars.len() <= MOST_BARS && bars.bars.iter().any(|bar| bar.height >= 1.0));
        assert_eq!(StepBars::of(&RegionList::default(), Interval::new(0, 1)), None);
    }
}
