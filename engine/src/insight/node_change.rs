//! The changes of one piece of work.

/// The changes of one node, in picoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct NodeChange {
    /// Longer gap before its start.
    pub(super) gap_ps: i64,
    /// Longer duration.
    pub(super) duration_ps: i64,
}
