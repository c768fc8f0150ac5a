//! The protobuf part of an NTFF as far as its meaning is known. Names are ours; fields not named here are skipped.
//!
//! Texts are bytes: a damaged name must not cost the trace.

/// The whole protobuf part.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Capture {
    /// Path of the NEFF that ran.
    #[prost(bytes = "vec", tag = "1")]
    pub neff_path: Vec<u8>,
    /// The NEFF's uuid, written as a C string: cut at the first zero byte or followed by stray bytes.
    #[prost(bytes = "vec", tag = "2")]
    pub neff_uuid: Vec<u8>,
    /// The program's nodes.
    #[prost(message, repeated, tag = "4")]
    pub nodes: Vec<Node>,
    /// The runtime that captured.
    #[prost(message, optional, tag = "8")]
    pub runtime: Option<Version>,
    /// Kind of machine, e.g. `inf2.xlarge`.
    #[prost(bytes = "vec", tag = "9")]
    pub instance_type: Vec<u8>,
    /// The chip's architecture.
    #[prost(uint32, tag = "10")]
    pub architecture: u32,
    /// The kernel driver.
    #[prost(message, optional, tag = "11")]
    pub driver: Option<Version>,
    /// The collectives library.
    #[prost(message, optional, tag = "12")]
    pub collectives: Option<Version>,
    /// Room that the runtime set aside for records.
    #[prost(message, repeated, tag = "13")]
    pub buffers: Vec<Buffer>,
}

/// A node of the program.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Node {
    /// Its parts.
    #[prost(message, repeated, tag = "4")]
    pub parts: Vec<Part>,
}

/// Holds the subgraphs of a node.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Part {
    /// One per physical core.
    #[prost(message, repeated, tag = "1")]
    pub subgraphs: Vec<Subgraph>,
}

/// A library's version.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Version {
    /// First number.
    #[prost(uint64, tag = "1")]
    pub major: u64,
    /// Second number.
    #[prost(uint64, tag = "2")]
    pub minor: u64,
    /// Third number.
    #[prost(uint64, tag = "3")]
    pub patch: u64,
    /// The source's hash.
    #[prost(bytes = "vec", tag = "5")]
    pub hash: Vec<u8>,
}

/// Room for the records of one kind.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Buffer {
    /// As [`Segment::block_kind`].
    #[prost(uint32, tag = "1")]
    pub block_kind: u32,
    /// As [`Segment::record_kind`].
    #[prost(uint32, tag = "2")]
    pub record_kind: u32,
    /// Its size.
    #[prost(uint64, tag = "3")]
    pub size_bytes: u64,
}

/// What one core ran.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Subgraph {
    /// E.g. `sg00`.
    #[prost(bytes = "vec", tag = "1")]
    pub name: Vec<u8>,
    /// The engines' programs.
    #[prost(message, repeated, tag = "4")]
    pub code: Vec<Code>,
    /// What the runtime changed in them.
    #[prost(message, repeated, tag = "5")]
    pub patches: Vec<PatchList>,
    /// Where the records are.
    #[prost(message, repeated, tag = "6")]
    pub segments: Vec<Segment>,
    /// DMA queues, one entry per DMA engine.
    #[prost(message, repeated, tag = "7")]
    pub queues: Vec<Queue>,
    /// The clocks.
    #[prost(message, optional, tag = "10")]
    pub clocks: Option<Clocks>,
    /// Device memory by use.
    #[prost(message, repeated, tag = "11")]
    pub memory: Vec<MemoryUse>,
    /// How long the run took.
    #[prost(uint64, tag = "14")]
    pub total_time_ps: u64,
}

/// One engine's program as it lay in device memory.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Code {
    /// Which engine.
    #[prost(uint32, tag = "1")]
    pub engine: u32,
    /// Device address of the first instruction.
    #[prost(uint64, tag = "2")]
    pub address: u64,
    /// 64 bytes an instruction.
    #[prost(bytes = "vec", tag = "3")]
    pub words: Vec<u8>,
}

/// What the runtime changed in one engine's program.
#[derive(Clone, PartialEq, prost::Message)]
pub struct PatchList {
    /// Which engine.
    #[prost(uint32, tag = "1")]
    pub engine: u32,
    /// The changes.
    #[prost(message, repeated, tag = "2")]
    pub patches: Vec<Patch>,
}

/// One change of a program.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Patch {
    /// Byte offset within the program.
    #[prost(uint64, tag = "1")]
    pub offset_bytes: u64,
    /// How many instructions.
    #[prost(uint64, tag = "2")]
    pub count: u64,
    /// 0 inserted, 2 removed.
    #[prost(uint32, tag = "3")]
    pub kind: u32,
}

/// A run of records in the record area.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Segment {
    /// What sort of records.
    #[prost(uint32, tag = "1")]
    pub record_kind: u32,
    /// Who wrote them.
    #[prost(uint32, tag = "3")]
    pub block_kind: u32,
    /// From the start of the record area.
    #[prost(uint64, tag = "5")]
    pub offset_bytes: u64,
    /// 16 bytes a record.
    #[prost(uint64, tag = "6")]
    pub size_bytes: u64,
}

/// A DMA queue's ring on one DMA engine.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Queue {
    /// 0 to 15.
    #[prost(uint32, tag = "1")]
    pub dma_engine: u32,
    /// The queue's number on the engine.
    #[prost(uint32, tag = "2")]
    pub index: u32,
    /// 0 unknown, 2 weights.
    #[prost(uint32, tag = "3")]
    pub kind: u32,
    /// The runtime's name of it.
    #[prost(bytes = "vec", tag = "4")]
    pub name: Vec<u8>,
    /// -1 for none.
    #[prost(int64, tag = "5")]
    pub event_id: i64,
    /// Descriptors that the compiler laid out.
    #[prost(message, repeated, tag = "8")]
    pub blocks: Vec<StaticBlock>,
}

/// Descriptors that one trigger starts.
#[derive(Clone, PartialEq, prost::Message)]
pub struct StaticBlock {
    /// The block's number.
    #[prost(uint32, tag = "1")]
    pub id: u32,
    /// Packets that it makes on this DMA engine whenever it is triggered.
    #[prost(uint64, tag = "2")]
    pub packets: u64,
}

/// The clocks of a subgraph.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Clocks {
    /// Tensor engine.
    #[prost(message, optional, tag = "1")]
    pub tensor: Option<ClockRate>,
    /// Scalar engine.
    #[prost(message, optional, tag = "2")]
    pub scalar: Option<ClockRate>,
    /// Vector engine.
    #[prost(message, optional, tag = "3")]
    pub vector: Option<ClockRate>,
    /// GpSimd engine.
    #[prost(message, optional, tag = "4")]
    pub gpsimd: Option<ClockRate>,
    /// Sync engine.
    #[prost(message, optional, tag = "5")]
    pub sync: Option<ClockRate>,
    /// Events and semaphores.
    #[prost(message, optional, tag = "6")]
    pub event: Option<ClockRate>,
    /// Throttling.
    #[prost(message, optional, tag = "7")]
    pub throttle: Option<ClockRate>,
    /// DMA engines, in order.
    #[prost(message, repeated, tag = "8")]
    pub dma: Vec<ClockRate>,
}

/// How a clock relates to the common axis.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ClockRate {
    /// Ticks at time zero.
    #[prost(uint64, tag = "1")]
    pub init: u64,
    /// Ticks measured.
    #[prost(uint64, tag = "2")]
    pub actual: u64,
    /// Picoseconds measured in the same time.
    #[prost(uint64, tag = "3")]
    pub expected: u64,
}

/// Device memory of one use.
#[derive(Clone, PartialEq, prost::Message)]
pub struct MemoryUse {
    /// How much.
    #[prost(uint64, tag = "2")]
    pub size_bytes: u64,
    /// The runtime's name of the use.
    #[prost(bytes = "vec", tag = "3")]
    pub label: Vec<u8>,
}
