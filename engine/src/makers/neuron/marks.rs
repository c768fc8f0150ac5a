//! Layers of a Neuron profile: the compiler states that of each instruction.

use crate::base::{Interval, Result};
use crate::exec::Cancel;
use crate::makers::call_columns::{FieldColumns, slice_tracks};
use crate::model::rank_marks::sort_marks;
use crate::model::{MachineSide, MarkKind, NameId, Role, WorkMark};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// Field of an instruction with the name of its layer.
const LAYER: &str = "layer";

/// Instructions of a layer, one after the other on an engine.
#[derive(Debug, Clone, Copy)]
pub(super) struct LayerRun {
    /// Number of the name of the layer.
    pub(super) name: u32,
    /// From the first to the last instruction.
    pub(super) span: Interval,
}

/// Reads the layers of a rank, by start. A layer lasts from its first instruction on any engine to
/// its last one. It begins anew if none of its instructions came for longer than it had lasted.
pub(in crate::makers) fn read<B: Bytes>(segment: &Segment<B>, cancel: Cancel<'_>) -> Result<Vec<WorkMark>> {
    let mut runs: Vec<LayerRun> = Vec::new();
    for (track, table) in slice_tracks(segment, |role| matches!(role, Role::Engine(_))) {
        let columns = FieldColumns::of(segment, table, [LAYER]);
        let mut last: Option<LayerRun> = None;
        for block in segment.blocks_of(track)? {
            cancel.check()?;
            let fields = columns.block(segment, block)?;
            let mut core = BlockReader::new(segment, table, block)?;
            let starts = core.core_ints(ColumnRole::Start)?;
            let durations = core.core_ints(ColumnRole::Duration)?;
            for at in 0..starts.len() {
                let Some(name) = fields.code(0, at) else { continue };
                let span = Interval::lasting(starts[at], durations[at].max(0));
                match &mut last {
                    Some(run) if run.name == name => run.span = run.span.cover(span),
                    _ => runs.extend(last.replace(LayerRun { name, span })),
                }
            }
        }
        runs.extend(last);
    }
    named(segment, joined(runs))
}

/// The runs of all engines as layers.
pub(super) fn joined(mut runs: Vec<LayerRun>) -> Vec<LayerRun> {
    runs.sort_by_key(|run| (run.name, run.span.start, run.span.end));
    let mut layers: Vec<LayerRun> = Vec::new();
    for run in runs {
        match layers.last_mut().filter(|layer| layer.name == run.name) {
            Some(layer) if goes_on(layer.span, run.span) => layer.span = layer.span.cover(run.span),
            _ => layers.push(run),
        }
    }
    layers
}

fn goes_on(layer: Interval, run: Interval) -> bool {
    let lasted_ps = layer.end.0.saturating_sub(layer.start.0);
    run.start.0.saturating_sub(layer.end.0) <= lasted_ps
}

fn named<B: Bytes>(segment: &Segment<B>, layers: Vec<LayerRun>) -> Result<Vec<WorkMark>> {
    let mut marks = Vec::with_capacity(layers.len());
    for LayerRun { name, span } in layers {
        let name = segment.text(NameId(name))?;
        if !name.trim().is_empty() {
            let (kind, side) = (MarkKind::Layer, MachineSide::Device);
            marks.push(WorkMark { kind, name: name.to_owned(), span, side });
        }
    }
    sort_marks(&mut marks);
    Ok(marks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_engines_are_one_layer_until_it_comes_again() {
        let run = |name, start, end| LayerRun { name, span: Interval::new(start, end) };
        let runs = vec![
            run(1, 0, 10),
            run(2, 10, 20),
            run(1, 4, 12),
            run(1, 18, 30),
            run(1, 90, 99),
            run(2, 60, 70),
        ];
        let found: Vec<(u32, i64, i64)> =
            joined(runs).iter().map(|one| (one.name, one.span.start.0, one.span.end.0)).collect();
        assert_eq!(found, [(1, 0, 30), (1, 90, 99), (2, 10, 20), (2, 60, 70)]);
    }
}
