//! The protobuf part of an NTFF, as far as its meaning is known. Names are ours. Other fields are
//! skipped.
//!
//! Texts are bytes, so that a damaged name does not cost the trace.

/// The whole protobuf part.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Capture {
    /// Path of the NEFF that ran.
    #[prost(bytes = "vec", tag = "1")]
    pub neff_path: Vec<u8>,
    /// The NEFF's uuid as a C string: cut at the first zero byte, or with stray bytes after it.
    #[prost(bytes = "vec", tag = "2")]
    pub neff_uuid: Vec<u8>,
    /// The program's nodes.
    #[prost(message, repeated, tag = "4")]
    pub nodes: Vec<Node>,
    /// Version of the runtime that captured.
    #[prost(message, optional, tag = "8")]
    pub runtime: Option<LibraryVersion>,
    /// Kind of machine, e.g. `inf2.xlarge`.
    #[prost(bytes = "vec", tag = "9")]
    pub instance_type: Vec<u8>,
    /// Code of the chip's architecture.
    #[prost(uint32, tag = "10")]
    pub architecture: u32,
    /// Version of the kernel driver.
    #[prost(message, optional, tag = "11")]
    pub driver: Option<LibraryVersion>,
    /// Version of the collectives library.
    #[prost(message, optional, tag = "12")]
    pub collectives: Option<LibraryVersion>,
    /// Buffers that the runtime reserved for records.
    #[prost(message, repeated, tag = "13")]
    pub buffers: Vec<Buffer>,
}

/// A node of the program.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Node {
    /// Parts of the node.
    #[prost(message, repeated, tag = "4")]
    pub parts: Vec<NodePart>,
}

/// A part of a node, which holds subgraphs.
#[derive(Clone, PartialEq, prost::Message)]
pub struct NodePart {
    /// Subgraphs, one per physical core.
    #[prost(message, repeated, tag = "1")]
    pub subgraphs: Vec<Subgraph>,
}

/// A library's version.
#[derive(Clone, PartialEq, prost::Message)]
pub struct LibraryVersion {
    /// First number of the version.
    #[prost(uint64, tag = "1")]
    pub major: u64,
    /// Second number of the version.
    #[prost(uint64, tag = "2")]
    pub minor: u64,
    /// Third number of the version.
    #[prost(uint64, tag = "3")]
    pub patch: u64,
    /// Hash of the source.
    #[prost(bytes = "vec", tag = "5")]
    pub hash: Vec<u8>,
}

/// A buffer for the records of one kind.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Buffer {
    /// The same code as [`RecordRun::block_kind`].
    #[prost(uint32, tag = "1")]
    pub block_kind: u32,
    /// The same code as [`RecordRun::record_kind`].
    #[prost(uint32, tag = "2")]
    pub record_kind: u32,
    /// Size of the buffer.
    #[prost(uint64, tag = "3")]
    pub size_bytes: u64,
}

/// The program, the records and the clocks of one core.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Subgraph {
    /// Name of the subgraph, e.g. `sg00`.
    #[prost(bytes = "vec", tag = "1")]
    pub name: Vec<u8>,
    /// The engines' programs.
    #[prost(message, repeated, tag = "4")]
    pub code: Vec<Code>,
    /// The runtime's changes to the programs.
    #[prost(message, repeated, tag = "5")]
    pub patches: Vec<PatchList>,
    /// Places of the records.
    #[prost(message, repeated, tag = "6")]
    pub segments: Vec<RecordRun>,
    /// DMA queues, one entry per DMA engine.
    #[prost(message, repeated, tag = "7")]
    pub queues: Vec<DmaRing>,
    /// The clocks of the core.
    #[prost(message, optional, tag = "10")]
    pub clocks: Option<SubgraphClocks>,
    /// Device memory, by use.
    #[prost(message, repeated, tag = "11")]
    pub memory: Vec<MemoryUse>,
    /// Duration of the run.
    #[prost(uint64, tag = "14")]
    pub total_time_ps: u64,
}

/// One engine's program as dumped from device memory.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Code {
    /// Number of the engine.
    #[prost(uint32, tag = "1")]
    pub engine: u32,
    /// Device address of the first instruction.
    #[prost(uint64, tag = "2")]
    pub address: u64,
    /// The instructions, 64 bytes each.
    #[prost(bytes = "vec", tag = "3")]
    pub words: Vec<u8>,
}

/// The runtime's changes to one engine's program.
#[derive(Clone, PartialEq, prost::Message)]
pub struct PatchList {
    /// Number of the engine.
    #[prost(uint32, tag = "1")]
    pub engine: u32,
    /// The changes to the program.
    #[prost(message, repeated, tag = "2")]
    pub patches: Vec<Patch>,
}

/// One change of a program.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Patch {
    /// Byte offset within the program.
    #[prost(uint64, tag = "1")]
    pub offset_bytes: u64,
    /// Number of instructions.
    #[prost(uint64, tag = "2")]
    pub count: u64,
    /// Kind of the change: 0 inserted, 2 removed.
    #[prost(uint32, tag = "3")]
    pub kind: u32,
}

/// A run of records in the record area.
#[derive(Clone, PartialEq, prost::Message)]
pub struct RecordRun {
    /// Code for the sort of records.
    #[prost(uint32, tag = "1")]
    pub record_kind: u32,
    /// Code for the writer of the records.
    #[prost(uint32, tag = "3")]
    pub block_kind: u32,
    /// Offset from the start of the record area.
    #[prost(uint64, tag = "5")]
    pub offset_bytes: u64,
    /// Size of the records, 16 bytes each.
    #[prost(uint64, tag = "6")]
    pub size_bytes: u64,
}

/// A DMA queue's ring on one DMA engine.
#[derive(Clone, PartialEq, prost::Message)]
pub struct DmaRing {
    /// Number of the DMA engine, 0 to 15.
    #[prost(uint32, tag = "1")]
    pub dma_engine: u32,
    /// The queue's number on the engine.
    #[prost(uint32, tag = "2")]
    pub index: u32,
    /// Kind of the queue: 0 unknown, 2 weights.
    #[prost(uint32, tag = "3")]
    pub kind: u32,
    /// The runtime's name of the queue.
    #[prost(bytes = "vec", tag = "4")]
    pub name: Vec<u8>,
    /// Number of the event; -1 for none.
    #[prost(int64, tag = "5")]
    pub event_id: i64,
    /// Blocks of descriptors that the compiler laid out.
    #[prost(message, repeated, tag = "8")]
    pub blocks: Vec<StaticBlock>,
}

/// Block of descriptors that one trigger starts.
#[derive(Clone, PartialEq, prost::Message)]
pub struct StaticBlock {
    /// The block's number.
    #[prost(uint32, tag = "1")]
    pub id: u32,
    /// Number of packets that each trigger makes on this DMA engine.
    #[prost(uint64, tag = "2")]
    pub packets: u64,
}

/// The clocks of a subgraph.
#[derive(Clone, PartialEq, prost::Message)]
pub struct SubgraphClocks {
    /// Clock of the Tensor engine.
    #[prost(message, optional, tag = "1")]
    pub tensor: Option<ClockRate>,
    /// Clock of the Scalar engine.
    #[prost(message, optional, tag = "2")]
    pub scalar: Option<ClockRate>,
    /// Clock of the Vector engine.
    #[prost(message, optional, tag = "3")]
    pub vector: Option<ClockRate>,
    /// Clock of the GpSimd engine.
    #[prost(message, optional, tag = "4")]
    pub gpsimd: Option<ClockRate>,
    /// Clock of the Sync engine.
    #[prost(message, optional, tag = "5")]
    pub sync: Option<ClockRate>,
    /// Clock of events and semaphores.
    #[prost(message, optional, tag = "6")]
    pub event: Option<ClockRate>,
    /// Clock of throttling.
    #[prost(message, optional, tag = "7")]
    pub throttle: Option<ClockRate>,
    /// Clocks of the DMA engines, in their order.
    #[prost(message, repeated, tag = "8")]
    pub dma: Vec<ClockRate>,
}

/// Rate and zero of a clock, relative to the common axis.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ClockRate {
    /// Ticks at time zero.
    #[prost(uint64, tag = "1")]
    pub init: u64,
    /// Number of ticks measured.
    #[prost(uint64, tag = "2")]
    pub actual: u64,
    /// Number of picoseconds in the same time.
    #[prost(uint64, tag = "3")]
    pub expected: u64,
}

/// Device memory of one use.
#[derive(Clone, PartialEq, prost::Message)]
pub struct MemoryUse {
    /// Size of the memory.
    #[prost(uint64, tag = "2")]
    pub size_bytes: u64,
    /// The runtime's name of the use.
    #[prost(bytes = "vec", tag = "3")]
    pub label: Vec<u8>,
}
