//! How much a finding matters.

/// The weight of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It costs nothing that is known.
    Note,
    /// Less than [`MEDIUM`] of the run.
    Low,
    /// Less than [`HIGH`] of the run.
    Medium,
    /// A tenth of the run or more.
    High,
}

/// Share of the run that a cause has to cost at most, for a finding.
pub(super) const LEAST_WORTH: f64 = 0.005;
/// Share of the run from which on a finding is of medium severity.
pub const MEDIUM: f64 = 0.02;
/// Share of the run from which on a finding is of high severity.
pub const HIGH: f64 = 0.1;

impl Severity {
    /// The severity of something that costs `saving_ps` of `whole_ps`.
    #[must_use]
    pub fn of(saving_ps: i64, whole_ps: i64) -> Self {
        match saving_ps as f64 / (whole_ps as f64).max(1.0) {
            share if share >= HIGH => Self::High,
            share if share >= MEDIUM => Self::Medium,
            share if share > 0.0 => Self::Low,
            _ => Self::Note,
        }
    }
}
