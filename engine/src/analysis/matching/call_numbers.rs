//! Matching of calls with numbers.

use rustc_hash::FxHashSet;

use crate::analysis::{Instances, Job};
use crate::base::Result;
use crate::exec::Cancel;

/// Adds the instances of a group.
pub(super) fn matched(job: &Job, group: u32, found: &mut Instances, cancel: Cancel<'_>) -> Result<()> {
    let of_ranks: Vec<(u16, &[u32])> =
        job.members[group as usize].iter().map(|&rank| (rank, job.calls_in(rank.into(), group))).collect();
    let number = |rank: u16, call: u32| job.ranks[usize::from(rank)].calls.numbers[call as usize];
    let ascends = |&(rank, calls): &(u16, &[u32])| {
        calls.windows(2).all(|pair| number(rank, pair[0]) < number(rank, pair[1]))
    };
    let push = |members: &mut [(u16, u32)]| {
        found.push(group, members);
        cancel.check()
    };
    if of_ranks.iter().all(ascends) { merge(&of_ranks, number, push) } else { sort(&of_ranks, number, push) }
}

/// Matches ascending numbers, without memory for a copy of the calls.
fn merge(
    of_ranks: &[(u16, &[u32])],
    number: impl Fn(u16, u32) -> u32,
    mut push: impl FnMut(&mut [(u16, u32)]) -> Result<()>,
) -> Result<()> {
    let mut left: Vec<(u16, &[u32])> = of_ranks.to_vec();
    let mut members = Vec::new();
    loop {
        left.retain(|(_, calls)| !calls.is_empty());
        let Some(next) = left.iter().map(|(rank, calls)| number(*rank, calls[0])).min() else {
            return Ok(());
        };
        members.clear();
        for (rank, calls) in &mut left {
            if number(*rank, calls[0]) == next {
                members.push((*rank, calls[0]));
                *calls = &calls[1..];
            }
        }
        push(&mut members)?;
    }
}

/// Matches numbers in any order. Numbers that start again, as those of a new communicator with an
/// old name do, begin a new epoch.
fn sort(
    of_ranks: &[(u16, &[u32])],
    number: impl Fn(u16, u32) -> u32,
    mut push: impl FnMut(&mut [(u16, u32)]) -> Result<()>,
) -> Result<()> {
    let mut all: Vec<(u32, u32, u16, u32)> = Vec::new();
    for &(rank, calls) in of_ranks {
        let (mut epoch, mut seen) = (0, FxHashSet::default());
        for &call in calls {
            let number = number(rank, call);
            // Two streams can start neighbouring numbers in either order.
            if !seen.insert(number) {
                epoch += 1;
                seen.clear();
                seen.insert(number);
            }
            all.push((epoch, number, rank, call));
        }
    }
    all.sort_unstable();
    let mut members = Vec::new();
    for instance in all.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        members.clear();
        members.extend(instance.iter().map(|&(.., rank, call)| (rank, call)));
        push(&mut members)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(found: &mut Vec<Vec<(u16, u32)>>, members: &[(u16, u32)]) -> Result<()> {
        found.push(members.to_vec());
        Ok(())
    }

    #[test]
    fn both_ways_agree_and_numbers_can_start_again() {
        let numbers = [[0, 1, 3], [1, 2, 3], [0, 2, 3]];
        let of = |rank: u16, call: u32| numbers[usize::from(rank)][call as usize];
        let ranks = [(0, &[0, 1, 2][..]), (1, &[0, 1, 2]), (2, &[0, 1, 2])];
        let (mut merged, mut sorted) = (Vec::new(), Vec::new());
        merge(&ranks, of, |members| push(&mut merged, members)).unwrap();
        sort(&ranks, of, |members| push(&mut sorted, members)).unwrap();
        assert_eq!(merged, sorted);
        assert_eq!(merged[1], [(0, 1), (1, 0)], "number 1");

        let again = [[0, 1, 0, 1], [0, 1, 0, 1]];
        let mut found = Vec::new();
        let of = |rank: u16, call: u32| again[usize::from(rank)][call as usize];
        let ranks = [(0, &[0, 1, 2, 3][..]), (1, &[0, 1, 2, 3])];
        sort(&ranks, of, |members| push(&mut found, members)).unwrap();
        assert_eq!(found[2], [(0, 2), (1, 2)]);
        assert_eq!(found.len(), 4);
    }
}
