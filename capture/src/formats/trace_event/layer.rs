//! A layer over the reader: another format that is written as Trace Event JSON takes the events
//! that it knows better, and leaves the others to the ordinary reader.
//!
//! The document is generic over [`EventReceiver`], so a trace without a layer pays nothing for it.

use std::borrow::Cow;
use std::io::Read;

use nprof_engine::base::Result;
use nprof_engine::exec::Work;
use nprof_engine::model::{RankInfo, Sink, WarningKind};

use super::document::TraceDocument;
use super::event::EventBytes;
use super::events::EventReceiver;
use super::files::RankFiles;
use super::output::EventOutput;
use super::reader::{Annotations, TraceEventReader};
use super::scan::Scan;
use super::text::bytes_of;
use super::tokens::{Raw, Tail, Tokens, ValueKind};
use super::value::WrittenValue;
use super::{Context, time};
use crate::error::Error;
use crate::owners::{Noting, Owners, Skips};

/// A format over Trace Event JSON.
pub(in crate::formats) trait Layer {
    /// Takes an event, or passes it.
    fn event(&mut self, below: &mut LowerReader<'_, '_>, met: LayerEvent<'_>) -> Result<LayerClaim>;

    /// Position of the rank of the last event, if the passes of all other ranks can leave the event
    /// out.
    fn owner(&self) -> Option<u32> {
        None
    }

    /// Whether the events of a process, by its id as written, are of this rank. `None` if that is
    /// not known yet.
    fn is_own(&self, _pid: &[u8]) -> Option<bool> {
        None
    }

    /// The events that follow are of this rank, whatever their process.
    fn within(&mut self, _rank: &[u8]) {}
}

/// Whether a layer took an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::formats) enum LayerClaim {
    /// The layer took the event.
    ByLayer,
    /// The ordinary reader takes the event.
    Passed,
    /// The ordinary reader takes the event as work, even if it has the category of annotations.
    PassedAsWork,
}

/// The ordinary reader below a layer.
pub(in crate::formats) struct LowerReader<'r, 's>(&'r mut TraceEventReader<'s>);

impl LowerReader<'_, '_> {
    /// The time of an event in picoseconds since the origin. An event without a time is kept as
    /// unread.
    pub(in crate::formats) fn time(&mut self, met: LayerEvent<'_>) -> Result<Option<i64>> {
        self.0.out().time(met.0)
    }

    /// The time of an event, if it has one that can be read.
    pub(in crate::formats) fn known_time(&mut self, met: LayerEvent<'_>) -> Option<i64> {
        self.0.out().clock.time(met.0.event.ts, met.0.bytes).ok()
    }

    /// The sink.
    pub(in crate::formats) fn sink(&mut self) -> &mut dyn Sink {
        self.0.out().sink
    }

    /// Gives the event that the layer passes a further argument: its key, and its value as JSON.
    pub(in crate::formats) fn add_argument(&mut self, key: &str, value: &str) {
        self.0.out().add_argument(key, value);
    }

    /// Counts a warning at an event.
    pub(in crate::formats) fn warn(&mut self, kind: WarningKind, what: &str, met: LayerEvent<'_>) {
        self.0.out().warn(kind, what, met.0.offset);
    }
}

/// An event that a layer looks at.
#[derive(Clone, Copy)]
pub(in crate::formats) struct LayerEvent<'a>(EventBytes<'a>);

impl<'a> LayerEvent<'a> {
    /// The phase as written.
    pub(in crate::formats) fn phase(self) -> &'a [u8] {
        self.0.event.ph.of(self.0.bytes)
    }

    /// The name; empty if there is none.
    pub(in crate::formats) fn name(self) -> Cow<'a, str> {
        self.0.name()
    }

    /// The categories; empty if there are none.
    pub(in crate::formats) fn cat(self) -> Cow<'a, [u8]> {
        self.0.cat_bytes()
    }

    /// The id as written.
    pub(in crate::formats) fn id(self) -> &'a [u8] {
        self.0.event.id.of(self.0.bytes)
    }

    /// The time and the duration as written.
    pub(in crate::formats) fn times(self) -> [&'a [u8]; 2] {
        [self.0.event.ts, self.0.event.dur].map(|of| of.of(self.0.bytes))
    }

    /// The process id as written.
    pub(in crate::formats) fn pid(self) -> &'a [u8] {
        self.0.event.pid.of(self.0.bytes)
    }

    /// The thread id as written.
    pub(in crate::formats) fn tid(self) -> &'a [u8] {
        self.0.event.tid.of(self.0.bytes)
    }

    /// The time in microseconds as written, if it is a number.
    pub(in crate::formats) fn time_us(self) -> Option<f64> {
        let text = str::from_utf8(self.0.event.ts.of(self.0.bytes)).ok()?;
        text.trim().parse::<f64>().ok().filter(|us| us.is_finite())
    }

    /// The duration in picoseconds, if the event states one.
    pub(in crate::formats) fn duration(self) -> Option<i64> {
        time::duration(self.0.event.dur, self.0.bytes).ok()
    }

    /// The object under a key that Trace Event does not define, with the bytes inside.
    pub(in crate::formats) fn object(self, key: &str) -> Option<(Raw, &'a [u8])> {
        let EventBytes { event, bytes, .. } = self.0;
        let is_it = |key_of: Raw, value: Raw| {
            value.kind() == ValueKind::Object && *bytes_of(bytes, key_of) == *key.as_bytes()
        };
        let found = event.extras.iter().rev().find(|member| is_it(member.key, member.value))?;
        Some((found.value, found.value.of(bytes)))
    }

    /// Calls `visit` for each argument.
    pub(in crate::formats) fn each_argument(self, mut visit: impl FnMut(&[u8], WrittenValue<'_>)) {
        let EventBytes { event, bytes, .. } = self.0;
        for member in &event.members {
            visit(&bytes_of(bytes, member.key), WrittenValue { raw: member.value, bytes });
        }
    }

    /// Calls `visit` for each key that Trace Event does not define, and for the category.
    pub(in crate::formats) fn each_extra(self, mut visit: impl FnMut(&[u8], WrittenValue<'_>)) {
        let EventBytes { event, bytes, .. } = self.0;
        if event.cat.is_present() {
            visit(b"cat", WrittenValue { raw: event.cat, bytes });
        }
        for member in &event.extras {
            visit(&bytes_of(bytes, member.key), WrittenValue { raw: member.value, bytes });
        }
    }
}

/// Calls `visit` for each member of an object, from the bytes inside it.
pub(in crate::formats) fn each_member(inside: &[u8], mut visit: impl FnMut(&[u8], WrittenValue<'_>)) {
    let mut tokens = Tokens::new(inside, Tail::Closed);
    if tokens.peek() != Ok(b'{') {
        return;
    }
    tokens.advance();
    while let Ok((byte, _)) = tokens.peek_item()
        && byte != b'}'
        && let Ok(key) = tokens.key()
        && let Ok(raw) = tokens.value()
    {
        visit(&bytes_of(inside, key), WrittenValue { raw, bytes: inside });
    }
}

/// A document with some of the events of a file.
#[derive(Debug, Clone, Copy)]
pub(in crate::formats) struct EventDocument<'p> {
    pub(in crate::formats) bytes: &'p [u8],
    /// Places of the events: the offset in the document from which on they hold, ascending, and the
    /// offset in the file.
    pub(in crate::formats) places: &'p [(u64, u64)],
}

/// Reads several files of one rank through a layer.
pub(in crate::formats) struct LayerSession<'s> {
    reader: TraceEventReader<'s>,
    files: RankFiles,
    work: Work<'s>,
    /// Ranks of the events of the next file, if they are noted.
    noting: Option<Noting>,
}

impl<'s> LayerSession<'s> {
    /// A session with this sink.
    pub(in crate::formats) fn new(context: Context<'s>, sink: &'s mut dyn Sink) -> Result<Self> {
        let mut reader = TraceEventReader::new(context, sink)?;
        reader.out().keeps_points = true;
        Ok(Self { reader, files: RankFiles::default(), work: context.work(), noting: None })
    }

    /// Notes the ranks of the events of the next file.
    pub(in crate::formats) fn note(&mut self) {
        self.noting = Some(Noting::default());
    }

    /// The ranks of the events of the last file, if they were noted.
    pub(in crate::formats) fn noted(&mut self) -> Option<Owners> {
        self.noting.take()?.finish()
    }

    /// Names the next file.
    pub(in crate::formats) fn name(&mut self, name: &str) {
        self.files.name(name);
    }

    /// Begins the next file, which one of the readers below reads.
    pub(in crate::formats) fn begin(&mut self) {
        self.reader.out().file = self.files.begin();
    }

    /// Reads a file through the layer, without some events.
    pub(in crate::formats) fn read(
        &mut self,
        input: &mut dyn Read,
        skips: Skips<'_>,
        layer: &mut dyn Layer,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), Error> {
        let work = self.work;
        let over = self.over(layer);
        TraceDocument::new(Scan::new(input, progress), over, work).without(skips).read()
    }

    /// Reads a file in memory through the layer, without some events.
    pub(in crate::formats) fn read_bytes(
        &mut self,
        bytes: &[u8],
        skips: Skips<'_>,
        layer: &mut dyn Layer,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), Error> {
        let work = self.work;
        let over = self.over(layer);
        TraceDocument::new(Scan::over(bytes, progress), over, work).without(skips).read()
    }

    /// Reads a piece of the file through the layer.
    pub(in crate::formats) fn read_piece(
        &mut self,
        piece: EventDocument<'_>,
        layer: &mut dyn Layer,
    ) -> Result<(), Error> {
        let work = self.work;
        let over = self.over(layer);
        TraceDocument::new(Scan::over(piece.bytes, &mut |_| {}), over, work).placed(piece.places).read()
    }

    /// The reader of the file.
    fn over<'l>(&'l mut self, layer: &'l mut dyn Layer) -> Layered<'l, 's> {
        Layered { reader: &mut self.reader, files: &mut self.files, layer, noting: &mut self.noting }
    }

    /// Adds a time in picoseconds to all times of the files that follow.
    pub(in crate::formats) fn shift_by(&mut self, ps: i128) {
        self.reader.out().clock.shift_by(ps);
    }

    /// The sink.
    pub(in crate::formats) fn sink(&mut self) -> &mut dyn Sink {
        self.reader.out().sink
    }

    /// Emits the waiting events and the names of tracks. Returns the facts about the rank, which
    /// the sink does not have yet.
    pub(in crate::formats) fn close(mut self) -> Result<RankInfo> {
        let info = self.reader.close()?;
        self.files.write(self.reader.out().sink)?;
        Ok(info)
    }
}

/// A reader below a layer.
struct Layered<'l, 's> {
    reader: &'l mut TraceEventReader<'s>,
    files: &'l mut RankFiles,
    layer: &'l mut dyn Layer,
    noting: &'l mut Option<Noting>,
}

impl Layered<'_, '_> {
    fn cut(&mut self) {
        if let Some(noting) = self.noting {
            noting.cut();
        }
    }
}

impl<'s> EventReceiver<'s> for Layered<'_, 's> {
    fn out(&mut self) -> &mut EventOutput<'s> {
        self.reader.out()
    }

    fn event_count(&self) -> u64 {
        self.reader.event_count()
    }

    fn metadata(&mut self, key: &str, value: WrittenValue<'_>, offset: u64) -> Result<()> {
        self.cut();
        self.files.key(key);
        self.reader.metadata(key, value, offset)
    }

    fn unread(&mut self, what: &str, bytes: &[u8], offset: u64) -> Result<()> {
        self.cut();
        self.reader.unread(what, bytes, offset)
    }

    fn event(&mut self, seen: EventBytes<'_>) -> Result<()> {
        let met = LayerEvent(seen);
        // All ranks need the first slice of each thread.
        let is_first = matches!(met.phase(), b"X" | b"B")
            && !self.files.thread(met.tid(), || LowerReader(self.reader).known_time(met));
        let taken = self.layer.event(&mut LowerReader(self.reader), met)?;
        if let Some(noting) = self.noting {
            let owner = self.layer.owner().filter(|_| !is_first);
            noting.event(seen.offset, seen.bytes.len(), owner);
        }
        match taken {
            LayerClaim::ByLayer => {
                self.reader.count_event();
                Ok(())
            }
            LayerClaim::Passed | LayerClaim::PassedAsWork => {
                self.reader.annotations = match taken {
                    LayerClaim::PassedAsWork => Annotations::WithWork,
                    _ => Annotations::Apart,
                };
                let taken = self.reader.event(seen);
                self.reader.out().drop_arguments();
                taken
            }
        }
    }

    /// The session ends the reader after its last file.
    fn finish(self) -> Result<()> {
        Ok(())
    }
}
