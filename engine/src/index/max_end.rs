//! The interval index: a tree of maxima over the ends of blocks.
//!
//! Blocks are sorted by start, so the blocks that begin before the end of a window are a prefix.
//! The tree finds those of the prefix that reach into the window, without looking at the rest. A
//! hit takes O(log n), however long the longest slice is.

/// Children of a node: two cache lines of `i64`.
const FANOUT: usize = 16;

/// A tree of maxima.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct MaxEndTree {
    /// `levels[0]` holds the ends. An entry of a level above is the maximum of [`FANOUT`] entries
    /// below.
    levels: Vec<Vec<i64>>,
}

impl MaxEndTree {
    /// Builds the tree of these ends in O(n).
    #[must_use]
    pub fn new(ends: Vec<i64>) -> Self {
        let mut levels = vec![ends];
        while levels[levels.len() - 1].len() > 1 {
            let below = &levels[levels.len() - 1];
            let above = below.chunks(FANOUT).map(|c| c.iter().copied().max().unwrap_or(i64::MIN)).collect();
            levels.push(above);
        }
        Self { levels }
    }

    /// The ends of all blocks.
    #[must_use]
    pub fn ends(&self) -> &[i64] {
        self.levels.first().map_or(&[], Vec::as_slice)
    }

    /// The first position in `from..to` whose end is `bound` or later.
    #[must_use]
    pub fn first_reaching(&self, from: usize, to: usize, bound: i64) -> Option<usize> {
        let to = to.min(self.ends().len());
        let mut at = from;
        let mut level = 0;
        // Climb while whole nodes are below the bound, then descend into the first that is not.
        loop {
            let width = FANOUT.pow(level);
            if at >= to {
                return None;
            }
            let node = at / width;
            if self.levels[level as usize][node] >= bound {
                if level == 0 {
                    return Some(at);
                }
                level -= 1;
            } else {
                at = (node + 1) * width;
                while at.is_multiple_of(FANOUT.pow(level + 1)) && (level as usize) + 1 < self.levels.len() {
                    level += 1;
                }
            }
        }
    }

    /// All positions in `from..to` whose end is `bound` or later, ascending.
    pub fn reaching(&self, from: usize, to: usize, bound: i64) -> impl Iterator<Item = usize> + '_ {
        let mut next = from;
        std::iter::from_fn(move || {
            let found = self.first_reaching(next, to, bound)?;
            next = found + 1;
            Some(found)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn finds_what_a_scan_finds(
            ends in prop::collection::vec(0_i64..50, 0..700),
            bound in 0_i64..55,
            (from, to) in (0_usize..750, 0_usize..750),
        ) {
            let tree = MaxEndTree::new(ends.clone());
            let found: Vec<usize> = tree.reaching(from, to, bound).collect();
            let scanned: Vec<usize> =
                (from..to.min(ends.len()).max(from)).filter(|&at| ends[at] >= bound).collect();
            prop_assert_eq!(found, scanned);
        }
    }
}
