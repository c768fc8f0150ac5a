//! The readers alone: traces into a sink that only counts.
//!
//! `cargo bench -p nprof-benches --bench readers -- [MEGABYTES] [json] [ntff]` (256 and both unless told otherwise).
//! With `write PATH` the trace is written there instead (the Trace Event JSON, or with `ntff` that); `store PATH` reads a
//! file of Trace Event JSON into a segment.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::Instant;

use nprof_benches::tally::Tally;
use nprof_benches::traces;
use nprof_capture::formats::{ntff, trace_event};
use nprof_engine::ingest::BuildOptions;
use nprof_engine::native::{WriteError, write_segment};
use nprof_engine::spill::{MemoryScratch, Space};

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let megabytes = arguments.iter().find_map(|argument| argument.parse::<u64>().ok()).unwrap_or(256);
    let size_bytes = megabytes * 1_000_000;
    let rest: Vec<&str> =
        arguments.iter().map(String::as_str).filter(|argument| argument.parse::<u64>().is_err()).collect();
    if let ["write", path] = rest[..] {
        let mut file = BufWriter::new(File::create(path).expect("the path can be written"));
        let events = traces::kineto(size_bytes, &mut file).expect("the disk has room");
        file.flush().expect("the disk has room");
        return println!("{events} events in {path}");
    }
    if let ["write", "ntff", path] = rest[..] {
        return std::fs::write(path, traces::ntff(size_bytes)).expect("the path can be written");
    }
    if let ["store", path] = rest[..] {
        return store(path);
    }
    let is_wanted = |name: &str| rest.is_empty() || rest.contains(&name);
    if is_wanted("json") {
        let mut json = Vec::new();
        traces::kineto(size_bytes, &mut json).expect("memory is enough");
        measure("Trace Event JSON", json.len(), |tally| {
            trace_event::read(&mut json.as_slice(), trace_event::Context::default(), tally, &mut |_| {})
                .expect("it was just made");
        });
    }
    if is_wanted("ntff") {
        let trace = traces::ntff(size_bytes);
        measure("NTFF", trace.len(), |tally| {
            let scratch = MemoryScratch::default();
            ntff::read(&trace, None, Space::new(&scratch), tally, &mut |_| {}).expect("it was just made");
        });
    }
}

/// A file into a segment, as an ingest does it, without identifying the file first.
fn store(path: &str) {
    let directory = tempfile::tempdir().expect("the temporary directory is writable");
    let mut file = File::open(path).expect("the path can be read");
    let size_bytes = file.metadata().map_or(0, |metadata| metadata.len());
    let start = Instant::now();
    let built = write_segment(&directory.path().join("rank_0.nseg"), BuildOptions::default(), |sink, _| {
        trace_event::read(&mut file, trace_event::Context::default(), sink, &mut |_| {})
    });
    let seconds = start.elapsed().as_secs_f64();
    match built {
        Ok(built) => println!(
            "into a segment     {:8.0} MB/s {:12.0} events/s {:10} events, {:.2} bytes/event, peak {} MiB",
            size_bytes as f64 / 1e6 / seconds,
            built.events as f64 / seconds,
            built.events,
            built.bytes as f64 / built.events as f64,
            peak_memory_mib()
        ),
        Err(WriteError::Io(error)) => println!("not written: {error}"),
        Err(WriteError::Engine(error)) => println!("not written: {error}"),
        Err(WriteError::Read(error)) => println!("not read: {error}"),
    }
}

fn measure(name: &str, size_bytes: usize, mut read: impl FnMut(&mut Tally)) {
    for _ in 0..3 {
        let mut tally = Tally::default();
        let before = allocated_mib();
        let start = Instant::now();
        read(&mut tally);
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{name:<18} {:8.0} MB/s {:12.0} events/s {:10} events {:10} fields, peak {} MiB over {before}",
            size_bytes as f64 / 1e6 / seconds,
            tally.events as f64 / seconds,
            tally.events,
            tally.fields,
            peak_memory_mib()
        );
    }
}

fn status_mib(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}

/// Resident memory now.
fn allocated_mib() -> u64 {
    status_mib("VmRSS:")
}

/// Peak resident memory as the system counts it; 0 where it does not.
fn peak_memory_mib() -> u64 {
    status_mib("VmHWM:")
}
