//! The slices of devices as they are stored, track by track, without what they wait for.

use super::call_columns::{FieldColumns, slice_tracks};
use super::work_reader::is_device_work;
use crate::base::Result;
use crate::exec::Cancel;
use crate::model::{Identity, Role, SliceForm, TableId, TrackId};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// A track of a device with its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceTrack {
    track: TrackId,
    table: TableId,
}

impl DeviceTrack {
    /// Its name.
    #[must_use]
    pub fn name<B: Bytes>(self, segment: &Segment<B>) -> &str {
        segment.footer().tracks[self.track.0 as usize].spec.name.trim()
    }

    /// The part of the machine that it shows.
    #[must_use]
    pub fn identity<B: Bytes>(self, segment: &Segment<B>) -> Identity {
        segment.footer().tracks[self.track.0 as usize].spec.identity
    }
}

/// A slice that ran to its end. Times are in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredSlice {
    /// Start.
    pub start_ps: i64,
    /// End.
    pub end_ps: i64,
    /// Number of its name, or of the text of a field.
    pub text: Option<u32>,
}

/// The tracks of devices, if none of them is a stream of kernels: the order of launches tells the
/// steps of kernels, so their slices alone are not enough.
#[must_use]
pub fn device_tracks_without_launches<B: Bytes>(segment: &Segment<B>) -> Vec<DeviceTrack> {
    if slice_tracks(segment, |role| role == Role::Kernels).next().is_some() {
        return Vec::new();
    }
    slice_tracks(segment, is_device_work).map(|(track, table)| DeviceTrack { track, table }).collect()
}

/// Hands the slices of a track to `each`, by start. Their text is that of the first of `fields`
/// that a row has, or their name without fields.
pub fn each_device_slice<B: Bytes>(
    segment: &Segment<B>,
    of: DeviceTrack,
    fields: Option<[&str; 2]>,
    cancel: Cancel<'_>,
    each: &mut dyn FnMut(StoredSlice),
) -> Result<()> {
    let DeviceTrack { track, table } = of;
    let columns = fields.map(|fields| FieldColumns::of(segment, table, fields));
    for block in segment.blocks_of(track)? {
        cancel.check()?;
        let mut core = BlockReader::new(segment, table, block)?;
        let starts = core.core_ints(ColumnRole::Start)?;
        let durations = core.core_ints(ColumnRole::Duration)?;
        let forms = core.core_ints(ColumnRole::Form)?;
        let names = core.core_ints(ColumnRole::Name)?;
        let texts = columns.as_ref().map(|columns| columns.block(segment, block)).transpose()?;
        for at in 0..starts.len() {
            if forms[at] != i64::from(SliceForm::Complete.code()) {
                continue;
            }
            let text = match &texts {
                Some(texts) => texts.code(0, at).or_else(|| texts.code(1, at)),
                None => u32::try_from(names[at]).ok(),
            };
            let end_ps = starts[at].saturating_add(durations[at].max(0));
            each(StoredSlice { start_ps: starts[at], end_ps, text });
        }
    }
    Ok(())
}
