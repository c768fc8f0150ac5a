//! The tables of a rank as a list under headings. Pure.

use nprof_engine::base::narrow;
use nprof_engine::base::order::sort_by_key;
use nprof_engine::model::TableKind;
use nprof_engine::wire::catalog::{RankDetail, Table};

use crate::ui::text::label::label;
use crate::view::state::data::WARNINGS_TABLE;

/// Headings in the order of the list. Others come before the last one.
const HEADINGS: [&str; 4] = ["Model & NEFF", "Program", "Device", "Trace"];

/// A table in the list.
#[derive(Debug, Clone, PartialEq)]
pub struct TableEntry {
    /// Name in addresses.
    pub name: String,
    /// Name for people.
    pub title: String,
    /// The heading above it.
    pub heading: String,
    /// Explanation in one sentence.
    pub doc: String,
    /// Number of rows.
    pub rows: u64,
    /// How many of them are waits.
    pub waits: u64,
    /// Kind of the rows.
    pub kind: EntryKind,
    /// Number of fields of a row.
    pub fields: usize,
}

impl TableEntry {
    /// Number of rows that the open table has, with the rows of waits or without.
    #[must_use]
    pub fn shown_rows(&self, with_waits: bool) -> u64 {
        if with_waits { self.rows } else { self.rows.saturating_sub(self.waits) }
    }

    /// Most rows that the page asks for: a million, fewer of a table with many fields.
    #[must_use]
    pub fn most_rows(&self) -> u32 {
        /// Cells that fit into the memory of a tab beside the timeline, 8 bytes each.
        const MOST_CELLS: usize = 8_000_000;
        const LEAST: usize = 100_000;
        const MOST: usize = 1_000_000;
        /// Columns for the track, the time and the name.
        const OWN: usize = 6;
        let rows = (MOST_CELLS / (self.fields + OWN)).clamp(LEAST, MOST);
        narrow(rows)
    }
}

/// Kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A table with rows of this kind.
    Table(TableKind),
    /// Warnings of the ingest.
    Warnings,
}

impl EntryKind {
    /// Whether the rows have times.
    #[must_use]
    pub fn has_time(self) -> bool {
        matches!(self, Self::Table(TableKind::Slices | TableKind::Samples))
    }
}

/// All tables with rows, in the order of the list.
#[must_use]
pub fn entries(rank: &RankDetail) -> Vec<TableEntry> {
    let mut entries: Vec<TableEntry> = rank.tables.iter().filter(|table| table.rows > 0).map(entry).collect();
    if !rank.warnings.is_empty() {
        entries.push(TableEntry {
            name: WARNINGS_TABLE.to_owned(),
            title: "Warnings".to_owned(),
            heading: HEADINGS[3].to_owned(),
            doc: "What the ingest could not read or had to correct.".to_owned(),
            rows: rank.warnings.len() as u64,
            waits: 0,
            kind: EntryKind::Warnings,
            fields: 0,
        });
    }
    let others: Vec<String> = entries.iter().map(|entry| entry.heading.clone()).collect();
    let place = |entry: &TableEntry| {
        let known = HEADINGS.iter().position(|heading| *heading == entry.heading);
        // Unknown headings stand before the events of the trace, in the order of their first
        // tables.
        let first = others.iter().position(|heading| *heading == entry.heading);
        known.map_or((2 * HEADINGS.len() - 3, first), |at| (2 * at, None))
    };
    sort_by_key(&mut entries, place);
    entries
}

fn entry(table: &Table) -> TableEntry {
    TableEntry {
        name: table.name.clone(),
        title: label(&table.name),
        heading: table.group.clone(),
        doc: table.doc.clone(),
        rows: table.rows,
        waits: table.waits,
        fields: table.fields.len(),
        kind: EntryKind::Table(table.kind),
    }
}

#[cfg(test)]
mod tests {
    use nprof_engine::wire::catalog::{Field, RankEntry, WarningEntry};

    use super::*;

    #[test]
    fn tables_stand_under_headings_and_empty_ones_are_absent() {
        let table = |name: &str, group: &str, kind: TableKind, rows| Table {
            name: name.to_owned(),
            kind,
            group: group.to_owned(),
            rows,
            waits: 0,
            doc: String::new(),
            fields: Vec::new(),
        };
        let warning =
            WarningEntry { title: String::new(), what: String::new(), first_place: String::new(), count: 9 };
        let rank = RankDetail {
            entry: RankEntry {
                rank: 0.into(),
                host: None,
                device: None,
                core: None,
                events: 0,
                start_ps: 0,
                end_ps: 0,
                content: String::new(),
                input: String::new(),
                clock: None,
                clock_by: None,
                found: None,
            },
            tracks: Vec::new(),
            groups: Vec::new(),
            tables: vec![
                table("calls", "Trace", TableKind::Slices, 4),
                table("memory", "Trace", TableKind::Samples, 2),
                table("clocks", "Device", TableKind::Side, 1),
                table("nothing", "Device", TableKind::Side, 0),
                table("ours", "Other", TableKind::Side, 1),
                table("theirs", "Another", TableKind::Side, 1),
                table("ours_too", "Other", TableKind::Side, 1),
                table("model_info", "Model & NEFF", TableKind::Side, 1),
            ],
            warnings: vec![warning],
            origin_unix_ns: None,
            device_name: None,
            names: Vec::new(),
        };
        let words = |entry: &TableEntry| format!("{}/{} {}", entry.heading, entry.title, entry.rows);
        let list: Vec<String> = entries(&rank).iter().map(words).collect();
        let expected = [
            "Model & NEFF/Model info 1",
            "Device/Clocks 1",
            "Other/Ours 1",
            "Other/Ours too 1",
            "Another/Theirs 1",
            "Trace/Calls 4",
            "Trace/Memory 2",
            "Trace/Warnings 1",
        ];
        assert_eq!(list, expected);
        assert!(entries(&rank)[5].kind.has_time() && !entries(&rank)[0].kind.has_time());
    }

    #[test]
    fn rows_of_waits_count_if_they_are_shown() {
        let of = entry(&Table {
            name: String::new(),
            kind: TableKind::Slices,
            group: String::new(),
            rows: 7,
            waits: 3,
            doc: String::new(),
            fields: Vec::new(),
        });
        assert_eq!((of.shown_rows(true), of.shown_rows(false)), (7, 4));
    }

    #[test]
    fn tables_of_few_fields_show_a_million_rows() {
        let most_rows = |fields| {
            let of = Table {
                name: String::new(),
                kind: TableKind::Side,
                group: String::new(),
                rows: 5_000_000,
                waits: 0,
                doc: String::new(),
                fields: vec![
                    Field {
                        name: String::new(),
                        unit: String::new(),
                        group: String::new(),
                        doc: String::new()
                    };
                    fields
                ],
            };
            entry(&of).most_rows()
        };
        assert_eq!([0, 2, 44, 500].map(most_rows), [1_000_000, 1_000_000, 160_000, 100_000]);
    }
}
