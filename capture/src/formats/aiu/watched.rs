//! Events of PyTorch's dialect that count: kernels, transfers whose rate is stated, and steps of
//! collective operations. The ordinary reader takes them, too.

use nprof_engine::base::Result;
use nprof_engine::vendor::aiu::Phase;
use rustc_hash::FxHashMap;

use super::hcoll::{is_step, stated};
use super::kernel::{Transfer, told};
use super::names::Names;
use crate::formats::trace_event::layer::{Below, Met};

/// Most begins that wait for their ends.
const MAX_OPEN: usize = 1 << 16;
/// Most begins of a thread, the innermost ones, among which an end looks for its name.
const MAX_LOOKED_AT: usize = 256;

/// Category of kernels.
const KERNEL: &[u8] = b"kernel";
/// Category of transfers.
const TRANSFER: &[u8] = b"gpu_memcpy";

/// An event that counts, without its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Watched {
    pub(super) start_ps: i64,
    /// Number of the name; 0 for transfers.
    pub(super) name: u32,
    /// Whether this is the name before acelyzer or nprof shortened it, not that of the event.
    pub(super) is_original: bool,
    pub(super) is_kernel: bool,
    /// Of a step its launch and its bytes.
    pub(super) step: Option<(Option<i64>, i64)>,
    /// Of a transfer its stated rate in bytes per second.
    pub(super) rate: Option<u64>,
    /// Device of the rank.
    pub(super) device: u16,
}

impl Watched {
    /// The event, if it counts and has a time. The ordinary reader reports times that are missing.
    pub(super) fn of(names: &mut Names, below: &mut Below<'_, '_>, met: Met<'_>) -> Result<Option<Self>> {
        let category = met.cat();
        // acelyzer writes the runtime's preparations as kernels, and its files are of this dialect.
        let is_kernel = *category == *KERNEL && Phase::of(&met.name()) != Phase::Prep;
        let step = is_step(&category, &met.name()).then(|| stated(met));
        let rate = if *category == *TRANSFER { Transfer::rate(met) } else { None };
        if !is_kernel && step.is_none() && rate.is_none() {
            return Ok(None);
        }
        let Some(start_ps) = below.known_time(met) else { return Ok(None) };
        let is_named = is_kernel || step.is_some();
        let (device, original) = told(met);
        let original = original.filter(|_| is_named);
        let name = match &original {
            Some(original) => names.number(below.sink(), original)?,
            None if is_named => names.number(below.sink(), &met.name())?,
            None => 0,
        };
        Ok(Some(Self { start_ps, name, is_original: original.is_some(), is_kernel, step, rate, device }))
    }
}

/// The name of a begin, and its event if that counts.
type Begin = (Box<str>, Option<Watched>);

/// Begins that wait for their ends. Those of events that do not count are among them, because an
/// end without a name ends the last begin of its thread.
#[derive(Debug, Default)]
pub(super) struct Begins {
    threads: FxHashMap<Box<[u8]>, Vec<Begin>>,
    count: usize,
}

impl Begins {
    /// Takes a begin. Further ones than fit are not matched.
    pub(super) fn push(&mut self, met: Met<'_>, watched: Option<Watched>) {
        if self.count < MAX_OPEN {
            self.count += 1;
            self.threads.entry(thread(met)).or_default().push((met.name().into(), watched));
        }
    }

    /// The event that counts and that this end ends.
    pub(super) fn end(&mut self, met: Met<'_>) -> Option<Watched> {
        let open = self.threads.get_mut(&thread(met))?;
        let name = met.name();
        let from = open.len().saturating_sub(MAX_LOOKED_AT);
        let at = match name.is_empty() {
            true => open.len().checked_sub(1),
            false => open[from..].iter().rposition(|(of, _)| **of == *name).map(|at| from + at),
        };
        let (_, watched) = open.remove(at?);
        self.count -= 1;
        watched
    }

    /// Forgets the begins of a file.
    pub(super) fn clear(&mut self) {
        self.threads.clear();
        self.count = 0;
    }
}

/// Process and thread as written.
fn thread(met: Met<'_>) -> Box<[u8]> {
    [met.pid(), b"\0", met.tid()].concat().into()
}
