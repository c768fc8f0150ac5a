//! The 16-byte records that the device writes, and kinds of segments.

/// Bytes of a record.
pub const RECORD_LEN: usize = 16;

/// One record. The meaning of its parts depends on its segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceRecord {
    /// Bytes 0 and 1.
    pub low: u16,
    /// Byte 2.
    pub middle: u8,
    /// Byte 3. The low five bits hold the kind, or the DMA engine.
    pub head: u8,
    /// Bytes 4 to 7.
    pub payload: u32,
    /// Bytes 8 to 15: ticks of the writer's clock.
    pub ticks: u64,
}

impl DeviceRecord {
    /// Parses the bytes of a record.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; RECORD_LEN]) -> Self {
        let [low0, low1, middle, head, p0, p1, p2, p3, ticks @ ..] = *bytes;
        Self {
            low: u16::from_le_bytes([low0, low1]),
            middle,
            head,
            payload: u32::from_le_bytes([p0, p1, p2, p3]),
            ticks: u64::from_le_bytes(ticks),
        }
    }

    /// The bytes of the record.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; RECORD_LEN] {
        let mut bytes = [0; RECORD_LEN];
        bytes[..2].copy_from_slice(&self.low.to_le_bytes());
        bytes[2] = self.middle;
        bytes[3] = self.head;
        bytes[4..8].copy_from_slice(&self.payload.to_le_bytes());
        bytes[8..].copy_from_slice(&self.ticks.to_le_bytes());
        bytes
    }

    /// The kind code, or the DMA engine.
    #[must_use]
    pub fn kind(&self) -> u8 {
        self.head & 0x1f
    }

    /// Bytes 0 to 2 as one number.
    #[must_use]
    pub fn low24(&self) -> u32 {
        u32::from(self.low) | u32::from(self.middle) << 16
    }

    /// Half of the payload: bytes 4 and 5.
    #[must_use]
    pub fn payload_low(&self) -> u16 {
        let [b0, b1, _, _] = self.payload.to_le_bytes();
        u16::from_le_bytes([b0, b1])
    }

    /// Half of the payload: bytes 6 and 7.
    #[must_use]
    pub fn payload_high(&self) -> u16 {
        let [_, _, b2, b3] = self.payload.to_le_bytes();
        u16::from_le_bytes([b2, b3])
    }
}

/// Records of a segment, with their numbers. Bytes after the last whole record are left out.
pub fn records(bytes: &[u8]) -> impl Iterator<Item = (u64, DeviceRecord)> + '_ {
    let (whole, _) = bytes.as_chunks::<RECORD_LEN>();
    (0_u64..).zip(whole.iter().map(DeviceRecord::from_bytes))
}

/// Subject of a segment's records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SegmentKind {
    /// Starts and ends of instructions.
    Instruction,
    /// Events and semaphores.
    Event,
    /// Errors. No trace with errors has been seen, so their records are kept as they are.
    Error,
    /// DMA packets.
    Dma,
    /// Throttling.
    Throttle,
    /// A kind that is newer than this program.
    Unknown,
}

impl SegmentKind {
    /// The kind for the block kind and the record kind in the container's segment list.
    #[must_use]
    pub fn from_codes(block: u32, record: u32) -> Self {
        match (block, record) {
            (0, 0) => Self::Instruction,
            (0, 1) => Self::Event,
            (0, 2) => Self::Error,
            (1, 4) => Self::Dma,
            (0, 5) => Self::Throttle,
            _ => Self::Unknown,
        }
    }

    /// Name for messages.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Instruction => "instruction",
            Self::Event => "event",
            Self::Error => "error",
            Self::Dma => "DMA",
            Self::Throttle => "throttle",
            Self::Unknown => "unknown",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_taken_apart() {
        let bytes = [0x34, 0x12, 0x25, 0xe4, 0xaa, 0xbb, 0x07, 0x00, 1, 0, 0, 0, 0, 0, 0, 0x80];
        let record = DeviceRecord::from_bytes(&bytes);
        assert_eq!(record.kind(), 4);
        assert_eq!(record.low24(), 0x25_1234);
        assert_eq!((record.payload_low(), record.payload_high()), (0xbbaa, 7));
        assert_eq!(record.ticks, 1 << 63 | 1);
        assert_eq!(record.to_bytes(), bytes);
    }

    #[test]
    fn a_broken_record_at_the_end_is_left_out() {
        assert_eq!(records(&[0; 40]).map(|(number, _)| number).collect::<Vec<_>>(), [0, 1]);
    }
}
