//! FindingEvidence: the numbers behind a finding.

use crate::base::bytes_in_words;
use crate::base::time::short_duration;

/// A number with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum EvidenceValue {
    /// Picoseconds.
    Time(i64),
    /// A part of a whole.
    Share(f64),
    /// A multiple.
    Factor(f64),
    /// A number of things.
    Count(u64),
    /// A number of bytes.
    Bytes(u64),
}

impl EvidenceValue {
    /// The unit for JSON.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::Time(_) => "ps",
            Self::Share(_) | Self::Factor(_) => "ratio",
            Self::Count(_) => "count",
            Self::Bytes(_) => "bytes",
        }
    }

    /// The number for people.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Self::Time(ps) => short_duration(ps as f64),
            Self::Share(share) => percent(share),
            Self::Factor(factor) => format!("{factor:.2} times"),
            Self::Count(count) => count.to_string(),
            Self::Bytes(bytes) => bytes_in_words(bytes as f64),
        }
    }
}

/// A name without its parameters, short enough for a sentence.
#[must_use]
pub fn short_name(name: &str) -> String {
    let name = name.strip_prefix("void ").unwrap_or(name).replace("(anonymous namespace)::", "");
    let parameters = name.find('(').filter(|at| *at > 0).unwrap_or(name.len());
    beginning(&name[..parameters])
}

/// The begin of a name, short enough for a sentence.
#[must_use]
pub(super) fn beginning(name: &str) -> String {
    /// Characters that a sentence can hold.
    const LONGEST_NAME: usize = 60;
    match name.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

/// Several ranks in a sentence: `ranks 1, 2 and 5`.
#[must_use]
pub(super) fn ranks_in_words(ranks: &[u32]) -> String {
    let number = |ranks: &[u32]| ranks.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    match ranks {
        [] => String::new(),
        [rank] => format!("rank {rank}"),
        [before @ .., last] => format!("ranks {} and {last}", number(before)),
    }
}

/// A share in percent.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// The thing that was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvidenceMeasure {
    /// Time by which work took longer than usual.
    LongerBy,
    /// Multiple of the usual time that work took.
    LongerTimes,
    /// Time by which work or calls began later than usual.
    LaterBy,
    /// Time by which a rank began after the first one, of that rank.
    BeganAfter,
    /// Time by which a rank began its first step after the first one, of that rank.
    BeganStepAfter,
    /// Multiple of the usual time that all work of a rank took.
    OwnWork,
    /// The usual time.
    Usual,
    /// Time between the begin of the run and that of a recording.
    RecordedLater,
    /// Time that others waited.
    Waited,
    /// Time that a thread of a host waited between two calls, of the second one.
    WaitedBefore,
    /// Operations, launches, gaps or steps.
    Count,
    /// Share of the run.
    OfRun,
    /// Time in which a device did nothing.
    Idle,
    /// Part of it in which a host was between two calls.
    OfHost,
    /// The operator in which a host was for most of it.
    HostOperator,
    /// The one call that takes most of the time of a host.
    LongestCall,
    /// Work of devices whose launch was not recorded.
    Unlaunched,
    /// Time of transfers that no work covers.
    Exposed,
    /// Share of calls that were recorded.
    RecordedCalls,
    /// Share of the time that was recorded.
    RecordedTime,
    /// Ranks that were not recorded.
    AbsentRanks,
    /// Share of the active time in which an engine works.
    Active,
    /// Part of the peak that a limit takes.
    LostPeak,
    /// Share of the operations of an engine.
    OfOperations,
    /// Bytes of a transfer.
    Bytes,
    /// Share of bytes.
    OfBytes,
    /// Bytes that were loaded although they had been loaded before.
    BytesAgain,
    /// Multiple of the bytes that have to be loaded.
    Loads,
    /// Operations for each byte.
    Intensity,
    /// Kernels with fewer blocks than the device has processors.
    SmallGrids,
    /// Kernels that leave room for few warps.
    FewWarps,
    /// The most that one of several causes costs alone, because they cover each other.
    Alone,
}

impl EvidenceMeasure {
    /// Name for JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LongerBy => "longer_by",
            Self::LongerTimes => "longer_times",
            Self::LaterBy => "later_by",
            Self::BeganAfter => "began_after",
            Self::BeganStepAfter => "began_step_after",
            Self::OwnWork => "own_work",
            Self::Usual => "usual",
            Self::RecordedLater => "recorded_later",
            Self::Waited => "waited",
            Self::WaitedBefore => "waited_before",
            Self::Count => "count",
            Self::OfRun => "of_run",
            Self::Idle => "idle",
            Self::OfHost => "of_host",
            Self::HostOperator => "host_operator",
            Self::LongestCall => "longest_call",
            Self::Unlaunched => "unlaunched",
            Self::Exposed => "exposed",
            Self::RecordedCalls => "recorded_calls",
            Self::RecordedTime => "recorded_time",
            Self::AbsentRanks => "absent_ranks",
            Self::Active => "active",
            Self::LostPeak => "lost_peak",
            Self::OfOperations => "of_operations",
            Self::Bytes => "bytes",
            Self::OfBytes => "of_bytes",
            Self::BytesAgain => "bytes_again",
            Self::Loads => "loads",
            Self::Intensity => "intensity",
            Self::SmallGrids => "small_grids",
            Self::FewWarps => "few_warps",
            Self::Alone => "alone",
        }
    }
}

/// One number behind a finding.
#[derive(Debug, Clone, PartialEq)]
pub struct FindingEvidence {
    /// The thing that was measured.
    pub measure: EvidenceMeasure,
    /// Name of the work, kind or party that it is measured of.
    pub of: Option<String>,
    /// The number.
    pub quantity: EvidenceValue,
}

impl FindingEvidence {
    /// A number about the place of the finding.
    #[must_use]
    pub fn new(measure: EvidenceMeasure, quantity: EvidenceValue) -> Self {
        Self { measure, of: None, quantity }
    }

    /// A number about something with a name.
    #[must_use]
    pub fn about(measure: EvidenceMeasure, of: &str, quantity: EvidenceValue) -> Self {
        Self { measure, of: Some(of.to_owned()), quantity }
    }
}

#[cfg(test)]
mod tests {
    use super::short_name;

    #[test]
    fn a_name_is_cut_before_its_parameters() {
        assert_eq!(short_name("gemm_128x64(float*, int)"), "gemm_128x64");
        assert_eq!(short_name("void at::native::(anonymous namespace)::cat(int)"), "at::native::cat");
        assert_eq!(short_name("(unnamed)"), "(unnamed)");
    }
}
