//! Rows of tables: their values by the names of fields.

use crate::base::Result;
use crate::exec::Cancel;
use crate::model::{OwnedValue, ValueTable};
use crate::segment::{Bytes, Segment};

use super::columns::NamedColumns;

/// Value of a row in a field; empty if the row has none.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FieldCell(pub Option<OwnedValue>);

impl FieldCell {
    /// A whole number. `None` for other values.
    #[must_use]
    pub fn int(&self) -> Option<i64> {
        self.0.as_ref()?.int()
    }

    /// A number such as that of a rank. `None` for other values.
    #[must_use]
    pub fn number(&self) -> Option<u32> {
        self.int().and_then(|number| u32::try_from(number).ok())
    }

    /// A number with the precision of a float. `None` for other values.
    #[must_use]
    pub fn float(&self) -> Option<f64> {
        self.0.as_ref()?.float()
    }

    /// The number; 0 without one.
    #[must_use]
    pub fn float_or_zero(&self) -> f64 {
        self.float().unwrap_or(0.0)
    }

    /// The text, or an empty one.
    #[must_use]
    pub fn text_or_empty(&self) -> &str {
        self.text().unwrap_or("")
    }

    /// A text, also one with nested values. `None` for other values.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.0 {
            Some(OwnedValue::Text(text) | OwnedValue::Json(text)) => Some(text),
            _ => None,
        }
    }

    /// The numbers of a list. None for other values.
    #[must_use]
    pub fn numbers(&self) -> Vec<u32> {
        let Some(OwnedValue::Json(text)) = &self.0 else { return Vec::new() };
        let numbers = text.trim_matches(['[', ']']).split(',');
        numbers.filter_map(|number| number.trim().parse().ok()).collect()
    }

    /// Whether the value is true.
    #[must_use]
    pub fn is_true(&self) -> bool {
        self.0 == Some(OwnedValue::Bool(true))
    }
}

/// All rows of a table as fields by name; none if the segment lacks the table.
pub fn named<'a, B: Bytes>(
    segment: &'a Segment<B>,
    table: &str,
    cancel: Cancel<'a>,
) -> Result<Vec<NamedValues<'a>>> {
    NamedColumns::of(segment, table, cancel).map_or(Ok(Vec::new()), |of| of.all_rows())
}

/// The value of a field in a row of a table in memory.
pub fn cell_of(table: &ValueTable, row: &[Option<OwnedValue>], name: &str) -> FieldCell {
    let place = table.place_of(name);
    FieldCell(place.and_then(|place| row.get(place)?.clone()))
}

/// The value of a field.
pub fn cell(row: &NamedValues<'_>, name: &str) -> FieldCell {
    FieldCell(of(row, name).cloned())
}

/// The fields of a row, by name.
pub type NamedValues<'a> = Vec<(&'a str, OwnedValue)>;

/// The value of a field.
pub fn of<'r>(row: &'r NamedValues<'_>, name: &str) -> Option<&'r OwnedValue> {
    row.iter().find(|(field, _)| *field == name).map(|(_, value)| value)
}

/// The text of a field.
pub fn text_of(row: &NamedValues<'_>, name: &str) -> Option<String> {
    match of(row, name)? {
        OwnedValue::Text(text) => Some(text.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::makers::job::schema::{MismatchFields, MismatchRow};
    use crate::model::{SideTables, Value};

    #[test]
    fn rows_have_a_value_for_each_field_or_none() {
        let tables = SideTables::made_by(|sink| {
            let of = MismatchFields::define(sink)?;
            sink.row(of.table, &[(of.rank, Value::Int(3)), (of.what, Value::Text("size"))])?;
            let again = MismatchFields::define(sink)?;
            sink.row(again.table, &[(again.operation, Value::Int(7))])
        })
        .unwrap();
        let [table] = &tables[..] else { panic!("one table") };
        let rows = MismatchRow::of(table);
        let [first, second] = &rows[..] else { panic!("two rows") };
        let values = (first.rank.number(), first.what.text(), first.operation.int());
        assert_eq!(values, (Some(3), Some("size"), None));
        assert_eq!((second.operation.int(), second.rank.int()), (Some(7), None));
    }
}
