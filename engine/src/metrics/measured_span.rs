//! The span that metrics of any trace are about, and the slices in it.

use super::MetricScope;
use crate::base::{Interval, Result};
use crate::exec::Work;
use crate::model::{MachineSide, OwnedValue, Role, TrackId};
use crate::query::{self, Selection};
use crate::segment::{Bytes, Segment};

/// The source of definitions of nprof.
pub(super) const OWN: &str = "nprof";

/// The span of all events.
#[must_use]
pub fn span<B: Bytes>(segment: &Segment<B>) -> Interval {
    let filled = segment.footer().tracks.iter().filter(|track| track.rows > 0);
    let spans = filled.map(|track| Interval::new(track.start_ps, track.end_ps));
    spans.reduce(Interval::cover).unwrap_or_default()
}

/// The times that shares are taken of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Denominators {
    /// The window; without one from the first to the last slice that takes time, or the span of all
    /// events if none does.
    pub(super) total: Interval,
    /// From the first to the last slice on tracks of devices. Holistic Trace Analysis takes its
    /// shares of this time.
    pub(super) device: Option<Interval>,
}

impl Denominators {
    pub(super) fn of<B: Bytes>(segment: &Segment<B>, scope: &MetricScope, work: Work<'_>) -> Result<Self> {
        if let Some(window) = scope.window {
            return Ok(Self { total: window, device: None });
        }
        let total = query::extent(segment, |role| !role.is_state(), work.cancel)?;
        let is_device = |role: Role| role.is_work() && role.side() == Some(MachineSide::Device);
        let device = query::extent(segment, is_device, work.cancel)?;
        Ok(Self { total: total.unwrap_or_else(|| span(segment)), device })
    }

    /// The time of a track with this role, in picoseconds.
    pub(super) fn of_role(&self, role: Role) -> f64 {
        let device = self.device.filter(|_| role.side() == Some(MachineSide::Device));
        device.unwrap_or(self.total).duration_ps().unsigned_abs().max(1) as f64
    }
}

/// The slices of all tracks in the window of the scope, or of the whole.
pub(super) fn select_all<B: Bytes>(
    segment: &Segment<B>,
    scope: &MetricScope,
    tracks: &[TrackId],
    work: Work<'_>,
) -> Result<Selection> {
    let span = span(segment);
    // An instant at the last time of the span counts too.
    let whole = Interval::new(span.start.0, span.end.0.saturating_add(1));
    query::selection::select(segment, tracks, scope.window.unwrap_or(whole), work)
}

/// The name of a track behind those of the groups above it.
pub(crate) fn track_path<B: Bytes>(segment: &Segment<B>, track: TrackId) -> String {
    query::slice::names_to(segment, track).join(query::slice::SUMMARY_SEPARATOR)
}

/// A time in seconds, like those of neuron-profile.
pub(crate) fn seconds(ps: u64) -> OwnedValue {
    OwnedValue::Float(ps as f64 / crate::base::time::PS_PER_S as f64)
}
