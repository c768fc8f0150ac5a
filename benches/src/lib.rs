//! Benches of nprof.
