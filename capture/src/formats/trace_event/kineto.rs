//! PyTorch's dialect: categories that run on a device, and arrows from host calls to the work they
//! launched.
//!
//! Launches and kernels carry the same `correlation`. Most traces also draw flow events from it.
//! Links are made here only if there are none.

use nprof_engine::base::Result;
use nprof_engine::model::SliceKey;

use super::event::EventBytes;
use super::number::FieldNumber;
use super::output::EventOutput;
use super::tokens::ValueKind;

/// Side that a slice runs on, by its category.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::formats) enum SliceSide {
    /// A call of the runtime or the driver.
    Host,
    /// Work of a device.
    Device,
}

/// The side of a category, if its slices launch work or are launched.
pub(in crate::formats) fn side(cat: &[u8]) -> Option<SliceSide> {
    match cat {
        b"kernel" | b"gpu_memcpy" | b"gpu_memset" | b"concurrent_kernel" | b"Kernel" | b"Memcpy"
        | b"Memset" | b"mtia_ccp_events" => Some(SliceSide::Device),
        b"cuda_runtime"
        | b"cuda_driver"
        | b"hip_runtime"
        | b"hip_driver"
        | b"xpu_runtime"
        | b"xpu_driver"
        | b"mtia_runtime"
        | b"glow_runtime"
        | b"privateuse1_runtime"
        | b"privateuse1_driver"
        | b"runtime"
        | b"Runtime" => Some(SliceSide::Host),
        _ => None,
    }
}

/// Whether slices of this category are annotations of a device: spans of the program, from the
/// first to the last piece of work that was launched inside. PyTorch gives them the stream of this
/// work.
pub(in crate::formats) fn is_annotation(cat: &[u8]) -> bool {
    cat == b"gpu_user_annotation"
}

/// Whether slices of this category run on the host, wherever the trace puts them: PyTorch gives
/// frames of threads without an id to process 0, which is also that of the first device.
pub(super) fn is_of_host(cat: &[u8]) -> bool {
    matches!(cat, b"python_function" | b"cpu_op") || side(cat) == Some(SliceSide::Host)
}

/// Whether flow events of this category lead from a launch to its work.
pub(super) fn is_launch_flow(cat: &[u8]) -> bool {
    matches!(cat, b"ac2g" | b"async_cpu_to_gpu" | b"async_gpu" | b"async")
}

/// Most slices that wait for their partners, 32 bytes each.
const MAX_WAITING: usize = 1 << 20;

/// Whether the trace draws the arrows itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Drawn {
    /// No arrow of the trace so far.
    #[default]
    NotYet,
    /// The trace draws them.
    ByTheTrace,
}

/// One slice with a correlation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct CorrelatedSlice {
    id: i64,
    side: SliceSide,
    start_ps: i64,
    key: SliceKey,
}

/// Slices by their correlation.
#[derive(Debug, Default)]
pub(super) struct Correlations {
    waiting: Vec<CorrelatedSlice>,
    drawn: Drawn,
}

impl Correlations {
    /// Notes that the trace has flow events for launches, so that no links are drawn.
    pub(super) fn flow_seen(&mut self) {
        self.drawn = Drawn::ByTheTrace;
        self.waiting = Vec::new();
    }

    /// Whether a slice can have a correlation that counts.
    pub(super) fn can_have(&self, seen: EventBytes<'_>) -> bool {
        self.drawn != Drawn::ByTheTrace && !seen.event.members.is_empty() && side(&seen.cat_bytes()).is_some()
    }

    /// Takes a slice, if it has a correlation.
    pub(super) fn slice(
        &mut self,
        out: &mut EventOutput<'_>,
        seen: EventBytes<'_>,
        key: SliceKey,
        start_ps: i64,
    ) -> Result<()> {
        let Some(side) = side(&seen.cat_bytes()).filter(|_| self.can_have(seen)) else { return Ok(()) };
        let raw = seen.argument("correlation");
        let (ValueKind::Number | ValueKind::Text, Some(FieldNumber::Int(id))) =
            (raw.kind(), FieldNumber::parse(raw.of(seen.bytes)))
        else {
            return Ok(());
        };
        self.waiting.push(CorrelatedSlice { id, side, start_ps, key });
        if self.waiting.len() >= MAX_WAITING {
            self.link(out)?;
            self.forget();
        }
        Ok(())
    }

    /// Links every piece of device work with its launch. If several launches have its number, the
    /// last one that starts before the work counts, or else the first.
    pub(super) fn link(&mut self, out: &mut EventOutput<'_>) -> Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        self.waiting.sort_unstable();
        let name = out.sink.name("correlation")?;
        for group in self.waiting.chunk_by(|a, b| a.id == b.id) {
            let (hosts, devices) = group.split_at(group.partition_point(|one| one.side == SliceSide::Host));
            let Some(first) = hosts.first() else { continue };
            for device in devices {
                let before = hosts.partition_point(|host| host.start_ps <= device.start_ps);
                let host = before.checked_sub(1).and_then(|at| hosts.get(at)).unwrap_or(first);
                out.sink.link(host.key, device.key, name)?;
            }
        }
        Ok(())
    }

    /// Forgets slices that are not needed after linking. Launches are kept, and slices without a
    /// partner. If there are too many, the half that starts last is kept, because partners are near
    /// each other.
    fn forget(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        for group in waiting.chunk_by(|a, b| a.id == b.id) {
            let is_linked = group.first().map(|one| one.side) != group.last().map(|one| one.side);
            self.waiting.extend(group.iter().filter(|one| !is_linked || one.side == SliceSide::Host));
        }
        if self.waiting.len() > MAX_WAITING / 2 {
            self.waiting.sort_unstable_by_key(|one| std::cmp::Reverse((one.start_ps, one.key)));
            self.waiting.truncate(MAX_WAITING / 2);
        }
    }
}
