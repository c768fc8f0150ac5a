//! Phases of an operation on an AIU. Each phase has a slice of its own with the five counters of
//! the whole operation; two of the counters delimit the phase.

/// End of the name of a slice that executes.
pub const EXEC_SUFFIX: &str = "Cmpt Exec";
/// End of the name of a slice that prepares execution.
pub const PREP_SUFFIX: &str = "Cmpt Prep";
/// Part of the name of a transfer to the device.
const DATA_IN: &str = " DmaI";
/// Part of the name of a transfer from the device.
const DATA_OUT: &str = " DmaO";

/// Phase that a slice shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// Transfer to the device, from `TS1` to `TS2`.
    DataIn,
    /// Preparation, from `TS2` to `TS3`.
    Prep,
    /// Execution, from `TS3` to `TS4`.
    Exec,
    /// Transfer from the device, from `TS4` to `TS5`.
    DataOut,
    /// Any other slice with counters, from `TS1` to `TS5`.
    Whole,
}

/// Positions of the two counters that delimit a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhaseStamps {
    /// Position of the counter at the start.
    pub first: usize,
    /// Position of the counter at the end.
    pub last: usize,
}

impl Phase {
    /// All phases.
    pub const ALL: [Self; 5] = [Self::DataIn, Self::Prep, Self::Exec, Self::DataOut, Self::Whole];

    /// The phase that a name tells.
    #[must_use]
    pub fn of(name: &str) -> Self {
        if name.ends_with(EXEC_SUFFIX) {
            Self::Exec
        } else if name.ends_with(PREP_SUFFIX) {
            Self::Prep
        } else if name.contains(DATA_IN) {
            Self::DataIn
        } else if name.contains(DATA_OUT) {
            Self::DataOut
        } else {
            Self::Whole
        }
    }

    /// The counters at the start and at the end of the phase.
    #[must_use]
    pub fn stamps(self) -> PhaseStamps {
        let (first, last) = match self {
            Self::DataIn => (0, 1),
            Self::Prep => (1, 2),
            Self::Exec => (2, 3),
            Self::DataOut => (3, 4),
            Self::Whole => (0, 4),
        };
        PhaseStamps { first, last }
    }

    /// The name of an operation without the ending that tells its phase.
    #[must_use]
    pub fn kernel(name: &str) -> &str {
        let without = [EXEC_SUFFIX, PREP_SUFFIX].into_iter().find_map(|suffix| name.strip_suffix(suffix));
        without.unwrap_or(name).trim_end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_phases() {
        for (name, phase, kernel) in [
            ("add_11 Cmpt Exec", Phase::Exec, "add_11"),
            ("add_11 Cmpt Prep", Phase::Prep, "add_11"),
            ("InputX DmaI", Phase::DataIn, "InputX DmaI"),
            ("Recv_8 [5B] [sync=a_s2_r3] DmaO", Phase::DataOut, "Recv_8 [5B] [sync=a_s2_r3] DmaO"),
            ("conv", Phase::Whole, "conv"),
        ] {
            assert_eq!((Phase::of(name), Phase::kernel(name)), (phase, kernel), "{name}");
        }
    }

    #[test]
    fn phases_follow_each_other() {
        let ends: Vec<_> = Phase::ALL[..4].iter().map(|phase| phase.stamps()).collect();
        assert_eq!(ends, [(0, 1), (1, 2), (2, 3), (3, 4)].map(|(first, last)| PhaseStamps { first, last }));
    }
}
