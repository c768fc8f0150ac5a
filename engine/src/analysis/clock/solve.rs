//! Levels of ranks from what each rank shows in each of its groups.
//!
//! A value of a rank in a group is the level of the rank plus a level of the group. Ranks of one
//! host often share tight groups, and loose groups join hosts. Moving rank by rank would need
//! thousands of passes over all calls.

use crate::base::Result;
use crate::exec::Cancel;

/// Result of a rank in a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct GroupLevel {
    pub(super) rank: usize,
    pub(super) group: usize,
    pub(super) value: f64,
    /// The reciprocal of the variance, up to a common factor.
    pub(super) weight: f64,
}

/// The levels of all ranks that fit best; that of the reference is 0. Ranks without an entry have
/// the level 0, and so have groups that are not `stated`.
///
/// Solves the normal equations by conjugate gradients. Ranks come first in the vectors, then
/// groups.
pub(super) fn levels(
    entries: &[GroupLevel],
    is_stated: &[bool],
    ranks: usize,
    reference: usize,
    cancel: Cancel<'_>,
) -> Result<Vec<f64>> {
    let system = System { entries, is_stated, ranks };
    let mut right = vec![0.0; ranks + is_stated.len()];
    let mut diagonal = right.clone();
    for one in entries {
        for at in [one.rank, ranks + one.group] {
            right[at] += one.weight * one.value;
            diagonal[at] += one.weight;
        }
    }
    system.still_groups(&mut right);
    let scaled = |left: &[f64]| -> Vec<f64> {
        left.iter().zip(&diagonal).map(|(left, of)| if *of > 0.0 { left / of } else { 0.0 }).collect()
    };
    let mut found = vec![0.0; right.len()];
    let mut left = right;
    let mut direction = scaled(&left);
    let mut size = dot(&left, &direction);
    let enough = size * 1e-20;
    for _ in 0..2 * found.len() + 50 {
        cancel.check()?;
        let image = system.apply(&direction);
        let along = dot(&direction, &image);
        if size <= enough || along <= 0.0 {
            break;
        }
        let step = size / along;
        for (at, level) in found.iter_mut().enumerate() {
            *level += step * direction[at];
            left[at] -= step * image[at];
        }
        let next = scaled(&left);
        let new = dot(&left, &next);
        for (at, part) in direction.iter_mut().enumerate() {
            *part = next[at] + new / size * *part;
        }
        size = new;
    }
    let base = found[reference];
    let with_entry = diagonal.iter().take(ranks).map(|weight| *weight > 0.0);
    Ok(found.iter().zip(with_entry).map(|(level, has)| if has { level - base } else { 0.0 }).collect())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The matrix of the normal equations.
struct System<'e> {
    entries: &'e [GroupLevel],
    is_stated: &'e [bool],
    ranks: usize,
}

impl System<'_> {
    fn apply(&self, vector: &[f64]) -> Vec<f64> {
        let mut image = vec![0.0; vector.len()];
        for one in self.entries {
            let both = one.weight * (vector[one.rank] + vector[self.ranks + one.group]);
            image[one.rank] += both;
            image[self.ranks + one.group] += both;
        }
        self.still_groups(&mut image);
        image
    }

    /// Keeps the level 0 of groups that are not stated.
    fn still_groups(&self, vector: &mut [f64]) {
        for (level, _) in vector[self.ranks..].iter_mut().zip(self.is_stated).filter(|(_, stated)| !**stated)
        {
            *level = 0.0;
        }
    }
}

/// The sum of squares that levels leave, each over its variance.
pub(super) fn misfit(entries: &[GroupLevel], is_stated: &[bool], of_rank: &[f64]) -> f64 {
    let (mut sums, mut weights) = (vec![0.0; is_stated.len()], vec![0.0; is_stated.len()]);
    for one in entries {
        sums[one.group] += one.weight * (one.value - of_rank[one.rank]);
        weights[one.group] += one.weight;
    }
    let level = |group: usize| {
        if is_stated[group] && weights[group] > 0.0 { sums[group] / weights[group] } else { 0.0 }
    };
    entries.iter().map(|one| one.weight * (one.value - of_rank[one.rank] - level(one.group)).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tight_pairs_that_a_loose_group_joins_get_their_levels() {
        let truth = [0.0, 1.0, 50.0, 51.0, 0.0];
        let entry = |rank: usize, group, weight, level: f64| {
            let value = truth[rank] + level;
            GroupLevel { rank, group, value, weight }
        };
        let entries = [
            entry(0, 0, 1e3, 7.0),
            entry(1, 0, 1e3, 7.0),
            entry(2, 1, 1e3, -3.0),
            entry(3, 1, 1e3, -3.0),
            entry(0, 2, 1.0, 2.0),
            entry(2, 2, 1.0, 2.0),
        ];
        let found = levels(&entries, &[true; 3], 5, 0, Cancel::NEVER).unwrap();
        for (found, truth) in found.iter().zip(truth) {
            assert!((found - truth).abs() < 1e-6, "{found} for {truth}");
        }
        assert!(misfit(&entries, &[true; 3], &found) < 1e-9);
        assert!(misfit(&entries, &[true; 3], &[0.0; 5]) > 1e3);
    }
}
