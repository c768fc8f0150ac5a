//! From sorted events to the sink: begins with their ends, samples, and flows.

use std::cell::Cell;

use nprof_engine::base::Result;
use nprof_engine::base::bytes::Cursor;
use nprof_engine::exec::step;
use nprof_engine::model::{
    Bind, FieldId, FieldSpec, FlowPhase, FlowPoint, NameId, RankInfo, Sink, SliceForm, SliceKey, SliceRecord,
    TableSpec, TrackId, Unit, Value, WarningKind,
};
use nprof_engine::spill::{Scratch, Sorter, Space};

use super::PacketContext;
use super::clock::{ClockId, TraceClocks};
use super::field::{AnnotationFields, PacketRow, RowTable};
use super::flow;
use super::legacy::{FLOW_END, FLOW_END_NEXT, FLOW_START};
use super::output::PacketOutput;
use super::record::{EventPlace, EventRecord, FlowAt, FlowKey, FlowRole, RecordHeader, SortKey, TrackEffect};
use super::tree::{self, TrackPlace};
use crate::formats::room::{FieldBuffer, emptied};
use crate::formats::trace_event::clock::EPOCH_PS;
use crate::origin::{Origin, Sharing, TraceBeginning, origins};

/// Name of the format in a profile.
const SOURCE: &str = "perfetto";
/// Values that a cursor over a record reads.
const SCRATCH: &str = "scratch space";
/// Most bytes of open slices.
const MAX_OPEN_LEN: usize = 64 << 20;
/// Bytes of memory of an open slice besides its record.
const OPEN_BYTES: usize = 64;
/// Most open slices, the innermost ones, among which an end looks for its name.
const MAX_LOOKED_AT: usize = 1024;
/// Fields that nprof's own export writes beside times that nanoseconds cannot express.
const EXACT: [&str; 2] = ["start_ps", "duration_ps"];
/// Field that nprof's own export writes for a slice without an end.
const UNFINISHED: &str = "unfinished";
const PS_PER_NS: i64 = 1_000;

/// Emits all events, and the facts about the rank.
pub(super) fn all<'s>(
    mut out: PacketOutput<'s>,
    mut clocks: TraceClocks,
    PacketContext { space, origin: shared, .. }: &PacketContext<'s>,
) -> Result<()> {
    resolve(&mut out, &mut clocks, space)?;
    let first = out.first_times.iter().min().map(|ps| i64::try_from(ps / 1_000).unwrap_or(0));
    let base_ns = first.and_then(|first| clocks.wall_ns(first)?.checked_sub(first));
    let beginning = TraceBeginning::of_times(std::mem::take(&mut out.first_times), base_ns);
    let origin = (*shared).or_else(|| origins(&[beginning])[0]);
    let origin_ps = origin.map_or(0, Origin::ps);
    let origin_ns = i64::try_from(origin_ps.div_euclid(1_000)).unwrap_or(0);
    let placed = tree::build(&out.tracks, out.sink, out.keys.tables)?;
    let PacketOutput { sink, keys, row, events, place: noted, .. } = out;
    let names = [EXACT[0], EXACT[1], UNFINISHED].map(|name| keys.known(RowTable::Slices, name));
    let mut emitter = EventEmitter {
        sink,
        keys,
        row,
        names,
        placed,
        origin_ns,
        place: None,
        open: Vec::new(),
        open_len: 0,
        beyond: 0,
        flows: space.sorter(4),
        header: RecordHeader::default(),
        noted,
        room: FieldBuffer::new(),
        spare: Vec::new(),
    };
    let mut events = events.finish()?;
    while let Some((key, bytes)) = events.next_with()? {
        emitter.take(key, bytes)?;
    }
    emitter.leave()?;
    let EventEmitter { sink, flows, .. } = emitter;
    flow::link(flows.finish()?, sink)?;
    clock_row(sink, origin)?;
    let wall = clocks.wall_ns(origin_ns).filter(|_| base_ns.is_some());
    let wall = wall.or_else(|| EPOCH_PS.contains(&origin_ps).then_some(origin_ns));
    sink.rank(RankInfo { origin_unix_ns: wall, source: SOURCE.to_owned(), ..RankInfo::default() });
    Ok(())
}

/// Finds the times of events that came before the snapshots of their clocks. If the trace relates
/// no clocks, the clock of the first event is the trace's.
fn resolve<'s>(out: &mut PacketOutput<'s>, clocks: &mut TraceClocks, space: &Space<'s>) -> Result<()> {
    let mut waiting = std::mem::replace(&mut out.waiting, space.sorter(4)).finish()?;
    let mut own: Option<ClockId> = None;
    let is_alone = out.first_times.is_empty();
    while let Some((key, bytes)) = waiting.next_with()? {
        let act = EventRecord::act(&mut Cursor::new(bytes, 0, SCRATCH))?;
        let known = clocks.trace_ns(key.clock, key.ns);
        let known =
            known.or_else(|| (is_alone && *own.get_or_insert(key.clock) == key.clock).then_some(key.ns));
        match known {
            Some(ns) => out.push_late(ns, key, bytes, &act)?,
            None => {
                let what = "an event on a clock that no snapshot relates to the trace's; left out";
                out.sink.warn(WarningKind::MissingData, what, &|| format!("event {}", key.order));
            }
        }
    }
    if let Some(clock) = own {
        clocks.adopt(clock);
    }
    Ok(())
}

/// Writes the trace's own time at the profile's time zero, unless the two are the same.
fn clock_row(sink: &mut dyn Sink, origin: Option<Origin>) -> Result<()> {
    let Some(origin) = origin else { return Ok(()) };
    if origin.sharing() == Sharing::Alone {
        let what = "the clock of this rank differs by more than 26 days from the clocks of the other \
            ranks; times of this rank start at its own first event";
        sink.warn(WarningKind::AdjustedValue, what, &|| "the trace's clock".to_owned());
    }
    if origin.ps() == 0 {
        return Ok(());
    }
    let table = sink.table(TableSpec::side("clock", "Clock of the trace at time zero of the profile."))?;
    let doc = "Nanoseconds on the clock of the trace. The sum of this number and a time is the timestamp \
        in the trace.";
    let field = sink.field(table, FieldSpec::new("origin_ns", Unit::Nanoseconds, "", doc))?;
    let ns = i64::try_from(origin.ps().div_euclid(1_000)).unwrap_or(i64::MAX);
    sink.row(table, &[(field, Value::Int(ns))])
}

/// A slice that waits for its end.
#[derive(Debug)]
struct OpenSlice {
    ns: i64,
    name: Option<NameId>,
    is_state: bool,
    /// The record behind its act.
    bytes: Vec<u8>,
}

struct EventEmitter<'s> {
    sink: &'s mut dyn Sink,
    keys: AnnotationFields,
    row: PacketRow,
    /// Fields of [`EXACT`] and [`UNFINISHED`].
    names: [Option<FieldId>; 3],
    placed: Vec<TrackPlace>,
    origin_ns: i64,
    /// Place of the open slices.
    place: Option<EventPlace>,
    open: Vec<OpenSlice>,
    open_len: usize,
    /// Begins above the open slices that were emitted as unfinished, because there was no memory.
    beyond: u64,
    flows: Sorter<FlowKey, &'s dyn Scratch>,
    header: RecordHeader,
    /// Receives the offset of the packet of each event.
    noted: Option<&'s Cell<u64>>,
    room: FieldBuffer,
    /// Buffers that are used again.
    spare: Vec<Vec<u8>>,
}

impl EventEmitter<'_> {
    fn take(&mut self, key: SortKey, bytes: &[u8]) -> Result<()> {
        if self.place != Some(key.place) {
            self.leave()?;
            self.place = Some(key.place);
        }
        let mut cursor = Cursor::new(bytes, 0, SCRATCH);
        let act = EventRecord::act(&mut cursor)?;
        let rest = &bytes[bytes.len() - cursor.remaining()..];
        match act {
            TrackEffect::Begin => self.begin(key.ns, rest, false),
            TrackEffect::End => self.end(key.ns, rest),
            TrackEffect::Instant => self.emit(key.ns, 0, SliceForm::Instant, rest, None),
            TrackEffect::Complete(duration_ns) => {
                self.emit(key.ns, duration_ns, SliceForm::Complete, rest, None)
            }
            TrackEffect::State => {
                if let Some(before) = self.pop(self.open.len().wrapping_sub(1)) {
                    self.emit_open(before, key.ns, None)?;
                }
                self.header.take(&mut cursor)?;
                if self.header.name.is_some() { self.begin(key.ns, rest, true) } else { Ok(()) }
            }
            TrackEffect::Sample { value, sum } => self.sample(key.ns, value, sum, cursor),
            TrackEffect::Flow { key: flow, phase } => {
                self.header.take(&mut cursor)?;
                self.flow_point(key.ns, flow, phase)
            }
        }
    }

    fn placed(&self) -> TrackPlace {
        let place = self.place.and_then(|place| self.placed.get(place.track as usize));
        place.copied().unwrap_or_default()
    }

    fn warn(&mut self, kind: WarningKind, what: &str) {
        let offset = self.header.offset;
        self.sink.warn(kind, what, &|| format!("byte {offset}"));
    }

    fn begin(&mut self, ns: i64, rest: &[u8], is_state: bool) -> Result<()> {
        let cost = rest.len() + OPEN_BYTES;
        if self.beyond > 0 || self.open_len + cost > MAX_OPEN_LEN {
            self.beyond += 1;
            self.header.take(&mut Cursor::new(rest, 0, SCRATCH))?;
            self.warn(WarningKind::Unpaired, "too many open slices; this slice is kept without its end");
            let last_ns = self.placed().last_ns;
            let duration_ns = last_ns.saturating_sub(ns).max(0);
            return self.emit(ns, duration_ns, SliceForm::Unfinished, rest, None);
        }
        self.header.take(&mut Cursor::new(rest, 0, SCRATCH))?;
        self.open_len += cost;
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.extend_from_slice(rest);
        self.open.push(OpenSlice { ns, name: self.header.name, is_state, bytes });
        Ok(())
    }

    fn pop(&mut self, at: usize) -> Option<OpenSlice> {
        if at >= self.open.len() {
            return None;
        }
        let open = self.open.remove(at);
        self.open_len -= open.bytes.len() + OPEN_BYTES;
        Some(open)
    }

    /// Ends the innermost slice of the end's name, else the innermost one without a name. An end
    /// without a name ends the innermost slice.
    fn end(&mut self, ns: i64, rest: &[u8]) -> Result<()> {
        if self.beyond > 0 {
            self.beyond -= 1;
            return Ok(());
        }
        self.header.take(&mut Cursor::new(rest, 0, SCRATCH))?;
        let name = self.header.name;
        let Some(open) = self.ended_by(name).and_then(|at| self.pop(at)) else {
            self.warn(WarningKind::Unpaired, "an end without a begin; kept as an instant");
            return self.emit(ns, 0, SliceForm::Instant, rest, Some(Extra::Phase));
        };
        self.emit_open(open, ns, Some(rest))
    }

    /// Place of the open slice that an end of this name ends.
    fn ended_by(&self, name: Option<NameId>) -> Option<usize> {
        let mut unnamed = None;
        for (at, open) in self.open.iter().enumerate().rev().take(MAX_LOOKED_AT) {
            step(1);
            if name.is_none() || open.name == name {
                return Some(at);
            }
            if open.name.is_none() {
                unnamed.get_or_insert(at);
            }
        }
        unnamed
    }

    fn emit_open(&mut self, open: OpenSlice, end_ns: i64, end: Option<&[u8]>) -> Result<()> {
        let duration_ns = end_ns.saturating_sub(open.ns).max(0);
        self.emit(
            open.ns,
            duration_ns,
            SliceForm::Complete,
            &open.bytes,
            end.map(|end| Extra::End(end, end_ns)),
        )?;
        self.free(open.bytes);
        Ok(())
    }

    fn free(&mut self, mut bytes: Vec<u8>) {
        /// Most spare buffers, and most bytes of each.
        const MAX_SPARE: usize = 256;
        const MAX_SPARE_LEN: usize = 4096;
        if self.spare.len() < MAX_SPARE && bytes.capacity() <= MAX_SPARE_LEN {
            bytes.clear();
            self.spare.push(bytes);
        }
    }

    /// Emits the slices that are open at the end of their stack.
    fn leave(&mut self) -> Result<()> {
        let last_ns = self.placed().last_ns;
        for open in std::mem::take(&mut self.open) {
            self.header.take(&mut Cursor::new(&open.bytes, 0, SCRATCH))?;
            if !open.is_state {
                self.warn(WarningKind::Unpaired, "a begin without an end; kept as unfinished");
            }
            let duration_ns = last_ns.saturating_sub(open.ns).max(0);
            self.emit(open.ns, duration_ns, SliceForm::Unfinished, &open.bytes, None)?;
            self.free(open.bytes);
        }
        (self.open_len, self.beyond) = (0, 0);
        Ok(())
    }

    /// Emits a slice or an instant.
    fn emit(
        &mut self,
        start_ns: i64,
        duration_ns: i64,
        form: SliceForm,
        record: &[u8],
        extra: Option<Extra<'_>>,
    ) -> Result<()> {
        self.row.clear();
        let mut cursor = Cursor::new(record, 0, SCRATCH);
        self.header.take(&mut cursor)?;
        self.row.decode(&mut cursor)?;
        let (name, offset) = (self.header.name, self.header.offset);
        let mut flows: Vec<(FlowAt, i64)> = self.header.flows.iter().map(|&at| (at, start_ns)).collect();
        match extra {
            None => {}
            Some(Extra::Phase) => {
                if let Some(id) = self.keys.id(self.sink, RowTable::Slices, "ph", Unit::None, "Event")? {
                    self.row.put(id, Value::Text("E"));
                }
            }
            Some(Extra::End(end, end_ns)) => {
                let mut cursor = Cursor::new(end, 0, SCRATCH);
                self.header.take(&mut cursor)?;
                self.row.decode(&mut cursor)?;
                flows.extend(self.header.flows.iter().map(|&at| (at, end_ns)));
            }
        }
        self.header.offset = offset;
        self.note();
        let (extra_ps, duration_ps) = self.exact(duration_ns);
        let form = self.form(form);
        let start_ps = self.ps(start_ns).and_then(|ps| ps.checked_add(extra_ps));
        let (Some(start_ps), Some(track)) = (start_ps, self.placed().slices) else {
            self.warn(WarningKind::DamagedRecord, OUT_OF_RANGE);
            return Ok(());
        };
        let longest_ps = i64::MAX.saturating_sub(start_ps.max(0));
        let duration_ps = duration_ps.min(longest_ps);
        let name = match name {
            Some(name) => name,
            None => self.sink.name("")?,
        };
        let fields = self.row.values(std::mem::take(&mut self.room));
        let record = SliceRecord { track, start_ps, duration_ps, name, form, fields: &fields };
        let key = self.sink.slice(&record);
        self.room = emptied(fields);
        self.add_flows(key?, &flows)
    }

    /// Adds the flows of a slice, each at a time of the slice.
    fn add_flows(&mut self, key: SliceKey, flows: &[(FlowAt, i64)]) -> Result<()> {
        let SliceKey { track: TrackId(track), arrival } = key;
        for &(FlowAt { flow, role }, ns) in flows {
            let ends = role == FlowRole::Terminates;
            match (role, self.ps(ns)) {
                (FlowRole::Stated(phase), Some(time_ps)) => {
                    let (name, bind) = (self.sink.name("flow")?, Bind::Own(arrival));
                    let track = key.track;
                    self.sink.flow_point(FlowPoint { key: flow, track, time_ps, phase, bind, name })?;
                }
                _ => self.flows.push(FlowKey { flow, ns, ends, track, arrival })?,
            }
        }
        Ok(())
    }

    /// Notes the place of the event that is emitted next.
    fn note(&self) {
        if let Some(noted) = self.noted {
            noted.set(self.header.offset);
        }
    }

    /// The form of a slice, which nprof's own export can state as a field.
    fn form(&mut self, form: SliceForm) -> SliceForm {
        match self.names[2].filter(|&id| form == SliceForm::Complete && self.row.is_true(id)) {
            Some(id) => {
                self.row.remove(id);
                SliceForm::Unfinished
            }
            None => form,
        }
    }

    /// Picoseconds behind the start's nanosecond, and the duration in picoseconds. nprof's own
    /// export states them as fields, if they are no whole nanoseconds. Fields that contradict the
    /// times of the slice are somebody else's.
    fn exact(&mut self, duration_ns: i64) -> (i64, i64) {
        let whole = (0, duration_ns.saturating_mul(PS_PER_NS));
        let [Some(start), Some(duration), _] = self.names else { return whole };
        let (Some(start_ps), Some(duration_ps)) = (self.row.int(start), self.row.int(duration)) else {
            return whole;
        };
        if duration_ps < 0 || duration_ps.abs_diff(whole.1) >= PS_PER_NS.unsigned_abs() {
            return whole;
        }
        self.row.remove(start);
        self.row.remove(duration);
        (start_ps.rem_euclid(PS_PER_NS), duration_ps)
    }

    /// A time as picoseconds since the profile's time zero.
    fn ps(&self, ns: i64) -> Option<i64> {
        ns.checked_sub(self.origin_ns)?.checked_mul(PS_PER_NS)
    }

    #[expect(clippy::cast_precision_loss, reason = "factors of units are small")]
    fn sample(&mut self, ns: i64, value: f64, sum: f64, mut cursor: Cursor<'_>) -> Result<()> {
        self.header.take(&mut cursor)?;
        self.row.clear();
        self.row.decode(&mut cursor)?;
        let TrackPlace { samples, counter, .. } = self.placed();
        let (Some(time_ps), Some(track)) = (self.ps(ns), samples) else {
            self.warn(WarningKind::DamagedRecord, OUT_OF_RANGE);
            return Ok(());
        };
        self.note();
        let value = if counter.is_incremental { sum } else { value };
        let value = counter.multiplier.map_or(value, |factor| value * factor as f64);
        let fields = self.row.values(std::mem::take(&mut self.room));
        let result = self.sink.sample(track, time_ps, value, &fields);
        self.room = emptied(fields);
        result
    }

    fn flow_point(&mut self, ns: i64, key: u64, phase: u8) -> Result<()> {
        let (Some(time_ps), Some(track), Some(name)) = (self.ps(ns), self.placed().slices, self.header.name)
        else {
            self.warn(WarningKind::DamagedRecord, OUT_OF_RANGE);
            return Ok(());
        };
        self.note();
        let (phase, bind) = match phase {
            FLOW_START => (FlowPhase::Start, Bind::Enclosing),
            FLOW_END => (FlowPhase::End, Bind::Enclosing),
            FLOW_END_NEXT => (FlowPhase::End, Bind::Next),
            _ => (FlowPhase::Step, Bind::Enclosing),
        };
        self.sink.flow_point(FlowPoint { key, track, time_ps, phase, bind, name })
    }
}

/// Additions to the record of a slice.
#[derive(Debug, Clone, Copy)]
enum Extra<'r> {
    /// The phase of an end without a begin.
    Phase,
    /// The record of the end, and its time.
    End(&'r [u8], i64),
}

const OUT_OF_RANGE: &str = "an event that is more than 106 days from the others; left out";
