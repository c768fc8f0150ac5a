//! The sink that becomes a segment.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::next_field::GivenFields;
use crate::base::{Error, Interval, Result};
use crate::codec::ColumnTexts;
use crate::exec::CallerThread;
use crate::ingest::arrows::{ArrowStore, Link};
use crate::ingest::consumer::{Consumer, Direct, GroupKey, Pipeline, SharedProgram};
use crate::ingest::limits::{self, MORE_NAMES};
use crate::ingest::rows::{
    Arrived, MAX_DICTIONARY_TEXT, RowBuffer, RowSortKey, RowTimes, Template, ValuePacker, cut_off, start_of,
};
use crate::ingest::texts::DictionaryBuilder;
use crate::model::{
    FieldId, FieldSpec, Filled, FlowPoint, NameId, RankInfo, Schedule, Sink, SliceKey, SliceRecord, TableId,
    TableKind, TableSpec, TemplateId, TemplateValue, TrackContent, TrackId, TrackSpec, Value, WarningKind,
    Warnings,
};
use crate::segment::{MAX_TRACK_DEPTH, PieceWriter, SegmentOutput};
use crate::spill::{Scratch, Sorter, Space};

/// Maximum bytes of texts in memory, whatever the dictionary limit is. This is enough for the texts
/// that most rows share.
const MAX_TEXTS_IN_MEMORY: usize = 32 << 20;
/// Bytes of texts that are sent to the consumer at once: several chunks, so that all cores encode.
const TEXT_BATCH_BYTES: usize = 4 << 20;

/// Memory limits of a build.
#[derive(Debug, Clone, Copy)]
pub struct BuildOptions {
    /// Bytes of rows that are sorted in memory. Rows beyond this limit go to the scratch space.
    pub sort_bytes: usize,
    /// Bytes of texts in the dictionary. Beyond this limit, new field texts are stored in place.
    pub dictionary_bytes: usize,
    /// Bytes of rows of ordered tracks that wait until there are enough rows to learn from.
    pub group_bytes: usize,
    /// Bytes that the reader of a trace may use to sort events before sending them to the sink.
    pub reader_bytes: usize,
}

/// With all other state of a build, these defaults stay below 512 MiB. 10 M unsorted events took
/// 350 MiB, 100 M sorted events took 485 MiB.
impl Default for BuildOptions {
    fn default() -> Self {
        Self {
            sort_bytes: 192 << 20,
            dictionary_bytes: 96 << 20,
            group_bytes: 64 << 20,
            reader_bytes: Space::SORT_BYTES,
        }
    }
}

/// State of a track before all its rows are written.
#[derive(Debug)]
pub(super) struct TrackState {
    pub spec: TrackSpec,
    pub rows: u32,
    pub span: Option<Interval>,
    /// Waiting rows, for a track whose rows come in order.
    pub waiting: Option<Box<RowBuffer>>,
    /// Times of the last row. The next row must not be before it.
    pub(super) last: RowTimes,
    /// Whether a link names a row of this track.
    pub linked: bool,
}

impl TrackState {
    /// The place of the track, which has this number; `None` for a group.
    pub(super) fn place(&self, track: u32) -> Option<GroupKey> {
        match self.spec.kind {
            TrackContent::Slices(table, _) | TrackContent::Counter(table) => {
                Some(GroupKey { table, track: Some(TrackId(track)) })
            }
            TrackContent::Group => None,
        }
    }
}

/// Takes events and writes the segment. Rows of ordered tracks are written at once. All other rows
/// are sorted and written at [`Builder::finish`].
pub struct Builder<'a> {
    pub(super) scratch: &'a dyn Scratch,
    pub(super) options: BuildOptions,
    pub(super) names: DictionaryBuilder<'a>,
    pub(super) tables: Vec<TableSpec>,
    tables_by_name: FxHashMap<String, TableId>,
    pub(super) fields: Vec<(TableId, FieldSpec)>,
    fields_by_name: FxHashMap<(TableId, String), FieldId>,
    pub(super) templates: Vec<Template>,
    pub(super) tracks: Vec<TrackState>,
    /// Rows that are sorted at the end: all while they fit into memory, then none.
    pub(super) arrived: Arrived,
    /// All other rows that are sorted.
    pub(super) sorter: Sorter<RowSortKey, &'a dyn Scratch>,
    pub(super) line: Box<dyn Pipeline<'a> + 'a>,
    /// Bytes of rows that wait for their blocks, summed over tracks.
    pub(super) waiting_bytes: usize,
    /// Bytes of everything else that stays in memory.
    kept_bytes: usize,
    /// Free column memory for the next group.
    pub(super) pool: Vec<Vec<i64>>,
    /// Number of slices, samples and side rows so far.
    pub(super) rows: u32,
    pub(super) links: ArrowStore<'a>,
    pub(super) points: Vec<FlowPoint>,
    pub(super) rank: RankInfo,
    pub(super) warnings: Warnings,
}

impl<'a> Builder<'a> {
    /// Times beyond this limit are clamped: the difference of two times then always fits in 64
    /// bits.
    pub(super) const MAX_PS: i64 = (1 << 62) - 1;

    /// Creates a builder for an empty rank that is written to `output`.
    pub fn new(
        scratch: &'a dyn Scratch,
        output: &'a mut (dyn SegmentOutput + Send),
        options: BuildOptions,
    ) -> Result<Self> {
        let back = Consumer::new(PieceWriter::new(output)?, &CallerThread);
        Ok(Self::with_line(scratch, Direct(back), options))
    }

    /// Creates a builder for an empty rank. The consumer at the end of `line` writes the segment.
    pub fn with_line(scratch: &'a dyn Scratch, line: impl Pipeline<'a> + 'a, options: BuildOptions) -> Self {
        Self {
            scratch,
            options,
            names: DictionaryBuilder::new(scratch, options.dictionary_bytes.min(MAX_TEXTS_IN_MEMORY)),
            tables: Vec::new(),
            tables_by_name: FxHashMap::default(),
            fields: Vec::new(),
            fields_by_name: FxHashMap::default(),
            templates: Vec::new(),
            tracks: Vec::new(),
            arrived: Arrived::new(options.sort_bytes / 4 * 3),
            sorter: Sorter::new(scratch, options.sort_bytes / 3 * 2),
            line: Box::new(line),
            waiting_bytes: 0,
            kept_bytes: 0,
            pool: Vec::new(),
            rows: 0,
            links: ArrowStore::new(scratch),
            points: Vec::new(),
            rank: RankInfo::default(),
            warnings: Warnings::default(),
        }
    }

    /// Number of slices, samples and side rows so far.
    #[must_use]
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Adds the warnings that the reader's relay kept.
    pub fn warned(&mut self, warnings: &Warnings) {
        self.warnings.merge(warnings);
    }

    pub(super) fn table_kind(&self, id: TableId) -> Option<TableKind> {
        self.tables.get(usize::from(id.0)).map(|table| table.kind)
    }

    /// Counts an event on a track and returns its number there. The times are already within
    /// limits.
    pub(super) fn count(&mut self, track: TrackId, start_ps: i64, end_ps: i64) -> u32 {
        let state = &mut self.tracks[track.0 as usize];
        let arrival = state.rows;
        state.rows += 1;
        let event = Interval::new(start_ps, end_ps);
        state.span = Some(state.span.map_or(event, |span| span.cover(event)));
        arrival
    }

    pub(super) fn arrive(&mut self) -> Result<u32> {
        let arrival = self.rows;
        // The last number stays free, so that a row number plus one fits in 32 bits.
        if arrival == u32::MAX - 1 {
            return Err(Error::Invalid { what: "more than 4,294,967,294 events in one rank" });
        }
        self.rows += 1;
        Ok(arrival)
    }

    pub(super) fn limited(&mut self, time_ps: i64) -> i64 {
        let limited = time_ps.clamp(-Self::MAX_PS, Self::MAX_PS);
        if limited != time_ps {
            self.warn(
                WarningKind::AdjustedValue,
                "a time more than 53 days from the origin; clamped",
                &|| format!("{time_ps} ps"),
            );
        }
        limited
    }

    /// Takes memory that stays until the end from the memory for sorting.
    fn keep(&mut self, bytes: usize) {
        self.kept_bytes += bytes;
        self.arrived.shrink(bytes);
        self.sorter.shrink(bytes);
    }

    /// Whether tracks, texts and flow points take so much memory that no further ones are kept.
    fn is_full(&self) -> bool {
        self.kept_bytes > limits::kept_bytes(self.options.sort_bytes)
    }

    /// Sends the full chunks of the dictionary if there are enough to share the work among cores.
    pub(super) fn send_texts(&mut self) -> Result<()> {
        if self.names.full_bytes() < TEXT_BATCH_BYTES {
            return Ok(());
        }
        let chunks = self.names.take_full();
        self.keep(chunks.iter().map(ColumnTexts::len).sum::<usize>() * limits::TEXT_BYTES);
        self.line.send_texts(chunks)
    }
}

impl Sink for Builder<'_> {
    fn name(&mut self, text: &str) -> Result<NameId> {
        if text.len() > MAX_DICTIONARY_TEXT {
            self.warn(WarningKind::AdjustedValue, "a name of more than 64 KiB; cut", &|| start_of(text));
        }
        let mut text = cut_off(text, MAX_DICTIONARY_TEXT);
        if self.is_full() && self.names.find(text)?.is_none() {
            self.warn(WarningKind::AdjustedValue, limits::TOO_MANY_NAMES, &|| start_of(text));
            text = MORE_NAMES;
        }
        let id = self.names.intern(text)?;
        self.send_texts()?;
        id.ok_or(Error::Invalid { what: "more than 4 GiB of names in one rank" })
    }

    fn table(&mut self, spec: TableSpec) -> Result<TableId> {
        if let Some(&id) = self.tables_by_name.get(&spec.name) {
            return Ok(id);
        }
        let id = limits::next_table(self.tables.len())?;
        self.tables_by_name.insert(spec.name.clone(), id);
        self.tables.push(spec);
        Ok(id)
    }

    fn field(&mut self, table: TableId, spec: FieldSpec) -> Result<FieldId> {
        if self.table_kind(table).is_none() {
            return Err(Error::Invalid { what: "a field of an unknown table" });
        }
        let key = (table, spec.name.clone());
        if let Some(&id) = self.fields_by_name.get(&key) {
            return Ok(id);
        }
        let id = limits::next_field(self.fields.len())?;
        self.fields.push((table, spec));
        self.fields_by_name.insert(key, id);
        Ok(id)
    }

    fn track(&mut self, spec: TrackSpec) -> Result<TrackId> {
        self.check_track(&spec)?;
        let id = limits::next_track(self.tracks.len())?;
        self.keep(limits::TRACK_BYTES + limits::NAME_COPIES * spec.name.len());
        self.tracks.push(TrackState::new(spec));
        Ok(id)
    }

    fn describe_track(&mut self, track: TrackId, spec: TrackSpec) -> Result<()> {
        self.check_track(&spec)?;
        let old =
            self.tracks.get(track.0 as usize).ok_or(Error::Invalid { what: "the track does not exist" })?;
        if old.spec.kind != spec.kind {
            return Err(Error::Invalid { what: "the kind of a track cannot change" });
        }
        let ancestor = |id: &TrackId| self.tracks[id.0 as usize].spec.parent;
        let above = std::iter::successors(spec.parent, ancestor).take(MAX_TRACK_DEPTH + 1);
        let mut depth = 0;
        for id in above {
            depth += 1;
            if id == track || depth > MAX_TRACK_DEPTH {
                return Err(Error::Invalid {
                    what: "tracks must form a tree; a track can have 32 ancestors",
                });
            }
        }
        self.tracks[track.0 as usize].spec = spec;
        Ok(())
    }

    fn in_order(&mut self, track: TrackId) -> Result<()> {
        let state = self.tracks.get_mut(track.0 as usize).filter(|state| state.rows == 0);
        let state = state
            .ok_or(Error::Invalid { what: "the order of a track must be declared before its first row" })?;
        state.waiting = Some(Box::default());
        Ok(())
    }

    fn slice(&mut self, slice: &SliceRecord<'_>) -> Result<SliceKey> {
        self.take_slice(slice, None, GivenFields(slice.fields.iter()))
    }

    fn schedule(&mut self, table: TableId, schedule: Schedule) -> Result<()> {
        self.check_schedule(&schedule, table)?;
        // A table whose schedule is too long learns from its rows.
        let Some(program) = SharedProgram::of(&schedule) else { return Ok(()) };
        self.keep(schedule.slices.len() * limits::SLICE_BYTES);
        self.line.send_program(table, Arc::new(program))
    }

    fn template(&mut self, table: TableId, parts: &[(FieldId, TemplateValue)]) -> Result<TemplateId> {
        let of = |(field, _): &(FieldId, TemplateValue)| self.fields.get(field.0 as usize).map(|(of, _)| *of);
        if parts.iter().any(|part| of(part) != Some(table)) {
            return Err(Error::Invalid { what: "a template with a field that belongs to another table" });
        }
        let id =
            u32::try_from(self.templates.len()).map_err(|_| Error::Invalid { what: "too many templates" })?;
        let limit = self.options.dictionary_bytes;
        let mut packer = ValuePacker { names: &mut self.names, limit, warnings: &mut self.warnings };
        self.templates.push(Template::new(table, parts, &mut packer)?);
        self.send_texts()?;
        Ok(TemplateId(id))
    }

    fn slice_by(&mut self, filled: Filled<'_>, slice: &SliceRecord<'_>) -> Result<SliceKey> {
        self.take_slice(slice, Some(filled), GivenFields(slice.fields.iter()))
    }

    fn sample(
        &mut self,
        track: TrackId,
        time_ps: i64,
        value: f64,
        fields: &[(FieldId, Value<'_>)],
    ) -> Result<()> {
        self.take_sample(track, time_ps, value, None, GivenFields(fields.iter()))
    }

    fn sample_by(&mut self, filled: Filled<'_>, track: TrackId, time_ps: i64, value: f64) -> Result<()> {
        self.take_sample(track, time_ps, value, Some(filled), GivenFields([].iter()))
    }

    fn row(&mut self, table: TableId, fields: &[(FieldId, Value<'_>)]) -> Result<()> {
        self.take_row(table, GivenFields(fields.iter()))
    }

    fn link(&mut self, from: SliceKey, to: SliceKey, name: NameId) -> Result<()> {
        let is_there = |key: SliceKey| {
            self.tracks.get(key.track.0 as usize).is_some_and(|track| key.arrival < track.rows)
        };
        if !is_there(from) || !is_there(to) || !self.names.has(name) {
            return Err(Error::Invalid { what: "a link between slices that do not exist" });
        }
        for end in [from, to] {
            self.tracks[end.track.0 as usize].linked = true;
        }
        self.links.push(Link { from, to, name })
    }

    fn flow_point(&mut self, mut point: FlowPoint) -> Result<()> {
        let track = self.tracks.get(point.track.0 as usize);
        if track.is_none_or(|track| track.waiting.is_some()) || !self.names.has(point.name) {
            return Err(Error::Invalid {
                what: "a flow point on a track that is unknown or was declared in order",
            });
        }
        if self.is_full() {
            let place = || format!("{} ps", point.time_ps);
            self.warn(WarningKind::UnboundFlow, limits::TOO_MANY_POINTS, &place);
            return Ok(());
        }
        point.time_ps = self.limited(point.time_ps);
        self.keep(limits::POINT_BYTES);
        self.points.push(point);
        Ok(())
    }

    fn rank(&mut self, info: RankInfo) {
        self.rank = info;
    }

    fn warn_times(&mut self, kind: WarningKind, what: &str, count: u64, place: &dyn Fn() -> String) {
        self.warnings.add_all(kind, what, count, place);
    }
}
