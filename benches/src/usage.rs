//! Costs of work: wall time, processor time, and memory without mapped files.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

/// Interval between two memory checks of a process.
const LOOK: Duration = Duration::from_millis(10);

/// Costs of a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Usage {
    /// Wall-clock seconds.
    pub wall_s: f64,
    /// Seconds of all processors, including system time.
    pub processor_s: f64,
    /// Peak resident memory that no file backs, in MiB; 0 if not measured.
    pub own_mib: u64,
}

/// Runs `work` in this process.
pub fn of_work(work: impl FnOnce()) -> Usage {
    let (start, before) = (Instant::now(), processor_s());
    work();
    Usage { wall_s: start.elapsed().as_secs_f64(), processor_s: processor_s() - before, own_mib: 0 }
}

/// Runs a command to its end.
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

/// A size in a status file of the system, in MiB; 0 if it is missing.
#[must_use]
pub fn status_mib(file: &str, key: &str) -> u64 {
    let status = fs::read_to_string(file).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}

/// Processor seconds of this process so far.
fn processor_s() -> f64 {
    ticks_s(0)
}

/// Processor seconds of this process's finished children.
fn children_s() -> f64 {
    ticks_s(2)
}

/// Sum of two of the system's times in seconds: in user mode and in kernel mode.
fn ticks_s(first: usize) -> f64 {
    /// Units of process times in Linux, whatever its clock rate.
    const TICKS_PER_S: f64 = 100.0;
    // Fields 14 to 17. The command's name, field 2, is in brackets.
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let times = after_name.split_ascii_whitespace().skip(11 + first).take(2);
    times.filter_map(|field| field.parse::<u64>().ok()).sum::<u64>() as f64 / TICKS_PER_S
}
