//! Time: the axis of each rank, the window, and the ruler with its numbers.

pub mod axes;
pub mod axis;
pub mod clock;
pub mod outside;
pub mod scale;
pub mod spoken;
pub mod ticks;
pub mod window;
