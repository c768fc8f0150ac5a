//! Events on their way from a reader to a builder that runs beside it. The reader's calls are kept in batches and played to
//! the builder later; its answers the reader gets at once, because they follow from the calls: everything is numbered as it
//! comes.

use rustc_hash::FxHashMap;

use super::numbers::Numbers;
use super::recent::{PLACES, RecentTexts, Spot};
use crate::base::{Error, Result};
use crate::model::{
    FieldId, FieldSpec, FlowPoint, Form, NameId, RankInfo, Sink, SliceKey, SliceRecord, TableId, TableSpec,
    TrackId, TrackSpec, Value, WarningKind, Warnings,
};
use crate::spill::Scratch;

/// Calls of a full batch: handing one over costs as much as a few of them.
const BATCH_CALLS: usize = 4096;
/// Bytes of texts of a full batch.
const BATCH_TEXT_BYTES: usize = 1 << 20;
/// Bytes of names that are kept in memory on this side.
const NAME_BYTES: usize = 8 << 20;

/// Some calls of a reader, in order.
#[derive(Debug, Default)]
pub struct Batch {
    pub(super) calls: Vec<Call>,
    /// The fields of the calls that have some, one after the other.
    pub(super) fields: Vec<(FieldId, Held)>,
    /// The texts of calls and fields, one after the other.
    pub(super) texts: String,
}

/// A call without its fields and texts: how many there are.
#[derive(Debug)]
pub(super) enum Call {
    Name { text_len: usize },
    Table(Box<TableSpec>),
    Field(TableId, Box<FieldSpec>),
    Track(Box<TrackSpec>),
    DescribeTrack(TrackId, Box<TrackSpec>),
    InOrder(TrackId),
    Slice { track: TrackId, start_ps: i64, duration_ps: i64, name: NameId, form: Form, fields: usize },
    Sample { track: TrackId, time_ps: i64, value: f64, fields: usize },
    Row { table: TableId, fields: usize },
    Link { from: SliceKey, to: SliceKey, name: NameId },
    FlowPoint(FlowPoint),
    Rank(Box<RankInfo>),
}

/// A value without its text.
#[derive(Debug, Clone, Copy)]
pub(super) enum Held {
    Int(i64),
    Uint(u64),
    Float(f64),
    Bool(bool),
    Name(NameId),
    Text {
        len: usize,
        as_what: Texted,
    },
    /// A text that the other end remembers at its place from now on.
    NewText {
        len: u32,
        place: u16,
        as_what: Texted,
    },
    KnownText {
        place: u16,
        as_what: Texted,
    },
}

/// Plain text or JSON.
#[derive(Debug, Clone, Copy)]
pub(super) enum Texted {
    Plain,
    Json,
}

/// Takes full batches. Gives an empty one back, with memory of an earlier one where it has that.
pub trait Carrier {
    /// Carries a batch over.
    ///
    /// # Errors
    /// Those of the builder, which may be about earlier batches.
    fn carry(&mut self, batch: Batch) -> Result<Batch>;
}

/// The reader's end: a sink that hands its calls on.
pub struct Relay<'a> {
    carrier: &'a mut dyn Carrier,
    batch: Batch,
    /// Names by number; the builder's numbers are others, because its texts include those of fields.
    names: Numbers<'a>,
    tables: FxHashMap<String, TableId>,
    fields: FxHashMap<(TableId, String), FieldId>,
    /// Slices and samples of each track so far.
    tracks: Vec<u32>,
    warnings: Warnings,
    /// Recent names, with their numbers by place.
    recent_names: (RecentTexts, Vec<NameId>),
    /// Recent texts of fields. The builder's end knows them by their places.
    recent_texts: RecentTexts,
    /// Bytes of texts that still surely fit the builder's dictionary. Only such texts get places.
    room_bytes: usize,
}

impl<'a> Relay<'a> {
    /// Hands calls on through `carrier`; `scratch` is for names. `dictionary_bytes` are those of
    /// the builder's options.
    pub fn new(scratch: &'a dyn Scratch, carrier: &'a mut dyn Carrier, dictionary_bytes: usize) -> Self {
        Self {
            carrier,
            batch: Batch::default(),
            names: Numbers::new(scratch, NAME_BYTES),
            tables: FxHashMap::default(),
            fields: FxHashMap::default(),
            tracks: Vec::new(),
            warnings: Warnings::default(),
            recent_names: (RecentTexts::new(), vec![NameId(0); PLACES]),
            recent_texts: RecentTexts::new(),
            room_bytes: dictionary_bytes,
        }
    }

    /// Hands on what is left. Returns the warnings, which are for the end.
    ///
    /// # Errors
    /// Those of the builder.
    pub fn end(mut self) -> Result<Warnings> {
        self.carry()?;
        Ok(self.warnings)
    }

    fn carry(&mut self) -> Result<()> {
        self.batch = self.carrier.carry(std::mem::take(&mut self.batch))?;
        Ok(())
    }

    fn call(&mut self, call: Call) -> Result<()> {
        self.batch.calls.push(call);
        let is_full = self.batch.calls.len() == BATCH_CALLS || self.batch.texts.len() >= BATCH_TEXT_BYTES;
        if is_full { self.carry() } else { Ok(()) }
    }

    fn hold(&mut self, fields: &[(FieldId, Value<'_>)]) -> usize {
        for &(id, value) in fields {
            let value = match value {
                Value::Int(v) => Held::Int(v),
                Value::Uint(v) => Held::Uint(v),
                Value::Float(v) => Held::Float(v),
                Value::Bool(v) => Held::Bool(v),
                Value::Name(v) => Held::Name(v),
                Value::Text(text) => self.hold_text(text, Texted::Plain),
                Value::Json(text) => self.hold_text(text, Texted::Json),
            };
            self.batch.fields.push((id, value));
        }
        fields.len()
    }

    fn hold_text(&mut self, text: &str, as_what: Texted) -> Held {
        let spot = self.recent_texts.find(text);
        if let Spot::Known(place) = spot {
            return Held::KnownText { place, as_what };
        }
        self.push_text(text);
        match (spot, u32::try_from(text.len())) {
            (Spot::Other(place), Ok(len)) if self.room_bytes > 0 => {
                self.recent_texts.put(place, text);
                Held::NewText { len, place, as_what }
            }
            _ => Held::Text { len: text.len(), as_what },
        }
    }

    fn push_text(&mut self, text: &str) {
        self.batch.texts.push_str(text);
        self.room_bytes = self.room_bytes.saturating_sub(text.len());
    }

    /// Counts an event on a track; returns its number there.
    fn count(&mut self, track: TrackId) -> Result<u32> {
        let rows =
            self.tracks.get_mut(track.0 as usize).ok_or(Error::Invalid { what: "an unknown track" })?;
        let arrival = *rows;
        *rows = rows.checked_add(1).ok_or(Error::Invalid { what: "too many events on a track" })?;
        Ok(arrival)
    }
}

impl Sink for Relay<'_> {
    fn name(&mut self, text: &str) -> Result<NameId> {
        let spot = self.recent_names.0.find(text);
        if let Spot::Known(place) = spot {
            return Ok(self.recent_names.1[usize::from(place)]);
        }
        let known = self.names.len();
        let id = self
            .names
            .intern(text)?
            .ok_or(Error::Invalid { what: "more than 4 GiB of names in one rank" })?;
        if id.0 == known {
            self.push_text(text);
            self.call(Call::Name { text_len: text.len() })?;
        }
        if let Spot::Other(place) = spot {
            self.recent_names.0.put(place, text);
            self.recent_names.1[usize::from(place)] = id;
        }
        Ok(id)
    }

    fn table(&mut self, spec: TableSpec) -> Result<TableId> {
        if let Some(&id) = self.tables.get(&spec.name) {
            return Ok(id);
        }
        let id = u16::try_from(self.tables.len())
            .map_err(|_| Error::Invalid { what: "more than 65,535 tables" })?;
        self.tables.insert(spec.name.clone(), TableId(id));
        self.call(Call::Table(Box::new(spec)))?;
        Ok(TableId(id))
    }

    fn field(&mut self, table: TableId, spec: FieldSpec) -> Result<FieldId> {
        let key = (table, spec.name.clone());
        if let Some(&id) = self.fields.get(&key) {
            return Ok(id);
        }
        let id = u32::try_from(self.fields.len()).map_err(|_| Error::Invalid { what: "too many fields" })?;
        self.fields.insert(key, FieldId(id));
        self.call(Call::Field(table, Box::new(spec)))?;
        Ok(FieldId(id))
    }

    fn track(&mut self, spec: TrackSpec) -> Result<TrackId> {
        let id = u32::try_from(self.tracks.len()).map_err(|_| Error::Invalid { what: "too many tracks" })?;
        self.tracks.push(0);
        self.call(Call::Track(Box::new(spec)))?;
        Ok(TrackId(id))
    }

    fn describe_track(&mut self, track: TrackId, spec: TrackSpec) -> Result<()> {
        self.call(Call::DescribeTrack(track, Box::new(spec)))
    }

    fn in_order(&mut self, track: TrackId) -> Result<()> {
        self.call(Call::InOrder(track))
    }

    fn slice(&mut self, slice: &SliceRecord<'_>) -> Result<SliceKey> {
        let &SliceRecord { track, start_ps, duration_ps, name, form, fields } = slice;
        let key = SliceKey { track, arrival: self.count(track)? };
        let fields = self.hold(fields);
        self.call(Call::Slice { track, start_ps, duration_ps, name, form, fields })?;
        Ok(key)
    }

    fn sample(
        &mut self,
        track: TrackId,
        time_ps: i64,
        value: f64,
        fields: &[(FieldId, Value<'_>)],
    ) -> Result<()> {
        self.count(track)?;
        let fields = self.hold(fields);
        self.call(Call::Sample { track, time_ps, value, fields })
    }

    fn row(&mut self, table: TableId, fields: &[(FieldId, Value<'_>)]) -> Result<()> {
        let fields = self.hold(fields);
        self.call(Call::Row { table, fields })
    }

    fn link(&mut self, from: SliceKey, to: SliceKey, name: NameId) -> Result<()> {
        self.call(Call::Link { from, to, name })
    }

    fn flow_point(&mut self, point: FlowPoint) -> Result<()> {
        self.call(Call::FlowPoint(point))
    }

    fn rank(&mut self, info: RankInfo) {
        // The batch that this may fill goes with the next call.
        self.batch.calls.push(Call::Rank(Box::new(info)));
    }

    fn warn(&mut self, kind: WarningKind, what: &str, place: &dyn Fn() -> String) {
        self.warnings.add(kind, what, place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{BuildOptions, Builder, Player};
    use crate::model::{Bind, FlowPhase, Nesting, TableKind, Unit};
    use crate::spill::MemoryScratch;

    /// Everything a reader can say, a few thousand times over.
    fn tell(sink: &mut dyn Sink) -> Result<()> {
        let table = |name: &str, kind| TableSpec {
            name: name.to_owned(),
            kind,
            name_key: String::new(),
            doc: String::new(),
        };
        let slices = sink.table(table("slices", TableKind::Slices))?;
        let samples = sink.table(table("samples", TableKind::Samples))?;
        let side = sink.table(table("side", TableKind::Side))?;
        assert_eq!(sink.table(table("slices", TableKind::Slices))?, slices);
        let mut field = |table, name: &str| sink.field(table, FieldSpec::new(name, Unit::None, "", ""));
        let (number, text, named, unit) = (
            field(slices, "number")?,
            field(slices, "text")?,
            field(slices, "named")?,
            field(samples, "of")?,
        );
        let (note, number_again) = (field(side, "note")?, field(slices, "number")?);
        assert_eq!(number_again, number);
        let group = sink.track(TrackSpec::group("all", None, 0))?;
        let sorted = sink.track(TrackSpec::slices("sorted", Some(group), slices, Nesting::Calls, 0))?;
        let ordered =
            sink.track(TrackSpec::slices("ordered", Some(group), slices, Nesting::Concurrent, 1))?;
        let counter = sink.track(TrackSpec::counter("counter", Some(group), samples, Unit::Count, 2))?;
        sink.in_order(ordered)?;
        let arrow = sink.name("arrow")?;
        let mut before = None;
        for at in 0..6_000_i64 {
            let name = sink.name(&format!("name {}", at % 70))?;
            let (words, json) = (format!("text {}", at % 1_000), format!("[{at}]"));
            let of_number = [Value::Int(-at), Value::Uint(u64::MAX), Value::Float(0.5), Value::Bool(true)]
                [at as usize % 4];
            let of_text = if at % 3 == 0 { Value::Json(&json) } else { Value::Text(&words) };
            let fields = [(number, of_number), (text, of_text), (named, Value::Name(name))];
            let track = if at % 2 == 0 { sorted } else { ordered };
            let start_ps = if at % 2 == 0 { at * 7_919 % 6_000 } else { at };
            let fields = &fields[..at as usize % 4];
            let form = Form::Complete;
            let key = sink.slice(&SliceRecord { track, start_ps, duration_ps: 5, name, form, fields })?;
            if let Some(before) = before.replace(key).filter(|_| at % 5 == 0) {
                sink.link(before, key, arrow)?;
            }
            sink.sample(counter, at, at as f64, &[(unit, Value::Name(arrow))][..at as usize % 2])?;
            sink.row(side, &[(note, Value::Text(&words))])?;
            if at % 10 == 0 {
                let (phase, bind) =
                    (if at % 20 == 0 { FlowPhase::Start } else { FlowPhase::End }, Bind::Enclosing);
                let point =
                    FlowPoint { key: at as u64 / 20, track: sorted, time_ps: at, phase, bind, name: arrow };
                sink.flow_point(point)?;
            }
            sink.warn(WarningKind::MissingData, "nothing", &|| format!("at {at}"));
        }
        sink.describe_track(sorted, TrackSpec::slices("renamed", None, slices, Nesting::Calls, 0))?;
        sink.rank(RankInfo { source: "test".to_owned(), ..RankInfo::default() });
        Ok(())
    }

    /// Plays each batch as soon as it comes.
    struct AtOnce<'b, 'a> {
        builder: &'b mut Builder<'a>,
        player: Player,
        batches: usize,
    }

    impl Carrier for AtOnce<'_, '_> {
        fn carry(&mut self, mut batch: Batch) -> Result<Batch> {
            self.batches += 1;
            self.player.play(&mut batch, self.builder)?;
            Ok(batch)
        }
    }

    #[test]
    fn a_relayed_build_is_the_same_to_the_byte() {
        // All texts fit the dictionary, some do, none does.
        [BuildOptions::default().dictionary_bytes, 3_000, 0].into_iter().for_each(check_a_relayed_build);
    }

    #[track_caller]
    fn check_a_relayed_build(dictionary_bytes: usize) {
        let scratch = MemoryScratch::default();
        let options = BuildOptions { dictionary_bytes, ..BuildOptions::default() };
        let mut direct = Vec::new();
        let mut builder = Builder::new(&scratch, &mut direct, options).unwrap();
        tell(&mut builder).unwrap();
        let built = builder.finish().unwrap();
        assert_eq!(built.warnings[0].count, 6_000);

        let mut relayed = Vec::new();
        let mut builder = Builder::new(&scratch, &mut relayed, options).unwrap();
        let mut carrier = AtOnce { builder: &mut builder, player: Player::default(), batches: 0 };
        let mut relay = Relay::new(&scratch, &mut carrier, dictionary_bytes);
        tell(&mut relay).unwrap();
        let warnings = relay.end().unwrap();
        assert!(carrier.batches > 3, "{} batches", carrier.batches);
        builder.warned(&warnings);
        assert_eq!(builder.finish().unwrap(), built);
        assert!(relayed == direct, "{} and {} bytes", relayed.len(), direct.len());
    }

    #[test]
    fn an_error_of_the_builder_reaches_the_reader() {
        struct Full;
        impl Carrier for Full {
            fn carry(&mut self, _: Batch) -> Result<Batch> {
                Err(Error::Storage { what: "full" })
            }
        }
        let scratch = MemoryScratch::default();
        let mut carrier = Full;
        let mut relay = Relay::new(&scratch, &mut carrier, 0);
        let told = tell(&mut relay);
        assert_eq!(told, Err(Error::Storage { what: "full" }));
    }
}
