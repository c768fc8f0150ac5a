//! A sink for the tests of every crate, which records what a reader passes on.

use std::collections::BTreeMap;

use crate::base::{Error, Result};
use crate::model::{
    FieldId, FieldSpec, Filled, FlowPoint, Form, NameId, Names, OwnedValue, RankInfo, Sink, SliceKey,
    SliceRecord, TableId, TableSpec, TemplateId, TemplateValue, Templates, TrackId, TrackKind, TrackSpec,
    Value, Warning, WarningKind, Warnings,
};

/// A slice that [`Recorder`] has recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedSlice {
    /// Track of the slice.
    pub track: TrackId,
    /// Start in picoseconds since the profile's origin.
    pub start_ps: i64,
    /// Duration in picoseconds.
    pub duration_ps: i64,
    /// Name of the slice.
    pub name: String,
    /// Form of the slice.
    pub form: Form,
    /// Field names and values, in the order given.
    pub fields: Vec<(String, OwnedValue)>,
}

/// A sample that [`Recorder`] has recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedSample {
    /// Track of the counter.
    pub track: TrackId,
    /// Time in picoseconds since the profile's origin.
    pub time_ps: i64,
    /// Value from this time on.
    pub value: f64,
    /// Field names and values, in the order given.
    pub fields: Vec<(String, OwnedValue)>,
}

/// Records all calls, in order.
#[derive(Debug, Default)]
pub struct Recorder {
    names: Names,
    /// All tables.
    pub tables: Vec<TableSpec>,
    /// All fields, each with its table.
    pub fields: Vec<(TableId, FieldSpec)>,
    /// All tracks.
    pub tracks: Vec<TrackSpec>,
    /// All slices and instants.
    pub slices: Vec<RecordedSlice>,
    /// All samples.
    pub samples: Vec<RecordedSample>,
    /// Rows of side tables.
    pub rows: Vec<(TableId, Vec<(String, OwnedValue)>)>,
    /// Arrows: from, to, name.
    pub links: Vec<(SliceKey, SliceKey, String)>,
    /// Flow points.
    pub flow_points: Vec<FlowPoint>,
    /// Last description of the rank.
    pub rank: RankInfo,
    templates: Templates,
    warnings: Warnings,
    /// Indices of the slices of each track.
    of_track: BTreeMap<TrackId, Vec<usize>>,
    /// Start and duration of the last row of each track that promised to come in order.
    promised: BTreeMap<TrackId, Option<(i64, i64)>>,
}

impl Recorder {
    /// Text of a number.
    #[must_use]
    pub fn text(&self, name: NameId) -> &str {
        self.names.text(name)
    }

    /// All warnings so far.
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        self.warnings.iter().collect()
    }

    /// Name of a track, after the names of its groups: `process/thread`.
    #[must_use]
    pub fn path(&self, track: TrackId) -> String {
        let spec = &self.tracks[track.0 as usize];
        spec.parent.map_or_else(|| spec.name.clone(), |parent| format!("{}/{}", self.path(parent), spec.name))
    }

    /// Index of the slice with this key in [`Self::slices`].
    #[must_use]
    pub fn index_of(&self, key: SliceKey) -> usize {
        self.of_track[&key.track][key.arrival as usize]
    }

    /// Slices of the table with this name.
    pub fn slices_of(&self, table: &str) -> impl Iterator<Item = &RecordedSlice> {
        self.slices.iter().filter(move |slice| match self.tracks[slice.track.0 as usize].kind {
            TrackKind::Slices(id, _) => self.tables[usize::from(id.0)].name == table,
            TrackKind::Group | TrackKind::Counter(_) => false,
        })
    }

    /// Rows of the side table with this name.
    pub fn rows_of(&self, table: &str) -> impl Iterator<Item = &Vec<(String, OwnedValue)>> {
        self.rows
            .iter()
            .filter(move |(id, _)| self.tables[usize::from(id.0)].name == table)
            .map(|(_, row)| row)
    }

    /// Checks that a row keeps the promised order of its track.
    fn check_order(&mut self, track: TrackId, start_ps: i64, duration_ps: i64) -> Result<()> {
        let Some(last) = self.promised.get_mut(&track) else { return Ok(()) };
        let before = last.replace((start_ps, duration_ps));
        if before.is_some_and(|(start, duration)| (start_ps, -duration_ps) < (start, -duration)) {
            return Err(Error::Invalid { what: "a row that breaks the order declared for its track" });
        }
        Ok(())
    }

    fn owned(&self, value: Value<'_>) -> OwnedValue {
        match value {
            Value::Int(v) => OwnedValue::Int(v),
            Value::Uint(v) => OwnedValue::Uint(v),
            Value::Float(v) => OwnedValue::Float(v),
            Value::Bool(v) => OwnedValue::Bool(v),
            Value::Text(v) => OwnedValue::Text(v.to_owned()),
            Value::Name(v) => OwnedValue::Text(self.text(v).to_owned()),
            Value::Json(v) => OwnedValue::Json(v.to_owned()),
        }
    }

    fn named(&self, fields: &[(FieldId, Value<'_>)]) -> Result<Vec<(String, OwnedValue)>> {
        fields
            .iter()
            .map(|(id, value)| {
                let (_, spec) =
                    self.fields.get(id.0 as usize).ok_or(Error::Invalid { what: "unknown field" })?;
                Ok((spec.name.clone(), self.owned(*value)))
            })
            .collect()
    }
}

impl Sink for Recorder {
    fn name(&mut self, text: &str) -> Result<NameId> {
        self.names.intern(text).ok_or(Error::Invalid { what: "dictionary full" })
    }

    #[expect(clippy::cast_possible_truncation, reason = "fixtures are small")]
    fn table(&mut self, spec: TableSpec) -> Result<TableId> {
        let at = self.tables.iter().position(|table| table.name == spec.name).unwrap_or_else(|| {
            self.tables.push(spec);
            self.tables.len() - 1
        });
        Ok(TableId(at as u16))
    }

    #[expect(clippy::cast_possible_truncation, reason = "fixtures are small")]
    fn field(&mut self, table: TableId, spec: FieldSpec) -> Result<FieldId> {
        let known = self.fields.iter().position(|(of, field)| *of == table && field.name == spec.name);
        let at = known.unwrap_or_else(|| {
            self.fields.push((table, spec));
            self.fields.len() - 1
        });
        Ok(FieldId(at as u32))
    }

    #[expect(clippy::cast_possible_truncation, reason = "fixtures are small")]
    fn track(&mut self, spec: TrackSpec) -> Result<TrackId> {
        self.tracks.push(spec);
        Ok(TrackId(self.tracks.len() as u32 - 1))
    }

    fn describe_track(&mut self, track: TrackId, spec: TrackSpec) -> Result<()> {
        *self.tracks.get_mut(track.0 as usize).ok_or(Error::Invalid { what: "unknown track" })? = spec;
        Ok(())
    }

    fn in_order(&mut self, track: TrackId) -> Result<()> {
        let used = |of: TrackId| of == track;
        if self.slices.iter().any(|s| used(s.track)) || self.samples.iter().any(|s| used(s.track)) {
            return Err(Error::Invalid {
                what: "the order of a track must be declared before its first row",
            });
        }
        self.promised.insert(track, None);
        Ok(())
    }

    fn template(&mut self, _: TableId, parts: &[(FieldId, TemplateValue)]) -> Result<TemplateId> {
        Ok(self.templates.define(parts))
    }

    #[expect(clippy::cast_possible_truncation, reason = "fixtures are small")]
    fn slice(&mut self, slice: &SliceRecord<'_>) -> Result<SliceKey> {
        self.check_order(slice.track, slice.start_ps, slice.duration_ps)?;
        let recorded = RecordedSlice {
            track: slice.track,
            start_ps: slice.start_ps,
            duration_ps: slice.duration_ps,
            name: self.text(slice.name).to_owned(),
            form: slice.form,
            fields: self.named(slice.fields)?,
        };
        let of_track = self.of_track.entry(slice.track).or_default();
        let arrival = of_track.len() as u32;
        of_track.push(self.slices.len());
        self.slices.push(recorded);
        Ok(SliceKey { track: slice.track, arrival })
    }

    fn slice_by(&mut self, filled: Filled<'_>, slice: &SliceRecord<'_>) -> Result<SliceKey> {
        let fields = self.templates.fields(filled, slice.fields);
        let fields = fields.ok_or(Error::Invalid { what: "unknown template" })?;
        self.slice(&SliceRecord { fields: &fields, ..*slice })
    }

    fn sample(
        &mut self,
        track: TrackId,
        time_ps: i64,
        value: f64,
        fields: &[(FieldId, Value<'_>)],
    ) -> Result<()> {
        self.check_order(track, time_ps, 0)?;
        let fields = self.named(fields)?;
        self.samples.push(RecordedSample { track, time_ps, value, fields });
        Ok(())
    }

    fn sample_by(&mut self, filled: Filled<'_>, track: TrackId, time_ps: i64, value: f64) -> Result<()> {
        let fields = self.templates.fields(filled, &[]);
        let fields = fields.ok_or(Error::Invalid { what: "unknown template" })?;
        self.sample(track, time_ps, value, &fields)
    }

    fn row(&mut self, table: TableId, fields: &[(FieldId, Value<'_>)]) -> Result<()> {
        let fields = self.named(fields)?;
        self.rows.push((table, fields));
        Ok(())
    }

    fn link(&mut self, from: SliceKey, to: SliceKey, name: NameId) -> Result<()> {
        let name = self.text(name).to_owned();
        self.links.push((from, to, name));
        Ok(())
    }

    fn flow_point(&mut self, point: FlowPoint) -> Result<()> {
        self.flow_points.push(point);
        Ok(())
    }

    fn rank(&mut self, info: RankInfo) {
        self.rank = info;
    }

    fn warn(&mut self, kind: WarningKind, what: &str, place: &dyn Fn() -> String) {
        self.warnings.add(kind, what, place);
    }
}
