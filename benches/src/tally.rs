//! A sink that only counts. Measures the cost of a reader by itself.

use nprof_engine::base::{Error, Result};
use nprof_engine::model::{
    FieldId, FieldSpec, Filled, FlowPoint, NameId, Names, RankInfo, Sink, SliceKey, SliceRecord, TableId,
    TableSpec, TemplateId, TemplateValue, TrackId, TrackSpec, Value, WarningKind,
};

/// Counts events and discards them.
#[derive(Debug, Default)]
pub struct Tally {
    names: Names,
    tables: Vec<String>,
    fields_by_name: Vec<(TableId, String)>,
    tracks: u32,
    /// Number of fields of each template.
    templates: Vec<u64>,
    /// Number of slices, instants, samples, rows and flow points.
    pub events: u64,
    /// Number of field values.
    pub fields: u64,
    arrivals: u32,
}

#[expect(clippy::cast_possible_truncation, reason = "tables and fields are few")]
impl Sink for Tally {
    fn name(&mut self, text: &str) -> Result<NameId> {
        self.names.intern(text).ok_or(Error::Invalid { what: "dictionary full" })
    }

    fn table(&mut self, spec: TableSpec) -> Result<TableId> {
        let at = self.tables.iter().position(|name| *name == spec.name).unwrap_or_else(|| {
            self.tables.push(spec.name);
            self.tables.len() - 1
        });
        Ok(TableId(at as u16))
    }

    fn field(&mut self, table: TableId, spec: FieldSpec) -> Result<FieldId> {
        let key = (table, spec.name);
        let at = self.fields_by_name.iter().position(|known| *known == key).unwrap_or_else(|| {
            self.fields_by_name.push(key);
            self.fields_by_name.len() - 1
        });
        Ok(FieldId(at as u32))
    }

    fn track(&mut self, _: TrackSpec) -> Result<TrackId> {
        self.tracks += 1;
        Ok(TrackId(self.tracks - 1))
    }

    fn describe_track(&mut self, _: TrackId, _: TrackSpec) -> Result<()> {
        Ok(())
    }

    fn in_order(&mut self, _: TrackId) -> Result<()> {
        Ok(())
    }

    fn template(&mut self, _: TableId, parts: &[(FieldId, TemplateValue)]) -> Result<TemplateId> {
        self.templates.push(parts.len() as u64);
        Ok(TemplateId(self.templates.len() as u32 - 1))
    }

    fn slice(&mut self, slice: &SliceRecord<'_>) -> Result<SliceKey> {
        self.count(slice.fields);
        self.arrivals += 1;
        Ok(SliceKey { track: slice.track, arrival: self.arrivals - 1 })
    }

    fn slice_by(&mut self, filled: Filled<'_>, slice: &SliceRecord<'_>) -> Result<SliceKey> {
        self.fields += self.templates[filled.template.0 as usize];
        self.slice(slice)
    }

    fn sample(&mut self, _: TrackId, _: i64, _: f64, fields: &[(FieldId, Value<'_>)]) -> Result<()> {
        self.count(fields);
        Ok(())
    }

    fn sample_by(&mut self, filled: Filled<'_>, _: TrackId, _: i64, _: f64) -> Result<()> {
        self.fields += self.templates[filled.template.0 as usize];
        self.count(&[]);
        Ok(())
    }

    fn row(&mut self, _: TableId, fields: &[(FieldId, Value<'_>)]) -> Result<()> {
        self.count(fields);
        Ok(())
    }

    fn link(&mut self, _: SliceKey, _: SliceKey, _: NameId) -> Result<()> {
        Ok(())
    }

    fn flow_point(&mut self, _: FlowPoint) -> Result<()> {
        self.count(&[]);
        Ok(())
    }

    fn rank(&mut self, _: RankInfo) {}

    fn warn_times(&mut self, _: WarningKind, _: &str, _: u64, _: &dyn Fn() -> String) {}
}

impl Tally {
    fn count(&mut self, fields: &[(FieldId, Value<'_>)]) {
        self.events += 1;
        self.fields += fields.len() as u64;
    }
}
