//! Kernels that leave most of a device empty, by the launch parameters that a trace states.

use rustc_hash::FxHashMap;

use super::super::{KinetoClass, class_on_device};
use crate::base::Result;
use crate::exec::Cancel;
use crate::makers::call_columns::{FieldColumns, slice_tracks};
use crate::metrics::{FillGap, KernelFill};
use crate::model::{NameId, Role};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// Blocks of a kernel over the processors of the device.
const BLOCKS: &str = "blocks per SM";
/// Warps of a processor that registers and shared memory leave room for, in percent.
const OCCUPANCY: &str = "est. achieved occupancy %";
/// Occupancy below which a processor has too few warps to hide the time of its memory, in percent.
const LOW_PERCENT: f64 = 25.0;

/// Time by the number of the name, with the number of kernels.
#[derive(Default)]
struct ByName(FxHashMap<i64, (i64, u64)>);

impl ByName {
    fn add(&mut self, name: i64, time_ps: i64) {
        let of = self.0.entry(name).or_default();
        (of.0, of.1) = (of.0.saturating_add(time_ps), of.1 + 1);
    }

    fn gap<B: Bytes>(self, segment: &Segment<B>) -> Result<FillGap> {
        let longest = self.0.iter().max_by_key(|(name, (time_ps, _))| (*time_ps, **name));
        let name = longest.map(|(name, _)| segment.text(NameId(u32::try_from(*name).unwrap_or_default())));
        Ok(FillGap {
            name: name.transpose()?.unwrap_or_default().to_owned(),
            time_ps: self.0.values().map(|(time_ps, _)| *time_ps).fold(0, i64::saturating_add),
            count: self.0.values().map(|(_, count)| *count).sum(),
        })
    }
}

/// The kernels of a rank that leave its devices partly empty. `None` if none states its grid.
pub(in crate::makers) fn kernel_fill<B: Bytes>(
    segment: &Segment<B>,
    rank: u32,
    cancel: Cancel<'_>,
) -> Result<Option<KernelFill>> {
    let (mut stated_ps, mut small, mut bound) = (0_i64, ByName::default(), ByName::default());
    let mut classes: FxHashMap<i64, bool> = FxHashMap::default();
    for (track, table) in slice_tracks(segment, |role| role == Role::Kernels) {
        let columns = FieldColumns::of(segment, table, [BLOCKS, OCCUPANCY]);
        for block in segment.blocks_of(track)? {
            cancel.check()?;
            let fields = columns.block(segment, block)?;
            let mut core = BlockReader::new(segment, table, block)?;
            let durations = core.core_ints(ColumnRole::Duration)?;
            let names = core.core_ints(ColumnRole::Name)?;
            for (at, (duration_ps, name)) in durations.into_iter().zip(names).enumerate() {
                let Some(blocks) = fields.number(0, at) else { continue };
                let computes = match classes.get(&name) {
                    Some(known) => *known,
                    None => {
                        let text = segment.text(NameId(u32::try_from(name).unwrap_or_default()))?;
                        let computes = class_on_device(text, "kernel") == KinetoClass::Compute;
                        classes.insert(name, computes);
                        computes
                    }
                };
                // Communication needs few processors.
                if !computes {
                    continue;
                }
                stated_ps = stated_ps.saturating_add(duration_ps.max(0));
                let is_low =
                    fields.number(1, at).is_some_and(|percent| percent > 0.0 && percent < LOW_PERCENT);
                match blocks < 1.0 {
                    true => small.add(name, duration_ps.max(0)),
                    false if is_low => bound.add(name, duration_ps.max(0)),
                    false => {}
                }
            }
        }
    }
    if stated_ps == 0 {
        return Ok(None);
    }
    Ok(Some(KernelFill { rank, stated_ps, small: small.gap(segment)?, bound: bound.gap(segment)? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_summed_by_name_and_the_longest_is_named() {
        let segment = crate::fixture::rank_of(
            "kineto",
            &[crate::fixture::RankTrack::of(Role::Kernels, &[("a", 0, 5), ("b", 5, 9)])],
        );
        let mut gaps = ByName::default();
        for (name, time_ps) in [("a", 5), ("b", 4), ("b", 4)] {
            let number = (0..8).find(|number| segment.text(NameId(*number)).is_ok_and(|text| text == name));
            gaps.add(i64::from(number.unwrap()), time_ps);
        }
        let gap = gaps.gap(&segment).unwrap();
        assert_eq!((gap.name.as_str(), gap.time_ps, gap.count), ("b", 13, 3));
        assert_eq!(kernel_fill(&segment, 0, Cancel::NEVER).unwrap(), None);
    }
}
