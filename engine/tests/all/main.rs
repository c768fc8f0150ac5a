//! The engine from outside. One binary: each compiles the segments of its source of bytes anew.
//! `hostile.rs` is apart, because it counts the memory of its process.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod filter;
mod first_look;
mod neighbour;
mod packs;
mod program;
mod remote_segment;
mod rows;
mod schedule;
mod segment;
mod verify;
mod view;
