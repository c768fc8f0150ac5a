//! The events of one rank, track by track.

use std::collections::{HashMap, HashSet};

use nprof_engine::base::time::PS_PER_NS;
use nprof_engine::model::{
    FieldId, NameId, Nesting, OwnedValue, SliceForm, TableId, TableKind, TrackContent, TrackId, Unit,
};
use nprof_engine::native::SegmentFile;
use nprof_engine::query::{RowContent, RowOrder, TimedRow, for_each_timed};
use nprof_engine::segment::ArrowEnd;

use super::super::arrows::ArrowsAt;
use super::proto::{
    COUNTER, DebugAnnotation, INSTANT, InternedData, InternedText, SLICE_BEGIN, SLICE_END, TracePacket,
    TrackDescriptor, TrackEvent,
};
use super::{FIRST_TRACK_NUMBER, PacketSink, TraceRank, mixed};
use crate::export::{ExportChoices, RowFailure};

/// The field that Perfetto shows as the event's category.
const CATEGORY: &str = "cat";
/// The first number of tracks for lanes. It is above the numbers of all tracks that a segment can
/// have.
const FIRST_LANE_NUMBER: u64 = 1 << 33;

/// Writes the events of one rank.
pub(super) struct PerfettoEvents<'a, 'o> {
    segment: &'a SegmentFile,
    place: &'a TraceRank<'a>,
    /// The descriptors of all tracks, indexed by track number.
    tracks: &'a [TrackDescriptor],
    packets: &'a mut PacketSink<'o>,
    arrows: Option<(ArrowsAt<'a>, ArrowsAt<'a>)>,
    /// Names of events that were already sent in this sequence.
    names: HashSet<NameId>,
    /// Names of annotations that were already sent in this sequence.
    fields: HashSet<FieldId>,
    /// The track that is being written.
    track: Option<TrackId>,
    /// End timestamps of the track's open slices, innermost last.
    open: Vec<i64>,
    /// The Perfetto tracks of the track's lanes.
    lanes: HashMap<u32, u64>,
    /// Number of Perfetto tracks for lanes so far.
    lane_count: u64,
}

impl<'a, 'o> PerfettoEvents<'a, 'o> {
    pub(super) fn new(
        segment: &'a SegmentFile,
        place: &'a TraceRank<'a>,
        tracks: &'a [TrackDescriptor],
        choices: &ExportChoices,
        packets: &'a mut PacketSink<'o>,
    ) -> Result<Self, RowFailure> {
        let arrows = if choices.has_flows {
            Some((ArrowsAt::new(segment, ArrowEnd::From)?, ArrowsAt::new(segment, ArrowEnd::To)?))
        } else {
            None
        };
        Ok(Self {
            segment,
            place,
            tracks,
            packets,
            arrows,
            names: HashSet::new(),
            fields: HashSet::new(),
            track: None,
            open: Vec::new(),
            lanes: HashMap::new(),
            lane_count: 0,
        })
    }

    /// Writes all events.
    pub(super) fn write(mut self) -> Result<(), RowFailure> {
        let segment = self.segment;
        let tables = (0..).map(TableId).zip(&segment.footer().tables);
        let timed = tables.filter(|(_, table)| table.spec.kind != TableKind::Side && table.rows > 0);
        let timed: Vec<TableId> = timed.map(|(id, _)| id).collect();
        for_each_timed(segment, &timed, RowOrder::Track, |row| self.row(&row))?;
        self.leave()
    }

    fn row(&mut self, row: &TimedRow) -> Result<(), RowFailure> {
        if self.track != Some(row.track) {
            self.leave()?;
            self.track = Some(row.track);
        }
        let mut interned = InternedData::default();
        let mut event = TrackEvent::default();
        self.fields(row, &mut event, &mut interned)?;
        match row.content {
            RowContent::Sample { value } => {
                event.kind = Some(COUNTER);
                event.double_counter_value = Some(value);
                event.track_uuid = Some(self.uuid(row.track));
                self.event(row.start_ps, event, interned)
            }
            RowContent::Slice { duration_ps, name, form, lane } => {
                if self.names.insert(name) {
                    interned.event_names.push(interned_text(name.0, self.segment.text(name)?));
                }
                event.name_iid = Some(iid(name.0));
                exact(&mut event, row.start_ps, duration_ps);
                if form == SliceForm::Unfinished {
                    event.debug_annotations.push(DebugAnnotation {
                        name: Some("unfinished".to_owned()),
                        bool_value: Some(true),
                        ..DebugAnnotation::default()
                    });
                }
                self.flows(row, &mut event)?;
                if form == SliceForm::Instant {
                    event.kind = Some(INSTANT);
                    event.track_uuid = Some(self.uuid(row.track));
                    return self.event(row.start_ps, event, interned);
                }
                event.kind = Some(SLICE_BEGIN);
                self.slice(row, duration_ps, lane, event, interned)
            }
        }
    }

    /// Writes a slice: on the track itself if it nests there, else on a track of its lane.
    fn slice(
        &mut self,
        row: &TimedRow,
        duration_ps: i64,
        lane: u32,
        mut event: TrackEvent,
        interned: InternedData,
    ) -> Result<(), RowFailure> {
        let end_ps = row.start_ps.saturating_add(duration_ps);
        let calls = matches!(
            self.segment.footer().tracks[row.track.0 as usize].spec.kind,
            TrackContent::Slices(_, Nesting::Calls)
        );
        if calls {
            self.end_until(row.start_ps)?;
            if self.open.last().is_none_or(|&outer_end| outer_end >= end_ps) {
                self.open.push(end_ps);
                event.track_uuid = Some(self.uuid(row.track));
                return self.event(row.start_ps, event, interned);
            }
        }
        // The slices of a lane do not overlap, so they follow each other.
        let uuid = if !calls && lane == 0 { self.uuid(row.track) } else { self.lane(row.track, lane)? };
        event.track_uuid = Some(uuid);
        self.event(row.start_ps, event, interned)?;
        self.end(uuid, end_ps)
    }

    /// Ends the track's open slices that end at or before this timestamp, innermost first.
    fn end_until(&mut self, time_ps: i64) -> Result<(), RowFailure> {
        let Some(track) = self.track else { return Ok(()) };
        while let Some(end_ps) = self.open.pop_if(|end_ps| *end_ps <= time_ps) {
            self.end(self.uuid(track), end_ps)?;
        }
        Ok(())
    }

    fn leave(&mut self) -> Result<(), RowFailure> {
        self.end_until(i64::MAX)?;
        self.lanes.clear();
        self.track = None;
        Ok(())
    }

    fn end(&mut self, uuid: u64, end_ps: i64) -> Result<(), RowFailure> {
        let event = TrackEvent { kind: Some(SLICE_END), track_uuid: Some(uuid), ..TrackEvent::default() };
        self.event(end_ps, event, InternedData::default())
    }

    fn event(&mut self, time_ps: i64, event: TrackEvent, interned: InternedData) -> Result<(), RowFailure> {
        let is_empty = interned.event_names.is_empty() && interned.debug_annotation_names.is_empty();
        Ok(self.packets.write(TracePacket {
            timestamp: Some(self.place.ns(time_ps)),
            track_event: Some(event),
            interned_data: (!is_empty).then_some(interned),
            ..TracePacket::default()
        })?)
    }

    fn uuid(&self, track: TrackId) -> u64 {
        self.place.uuid(FIRST_TRACK_NUMBER + u64::from(track.0))
    }

    /// The Perfetto track of a lane. It has the same name and place as the lane's track.
    fn lane(&mut self, track: TrackId, lane: u32) -> Result<u64, RowFailure> {
        if let Some(&uuid) = self.lanes.get(&lane) {
            return Ok(uuid);
        }
        let uuid = self.place.uuid(FIRST_LANE_NUMBER + self.lane_count);
        self.lane_count += 1;
        self.lanes.insert(lane, uuid);
        let descriptor = TrackDescriptor { uuid: Some(uuid), ..self.tracks[track.0 as usize].clone() };
        self.packets.write(TracePacket { track_descriptor: Some(descriptor), ..TracePacket::default() })?;
        Ok(uuid)
    }

    fn fields(
        &mut self,
        row: &TimedRow,
        event: &mut TrackEvent,
        interned: &mut InternedData,
    ) -> Result<(), RowFailure> {
        for (id, value) in &row.fields {
            let spec = &self.segment.footer().fields[id.0 as usize].1;
            if let (CATEGORY, OwnedValue::Text(text)) = (spec.name.as_str(), value) {
                event.categories.push(text.clone());
                continue;
            }
            if self.fields.insert(*id) {
                interned.debug_annotation_names.push(interned_text(id.0, &spec.name));
            }
            event.debug_annotations.push(annotation(*id, spec.unit, value));
        }
        Ok(())
    }

    fn flows(&mut self, row: &TimedRow, event: &mut TrackEvent) -> Result<(), RowFailure> {
        let Some((from, to)) = &mut self.arrows else { return Ok(()) };
        let seed = self.place.seed;
        let id = |from: u32, to: u32| mixed(seed ^ mixed(u64::from(from) << 32 | u64::from(to)));
        let begins = from.of(row.track, row.row)?;
        let ends = to.of(row.track, row.row)?;
        event.flow_ids = begins.iter().map(|arrow| id(arrow.from, arrow.to)).collect();
        event.terminating_flow_ids = ends.iter().map(|arrow| id(arrow.from, arrow.to)).collect();
        for ids in [&mut event.flow_ids, &mut event.terminating_flow_ids] {
            // Perfetto ignores the names of arrows, so two arrows between the same slices are one
            // arrow.
            ids.sort_unstable();
            ids.dedup();
        }
        Ok(())
    }
}

/// Adds picoseconds that nanoseconds cannot express.
fn exact(event: &mut TrackEvent, start_ps: i64, duration_ps: i64) {
    for (name, ps) in [("start_ps", start_ps), ("duration_ps", duration_ps)] {
        if start_ps % PS_PER_NS != 0 || duration_ps % PS_PER_NS != 0 {
            event.debug_annotations.push(DebugAnnotation {
                name: Some(name.to_owned()),
                int_value: Some(ps),
                ..DebugAnnotation::default()
            });
        }
    }
}

fn annotation(id: FieldId, unit: Unit, value: &OwnedValue) -> DebugAnnotation {
    let mut annotation = DebugAnnotation { name_iid: Some(iid(id.0)), ..DebugAnnotation::default() };
    match value {
        OwnedValue::Int(number) => match u64::try_from(*number) {
            Ok(address) if unit == Unit::Hexadecimal => annotation.pointer_value = Some(address),
            _ => annotation.int_value = Some(*number),
        },
        OwnedValue::Uint(number) if unit == Unit::Hexadecimal => annotation.pointer_value = Some(*number),
        OwnedValue::Uint(number) => annotation.uint_value = Some(*number),
        OwnedValue::Float(number) => annotation.double_value = Some(*number),
        OwnedValue::Bool(truth) => annotation.bool_value = Some(*truth),
        OwnedValue::Text(text) => annotation.string_value = Some(text.clone()),
        OwnedValue::Json(text) => annotation.legacy_json_value = Some(text.clone()),
    }
    annotation
}

/// Interning id of a text. Perfetto's ids begin at 1.
fn iid(number: u32) -> u64 {
    u64::from(number) + 1
}

fn interned_text(number: u32, text: &str) -> InternedText {
    InternedText { iid: Some(iid(number)), name: Some(text.to_owned()) }
}
