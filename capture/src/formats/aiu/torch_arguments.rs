//! Arguments of an event of PyTorch's dialect that count, in one walk over all of them.
//!
//! acelyzer and `nprof aiu` write FLEX traces in this dialect. Their slices of the device state the
//! counters and the charge, so cycles and power are computed again.

use nprof_engine::makers::aiu::{Phase, PhaseStamps, STAMPS};

use super::attribute::{bytes_of_argument, number};
use super::device_slice::HAS_CHARGE;
use crate::formats::trace_event::layer::{LayerEvent, each_member};
use crate::formats::trace_event::value::WrittenValue;

/// Key of the name before it was shortened.
const ORIGINAL: &[u8] = b"orig_name";
/// Key of the device.
const DEVICE: &[u8] = b"device";
/// Devices with higher numbers count as the first one.
const MAX_DEVICES: u16 = 1024;
/// Key of the stated rate in gigabytes per second.
const RATE: &[u8] = b"memory bandwidth (GB/s)";
/// Key of the launch of a slice.
const CORRELATION: &[u8] = b"correlation";
/// Key of the bytes of a slice.
const BYTES: &[u8] = b"bytes";
/// Key of the accumulated charge.
const CHARGE: &[u8] = b"Power";
/// Key of the file that a slice was read from before it was written.
const FILE: &[u8] = b"jobname";
/// Key of the difference between the slice and the one that the host saw, and of its part.
const ADJUSTED: &[u8] = b"time_adjust";
const LONGER: &[u8] = b"dur";

/// The arguments of an event.
#[derive(Debug, Default)]
pub(super) struct TorchArguments {
    device: Option<u16>,
    /// Name that the event had before acelyzer or nprof shortened it.
    pub(super) original: Option<String>,
    /// Rate in bytes per second.
    pub(super) rate: Option<u64>,
    pub(super) correlation: Option<i64>,
    pub(super) bytes: i64,
    /// Counters as read, without the overflows that were added. One that is missing is zero.
    pub(super) stamps: [u32; STAMPS],
    pub(super) charge: u32,
    /// Flags of [`super::device_slice::DeviceSlice`].
    pub(super) flags: u8,
    /// File that the slice was read from before it was written.
    pub(super) file: Option<Box<str>>,
    /// Microseconds by which the counters are longer than the slice that the host saw.
    longer_us: f64,
}

impl TorchArguments {
    /// The arguments of an event.
    pub(super) fn of(met: LayerEvent<'_>) -> Self {
        let mut stated = Self::default();
        met.each_argument(|key, value| stated.take(key, value));
        stated
    }

    /// The device that the arguments name, else the process.
    pub(super) fn device(&self, met: LayerEvent<'_>) -> u16 {
        let process = || std::str::from_utf8(met.pid()).ok()?.trim().parse().ok();
        self.device.or_else(process).filter(|device| *device < MAX_DEVICES).unwrap_or(0)
    }

    /// Whether the slice has counters, so that acelyzer or nprof wrote it from the runtime's.
    pub(super) fn has_counters(&self) -> bool {
        self.flags & 1 != 0
    }

    /// Duration by the clock of the host in picoseconds, of a slice of this phase and duration.
    #[expect(clippy::cast_possible_truncation, reason = "casts of floats saturate")]
    pub(super) fn host_ps(&self, phase: Phase, duration_ps: i64) -> i64 {
        let PhaseStamps { first, last } = phase.stamps();
        let cycles = |from: usize| f64::from(self.stamps[last].wrapping_sub(self.stamps[from]));
        let whole_ps = if first == 0 || cycles(first) == 0.0 {
            duration_ps as f64
        } else {
            duration_ps as f64 * (cycles(0) / cycles(first))
        };
        ((whole_ps - self.longer_us * 1e6).round() as i64).max(0)
    }

    fn take(&mut self, key: &[u8], value: WrittenValue<'_>) {
        match key {
            DEVICE => self.device = value.text().trim().parse().ok(),
            ORIGINAL => self.original = Some(value.text().into_owned()).filter(|name| !name.is_empty()),
            RATE => self.rate = value.text().trim().parse().ok().and_then(bytes_per_second),
            CORRELATION => self.correlation = value.text().trim().parse().ok(),
            BYTES => self.bytes = bytes_of_argument(value).unwrap_or(0),
            FILE => self.file = Some(value.text().into()),
            ADJUSTED => each_member(value.written(), |key, value| {
                if key == LONGER {
                    self.longer_us = value.text().trim().parse().unwrap_or(0.0);
                }
            }),
            CHARGE => {
                if let Some(charge) = low(value) {
                    (self.charge, self.flags) = (charge, self.flags | HAS_CHARGE);
                }
            }
            [b'T', b'S', digit @ b'1'..=b'5'] => {
                let at = usize::from(digit - b'1');
                if let Some(stamp) = low(value) {
                    (self.stamps[at], self.flags) = (stamp, self.flags | 1 << at);
                }
            }
            _ => {}
        }
    }
}

/// The lower 32 bits of a number, which overflows have been added to.
#[expect(clippy::cast_possible_truncation, reason = "the lower bits are the counter")]
fn low(value: WrittenValue<'_>) -> Option<u32> {
    number(value.written()).map(|number| number as u32)
}

/// A rate in gigabytes per second, if it is one, in bytes per second.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts of floats saturate")]
fn bytes_per_second(rate: f64) -> Option<u64> {
    (rate.is_finite() && rate > 0.0).then(|| (rate * 1e9).round() as u64)
}
