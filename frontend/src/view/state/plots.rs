//! Choices of the plots, with the writing and parsing of their parameters in the address.

use std::collections::BTreeSet;
use std::fmt;

use nprof_engine::base::order::gathered;
use nprof_engine::makers::job::activity::ActivityQuantity;
use nprof_engine::wire::percent::{parameter_decoded, percent_encoded};

use super::url_error::UrlError;
use crate::view::ranks::spread::OperationTime;

/// A line of the plot of waits over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WaitLine {
    /// The waits of a rank, by its number.
    Rank(u32),
    /// The median of all ranks.
    Median,
    /// The least and the largest of all ranks.
    Range,
}

impl WaitLine {
    const MEDIAN: &str = "median";
    const RANGE: &str = "range";

    fn from_name(name: &str) -> Option<Self> {
        match name {
            Self::MEDIAN => Some(Self::Median),
            Self::RANGE => Some(Self::Range),
            rank => Some(Self::Rank(rank.parse().ok()?)),
        }
    }
}

/// The name in addresses.
impl fmt::Display for WaitLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rank(rank) => write!(f, "{rank}"),
            Self::Median => f.write_str(Self::MEDIAN),
            Self::Range => f.write_str(Self::RANGE),
        }
    }
}

/// Choices of the plots.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlotsState {
    /// The time of operations whose spread is plotted.
    pub time: OperationTime,
    /// Kinds of operations that the user hid, by name.
    pub hidden_kinds: BTreeSet<String>,
    /// Lines that the user hid.
    pub hidden_lines: BTreeSet<WaitLine>,
    /// The quantity of the heat map of ranks.
    pub heat: ActivityQuantity,
}

/// A change of the plots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlotsChange {
    /// Plots the spread of another time.
    Time(OperationTime),
    /// Hides a kind of operations, or shows it again.
    ToggleKind(String),
    /// Hides a line, or shows it again.
    ToggleLine(WaitLine),
    /// Shows another quantity in the heat map of ranks.
    Heat(ActivityQuantity),
}

const TIME: &str = "plot_time";
const KINDS: &str = "hide_kinds";
const LINES: &str = "hide_lines";
const HEAT: &str = "heat";

impl PlotsState {
    pub(in crate::view) fn apply(&mut self, change: &PlotsChange) {
        match change {
            PlotsChange::Time(time) => self.time = *time,
            PlotsChange::ToggleKind(kind) => toggle(&mut self.hidden_kinds, kind.clone()),
            PlotsChange::ToggleLine(line) => toggle(&mut self.hidden_lines, *line),
            PlotsChange::Heat(quantity) => self.heat = *quantity,
        }
    }

    /// Takes over a parameter of an address. Returns false if it is not one of the plots.
    pub(in crate::view) fn read(&mut self, name: &str, value: &str) -> Result<bool, UrlError> {
        let items = || value.split(',').filter(|item| !item.is_empty());
        match name {
            TIME => {
                let error = UrlError::Parameter { name: TIME, expected: "whole, transfer or wait" };
                self.time = OperationTime::from_name(value).ok_or(error)?;
            }
            KINDS => {
                let error = UrlError::Parameter { name: KINDS, expected: "texts with %20 for a space" };
                let kinds: Option<Vec<String>> = items().map(parameter_decoded).collect();
                self.hidden_kinds = gathered(kinds.ok_or(error)?);
            }
            LINES => {
                let expected = "numbers of ranks, median or range, with commas between";
                let lines: Option<Vec<WaitLine>> = items().map(WaitLine::from_name).collect();
                self.hidden_lines = gathered(lines.ok_or(UrlError::Parameter { name: LINES, expected })?);
            }
            HEAT => {
                let error = UrlError::Parameter { name: HEAT, expected: "busy, wait or compute" };
                self.heat = ActivityQuantity::from_name(value).ok_or(error)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn toggle<T: Ord>(hidden: &mut BTreeSet<T>, item: T) {
    if !hidden.remove(&item) {
        hidden.insert(item);
    }
}

/// The parameters, each after `&`. Default values are left out.
impl fmt::Display for PlotsState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.time != OperationTime::default() {
            write!(f, "&{TIME}={}", self.time.name())?;
        }
        let kinds: Vec<String> = self.hidden_kinds.iter().map(|kind| percent_encoded(kind)).collect();
        let lines: Vec<String> = self.hidden_lines.iter().map(WaitLine::to_string).collect();
        for (name, items) in [(KINDS, kinds), (LINES, lines)] {
            if !items.is_empty() {
                write!(f, "&{name}={}", items.join(","))?;
            }
        }
        if self.heat != ActivityQuantity::default() {
            write!(f, "&{HEAT}={}", self.heat.name())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_toggle_shows_a_kind_again() {
        let mut plots = PlotsState::default();
        let hide = PlotsChange::ToggleKind("all-gather, small".to_owned());
        plots.apply(&hide);
        assert_eq!(plots.to_string(), "&hide_kinds=all-gather%2C%20small");
        plots.apply(&hide);
        assert_eq!(plots, PlotsState::default());
    }

    #[test]
    fn the_quantity_of_the_heat_map_is_in_the_address() {
        let mut plots = PlotsState::default();
        plots.apply(&PlotsChange::Heat(ActivityQuantity::Compute));
        assert_eq!(plots.to_string(), "&heat=compute");
        let mut read = PlotsState::default();
        assert!(read.read(HEAT, "compute").unwrap() && read == plots);
        assert!(read.read(HEAT, "flops").unwrap_err().to_string().contains("busy, wait or compute"));
    }

    #[test]
    fn an_unknown_line_is_refused() {
        let error = PlotsState::default().read(LINES, "3,mean").unwrap_err();
        assert!(error.to_string().contains("median or range"));
    }
}
