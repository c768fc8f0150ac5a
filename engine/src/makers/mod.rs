//! Tables, tracks, words and metrics of the profiles of each maker, in a folder of its own.
//! Importers, metrics and exports use these definitions.

#[macro_use]
pub mod table;

pub mod aiu;
mod call_book;
mod call_columns;
mod class_times;
mod collective_points;
mod columns;
mod defined_metric;
mod device_slices;
mod device_time;
pub mod job;
pub mod kineto;
mod marked_field;
mod metric_groups;
pub mod neuron;
mod power;
mod row_texts;
mod rows;
mod short_names;
mod summary_layout;
mod summary_target;
mod time_partition;
mod window_rows;
mod work_reader;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::base::{Interval, Result};
use crate::exec::{Cancel, Work};
use crate::metrics::{DeviceMetrics, MetricScope, RankMeasures, RankMetrics, TrackTimes, trace};
use crate::model::{FlopLoad, MarkKind, PowerCounter, RankCalls, RankWork, Role, TrackId, WorkMark};
use crate::segment::{Bytes, Segment};
use crate::tile::TileId;

pub use call_book::CallIds;
pub(crate) use call_columns::FieldColumns;
pub use defined_metric::defined_metrics;
pub use device_slices::{DeviceTrack, StoredSlice, device_tracks_without_launches, each_device_slice};
pub(crate) use device_time::{IntervalList, Union, joined};
pub(crate) use neuron::{HLO_FIELDS, LAYER_FIELDS, SOURCE_FIELDS};
pub use row_texts::{TextsOfRows, field_texts};
pub use rows::FieldCell;
pub use short_names::SHORT_NAMES;
pub use summary_layout::{CardRow, SummaryCard, SummaryLayout, TimePart, TimeShare};
pub use summary_target::{SummaryTarget, summary_target};

/// Facts about a maker that need no segment.
struct MakerFacts {
    /// Value of [`crate::model::RankInfo::source`] of its segments.
    source: &'static str,
    /// The heading over a table, if it is not that of all traces.
    heading: fn(&str) -> Option<&'static str>,
    /// Colours that names have in all profiles, if the maker fixes them.
    colours: Option<fn() -> Vec<KindColour>>,
    /// The tool whose output exports repeat.
    imitated: Option<Tool>,
    /// The metrics that a reader looks at first.
    layout: SummaryLayout,
}

/// How segments of a maker are read. The functions expect a segment of the maker.
struct Maker<B> {
    /// All metrics of a rank, in display order.
    metrics: fn(&Segment<B>, &MetricScope, Work<'_>) -> Result<RankMetrics>,
    /// The collective operations of a rank; see [`collectives`].
    calls: fn(&Segment<B>, u32, CallIds, Cancel<'_>) -> Result<RankCalls>,
    /// The floating-point operations of a rank over time; see [`collectives`].
    flops: fn(&Segment<B>, Cancel<'_>) -> Result<FlopLoad>,
    /// The host on which a rank ran, if its trace states it.
    host: fn(&Segment<B>, Cancel<'_>) -> Result<Option<String>>,
    /// The name of the devices of a rank; see [`device_name`].
    device: fn(&Segment<B>, Cancel<'_>) -> Result<Option<String>>,
    /// The work of a rank; see [`work`].
    work: fn(&Segment<B>, Work<'_>) -> Result<RankWork>,
    /// The line of source of a row; see [`source_line`].
    source: fn(&Segment<B>, u32) -> Result<Option<String>>,
    /// The counters of power of a rank; see [`power()`].
    power: fn(&Segment<B>, Cancel<'_>) -> Result<Vec<PowerCounter>>,
    /// The marks of a rank; see [`marks`].
    marks: fn(&Segment<B>, Cancel<'_>) -> Result<Vec<WorkMark>>,
    /// Measurements of a rank; see [`measures`].
    measures: fn(&Segment<B>, u32, Cancel<'_>) -> Result<RankMeasures>,
    /// The limits of a track; see [`limits`].
    limits: fn(&Segment<B>, TrackId, TileId, Cancel<'_>) -> LimitsOfTrack,
}

/// The limits of a track, if it shows limits.
type LimitsOfTrack = Result<Option<Vec<PeakLimit>>>;

/// The colour of a kind of slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KindColour {
    /// Name of the kind.
    pub kind: &'static str,
    /// Number of the colour.
    pub slot: u8,
}

/// A tool of a maker whose output scripts read. Exports of its profiles repeat this output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// `neuron-profile` of AWS.
    NeuronProfile,
}

/// Hands the makers to a macro: a maker is a name here and a folder. All other traces are read in
/// the words of PyTorch, which many tools share.
macro_rules! makers {
    ($use:ident $($rest:tt)*) => {
        $use! { [neuron aiu job] kineto $($rest)* }
    };
}

macro_rules! table_of_facts {
    ([$($maker:ident)*] $other:ident) => {
        impl MakerFacts {
            const ALL: &'static [Self] = &[$($maker::FACTS),*];
            const OTHER: &'static Self = &$other::FACTS;
        }
    };
}

makers!(table_of_facts);

/// A function of the maker of a segment. Each is looked up apart from the others: a program that
/// asks for one does not carry the code of all.
macro_rules! function_of_maker {
    ([$($maker:ident)*] $other:ident, $function:ident, $segment:ident: $bytes:ident) => {
        match $segment.footer().rank.source.as_str() {
            $(source if source == $maker::FACTS.source => const { $maker::maker::<$bytes>().$function },)*
            _ => const { $other::maker::<$bytes>().$function },
        }
    };
}

impl MakerFacts {
    /// The facts of the maker of segments with this source.
    fn of(source: &str) -> &'static Self {
        Self::ALL.iter().find(|maker| maker.source == source).unwrap_or(Self::OTHER)
    }

    /// Facts that hold for any trace.
    const fn any(source: &'static str) -> Self {
        Self { source, heading: |_| None, colours: None, imitated: None, layout: summary_layout::ANY }
    }
}

impl<B: Bytes> Maker<B> {
    /// Functions that hold for any trace.
    const fn any() -> Self {
        Self {
            metrics: kineto::metrics::read,
            calls: |segment, _, ids, cancel| kineto::collectives::read(segment, ids, cancel),
            flops: kineto::metrics::flops_over_time,
            host: |_, _| Ok(None),
            device: kineto::device_name::read,
            work: kineto::work::read,
            source: |_, _| Ok(None),
            power: power::read,
            marks: kineto::marks::read,
            measures: |segment, rank, cancel| {
                let kernels = kineto::metrics::kernel_fill(segment, rank, cancel)?;
                Ok(RankMeasures { kernels, ..RankMeasures::default() })
            },
            limits: |_, _, _, _| Ok(None),
        }
    }
}

/// All metrics of a rank or of a part of it, in display order.
pub fn metrics<B: Bytes>(segment: &Segment<B>, scope: &MetricScope, work: Work<'_>) -> Result<RankMetrics> {
    let mut metrics = makers!(function_of_maker, metrics, segment: B)(segment, scope, work)?;
    // The totals come first, their parts next. The job itself has shares of all ranks instead.
    if !job::is_job(segment.footer()) {
        let groups = &mut metrics.groups;
        // Metrics that read all rows anyway divide the time as well.
        let time = match metrics.time.take() {
            Some(time) => Some(time),
            None => time_partition::group(segment, scope, work)?,
        };
        let at = groups.iter().position(|group| group.key.starts_with("overall")).map_or(0, |at| at + 1);
        groups.splice(at..at, time);
        let tracks = match metrics.tracks.take() {
            Some(tracks) => tracks,
            None => TrackTimes::read(segment, scope, work)?,
        };
        metrics.tables.extend(tracks.table(segment));
        metrics.absent.extend(tracks.absent());
    }
    Ok(metrics)
}

/// The collective operations of a rank, by the typed identities of tracks and by fields, and what
/// it computed meanwhile. Empty if the trace has none.
pub fn collectives<B: Bytes>(
    segment: &Segment<B>,
    rank: u32,
    ids: CallIds,
    cancel: Cancel<'_>,
) -> Result<RankCalls> {
    let mut calls = makers!(function_of_maker, calls, segment: B)(segment, rank, ids, cancel)?;
    let span = trace::span(segment);
    calls.recorded_ps = (span.start.0, span.end.0);
    calls.flops = makers!(function_of_maker, flops, segment: B)(segment, cancel)?;
    Ok(calls)
}

/// The work of a rank, for a replay: what ran on its devices, and which calls of the host launched
/// or awaited it. Empty if the trace has no such work.
pub fn work<B: Bytes>(segment: &Segment<B>, work: Work<'_>) -> Result<RankWork> {
    makers!(function_of_maker, work, segment: B)(segment, work)
}

/// The work of a rank as far as it tells steps: without kernels on streams and without marks of
/// steps, none has to be read.
pub fn work_of_steps<B: Bytes>(
    segment: &Segment<B>,
    marks: &[WorkMark],
    cancel: Cancel<'_>,
) -> Result<RankWork> {
    let has_kernels = || call_columns::slice_tracks(segment, |role| role == Role::Kernels).next().is_some();
    match marks.iter().any(|mark| mark.kind == MarkKind::Step) || has_kernels() {
        true => work(segment, Work { cancel, ..Work::IN_PLACE }),
        false => Ok(RankWork::default()),
    }
}

/// The work of a rank without a device: the operators of its threads, and its calls in operations,
/// whose rows are `calls`.
pub fn host_work<B: Bytes>(segment: &Segment<B>, calls: &[u32], cancel: Cancel<'_>) -> Result<RankWork> {
    kineto::host_work::read(segment, calls, cancel)
}

/// The innermost operator of a framework around each of these rows of calls of the host, which
/// launch work. Rows outside of operators are not listed.
pub fn operators_of_launches<B: Bytes>(
    segment: &Segment<B>,
    launches: &FxHashSet<u32>,
    cancel: Cancel<'_>,
) -> Result<TextsOfRows> {
    kineto::metrics::operators_of_launches(segment, launches, cancel)
}

/// Whether kernels of this name communicate with other ranks.
#[must_use]
pub fn communicates(name: &str) -> bool {
    kineto::class_on_device(name, "kernel") == kineto::KinetoClass::Collective
}

/// The metrics of a rank by name, in seconds and bytes, as values. `None` if its device has no
/// engines with metrics.
#[must_use]
pub fn device_metrics(source: &str, rank: u32, values: &FxHashMap<String, f64>) -> Option<DeviceMetrics> {
    let is_neuron = imitated_tool(source) == Some(Tool::NeuronProfile);
    if is_neuron { neuron::metrics::device_metrics(rank, values) } else { None }
}

/// Measurements of a rank beside its metrics: kernels that leave a device empty, the use of arrays,
/// and errors of the hardware, on the clock of the segment.
pub fn measures<B: Bytes>(segment: &Segment<B>, rank: u32, cancel: Cancel<'_>) -> Result<RankMeasures> {
    makers!(function_of_maker, measures, segment: B)(segment, rank, cancel)
}

/// The lines of source that the rows of work of a rank come from.
pub fn source_lines<B: Bytes>(segment: &Segment<B>, cancel: Cancel<'_>) -> Result<TextsOfRows> {
    field_texts(segment, SOURCE_FIELDS, cancel)
}

/// The file and line of source that a row of a rank comes from, if its trace states them.
pub fn source_line<B: Bytes>(segment: &Segment<B>, row: u32) -> Result<Option<String>> {
    makers!(function_of_maker, source, segment: B)(segment, row)
}

/// The counters of power of a rank. Empty if its trace has none.
pub fn power<B: Bytes>(segment: &Segment<B>, cancel: Cancel<'_>) -> Result<Vec<PowerCounter>> {
    makers!(function_of_maker, power, segment: B)(segment, cancel)
}

/// The marks that the program of a rank drew over its work, by start. Empty if it drew none.
pub fn marks<B: Bytes>(segment: &Segment<B>, cancel: Cancel<'_>) -> Result<Vec<WorkMark>> {
    makers!(function_of_maker, marks, segment: B)(segment, cancel)
}

/// The passes of a rank through its program: how often the layer that comes most often does. 1 if
/// no layers are marked.
pub fn passes<B: Bytes>(segment: &Segment<B>, cancel: Cancel<'_>) -> Result<u32> {
    let mut counts: FxHashMap<String, u32> = FxHashMap::default();
    for mark in marks(segment, cancel)?.into_iter().filter(|mark| mark.kind == MarkKind::Layer) {
        *counts.entry(mark.name).or_default() += 1;
    }
    Ok(counts.into_values().max().unwrap_or(1))
}

/// The host on which a rank ran, if its trace states it.
pub fn host<B: Bytes>(segment: &Segment<B>, cancel: Cancel<'_>) -> Result<Option<String>> {
    makers!(function_of_maker, host, segment: B)(segment, cancel)
}

/// The name of the devices of a rank, as a maker sells them, if its trace states it.
pub fn device_name<B: Bytes>(segment: &Segment<B>, cancel: Cancel<'_>) -> Result<Option<String>> {
    makers!(function_of_maker, device, segment: B)(segment, cancel)
}

/// Colours that names have in all profiles of this source. `None` if each profile has its own.
#[must_use]
pub fn colours(source: &str) -> Option<Vec<KindColour>> {
    MakerFacts::of(source).colours.map(|colours| colours())
}

/// The arrangement of the summaries of profiles of this source.
#[must_use]
pub fn summary_layout(source: &str) -> &'static SummaryLayout {
    &MakerFacts::of(source).layout
}

/// The arrangement of the summary of all ranks of a job together.
#[must_use]
pub fn summary_layout_of_job() -> &'static SummaryLayout {
    summary_layout(job::SOURCE)
}

/// The tool whose output exports of profiles of this source repeat.
#[must_use]
pub fn imitated_tool(source: &str) -> Option<Tool> {
    MakerFacts::of(source).imitated
}

/// The name of a metric for people, if its exported name misleads.
#[must_use]
pub fn shown_name_of_metric(name: &str) -> Option<String> {
    neuron::metrics::shown_name(name)
}

/// Whether a metric of a ratio is a limit: no part of the time or of a whole.
#[must_use]
pub fn is_limit(metric: &str) -> bool {
    neuron::metrics::is_limit(metric)
}

/// A period in which a device may use only a part of its peak.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PeakLimit {
    /// The period, or the cell whose short periods are summed up.
    pub span: Interval,
    /// Number of the name of the period, of the longest one of several.
    pub name: u32,
    /// Its row.
    pub row: u32,
    /// Share of the peak that is allowed, from 0 to 1.
    pub share: f32,
    /// Part of the span in which the limit holds, from 0 to 1.
    pub part: f32,
}

/// The limits of a track in the span of a tile, by start. `None` if the track does not show limits.
/// Time without a limit is not listed.
pub fn limits<B: Bytes>(
    segment: &Segment<B>,
    track: TrackId,
    id: TileId,
    cancel: Cancel<'_>,
) -> Result<Option<Vec<PeakLimit>>> {
    makers!(function_of_maker, limits, segment: B)(segment, track, id, cancel)
}

/// The heading over a table in lists of tables, e.g. "Device".
#[must_use]
pub fn table_group(source: &str, table: &str) -> &'static str {
    (MakerFacts::of(source).heading)(table).unwrap_or("Trace")
}
