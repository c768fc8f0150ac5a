//! Costs of work: wall time, processor time, and memory without mapped files.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

/// Between two looks at the memory of a process.
const LOOK: Duration = Duration::from_millis(10);

/// Costs of a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Usage {
    /// Seconds by the clock.
    pub wall_s: f64,
    /// Seconds of all processors, the system's work included.
    pub processor_s: f64,
    /// Peak resident memory that no file backs, in MiB; 0 where it was not looked at.
    pub own_mib: u64,
}

/// Runs `work` in this process.
pub fn of_work(work: impl FnOnce()) -> Usage {
    let (start, before) = (Instant::now(), processor_s());
    work();
    Usage { wall_s: start.elapsed().as_secs_f64(), processor_s: processor_s() - before, own_mib: 0 }
}

/// Runs a command to its end.
///
/// # Errors
/// If it cannot be started, or fails.
pub fn of_command(command: &mut Command) -> Result<Usage> {
    let (start, before) = (Instant::now(), children_s());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut own_mib = 0;
    let ended = loop {
        own_mib = own_mib.max(status_mib(&status, "RssAnon:"));
        if let Some(ended) = child.try_wait()? {
            break ended;
        }
        std::thread::sleep(LOOK);
    };
    ensure!(ended.success(), "{command:?}: {ended}");
    Ok(Usage { wall_s: start.elapsed().as_secs_f64(), processor_s: children_s() - before, own_mib })
}

/// A size in a status file of the system's, in MiB; 0 where that is not there.
#[must_use]
pub fn status_mib(file: &str, key: &str) -> u64 {
    let status = fs::read_to_string(file).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}

/// This process, so far.
fn processor_s() -> f64 {
    ticks_s(0)
}

/// This process's children that have ended.
fn children_s() -> f64 {
    ticks_s(2)
}

/// Two of the times that the system keeps: in user mode and in its own.
fn ticks_s(first: usize) -> f64 {
    /// Linux tells times of processes in these, whatever its own clock does.
    const TICKS_PER_S: f64 = 100.0;
    // Fields 14 to 17; the command's name, field 2, stands in brackets.
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let times = after_name.split_ascii_whitespace().skip(11 + first).take(2);
    times.filter_map(|field| field.parse::<u64>().ok()).sum::<u64>() as f64 / TICKS_PER_S
}
