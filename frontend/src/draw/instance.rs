//! One rectangle for the graphics card, and its paint.

/// Paint of a rectangle. The shader uses the same numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// A slice. If it is wide, a pixel at its right end stays free.
    Slice = 0,
    /// A diamond at its start.
    Instant = 1,
    /// A slice that fades out to the right.
    Unfinished = 2,
    /// Narrow slices in one cell. The height is the share of the cell that they take.
    Cell = 3,
    /// A counter's value: an area with a line on top.
    Value = 4,
    /// A counter's values in a cell: from the smallest to the largest.
    Range = 5,
    /// An instant with others next to it: a thin line.
    Tick = 6,
    /// A slice that only waits: a thin hatched band.
    Wait = 7,
    /// Narrow waits in one cell: a hatched band. The height is the share of the cell that they
    /// take.
    WaitCell = 8,
    /// Time of a row that is too low for bars. The opacity is the share of the time.
    Heat = 9,
}

/// One rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Instance {
    /// Left edge, in cells from the tile's start.
    pub start: f32,
    /// Right edge, in cells from the tile's start.
    pub end: f32,
    /// Lower edge, as a share of the lane from its bottom.
    pub low: f32,
    /// Upper edge, as a share of the lane from its bottom.
    pub high: f32,
    /// Number of the lane in [`Shape`](super::shape::Shape).
    pub lane: u32,
    /// Paint of the rectangle.
    pub paint: Paint,
    /// Index of the colour in the palette.
    pub colour: u8,
    /// Opacity: 255 is solid.
    pub alpha: u8,
}

/// Bytes of an instance on the graphics card.
pub const INSTANCE_BYTES: usize = 24;

impl Instance {
    /// The bytes that the shader reads: four floats, then two integers: the lane; and colour, alpha
    /// and paint in one. The lowest byte of a number is the first.
    #[must_use]
    pub fn bytes(&self) -> [u8; INSTANCE_BYTES] {
        let look = u32::from(self.colour) | u32::from(self.alpha) << 16 | (self.paint as u32) << 24;
        let [start, end, low, high] = [self.start, self.end, self.low, self.high].map(f32::to_le_bytes);
        let mut bytes = [0; INSTANCE_BYTES];
        bytes[..4].copy_from_slice(&start);
        bytes[4..8].copy_from_slice(&end);
        bytes[8..12].copy_from_slice(&low);
        bytes[12..16].copy_from_slice(&high);
        bytes[16..20].copy_from_slice(&self.lane.to_le_bytes());
        bytes[20..].copy_from_slice(&look.to_le_bytes());
        bytes
    }
}
