//! Form of the events of an output: the choices of the user.

use super::lanes::Overlap;

/// Choices about the events.
#[derive(Debug, Clone, PartialEq)]
pub struct EventForm {
    /// Treatment of overlapping slices.
    pub overlap: Overlap,
    /// Most further thread numbers for overlapping slices; `None` without a limit.
    pub max_streams: Option<u32>,
    /// Counters that are written.
    pub counters: Vec<Series>,
    /// Treatment of preparations.
    pub preps: Preps,
    /// Treatment of numbers in names.
    pub names: NameForm,
    /// Arrows between the steps of collective operations.
    pub has_flows: bool,
    /// Slices of whole collective operations, and their bandwidth.
    pub has_collectives: bool,
    /// Arrows from launches to kernels.
    pub has_launches: bool,
    /// Use of the PT arrays.
    pub has_utilization: bool,
    /// Treatment of the steps of one send or receive.
    pub steps: StepForm,
    /// Treatment of the thread ids of FLEX.
    pub threads: Threads,
    /// Names of events and of arguments.
    pub forms: Forms,
    /// Whether durations of work on the device follow its counters.
    pub has_device_time: bool,
    /// Whether slices of shifted jobs state the shift.
    pub has_shifts: bool,
    /// Whether events of the inputs are left out.
    pub is_part: bool,
    /// Frequency of the cores in megahertz.
    pub core_mhz: f64,
    /// Phases that are written; empty for all.
    pub phases: String,
    /// Unit that viewers show times in.
    pub time_unit: TimeUnit,
}

/// A choice of `-C`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Series {
    /// Watts by the time of the host.
    PowerTs4,
    /// Charge per cycle by kind of slices.
    PowerTs3,
    /// Bandwidth of collective operations.
    CollBw,
    /// Bytes per microsecond of transfers.
    Bandwidth,
    /// Preparations that run.
    PrepQueue,
    /// Use of the PT arrays.
    RcuUtil,
}

/// Whether preparations are written as slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preps {
    /// Only their number is.
    Counted,
    /// They are.
    Kept,
}

/// Whether names keep their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameForm {
    /// Slices of the device lose them.
    Shortened,
    /// All names stay.
    Kept,
}

/// Whether the steps of one send or receive are written one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepForm {
    /// Each is a slice.
    Each,
    /// All are one slice.
    Summed,
}

/// Whether the threads of FLEX get numbers from 1000 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// They do.
    Numbered,
    /// They keep their ids.
    Kept,
}

/// Whether names follow acelyzer where it damages them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forms {
    /// Words keep their digits, and sizes are arguments.
    Own,
    /// Words lose their digits, and sizes stay in names without arrows.
    Acelyzer,
}

/// Unit that viewers show times in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Nanoseconds.
    Ns,
    /// Milliseconds.
    Ms,
}

impl EventForm {
    /// Whether events of this phase are written.
    #[must_use]
    pub fn writes(&self, phase: char) -> bool {
        self.phases.is_empty() || self.phases.contains(phase)
    }

    /// Whether a series of `-C` is written.
    #[must_use]
    pub fn shows(&self, series: Series) -> bool {
        self.counters.contains(&series)
    }
}
