//! Events of PyTorch's dialect that count: kernels, transfers whose rate is stated, and steps of
//! collective operations. The ordinary reader takes them, too.

use nprof_engine::base::Result;
use nprof_engine::makers::aiu::Phase;
use rustc_hash::FxHashMap;

use super::hcoll::is_step;
use super::names::SliceNames;
use super::torch_arguments::TorchArguments;
use crate::formats::trace_event::layer::{LayerEvent, LowerReader};

/// Most begins that wait for their ends.
const MAX_OPEN: usize = 1 << 16;
/// Most begins of a thread, the innermost ones, among which an end looks for its name.
const MAX_LOOKED_AT: usize = 256;

/// Category of kernels.
const KERNEL: &[u8] = b"kernel";
/// Category of transfers.
const TRANSFER: &[u8] = b"gpu_memcpy";
/// Category under which acelyzer and nprof write steps of collective operations of the runtime.
const ANNOTATION: &[u8] = b"user_annotation";

/// An event that counts, without its end.
#[derive(Debug)]
pub(super) struct TorchEvent {
    pub(super) start_ps: i64,
    /// Number of the name; 0 for transfers.
    pub(super) name: u32,
    /// Whether this is the name before acelyzer or nprof shortened it, not that of the event.
    pub(super) is_original: bool,
    pub(super) is_kernel: bool,
    pub(super) is_step: bool,
    /// Device of the rank.
    pub(super) device: u16,
    pub(super) stated: TorchArguments,
}

impl TorchEvent {
    /// The event, if it counts and has a time. The ordinary reader reports times that are missing.
    pub(super) fn of(
        names: &mut SliceNames,
        below: &mut LowerReader<'_, '_>,
        met: LayerEvent<'_>,
    ) -> Result<Option<Self>> {
        let category = met.cat();
        let is_step = is_step(&category, &met.name());
        let may_count = match &*category {
            KERNEL | TRANSFER => true,
            ANNOTATION => Phase::of(&met.name()) != Phase::Whole,
            _ => false,
        };
        if !may_count && !is_step {
            return Ok(None);
        }
        let mut stated = TorchArguments::of(met);
        let original = stated.original.take();
        let phase = Phase::of(original.as_deref().unwrap_or(&met.name()));
        let is_kernel = match stated.has_counters() {
            true => phase == Phase::Exec,
            // acelyzer writes the runtime's preparations as kernels, in this dialect.
            false => *category == *KERNEL && phase != Phase::Prep,
        };
        stated.rate = stated.rate.filter(|_| *category == *TRANSFER);
        let is_named = is_kernel || is_step || stated.has_counters();
        if !is_named && stated.rate.is_none() {
            return Ok(None);
        }
        let Some(start_ps) = below.known_time(met) else { return Ok(None) };
        let original = original.filter(|_| is_named);
        let name = match &original {
            Some(original) => names.number(below.sink(), original)?,
            None if is_named => names.number(below.sink(), &met.name())?,
            None => 0,
        };
        let (device, is_original) = (stated.device(met), original.is_some());
        Ok(Some(Self { start_ps, name, is_original, is_kernel, is_step, device, stated }))
    }
}

/// The name of a begin, and its event if that counts.
type TorchBegin = (Box<str>, Option<TorchEvent>);

/// Begins that wait for their ends. Those of events that do not count are among them, because an
/// end without a name ends the last begin of its thread.
#[derive(Debug, Default)]
pub(super) struct Begins {
    threads: FxHashMap<Box<[u8]>, Vec<TorchBegin>>,
    count: usize,
}

impl Begins {
    /// Takes a begin. Further ones than fit are not matched.
    pub(super) fn push(&mut self, met: LayerEvent<'_>, watched: Option<TorchEvent>) {
        if self.count < MAX_OPEN {
            self.count += 1;
            self.threads.entry(thread(met)).or_default().push((met.name().into(), watched));
        }
    }

    /// The event that counts and that this end ends.
    pub(super) fn end(&mut self, met: LayerEvent<'_>) -> Option<TorchEvent> {
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
fn thread(met: LayerEvent<'_>) -> Box<[u8]> {
    [met.pid(), b"\0", met.tid()].concat().into()
}
