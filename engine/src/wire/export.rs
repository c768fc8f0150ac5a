//! Messages about exports: the formats in which a server writes a profile.

use serde::{Deserialize, Serialize};

/// The formats that a browser can download.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExportList {
    /// One entry per format, in the order of a menu.
    pub formats: Vec<ExportFormat>,
}

/// A format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExportFormat {
    /// Name in URLs.
    pub key: String,
    /// Name for people.
    pub title: String,
    /// One sentence without a full stop.
    pub doc: String,
    /// Ending of file names, without the dot.
    pub extension: String,
    /// True if a file holds one rank, so that the request names a rank.
    pub is_per_rank: bool,
    /// True if a file opens at a view that the request can name.
    pub has_view: bool,
}
