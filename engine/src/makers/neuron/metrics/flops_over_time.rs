//! Floating-point operations of a Neuron rank over time, from the elements of its matrix products.

use rustc_hash::FxHashMap;

use super::run::RunFacts;
use crate::base::{Interval, Result};
use crate::exec::{Cancel, Work};
use crate::makers::call_columns::{FieldColumns, slice_tracks};
use crate::metrics::{MetricScope, trace};
use crate::model::{EngineKind, FlopLoad, NameId, Role};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// Fields of an instruction: elements of its product, and its type.
const FIELDS: [&str; 2] = ["elements", "instruction_type"];
/// Type of instructions that only move data.
const TRANSPOSE: &str = "TRANSPOSE";

/// The operations of the model over time, without transposes, with the peak of the core.
pub(in crate::makers) fn flops_over_time<B: Bytes>(
    segment: &Segment<B>,
    cancel: Cancel<'_>,
) -> Result<FlopLoad> {
    let mut load = FlopLoad::over(trace::span(segment));
    let mut transposes: FxHashMap<u32, bool> = FxHashMap::default();
    for (track, table) in slice_tracks(segment, |role| role == Role::Engine(EngineKind::Tensor)) {
        let columns = FieldColumns::of(segment, table, FIELDS);
        for block in segment.blocks_of(track)? {
            cancel.check()?;
            let fields = columns.block(segment, block)?;
            let mut core = BlockReader::new(segment, table, block)?;
            let starts = core.core_ints(ColumnRole::Start)?;
            let durations = core.core_ints(ColumnRole::Duration)?;
            for at in 0..starts.len() {
                let Some(elements) = fields.int(0, at).filter(|elements| *elements > 0) else { continue };
                let is_transpose = match fields.code(1, at) {
                    Some(code) => match transposes.get(&code) {
                        Some(&known) => known,
                        None => *transposes.entry(code).or_insert(segment.text(NameId(code))? == TRANSPOSE),
                    },
                    None => false,
                };
                if !is_transpose {
                    // Each element is a multiplication and an addition.
                    let flops = elements.unsigned_abs().saturating_mul(2);
                    load.add(Interval::lasting(starts[at], durations[at].max(0)), flops);
                }
            }
        }
    }
    // The facts of a window are those of the chip alone.
    let chip_only = MetricScope::within(Some(Interval::default()));
    let chip = RunFacts::of(segment, &chip_only, Work { cancel, ..Work::IN_PLACE })?.chip;
    load.peak = chip.map(|chip| chip.peak_flops() as u64);
    Ok(load)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{DrawnInstruction, neuron_rank};
    use super::*;
    use crate::makers::neuron::Engine;

    #[test]
    fn products_are_spread_over_their_time() {
        let product =
            |start, elements| DrawnInstruction(Engine::Tensor, "MATMUL", "x", start, 10_000, elements, 0);
        let segment = neuron_rank(&[product(0, 1_000), product(20_000, 500)], &[], 0);
        let load = flops_over_time(&segment, Cancel::NEVER).unwrap();
        let within = |from, to| load.within(Interval::new(from, to)).round();
        assert_eq!([within(0, 10_005), within(0, 30_000), within(10_005, 20_000)], [2_000.0, 3_000.0, 0.0]);
        assert_eq!(load.peak, Some(32_768_000_000_000));
    }
}
