//! Marks of a program in a trace of PyTorch's profiler, and in all traces that use its words:
//! annotations on threads of the host and over the streams of a device, and calls of modules.

use rustc_hash::FxHashMap;

use super::category_words::{ANNOTATION, CategoryWords};
use super::{ARGUMENTS, CATEGORY, steps};
use crate::base::{Interval, Result};
use crate::exec::Cancel;
use crate::makers::call_columns::{FieldColumns, slice_tracks};
use crate::model::collective::CollectiveKind;
use crate::model::rank_marks::sort_marks;
use crate::model::{MachineSide, MarkKind, NameId, Role, SliceForm, TableId, TrackId, WorkMark};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// Begin of the names of calls of modules, before class and number.
const MODULE: &str = "nn.Module: ";
/// Ends of the names of classes that are layers.
const LAYERS: [&str; 2] = ["Layer", "Block"];
/// Words before a number that make it that of a step, in lower case.
const STEPS: [&str; 3] = ["step", "iteration", "iter"];

/// Reads the marks of a rank, by start.
pub(in crate::makers) fn read<B: Bytes>(segment: &Segment<B>, cancel: Cancel<'_>) -> Result<Vec<WorkMark>> {
    let mut reader = MarkReader {
        segment,
        cancel,
        marks: Vec::new(),
        kinds: FxHashMap::default(),
        annotations: CategoryWords::new(&[ANNOTATION]),
    };
    for (track, table) in slice_tracks(segment, |role| role == Role::HostThread) {
        reader.track(track, table, MachineSide::Host)?;
    }
    for (track, table) in slice_tracks(segment, |role| role == Role::Annotations) {
        reader.track(track, table, MachineSide::Device)?;
    }
    sort_marks(&mut reader.marks);
    Ok(reader.marks)
}

struct MarkReader<'s, B> {
    segment: &'s Segment<B>,
    cancel: Cancel<'s>,
    marks: Vec<WorkMark>,
    /// The meaning of each name, within and without an annotation.
    kinds: FxHashMap<(u32, bool), Option<MarkKind>>,
    annotations: CategoryWords,
}

impl<B: Bytes> MarkReader<'_, B> {
    fn track(&mut self, track: TrackId, table: TableId, side: MachineSide) -> Result<()> {
        let columns = FieldColumns::of(self.segment, table, [ARGUMENTS[CATEGORY]]);
        for block in self.segment.blocks_of(track)? {
            self.cancel.check()?;
            let mut core = BlockReader::new(self.segment, table, block)?;
            let names = core.core_ints(ColumnRole::Name)?;
            let starts = core.core_ints(ColumnRole::Start)?;
            let durations = core.core_ints(ColumnRole::Duration)?;
            let forms = core.core_ints(ColumnRole::Form)?;
            let fields = columns.block(self.segment, block)?;
            for at in 0..starts.len() {
                let name = u32::try_from(names[at]).unwrap_or_default();
                let is_annotation = side == MachineSide::Device
                    || self.annotations.are_in(self.segment, fields.code(0, at))?;
                let Some(kind) = self.kind(name, is_annotation)? else { continue };
                if forms[at] != i64::from(SliceForm::Complete.code()) {
                    continue;
                }
                let name = self.segment.text(NameId(name))?.to_owned();
                let span = Interval::lasting(starts[at], durations[at].max(0));
                self.marks.push(WorkMark { kind, name, span, side });
            }
        }
        Ok(())
    }

    fn kind(&mut self, name: u32, is_annotation: bool) -> Result<Option<MarkKind>> {
        if let Some(known) = self.kinds.get(&(name, is_annotation)) {
            return Ok(*known);
        }
        let kind = kind_of(self.segment.text(NameId(name))?, is_annotation);
        self.kinds.insert((name, is_annotation), kind);
        Ok(kind)
    }
}

/// The meaning of a name. `None` if it marks nothing.
fn kind_of(name: &str, is_annotation: bool) -> Option<MarkKind> {
    // Before PyTorch 1.11, marks of steps were operators.
    if steps::number_of(name).is_some() || is_annotation && is_numbered_step(name) {
        return Some(MarkKind::Step);
    }
    if is_annotation {
        let is_call = name.contains(':') && CollectiveKind::of_name(name) != CollectiveKind::Other;
        return (!is_call).then_some(MarkKind::Phase);
    }
    let class =
        name.strip_prefix(MODULE)?.trim_end_matches(|sign: char| sign.is_ascii_digit() || sign == '_');
    LAYERS.iter().any(|end| class.ends_with(end)).then_some(MarkKind::Layer)
}

/// Whether a name is a word for steps and a number, such as `train_step 12`.
fn is_numbered_step(name: &str) -> bool {
    let word = name.trim_end_matches(|sign: char| sign.is_ascii_digit());
    let is_numbered = word.len() < name.len();
    let word = word.trim_end_matches(|sign: char| !sign.is_ascii_alphabetic()).to_ascii_lowercase();
    is_numbered && STEPS.iter().any(|step| word.ends_with(step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_steps_layers_and_phases() {
        let (step, layer, phase) = (Some(MarkKind::Step), Some(MarkKind::Layer), Some(MarkKind::Phase));
        for (name, is_annotation, kind) in [
            ("ProfilerStep#3", false, step),
            ("ProfilerStep#3", true, step),
            ("train_step 12", true, step),
            ("train_step 12", false, None),
            ("Iteration-4", true, step),
            ("## forward ##", true, phase),
            ("Optimizer.step#SGD.step", true, phase),
            ("nccl:all_reduce", true, None),
            ("nn.Module: LlamaDecoderLayer_3", false, layer),
            ("nn.Module: LayerNorm_3", false, None),
            ("aten::add", false, None),
        ] {
            assert_eq!(kind_of(name, is_annotation), kind, "{name}");
        }
    }
}
