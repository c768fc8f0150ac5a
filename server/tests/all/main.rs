//! The server from outside: its API in process, its command line as a process.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

mod api;
mod cli;
mod openapi;
mod stage;
mod upload;
