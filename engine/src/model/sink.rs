//! The door into the store: readers of trace formats call it, the segment builder and test recorders implement it.

use super::{
    FieldId, FieldSpec, Filled, FlowPoint, NameId, Part, RankInfo, SliceKey, SliceRecord, TableId, TableSpec,
    TemplateId, TrackId, TrackSpec, Value, WarningKind,
};
use crate::base::Result;

/// Receives one rank of a profile, in any order of time.
///
/// Definitions come before their use. Errors are the sink's own (its scratch space is full, a limit is reached), never
/// a comment on the trace; a reader passes them on and stops.
pub trait Sink {
    /// The number of a text.
    ///
    /// # Errors
    /// Where the dictionary is full.
    fn name(&mut self, text: &str) -> Result<NameId>;

    /// Defines a table, or finds the one with this name.
    ///
    /// # Errors
    /// Beyond 65,535 tables.
    fn table(&mut self, spec: TableSpec) -> Result<TableId>;

    /// Defines a field of a table, or finds the one with this name.
    ///
    /// # Errors
    /// Where the table is unknown.
    fn field(&mut self, table: TableId, spec: FieldSpec) -> Result<FieldId>;

    /// Defines a track.
    ///
    /// # Errors
    /// Where the parent or the table is unknown.
    fn track(&mut self, spec: TrackSpec) -> Result<TrackId>;

    /// Says more of a track: formats tell names and order after the events. The kind must stay the same.
    ///
    /// # Errors
    /// Where the track, the parent or the table is unknown, or the kind differs.
    fn describe_track(&mut self, track: TrackId, spec: TrackSpec) -> Result<()>;

    /// Promises that the track's rows come in order from the first on: by start, of equal starts the longest first. Such
    /// a track needs no sorting, and no memory or scratch space for it. Flow points must not be on it.
    ///
    /// # Errors
    /// Where the track is unknown or has rows already.
    fn in_order(&mut self, track: TrackId) -> Result<()>;

    /// Defines a template of a table's rows.
    ///
    /// # Errors
    /// Where a field is unknown or of another table.
    fn template(&mut self, table: TableId, parts: &[(FieldId, Part)]) -> Result<TemplateId>;

    /// Takes a slice or an instant.
    ///
    /// # Errors
    /// Where the scratch space is full, the track is none for slices, or a promise of order is broken.
    fn slice(&mut self, slice: &SliceRecord<'_>) -> Result<SliceKey>;

    /// Takes a slice whose first fields are those of a template.
    ///
    /// # Errors
    /// As [`Sink::slice`], and where the template is unknown, of another table, or asks for other numbers.
    fn slice_by(&mut self, filled: Filled<'_>, slice: &SliceRecord<'_>) -> Result<SliceKey>;

    /// Takes a sample of a counter: the value from `time_ps` on. Fields are of the counter's table.
    ///
    /// # Errors
    /// Where the scratch space is full or the track is no counter.
    fn sample(
        &mut self,
        track: TrackId,
        time_ps: i64,
        value: f64,
        fields: &[(FieldId, Value<'_>)],
    ) -> Result<()>;

    /// Takes a sample whose fields are those of a template.
    ///
    /// # Errors
    /// As [`Sink::sample`], and where the template is unknown, of another table, or asks for other numbers.
    fn sample_by(&mut self, filled: Filled<'_>, track: TrackId, time_ps: i64, value: f64) -> Result<()>;

    /// Takes a row of a side table.
    ///
    /// # Errors
    /// Where the scratch space is full or the table is no side table.
    fn row(&mut self, table: TableId, fields: &[(FieldId, Value<'_>)]) -> Result<()>;

    /// Draws an arrow between two slices.
    ///
    /// # Errors
    /// Where a slice is unknown.
    fn link(&mut self, from: SliceKey, to: SliceKey, name: NameId) -> Result<()>;

    /// Takes a point of a flow.
    ///
    /// # Errors
    /// Where the track is unknown.
    fn flow_point(&mut self, point: FlowPoint) -> Result<()>;

    /// Says what is known of the rank. Later calls replace earlier ones.
    fn rank(&mut self, info: RankInfo);

    /// Counts a warning: what went wrong (without numbers, so that equal ones are counted together) and where.
    fn warn(&mut self, kind: WarningKind, what: &str, place: &dyn Fn() -> String);
}
