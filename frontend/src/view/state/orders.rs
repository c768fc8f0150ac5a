//! Orders of the tables in the panels, with the writing and parsing of their parameters in the
//! address.

use std::collections::BTreeMap;
use std::fmt;

use nprof_engine::wire::percent::{parameter_decoded, percent_encoded};

use super::url_error::UrlError;
use crate::view::ranks::members::ARRIVAL;
use crate::view::table::Sorting;

/// Key of the column of self times in the totals of a span.
pub const SELF: &str = "self";

/// A table in a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PanelTable {
    /// Totals of the marked span by name.
    Names,
    /// Totals of the marked span by track.
    Tracks,
    /// Arrivals of the ranks at the selected operation.
    Arrivals,
    /// Warnings of the current rank.
    Warnings,
    /// Parts of the critical path.
    Path,
    /// Sums of waits.
    Waits,
    /// Regions of the current rank.
    Regions,
    /// Differences of two runs.
    Differences,
}

impl PanelTable {
    /// All tables.
    pub const ALL: [Self; 8] = [
        Self::Names,
        Self::Tracks,
        Self::Arrivals,
        Self::Warnings,
        Self::Path,
        Self::Waits,
        Self::Regions,
        Self::Differences,
    ];

    /// The order as long as the user chooses none. `None` is the order in which the rows came.
    #[must_use]
    pub fn first_order(self) -> Option<Sorting> {
        let largest = |column: &str| Some(Sorting { column: column.to_owned(), descending: true });
        match self {
            Self::Names => largest(SELF),
            Self::Arrivals => largest(ARRIVAL),
            Self::Tracks | Self::Warnings | Self::Path | Self::Waits | Self::Regions | Self::Differences => {
                None
            }
        }
    }

    /// The parameter in addresses.
    const fn parameter(self) -> &'static str {
        match self {
            Self::Names => "sort_names",
            Self::Tracks => "sort_tracks",
            Self::Arrivals => "sort_arrivals",
            Self::Warnings => "sort_warnings",
            Self::Path => "sort_path",
            Self::Waits => "sort_waits",
            Self::Regions => "sort_regions",
            Self::Differences => "sort_differences",
        }
    }
}

/// Orders that the user chose. A table without one has its first order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Orders(BTreeMap<PanelTable, Sorting>);

impl Orders {
    /// The order of a table.
    #[must_use]
    pub fn of(&self, table: PanelTable) -> Option<Sorting> {
        self.0.get(&table).cloned().or_else(|| table.first_order())
    }

    /// The same orders with another one of a table. `None` is its first order.
    #[must_use]
    pub fn with(mut self, table: PanelTable, sorting: Option<Sorting>) -> Self {
        match sorting.filter(|sorting| Some(sorting) != table.first_order().as_ref()) {
            Some(sorting) => self.0.insert(table, sorting),
            None => self.0.remove(&table),
        };
        self
    }

    /// Takes over a parameter of an address. Returns false if it is not one of an order.
    pub(in crate::view) fn read(&mut self, name: &str, value: &str) -> Result<bool, UrlError> {
        let Some(table) = PanelTable::ALL.into_iter().find(|table| table.parameter() == name) else {
            return Ok(false);
        };
        let expected = "the key of a column, with - before it for the largest first";
        let sorting = parameter_decoded(value).and_then(|text| Sorting::from_name(&text));
        let error = UrlError::Parameter { name: table.parameter(), expected };
        *self = std::mem::take(self).with(table, Some(sorting.ok_or(error)?));
        Ok(true)
    }
}

/// The parameters, each after `&`. First orders are left out.
impl fmt::Display for Orders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(table, sorting)| {
            write!(f, "&{}={}", table.parameter(), percent_encoded(&sorting.name()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_its_first_order_until_the_user_chooses_another() {
        let orders = Orders::default();
        assert_eq!(orders.of(PanelTable::Names), Sorting::from_name("-self"));
        let other = orders.with(PanelTable::Names, Sorting::from_name("count"));
        assert_eq!(other.of(PanelTable::Names), Sorting::from_name("count"));
        assert_eq!(other.to_string(), "&sort_names=count");
        let first = other.with(PanelTable::Names, Sorting::from_name("-self"));
        assert_eq!(first, Orders::default());
    }

    #[test]
    fn an_unknown_table_is_left_to_others_and_an_empty_order_is_refused() {
        let mut orders = Orders::default();
        assert_eq!(orders.read("sort", "-size"), Ok(false));
        assert!(orders.read("sort_tracks", "-").unwrap_err().to_string().contains("sort_tracks"));
        assert_eq!(orders, Orders::default());
    }
}
