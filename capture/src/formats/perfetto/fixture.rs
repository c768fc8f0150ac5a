//! Small traces for tests and fuzzing, written field by field.

use nprof_engine::base::bytes::Put;

/// A message.
#[derive(Debug, Clone, Default)]
pub struct ProtoMessage(pub Vec<u8>);

impl ProtoMessage {
    /// A message without fields.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a number.
    #[must_use]
    pub fn number(mut self, field: u32, value: u64) -> Self {
        self.0.put_varint(u64::from(field) << 3);
        self.0.put_varint(value);
        self
    }

    /// Adds a number of eight bytes.
    #[must_use]
    pub fn fixed(mut self, field: u32, bits: u64) -> Self {
        self.0.put_varint(u64::from(field) << 3 | 1);
        self.0.extend_from_slice(&bits.to_le_bytes());
        self
    }

    /// Adds a float.
    #[must_use]
    pub fn float(self, field: u32, value: f64) -> Self {
        self.fixed(field, value.to_bits())
    }

    /// Adds a text.
    #[must_use]
    pub fn text(self, field: u32, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    /// Adds bytes.
    #[must_use]
    pub fn bytes(mut self, field: u32, bytes: &[u8]) -> Self {
        self.0.put_varint(u64::from(field) << 3 | 2);
        self.0.put_bytes(bytes);
        self
    }

    /// Adds a message.
    #[must_use]
    pub fn message(self, field: u32, message: &Self) -> Self {
        self.bytes(field, &message.0)
    }
}

/// A packet of a sequence at a time, with a message under a field.
#[must_use]
pub fn packet(sequence: u64, ns: u64, field: u32, message: &ProtoMessage) -> ProtoMessage {
    ProtoMessage::new().number(8, ns).number(10, sequence).message(field, message)
}

/// A trace of packets.
#[must_use]
pub fn trace(packets: &[ProtoMessage]) -> Vec<u8> {
    packets.iter().fold(ProtoMessage::new(), |trace, packet| trace.message(1, packet)).0
}

/// An event of a type on a track, with a name.
#[must_use]
pub fn event(kind: u64, track: u64, name: &str) -> ProtoMessage {
    ProtoMessage::new().number(9, kind).number(11, track).text(23, name)
}

/// A descriptor of a track.
#[must_use]
pub fn descriptor(uuid: u64, name: &str) -> ProtoMessage {
    ProtoMessage::new().number(1, uuid).text(2, name)
}

/// A named value of an event: field 4 of an event, or an entry of a nested value.
#[must_use]
pub fn annotation(name: &str) -> ProtoMessage {
    ProtoMessage::new().text(10, name)
}

/// An interned text.
#[must_use]
pub fn interned(iid: u64, text: &str) -> ProtoMessage {
    ProtoMessage::new().number(1, iid).text(2, text)
}

/// A trace with most kinds of packets.
#[must_use]
pub fn varied() -> Vec<u8> {
    let process =
        ProtoMessage::new().number(1, 10).message(3, &ProtoMessage::new().number(1, 7).text(6, "server"));
    let thread = ProtoMessage::new()
        .number(1, 11)
        .message(4, &ProtoMessage::new().number(1, 7).number(2, 8).text(5, "main"));
    let counter =
        descriptor(12, "memory").number(5, 10).message(8, &ProtoMessage::new().number(3, 3).number(4, 1024));
    let clocks = [(6, 1_000_000), (1, 1_700_000_000_000_000_000), (3, 400_000)];
    let snapshot = clocks.iter().fold(ProtoMessage::new(), |snapshot, &(id, ns)| {
        snapshot.message(1, &ProtoMessage::new().number(1, id).number(2, ns))
    });
    let words = ProtoMessage::new()
        .message(1, &interned(1, "cat"))
        .message(2, &interned(1, "step"))
        .message(3, &interned(1, "bytes"))
        .message(29, &interned(1, "text"));
    let nested = annotation("shape")
        .message(11, &annotation("dims").message(12, &ProtoMessage::new().number(4, 2)))
        .message(11, &annotation("kind").number(17, 1));
    let begin = ProtoMessage::new()
        .number(9, 1)
        .number(11, 11)
        .number(10, 1)
        .number(3, 1)
        .message(4, &ProtoMessage::new().number(1, 1).number(3, 512))
        .message(4, &nested)
        .fixed(47, 99);
    let older = ProtoMessage::new()
        .message(6, &ProtoMessage::new().number(2, u64::from(b'X')).number(3, 5).number(18, 7).number(19, 9))
        .text(23, "older");
    let inner = trace(&[packet(2, 1_000_900, 11, &event(3, 13, "inside"))]);
    trace(&[
        packet(1, 1_000_000, 6, &snapshot),
        packet(1, 1_000_000, 60, &process).number(13, 1),
        packet(1, 1_000_000, 60, &thread),
        packet(1, 1_000_100, 11, &begin).message(12, &words).number(13, 2),
        packet(1, 1_000_150, 11, &event(4, 12, "").number(30, 3)),
        packet(1, 1_000_200, 11, &ProtoMessage::new().number(9, 2).number(11, 11)),
        packet(2, 1_000_120, 11, &event(1, 13, "transfer").fixed(48, 99)),
        packet(2, 1_000_220, 11, &ProtoMessage::new().number(9, 2).number(11, 13)),
        packet(2, 1_000_300, 11, &older),
        packet(2, 1_000_400, 1, &ProtoMessage::new().number(1, 3)),
        packet(1, 1_000_500, 60, &counter),
        packet(2, 1_000_900, 50, &zlib(&inner)),
    ])
}

/// A message that has these bytes packed, as `compressed_packets` has them.
#[must_use]
pub fn zlib(bytes: &[u8]) -> ProtoMessage {
    use std::io::Read;
    let mut packed = Vec::new();
    let mut encoder = flate2::read::ZlibEncoder::new(bytes, flate2::Compression::fast());
    // Reading from memory into memory cannot fail.
    let _ = encoder.read_to_end(&mut packed);
    ProtoMessage(packed)
}
