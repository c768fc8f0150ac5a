//! Groups of metrics: for display, and for neuron-profile's output.

use super::Engine;

/// A group of metrics with one heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NeuronGroup {
    /// Metrics of the whole run.
    Overall,
    /// DMA and memory.
    DataMovement,
    /// Metrics of an engine.
    Engine(Engine),
    /// Collective operations.
    Collectives,
    /// Throttling of cores.
    Throttling,
    /// System facts that the trace states.
    System,
}

impl NeuronGroup {
    /// All groups, in display order.
    pub const ALL: [Self; 10] = [
        Self::Overall,
        Self::DataMovement,
        Self::Engine(Engine::Tensor),
        Self::Engine(Engine::Vector),
        Self::Engine(Engine::Scalar),
        Self::Engine(Engine::Sync),
        Self::Engine(Engine::GpSimd),
        Self::Collectives,
        Self::Throttling,
        Self::System,
    ];

    /// Heading of the group.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Overall => "Overall",
            Self::DataMovement => "Data movement",
            Self::Engine(engine) => engine.heading(),
            Self::Collectives => "Collectives",
            Self::Throttling => "Throttling",
            Self::System => "System",
        }
    }

    /// Key of the neuron-profile group that has its metrics, or most of them.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Overall => "overall_stats",
            Self::DataMovement => "data_movement",
            Self::Engine(engine) => engine.prefix(),
            Self::Collectives => "cc_engine",
            Self::Throttling => THROTTLING,
            Self::System => "system",
        }
    }
}

const THROTTLING: &str = "throttling_nc0";

/// Groups of neuron-profile, in its display order.
pub const EXPORTED: [&str; 14] = [
    "overall_stats",
    "data_movement",
    "software_data_movement",
    "hardware_data_movement",
    "tensor_engine",
    "vector_engine",
    "scalar_engine",
    "sync_engine",
    "gpsimd_engine",
    "cc_engine",
    "system",
    THROTTLING,
    "throttling_nc1",
    "server_upload",
];

/// The group of a metric in neuron-profile's output, from the key of its group here. neuron-profile
/// divides some groups further.
#[must_use]
pub fn exported<'a>(key: &'a str, metric: &str) -> &'a str {
    match metric {
        name if name.starts_with("total_active_time") => "summary",
        name if name.starts_with("software_dynamic_dma") => "software_data_movement",
        name if name.starts_with("hardware_dynamic_dma") => "hardware_data_movement",
        name if key == THROTTLING && name.contains("_nc1_") => "throttling_nc1",
        _ => key,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_is_one_of_the_vendor() {
        for group in NeuronGroup::ALL {
            assert!(EXPORTED.contains(&group.key()), "{group:?}");
        }
    }

    #[test]
    fn groups_are_divided_as_the_vendor_does() {
        for (group, metric, expected) in [
            (NeuronGroup::Overall, "total_time", "overall_stats"),
            (NeuronGroup::Overall, "total_active_time_percent", "summary"),
            (NeuronGroup::DataMovement, "hbm_read_bytes", "data_movement"),
            (NeuronGroup::DataMovement, "software_dynamic_dma_size", "software_data_movement"),
            (NeuronGroup::Throttling, "throttle_active_nc0_time_ns", "throttling_nc0"),
            (NeuronGroup::Throttling, "throttle_avg_util_limit_nc1_percent", "throttling_nc1"),
        ] {
            assert_eq!(exported(group.key(), metric), expected, "{metric}");
        }
    }
}
