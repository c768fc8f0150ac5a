//! The server from outside: its API in process, its command line as a process.

mod api;
mod cli;
mod killed;
mod openapi;
mod stage;
mod upload;
mod vendor;
