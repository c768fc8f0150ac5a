//! Rows of side tables by the names of their fields. Side tables are small.

use nprof_engine::base::{Error, Result};
use nprof_engine::model::OwnedValue;
use nprof_engine::native::SegmentFile;
use nprof_engine::query;

/// A row of a side table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row(pub Vec<(String, OwnedValue)>);

/// All rows of a table, in its order; none if the segment lacks the table.
pub fn of(segment: &SegmentFile, table: &str) -> Result<Vec<Row>> {
    let Some(id) = segment.table(table) else { return Ok(Vec::new()) };
    let fields = &segment.footer().fields;
    let mut rows = Vec::new();
    query::fields::for_each_row(segment, id, |_, row| {
        let named = row.into_iter().map(|(id, value)| (fields[id.0 as usize].1.name.clone(), value));
        rows.push(Row(named.collect()));
        Ok::<_, Error>(())
    })?;
    Ok(rows)
}

impl Row {
    /// The value of a field.
    #[must_use]
    pub fn get(&self, field: &str) -> Option<&OwnedValue> {
        self.0.iter().find(|(name, _)| name == field).map(|(_, value)| value)
    }

    /// The text of a field, or an empty one.
    #[must_use]
    pub fn text(&self, field: &str) -> &str {
        match self.get(field) {
            Some(OwnedValue::Text(text) | OwnedValue::Json(text)) => text,
            _ => "",
        }
    }
}
