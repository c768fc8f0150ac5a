//! An export before it is written: the choices of the user, and the file that they give.

use std::io::Write;

use super::ExportError;

/// A choice that some formats offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Arrows between slices are written.
    Flows,
    /// A larger file is not written.
    MaxSize,
    /// Only this table is written.
    Table,
    /// The file opens at this view.
    View,
    /// The file has the dependency graph of the run.
    Graph,
}

/// The user's choices.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportChoices {
    /// True if arrows between slices are written.
    pub has_flows: bool,
    /// Limit of the file's size, in bytes.
    pub max_bytes: Option<u64>,
    /// Name of the table.
    pub table: Option<String>,
    /// Path and query of the view.
    pub view: Option<String>,
    /// True if the file has the dependency graph of the run.
    pub has_graph: bool,
}

/// A file that has not been written yet.
pub struct PreparedExport<'a> {
    size_bytes: Option<u64>,
    write: Box<WriteOnce<'a>>,
}

type WriteOnce<'a> = dyn FnOnce(&mut dyn Write) -> Result<(), ExportError> + 'a;

impl Choice {
    /// The flag of the command line.
    #[must_use]
    pub fn flag(self) -> &'static str {
        match self {
            Self::Flows => "--show-perfetto-flows",
            Self::MaxSize => "--max-size",
            Self::Table => "--table",
            Self::View => "--view",
            Self::Graph => "--what-if",
        }
    }

    /// The parameter of the HTTP API.
    #[must_use]
    pub fn parameter(self) -> &'static str {
        match self {
            Self::Flows => "flows",
            Self::MaxSize => "max_size",
            Self::Table => "table",
            Self::View => "view",
            Self::Graph => "what_if",
        }
    }
}

impl ExportChoices {
    /// The choices that the user made.
    pub fn made(&self) -> impl Iterator<Item = Choice> + use<> {
        let made = [
            (Choice::Flows, self.has_flows),
            (Choice::MaxSize, self.max_bytes.is_some()),
            (Choice::Table, self.table.is_some()),
            (Choice::View, self.view.is_some()),
            (Choice::Graph, self.has_graph),
        ];
        made.into_iter().filter(|(_, is_made)| *is_made).map(|(choice, _)| choice)
    }
}

impl<'a> PreparedExport<'a> {
    /// A file of a size that is known only after it was written.
    #[must_use]
    pub fn new(write: impl FnOnce(&mut dyn Write) -> Result<(), ExportError> + 'a) -> Self {
        Self { size_bytes: None, write: Box::new(write) }
    }

    /// A file of this size in bytes.
    #[must_use]
    pub fn with_size(self, size_bytes: u64) -> Self {
        Self { size_bytes: Some(size_bytes), ..self }
    }

    /// Size of the file in bytes, if it is known.
    #[must_use]
    pub fn size_bytes(&self) -> Option<u64> {
        self.size_bytes
    }

    /// Writes the file.
    pub fn write(self, out: &mut dyn Write) -> Result<(), ExportError> {
        (self.write)(out)
    }
}
