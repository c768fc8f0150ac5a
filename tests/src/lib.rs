//! Tests across crates stand in `tests/`.
