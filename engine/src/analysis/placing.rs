//! The process group of calls that state none, if the trace states the groups of their rank.
//!
//! All calls of a thread or a stream of a rank belong to one group: backends give each group its
//! own. A group is possible if the calls of all its ranks overlap, time and again. A part of a
//! group is possible, too, wherever the group is. So a group counts before its part only if the
//! part cannot explain the times: its ranks stay until those outside have come, longer than a
//! transfer takes, or so often that chance does not explain it. Else nobody can tell the two apart.

use super::overlap::{OverlapGroup, SharedCall, operations};
use crate::base::Result;
use crate::exec::Cancel;
use rustc_hash::{FxHashMap, FxHashSet};

/// Share of the calls of a thread that overlap those of all ranks of its group.
const LEAST_SHARE: f64 = 0.8;
/// A thread with a smaller share does not belong to the group.
const HALF: f64 = 0.5;
/// Rounds in which one such thread of each rank is left out.
const ROUNDS: usize = 16;
/// Operations that show a group.
const LEAST_SHARED: usize = 3;
/// A part that stays for so many transfers after it is complete waits for others.
const OVERSTAY: f64 = 4.0;
/// Chance that a part stays by itself until the others have come, in all operations.
const LEAST_CHANCE: f64 = 0.01;
/// Operations that are compared for it.
const COMPARED: usize = 64;

/// Calls of a thread or a stream of a rank.
#[derive(Debug, Clone)]
pub(super) struct CallSource {
    /// Position of the rank.
    pub(super) rank: u16,
    /// Numbers of the groups that are possible. One if it is known.
    pub(super) choices: Vec<usize>,
    /// The calls that wait for all, by start, each with its class.
    pub(super) calls: Vec<(SharedCall, u32)>,
}

/// A process group.
#[derive(Debug, Clone)]
pub(super) struct CandidateGroup {
    /// Positions of the recorded ranks, ascending.
    pub(super) ranks: Vec<u16>,
    /// Largest difference between two of their clocks. `None` if it is not known.
    pub(super) slack_ps: Option<i64>,
    /// Whether calls of one rank can belong to another group that no trace states.
    pub(super) is_guess: bool,
}

/// Result for a group.
#[derive(Debug, Default)]
struct GroupFit {
    /// Its operations with calls of all recorded ranks.
    whole: Vec<OverlapGroup>,
    /// Starts and ends of their calls.
    times_ps: FxHashMap<(u16, u32), (i64, i64)>,
    /// The units whose calls belong to them as far as the times tell. `None` if these tell nothing.
    units: Option<FxHashSet<usize>>,
}

/// The group of each unit, as far as it is certain. `recorded_ps` has the recorded time of each
/// rank.
pub(super) fn placed(
    units: &[CallSource],
    choices: &[CandidateGroup],
    recorded_ps: &[(i64, i64)],
    cancel: Cancel<'_>,
) -> Result<Vec<Option<usize>>> {
    let fits: Vec<GroupFit> = (0..choices.len())
        .map(|choice| fit(units, choice, &choices[choice], recorded_ps, cancel))
        .collect::<Result<_>>()?;
    let scene = PlacingFacts { units, choices, fits };
    let is_proven: Vec<bool> = (0..choices.len()).map(|choice| scene.is_proven(choice)).collect();
    Ok((0..units.len()).map(|unit| scene.place(unit, &is_proven)).collect())
}

/// Matches the calls of all units that can belong to a group, and compares. A unit of which less
/// than half fits is of another group. Its calls have taken partners from other units of its rank,
/// so it is left out before these are judged.
fn fit(
    units: &[CallSource],
    number: usize,
    choice: &CandidateGroup,
    recorded_ps: &[(i64, i64)],
    cancel: Cancel<'_>,
) -> Result<GroupFit> {
    let Some(slack_ps) = choice.slack_ps.filter(|_| choice.ranks.len() > 1) else {
        return Ok(GroupFit::default());
    };
    let recorded = choice.ranks.iter().map(|&rank| recorded_ps[usize::from(rank)]);
    let (from, to) = recorded.fold((i64::MIN, i64::MAX), |all, one| (all.0.max(one.0), all.1.min(one.1)));
    let common = |unit: &CallSource| {
        unit.calls.iter().filter(|(call, _)| call.start_ps >= from && call.end_ps <= to).count() as f64
    };
    let mut left: Vec<usize> = (0..units.len()).filter(|&at| units[at].choices.contains(&number)).collect();
    let mut fit = GroupFit::default();
    for _ in 0..ROUNDS {
        fit = matched(left.iter().map(|&at| &units[at]), choice.ranks.len(), slack_ps, cancel)?;
        let members: FxHashSet<(u16, u32)> =
            fit.whole.iter().flat_map(|one| one.members.iter().copied()).collect();
        let met = |unit: &CallSource| {
            unit.calls.iter().filter(|(call, _)| members.contains(&(call.rank, call.call))).count() as f64
        };
        let has_share = |at: &usize, share: f64| met(&units[*at]) >= share * common(&units[*at]);
        let shown = left.iter().filter(|at| met(&units[**at]) > 0.0 && has_share(at, LEAST_SHARE));
        fit.units = Some(shown.copied().collect());
        let share = |at: usize| met(&units[at]) / common(&units[at]).max(1.0);
        let mut worst: FxHashMap<u16, usize> = FxHashMap::default();
        for &at in left.iter().filter(|at| !has_share(at, HALF)) {
            let of = worst.entry(units[at].rank).or_insert(at);
            if share(at) < share(*of) {
                *of = at;
            }
        }
        if worst.is_empty() {
            break;
        }
        left.retain(|at| worst.get(&units[*at].rank) != Some(at));
    }
    Ok(fit)
}

/// The operations of these units with calls of this many ranks.
fn matched<'u>(
    units: impl Iterator<Item = &'u CallSource>,
    ranks: usize,
    slack_ps: i64,
    cancel: Cancel<'_>,
) -> Result<GroupFit> {
    let mut classes: FxHashMap<u32, FxHashMap<u16, Vec<SharedCall>>> = FxHashMap::default();
    for unit in units {
        for &(call, class) in &unit.calls {
            classes.entry(class).or_default().entry(unit.rank).or_default().push(call);
        }
    }
    let mut fit = GroupFit::default();
    for of_ranks in classes.into_values().filter(|of_ranks| of_ranks.len() == ranks) {
        let mut of_ranks: Vec<Vec<SharedCall>> = of_ranks.into_values().collect();
        of_ranks.iter_mut().for_each(|calls| calls.sort_by_key(|call| (call.start_ps, call.call)));
        let calls = of_ranks.iter().flatten();
        fit.times_ps.extend(calls.map(|call| ((call.rank, call.call), (call.start_ps, call.end_ps))));
        let found = operations(of_ranks, slack_ps, cancel)?;
        fit.whole.extend(found.into_iter().filter(|one| one.members.len() == ranks));
    }
    Ok(fit)
}

/// The units and groups with what their times tell.
struct PlacingFacts<'u> {
    units: &'u [CallSource],
    choices: &'u [CandidateGroup],
    fits: Vec<GroupFit>,
}

impl PlacingFacts<'_> {
    /// Whether the times allow that a unit belongs to a group. `None` if they tell nothing.
    fn allows(&self, unit: usize, choice: usize) -> Option<bool> {
        self.fits[choice].units.as_ref().map(|units| units.contains(&unit))
    }

    fn place(&self, unit: usize, is_proven: &[bool]) -> Option<usize> {
        let own = &self.units[unit].choices;
        let is_guess = |choice: usize| self.choices[choice].is_guess;
        if let [only] = own[..]
            && !is_guess(only)
        {
            return Some(only);
        }
        let possible: Vec<usize> =
            own.iter().copied().filter(|&choice| self.allows(unit, choice) == Some(true)).collect();
        let mut untold = own.iter().copied().filter(|&choice| self.allows(unit, choice).is_none());
        let Some(whole) = possible.iter().copied().max_by_key(|&choice| self.choices[choice].ranks.len())
        else {
            let left = untold.next().filter(|&choice| !is_guess(choice))?;
            return untold.next().is_none().then_some(left);
        };
        let is_part = |other: usize| {
            let ranks = &self.choices[whole].ranks;
            self.choices[other].ranks.iter().all(|rank| ranks.binary_search(rank).is_ok())
        };
        let is_alone = possible.len() == 1 && untold.next().is_none() && !is_guess(whole);
        let are_parts = possible.iter().all(|&other| is_part(other));
        (is_alone || is_proven[whole] && are_parts).then_some(whole)
    }

    /// Whether the calls that overlap in a group belong to it: for one of its ranks no smaller
    /// group explains them. Then they need those of the other ranks, too.
    fn is_proven(&self, choice: usize) -> bool {
        let Some(shown) = &self.fits[choice].units else { return false };
        let mut by_rank: FxHashMap<u16, Vec<usize>> = FxHashMap::default();
        shown.iter().for_each(|&unit| by_rank.entry(self.units[unit].rank).or_default().push(unit));
        let is_refuted = |(&rank, units): (&u16, &Vec<usize>)| {
            let mut others: Vec<usize> =
                units.iter().flat_map(|&unit| &self.units[unit].choices).copied().collect();
            others.sort_unstable();
            others.dedup();
            others.retain(|&other| {
                other != choice && units.iter().any(|&unit| self.allows(unit, other) != Some(false))
            });
            let mut parts: Vec<&[u16]> = others.iter().map(|&other| &self.choices[other].ranks[..]).collect();
            let own = [rank];
            if self.choices[choice].is_guess {
                parts.push(&own);
            }
            let calls = units.iter().flat_map(|&unit| &self.units[unit].calls);
            let calls: FxHashSet<(u16, u32)> = calls.map(|(call, _)| (call.rank, call.call)).collect();
            parts.into_iter().all(|part| self.fits[choice].waits_for_others(&calls, part))
        };
        by_rank.len() == self.choices[choice].ranks.len() && by_rank.iter().any(is_refuted)
    }
}

impl GroupFit {
    /// Whether ranks of a part wait for those outside, in the operations with these calls.
    fn waits_for_others(&self, calls: &FxHashSet<(u16, u32)>, part: &[u16]) -> bool {
        // From the last arrival of the part to that of all, and to the first end of the part.
        let mut times: Vec<(f64, f64)> = Vec::new();
        for one in self.whole.iter().filter(|one| one.members.iter().any(|member| calls.contains(member))) {
            let of_part = one.members.iter().filter(|(rank, _)| part.binary_search(rank).is_ok());
            let of_part = of_part.filter_map(|member| self.times_ps.get(member)).copied();
            let Some((last, end)) = of_part.reduce(|a, b| (a.0.max(b.0), a.1.min(b.1))) else { continue };
            let gap = one.last_start_ps.saturating_sub(last).max(0) as f64;
            times.push((gap, end.saturating_sub(last) as f64));
        }
        if times.len() < LEAST_SHARED {
            return false;
        }
        let gaps: f64 = times.iter().map(|(gap, _)| gap).sum();
        let transfers: f64 = times.iter().map(|(gap, stay)| (stay - gap).max(0.0)).sum();
        let step = times.len().div_ceil(COMPARED);
        let some: Vec<&(f64, f64)> = times.iter().step_by(step).collect();
        let fitting =
            some.iter().flat_map(|(gap, _)| some.iter().filter(move |(_, stay)| gap <= stay)).count();
        let chance = (fitting as f64 / (some.len() * some.len()) as f64).powf(some.len() as f64);
        gaps > OVERSTAY * transfers || chance < LEAST_CHANCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::tests::Dice;

    /// All ranks, the first two, and the others.
    fn choices(slack_ps: Option<i64>) -> Vec<CandidateGroup> {
        let of = |ranks: &[u16]| CandidateGroup { ranks: ranks.to_vec(), slack_ps, is_guess: false };
        vec![of(&[0, 1, 2, 3]), of(&[0, 1]), of(&[2, 3])]
    }

    /// Ranks that meet in these groups in turn. A rank computes for 1000 and at most `noise` more,
    /// the last one for `late` more. Each group has a unit of each of its ranks.
    fn units(groups: &[&[u16]], noise: i64, late: i64) -> Vec<CallSource> {
        let (mut dice, mut now) = (Dice(5), [0_i64; 4]);
        let mut units: Vec<CallSource> = Vec::new();
        for group in groups {
            units.extend(group.iter().map(|&rank| CallSource {
                rank,
                choices: vec![0, 1 + usize::from(rank / 2)],
                calls: Vec::new(),
            }));
        }
        for call in 0_u32..24 {
            for (rank, now) in now.iter_mut().enumerate() {
                *now += 1_000 + dice.below(noise + 1) + if rank == 3 { late } else { 0 };
            }
            let mut unit = 0;
            for (number, group) in (0..).zip(groups) {
                let last = group.iter().map(|&rank| now[usize::from(rank)]).max().unwrap();
                for &rank in *group {
                    let (start_ps, end_ps) = (now[usize::from(rank)], last + 50 + dice.below(noise / 10 + 1));
                    units[unit]
                        .calls
                        .push((SharedCall { start_ps, end_ps, rank, call: call * 4 + number }, 0));
                    now[usize::from(rank)] = end_ps;
                    unit += 1;
                }
            }
        }
        units
    }

    #[track_caller]
    fn check(groups: &[&[u16]], times: (i64, i64), expected: &[Option<usize>]) {
        let recorded = [(0, i64::MAX); 4];
        let found =
            placed(&units(groups, times.0, times.1), &choices(Some(0)), &recorded, Cancel::NEVER).unwrap();
        assert_eq!(found, expected, "{groups:?} {times:?}");
    }

    #[test]
    fn ranks_that_wait_for_others_are_in_their_group() {
        check(&[&[0, 1, 2, 3]], (300, 0), &[Some(0); 4]);
        check(&[&[0, 1, 2, 3]], (0, 4_000), &[Some(0); 4]);
        check(&[&[0, 1], &[2, 3]], (300, 0), &[Some(1), Some(1), Some(2), Some(2)]);
        let both = [Some(1), Some(1), Some(2), Some(2), Some(0), Some(0), Some(0), Some(0)];
        check(&[&[0, 1], &[2, 3], &[0, 1, 2, 3]], (100, 4_000), &both);
    }

    #[test]
    fn nobody_can_tell_if_all_come_together_or_if_clocks_are_not_known() {
        check(&[&[0, 1, 2, 3]], (0, 0), &[None; 4]);
        let units = units(&[&[0, 1, 2, 3]], 300, 0);
        let recorded = [(0, i64::MAX); 4];
        let found = placed(&units, &choices(None), &recorded, Cancel::NEVER).unwrap();
        assert_eq!(found, [None; 4]);
    }
}
