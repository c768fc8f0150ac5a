//! Semaphore updates, and the events beside them.

use nprof_engine::base;
use nprof_engine::base::bytes::{Cursor, Put};
use nprof_engine::model::{
    FieldId, FieldSpec, Filled, NameId, Nesting, NumberBits, Sink, SliceForm, SliceRecord, TableId,
    TableKind, TableSpec, TemplateId, TemplateValue, TrackId, TrackSpec, Unit, Value, WarningKind,
};
use nprof_engine::spill::{NoBytes, Ordered, Scratch, Space, SpillKey};

use super::core::{CoreProgram, NtffOutput};
use super::disassemble::SemaphoreNames;
use super::finding::Findings;
use super::floor::{Floors, RecordBlock};
use super::record::{DeviceRecord, SegmentKind};
use crate::error::Error;
use nprof_engine::makers::neuron::Engine;
use nprof_engine::makers::neuron::schema::SemaphoreUpdate;

/// Number of semaphores of a core.
const SEMAPHORES: usize = 256;

/// A record of the run. Ordered by time, then by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SemaphoreChange {
    /// Time since the origin.
    time_ps: i64,
    /// Number of the record among all records.
    number: u64,
    is_semaphore: bool,
    id: u8,
    value: u32,
    author: Option<Engine>,
}

impl SpillKey for SemaphoreChange {
    type Span = NoBytes;
    const MAX_LEN: usize = 8 + 8 + 1 + 1 + 5;

    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.time_ps.to_le_bytes());
        out.extend_from_slice(&self.number.to_le_bytes());
        let author = self.author.map_or(0, |engine| engine.index() + 1);
        out.push(u8::from(self.is_semaphore) | u8::try_from(author << 1).unwrap_or(0));
        out.push(self.id);
        out.put_varint(u64::from(self.value));
    }

    fn take(cursor: &mut Cursor<'_>) -> base::Result<Self> {
        let (time_ps, number, bits) = (cursor.u64()?.cast_signed(), cursor.u64()?, cursor.u8()?);
        let author = u32::from(bits >> 1).checked_sub(1).and_then(Engine::from_number);
        let is_semaphore = bits & 1 == 1;
        Ok(Self { time_ps, number, is_semaphore, id: cursor.u8()?, value: cursor.varint_u32()?, author })
    }
}

/// Reads event segments.
pub struct EventReader<'c, 'a, 's> {
    core: &'c CoreProgram<'a>,
    blocks: Vec<RecordBlock<'c>>,
    floors: Floors,
    changes: Ordered<SemaphoreChange, &'s dyn Scratch>,
    /// Number of records so far, including those before the origin.
    records: u64,
    /// Findings in the records so far, without unknown records.
    pub found: Findings<'s>,
}

impl<'c, 'a, 's> EventReader<'c, 'a, 's> {
    /// A reader for the event segments of a core, and the unknown records.
    pub fn new(
        core: &'c CoreProgram<'a>,
        segments: &[&'c [u8]],
        space: Space<'s>,
    ) -> Result<(Self, Findings<'s>), Error> {
        let mut found = Findings::new(SegmentKind::Event, space);
        let blocks = RecordBlock::of(segments);
        let mut earliest = Vec::with_capacity(blocks.len());
        for block in &blocks {
            let mut first = u64::MAX;
            for (number, record) in block.records() {
                found.record_read();
                let [_, kind] = record.low.to_le_bytes();
                first = record.ticks.min(first);
                if kind > 1 && core.clocks.event_ps(record.ticks).is_some() {
                    found.unknown(number, &record)?;
                }
            }
            earliest.push(core.clocks.event_ps(first).unwrap_or(i64::MIN));
        }
        let (floors, changes) = (Floors::new(earliest), Ordered::new(space.sorter(2)));
        let later = Findings::new(SegmentKind::Event, space);
        Ok((Self { core, blocks, floors, changes, records: 0, found: later }, found))
    }

    /// Takes a record, with its number in its segment.
    fn record(&mut self, number: u64, record: &DeviceRecord) -> Result<(), Error> {
        self.records += 1;
        let Some(ps) = self.core.clocks.event_ps(record.ticks) else {
            let what = "an event without a clock, or with a time out of range";
            self.found.warn_of(WarningKind::DamagedRecord, what, number);
            return Ok(());
        };
        let time_ps = ps - self.core.origin_ps;
        let [id, kind] = record.low.to_le_bytes();
        // Records before the origin are of the run's preparation.
        if kind <= 1 && time_ps >= 0 {
            self.changes.push(SemaphoreChange {
                time_ps,
                number: self.records,
                is_semaphore: kind == 1,
                id,
                value: record.payload,
                author: author(record),
            })?;
        }
        Ok(())
    }

    /// Writes the rows. Returns the number of records.
    pub fn write(&mut self, names: &SemaphoreNames, out: &mut NtffOutput<'_>) -> Result<u64, Error> {
        let mut writer = EventWriter::new(self.core, names, out)?;
        for at in 0..self.blocks.len() {
            for (number, record) in self.blocks[at].records() {
                self.record(number, &record)?;
            }
            let floor_ps = self.floors.after(at as u32).saturating_sub(self.core.origin_ps);
            if at + 1 == self.blocks.len() {
                self.changes.finish()?;
            } else {
                self.changes.release(|change| change.time_ps < floor_ps)?;
            }
            while let Some(change) = self.changes.next()? {
                if change.is_semaphore {
                    writer.semaphore(change, out)?;
                } else {
                    writer.event(change, out)?;
                }
                out.row_written(1);
            }
        }
        Ok(self.records)
    }
}

/// Writes rows ordered by time.
struct EventWriter<'c, 'a> {
    core: &'c CoreProgram<'a>,
    handles: SemaphoreUpdate,
    names: Vec<String>,
    /// Tracks by semaphore number, defined at the semaphore's first change.
    tracks: Vec<Option<(TrackId, NameId)>>,
    engines: [NameId; Engine::ALL.len()],
    /// Number of changes and template, by author. The first entry is for changes without an author.
    /// The count stops at the first change that has a template.
    templates: [(u8, Option<TemplateId>); Engine::ALL.len() + 1],
    events: Option<EventRecords>,
}

/// First change that gets a template. A template for fewer changes would cost more than they do.
const FIRST_OF_TEMPLATE: u8 = 3;

/// Events are no semaphores: they are set and cleared, and neuron-profile does not list them.
#[derive(Debug, Clone, Copy)]
struct EventRecords {
    track: TrackId,
    value: FieldId,
}

impl<'c, 'a> EventWriter<'c, 'a> {
    fn new(
        core: &'c CoreProgram<'a>,
        names: &SemaphoreNames,
        out: &mut NtffOutput<'_>,
    ) -> Result<Self, Error> {
        let shown =
            |id: u8| names.get(&id).map_or_else(|| id.to_string(), |name| format!("S[{id}] ({name})"));
        let mut engines = [NameId(0); Engine::ALL.len()];
        for engine in Engine::ALL {
            engines[engine.index()] = out.sink.name(engine.name())?;
        }
        Ok(Self {
            core,
            handles: SemaphoreUpdate::define(out.sink)?,
            names: (0..=u8::MAX).map(shown).collect(),
            tracks: vec![None; SEMAPHORES],
            engines,
            templates: Default::default(),
            events: None,
        })
    }

    fn semaphore(&mut self, change: &SemaphoreChange, out: &mut NtffOutput<'_>) -> Result<(), Error> {
        let id = usize::from(change.id);
        let (track, name) = match self.tracks[id] {
            Some(known) => known,
            None => {
                let shown = &self.names[id];
                let track = out.tracks.semaphore(out.sink, self.core.number, shown)?;
                *self.tracks[id].insert((out.in_order(track)?, out.sink.name(shown)?))
            }
        };
        let source = change.author.map(|engine| Value::Name(self.engines[engine.index()]));
        let source = source.map(|source| (self.handles.update_source, source));
        let value = i64::from(change.value);
        let (changes, template) = &mut self.templates[change.author.map_or(0, |engine| engine.index() + 1)];
        if *changes < FIRST_OF_TEMPLATE {
            *changes += 1;
            if *changes == FIRST_OF_TEMPLATE {
                let mut parts = vec![(self.handles.value, TemplateValue::Int(0))];
                parts.extend(source.map(|(field, source)| (field, TemplateValue::Fixed(source))));
                *template = Some(out.sink.template(self.handles.table, &parts)?);
            }
        }
        if let Some(template) = *template {
            let filled = Filled { template, numbers: &[NumberBits::from(value)] };
            let form = SliceForm::Instant;
            let record =
                SliceRecord { track, start_ps: change.time_ps, duration_ps: 0, name, form, fields: &[] };
            out.sink.slice_by(filled, &record)?;
            return Ok(());
        }
        let value = (self.handles.value, Value::Int(value));
        match source {
            Some(source) => instant(out.sink, track, change.time_ps, name, &[value, source]),
            None => instant(out.sink, track, change.time_ps, name, &[value]),
        }
    }

    fn event(&mut self, change: &SemaphoreChange, out: &mut NtffOutput<'_>) -> Result<(), Error> {
        let events = match self.events {
            Some(events) => events,
            None => *self.events.insert(EventRecords::define(self.core, out)?),
        };
        let name = out.sink.name(&format!("E[{}]", change.id))?;
        let value = Value::Int(i64::from(change.value));
        instant(out.sink, events.track, change.time_ps, name, &[(events.value, value)])
    }
}

impl EventRecords {
    fn define(core: &CoreProgram<'_>, out: &mut NtffOutput<'_>) -> Result<Self, Error> {
        let table: TableId = out.sink.table(
            TableSpec::new(
                "event_update",
                TableKind::Slices,
                "Changes of events. Engines use an event to wait for each other once.",
            )
            .named_by("id"),
        )?;
        let doc = "Value after the change: 1 set, 0 cleared.";
        let value = out.sink.field(table, FieldSpec::new("value", Unit::None, "Event", doc))?;
        let spec = TrackSpec::slices(&core.own("Events"), None, table, Nesting::Concurrent, 6);
        let track = out.sink.track(spec)?;
        Ok(Self { track: out.in_order(track)?, value })
    }
}

/// Engine that changed the semaphore or event. An engine has a kind code of its own. Transfers and
/// the host share one that is not named here.
fn author(record: &DeviceRecord) -> Option<Engine> {
    let kind = u32::from(record.kind());
    if kind % 4 == 3 { Engine::from_number((kind / 4).checked_sub(1)?) } else { None }
}

fn instant(
    sink: &mut dyn Sink,
    track: TrackId,
    time_ps: i64,
    name: NameId,
    fields: &[(FieldId, Value<'_>)],
) -> Result<(), Error> {
    let record =
        SliceRecord { track, start_ps: time_ps, duration_ps: 0, name, form: SliceForm::Instant, fields };
    sink.slice(&record)?;
    Ok(())
}
