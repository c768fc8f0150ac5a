//! Tests from outside: the API in process, the command line as a process.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers of tests fail like tests, and say what they skip"
)]

mod add;
mod aiu;
mod aiu_cases;
mod aiu_collectives;
mod aiu_events;
mod aiu_inputs;
mod aiu_logs;
mod aiu_roundtrip;
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
mod device_waits;
mod differences;
mod downloads;
mod energy;
mod explanations;
mod exports;
mod faults;
mod finding_answers;
mod findings;
mod flags;
mod full_disk;
mod guard;
mod heavy_questions;
mod host_backends;
mod host_job;
mod html;
mod job_segment;
mod kills;
mod names;
mod openapi;
mod outputs;
mod parameters;
mod perfetto;
mod planted_causes;
mod rank_balance;
mod ranks;
mod readme;
mod regions;
mod search;
mod shrunk_files;
mod signals;
mod stage;
mod store;
mod summaries;
mod tables;
mod trace_groups;
mod truth;
mod upload;
mod vanishing_profiles;
mod vendor;
mod wait_answers;
mod what_if_answers;
mod whatif;
