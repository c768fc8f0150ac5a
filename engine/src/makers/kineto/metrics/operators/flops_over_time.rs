//! Floating-point operations of operators over time: those of an execution are done while the work
//! runs that its first launch started.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::device_peak::DevicePeak;
use super::super::kernel_slice::{SliceTrack, StreamSlices};
use super::open_scopes::{CallVisitor, OpenScopes, ThreadCall, walk};
use crate::base::{Interval, Result};
use crate::exec::Cancel;
use crate::metrics::NumberWidth;
use crate::model::{FlopLoad, Role};
use crate::segment::{Bytes, Segment};

/// The operations of a rank over time. The peak is the one for the numbers of most operations.
pub(in super::super) fn flops_over_time<B: Bytes>(
    segment: &Segment<B>,
    streams: &[StreamSlices],
    peak: &DevicePeak,
    cancel: Cancel<'_>,
) -> Result<FlopLoad> {
    let mut visitor = FlopVisitor {
        launched: launched(streams),
        known: FxHashSet::default(),
        done: Vec::new(),
        by_precision: FxHashMap::default(),
    };
    for thread in SliceTrack::all(segment, Role::HostThread) {
        walk(segment, thread, true, cancel, &mut visitor)?;
        visitor.known.clear();
    }
    let spans = visitor.launched.values().copied();
    let Some(whole) = spans.reduce(Interval::cover) else { return Ok(FlopLoad::default()) };
    let mut load = FlopLoad::over(whole);
    visitor.done.iter().for_each(|(span, flops)| load.add(*span, *flops));
    let most = visitor.by_precision.into_iter().max_by_key(|(precision, flops)| (*flops, *precision));
    load.peak = most.and_then(|(precision, _)| peak.of(precision)).map(|peak| peak.flops as u64);
    Ok(load)
}

/// The time of the work of each launch, by the number that both share.
fn launched(streams: &[StreamSlices]) -> FxHashMap<i64, Interval> {
    let mut launched: FxHashMap<i64, Interval> = FxHashMap::default();
    for slice in streams.iter().flat_map(|stream| &stream.slices) {
        let Some(id) = slice.correlation else { continue };
        let span = Interval::new(slice.start_ps, slice.end_ps);
        launched.entry(id).and_modify(|known| *known = known.cover(span)).or_insert(span);
    }
    launched
}

/// The operations that a thread launches.
struct FlopVisitor {
    launched: FxHashMap<i64, Interval>,
    /// A call can have a call with its number inside: the outer one launches.
    known: FxHashSet<i64>,
    done: Vec<(Interval, u64)>,
    by_precision: FxHashMap<Option<NumberWidth>, u64>,
}

impl CallVisitor for FlopVisitor {
    fn call(&mut self, call: ThreadCall, open: &mut OpenScopes) -> bool {
        let Some((id, span)) = call.correlation.and_then(|id| Some((id, *self.launched.get(&id)?))) else {
            return false;
        };
        if !self.known.insert(id) {
            return true;
        }
        let counted = open.operators.iter().find_map(|of| Some((of.cost?.1, of.has_launched)));
        if let Some((cost, false)) = counted {
            self.done.push((span, cost.flops));
            let sum = self.by_precision.entry(cost.precision).or_default();
            *sum = sum.saturating_add(cost.flops);
        }
        open.operators.iter_mut().for_each(|of| of.has_launched = true);
        true
    }
}
