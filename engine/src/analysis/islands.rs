//! Islands: ranks whose clocks the calls relate to each other.
//!
//! The calls of a rank can fit those of others at several shifts, if few of them were recorded and
//! the job repeats itself. If nothing tells the shifts apart, the rank is an island of its own:
//! none of its calls meets others. If the clocks as they were recorded fit, its calls meet others,
//! but they are no evidence for certain bounds.

use rustc_hash::FxHashMap;

/// For each rank the island that it belongs to.
#[derive(Debug)]
pub(super) struct Islands {
    matched: Vec<usize>,
    certain: Vec<usize>,
}

impl Islands {
    /// All ranks on one island.
    pub(super) fn whole(ranks: usize) -> Self {
        Self { matched: vec![0; ranks], certain: vec![0; ranks] }
    }

    /// Islands by number: of ranks whose calls are matched with each other, and of ranks among
    /// which no other match fits as well.
    pub(super) fn new(matched: Vec<usize>, certain: Vec<usize>) -> Self {
        Self { matched, certain }
    }

    /// The ranks in the parts whose calls are matched with each other.
    pub(super) fn parts(&self, ranks: &[u16]) -> Vec<Vec<u16>> {
        let island = |rank: &u16| self.matched[usize::from(*rank)];
        let mut sorted = ranks.to_vec();
        sorted.sort_by_key(island);
        sorted.chunk_by(|a, b| island(a) == island(b)).map(<[u16]>::to_vec).collect()
    }

    /// Whether calls of both ranks are certain to belong together where they are matched.
    pub(super) fn are_certain(&self, a: usize, b: usize) -> bool {
        self.certain[a] == self.certain[b]
    }

    /// For each rank the number of ranks on its certain island.
    pub(super) fn sizes(&self) -> Vec<usize> {
        let mut sizes: FxHashMap<usize, usize> = FxHashMap::default();
        self.certain.iter().for_each(|&island| *sizes.entry(island).or_default() += 1);
        self.certain.iter().map(|island| sizes[island]).collect()
    }
}
