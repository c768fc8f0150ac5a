//! The interface of the store. Readers of trace formats call it; the segment builder and test
//! recorders implement it.

use super::{
    FieldId, FieldSpec, Filled, FlowPoint, NameId, RankInfo, Schedule, SliceKey, SliceRecord, TableId,
    TableSpec, TemplateId, TemplateValue, TrackId, TrackSpec, Value, WarningKind,
};
use crate::base::Result;

/// Receives one rank of a profile, in any order of time.
///
/// Definitions come before their use. Errors are the sink's own: its scratch space is full, or a
/// limit is reached. An error is never a comment on the trace; a reader passes it on and stops.
pub trait Sink {
    /// Returns the number of a text.
    fn name(&mut self, text: &str) -> Result<NameId>;

    /// Defines a table, or finds the one with this name.
    ///
    /// # Errors
    /// If there are more than 65,535 tables.
    fn table(&mut self, spec: TableSpec) -> Result<TableId>;

    /// Defines a field of a table, or finds the one with this name.
    fn field(&mut self, table: TableId, spec: FieldSpec) -> Result<FieldId>;

    /// Defines a track.
    fn track(&mut self, spec: TrackSpec) -> Result<TrackId>;

    /// Replaces the description of a track: some formats state names and order after the events.
    /// The kind must stay the same.
    ///
    /// # Errors
    /// If the track, the parent or the table is unknown, or the kind differs.
    fn describe_track(&mut self, track: TrackId, spec: TrackSpec) -> Result<()>;

    /// Promises that the track's rows come in order, beginning with the first row. The order is by
    /// start; of equal starts, the longest comes first. Such a track needs no sorting, and no
    /// memory or scratch space for it. Flow points must not be on it.
    ///
    /// # Errors
    /// If the track is unknown or has rows already.
    fn in_order(&mut self, track: TrackId) -> Result<()>;

    /// States slices that many tracks of a table have in common, before the first of them. The
    /// store takes less space then. Without a schedule, and in a sink that stores nothing, the rows
    /// are the same.
    ///
    /// # Errors
    /// If the key is not a field of the table, keys do not ascend, or a name or the next slice does
    /// not exist.
    fn schedule(&mut self, _table: TableId, _schedule: Schedule) -> Result<()> {
        Ok(())
    }

    /// Defines a template of a table's rows.
    ///
    /// # Errors
    /// If a field is unknown or of another table.
    fn template(&mut self, table: TableId, parts: &[(FieldId, TemplateValue)]) -> Result<TemplateId>;

    /// Takes a slice or an instant.
    ///
    /// # Errors
    /// If the scratch space is full, the track is not for slices, or a promise of order is broken.
    fn slice(&mut self, slice: &SliceRecord<'_>) -> Result<SliceKey>;

    /// Takes a slice whose first fields are those of a template.
    ///
    /// # Errors
    /// Same as [`Sink::slice`]; also if the template is unknown, is of another table, or asks for
    /// other numbers.
    fn slice_by(&mut self, filled: Filled<'_>, slice: &SliceRecord<'_>) -> Result<SliceKey>;

    /// Takes a sample of a counter, which has this value from `time_ps` on. Fields are of the
    /// counter's table.
    ///
    /// # Errors
    /// If the scratch space is full or the track is not a counter.
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
    /// Same as [`Sink::sample`]; also if the template is unknown, is of another table, or asks for
    /// other numbers.
    fn sample_by(&mut self, filled: Filled<'_>, track: TrackId, time_ps: i64, value: f64) -> Result<()>;

    /// Takes a row of a side table.
    ///
    /// # Errors
    /// If the scratch space is full or the table is not a side table.
    fn row(&mut self, table: TableId, fields: &[(FieldId, Value<'_>)]) -> Result<()>;

    /// Records an arrow between two slices.
    fn link(&mut self, from: SliceKey, to: SliceKey, name: NameId) -> Result<()>;

    /// Takes a point of a flow.
    fn flow_point(&mut self, point: FlowPoint) -> Result<()>;

    /// Takes the description of the rank. Later calls replace earlier ones.
    fn rank(&mut self, info: RankInfo);

    /// Counts a warning. `what` states no numbers, so that equal warnings are counted together;
    /// `place` names the position in the trace.
    fn warn(&mut self, kind: WarningKind, what: &str, place: &dyn Fn() -> String) {
        self.warn_times(kind, what, 1, place);
    }

    /// Counts several equal warnings. `place` names the position of the first one.
    fn warn_times(&mut self, kind: WarningKind, what: &str, count: u64, place: &dyn Fn() -> String);
}
