//! Semaphore updates, and the events beside them.

use nprof_engine::base::Result;
use nprof_engine::model::{
    FieldId, FieldSpec, Form, NameId, Nesting, Sink, SliceRecord, TableId, TableKind, TableSpec, TrackId,
    TrackSpec, Unit, Value,
};

use super::core::{Core, Output};
use super::disassemble::SemaphoreNames;
use super::engine::Engine;
use super::record::{Record, SegmentKind, records};
use super::unknown::UnknownRecords;
use crate::formats::Error;
use crate::formats::neuron::schema::SemaphoreUpdate;

/// Semaphores of a core.
const SEMAPHORES: usize = 256;

/// Reads event segments.
#[derive(Debug)]
pub struct EventReader<'c, 'a> {
    core: &'c Core<'a>,
    handles: SemaphoreUpdate,
    names: Vec<String>,
    /// By number; defined when the semaphore first changes.
    tracks: Vec<Option<(TrackId, NameId)>>,
    events: Option<Events>,
    /// All records, those before the origin too.
    pub records: u64,
}

/// Events are no semaphores: they are set and cleared, and neuron-profile does not list them.
#[derive(Debug, Clone, Copy)]
struct Events {
    track: TrackId,
    value: FieldId,
}

impl<'c, 'a> EventReader<'c, 'a> {
    /// For the event segments of a core.
    ///
    /// # Errors
    /// The sink's own.
    pub fn new(core: &'c Core<'a>, names: &SemaphoreNames, out: &mut Output<'_>) -> Result<Self> {
        let shown =
            |id: u8| names.get(&id).map_or_else(|| id.to_string(), |name| format!("S[{id}] ({name})"));
        Ok(Self {
            core,
            handles: SemaphoreUpdate::define(out.sink)?,
            names: (0..=u8::MAX).map(shown).collect(),
            tracks: vec![None; SEMAPHORES],
            events: None,
            records: 0,
        })
    }

    /// Reads a segment.
    ///
    /// # Errors
    /// The sink's own.
    pub fn read(
        &mut self,
        bytes: &[u8],
        unknown: &mut UnknownRecords,
        out: &mut Output<'_>,
    ) -> Result<(), Error> {
        let segment = SegmentKind::Event.title();
        for (number, record) in records(bytes) {
            out.record_done();
            self.records += 1;
            let Some(ps) = self.core.clocks.event_ps(record.ticks) else {
                out.damaged("an event without a clock, or out of time", segment, number);
                continue;
            };
            let time_ps = ps - self.core.origin_ps;
            let [id, kind] = record.low.to_le_bytes();
            match kind {
                0 if time_ps >= 0 => self.event(id, time_ps, &record, out)?,
                1 if time_ps >= 0 => self.semaphore(id, time_ps, &record, out)?,
                // Preparation of the run.
                0 | 1 => {}
                _ => unknown.keep(out.sink, segment, number, &record)?,
            }
        }
        out.segment_done();
        Ok(())
    }

    fn semaphore(&mut self, id: u8, time_ps: i64, record: &Record, out: &mut Output<'_>) -> Result<()> {
        let shown = &self.names[usize::from(id)];
        let (track, name) = match self.tracks[usize::from(id)] {
            Some(known) => known,
            None => {
                let track = out.tracks.semaphore(out.sink, &self.core.own(shown))?;
                *self.tracks[usize::from(id)].insert((track, out.sink.name(shown)?))
            }
        };
        let value = (self.handles.value, Value::Int(i64::from(record.payload)));
        match author(record) {
            Some(engine) => {
                let source = (self.handles.update_source, Value::Text(engine.name()));
                instant(out.sink, track, time_ps, name, &[value, source])
            }
            None => instant(out.sink, track, time_ps, name, &[value]),
        }
    }

    fn event(&mut self, id: u8, time_ps: i64, record: &Record, out: &mut Output<'_>) -> Result<()> {
        let events = match self.events {
            Some(events) => events,
            None => *self.events.insert(Events::define(self.core, out.sink)?),
        };
        let name = out.sink.name(&format!("E[{id}]"))?;
        let value = Value::Int(i64::from(record.payload));
        instant(out.sink, events.track, time_ps, name, &[(events.value, value)])
    }
}

impl Events {
    fn define(core: &Core<'_>, sink: &mut dyn Sink) -> Result<Self> {
        let table: TableId = sink.table(TableSpec {
            name: "event_update".to_owned(),
            kind: TableKind::Slices,
            name_key: "id".to_owned(),
            doc: "Changes of events, with which engines wait for each other once.".to_owned(),
        })?;
        let doc = "What it holds from then on: 1 set, 0 cleared.";
        let value = sink.field(table, FieldSpec::new("value", Unit::None, "Event", doc))?;
        let track =
            sink.track(TrackSpec::slices(&core.own("Events"), None, table, Nesting::Concurrent, 6))?;
        Ok(Self { track, value })
    }
}

/// Who changed it: an engine has a kind code of its own; transfers and the host share one that is not named here.
fn author(record: &Record) -> Option<Engine> {
    let kind = u32::from(record.kind());
    if kind % 4 == 3 { Engine::from_number((kind / 4).checked_sub(1)?) } else { None }
}

fn instant(
    sink: &mut dyn Sink,
    track: TrackId,
    time_ps: i64,
    name: NameId,
    fields: &[(FieldId, Value<'_>)],
) -> Result<()> {
    let record = SliceRecord { track, start_ps: time_ps, duration_ps: 0, name, form: Form::Instant, fields };
    sink.slice(&record).map(drop)
}
