//! DataGap data: why a rule cannot tell.

use super::evidence::percent;
use crate::insight::region::NoSteps;

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
    Steps(NoSteps),
    /// Steps of which one is compared with the others: there are only so many.
    FewSteps(usize),
    /// Launches of a share of the work of devices.
    SomeLaunches(f64),
    /// Metrics of a device with engines and a memory of its own.
    DeviceMetrics,
    /// Launch parameters of kernels.
    LaunchParameters,
    /// Ideal cycles of kernels.
    IdealCycles,
    /// Counters of cycles beside times.
    CycleCounters,
    /// Records of errors.
    ErrorRecords,
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
            Self::Steps(reason) => format!("no steps are known: {reason}"),
            Self::FewSteps(0) => "the recording cuts each step, or has only steps of the warm-up".to_owned(),
            Self::FewSteps(1) => "the recording has one whole step; record at least three".to_owned(),
            Self::FewSteps(count) => format!("the recording has {count} whole steps; record at least three"),
            Self::SomeLaunches(lost) => format!(
                "the trace lacks the launches of {} of the work; start the recording of the host before the work",
                percent(lost)
            ),
            Self::DeviceMetrics => {
                "the trace has no metrics of engines and transfers, as those of Neuron devices do".to_owned()
            }
            Self::LaunchParameters => "the trace states no launch parameters of kernels".to_owned(),
            Self::IdealCycles => {
                "the trace has no ideal cycles of kernels; add the log of the compiler".to_owned()
            }
            Self::CycleCounters => "the trace has no counters of cycles to compare times with".to_owned(),
            Self::ErrorRecords => "traces of this kind record no errors of the hardware".to_owned(),
            Self::DeviceWork => "no work of a device was recorded".to_owned(),
            Self::Dependences => "the trace does not state what the engines wait for".to_owned(),
        }
    }
}
