//! The recorded part of a run in a few words. The sentence of the findings says all of it.

use nprof_engine::wire::coverage_entry::CoverageEntry;

/// Parts below this share are not told.
const LEAST: f64 = 0.0005;

/// The recorded part, and the lost one. `None` if nothing is known about it.
#[must_use]
pub fn coverage_words(of: &CoverageEntry) -> Option<String> {
    if of.text.is_empty() {
        return None;
    }
    let ranks = || of.ranks.iter();
    let lost = |part: f64, of: &str| (part >= LEAST).then(|| format!("{:.1} % of {of} lost", part * 100.0));
    let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
    let calls = ranks().map(|rank| rank.calls).sum::<u64>();
    let absent = ranks().map(|rank| rank.absent_calls).sum::<u64>();
    let unlaunched = ranks().map(|rank| rank.unlaunched).sum::<u64>();
    let launchable = ranks().map(|rank| rank.launchable).sum::<u64>();
    let time = ranks().map(|rank| 1.0 - rank.time).sum::<f64>() / of.ranks.len().max(1) as f64;
    let missing =
        (of.ranks_recorded < of.world).then(|| format!("{} of {} ranks", of.ranks_recorded, of.world));
    let parts = [
        missing,
        lost(time, "the time"),
        lost(share(absent, calls + absent), "calls"),
        lost(share(unlaunched, launchable), "launches"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    Some(if parts.is_empty() { "recorded in full".to_owned() } else { parts.join("; ") })
}

#[cfg(test)]
mod tests {
    use nprof_engine::wire::coverage_entry::RankCoverageEntry;

    use super::*;

    fn rank(
        time: f64,
        [calls, absent_calls]: [u64; 2],
        [launchable, unlaunched]: [u64; 2],
    ) -> RankCoverageEntry {
        let (late_ps, cut_ps) = (0, 0);
        let events = 1.0;
        RankCoverageEntry {
            rank: 0,
            time,
            events,
            calls,
            absent_calls,
            late_ps,
            cut_ps,
            launchable,
            unlaunched,
        }
    }

    fn words(world: u32, ranks: Vec<RankCoverageEntry>) -> Option<String> {
        let ranks_recorded = u32::try_from(ranks.len()).unwrap();
        let text = "recorded: a part".to_owned();
        coverage_words(&CoverageEntry { ranks_recorded, world, ranks, text, ..CoverageEntry::default() })
    }

    #[test]
    fn what_is_lost_is_told() {
        assert_eq!(words(1, vec![rank(1.0, [9, 0], [0, 0])]).as_deref(), Some("recorded in full"));
        let lossy = words(128, vec![rank(0.9, [997, 3], [100, 0]), rank(1.0, [1_000, 0], [100, 6])]);
        assert_eq!(
            lossy.as_deref(),
            Some("2 of 128 ranks; 5.0 % of the time lost; 0.1 % of calls lost; 3.0 % of launches lost")
        );
        assert_eq!(coverage_words(&CoverageEntry::default()), None);
    }
}
