//! AIU traces in Perfetto's form: the events of the packets as Trace Event JSON.
//!
//! Perfetto's reader reads the packets as it always does. [`Translator`] is its sink: it writes
//! each slice, sample and arrow as the JSON event that it would be in a trace of that form, and
//! passes pieces of such JSON to the reader of AIU traces. So both forms of a trace give the same
//! profile, and neither reader knows of the other form. Memory is that of a piece, of the names,
//! and of the starts of slices that arrows can need.

mod event;
mod export;
mod track;

use std::cell::Cell;
use std::io::Read;
use std::rc::Rc;

use nprof_engine::base::{Error as EngineError, Result, narrow};
use nprof_engine::model::{
    FieldId, FieldSpec, Filled, FlowPhase, FlowPoint, NameId, RankInfo, Sink, SliceForm, SliceKey,
    SliceRecord, TableId, TableSpec, TemplateId, TemplateValue, TrackId, TrackSpec, Value, WarningKind,
};
use nprof_engine::spill::Space;
use rustc_hash::FxHashMap;

use self::event::EventList;
use self::track::{ExportContent, PacketTracks};
use super::TraceDialect;
use crate::error::Error;
use crate::formats::perfetto;
use crate::formats::trace_event::layer::{EventDocument, Layer, LayerSession};
use crate::origin::{Origin, TraceBeginning, origins};

/// Bytes of JSON that are passed at once.
const PIECE_LEN: usize = 1 << 20;
/// Most names that are told apart. Further ones share one.
const MAX_NAMES: usize = 1 << 20;
/// Most bytes of names.
const MAX_NAME_BYTES: usize = 64 << 20;
/// Most slices whose starts arrows can need, 8 bytes each.
const MAX_STARTS: usize = 4 << 20;
/// Letters of a text that many events can share, which each of them repeats in any case.
const FREE_CHARS: usize = 256;
/// Most bytes of such texts beyond that, of all events. Packets repeat a text by its number, so a
/// long text could become JSON of any length.
const MAX_REPEATED: usize = 16 << 20;
/// Warning about an export with ideal cycles, which are those of slices and no tables.
const IDEALS: &str = "an export that nprof made of an AIU profile does not have the compiler's tables; for the \
    use of the PT arrays, name the compiler's log again";
/// Name of the further names.
const FURTHER: &str = "further names";

/// Facts about a file of packets.
#[derive(Debug, Clone, Copy)]
pub(super) struct PacketFile {
    pub(super) dialect: TraceDialect,
    pub(super) beginning: Option<TraceBeginning>,
    /// Whether nprof wrote them.
    pub(super) is_export: bool,
    /// Whether there are files of the compiler.
    pub(super) has_compiler: bool,
    /// Most bytes that packed packets unpack to, all together.
    pub(super) most_unpacked: u64,
}

/// Reads packets into a session through a layer.
///
/// # Errors
/// If the input is no Perfetto trace or cannot be read, or if the sink of the session fails.
pub(super) fn read(
    input: &mut dyn Read,
    of: PacketFile,
    space: Space<'_>,
    session: &mut LayerSession<'_>,
    layer: &mut dyn Layer,
    progress: &mut dyn FnMut(u64),
) -> Result<(), Error> {
    // Times in JSON are those of the trace's clock. The origin only has to be near them.
    let origin = origins(&[of.beginning])[0];
    let place = Cell::new(0);
    let mut translator = Translator::new(origin, of.dialect, session, layer, &place);
    translator.tracks.is_export = of.is_export;
    let context = perfetto::PacketContext { space, origin, most_unpacked: of.most_unpacked };
    perfetto::read_noting(input, context, &mut translator, &place, progress)?;
    translator.finish(of.has_compiler)
}

/// A sink that writes what it gets as JSON.
struct Translator<'t, 's> {
    session: &'t mut LayerSession<'s>,
    layer: &'t mut dyn Layer,
    dialect: TraceDialect,
    /// Offset of the packet of the next event.
    place: &'t Cell<u64>,
    /// Time zero of the sink on the trace's clock, in picoseconds.
    origin_ps: i128,
    piece: EventList,
    names: Vec<Box<str>>,
    by_name: FxHashMap<Box<str>, u32>,
    name_bytes: usize,
    tables: Vec<String>,
    /// Names of the fields.
    fields: Vec<String>,
    by_field: FxHashMap<(TableId, String), u32>,
    tracks: PacketTracks,
    starts: Vec<i64>,
    /// Bytes of long texts so far. See [`MAX_REPEATED`].
    repeated: usize,
    /// Arrows so far.
    arrows: u64,
    wall_ns: Option<i64>,
    /// Whether a slice of an export states ideal cycles.
    has_ideals: bool,
    /// Rank of the events of the piece, if an export states ranks.
    within: Option<Rc<str>>,
}

impl<'t, 's> Translator<'t, 's> {
    fn new(
        origin: Option<Origin>,
        dialect: TraceDialect,
        session: &'t mut LayerSession<'s>,
        layer: &'t mut dyn Layer,
        place: &'t Cell<u64>,
    ) -> Self {
        Self {
            session,
            layer,
            dialect,
            place,
            origin_ps: origin.map_or(0, Origin::ps),
            piece: EventList::default(),
            names: Vec::new(),
            by_name: FxHashMap::default(),
            name_bytes: 0,
            tables: Vec::new(),
            fields: Vec::new(),
            by_field: FxHashMap::default(),
            tracks: PacketTracks::default(),
            starts: Vec::new(),
            repeated: 0,
            arrows: 0,
            wall_ns: None,
            has_ideals: false,
            within: None,
        }
    }

    /// Passes the last piece, and keys of the document: the mark of PyTorch's dialect, and the wall
    /// clock unless it is the trace's own clock, as its times tell.
    fn finish(mut self, has_compiler: bool) -> Result<(), Error> {
        self.pass()?;
        if self.has_ideals && !has_compiler {
            self.warn(WarningKind::MissingData, IDEALS, &String::new);
        }
        let zero_ns = i64::try_from(self.origin_ps.div_euclid(1_000)).ok();
        let base_ns = self.wall_ns.zip(zero_ns).and_then(|(wall, zero)| wall.checked_sub(zero));
        let mut document = String::from("{");
        if self.dialect == TraceDialect::Torch {
            document.push_str(r#""schemaVersion":1,"#);
        }
        if let Some(base_ns) = base_ns.filter(|base_ns| *base_ns != 0) {
            document.push_str(&format!(r#""baseTimeNanoseconds":{base_ns},"#));
        }
        document.push_str(r#""traceEvents":[]}"#);
        let last = EventDocument { bytes: document.as_bytes(), places: &[] };
        self.session.read_piece(last, &mut *self.layer)
    }

    /// The next event is of this track. If an export states ranks, a piece has events of one rank.
    fn enter(&mut self, track: TrackId) -> Result<()> {
        let Some(rank) = self.tracks.rank(track) else { return Ok(()) };
        if self.within.as_ref() != Some(&rank) {
            self.pass_now()?;
            self.layer.within(rank.as_bytes());
            self.within = Some(rank);
        }
        Ok(())
    }

    /// Passes the piece to the session.
    fn pass(&mut self) -> Result<(), Error> {
        let Some(document) = self.piece.document() else { return Ok(()) };
        self.session.read_piece(document, &mut *self.layer)?;
        self.piece.clear();
        Ok(())
    }

    /// Passes the piece if it is long enough. A reader's sink has errors of the engine only.
    fn pass_long(&mut self) -> Result<()> {
        if self.piece.len() < PIECE_LEN { Ok(()) } else { self.pass_now() }
    }

    /// Passes the piece.
    fn pass_now(&mut self) -> Result<()> {
        self.pass().map_err(|error| match error {
            Error::Engine(error) => error,
            _ => EngineError::Inconsistent { what: "events of packets that are no JSON" },
        })
    }

    /// A text of an event, which others can share. Only its beginning, if long texts are used up.
    fn text(&mut self, name: NameId) -> String {
        let text: &str = self.names.get(name.0 as usize).map_or("", |name| name);
        let Some((end, _)) = text.char_indices().nth(FREE_CHARS) else { return text.to_owned() };
        if self.repeated.saturating_add(text.len()) <= MAX_REPEATED {
            self.repeated += text.len();
            return text.to_owned();
        }
        let text = text[..end].to_owned();
        let what = "more long texts that events share than nprof repeats; their beginnings are kept";
        self.warn(WarningKind::AdjustedValue, what, &String::new);
        text
    }

    /// The time on the trace's clock.
    fn time_ps(&self, time_ps: i64) -> i128 {
        self.origin_ps + i128::from(time_ps)
    }

    /// Writes the name of a track behind its first slice, so that its process is a rank by then.
    fn describe(&mut self, track: TrackId) {
        let Self { tracks, piece, .. } = self;
        tracks.describe(track, piece);
    }

    /// Whether the events of a track are of another rank, whose pass reads them.
    fn is_of_other(&mut self, track: TrackId) -> bool {
        let layer = &*self.layer;
        self.tracks.is_of_other(track, |rank| layer.is_own(rank))
    }

    /// Writes an end of an arrow, unless it is of another rank.
    fn point(
        &mut self,
        track: TrackId,
        time_ps: i64,
        phase: FlowPhase,
        id: u64,
        name: Option<NameId>,
    ) -> Result<()> {
        if self.tracks.content(track) == ExportContent::Computed || self.is_of_other(track) {
            return Ok(());
        }
        self.enter(track)?;
        let (ps, name) = (self.time_ps(time_ps), name.map_or_else(String::new, |name| self.text(name)));
        let Self { piece, tracks, dialect, .. } = self;
        piece.at(self.place.get());
        // PyTorch's arrows lead from calls to work of the device. The reader need not find them.
        let cat = if *dialect == TraceDialect::Torch { "ac2g" } else { "flow" };
        let phase = match phase {
            FlowPhase::Start => "s",
            FlowPhase::Step => "t",
            FlowPhase::End => "f",
        };
        piece.begin(phase, if name.is_empty() { cat } else { &name }, ps);
        piece.text("cat", cat);
        piece.text("bp", "e");
        piece.member("id", &id.to_string());
        tracks.place(track, piece);
        piece.end();
        self.pass_long()
    }
}

/// Fields of a slice that are keys of the event and no arguments.
#[derive(Debug, Default)]
struct SliceKeys<'f> {
    cat: Option<String>,
    phase: Option<&'f str>,
    attributes: Option<&'f str>,
}

impl Translator<'_, '_> {
    /// The key of an argument. Perfetto's reader puts a prefix before keys that are its own, too.
    fn key(&self, field: FieldId) -> &str {
        let key = self.fields.get(field.0 as usize).map_or("", String::as_str);
        key.strip_prefix("args.").unwrap_or(key)
    }

    fn keys<'f>(&mut self, fields: &[(FieldId, Value<'f>)]) -> (SliceKeys<'f>, Vec<(FieldId, Value<'f>)>) {
        let mut keys = SliceKeys::default();
        let mut arguments = Vec::with_capacity(fields.len());
        for &(field, value) in fields {
            let key = self.fields.get(field.0 as usize).map_or("", String::as_str);
            match (key, value) {
                ("cat", Value::Name(cat)) => keys.cat = Some(self.text(cat)),
                ("cat", Value::Text(cat)) => keys.cat = Some(cat.to_owned()),
                ("ph", Value::Text(phase)) => keys.phase = Some(phase),
                ("attr" | "args", Value::Json(object)) if object.starts_with('{') => {
                    keys.attributes = Some(object);
                }
                _ => arguments.push((field, value)),
            }
        }
        (keys, arguments)
    }

    /// Writes a slice or an instant.
    fn write(&mut self, slice: &SliceRecord<'_>) {
        let (keys, arguments) = self.keys(slice.fields);
        let (name, ps) = (self.text(slice.name), self.time_ps(slice.start_ps));
        let mut piece = std::mem::take(&mut self.piece);
        piece.at(self.place.get());
        let phase = match slice.form {
            SliceForm::Complete => "X",
            SliceForm::Instant => keys.phase.unwrap_or("i"),
            SliceForm::Unfinished => "B",
        };
        piece.begin(phase, &name, ps);
        match slice.form {
            SliceForm::Complete => piece.us("dur", slice.duration_ps.into()),
            SliceForm::Instant if matches!(phase, "i" | "I" | "R") => piece.text("s", "t"),
            SliceForm::Instant | SliceForm::Unfinished => {}
        }
        if let Some(cat) = &keys.cat {
            piece.text("cat", cat);
        }
        self.tracks.place(slice.track, &mut piece);
        if let Some(attributes) = keys.attributes {
            piece.member("attr", attributes);
        }
        if !arguments.is_empty() {
            piece.begin_arguments();
            self.fields(&mut piece, &arguments);
            piece.end_arguments();
        }
        piece.end();
        self.piece = piece;
    }

    /// Writes fields under their keys.
    fn fields(&mut self, piece: &mut EventList, fields: &[(FieldId, Value<'_>)]) {
        for &(field, value) in fields {
            let shared = self.shared(value);
            piece.value(self.key(field), value, &shared);
        }
    }

    /// The text of a value that is a name.
    fn shared(&mut self, value: Value<'_>) -> String {
        if let Value::Name(name) = value { self.text(name) } else { String::new() }
    }
}

impl Sink for Translator<'_, '_> {
    fn name(&mut self, text: &str) -> Result<NameId> {
        if let Some(&known) = self.by_name.get(text) {
            return Ok(NameId(known));
        }
        let is_full = self.names.len() >= MAX_NAMES || self.name_bytes + text.len() > MAX_NAME_BYTES;
        if is_full && text != FURTHER {
            let what = "more names than fit into memory; the further ones are one name";
            self.warn(WarningKind::AdjustedValue, what, &String::new);
            return self.name(FURTHER);
        }
        let number = narrow(self.names.len());
        self.name_bytes += text.len();
        self.names.push(text.into());
        self.by_name.insert(text.into(), number);
        Ok(NameId(number))
    }

    fn table(&mut self, spec: TableSpec) -> Result<TableId> {
        let known = self.tables.iter().position(|name| *name == spec.name);
        let at = known.unwrap_or(self.tables.len());
        if known.is_none() {
            self.tables.push(spec.name);
        }
        Ok(TableId(u16::try_from(at).unwrap_or(u16::MAX)))
    }

    fn field(&mut self, table: TableId, spec: FieldSpec) -> Result<FieldId> {
        let next = narrow(self.fields.len());
        let field = *self.by_field.entry((table, spec.name.clone())).or_insert(next);
        if field == next {
            self.fields.push(spec.name);
        }
        Ok(FieldId(field))
    }

    fn track(&mut self, spec: TrackSpec) -> Result<TrackId> {
        Ok(self.tracks.push(spec))
    }

    fn describe_track(&mut self, _: TrackId, _: TrackSpec) -> Result<()> {
        // Perfetto's reader knows all names before it makes tracks.
        Ok(())
    }

    fn in_order(&mut self, _: TrackId) -> Result<()> {
        Ok(())
    }

    fn template(&mut self, _: TableId, _: &[(FieldId, TemplateValue)]) -> Result<TemplateId> {
        Err(NO_TEMPLATES)
    }

    fn slice(&mut self, slice: &SliceRecord<'_>) -> Result<SliceKey> {
        let content = self.tracks.content(slice.track);
        // All ranks need the first slice of each thread.
        let is_first = content != ExportContent::Computed && !self.tracks.is_described(slice.track);
        if is_first || content != ExportContent::Computed && !self.is_of_other(slice.track) {
            self.enter(slice.track)?;
            match content {
                ExportContent::Device => self.restore(slice),
                ExportContent::Pairs => self.pair(slice),
                ExportContent::Read | ExportContent::Computed => self.write(slice),
            }
            self.describe(slice.track);
        }
        let arrival = narrow(self.starts.len());
        if self.starts.len() < MAX_STARTS {
            self.starts.push(slice.start_ps);
        }
        // Events come track by track: the first one tells whose the many others are.
        if is_first {
            self.pass_now()?
        } else {
            self.pass_long()?
        }
        Ok(SliceKey { track: slice.track, arrival })
    }

    fn slice_by(&mut self, _: Filled<'_>, _: &SliceRecord<'_>) -> Result<SliceKey> {
        Err(NO_TEMPLATES)
    }

    fn sample(&mut self, track: TrackId, time_ps: i64, value: f64, _: &[(FieldId, Value<'_>)]) -> Result<()> {
        if self.tracks.content(track) == ExportContent::Computed || self.is_of_other(track) {
            return Ok(());
        }
        self.enter(track)?;
        let ps = self.time_ps(time_ps);
        let Self { piece, tracks, .. } = self;
        piece.at(self.place.get());
        piece.begin("C", tracks.label(track), ps);
        tracks.place(track, piece);
        piece.begin_arguments();
        piece.value("value", Value::Float(value), "");
        piece.end_arguments();
        piece.end();
        self.pass_long()
    }

    fn sample_by(&mut self, _: Filled<'_>, _: TrackId, _: i64, _: f64) -> Result<()> {
        Err(NO_TEMPLATES)
    }

    fn row(&mut self, table: TableId, fields: &[(FieldId, Value<'_>)]) -> Result<()> {
        if self.tables.get(usize::from(table.0)).is_none_or(|name| name != TRACKS) {
            return Ok(());
        }
        let (mut track, mut ids) = (None, [None, None]);
        for &(field, value) in fields {
            match (self.key(field), value) {
                ("track", Value::Int(number)) => track = u32::try_from(number).ok().map(TrackId),
                ("pid", Value::Text(text)) => ids[0] = Some(text.to_owned()),
                ("tid", Value::Text(text)) => ids[1] = Some(text.to_owned()),
                _ => {}
            }
        }
        if let Some(track) = track {
            let [pid, tid] = ids;
            self.tracks.note(track, pid, tid);
        }
        Ok(())
    }

    fn link(&mut self, from: SliceKey, to: SliceKey, _: NameId) -> Result<()> {
        let start = |key: SliceKey| self.starts.get(key.arrival as usize).copied();
        let (Some(start), Some(end)) = (start(from), start(to)) else {
            let what = "more slices than nprof draws arrows between; an arrow is left out";
            self.warn(WarningKind::MissingData, what, &String::new);
            return Ok(());
        };
        self.arrows += 1;
        // Arrows between slices of packets have no names.
        self.point(from.track, start, FlowPhase::Start, self.arrows, None)?;
        self.point(to.track, end, FlowPhase::End, self.arrows, None)
    }

    fn flow_point(&mut self, point: FlowPoint) -> Result<()> {
        self.point(point.track, point.time_ps, point.phase, point.key, Some(point.name))
    }

    fn rank(&mut self, info: RankInfo) {
        self.wall_ns = info.origin_unix_ns;
    }

    fn warn_times(&mut self, kind: WarningKind, what: &str, count: u64, place: &dyn Fn() -> String) {
        self.session.sink().warn_times(kind, what, count, place);
    }
}

/// Side table of Perfetto's reader with the processes and threads of tracks.
const TRACKS: &str = "track";
/// Perfetto's reader uses no templates.
const NO_TEMPLATES: EngineError = EngineError::Invalid { what: "templates of Perfetto's events" };
