//! A counter of power.

/// The power of a device over time, as a counter of its trace states it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PowerCounter {
    /// Name of the counter's track.
    pub name: String,
    /// Times in picoseconds, and the watts that hold from each on.
    pub samples: Vec<(i64, f64)>,
    /// Time until which the last value holds, in picoseconds.
    pub end_ps: i64,
}
