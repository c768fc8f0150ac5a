//! One rectangle for the graphics card, and its paint.

use zerocopy::{Immutable, IntoBytes};

/// Paint of a rectangle. The shader uses the same numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoBytes, Immutable)]
#[repr(u8)]
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

/// One rectangle, as the shader reads it: four floats, then two integers. The first integer is the
/// lane; the second one has the colour in its lower half, then alpha and paint.
#[derive(Debug, Clone, Copy, PartialEq, IntoBytes, Immutable)]
#[repr(C)]
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
    /// Index of the colour in the palette.
    pub colour: u16,
    /// Opacity: 255 is solid.
    pub alpha: u8,
    /// Paint of the rectangle.
    pub paint: Paint,
}
