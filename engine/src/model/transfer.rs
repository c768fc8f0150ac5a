//! Steps of collective operations: one rank sends data, another one waits for them.

/// Name of the algorithm in which data go from rank to rank.
pub const CHAIN: &str = "chain";
/// Name of the algorithm in which a rank sends to several or receives from several.
pub const TREE: &str = "tree";

/// The algorithm that steps show, each from a rank to another one. It is a chain if each rank sends
/// to at most one rank and receives from at most one. Steps that send to several ranks at once do
/// not count, because both algorithms can end with such a step.
#[must_use]
pub fn algorithm_of(mut steps: Vec<(u32, u32)>) -> &'static str {
    steps.sort_unstable();
    steps.dedup();
    let has_one = |end: fn(&(u32, u32)) -> u32| {
        let mut ends: Vec<u32> = steps.iter().map(end).collect();
        ends.sort_unstable();
        ends.windows(2).all(|two| two[0] != two[1])
    };
    if has_one(|step| step.0) && has_one(|step| step.1) { CHAIN } else { TREE }
}

/// One end of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TransferEnd {
    /// This rank sends.
    Send,
    /// This rank waits for the data.
    Receive,
}

/// One end of a step, as the trace of its rank states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TransferStep {
    /// Position of the call that the step belongs to among the calls of the rank.
    pub call: u32,
    /// Start in picoseconds.
    pub start_ps: i64,
    /// End in picoseconds.
    pub end_ps: i64,
    /// This end.
    pub end: TransferEnd,
    /// The rank at the other end.
    pub peer: u32,
    /// Number of the step in its operation, equal on both ranks.
    pub number: u32,
    /// Whether the same data go to several ranks.
    pub is_to_many: bool,
    /// Row in the segment.
    pub row: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_with_several_partners_makes_a_tree() {
        for (steps, expected) in [
            (vec![(0, 1), (1, 2), (2, 3), (0, 1)], CHAIN),
            (vec![(3, 2), (2, 1)], CHAIN),
            (vec![(1, 0), (2, 0)], TREE),
            (vec![(0, 1), (0, 2)], TREE),
            (vec![], CHAIN),
        ] {
            assert_eq!(algorithm_of(steps.clone()), expected, "{steps:?}");
        }
    }
}
