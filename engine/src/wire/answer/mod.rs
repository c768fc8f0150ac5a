//! Answers: each message is computed from a rank by one call that server and page share. All times
//! are the rank's own.

mod regions;
mod search;
mod totals;

use rustc_hash::FxHashMap;

pub use regions::regions;
pub use search::{light, search};
pub use totals::{activity, selection, summary, waits};

use super::allowance::AnswerAllowance;
use super::catalog::{
    Field, NameSlot, RankDetail, RankEntry, Table, TileGroup, Track, TrackKind, WarningEntry,
};
use super::counter::{CounterDetail, CounterSample, CounterTotals};
use super::detail::{
    FieldContent, FieldValue, Neighbour, OperationMember, OperationTransfer, SliceDetail, SliceEntry,
};
use super::selection::Side;
use super::tile::{Content, Tile, TileCell, TileLane, TileLimit, TileRange, TileSample, TileSlice};
use super::window::WindowEvents;
use crate::analysis::job_segment::{self, CallWaits, MemberCall, OperationSend, Sense};
use crate::base::{Error, Interval, Result};
use crate::exec::{Cancel, Work};
use crate::makers::{self, job};
use crate::model::track::Initially;
use crate::model::{self, NameId, OwnedValue, TrackId};
use crate::query::{self, SliceAt, StepDirection};
use crate::rank::RankView;
use crate::segment::{Bytes, Segment, SliceArrow};
use crate::tile::{self, LaneContent, TileId};

/// All data that the page needs to lay out a rank. `names` and `later` do not come from the
/// segment. `later` has the warnings that came up after the segment was written.
pub fn rank_detail<B: Bytes>(
    rank: RankView<'_, B>,
    entry: RankEntry,
    names: &[NameSlot],
    later: impl IntoIterator<Item = WarningEntry>,
) -> Result<RankDetail> {
    let segment = rank.segment;
    let footer = segment.footer();
    let (groups, order) = tile::groups(footer);
    let group_of: FxHashMap<TrackId, u32> = (0..)
        .zip(&groups)
        .flat_map(|(id, group)| group.tracks.iter().map(move |&track| (track, id)))
        .collect();
    let tracks = order.iter().map(|&id| {
        let track = &footer.tracks[id.0 as usize];
        Track {
            id: id.0,
            parent: track.spec.parent.map(|parent| parent.0),
            name: track.spec.name.clone(),
            kind: match track.spec.kind {
                model::TrackContent::Group => TrackKind::Group,
                model::TrackContent::Slices(..) => TrackKind::Slices,
                model::TrackContent::Counter(_) => TrackKind::Counter,
            },
            lanes: track.lanes,
            rows: u64::from(track.rows),
            group: group_of.get(&id).copied(),
            value_range: track.value_range,
            unit: track.spec.unit.symbol().to_owned(),
            initially_closed: track.spec.initially == Initially::Closed,
            rank: job::subject_of(footer, id),
            is_auxiliary: track.spec.identity.role.is_auxiliary(),
            is_annotation: track.spec.identity.role == model::Role::Annotations,
            is_state: track.spec.identity.role.is_state(),
            side: track.spec.identity.role.side().map(Side::from),
        }
    });
    Ok(RankDetail {
        entry,
        tracks: tracks.collect(),
        groups: (0..)
            .zip(&groups)
            .map(|(id, group)| TileGroup { id, tracks: group.tracks.iter().map(|track| track.0).collect() })
            .collect(),
        tables: tables(segment)?,
        warnings: footer.warnings.iter().map(WarningEntry::from).chain(later).collect(),
        origin_unix_ns: footer.rank.origin_unix_ns,
        // Tracks are shown even if the table with the name is damaged.
        device_name: makers::device_name(segment, Cancel::NEVER).ok().flatten(),
        names: match makers::colours(&footer.rank.source) {
            Some(colours) => {
                colours.into_iter().map(|of| NameSlot { kind: of.kind.to_owned(), slot: of.slot }).collect()
            }
            None => names.to_vec(),
        },
    })
}

fn tables<B>(segment: &Segment<B>) -> Result<Vec<Table>>
where
    B: Bytes,
{
    let footer = segment.footer();
    let table = |(id, meta): (u16, &crate::segment::TableMeta)| -> Result<Table> {
        Ok(Table {
            name: meta.spec.name.clone(),
            kind: meta.spec.kind,
            group: makers::table_group(&footer.rank.source, &meta.spec.name).to_owned(),
            rows: u64::from(meta.rows),
            waits: job::waits_in(segment, meta)?,
            doc: meta.spec.doc.clone(),
            fields: footer
                .fields
                .iter()
                .filter(|(of, _)| of.0 == id)
                .map(|(_, field)| Field {
                    name: field.name.clone(),
                    unit: field.unit.symbol().to_owned(),
                    group: field.group.clone(),
                    doc: field.doc.clone(),
                })
                .collect(),
        })
    };
    (0..).zip(&footer.tables).map(table).collect()
}

/// A tile.
///
/// # Errors
/// `Invalid` if there is no such group; `Cancelled` if the work was cancelled; otherwise if bytes
/// are missing or damaged.
pub fn tile<B: Bytes>(rank: RankView<'_, B>, id: TileId, work: Work<'_>) -> Result<Tile> {
    let segment = rank.segment;
    let (groups, _) = tile::groups(segment.footer());
    let group =
        groups.get(id.group as usize).ok_or(Error::Invalid { what: "the group of tracks does not exist" })?;
    let mut texts = TileTexts { segment, names: Vec::new(), waits: Vec::new(), known: FxHashMap::default() };
    let mut lanes = Vec::new();
    for &track in &group.tracks {
        if let Some(limits) = makers::limits(segment, track, id, work.cancel)? {
            lanes.extend(limits_lane(track, &limits, id, &mut texts)?);
            continue;
        }
        for lane in tile::cut(segment, track, id, work.cancel)? {
            let content = content_of(lane.content, id, &mut texts)?;
            lanes.push(TileLane { track: track.0, lane: lane.lane, content });
        }
    }
    let start_ps = id.interval().start.0;
    Ok(Tile {
        version: super::VERSION,
        start_ps,
        cell_ps: id.level.cell_ps(),
        names: texts.names,
        waits: texts.waits,
        lanes,
    })
}

/// Numbers the texts of one tile.
struct TileTexts<'a, B> {
    segment: &'a Segment<B>,
    names: Vec<String>,
    waits: Vec<u32>,
    known: FxHashMap<u32, u32>,
}

impl<B: Bytes> TileTexts<'_, B> {
    fn number(&mut self, name: u32) -> Result<u32> {
        if let Some(&number) = self.known.get(&name) {
            return Ok(number);
        }
        let number =
            u32::try_from(self.names.len()).map_err(|_| Error::Invalid { what: "too many names" })?;
        self.names.push(self.segment.text(NameId(name))?.to_owned());
        self.known.insert(name, number);
        if self.segment.footer().waits.contains(name) {
            self.waits.push(number);
        }
        Ok(number)
    }
}

/// The lane of a track of limits. `None` without a limit.
fn limits_lane<B: Bytes>(
    track: TrackId,
    limits: &[makers::PeakLimit],
    id: TileId,
    texts: &mut TileTexts<'_, B>,
) -> Result<Option<TileLane>> {
    let start_ps = id.interval().start.0;
    let limit = |of: &makers::PeakLimit| {
        Ok(TileLimit {
            start_ps: of.span.start.0.saturating_sub(start_ps),
            duration_ps: of.span.duration_ps(),
            row: of.row,
            name: texts.number(of.name)?,
            share: of.share,
            part: of.part,
        })
    };
    let limits = limits.iter().map(limit).collect::<Result<Vec<_>>>()?;
    let has_limits = !limits.is_empty();
    let content = Content::Limits(limits);
    Ok(has_limits.then_some(TileLane { track: track.0, lane: 0, content }))
}

fn content_of<B: Bytes>(content: LaneContent, id: TileId, texts: &mut TileTexts<'_, B>) -> Result<Content> {
    let start_ps = id.interval().start.0;
    let first = id.level.cell_of(id.interval().start);
    let cell_of = |index: i64| u32::try_from(index - first).unwrap_or_default();
    Ok(match content {
        LaneContent::Slices(slices) => {
            let slices = slices.iter().map(|slice| {
                Ok(TileSlice {
                    start_ps: slice.start_ps - start_ps,
                    duration_ps: slice.duration_ps,
                    row: slice.row,
                    name: texts.number(slice.name)?,
                    form: slice.form,
                })
            });
            Content::Slices(slices.collect::<Result<_>>()?)
        }
        LaneContent::SliceCells(cells) => {
            let cells = cells.iter().map(|cell| {
                Ok(TileCell {
                    cell: cell_of(cell.index),
                    busy_ps: cell.content.busy_ps,
                    wait_ps: cell.content.wait_ps,
                    count: cell.content.count,
                    name: texts.number(cell.content.name)?,
                    longest_row: cell.content.longest_row,
                    longest_ps: cell.content.longest_ps,
                })
            });
            Content::Cells(cells.collect::<Result<_>>()?)
        }
        LaneContent::Samples(samples) => Content::Samples(
            samples
                .iter()
                .map(|s| TileSample { time_ps: s.time_ps - start_ps, value: s.value, row: s.row })
                .collect(),
        ),
        LaneContent::Ranges(cells) => Content::Ranges(
            cells
                .iter()
                .map(|cell| TileRange {
                    cell: cell_of(cell.index),
                    min: cell.content.min,
                    max: cell.content.max,
                    last: cell.content.last,
                })
                .collect(),
        ),
    })
}

/// A slice with all its fields and neighbours.
///
/// # Errors
/// `Invalid` if the row is not a slice; `Cancelled` if the work was cancelled; otherwise if bytes
/// are missing or damaged.
pub fn slice<B: Bytes>(rank: RankView<'_, B>, row: u32, work: Work<'_>) -> Result<SliceDetail> {
    let (segment, left) = (rank.segment, AnswerAllowance::of_answer());
    let at = query::slice::read(segment, row)?;
    let fields = query::fields::read(segment, row)?.into_iter().map(|(id, value)| {
        let (table, spec) = &segment.footer().fields[id.0 as usize];
        let before = segment.footer().fields[..id.0 as usize].iter().filter(|(of, _)| of == table).count();
        FieldValue {
            field: u32::try_from(before).unwrap_or_default(),
            name: spec.name.clone(),
            unit: spec.unit.symbol().to_owned(),
            group: spec.group.clone(),
            doc: spec.doc.clone(),
            value: content(value),
        }
    });
    let neighbour = |flow: &str, other: u32| {
        work.cancel.check()?;
        let slice = entry(segment, &query::slice::read(segment, other)?, &left)?;
        Ok(Neighbour { flow: left.text(flow)?, slice })
    };
    let stored = |arrows: Vec<SliceArrow>, end: fn(&SliceArrow) -> u32| -> Result<Vec<Neighbour>> {
        arrows.iter().map(|arrow| neighbour(segment.text(arrow.name)?, end(arrow))).collect()
    };
    let mut detail = SliceDetail {
        fields: fields.collect(),
        predecessors: stored(segment.arrows_to(row)?, |arrow| arrow.from)?,
        successors: stored(segment.arrows_from(row)?, |arrow| arrow.to)?,
        slice: entry(segment, &at, &left)?,
        members: Vec::new(),
        transfers: Vec::new(),
    };
    if let Some(derived) = job_segment::of_row(segment, row)? {
        detail.fields.extend(derived.call.iter().flat_map(derived_fields));
        detail.fields.extend(algorithm_field(derived.algorithm));
        detail.members = derived.members.iter().map(member).collect();
        detail.transfers = derived.sends.iter().map(transfer).collect();
        for &wait in &derived.waiting {
            detail.predecessors.push(neighbour(ARRIVAL, wait)?);
        }
        if let Some(awaited) = derived.awaited {
            detail.successors.push(neighbour(ARRIVAL, awaited)?);
        }
    }
    Ok(detail)
}

/// Name of the arrows from the waits of an operation to the call that ended them.
const ARRIVAL: &str = "arrival";

/// Fields that follow from other calls. Their numbers come after those of the stored fields.
fn derived_fields(of: &CallWaits) -> impl Iterator<Item = FieldValue> + use<> {
    let fields = job::schema::DERIVED.iter().zip([of.late_ps, of.wait_ps, of.blame_ps]);
    fields.enumerate().map(|(at, (field, value))| derived_field(at, field, FieldContent::Int(value)))
}

/// The algorithm of a call's operation. `None` without a text.
fn algorithm_field(text: String) -> Option<FieldValue> {
    let at = job::schema::DERIVED.len();
    let field = || derived_field(at, &job::schema::ALGORITHM, FieldContent::Text(text.clone()));
    (!text.is_empty()).then(field)
}

fn derived_field(at: usize, field: &makers::table::FieldSchema, value: FieldContent) -> FieldValue {
    let first = job::schema::CALLS.fields.len();
    FieldValue {
        field: u32::try_from(first + at).unwrap_or_default(),
        name: field.name.to_owned(),
        unit: field.unit.symbol().to_owned(),
        group: field.group.to_owned(),
        doc: field.doc.to_owned(),
        value,
    }
}

fn member(of: &MemberCall) -> OperationMember {
    let MemberCall { rank, row, call, start_ps, wait_ps, end_ps, is_awaited } = *of;
    OperationMember { rank, row, call, start_ps, wait_ps, end_ps, is_awaited }
}

fn transfer(of: &OperationSend) -> OperationTransfer {
    let OperationSend { row, from, to, sent_ps, received_ps } = *of;
    OperationTransfer { row, from, to, sent_ps, received_ps }
}

/// Converts a value for messages.
#[must_use]
pub fn content(value: OwnedValue) -> FieldContent {
    match value {
        OwnedValue::Int(v) => FieldContent::Int(v),
        OwnedValue::Uint(v) => FieldContent::Uint(v),
        OwnedValue::Float(v) => FieldContent::Float(v),
        OwnedValue::Bool(v) => FieldContent::Bool(v),
        OwnedValue::Text(v) => FieldContent::Text(v),
        OwnedValue::Json(v) => FieldContent::Json(v),
    }
}

fn entry<B: Bytes>(segment: &Segment<B>, at: &SliceAt, left: &AnswerAllowance) -> Result<SliceEntry> {
    left.take(size_of::<SliceEntry>())?;
    Ok(SliceEntry {
        row: at.slice.row,
        track: at.track.0,
        lane: at.slice.lane,
        depth: at.slice.depth,
        name: left.text(segment.text(at.name())?)?,
        start_ps: at.slice.start_ps,
        duration_ps: at.slice.duration_ps,
        form: at.slice.form,
    })
}

/// Target of a step from a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepTo {
    /// The slice beside it.
    Slice(StepDirection),
    /// The operation before or after its own one, of the same communicator and kind: in what all
    /// ranks show together.
    Operation(Sense),
}

/// The slice to which a step leads; `None` if there is none. Tracks below the groups in `closed`
/// are skipped.
pub fn step<B: Bytes>(
    rank: RankView<'_, B>,
    row: u32,
    to: StepTo,
    closed: &[u32],
    work: Work<'_>,
) -> Result<Option<SliceDetail>> {
    let closed: Vec<TrackId> = closed.iter().copied().map(TrackId).collect();
    let found = match to {
        StepTo::Slice(direction) => {
            query::neighbour::step(rank.segment, row, direction, &closed, work.cancel)?.map(|at| at.slice.row)
        }
        StepTo::Operation(sense) => job_segment::beside(rank.segment, row, sense)?,
    };
    found.map(|row| slice(rank, row, work)).transpose()
}

/// The values of a counter at a time and over a span.
///
/// # Errors
/// `Invalid` if the track is not a counter; otherwise if bytes are missing or damaged.
pub fn counter<B: Bytes>(
    rank: RankView<'_, B>,
    track: u32,
    moment: i64,
    span: Interval,
    work: Work<'_>,
) -> Result<CounterDetail> {
    let at = query::counter::at(rank.segment, TrackId(track), moment)?;
    let over = query::counter::over(rank.segment, TrackId(track), span, work.cancel)?;
    let sample = |sample: tile::LaneSample| CounterSample { time_ps: sample.time_ps, value: sample.value };
    Ok(CounterDetail {
        track,
        sample: at.sample.map(sample),
        before: at.before.map(sample),
        span: over.map(|over| CounterTotals {
            samples: over.samples,
            min: over.min,
            max: over.max,
            mean: over.mean,
        }),
    })
}

/// The slices that overlap a window, on all tracks or on the requested ones.
pub fn window<B: Bytes>(
    rank: RankView<'_, B>,
    window: Interval,
    tracks: Option<&[u32]>,
    limit: usize,
    work: Work<'_>,
) -> Result<WindowEvents> {
    let (segment, left) = (rank.segment, AnswerAllowance::of_answer());
    let tracks = tracks_of(segment, tracks);
    let (found, truncated) = query::slice::window(segment, &tracks, window, limit, work.cancel)?;
    let slices = found.iter().map(|found| entry(segment, found, &left));
    Ok(WindowEvents { slices: slices.collect::<Result<_>>()?, truncated })
}

fn tracks_of<B: Bytes>(segment: &Segment<B>, wanted: Option<&[u32]>) -> Vec<TrackId> {
    let wanted: Option<Vec<TrackId>> = wanted.map(|ids| ids.iter().copied().map(TrackId).collect());
    query::slice::tracks(segment, wanted.as_deref())
}
