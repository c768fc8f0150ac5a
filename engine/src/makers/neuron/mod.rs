//! Profiles of AWS Neuron devices.

mod chip_name;
pub mod collectives;
mod engine;
mod errors;
pub mod group;
mod limits;
mod marks;
pub mod metrics;
pub mod schema;
mod source;
mod tensor_traffic;
mod tracks;
mod work;

use super::{Maker, MakerFacts, Tool};
use crate::metrics::RankMeasures;
use crate::segment::Bytes;

pub(crate) use source::{FIELDS as SOURCE_FIELDS, HLO_FIELDS, LAYER_FIELDS};

pub use engine::{Engine, EngineTrack, MATRIX_PRODUCTS};
pub use tracks::{CounterTrack, NeuronMemory, NeuronTracks, name_on_core};

/// The instruction that waits for a semaphore and then changes it. Waiting does not count as work.
pub use crate::model::wait::NEURON_WAIT as SEMAPHORE_WAIT;

/// Value of [`crate::model::RankInfo::source`] for a Neuron profile.
pub const SOURCE: &str = "neuron";

pub(super) const FACTS: MakerFacts = MakerFacts {
    heading: schema::heading_of,
    imitated: Some(Tool::NeuronProfile),
    layout: super::summary_layout::NEURON,
    ..MakerFacts::any(SOURCE)
};

pub(super) const fn maker<B: Bytes>() -> Maker<B> {
    Maker {
        metrics: metrics::read,
        calls: collectives::read,
        flops: metrics::flops_over_time,
        measures: |segment, rank, cancel| {
            let errors = Some(errors::errors(segment, rank, cancel)?);
            let tensors = tensor_traffic::tensor_traffic(segment, rank, cancel)?;
            Ok(RankMeasures { errors, tensors, ..RankMeasures::default() })
        },
        limits: limits::limits_of,
        work: work::read,
        source: source::read,
        marks: marks::read,
        device: chip_name::read,
        ..Maker::any()
    }
}
