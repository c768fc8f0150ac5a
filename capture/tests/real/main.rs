//! Readers beside real traces and what other tools made of them. Skipped, with a line that says so,
//! if the traces are not available. `bounds.rs` is apart, because it counts the memory of its
//! process.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "these are tests: a failure is what they are for, and a skipped one says so"
)]

mod ntff_size;
mod ntff_vendor;
mod ntff_waits;
mod trace_event_real;
