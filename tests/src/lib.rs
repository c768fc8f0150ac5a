//! Tests across crates stand in `tests/`; here is what several of them share.

pub mod source;
