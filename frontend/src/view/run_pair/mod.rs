//! The tracks of two runs beside each other as a picture: the first run grows up from a band, the
//! second one hangs down, and the band ties the same work of both. Pure.

pub mod paths;
pub mod point;
pub mod sight;
