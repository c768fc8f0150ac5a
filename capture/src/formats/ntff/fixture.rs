//! Small traces, built record by record: for tests, and as seeds for the fuzz targets.

use prost::Message;

use super::container::HEADER_LEN;
use super::program::WORD_LEN;
use super::proto;
use nprof_engine::makers::neuron::Engine;

/// Codes of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentCodes {
    /// Code of the writer of the records.
    pub block_kind: u32,
    /// Code of the kind of the records.
    pub record_kind: u32,
}

impl SegmentCodes {
    /// The segment of a writer with this kind of records.
    pub const fn new(block_kind: u32, record_kind: u32) -> Self {
        Self { block_kind, record_kind }
    }
}

/// Codes of the instruction segment.
pub const INSTRUCTION: SegmentCodes = SegmentCodes::new(0, 0);
/// Codes of the segment of events and semaphores.
pub const EVENT: SegmentCodes = SegmentCodes::new(0, 1);
/// Codes of the segment of packets.
pub const DMA: SegmentCodes = SegmentCodes::new(1, 4);
/// Codes of the segment of throttling.
pub const THROTTLE: SegmentCodes = SegmentCodes::new(0, 5);

/// Ticks at which the run begins; one tick is two picoseconds.
pub const BEGIN: u64 = 1_000;

/// A trace that is being built.
pub struct TraceFixture {
    /// The protobuf part.
    pub capture: proto::Capture,
    /// Records by segment.
    pub segments: Vec<(SegmentCodes, Vec<u8>)>,
}

impl TraceFixture {
    /// A trace of one core. Its Tensor engine has these instructions after the NOTIFY that begins
    /// the run.
    pub fn new(words: &[[u8; WORD_LEN]]) -> Self {
        let rate = proto::ClockRate { init: 0, actual: 1, expected: 2 };
        let clock = Some(rate.clone());
        let clocks = proto::SubgraphClocks {
            tensor: clock.clone(),
            scalar: clock.clone(),
            event: clock.clone(),
            throttle: clock,
            dma: vec![rate; 2],
            ..Default::default()
        };
        let notify = word(0xa6, &[(36, &[2])]);
        let program = [&[notify], words].concat().concat();
        let code = [0, 1].map(|engine| proto::Code { engine, address: 0x4000, words: program.clone() });
        let queue = |dma_engine| proto::DmaRing {
            dma_engine,
            index: 1,
            kind: 2,
            name: b"qSPSpillReload0".to_vec(),
            event_id: -1,
            blocks: vec![proto::StaticBlock { id: 0, packets: 2 }],
        };
        let subgraph = proto::Subgraph {
            name: b"sg00".to_vec(),
            code: code.to_vec(),
            queues: vec![queue(0), queue(1)],
            clocks: Some(clocks),
            memory: vec![proto::MemoryUse { size_bytes: 7, label: b"dve".to_vec() }],
            total_time_ps: 5_000,
            ..Default::default()
        };
        let part = proto::NodePart { subgraphs: vec![subgraph] };
        let node = proto::Node { parts: vec![part] };
        let capture = proto::Capture {
            neff_path: b"/tmp/graph.neff".to_vec(),
            architecture: 2,
            nodes: vec![node],
            ..Default::default()
        };
        let mut trace = Self { capture, segments: Vec::new() };
        trace.run(Engine::Tensor, 0, BEGIN - 10, BEGIN);
        trace
    }

    /// Appends a record to a segment.
    pub fn record(&mut self, segment: SegmentCodes, low24: u32, kind: u8, payload: u32, ticks: u64) {
        let at = self.segments.iter().position(|(codes, _)| *codes == segment).unwrap_or_else(|| {
            self.segments.push((segment, Vec::new()));
            self.segments.len() - 1
        });
        let bytes = &mut self.segments[at].1;
        bytes.extend(&low24.to_le_bytes()[..3]);
        bytes.push(kind | 0x80);
        bytes.extend(payload.to_le_bytes());
        bytes.extend(ticks.to_le_bytes());
    }

    /// Records the start (0) or the end (1) of an instruction.
    pub fn edge(&mut self, engine: Engine, pc: i32, edge: u8, payload: u32, ticks: u64) {
        let kind = 4 * (1 + engine.index() as u8) + edge;
        let address = (0x4000 >> 6) + pc;
        self.record(INSTRUCTION, address as u32 & 0xf_ffff, kind, payload, ticks);
    }

    /// Records an instruction from start to end.
    pub fn run(&mut self, engine: Engine, pc: i32, start: u64, end: u64) {
        self.edge(engine, pc, 0, 14 << 16, start);
        self.edge(engine, pc, 1, 0xffff_0007, end);
    }

    /// Records a packet: started, written, finished.
    pub fn packet(&mut self, dma_engine: u8, queue: u32, start: u64, end: u64, size: u32) {
        self.record(DMA, 0, dma_engine, queue << 4 | 1, start);
        self.record(DMA, size, dma_engine, queue << 4 | 5 | 0xabc_0000, end);
        self.record(DMA, 0, dma_engine, queue << 4 | 6, end + 1);
    }

    /// The subgraph of the only core.
    pub fn subgraph(&mut self) -> &mut proto::Subgraph {
        &mut self.capture.nodes[0].parts[0].subgraphs[0]
    }

    /// Bytes of the file.
    pub fn bytes(mut self) -> Vec<u8> {
        let segments = std::mem::take(&mut self.segments);
        let mut records = Vec::new();
        for (SegmentCodes { block_kind, record_kind }, bytes) in segments {
            let (offset_bytes, size_bytes) = (records.len() as u64, bytes.len() as u64);
            self.subgraph().segments.push(proto::RecordRun {
                record_kind,
                block_kind,
                offset_bytes,
                size_bytes,
            });
            records.extend(bytes);
        }
        let protobuf = self.capture.encode_to_vec();
        let mut bytes = vec![0; HEADER_LEN];
        bytes[0] = 5;
        bytes[1..9].copy_from_slice(&(protobuf.len() as u64).to_le_bytes());
        bytes.extend(protobuf);
        bytes.extend(records);
        bytes
    }

    /// Sets the uuid of the traced program.
    pub fn uuid(mut self, uuid: &[u8]) -> Self {
        self.capture.neff_uuid = uuid.to_vec();
        self
    }
}

/// An instruction word: its opcode, and parts at their offsets.
pub fn word(opcode: u8, parts: &[(usize, &[u8])]) -> [u8; WORD_LEN] {
    let mut word = [0; WORD_LEN];
    word[0] = opcode;
    for (at, bytes) in parts {
        word[*at..*at + bytes.len()].copy_from_slice(bytes);
    }
    word
}

/// Address, strides and sizes of one row of elements.
pub fn row_access(address: u32, count: u16) -> Vec<u8> {
    let mut bytes = address.to_le_bytes().to_vec();
    for number in [1, 0, 0, count, 1, 1] {
        bytes.extend(number.to_le_bytes());
    }
    bytes
}

/// A trace with a bit of everything.
pub fn varied() -> TraceFixture {
    let mut trace = TraceFixture::new(&[
        word(0xb8, &[(16, &[0, 0x41, 0, 0xc0]), (12, &[0, 9, 16]), (32, &[8, 0, 1]), (36, &[64])]),
        word(0x02, &[(16, &row_access(0x300, 64)), (32, &[7]), (48, &row_access(0x200_0000, 64))]),
        word(0xa5, &[]),
    ]);
    for pc in 1..4 {
        trace.run(Engine::Tensor, pc, BEGIN + 10 * pc as u64, BEGIN + 10 * pc as u64 + 5);
    }
    trace.packet(0, 1, BEGIN + 40, BEGIN + 41, 64);
    trace.packet(0, 1, BEGIN + 40, BEGIN + 42, 4);
    trace.record(EVENT, 0x105, 7, 1, BEGIN + 3);
    trace.record(THROTTLE, 0x08_0000, 0, 7, BEGIN + 3);
    trace
}
