//! Tests from outside: the API in process, the command line as a process.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers of tests fail like tests, and say what they skip"
)]

mod add;
mod aiu;
mod aiu_again;
mod aiu_cases;
mod aiu_collectives;
mod aiu_events;
mod aiu_inputs;
mod aiu_logs;
mod aiu_stages;
mod any_export;
mod api;
mod archives;
mod axis;
mod children;
mod cli;
mod clock;
mod connections;
mod csv;
mod damage;
mod downloads;
mod exports;
mod faults;
mod flags;
mod full;
mod grouped;
mod guard;
mod host_backends;
mod host_job;
mod html;
mod job_segment;
mod killed;
mod named;
mod names;
mod openapi;
mod outputs;
mod parameters;
mod perfetto;
mod planted;
mod ranks;
mod readme;
mod shrunk;
mod signals;
mod stage;
mod store;
mod summaries;
mod tables;
mod upload;
mod vanishing;
mod vendor;
mod waiting;
