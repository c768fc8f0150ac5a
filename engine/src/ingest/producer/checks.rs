//! Checks of what readers send to the builder.

use super::builder::Builder;
use crate::base::{Error, Result};
use crate::model::{
    FieldId, FieldSpec, Schedule, ScheduledSlice, TableId, TableKind, TrackContent, TrackSpec,
};

impl Builder<'_> {
    /// Checks that a track fits its table and its group.
    pub(super) fn check_track(&self, spec: &TrackSpec) -> Result<()> {
        let table_fits = match spec.kind {
            TrackContent::Group => true,
            TrackContent::Slices(id, _) => self.table_kind(id) == Some(TableKind::Slices),
            TrackContent::Counter(id) => self.table_kind(id) == Some(TableKind::Samples),
        };
        if !table_fits {
            return Err(Error::Invalid { what: "a track needs a table of its kind" });
        }
        if spec.parent.is_some_and(|parent| parent.0 as usize >= self.tracks.len()) {
            return Err(Error::Invalid { what: "a track's group must be defined first" });
        }
        Ok(())
    }

    /// Checks that a schedule is one of this table.
    pub(super) fn check_schedule(&self, schedule: &Schedule, table: TableId) -> Result<()> {
        check_field(&self.fields, table, schedule.key)?;
        let slices = &schedule.slices;
        if !slices.is_sorted_by_key(|slice| slice.key) {
            return Err(Error::Invalid { what: "a schedule whose keys do not ascend" });
        }
        let is_there =
            |slice: &ScheduledSlice| (slice.next as usize) < slices.len() && self.names.has(slice.name);
        if !slices.iter().all(is_there) {
            return Err(Error::Invalid { what: "a schedule with a name or slice that does not exist" });
        }
        Ok(())
    }
}

/// Checks that a field belongs to this table.
pub fn check_field(fields: &[(TableId, FieldSpec)], table: TableId, field: FieldId) -> Result<()> {
    match fields.get(field.0 as usize) {
        Some((of, _)) if *of == table => Ok(()),
        _ => Err(Error::Invalid { what: "a field that belongs to another table" }),
    }
}
