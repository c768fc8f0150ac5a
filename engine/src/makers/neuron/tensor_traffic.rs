//! Transfers of tensors between the memory of a Neuron device and the state buffer, by the names
//! that the rows of transfers carry.
//!
//! Packets are parts of transfers and do not count. The cost is that of one pass over the rows of
//! DMA.

use rustc_hash::FxHashMap;

use super::schema::{DMA, NEFF_NODE, is_known_variable};
use crate::base::{Interval, Result};
use crate::exec::Cancel;
use crate::makers::call_columns::{CallFields, FieldColumns, first_row, slice_tracks};
use crate::makers::columns::NamedColumns;
use crate::metrics::TensorTraffic;
use crate::model::{NameId, OwnedValue};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// Names the state buffer among the sources and destinations of a transfer.
const STATE_BUFFER: &str = "SB";

/// Fields of a transfer.
const FIELDS: [&str; 6] = ["aggregated", "duplicate", "variable", "source", "dest", "transfer_size"];
const AGGREGATED: usize = 0;
const DUPLICATE: usize = 1;
const VARIABLE: usize = 2;
const SOURCE: usize = 3;
const DEST: usize = 4;
const SIZE: usize = 5;

/// The traffic of the tensors of a rank that transfers name, the most loaded bytes first, on the
/// clock of its segment.
pub(in crate::makers) fn tensor_traffic<B: Bytes>(
    segment: &Segment<B>,
    rank: u32,
    cancel: Cancel<'_>,
) -> Result<Vec<TensorTraffic>> {
    let Some(wanted) = segment.table(DMA.name) else { return Ok(Vec::new()) };
    let columns = FieldColumns::of(segment, wanted, FIELDS);
    let mut tensors =
        NamedTensors { segment, rank, marks: FxHashMap::default(), found: FxHashMap::default() };
    for (track, table) in slice_tracks(segment, |_| true).filter(|(_, table)| *table == wanted) {
        for block in segment.blocks_of(track)? {
            cancel.check()?;
            let fields = columns.block(segment, block)?;
            let mut core = BlockReader::new(segment, table, block)?;
            let starts = core.core_ints(ColumnRole::Start)?;
            let durations = core.core_ints(ColumnRole::Duration)?;
            let rows = first_row(segment, table, block)?..;
            for (at, (row, (&start_ps, &duration_ps))) in rows.zip(starts.iter().zip(&durations)).enumerate()
            {
                tensors.add(&fields, at, row, Interval::lasting(start_ps, duration_ps))?;
            }
        }
    }
    let sizes = stated_sizes(segment, cancel)?;
    let mut all: Vec<TensorTraffic> = tensors.found.into_values().filter(|tensor| tensor.loads > 0).collect();
    for tensor in &mut all {
        tensor.size_bytes = sizes.get(&tensor.name).copied().unwrap_or(0);
    }
    all.sort_by(|a, b| b.loaded_bytes.cmp(&a.loaded_bytes).then_with(|| a.name.cmp(&b.name)));
    Ok(all)
}

/// Facts about a text of a row.
#[derive(Debug, Clone, Copy)]
struct TextMark {
    is_yes: bool,
    is_known: bool,
    has_state_buffer: bool,
}

/// The tensors so far, by the number of the name.
struct NamedTensors<'s, B> {
    segment: &'s Segment<B>,
    rank: u32,
    marks: FxHashMap<u32, TextMark>,
    found: FxHashMap<u32, TensorTraffic>,
}

impl<B: Bytes> NamedTensors<'_, B> {
    fn mark(&mut self, code: Option<u32>) -> Result<Option<TextMark>> {
        let Some(code) = code else { return Ok(None) };
        if let Some(mark) = self.marks.get(&code) {
            return Ok(Some(*mark));
        }
        let text = self.segment.text(NameId(code))?;
        let mark = TextMark {
            is_yes: text == "yes",
            is_known: is_known_variable(text),
            has_state_buffer: text.contains(STATE_BUFFER),
        };
        self.marks.insert(code, mark);
        Ok(Some(mark))
    }

    /// Adds a row, if it is a transfer of a tensor to or from the state buffer.
    fn add(
        &mut self,
        fields: &CallFields<{ FIELDS.len() }>,
        at: usize,
        row: u32,
        span: Interval,
    ) -> Result<()> {
        let is_yes = |mark: Option<TextMark>| mark.is_some_and(|mark| mark.is_yes);
        let Some(code) = fields.code(VARIABLE, at) else { return Ok(()) };
        if !is_yes(self.mark(fields.code(AGGREGATED, at))?)
            || is_yes(self.mark(fields.code(DUPLICATE, at))?)
            || !self.mark(Some(code))?.is_some_and(|mark| mark.is_known)
        {
            return Ok(());
        }
        let [from, to] = [SOURCE, DEST].map(|field| fields.code(field, at));
        let is_buffer = |mark: Option<TextMark>| mark.is_some_and(|mark| mark.has_state_buffer);
        let (from, to) = (is_buffer(self.mark(from)?), is_buffer(self.mark(to)?));
        let bytes = fields.int(SIZE, at).map_or(0, |bytes| bytes.max(0).unsigned_abs());
        if from == to || bytes == 0 {
            return Ok(());
        }
        let (start_ps, end_ps) = (span.start.0, span.end.0);
        let name = self.segment.text(NameId(code))?;
        let tensor = self.found.entry(code).or_insert_with(|| TensorTraffic {
            rank: self.rank,
            name: name.to_owned(),
            ..TensorTraffic::default()
        });
        if from {
            tensor.stored_bytes = tensor.stored_bytes.saturating_add(bytes);
            return Ok(());
        }
        if tensor.loads == 0 || start_ps < tensor.span_ps.0 {
            (tensor.row, tensor.span_ps.0) = (row, start_ps);
        }
        tensor.span_ps.1 = if tensor.loads == 0 { end_ps } else { tensor.span_ps.1.max(end_ps) };
        tensor.loads += 1;
        tensor.loaded_bytes = tensor.loaded_bytes.saturating_add(bytes);
        tensor.loading_ps = tensor.loading_ps.saturating_add(end_ps.abs_diff(start_ps));
        Ok(())
    }
}

/// Bytes of tensors by name, as the program states them.
fn stated_sizes<B: Bytes>(segment: &Segment<B>, cancel: Cancel<'_>) -> Result<FxHashMap<String, u64>> {
    let mut sizes = FxHashMap::default();
    let Some(table) = NamedColumns::of(segment, NEFF_NODE.name, cancel) else { return Ok(sizes) };
    for row in table.all_rows()? {
        let of = |name: &str| row.iter().find(|(of, _)| *of == name).map(|(_, value)| value);
        let (Some(OwnedValue::Text(name)), Some(size)) = (of("variable_name"), of("size")) else { continue };
        let bytes = match size {
            OwnedValue::Text(text) => text.parse().ok(),
            OwnedValue::Int(bytes) => u64::try_from(*bytes).ok(),
            OwnedValue::Uint(bytes) => Some(*bytes),
            _ => None,
        };
        if let Some(bytes) = bytes {
            sizes.insert(name.clone(), bytes);
        }
    }
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{BuildOptions, Builder};
    use crate::makers::neuron::schema::{Dma, NeffNode};
    use crate::makers::neuron::{NeuronTracks, SOURCE};
    use crate::model::{RankInfo, Sink, SliceForm, SliceRecord, Value};
    use crate::spill::MemoryScratch;

    /// A row of DMA: tensor, whether it is a whole transfer, ends, start, bytes.
    type DmaRow = (&'static str, &'static str, [&'static str; 2], i64, i64);

    const WEIGHT: [&str; 2] = [r#"["WEIGHT"]"#, r#"["SB"]"#];
    const SAVE: [&str; 2] = [r#"["SB"]"#, r#"["VIRTUAL"]"#];
    const RELOAD: [&str; 2] = [r#"["VIRTUAL"]"#, r#"["SB"]"#];

    fn traffic(rows: &[DmaRow]) -> Vec<TensorTraffic> {
        let (scratch, mut bytes) = (MemoryScratch::default(), Vec::new());
        let mut sink = Builder::new(&scratch, &mut bytes, BuildOptions::default()).unwrap();
        sink.rank(RankInfo { source: SOURCE.to_owned(), ..RankInfo::default() });
        let dma = Dma::define(&mut sink).unwrap();
        let node = NeffNode::define(&mut sink).unwrap();
        let fields = [(node.variable_name, Value::Text("w")), (node.size, Value::Text("100"))];
        sink.row(node.table, &fields).unwrap();
        let queue = crate::makers::neuron::schema::Queue { name: "q", number: Some(1) };
        let track = NeuronTracks::default().dma_transfers(&mut sink, 0, queue).unwrap();
        for &(tensor, whole, [source, dest], start_ps, size) in rows {
            let name = sink.name(tensor).unwrap();
            let fields = [
                (dma.variable, Value::Text(tensor)),
                (dma.aggregated, Value::Text(whole)),
                (dma.source, Value::Json(source)),
                (dma.dest, Value::Json(dest)),
                (dma.transfer_size, Value::Int(size)),
            ];
            let form = SliceForm::Complete;
            sink.slice(&SliceRecord { track, start_ps, duration_ps: 5, name, form, fields: &fields })
                .unwrap();
        }
        sink.finish().unwrap();
        tensor_traffic(&Segment::open(bytes).unwrap(), 3, Cancel::NEVER).unwrap()
    }

    #[test]
    fn whole_transfers_of_named_tensors_count() {
        let of = traffic(&[
            ("w", "yes", WEIGHT, 10, 60),
            ("w", "no", WEIGHT, 10, 60),
            ("kv", "yes", SAVE, 20, 50),
            ("w", "yes", WEIGHT, 30, 60),
            ("unknown", "yes", WEIGHT, 30, 60),
            ("kv", "yes", RELOAD, 40, 50),
            ("kv", "yes", RELOAD, 60, 50),
            ("out", "yes", SAVE, 70, 90),
        ]);
        let all: Vec<_> = of.iter().map(|of| (of.name.as_str(), of.loads, of.loaded_bytes)).collect();
        assert_eq!(all, [("w", 2, 120), ("kv", 2, 100)]);
        let [weight, spilled] = &of[..] else { panic!("{of:?}") };
        assert_eq!((weight.loading_ps, spilled.loading_ps), (10, 10));
        assert_eq!(
            (weight.size_bytes, weight.stored_bytes, weight.span_ps, weight.rank),
            (100, 0, (10, 35), 3)
        );
        assert_eq!((spilled.size_bytes, spilled.stored_bytes, spilled.span_ps), (0, 50, (40, 65)));
        assert_eq!((weight.needed_bytes(2.0), spilled.needed_bytes(2.0)), (Some(200.0), Some(50.0)));
        assert_eq!(TensorTraffic::default().needed_bytes(1.0), None);
    }
}
