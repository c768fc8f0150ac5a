//! The columns of a block of slices that tiles are cut from.

use super::footer::ColumnRole;
use crate::base::{Error, Result};
use crate::model::SliceForm;

const DAMAGED: Error = Error::Inconsistent { what: "core column" };

/// Columns of a block of slices that tiles show. Each column has one entry a slice.
#[derive(Debug)]
pub struct SliceColumns {
    /// Starts in picoseconds, ascending.
    pub starts: Vec<i64>,
    /// Durations in picoseconds.
    pub durations: Vec<i64>,
    /// Numbers of the names.
    pub names: Vec<u32>,
    /// Forms.
    pub forms: Vec<SliceForm>,
    /// Lane numbers.
    pub lanes: Vec<u32>,
}

impl SliceColumns {
    /// Narrows the columns that `read` decodes.
    ///
    /// # Errors
    /// If a number does not fit its column, and the errors of `read`.
    pub fn decode(mut read: impl FnMut(ColumnRole) -> Result<Vec<i64>>) -> Result<Self> {
        Ok(Self {
            starts: read(ColumnRole::Start)?,
            durations: read(ColumnRole::Duration)?,
            names: narrow(&read(ColumnRole::Name)?, u32::MAX, |name| name as u32)?,
            forms: forms(&read(ColumnRole::Form)?)?,
            lanes: narrow(&read(ColumnRole::Lane)?, u32::MAX, |lane| lane as u32)?,
        })
    }
}

/// The forms with these codes. All codes are checked at once, as in [`narrow`].
fn forms(codes: &[i64]) -> Result<Vec<SliceForm>> {
    if codes
        .iter()
        .fold(true, |are_known, &code| are_known & (0..SliceForm::ALL.len() as i64).contains(&code))
    {
        Ok(codes.iter().map(|&code| SliceForm::of_code(code).unwrap_or_default()).collect())
    } else {
        Err(DAMAGED)
    }
}

/// Narrows numbers of at most `max`, which is one less than a power of two. All numbers are checked
/// at once: a check of each would take longer than the rest.
fn narrow<T>(numbers: &[i64], max: impl Into<i64>, narrow: impl Fn(i64) -> T) -> Result<Vec<T>> {
    let bits = numbers.iter().fold(0, |bits, number| bits | number);
    if bits & !max.into() == 0 {
        Ok(numbers.iter().map(|&number| narrow(number)).collect())
    } else {
        Err(DAMAGED)
    }
}
