//! The columns of a table: the fixed ones, then one for each name of a field that has values.

use nprof_engine::model::{FieldId, OwnedValue, TableId};
use nprof_engine::native::SegmentFile;
use nprof_engine::segment::{ColumnRole, Footer};

use crate::export::keys::freed;
use crate::print::csv::{CsvLine, plain};

/// The columns of a table.
#[derive(Debug)]
pub(super) struct CsvColumns {
    titles: Vec<String>,
    /// For each field by number, the position of its column after the fixed ones.
    places: Vec<Option<usize>>,
    /// The cells of the current row.
    cells: Vec<String>,
}

impl CsvColumns {
    /// The columns of these tables. Fields of one name in several tables share a column. If a
    /// field has the name of a fixed column, its title gets an underscore.
    pub fn new(segment: &SegmentFile, tables: &[TableId], fixed: &[&str]) -> Self {
        let has_values = |wanted: FieldId, table: TableId| {
            segment.columns_of(table).any(|column| {
                matches!(segment.footer().columns[column].role, ColumnRole::Field(id) if id == wanted)
            })
        };
        Self::of_fields(segment.footer(), tables, fixed, has_values)
    }

    fn of_fields(
        footer: &Footer,
        tables: &[TableId],
        fixed: &[&str],
        has_values: impl Fn(FieldId, TableId) -> bool,
    ) -> Self {
        let mut names: Vec<&str> = Vec::new();
        let mut places = vec![None; footer.fields.len()];
        for (id, (table, spec)) in (0..).map(FieldId).zip(&footer.fields) {
            if tables.contains(table) && has_values(id, *table) {
                let known = names.iter().position(|name| *name == spec.name);
                places[id.0 as usize] = Some(known.unwrap_or(names.len()));
                if known.is_none() {
                    names.push(&spec.name);
                }
            }
        }
        let is_fixed = |name: &str| fixed.contains(&name);
        let titles = names.iter().map(|name| freed(name, is_fixed, |other| names.contains(&other)));
        let titles = fixed.iter().map(|&title| title.to_owned()).chain(titles).collect();
        Self { titles, places, cells: vec![String::new(); names.len()] }
    }

    /// The titles of all columns, the fixed ones first.
    pub fn titles(&self) -> &[String] {
        &self.titles
    }

    /// Adds the cells of a row's fields to a line that has the fixed cells.
    pub fn write(&mut self, fields: &[(FieldId, OwnedValue)], line: &mut CsvLine) {
        self.cells.iter_mut().for_each(String::clear);
        for (id, value) in fields {
            if let Some(place) = self.places.get(id.0 as usize).copied().flatten() {
                self.cells[place] = plain(value);
            }
        }
        self.cells.iter().for_each(|cell| line.cell(cell));
    }
}

#[cfg(test)]
mod tests {
    use nprof_engine::model::FieldSpec;

    use super::*;

    #[test]
    fn fields_of_one_name_share_a_column_and_give_way_to_fixed_ones() {
        let fields = [(0, "pc"), (1, "name"), (0, "name"), (1, "pc"), (2, "other"), (0, "name_")];
        let footer = Footer {
            fields: fields.map(|(table, name)| (TableId(table), FieldSpec::named(name))).to_vec(),
            ..Footer::default()
        };
        let tables = [TableId(0), TableId(1)];
        let mut columns = CsvColumns::of_fields(&footer, &tables, &["row", "name"], |_, _| true);
        assert_eq!(columns.titles(), ["row", "name", "pc", "name__", "name_"]);
        let row = [(FieldId(2), OwnedValue::Text("a,b".to_owned())), (FieldId(3), OwnedValue::Int(-7))];
        let (mut line, mut out) = (CsvLine::default(), Vec::new());
        for fields in [&row[..], &[]] {
            columns.write(fields, &mut line);
            line.end("\r\n", &mut out).unwrap();
        }
        assert_eq!(String::from_utf8(out).unwrap(), "-7,\"a,b\",\r\n,,\r\n");
    }
}
