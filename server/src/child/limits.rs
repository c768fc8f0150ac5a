//! Limits of memory and processor time of a child.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

/// Memory of a child. An ingest uses at most 512 MiB of it (docs/decisions/0025). The limit must
/// never end such an ingest, and it counts what is reserved: stacks of threads, and buffers while
/// they grow.
const MEMORY_BYTES: u64 = 1 << 30;
/// Stacks and buffers of the thread that each core gets.
const CORE_BYTES: u64 = 8 << 20;
/// Processor time of any child: a slow machine reads the largest small input in a part of it.
const BASE_SECONDS: u64 = 600;
/// Further processor time for each MiB of input. A trace that is packed a hundred times needs about
/// a third of it.
const SECONDS_PER_MIB: u64 = 10;
/// Time between the signal that tells a child of its limit and the one that it cannot ignore.
const LAST_SECONDS: u64 = 5;

/// File that tells Linux which process to kill first if it has no memory left, and its highest
/// value.
const KILLED_FIRST: (&str, &str) = ("/proc/self/oom_score_adj", "1000");

/// Limits of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Own memory. Mapped input files do not count: the kernel takes their pages back at any time,
    /// and a trace can be larger than the memory.
    pub memory_bytes: u64,
    /// Processor time of all threads together, for an input without bytes.
    pub base_seconds: u64,
    /// Further processor time for each MiB of input.
    pub seconds_per_mib: u64,
}

impl Default for Limits {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
        Self {
            memory_bytes: MEMORY_BYTES + CORE_BYTES * cores,
            base_seconds: BASE_SECONDS,
            seconds_per_mib: SECONDS_PER_MIB,
        }
    }
}

impl Limits {
    /// Sets the limits of this process, which has these bytes of input. A limit that ends it dumps
    /// no core: a core would fill the disk with the user's data.
    pub(super) fn apply(&self, input_bytes: u64) -> io::Result<()> {
        // Best effort: only Linux has this file.
        let (path, value) = KILLED_FIRST;
        let _ = std::fs::write(path, value);
        let seconds = self.seconds(input_bytes);
        // RLIMIT_AS would count the mapped inputs, and RLIMIT_RSS has no effect.
        lower(Resource::Data, self.memory_bytes, self.memory_bytes)?;
        lower(Resource::Cpu, seconds, seconds.saturating_add(LAST_SECONDS))?;
        lower(Resource::Core, 0, 0)
    }

    fn seconds(&self, input_bytes: u64) -> u64 {
        let mib = input_bytes.div_ceil(1 << 20);
        self.base_seconds.saturating_add(mib.saturating_mul(self.seconds_per_mib))
    }
}

/// Lowers a limit. A limit that is lower already stays.
fn lower(resource: Resource, current: u64, maximum: u64) -> io::Result<()> {
    let before = getrlimit(resource);
    let least = |wanted: u64, limit: Option<u64>| Some(limit.map_or(wanted, |limit| limit.min(wanted)));
    let maximum = least(maximum, before.maximum);
    let current = least(current, before.current);
    Ok(setrlimit(resource, Rlimit { current, maximum })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_grows_with_the_input() {
        let limits = Limits { memory_bytes: 1, base_seconds: 5, seconds_per_mib: 2 };
        assert_eq!([0, 1, 1 << 20, (1 << 20) + 1].map(|bytes| limits.seconds(bytes)), [5, 7, 7, 9]);
        let limits = Limits { seconds_per_mib: u64::MAX, ..limits };
        assert_eq!(limits.seconds(u64::MAX), u64::MAX);
    }
}
