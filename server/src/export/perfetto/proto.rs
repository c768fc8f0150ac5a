//! The part of Perfetto's trace format that an export needs. Messages have the names and numbers of
//! `protos/perfetto/trace`. Lists of numbers are not packed, because the format is proto2.

/// The whole trace. Only readers use it: an export writes packet by packet.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Trace {
    /// Packets in the order of writing.
    #[prost(message, repeated, tag = "1")]
    pub packets: Vec<TracePacket>,
}

/// One entry of a trace.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TracePacket {
    /// Timestamp in nanoseconds.
    #[prost(uint64, optional, tag = "8")]
    pub timestamp: Option<u64>,
    /// Sequence of the packet. Interned texts belong to one sequence.
    #[prost(uint32, optional, tag = "10")]
    pub trusted_packet_sequence_id: Option<u32>,
    /// Texts that this and later packets refer to.
    #[prost(message, optional, tag = "12")]
    pub interned_data: Option<InternedData>,
    /// Bit set of [`SEQUENCE_BEGINS`] and [`NEEDS_INTERNED`].
    #[prost(uint32, optional, tag = "13")]
    pub sequence_flags: Option<u32>,
    /// An event.
    #[prost(message, optional, tag = "11")]
    pub track_event: Option<TrackEvent>,
    /// A track.
    #[prost(message, optional, tag = "60")]
    pub track_descriptor: Option<TrackDescriptor>,
}

/// Texts of earlier packets of the sequence are no longer valid.
pub const SEQUENCE_BEGINS: u32 = 1;
/// The packet refers to interned texts.
pub const NEEDS_INTERNED: u32 = 2;

/// Texts by number.
#[derive(Clone, PartialEq, prost::Message)]
pub struct InternedData {
    /// Names of events.
    #[prost(message, repeated, tag = "2")]
    pub event_names: Vec<InternedText>,
    /// Names of annotations.
    #[prost(message, repeated, tag = "3")]
    pub debug_annotation_names: Vec<InternedText>,
}

/// A text with its number, which is not 0.
#[derive(Clone, PartialEq, prost::Message)]
pub struct InternedText {
    /// Number of the text.
    #[prost(uint64, optional, tag = "1")]
    pub iid: Option<u64>,
    /// The text.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
}

/// An event on a track.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TrackEvent {
    /// Values of the event.
    #[prost(message, repeated, tag = "4")]
    pub debug_annotations: Vec<DebugAnnotation>,
    /// Kind of the event: one of the constants below.
    #[prost(int32, optional, tag = "9")]
    pub kind: Option<i32>,
    /// Interned name of the event.
    #[prost(uint64, optional, tag = "10")]
    pub name_iid: Option<u64>,
    /// Track of the event.
    #[prost(uint64, optional, tag = "11")]
    pub track_uuid: Option<u64>,
    /// Categories of the event.
    #[prost(string, repeated, tag = "22")]
    pub categories: Vec<String>,
    /// Name of the event, if it is not interned.
    #[prost(string, optional, tag = "23")]
    pub name: Option<String>,
    /// The value of a counter.
    #[prost(double, optional, tag = "44")]
    pub double_counter_value: Option<f64>,
    /// Ids of arrows that begin here.
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    pub flow_ids: Vec<u64>,
    /// Ids of arrows that end here.
    #[prost(fixed64, repeated, packed = "false", tag = "48")]
    pub terminating_flow_ids: Vec<u64>,
}

/// A slice begins.
pub const SLICE_BEGIN: i32 = 1;
/// The innermost slice of the track ends.
pub const SLICE_END: i32 = 2;
/// An event without duration.
pub const INSTANT: i32 = 3;
/// A counter has a new value.
pub const COUNTER: i32 = 4;

/// A named value of an event.
#[derive(Clone, PartialEq, prost::Message)]
pub struct DebugAnnotation {
    /// Interned name of the value.
    #[prost(uint64, optional, tag = "1")]
    pub name_iid: Option<u64>,
    /// A boolean.
    #[prost(bool, optional, tag = "2")]
    pub bool_value: Option<bool>,
    /// A whole number beyond the signed range.
    #[prost(uint64, optional, tag = "3")]
    pub uint_value: Option<u64>,
    /// A whole number.
    #[prost(int64, optional, tag = "4")]
    pub int_value: Option<i64>,
    /// A number.
    #[prost(double, optional, tag = "5")]
    pub double_value: Option<f64>,
    /// A text.
    #[prost(string, optional, tag = "6")]
    pub string_value: Option<String>,
    /// An address, shown in hexadecimal.
    #[prost(uint64, optional, tag = "7")]
    pub pointer_value: Option<u64>,
    /// A list or an object, as JSON.
    #[prost(string, optional, tag = "9")]
    pub legacy_json_value: Option<String>,
    /// Name of the value, if it is not interned.
    #[prost(string, optional, tag = "10")]
    pub name: Option<String>,
}

/// A track.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TrackDescriptor {
    /// Number of the track in the trace.
    #[prost(uint64, optional, tag = "1")]
    pub uuid: Option<u64>,
    /// Name of the track. Siblings of the same name are shown as one track.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    /// The parent track.
    #[prost(uint64, optional, tag = "5")]
    pub parent_uuid: Option<u64>,
    /// Present if the track shows a counter.
    #[prost(message, optional, tag = "8")]
    pub counter: Option<CounterDescriptor>,
    /// Order of the tracks below this one: [`EXPLICIT_ORDER`].
    #[prost(int32, optional, tag = "11")]
    pub child_ordering: Option<i32>,
    /// Position among the track's siblings.
    #[prost(int32, optional, tag = "12")]
    pub sibling_order_rank: Option<i32>,
}

/// Tracks are ordered by `sibling_order_rank`.
pub const EXPLICIT_ORDER: i32 = 3;

/// The unit of a counter.
#[derive(Clone, PartialEq, prost::Message)]
pub struct CounterDescriptor {
    /// 2 for a count, 3 for bytes.
    #[prost(int32, optional, tag = "3")]
    pub unit: Option<i32>,
    /// Any other unit.
    #[prost(string, optional, tag = "6")]
    pub unit_name: Option<String>,
}

/// The values are counts.
pub const UNIT_COUNT: i32 = 2;
/// The values are bytes.
pub const UNIT_BYTES: i32 = 3;
