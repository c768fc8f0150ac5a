//! The sink that becomes a segment.

use rustc_hash::FxHashMap;

use super::Scratch;
use super::row::{Packed, RowKey, put_value};
use super::sorter::Sorter;
use crate::base::bytes::Put;
use crate::base::{Error, Interval, Result};
use crate::block::ColumnType;
use crate::model::{
    FieldId, FieldSpec, FlowPoint, Form, NameId, Names, RankInfo, Sink, SliceKey, SliceRecord, TableId,
    TableKind, TableSpec, TrackId, TrackKind, TrackSpec, Value, WarningKind, Warnings,
};
use crate::segment::MAX_TRACK_DEPTH;

/// Longest text of the dictionary; longer ones are stored in place. A chunk of the dictionary stays small enough for
/// the codec, whatever its texts.
const MAX_DICTIONARY_TEXT: usize = 64 << 10;
/// Longest text of a field; the rest is cut off, with a warning.
const MAX_TEXT: usize = 16 << 20;
/// Times beyond this are moved to it: the distance of two times then always fits.
const MAX_PS: i64 = (1 << 62) - 1;
/// The place of a side table's rows, which stand on no track.
pub(super) const NO_TRACK: u32 = u32::MAX;

/// How much memory a build may take.
#[derive(Debug, Clone, Copy)]
pub struct BuildOptions {
    /// Bytes of rows that are sorted in memory; what comes beyond goes to the scratch space.
    pub sort_bytes: usize,
    /// Bytes of texts that are kept in the dictionary; new texts beyond are stored in place.
    pub dictionary_bytes: usize,
}

/// Together with the texts' numbers and the arrival numbers of rows this stays below 512 MiB at 20 M events.
impl Default for BuildOptions {
    fn default() -> Self {
        Self { sort_bytes: 128 << 20, dictionary_bytes: 96 << 20 }
    }
}

/// What is known of a track before its rows are written.
#[derive(Debug)]
pub(super) struct TrackState {
    pub spec: TrackSpec,
    pub rows: u32,
    pub span: Option<Interval>,
}

/// Takes events; [`Builder::finish`] writes the segment.
#[derive(Debug)]
pub struct Builder<S> {
    pub(super) options: BuildOptions,
    pub(super) names: Names,
    pub(super) tables: Vec<TableSpec>,
    pub(super) fields: Vec<(TableId, FieldSpec)>,
    fields_by_name: FxHashMap<(TableId, String), FieldId>,
    pub(super) tracks: Vec<TrackState>,
    pub(super) sorter: Sorter<S>,
    /// Slices, samples and rows so far; the next one's number by arrival.
    pub(super) arrivals: u32,
    pub(super) links: Vec<(SliceKey, SliceKey, NameId)>,
    pub(super) points: Vec<FlowPoint>,
    pub(super) rank: RankInfo,
    pub(super) warnings: Warnings,
}

impl<S: Scratch> Builder<S> {
    /// An empty rank.
    pub fn new(scratch: S, options: BuildOptions) -> Self {
        Self {
            options,
            names: Names::default(),
            tables: Vec::new(),
            fields: Vec::new(),
            fields_by_name: FxHashMap::default(),
            tracks: Vec::new(),
            sorter: Sorter::new(scratch, options.sort_bytes),
            arrivals: 0,
            links: Vec::new(),
            points: Vec::new(),
            rank: RankInfo::default(),
            warnings: Warnings::default(),
        }
    }

    /// Slices, samples and side rows taken so far.
    #[must_use]
    pub fn rows(&self) -> u32 {
        self.arrivals
    }

    fn check_track(&self, spec: &TrackSpec) -> Result<()> {
        let table_fits = match spec.kind {
            TrackKind::Group => true,
            TrackKind::Slices(id, _) => self.table_kind(id) == Some(TableKind::Slices),
            TrackKind::Counter(id) => self.table_kind(id) == Some(TableKind::Samples),
        };
        if !table_fits {
            return Err(Error::Invalid { what: "a track needs a table of its kind" });
        }
        if spec.parent.is_some_and(|parent| parent.0 as usize >= self.tracks.len()) {
            return Err(Error::Invalid { what: "a track's group must be defined first" });
        }
        Ok(())
    }

    fn table_kind(&self, id: TableId) -> Option<TableKind> {
        self.tables.get(usize::from(id.0)).map(|table| table.kind)
    }

    /// Counts an event on a track; the times are within limits already.
    fn count(&mut self, track: TrackId, start_ps: i64, end_ps: i64) {
        let state = &mut self.tracks[track.0 as usize];
        state.rows += 1;
        let event = Interval::new(start_ps, end_ps);
        state.span = Some(state.span.map_or(event, |span| span.cover(event)));
    }

    fn arrive(&mut self) -> Result<u32> {
        let arrival = self.arrivals;
        // The last number is kept free: row numbers plus one fit 32 bits.
        if arrival == u32::MAX - 1 {
            return Err(Error::Invalid { what: "more than 4,294,967,294 events in one rank" });
        }
        self.arrivals += 1;
        Ok(arrival)
    }

    fn limited(&mut self, time_ps: i64) -> i64 {
        let limited = time_ps.clamp(-MAX_PS, MAX_PS);
        if limited != time_ps {
            self.warn(WarningKind::AdjustedValue, "a time more than 53 days from the origin", &|| {
                format!("{time_ps} ps")
            });
        }
        limited
    }

    fn push(
        &mut self,
        table: TableId,
        track: u32,
        (start_ps, duration_ps): (i64, i64),
        head: impl FnOnce(&mut Vec<u8>),
        fields: &[(FieldId, Value<'_>)],
    ) -> Result<u32> {
        let known = |&(id, _): &(FieldId, Value<'_>)| {
            self.fields.get(id.0 as usize).is_some_and(|(of, _)| *of == table)
        };
        if !fields.iter().all(known) {
            return Err(Error::Invalid { what: "a field of another table" });
        }
        for &(_, value) in fields {
            if let Value::Text(text) | Value::Json(text) = value
                && text.len() > MAX_TEXT
            {
                self.warn(WarningKind::AdjustedValue, "a text of more than 16 MiB, which was cut", &|| {
                    start_of(text)
                });
            }
        }
        let arrival = self.arrive()?;
        let place = u64::from(table.0) << 32 | u64::from(track);
        let key = RowKey { place, start_ps, duration_ps, arrival };
        let (names, limit) = (&mut self.names, self.options.dictionary_bytes);
        self.sorter.push(key, |out| {
            head(out);
            for &(id, value) in fields {
                put_field(id.0, value, names, limit, out);
            }
        })?;
        Ok(arrival)
    }
}

/// At most `len` bytes of a text.
fn cut_off(text: &str, len: usize) -> &str {
    if text.len() <= len { text } else { &text[..text.floor_char_boundary(len)] }
}

/// Enough of a text to find it.
fn start_of(text: &str) -> String {
    format!("the one that begins with {:?}", cut_off(text, 40))
}

fn put_field(field: u32, value: Value<'_>, names: &mut Names, limit: usize, out: &mut Vec<u8>) {
    match value {
        Value::Int(v) => put_value(field, ColumnType::Int, Packed::Int(v), out),
        Value::Uint(v) => put_value(field, ColumnType::Uint, Packed::Int(v.cast_signed()), out),
        Value::Bool(v) => put_value(field, ColumnType::Bool, Packed::Int(i64::from(v)), out),
        Value::Float(v) => put_value(field, ColumnType::Float, Packed::Float(v), out),
        Value::Text(v) => put_text(field, v, (ColumnType::Text, ColumnType::LongText), names, limit, out),
        Value::Json(v) => put_text(field, v, (ColumnType::Json, ColumnType::LongJson), names, limit, out),
    }
}

/// In the dictionary while it has room, else in place.
fn put_text(
    field: u32,
    text: &str,
    (coded, in_place): (ColumnType, ColumnType),
    names: &mut Names,
    limit: usize,
    out: &mut Vec<u8>,
) {
    let room = names.text_bytes() + text.len() <= limit;
    let known = match text.len() {
        0..=MAX_DICTIONARY_TEXT if room => names.intern(text),
        0..=MAX_DICTIONARY_TEXT => names.find(text),
        _ => None,
    };
    match known {
        Some(id) => put_value(field, coded, Packed::Int(i64::from(id.0)), out),
        None => put_value(field, in_place, Packed::Text(cut_off(text, MAX_TEXT)), out),
    }
}

impl<S: Scratch> Sink for Builder<S> {
    fn name(&mut self, text: &str) -> Result<NameId> {
        if text.len() > MAX_DICTIONARY_TEXT {
            self.warn(WarningKind::AdjustedValue, "a name of more than 64 KiB, which was cut", &|| {
                start_of(text)
            });
        }
        let text = cut_off(text, MAX_DICTIONARY_TEXT);
        self.names.intern(text).ok_or(Error::Invalid { what: "more than 4 GiB of names in one rank" })
    }

    fn table(&mut self, spec: TableSpec) -> Result<TableId> {
        let at = self.tables.iter().position(|table| table.name == spec.name).unwrap_or_else(|| {
            self.tables.push(spec);
            self.tables.len() - 1
        });
        u16::try_from(at).map(TableId).map_err(|_| Error::Invalid { what: "more than 65,535 tables" })
    }

    fn field(&mut self, table: TableId, spec: FieldSpec) -> Result<FieldId> {
        if self.table_kind(table).is_none() {
            return Err(Error::Invalid { what: "a field of an unknown table" });
        }
        let key = (table, spec.name.clone());
        if let Some(&id) = self.fields_by_name.get(&key) {
            return Ok(id);
        }
        let id = u32::try_from(self.fields.len())
            .map(FieldId)
            .map_err(|_| Error::Invalid { what: "too many fields" })?;
        self.fields.push((table, spec));
        self.fields_by_name.insert(key, id);
        Ok(id)
    }

    fn track(&mut self, spec: TrackSpec) -> Result<TrackId> {
        self.check_track(&spec)?;
        let id = u32::try_from(self.tracks.len()).ok().filter(|&id| id != NO_TRACK);
        let id = id.ok_or(Error::Invalid { what: "too many tracks" })?;
        self.tracks.push(TrackState { spec, rows: 0, span: None });
        Ok(TrackId(id))
    }

    fn describe_track(&mut self, track: TrackId, spec: TrackSpec) -> Result<()> {
        self.check_track(&spec)?;
        let old =
            self.tracks.get(track.0 as usize).ok_or(Error::Invalid { what: "there is no such track" })?;
        if old.spec.kind != spec.kind {
            return Err(Error::Invalid { what: "a track's kind stays" });
        }
        let ancestor = |id: &TrackId| self.tracks[id.0 as usize].spec.parent;
        let above = std::iter::successors(spec.parent, ancestor).take(MAX_TRACK_DEPTH + 1);
        let mut depth = 0;
        for id in above {
            depth += 1;
            if id == track || depth > MAX_TRACK_DEPTH {
                return Err(Error::Invalid { what: "tracks form a tree, at most 32 deep" });
            }
        }
        self.tracks[track.0 as usize].spec = spec;
        Ok(())
    }

    fn slice(&mut self, slice: &SliceRecord<'_>) -> Result<SliceKey> {
        let kind = self.tracks.get(slice.track.0 as usize).map(|track| track.spec.kind);
        let Some(TrackKind::Slices(table, _)) = kind else {
            return Err(Error::Invalid { what: "a slice needs a track for slices" });
        };
        if slice.duration_ps < 0 || slice.name.0 as usize >= self.names.len() {
            return Err(Error::Invalid { what: "a slice needs a name and a duration that is not negative" });
        }
        let start_ps = self.limited(slice.start_ps);
        let end_ps = self.limited(slice.start_ps.saturating_add(slice.duration_ps));
        let head = |out: &mut Vec<u8>| {
            out.put_varint(u64::from(slice.name.0));
            let form = Form::ALL.iter().position(|&form| form == slice.form).unwrap_or_default();
            out.push(u8::try_from(form).unwrap_or_default());
        };
        let arrival = self.push(table, slice.track.0, (start_ps, end_ps - start_ps), head, slice.fields)?;
        self.count(slice.track, start_ps, end_ps);
        Ok(SliceKey(arrival))
    }

    fn sample(
        &mut self,
        track: TrackId,
        time_ps: i64,
        value: f64,
        fields: &[(FieldId, Value<'_>)],
    ) -> Result<()> {
        let kind = self.tracks.get(track.0 as usize).map(|track| track.spec.kind);
        let Some(TrackKind::Counter(table)) = kind else {
            return Err(Error::Invalid { what: "a sample needs a counter" });
        };
        let time_ps = self.limited(time_ps);
        self.push(table, track.0, (time_ps, 0), |out| out.extend_from_slice(&value.to_le_bytes()), fields)?;
        self.count(track, time_ps, time_ps);
        Ok(())
    }

    fn row(&mut self, table: TableId, fields: &[(FieldId, Value<'_>)]) -> Result<()> {
        if self.table_kind(table) != Some(TableKind::Side) {
            return Err(Error::Invalid { what: "a row needs a side table" });
        }
        self.push(table, NO_TRACK, (0, 0), |_| (), fields)?;
        Ok(())
    }

    fn link(&mut self, from: SliceKey, to: SliceKey, name: NameId) -> Result<()> {
        if from.0 >= self.arrivals || to.0 >= self.arrivals || name.0 as usize >= self.names.len() {
            return Err(Error::Invalid { what: "a link between slices that are not there" });
        }
        self.links.push((from, to, name));
        Ok(())
    }

    fn flow_point(&mut self, mut point: FlowPoint) -> Result<()> {
        if point.track.0 as usize >= self.tracks.len() || point.name.0 as usize >= self.names.len() {
            return Err(Error::Invalid { what: "a flow point on an unknown track" });
        }
        point.time_ps = self.limited(point.time_ps);
        self.points.push(point);
        Ok(())
    }

    fn rank(&mut self, info: RankInfo) {
        self.rank = info;
    }

    fn warn(&mut self, kind: WarningKind, what: &str, place: &dyn Fn() -> String) {
        self.warnings.add(kind, what, place);
    }
}
