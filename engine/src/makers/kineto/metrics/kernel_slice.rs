//! The kernels, copies and fills of a rank's devices, with the calls that launched them.

use rustc_hash::FxHashMap;

use super::super::{ARGUMENTS, CATEGORY, CORRELATION, KinetoClass, class_on_device};
use crate::base::{Interval, Result};
use crate::exec::Work;
use crate::makers::call_columns::{FieldColumns, slice_tracks};
use crate::metrics::trace::track_path;
use crate::model::{NameId, Role, SliceForm, TableId, TrackId};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// Fields with the bandwidth of a copy or fill, in GB/s.
const BANDWIDTHS: [&str; 2] = ["memory bandwidth (GB/s)", "Memory bandwidth (GB/s)"];
/// Field with the bytes of a copy or fill.
const BYTES: &str = "bytes";

/// The call of the host that launched work. Times are in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LaunchCall {
    pub(super) start_ps: i64,
    pub(super) end_ps: i64,
}

/// A slice of a device. Times are in picoseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct KernelSlice {
    pub(super) start_ps: i64,
    pub(super) end_ps: i64,
    pub(super) class: KinetoClass,
    /// Number of the name.
    pub(super) name: u32,
    pub(super) launch: Option<LaunchCall>,
    /// Bytes a second of a copy or fill.
    pub(super) bandwidth: Option<f64>,
    /// Bytes of a copy or fill.
    pub(super) bytes: Option<i64>,
    /// Number that it shares with the call that launched it.
    pub(super) correlation: Option<i64>,
}

impl KernelSlice {
    /// Time of the slice that lies in a window.
    pub(super) fn duration_ps(&self) -> i64 {
        self.end_ps.saturating_sub(self.start_ps).max(0)
    }
}

/// The slices of a stream, by start.
#[derive(Debug)]
pub(super) struct StreamSlices {
    /// Name of the device and the stream.
    pub(super) name: String,
    pub(super) slices: Vec<KernelSlice>,
}

/// A track with slices, and its table.
#[derive(Debug, Clone, Copy)]
pub(super) struct SliceTrack {
    pub(super) track: TrackId,
    pub(super) table: TableId,
}

impl SliceTrack {
    /// The tracks of a role.
    pub(super) fn all<B: Bytes>(segment: &Segment<B>, wanted: Role) -> Vec<Self> {
        slice_tracks(segment, |role| role == wanted).map(|(track, table)| Self { track, table }).collect()
    }
}

/// The classes of kernels by the numbers of name and category, each looked up once.
#[derive(Debug, Default)]
struct KernelClasses(FxHashMap<(u32, Option<u32>), KinetoClass>);

impl KernelClasses {
    fn of<B: Bytes>(
        &mut self,
        segment: &Segment<B>,
        name: u32,
        category: Option<u32>,
    ) -> Result<KinetoClass> {
        if let Some(known) = self.0.get(&(name, category)) {
            return Ok(*known);
        }
        let of_category = category.map_or(Ok(""), |code| segment.text(NameId(code)))?;
        let class = class_on_device(segment.text(NameId(name))?, of_category);
        self.0.insert((name, category), class);
        Ok(class)
    }
}

/// Reads the slices of all streams that reach into a window. Waits and annotations are no work.
pub(super) fn read<B: Bytes>(
    segment: &Segment<B>,
    window: Option<Interval>,
    work: Work<'_>,
) -> Result<Vec<StreamSlices>> {
    let tracks = SliceTrack::all(segment, Role::Kernels);
    let mut streams = work.gather(tracks.len(), |at| stream(segment, tracks[at], window, work))?;
    streams.retain(|stream| !stream.slices.is_empty());
    let mut launches: FxHashMap<i64, Option<LaunchCall>> = FxHashMap::default();
    for slice in streams.iter().flat_map(|stream| &stream.slices) {
        launches.extend(slice.correlation.map(|id| (id, None)));
    }
    if !launches.is_empty() {
        let threads = SliceTrack::all(segment, Role::HostThread);
        let found = work.gather(threads.len(), |at| calls(segment, threads[at], &launches, work))?;
        for (correlation, call) in found.into_iter().flatten() {
            let known = launches.entry(correlation).or_default();
            // The outer one of two calls with the same number launches.
            *known = known.iter().copied().chain([call]).min_by_key(|call| (call.start_ps, -call.end_ps));
        }
    }
    for slice in streams.iter_mut().flat_map(|stream| &mut stream.slices) {
        slice.launch = slice.correlation.and_then(|id| launches.get(&id).copied().flatten());
    }
    Ok(streams)
}

fn stream<B: Bytes>(
    segment: &Segment<B>,
    of: SliceTrack,
    window: Option<Interval>,
    work: Work<'_>,
) -> Result<StreamSlices> {
    let SliceTrack { track, table } = of;
    let columns = FieldColumns::of(
        segment,
        table,
        [ARGUMENTS[CATEGORY], ARGUMENTS[CORRELATION], BYTES, BANDWIDTHS[0], BANDWIDTHS[1]],
    );
    let waits = &segment.footer().waits;
    let mut classes = KernelClasses::default();
    let mut slices = Vec::new();
    let wanted = window.unwrap_or(Interval::new(i64::MIN, i64::MAX));
    for block in segment.blocks(table)?.overlapping(segment.blocks_of(track)?, wanted) {
        work.cancel.check()?;
        let mut core = BlockReader::new(segment, table, block)?;
        let starts = core.core_ints(ColumnRole::Start)?;
        let durations = core.core_ints(ColumnRole::Duration)?;
        let names = core.core_ints(ColumnRole::Name)?;
        let forms = core.core_ints(ColumnRole::Form)?;
        let fields = columns.block(segment, block)?;
        for at in 0..starts.len() {
            let (start_ps, end_ps) = (starts[at], starts[at].saturating_add(durations[at].max(0)));
            let is_inside = window.is_none_or(|window| start_ps < window.end.0 && end_ps > window.start.0);
            let is_complete = forms[at] == i64::from(SliceForm::Complete.code());
            if !is_inside || !is_complete || waits.contains_stored(names[at]) {
                continue;
            }
            let name = u32::try_from(names[at]).unwrap_or_default();
            let class = classes.of(segment, name, fields.code(0, at))?;
            if class == KinetoClass::Neither {
                continue;
            }
            let is_copy = class == KinetoClass::Copy;
            let of_copy = || fields.number(3, at).or_else(|| fields.number(4, at)).map(|gb| gb * 1e9);
            slices.push(KernelSlice {
                start_ps: window.map_or(start_ps, |window| start_ps.max(window.start.0)),
                end_ps: window.map_or(end_ps, |window| end_ps.min(window.end.0)),
                class,
                name,
                launch: None,
                bandwidth: is_copy.then(of_copy).flatten(),
                bytes: fields.int(2, at).filter(|_| is_copy),
                correlation: fields.int(1, at),
            });
        }
    }
    Ok(StreamSlices { name: track_path(segment, track), slices })
}

/// The calls of a thread with one of these correlations.
fn calls<B: Bytes>(
    segment: &Segment<B>,
    of: SliceTrack,
    wanted: &FxHashMap<i64, Option<LaunchCall>>,
    work: Work<'_>,
) -> Result<Vec<(i64, LaunchCall)>> {
    let SliceTrack { track, table } = of;
    let columns = FieldColumns::of(segment, table, [ARGUMENTS[CORRELATION]]);
    let mut found = Vec::new();
    for block in segment.blocks_of(track)? {
        work.cancel.check()?;
        let fields = columns.block(segment, block)?;
        let mut core = BlockReader::new(segment, table, block)?;
        let starts = core.core_ints(ColumnRole::Start)?;
        let durations = core.core_ints(ColumnRole::Duration)?;
        for at in 0..starts.len() {
            if let Some(id) = fields.int(0, at).filter(|id| wanted.contains_key(id)) {
                let end_ps = starts[at].saturating_add(durations[at].max(0));
                found.push((id, LaunchCall { start_ps: starts[at], end_ps }));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
impl KernelSlice {
    /// A slice of a drawing.
    pub(super) fn drawn(class: KinetoClass, start_ps: i64, end_ps: i64, launch: Option<LaunchCall>) -> Self {
        let (bandwidth, bytes, correlation) = (None, None, None);
        Self { start_ps, end_ps, class, name: 0, launch, bandwidth, bytes, correlation }
    }
}
