//! Choices of the comparison of two runs, with the writing and parsing of their parameters in the
//! address.

use std::fmt;

use nprof_engine::insight::difference::WorkKey;

use super::url_error::UrlError;

/// Choices of the Compare place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CompareState {
    /// The subject of a row.
    pub by: WorkKey,
}

/// A change of the comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompareChange {
    /// Rows are about something else.
    By(WorkKey),
}

const BY: &str = "by";

impl CompareState {
    pub(in crate::view) fn apply(&mut self, change: &CompareChange) {
        match change {
            CompareChange::By(by) => self.by = *by,
        }
    }

    /// Takes over a parameter of an address. Returns false if it is not one of the comparison.
    pub(in crate::view) fn read(&mut self, name: &str, value: &str) -> Result<bool, UrlError> {
        match name {
            BY => {
                let error = UrlError::Parameter {
                    name: BY,
                    expected: "name, track, layer, hlo, operator, line or rank",
                };
                self.by = WorkKey::from_name(value).ok_or(error)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// The parameters, each after `&`. Default values are left out.
impl fmt::Display for CompareState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.by == WorkKey::default() { Ok(()) } else { write!(f, "&{BY}={}", self.by.name()) }
    }
}
