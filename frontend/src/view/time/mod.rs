//! Time: the axis of each rank, the window, and the ruler with its numbers.

pub mod axes;
pub mod axis;
pub mod clock;
pub mod scale;
pub mod ticks;
pub mod window;
pub mod window_side;
pub mod window_words;
