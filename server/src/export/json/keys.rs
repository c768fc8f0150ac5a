//! The keys of a table's rows: the fixed keys and the keys of fields. No row has a key twice.

use nprof_engine::model::{TableId, TableKind};
use nprof_engine::segment::Footer;
use serde_json::Value as Json;

use crate::export::keys::freed;

/// Keys of the place and time of slices and samples.
const PLACE: [&str; 4] = ["timestamp", "start_ps", "row", "track"];
/// Further keys of slices.
const SLICE: [&str; 3] = ["duration", "duration_ps", "form"];
/// Further keys of samples.
const SAMPLE: [&str; 4] = ["counter", "counter_id", "series", "unit"];
/// Keys of the process and thread of slices and samples.
pub(super) const PROCESS: [&str; 4] = ["process", "pid", "thread", "tid"];

/// The keys of one table's fields as JSON texts, indexed by field number.
pub(super) struct FieldKeys(Vec<String>);

impl FieldKeys {
    /// The keys for a table whose rows also have the keys `further`.
    pub fn new(footer: &Footer, table: TableId, further: &[&str]) -> Self {
        let kind = footer.tables[usize::from(table.0)].spec.kind;
        let of_kind: &[&[&str]] = match kind {
            TableKind::Slices => &[&PLACE, &SLICE],
            TableKind::Samples => &[&PLACE, &SAMPLE],
            TableKind::Side => &[],
        };
        let own = || footer.fields.iter().filter(|(of, _)| *of == table).map(|(_, spec)| spec.name.as_str());
        let is_taken =
            |name: &str| further.contains(&name) || of_kind.iter().any(|keys| keys.contains(&name));
        let keys = footer.fields.iter().map(|(of, spec)| {
            // If a field of the trace has the same key as every row, the field gets another key.
            let free = |name: &str| freed(name, is_taken, |key| own().any(|name| name == key));
            let key = if *of == table { free(&spec.name) } else { spec.name.clone() };
            Json::from(key).to_string()
        });
        Self(keys.collect())
    }

    /// The key of a field, with its quotes.
    pub fn of(&self, field: nprof_engine::model::FieldId) -> &str {
        &self.0[field.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use nprof_engine::model::{FieldId, FieldSpec, TableSpec};
    use nprof_engine::segment::{Piece, TableMeta};

    use super::*;

    #[test]
    fn a_field_gives_way_to_the_keys_of_every_row() {
        let table = |name: &str, kind| TableMeta {
            spec: TableSpec::new(name, kind, ""),
            first_row: 0,
            rows: 0,
            blocks: Piece::default(),
        };
        let names = ["track", "track_", "name", "kind\"", "series"];
        let footer = Footer {
            tables: vec![table("a", TableKind::Slices), table("b", TableKind::Side)],
            fields: (0..2).flat_map(|of| names.map(|name| (TableId(of), FieldSpec::named(name)))).collect(),
            ..Footer::default()
        };
        let keys = |of: u16| {
            let keys = FieldKeys::new(&footer, TableId(of), if of == 0 { &["name"] } else { &[] });
            (0..5).map(|at| keys.of(FieldId(u32::from(of) * 5 + at)).to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(keys(0), [r#""track__""#, r#""track_""#, r#""name_""#, r#""kind\"""#, r#""series""#]);
        assert_eq!(keys(1), [r#""track""#, r#""track_""#, r#""name""#, r#""kind\"""#, r#""series""#]);
    }
}
