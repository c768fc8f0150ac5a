//! Code that several tests share. Tests across crates are in `tests/`.

pub mod circles;
pub mod imports;
pub mod layers;
pub mod names;
pub mod shape;
pub mod signals;
pub mod source;
