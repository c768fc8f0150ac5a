//! The elements that instructions process, by engine.

use super::field_sums::{ClassSums, FieldSum, field_sums};
use super::run::RunFacts;
use super::{GroupedMetric, NamedColumns};
use crate::base::Result;
use crate::makers::class_times::BlockClasses;
use crate::makers::marked_field::MarkedField;
use crate::makers::neuron::group::NeuronGroup;
use crate::makers::neuron::{Engine, EngineTrack};
use crate::metrics::{MetricDefinition, MetricFamily};
use crate::model::{OwnedValue, Unit};
use crate::segment::{BlockReader, Bytes, Segment};

/// Mark of instructions that only transpose data.
const TRANSPOSES: u8 = 1;
/// Engines whose instructions are no matrix products, in the order of [`FAMILY`].
const ELEMENTWISE: [Engine; 3] = [Engine::Vector, Engine::Scalar, Engine::GpSimd];

const fn flops_of(name: &'static str) -> MetricDefinition {
    MetricDefinition::new(
        name,
        Unit::Flops,
        "Operations of all instructions of the engine that state how many elements they process: one for each \
         element.",
    )
}

/// The family.
pub(in crate::makers) const FAMILY: MetricFamily = MetricFamily {
    key: "neuron_other_flops",
    title: "Operations of Vector, Scalar and GpSimd",
    row: None,
    metrics: &[
        flops_of("vector_engine_flops"),
        flops_of("scalar_engine_flops"),
        flops_of("gpsimd_engine_flops"),
    ],
    source: "nprof",
    needs: "no instruction of these engines states how many elements it processes; their active times say how busy \
            they are",
};

/// Elements that instructions process, by engine and by whether they only transpose.
pub(super) struct Elements(ClassSums);

impl Elements {
    /// Reads the instructions of the run or of its window.
    pub(super) fn of<B: Bytes>(
        segment: &Segment<B>,
        instruction: &NamedColumns<'_, B>,
        run: &RunFacts<'_>,
    ) -> Result<Self> {
        let kind = MarkedField::of(instruction, "instruction_type", 0, |text| {
            if text == "TRANSPOSE" { TRANSPOSES } else { 0 }
        });
        // An instruction of an unknown engine counts as a product.
        let engine = MarkedField::of(instruction, "label", mark_of(Engine::Tensor), |label| {
            mark_of(EngineTrack::from_label(label).map_or(Engine::Tensor, EngineTrack::engine))
        });
        let classes = |block: &mut BlockReader<'_, B>| {
            let (engines, kinds) = (engine.marks(segment, block)?, kind.marks(segment, block)?);
            Ok(match (engines, kinds) {
                (BlockClasses::One(engine), BlockClasses::One(kind)) => BlockClasses::One(engine + kind),
                (engines, kinds) => {
                    let class = |row| engines.of_row(row) + kinds.of_row(row);
                    BlockClasses::of((0..block.rows()).map(class).collect())
                }
            })
        };
        let [sums] = field_sums(segment, instruction, ["elements"], &classes, run.window, run.work)?;
        Ok(Self(sums))
    }

    /// The elements of matrix products.
    pub(super) fn multiplied(&self) -> i64 {
        self.of_engine(Engine::Tensor).sum()
    }

    /// The elements of matrix products that only transpose.
    pub(super) fn transposed(&self) -> i64 {
        self.0.of(mark_of(Engine::Tensor) + TRANSPOSES).sum()
    }

    fn of_engine(&self, engine: Engine) -> FieldSum {
        self.0.of(mark_of(engine)).and(self.0.of(mark_of(engine) + TRANSPOSES))
    }

    /// Adds the operations of the engines beside Tensor whose instructions state their elements.
    pub(super) fn metrics(&self, out: &mut Vec<GroupedMetric>) {
        for (engine, definition) in ELEMENTWISE.into_iter().zip(FAMILY.metrics) {
            let of = self.of_engine(engine);
            if of.rows > 0 {
                out.push((NeuronGroup::Engine(engine), definition.metric(OwnedValue::Int(of.sum()))));
            }
        }
    }
}

/// Mark of the instructions of an engine.
fn mark_of(engine: Engine) -> u8 {
    2 * engine as u8
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{DrawnInstruction, neuron_rank};
    use super::super::read;
    use super::*;
    use crate::exec::Work;
    use crate::metrics::MetricScope;

    #[test]
    fn engines_have_the_operations_of_their_elements() {
        let drawn = |engine, name, elements| DrawnInstruction(engine, name, "", 0, 1_000, elements, 0);
        let segment = neuron_rank(
            &[
                drawn(Engine::Tensor, "MATMUL", 1_000),
                drawn(Engine::Vector, "TENSOR_TENSOR", 300),
                drawn(Engine::Vector, "TENSOR_TENSOR", 20),
                drawn(Engine::Scalar, "ACTIVATE", 0),
            ],
            &[],
            0,
        );
        let metrics = read(&segment, &MetricScope::default(), Work::IN_PLACE).unwrap();
        let all: Vec<_> = metrics.groups.into_iter().flat_map(|group| group.metrics).collect();
        let value = |name: &str| all.iter().find(|metric| metric.name == name)?.value.float();
        let names = ["hardware_flops", "vector_engine_flops", "scalar_engine_flops"];
        assert_eq!(names.map(value), [Some(2_000.0), Some(320.0), None]);
    }
}
