//! Code that several tests share. Tests across crates are in `tests/`.

pub mod shape;
pub mod source;
