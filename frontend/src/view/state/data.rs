//! State of the Data place: the table, its order and filter, hidden columns. With the writing and
//! parsing of its parameters in the address.

use std::collections::BTreeSet;
use std::fmt;

use nprof_engine::wire::percent::{parameter_decoded, percent_encoded};

use super::url_error::UrlError;
use crate::view::table::Sorting;

/// The table of warnings of the ingest, which is no table of the trace. Names of tables have no
/// such sign.
pub const WARNINGS_TABLE: &str = "~warnings";

/// State of the Data place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DataView {
    /// Name of the table; `None` is the first one.
    pub table: Option<String>,
    /// Order of the rows.
    pub sorting: Option<Sorting>,
    /// Text of the filter.
    pub filter: String,
    /// Keys of hidden columns.
    pub hidden: BTreeSet<String>,
    /// Whether only rows in the timeline's window are shown.
    pub in_window: bool,
    /// Whether rows of waits stand beside those of operations.
    pub with_waits: bool,
}

/// A change of the Data place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataChange {
    /// Shows another table, in its own order and with all columns.
    Open(String),
    /// Sets the order of the rows.
    Sort(Option<Sorting>),
    /// Sets the filter.
    Filter(String),
    /// Hides a column, or shows it again.
    Toggle(String),
    /// Shows all columns.
    ShowAll,
    /// Restricts the rows to the timeline's window, or shows all.
    InWindow(bool),
    /// Shows rows of waits beside those of operations, or hides them.
    WithWaits(bool),
}

impl DataView {
    /// The state after a change.
    #[must_use]
    pub fn changed(mut self, change: &DataChange) -> Self {
        match change {
            DataChange::Open(table) => {
                return Self { table: Some(table.clone()), in_window: self.in_window, ..Self::default() };
            }
            DataChange::Sort(sorting) => self.sorting.clone_from(sorting),
            DataChange::Filter(filter) => self.filter.clone_from(filter),
            DataChange::Toggle(column) => {
                if !self.hidden.remove(column) {
                    self.hidden.insert(column.clone());
                }
            }
            DataChange::ShowAll => self.hidden.clear(),
            DataChange::InWindow(in_window) => self.in_window = *in_window,
            DataChange::WithWaits(with_waits) => self.with_waits = *with_waits,
        }
        self
    }

    /// Takes over a parameter of an address. Returns false if it is not one of this place.
    pub fn read(&mut self, name: &str, value: &str) -> Result<bool, UrlError> {
        match name {
            "table" => self.table = Some(text("table", value)?).filter(|table| !table.is_empty()),
            "sort" => self.sorting = Sorting::from_name(&text("sort", value)?),
            "filter" => self.filter = text("filter", value)?,
            "hide" => {
                let keys = value.split(',').filter(|key| !key.is_empty());
                self.hidden = keys.map(|key| text("hide", key)).collect::<Result<_, _>>()?;
            }
            "waits" if value == "shown" => self.with_waits = true,
            "waits" => return Err(UrlError::Parameter { name: "waits", expected: "shown" }),
            "within" if value == "window" => self.in_window = true,
            "within" => return Err(UrlError::Parameter { name: "within", expected: "window" }),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn text(name: &'static str, value: &str) -> Result<String, UrlError> {
    parameter_decoded(value).ok_or(UrlError::Parameter { name, expected: "a text with %20 for a space" })
}

/// The parameters, each after `&`. Default values are left out.
impl fmt::Display for DataView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(table) = &self.table {
            write!(f, "&table={}", percent_encoded(table))?;
        }
        if let Some(sorting) = &self.sorting {
            write!(f, "&sort={}", percent_encoded(&sorting.name()))?;
        }
        if !self.filter.is_empty() {
            write!(f, "&filter={}", percent_encoded(&self.filter))?;
        }
        let mut separator = "&hide=";
        for column in &self.hidden {
            write!(f, "{separator}{}", percent_encoded(column))?;
            separator = ",";
        }
        if self.in_window {
            f.write_str("&within=window")?;
        }
        if self.with_waits { f.write_str("&waits=shown") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(query: &str) -> Result<DataView, UrlError> {
        let mut view = DataView::default();
        for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            assert!(view.read(name, value)?, "{name}");
        }
        Ok(view)
    }

    proptest! {
        #[test]
        fn reading_what_was_written_gives_the_same_state(
            table in prop::option::of("\\PC{1,12}"), sort in prop::option::of(("[^-]\\PC{0,12}", any::<bool>())),
            filter in "\\PC{0,12}", hidden in prop::collection::btree_set("\\PC{1,6}", 0..4), in_window in any::<bool>(),
            with_waits in any::<bool>(),
        ) {
            let sorting = sort.map(|(column, descending)| Sorting { column, descending });
            let view = DataView { table, sorting, filter, hidden, in_window, with_waits };
            prop_assert_eq!(read(&view.to_string()), Ok(view));
        }
    }

    #[test]
    fn another_table_has_an_order_of_its_own() {
        let view = [
            DataChange::Open("a".to_owned()),
            DataChange::InWindow(true),
            DataChange::Sort(Sorting::from_name("-size")),
            DataChange::Filter("x y".to_owned()),
            DataChange::Toggle("b".to_owned()),
            DataChange::Toggle("c".to_owned()),
            DataChange::Toggle("b".to_owned()),
        ]
        .iter()
        .fold(DataView::default(), DataView::changed);
        assert_eq!(view.to_string(), "&table=a&sort=-size&filter=x%20y&hide=c&within=window");
        assert_eq!(view.clone().changed(&DataChange::ShowAll).hidden.len(), 0);
        assert_eq!(view.changed(&DataChange::Open("b".to_owned())).to_string(), "&table=b&within=window");
    }

    #[test]
    fn wrong_parameters_are_named() {
        assert!(read("waits=always").unwrap_err().to_string().contains("\"waits\""));
        assert!(read("within=always").unwrap_err().to_string().contains("\"within\""));
        assert!(read("filter=%ff").unwrap_err().to_string().contains("\"filter\""));
    }
}
