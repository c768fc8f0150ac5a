//! Formats of a printed table.

use clap::ValueEnum;

/// Form of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum TableFormat {
    /// Aligned columns with units
    Text,
    /// Comma-separated values, times in nanoseconds
    Csv,
    /// JSON, times in nanoseconds
    Json,
}
