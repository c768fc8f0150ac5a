//! Small Neuron ranks for tests of metrics.

use crate::ingest::{BuildOptions, Builder};
use crate::makers::neuron::schema::{Dma, Ham, Instruction, Metadata, Queue};
use crate::makers::neuron::{Engine, NeuronTracks, SOURCE};
use crate::model::{RankInfo, Sink, SliceForm, SliceRecord, Value};
use crate::segment::Segment;
use crate::spill::MemoryScratch;

/// An instruction: engine, name, layer, start, duration, elements of a product, bytes read from
/// memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct DrawnInstruction(
    pub(super) Engine,
    pub(super) &'static str,
    pub(super) &'static str,
    pub(super) i64,
    pub(super) i64,
    pub(super) i64,
    pub(super) i64,
);

/// A row of DMA: whether it is a whole transfer, start, duration, bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct DrawnTransfer(pub(super) bool, pub(super) i64, pub(super) i64, pub(super) i64);

/// A rank with these rows, and a limit to the half from 0 to `limited_ps`. Its peaks are 32,768
/// operations and 1,000 bytes a nanosecond.
pub(super) fn neuron_rank(
    instructions: &[DrawnInstruction],
    transfers: &[DrawnTransfer],
    limited_ps: i64,
) -> Segment<Vec<u8>> {
    let (scratch, mut bytes) = (MemoryScratch::default(), Vec::new());
    let mut sink = Builder::new(&scratch, &mut bytes, BuildOptions::default()).unwrap();
    sink.rank(RankInfo { source: SOURCE.to_owned(), ..RankInfo::default() });
    let table = Metadata::define(&mut sink).unwrap();
    let peaks = [
        (table.pe_clock_freq, Value::Float(1.0)),
        (table.pe_clock_others, Value::Float(1.0)),
        (table.pe_num_rows, Value::Int(128)),
        (table.pe_num_cols, Value::Int(128)),
        (table.hbm_ddr_bandwidth, Value::Int(1_000_000_000_000)),
        (table.dma_ddr_bandwidth, Value::Int(500_000_000_000)),
    ];
    sink.row(table.table, &peaks).unwrap();
    let (table, mut tracks) = (Instruction::define(&mut sink).unwrap(), NeuronTracks::default());
    for &DrawnInstruction(engine, name, layer, start_ps, duration_ps, elements, read) in instructions {
        let track = tracks.engine(&mut sink, engine.name(), 0).unwrap();
        let label = (table.label, Value::Text(engine.name()));
        let mut fields = vec![label, (table.layer, Value::Text(layer))];
        fields.extend((elements > 0).then_some((table.elements, Value::Int(elements))));
        fields.extend((read > 0).then_some((table.hbm_read_bytes, Value::Int(read))));
        let (name, form) = (sink.name(name).unwrap(), SliceForm::Complete);
        sink.slice(&SliceRecord { track, start_ps, duration_ps, name, form, fields: &fields }).unwrap();
    }
    let table = Dma::define(&mut sink).unwrap();
    let queue = Queue { name: "q", number: Some(1) };
    for &DrawnTransfer(is_whole, start_ps, duration_ps, size) in transfers {
        let track = match is_whole {
            true => tracks.dma_transfers(&mut sink, 0, queue).unwrap(),
            false => tracks.dma_packets(&mut sink, 0, queue, Some(0)).unwrap(),
        };
        let whole = if is_whole { "yes" } else { "no" };
        let fields = [(table.aggregated, Value::Text(whole)), (table.transfer_size, Value::Int(size))];
        let (name, form) = (sink.name("load").unwrap(), SliceForm::Complete);
        sink.slice(&SliceRecord { track, start_ps, duration_ps, name, form, fields: &fields }).unwrap();
    }
    let (table, track) = (Ham::define(&mut sink).unwrap(), tracks.throttling(&mut sink, 0).unwrap());
    let fields = [(table.k, Value::Int(1)), (table.n, Value::Int(2)), (table.kind, Value::Int(0))];
    let (name, form) = (sink.name("limit").unwrap(), SliceForm::Complete);
    let record = SliceRecord { track, start_ps: 0, duration_ps: limited_ps, name, form, fields: &fields };
    sink.slice(&record).unwrap();
    sink.finish().unwrap();
    Segment::open(bytes).unwrap()
}
