//! The item at a pointer or a finger, and the place of its tooltip.

pub mod fitted_slice;
pub mod glide;
pub mod group_load;
pub mod hit;
pub mod hover;
pub mod placement;
pub mod touch;
pub mod wheel;
