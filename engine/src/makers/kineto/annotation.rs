//! Operations of PyTorch before 2.3: kernels without arguments. The annotation around the launch of
//! a kernel states kind and size.

use rustc_hash::FxHashMap;

use super::{ARGUMENTS, CORRELATION, DIMS, EXTERNAL, TYPE};
use crate::base::Result;
use crate::exec::Cancel;
use crate::makers::call_columns::{FieldColumns, integers, slice_tracks};
use crate::model::{CollectiveKind, NameId, Role, TableId, TrackId};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// Prefix of the names of annotations.
const PREFIXES: [&str; 3] = ["nccl:", "rccl:", "hccl:"];

/// Facts that an annotation states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stated {
    pub(super) kind: CollectiveKind,
    pub(super) count: u64,
    pub(super) dtype: String,
}

/// A kernel whose annotation is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bare {
    /// Kind by the name of the kernel.
    pub(super) kind: CollectiveKind,
    /// Number of the host's operation, in some versions.
    pub(super) external: Option<i64>,
}

#[derive(Debug)]
struct LaunchAnnotation {
    start_ps: i64,
    end_ps: i64,
    external: Option<i64>,
    stated: Stated,
}

impl LaunchAnnotation {
    /// Quality of the fit between the annotation and a kernel that was launched at this time;
    /// `None` if it does not. Annotations of launches that follow each other at once can overlap.
    fn fit(&self, bare: Bare, time: i64) -> Option<(bool, i64)> {
        let is_vague = matches!(bare.kind, CollectiveKind::Exchange | CollectiveKind::Other);
        let is_around = self.start_ps <= time && time < self.end_ps;
        let fits = is_around && (is_vague || bare.kind == self.stated.kind);
        fits.then_some((bare.external.is_some() && bare.external == self.external, self.start_ps))
    }
}

/// Correlation and time of a launch.
type LaunchTime = (i64, i64);

/// Annotations before a launch that are looked at.
const NEAR: usize = 16;

/// For each correlation in `wanted`, the annotation around the launch.
pub(super) fn around_launches<B: Bytes>(
    segment: &Segment<B>,
    wanted: &FxHashMap<i64, Bare>,
    cancel: Cancel<'_>,
) -> Result<FxHashMap<i64, Stated>> {
    let mut found = FxHashMap::default();
    for (track, table) in slice_tracks(segment, |role| role == Role::HostThread) {
        let (annotations, launches) = of_thread(segment, track, table, wanted, cancel)?;
        for (correlation, time) in launches {
            let before = annotations.partition_point(|one| one.start_ps <= time);
            let near = annotations[before.saturating_sub(NEAR)..before].iter();
            let bare = wanted[&correlation];
            let best = near.filter_map(|one| Some((one.fit(bare, time)?, one))).max_by_key(|(fit, _)| *fit);
            if let Some((_, around)) = best {
                found.insert(correlation, around.stated.clone());
            }
        }
    }
    Ok(found)
}

/// Annotations of a thread by start, and its launches with a wanted correlation.
fn of_thread<B: Bytes>(
    segment: &Segment<B>,
    track: TrackId,
    table: TableId,
    wanted: &FxHashMap<i64, Bare>,
    cancel: Cancel<'_>,
) -> Result<(Vec<LaunchAnnotation>, Vec<LaunchTime>)> {
    let columns = FieldColumns::of(segment, table, ARGUMENTS);
    let (mut annotations, mut launches) = (Vec::new(), Vec::new());
    let mut is_annotation: FxHashMap<i64, bool> = FxHashMap::default();
    for block in segment.blocks_of(track)? {
        cancel.check()?;
        let mut core = BlockReader::new(segment, table, block)?;
        let starts = core.core_ints(ColumnRole::Start)?;
        let durations = core.core_ints(ColumnRole::Duration)?;
        let names = core.core_ints(ColumnRole::Name)?;
        let fields = columns.block(segment, block)?;
        for at in 0..starts.len() {
            if let Some(correlation) = fields.int(CORRELATION, at).filter(|id| wanted.contains_key(id)) {
                launches.push((correlation, starts[at]));
            }
            let name = names[at];
            let known = match is_annotation.get(&name) {
                Some(&known) => known,
                None => {
                    let text = segment.text(NameId(u32::try_from(name).unwrap_or_default()))?;
                    *is_annotation.entry(name).or_insert(PREFIXES.iter().any(|start| text.starts_with(start)))
                }
            };
            if known {
                let text = segment.text(NameId(u32::try_from(name).unwrap_or_default()))?;
                let count = elements(fields.text(segment, DIMS, at)?);
                let dtype = fields.text(segment, TYPE, at)?.split('"').nth(1).unwrap_or_default().to_owned();
                let stated = Stated { kind: CollectiveKind::of_name(text), count, dtype };
                let end_ps = starts[at].saturating_add(durations[at]);
                let external = fields.int(EXTERNAL, at);
                annotations.push(LaunchAnnotation { start_ps: starts[at], end_ps, external, stated });
            }
        }
    }
    Ok((annotations, launches))
}

/// Number of elements of tensors with these dimensions, such as `[[4, 2], [3]]`.
pub(super) fn elements(dims: &str) -> u64 {
    let lists = dims.split(']').filter(|list| list.contains(|sign: char| sign.is_ascii_digit()));
    let product = |list: &str| integers(list).fold(1_u64, |all, one| all.saturating_mul(u64::from(one)));
    lists.map(product).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_annotations_are_told_apart() {
        let annotation = |start_ps, external, kind| LaunchAnnotation {
            start_ps,
            end_ps: start_ps + 30,
            external: Some(external),
            stated: Stated { kind, count: 1, dtype: String::new() },
        };
        let (sum, all) = (CollectiveKind::AllReduce, CollectiveKind::AllToAll);
        let bare = Bare { kind: CollectiveKind::Exchange, external: Some(7) };
        assert!(annotation(0, 7, all).fit(bare, 20) > annotation(5, 8, all).fit(bare, 20));
        assert_eq!(annotation(0, 7, all).fit(Bare { kind: sum, ..bare }, 20), None, "another kind");
        assert_eq!(annotation(0, 7, all).fit(bare, 30), None, "after its end");
        let other = Bare { external: None, ..bare };
        assert!(annotation(5, 8, sum).fit(other, 20) > annotation(0, 7, all).fit(other, 20), "the inner one");
    }

    #[test]
    fn dimensions_multiply_and_tensors_add_up() {
        for (dims, count) in [("[[6144]]", 6_144), ("[[4,2],[3]]", 11), ("[]", 0), ("", 0)] {
            assert_eq!(elements(dims), count, "{dims}");
        }
    }
}
