//! DataGap data: why a rule cannot tell.

use super::evidence::percent;

/// The data that a rule would need.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DataGap {
    /// Ranks of the job that the profile does not have.
    Ranks {
        /// Ranks of the profile.
        recorded: u32,
        /// Ranks of the job.
        world: u32,
    },
    /// Calls of collective operations that the traces lack, as a share of all.
    Calls(f64),
    /// The begin or end of a rank's recording, as a share of the run.
    Time {
        /// Number of the rank.
        rank: u32,
        /// The share that was recorded.
        recorded: f64,
    },
    /// One clock of all ranks: no operation has two of them.
    Clocks,
    /// Collective operations.
    Operations,
    /// Calls of a host that launch work.
    Launches,
    /// Steps of the program.
    Steps,
    /// Work of a device.
    DeviceWork,
    /// Dependences between the engines of a device.
    Dependences,
}

impl DataGap {
    /// The data in words, with what would help.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Self::Ranks { recorded, world } => {
                format!("the profile has {recorded} of {world} ranks; add the traces of the others")
            }
            Self::Calls(lost) => format!(
                "{} of the calls of collective operations were not recorded; record with a larger buffer",
                percent(lost)
            ),
            Self::Time { rank, recorded } => format!(
                "the recording of rank {rank} has {} of the run; start all ranks before the run",
                percent(recorded)
            ),
            Self::Clocks => "no operation has two ranks, so their clocks cannot be compared".to_owned(),
            Self::Operations => "no collective operations were recorded".to_owned(),
            Self::Launches => "no calls of a host that launch work were recorded".to_owned(),
            Self::Steps => "no steps are known: the trace has no marks of steps, and no order of its work \
                            that repeats"
                .to_owned(),
            Self::DeviceWork => "no work of a device was recorded".to_owned(),
            Self::Dependences => "the trace does not state what the engines wait for".to_owned(),
        }
    }
}
