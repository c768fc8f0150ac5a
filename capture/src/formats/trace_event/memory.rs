//! PyTorch's `[memory]` instants as counters: the bytes that are allocated on each device.
//!
//! The instants are kept as well. Newer ones state the total of their device. Older ones state the
//! change by an allocation or a free. Such changes are summed in the order of time.

use nprof_engine::base::Result;
use nprof_engine::model::Unit;
use rustc_hash::FxHashMap;

use super::description::ProcessIndex;
use super::event::EventBytes;
use super::metadata::integer;
use super::output::EventOutput;
use super::text::bytes_of;
use super::track::{TrackIndex, TrackRole};

/// Most changes that wait to be sorted, 24 bytes each. If there are more, the waiting ones are
/// sorted and summed early.
const MAX_WAITING: usize = 1 << 20;

/// An allocation or a free.
#[derive(Debug, Clone, Copy)]
struct AllocationChange {
    time_ps: i64,
    track: TrackIndex,
    bytes: i64,
}

/// Sums of allocations and frees, by counter.
#[derive(Debug, Default)]
pub(super) struct AllocationSums {
    waiting: Vec<AllocationChange>,
    sums: FxHashMap<TrackIndex, i64>,
}

impl AllocationSums {
    /// Takes an instant, if it is about memory.
    pub(super) fn instant(
        &mut self,
        out: &mut EventOutput<'_>,
        seen: EventBytes<'_>,
        time_ps: i64,
    ) -> Result<()> {
        if *bytes_of(seen.bytes, seen.event.name) != *b"[memory]" {
            return Ok(());
        }
        let number = |key: &str| integer(seen.argument(key), seen.bytes);
        let Some(kind) = number("Device Type") else { return Ok(()) };
        let device = device_name(kind, number("Device Id"));
        let process = out.tracks.process(&EventOutput::pid(seen));
        if let Some(total) = number("Total Allocated") {
            let track = counter(out, process, "memory", device);
            return sample(out, track, time_ps, total);
        }
        let Some(bytes) = number("Bytes") else { return Ok(()) };
        let track = counter(out, process, "memory since start", device);
        self.waiting.push(AllocationChange { time_ps, track, bytes });
        if self.waiting.len() < MAX_WAITING { Ok(()) } else { self.finish(out) }
    }

    /// Emits the sums of the waiting changes.
    pub(super) fn finish(&mut self, out: &mut EventOutput<'_>) -> Result<()> {
        let mut changes = std::mem::take(&mut self.waiting);
        // The sort is stable: changes at the same time stay in the order of the file.
        changes.sort_by_key(|change| change.time_ps);
        for AllocationChange { time_ps, track, bytes } in changes {
            let sum = self.sums.entry(track).or_default();
            *sum = sum.saturating_add(bytes);
            let sum = *sum;
            sample(out, track, time_ps, sum)?;
        }
        Ok(())
    }
}

fn counter(out: &mut EventOutput<'_>, process: ProcessIndex, name: &str, device: String) -> TrackIndex {
    let role = TrackRole::Counter { name: name.into(), id: device.into(), series: "".into() };
    out.tracks.counter(process, role, Unit::Bytes)
}

#[expect(clippy::cast_precision_loss, reason = "amounts of memory are far below 2^53")]
fn sample(out: &mut EventOutput<'_>, track: TrackIndex, time_ps: i64, bytes: i64) -> Result<()> {
    out.start_row();
    out.emit_sample(track, time_ps, bytes as f64)
}

/// Name of a device, from the number of its kind in PyTorch's `c10/core/DeviceType.h` and its own
/// number.
fn device_name(kind: i64, number: Option<i64>) -> String {
    let kind = match kind {
        0 => return "CPU".to_owned(),
        1 | 6 => "GPU".to_owned(),
        9 => "XLA".to_owned(),
        12 => "XPU".to_owned(),
        13 => "MPS".to_owned(),
        15 => "HPU".to_owned(),
        19 => "MTIA".to_owned(),
        other => format!("device of type {other}"),
    };
    number.map_or_else(|| kind.clone(), |number| format!("{kind} {number}"))
}
