//! Puts the rows of one table on a track or into a side table.

use std::collections::HashMap;

use nprof_engine::base::Result;
use nprof_engine::model::{
    FieldId, FieldSpec, Sink, SliceForm, SliceKey, SliceRecord, TableId, TableKind, TableSpec, TrackId,
    Value, WarningKind,
};

use super::row::{Exactness, JsonRow, RowCell};
use nprof_engine::makers::neuron::schema::{
    self, CC_INSTRUCTION, CC_OPS, DMA, DMA_THROUGHPUT, HAM, HBM_USAGE, INSTRUCTION, INSTRUCTION_USAGE,
    PENDING_DMA, Queue, SEMAPHORE_UPDATE, TableSchema, dma_name, throttle_reason,
};
use nprof_engine::makers::neuron::{CounterTrack, NeuronTracks};

/// Kind of track that a table's rows go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowKind {
    Instruction,
    Dma,
    CcOps,
    CcInstruction,
    Ham,
    SemaphoreUpdate,
    PendingDma,
    DmaThroughput,
    InstructionUsage,
    HbmUsage,
    /// No track: rows are kept in the order of the file.
    Side,
}

/// The tables whose rows go to tracks.
static ROW_KINDS: [(&TableSchema, RowKind); 10] = [
    (&INSTRUCTION, RowKind::Instruction),
    (&DMA, RowKind::Dma),
    (&CC_OPS, RowKind::CcOps),
    (&CC_INSTRUCTION, RowKind::CcInstruction),
    (&HAM, RowKind::Ham),
    (&SEMAPHORE_UPDATE, RowKind::SemaphoreUpdate),
    (&PENDING_DMA, RowKind::PendingDma),
    (&DMA_THROUGHPUT, RowKind::DmaThroughput),
    (&INSTRUCTION_USAGE, RowKind::InstructionUsage),
    (&HBM_USAGE, RowKind::HbmUsage),
];

impl RowKind {
    fn of(table: &str) -> Self {
        let known = ROW_KINDS.iter().find(|(known, _)| known.name == table);
        known.map_or(Self::Side, |(_, kind)| *kind)
    }
}

/// A table of the sink and the fields that have occurred in it.
#[derive(Debug)]
pub(super) struct TableReader {
    pub(super) id: TableId,
    pub(super) row_kind: RowKind,
    definition: Option<&'static TableSchema>,
    columns: HashMap<String, JsonColumn>,
    /// Number of rows so far.
    rows: u64,
}

/// A field that has occurred.
#[derive(Debug, Clone, Copy)]
struct JsonColumn {
    field: FieldId,
    /// Number of the last row with this field, counted from one.
    row: u64,
}

/// The reason why a row cannot be placed: a missing or wrong field.
struct Misplaced(&'static str);

impl TableReader {
    pub(super) fn define(name: &str, sink: &mut dyn Sink) -> Result<Self> {
        let definition = schema::table(name);
        let spec = definition.map_or_else(|| TableSpec::side(name, ""), TableSchema::spec);
        let id = sink.table(spec)?;
        Ok(Self { id, row_kind: RowKind::of(name), definition, columns: HashMap::new(), rows: 0 })
    }

    /// Passes a row to the sink. Returns the key if the row is a slice. Rows that cannot be placed
    /// are counted.
    pub(super) fn take(
        &mut self,
        row: &JsonRow<'_>,
        offset: u64,
        tracks: &mut NeuronTracks,
        fields_left: &mut usize,
        sink: &mut dyn Sink,
    ) -> Result<Option<SliceKey>> {
        let fields = self.fields(row, offset, fields_left, sink)?;
        let kind = self.definition.map_or(TableKind::Side, |table| table.kind);
        let taken = match kind {
            TableKind::Side => {
                sink.row(self.id, &fields)?;
                return Ok(None);
            }
            TableKind::Slices => self.slice(row, &fields, offset, tracks, sink)?.map(Some),
            TableKind::Samples => self.sample(row, &fields, tracks, sink)?.map(|()| None),
        };
        match taken {
            Ok(key) => Ok(key),
            Err(Misplaced(what)) => {
                sink.warn(WarningKind::DamagedRecord, what, &|| format!("byte {offset}"));
                Ok(None)
            }
        }
    }

    /// All fields but the time, the name and the value.
    fn fields<'r>(
        &mut self,
        row: &'r JsonRow<'_>,
        offset: u64,
        fields_left: &mut usize,
        sink: &mut dyn Sink,
    ) -> Result<Vec<(FieldId, Value<'r>)>> {
        self.rows += 1;
        let mut repeated = false;
        let mut fields: Vec<(FieldId, Value<'r>)> = Vec::with_capacity(row.cells.len());
        for (name, cell) in &row.cells {
            if self.stands_elsewhere(name, cell) {
                continue;
            }
            let Some(column) = self.columns.get_mut(name.as_ref()) else {
                if *fields_left == 0 {
                    let what = "more than 16,384 different keys of all tables; the value is dropped";
                    sink.warn(WarningKind::AdjustedValue, what, &|| format!("byte {offset}"));
                    continue;
                }
                *fields_left -= 1;
                let spec = self.definition.map_or_else(|| FieldSpec::named(name), |table| table.field(name));
                let field = sink.field(self.id, spec)?;
                self.columns.insert(name.clone().into_owned(), JsonColumn { field, row: self.rows });
                fields.push((field, cell.value()));
                continue;
            };
            repeated |= column.row == self.rows;
            column.row = self.rows;
            fields.push((column.field, cell.value()));
        }
        if repeated {
            let place = || format!("byte {offset}");
            sink.warn(
                WarningKind::AdjustedValue,
                "a key that occurs twice in a row; the last value is kept",
                &place,
            );
            // The sort is stable. Among equal keys the last of the row comes first and stays.
            fields.reverse();
            fields.sort_by_key(|(field, _)| *field);
            fields.dedup_by_key(|(field, _)| *field);
        }
        Ok(fields)
    }

    /// Whether a value is part of the slice or the sample itself.
    fn stands_elsewhere(&self, name: &str, cell: &RowCell<'_>) -> bool {
        let Some(table) = self.definition else { return false };
        match table.kind {
            TableKind::Side => false,
            TableKind::Slices if self.row_kind != RowKind::SemaphoreUpdate && name == "duration" => true,
            _ if name == "timestamp" => true,
            TableKind::Slices => name == table.name_key && matches!(cell, RowCell::Text(_)),
            TableKind::Samples => {
                name == table.value_key
                    && cell.sample().is_some_and(|(_, exactness)| exactness == Exactness::Exact)
            }
        }
    }

    fn slice(
        &self,
        row: &JsonRow<'_>,
        fields: &[(FieldId, Value<'_>)],
        offset: u64,
        tracks: &mut NeuronTracks,
        sink: &mut dyn Sink,
    ) -> Result<Result<SliceKey, Misplaced>> {
        let start_ps = match row.time_ps("timestamp") {
            Some(Ok(time)) => time,
            Some(Err(())) => return Ok(Err(Misplaced("a timestamp that is not a time in range"))),
            None => return Ok(Err(Misplaced("a row without a timestamp"))),
        };
        let (form, duration_ps) = match row.time_ps("duration") {
            _ if self.row_kind == RowKind::SemaphoreUpdate => (SliceForm::Instant, 0),
            None => (SliceForm::Instant, 0),
            Some(Err(())) => return Ok(Err(Misplaced("a duration that is not a time in range"))),
            Some(Ok(duration)) if duration < 0 => {
                let place = || format!("byte {offset}");
                sink.warn(WarningKind::AdjustedValue, "a negative duration; kept as zero", &place);
                (SliceForm::Complete, 0)
            }
            Some(Ok(duration)) => (SliceForm::Complete, duration),
        };
        if start_ps.checked_add(duration_ps).is_none() {
            return Ok(Err(Misplaced("a duration that is not a time in range")));
        }
        let track = self.track(row, tracks, sink)?;
        let name = sink.name(&self.name(row))?;
        sink.slice(&SliceRecord { track, start_ps, duration_ps, name, form, fields }).map(Ok)
    }

    fn track(&self, row: &JsonRow<'_>, tracks: &mut NeuronTracks, sink: &mut dyn Sink) -> Result<TrackId> {
        let core = row.number("pcore_idx").unwrap_or(0);
        match self.row_kind {
            RowKind::Dma => {
                let queue = Queue::of_row(row.text("subgroup"), row.number("dma_queue"));
                match row.text("aggregated") {
                    "yes" => tracks.dma_transfers(sink, 0, queue),
                    _ => tracks.dma_packets(sink, 0, queue, row.number("dma_engine")),
                }
            }
            RowKind::CcOps => tracks.collective_ops(sink, row.number("stream_id")),
            RowKind::CcInstruction => tracks.cc_core(sink, row.number("core_idx").unwrap_or(0)),
            RowKind::Ham => tracks.throttling(sink, core),
            RowKind::SemaphoreUpdate => match row.get("id") {
                Some(RowCell::Int(id)) => tracks.semaphore(sink, 0, &id.to_string()),
                _ => tracks.semaphore(sink, 0, row.text("id")),
            },
            _ => tracks.engine(sink, row.text("label"), core),
        }
    }

    /// Name of the slice.
    fn name<'r>(&self, row: &'r JsonRow<'_>) -> std::borrow::Cow<'r, str> {
        match self.row_kind {
            RowKind::Dma => dma_name(row.text("variable"), row.text("queue_type")).into(),
            RowKind::Ham => match row.get("type") {
                Some(RowCell::Int(code)) => throttle_reason(*code),
                _ => row.text("type").into(),
            },
            _ => match row.get(self.definition.map_or("", |table| table.name_key)) {
                Some(RowCell::Text(name)) => name.as_ref().into(),
                Some(RowCell::Int(number)) => number.to_string().into(),
                _ => "".into(),
            },
        }
    }

    fn sample(
        &self,
        row: &JsonRow<'_>,
        fields: &[(FieldId, Value<'_>)],
        tracks: &mut NeuronTracks,
        sink: &mut dyn Sink,
    ) -> Result<Result<(), Misplaced>> {
        let time_ps = match row.time_ps("timestamp") {
            Some(Ok(time)) => time,
            Some(Err(())) => return Ok(Err(Misplaced("a timestamp that is not a time in range"))),
            None => return Ok(Err(Misplaced("a row without a timestamp"))),
        };
        let value = row.get(self.definition.map_or("", |table| table.value_key)).and_then(RowCell::sample);
        let Some((value, _)) = value else { return Ok(Err(Misplaced("a sample without a value"))) };
        let counter = match (self.row_kind, row.text("type")) {
            (RowKind::DmaThroughput, _) => CounterTrack::DmaThroughput,
            (RowKind::HbmUsage, _) => CounterTrack::HbmUsage,
            (RowKind::InstructionUsage, "psum") => CounterTrack::PsumUsage,
            (RowKind::InstructionUsage, _) => CounterTrack::SbufUsage,
            _ => CounterTrack::PendingDmas,
        };
        let track = tracks.counter(sink, 0, counter)?;
        sink.sample(track, time_ps, value, fields).map(Ok)
    }
}
