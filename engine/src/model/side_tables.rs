//! Side tables in memory: what a writer of tables makes, without a segment.

use super::{
    FieldId, FieldSpec, Filled, FlowPoint, NameId, Names, OwnedValue, RankInfo, Sink, SliceKey, SliceRecord,
    TableId, TableSpec, TemplateId, TemplateValue, TrackId, TrackSpec, Value, WarningKind,
};
use crate::base::{Error, Result};

/// A table in memory.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ValueTable {
    /// Name of the table.
    pub name: String,
    /// The fields, in display order.
    pub fields: Vec<FieldSpec>,
    /// A value for each field in each row, if the row has one.
    pub rows: Vec<Vec<Option<OwnedValue>>>,
}

impl ValueTable {
    /// The place of a field in each row.
    #[must_use]
    pub fn place_of(&self, field: &str) -> Option<usize> {
        self.fields.iter().position(|own| own.name == field)
    }

    /// The table without the columns in which no row has a value.
    #[must_use]
    pub fn without_empty_columns(mut self) -> Self {
        let is_used = |at: usize| self.rows.iter().any(|row| row.get(at).is_some_and(Option::is_some));
        let used: Vec<bool> = (0..self.fields.len()).map(is_used).collect();
        self.keep_places(&used);
        self
    }

    /// Keeps the columns of wanted fields.
    pub fn keep_columns(&mut self, is_wanted: impl Fn(&FieldSpec) -> bool) {
        let used: Vec<bool> = self.fields.iter().map(is_wanted).collect();
        self.keep_places(&used);
    }

    fn keep_places(&mut self, used: &[bool]) {
        keep(&mut self.fields, used);
        self.rows.iter_mut().for_each(|row| keep(row, used));
    }
}

/// Keeps the elements at places that are used.
pub fn keep<T>(elements: &mut Vec<T>, used: &[bool]) {
    let mut used = used.iter();
    elements.retain(|_| used.next().is_some_and(|is_used| *is_used));
}

/// A sink that keeps side tables and takes nothing else.
#[derive(Debug, Default)]
pub struct SideTables {
    names: Names,
    tables: Vec<ValueTable>,
    /// The table of each field, and its place there.
    places: Vec<(TableId, usize)>,
}

/// The sink is for side tables alone.
const NO_EVENTS: Error = Error::Invalid { what: "an event among side tables" };
const NO_TABLE: Error = Error::Invalid { what: "a table that is not defined" };

impl SideTables {
    /// The tables that a writer makes, in the order of their definitions.
    ///
    /// # Errors
    /// Those of the writer; also if it writes more than side tables.
    pub fn made_by(write: impl FnOnce(&mut dyn Sink) -> Result<()>) -> Result<Vec<ValueTable>> {
        let mut made = Self::default();
        write(&mut made)?;
        Ok(made.tables)
    }
}

impl Sink for SideTables {
    fn table(&mut self, spec: TableSpec) -> Result<TableId> {
        let known = self.tables.iter().position(|table| table.name == spec.name);
        let at = known.unwrap_or(self.tables.len());
        if known.is_none() {
            self.tables.push(ValueTable { name: spec.name, ..ValueTable::default() });
        }
        u16::try_from(at).map(TableId).map_err(|_| NO_TABLE)
    }

    fn field(&mut self, table: TableId, spec: FieldSpec) -> Result<FieldId> {
        let of = self.tables.get_mut(usize::from(table.0)).ok_or(NO_TABLE)?;
        let at = of.place_of(&spec.name).unwrap_or(of.fields.len());
        if at == of.fields.len() {
            of.fields.push(spec);
        }
        self.places.push((table, at));
        u32::try_from(self.places.len() - 1).map(FieldId).map_err(|_| NO_TABLE)
    }

    fn row(&mut self, table: TableId, fields: &[(FieldId, Value<'_>)]) -> Result<()> {
        let of = self.tables.get_mut(usize::from(table.0)).ok_or(NO_TABLE)?;
        let mut row = vec![None; of.fields.len()];
        for (field, value) in fields {
            let place = self.places.get(field.0 as usize).filter(|(own, _)| *own == table);
            let (_, at) = place.ok_or(NO_TABLE)?;
            row[*at] = Some(value.owned(&self.names));
        }
        of.rows.push(row);
        Ok(())
    }

    fn rank(&mut self, _: RankInfo) {}

    fn warn_times(&mut self, _: WarningKind, _: &str, _: u64, _: &dyn Fn() -> String) {}

    fn name(&mut self, text: &str) -> Result<NameId> {
        self.names.intern(text).ok_or(Error::Storage { what: "keep the texts of side tables" })
    }

    fn track(&mut self, _: TrackSpec) -> Result<TrackId> {
        Err(NO_EVENTS)
    }

    fn describe_track(&mut self, _: TrackId, _: TrackSpec) -> Result<()> {
        Err(NO_EVENTS)
    }

    fn in_order(&mut self, _: TrackId) -> Result<()> {
        Err(NO_EVENTS)
    }

    fn template(&mut self, _: TableId, _: &[(FieldId, TemplateValue)]) -> Result<TemplateId> {
        Err(NO_EVENTS)
    }

    fn slice(&mut self, _: &SliceRecord<'_>) -> Result<SliceKey> {
        Err(NO_EVENTS)
    }

    fn slice_by(&mut self, _: Filled<'_>, _: &SliceRecord<'_>) -> Result<SliceKey> {
        Err(NO_EVENTS)
    }

    fn sample(&mut self, _: TrackId, _: i64, _: f64, _: &[(FieldId, Value<'_>)]) -> Result<()> {
        Err(NO_EVENTS)
    }

    fn sample_by(&mut self, _: Filled<'_>, _: TrackId, _: i64, _: f64) -> Result<()> {
        Err(NO_EVENTS)
    }

    fn link(&mut self, _: SliceKey, _: SliceKey, _: NameId) -> Result<()> {
        Err(NO_EVENTS)
    }

    fn flow_point(&mut self, _: FlowPoint) -> Result<()> {
        Err(NO_EVENTS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TableKind;

    #[test]
    fn columns_without_a_value_can_be_left_out() {
        let table = ValueTable {
            fields: ["a", "b", "c"].map(FieldSpec::named).to_vec(),
            rows: vec![
                vec![None, None, Some(OwnedValue::Int(1))],
                vec![Some(OwnedValue::Int(2)), None, None],
            ],
            ..ValueTable::default()
        };
        let table = table.without_empty_columns();
        assert_eq!(table.fields, ["a", "c"].map(FieldSpec::named));
        assert_eq!(table.rows[0], [None, Some(OwnedValue::Int(1))]);
    }

    #[test]
    fn events_and_fields_of_other_tables_are_refused() {
        let track =
            SideTables::made_by(|sink| sink.describe_track(TrackId(0), TrackSpec::group("a", None, 0)));
        assert_eq!(track, Err(NO_EVENTS));
        let foreign = SideTables::made_by(|sink| {
            let table = sink.table(TableSpec::new("a", TableKind::Side, ""))?;
            let field = sink.field(table, FieldSpec::named("rank"))?;
            sink.row(TableId(9), &[(field, Value::Int(3))])
        });
        assert_eq!(foreign, Err(NO_TABLE));
    }
}
