//! The tables of a Neuron profile: names, units, display groups and explanations of their fields.
//!
//! Table and field names are those of neuron-profile's JSON output, so that an export from the
//! store has the same keys. Values on the timeline are in the slice or sample itself and not in
//! fields. These are `timestamp` and `duration` (whole nanoseconds, rounded down), the text under
//! [`TableSchema::name_key`] and the number under [`TableSchema::value_key`].
//!
//! Every reader of Neuron data defines its tables here and its tracks with [`super::NeuronTracks`],
//! so that all build the same tree. A field that is not listed here is also kept, without an
//! explanation.

mod collectives;
mod counters;
mod dma;
mod heading;
mod instruction;
mod layer;
mod memory;
mod program;
mod queue;
mod source;
mod summary;

pub use crate::makers::table::{FieldSchema, TableSchema};
pub use collectives::{CC_INSTRUCTION, CC_OPS, CC_STREAM, CcInstruction, CcOps, CcStream};
pub use counters::{
    DMA_THROUGHPUT, DmaThroughput, HAM, HBM_USAGE, Ham, HbmUsage, INSTRUCTION_USAGE, InstructionUsage,
    PENDING_DMA, PendingDma, SEMAPHORE_UPDATE, SemaphoreUpdate, UNTHROTTLED_KIND, throttle_reason,
};
pub use dma::{DMA, Dma, dma_name, is_known_variable};
pub use heading::heading_of;
pub use instruction::{INSTRUCTION, Instruction};
pub use layer::{LAYER_SUMMARY, LayerRow, LayerSummary};
pub use memory::{
    ERROR, ErrorEvent, SBUF_ALLOCATION, SCRATCHPAD_ALLOCATION, SbufAllocation, ScratchpadAllocation,
};
pub use program::{
    ACTIVE_TIME, ActiveTime, DMA_QUEUES_INFO, DmaQueuesInfo, METADATA, MODEL_INFO, Metadata, ModelInfo,
    ModelRow, NC_MEM_USAGE, NEFF_HEADER, NEFF_NODE, NcMemUsage, NeffHeader, NeffNode, PROFILE_INFO,
    ProfileInfo, WARNINGS, Warnings,
};
pub use queue::Queue;
pub use source::{
    STACK_FRAME, STACK_FRAME_FILE_LOCATION, STACK_FRAME_FILE_NAME, STACK_FRAME_FUNCTION_NAME, StackFrame,
    StackFrameFileLocation, StackFrameFileName, StackFrameFunctionName,
};
pub use summary::{SUMMARY, SUMMARY_GROUP_ORDER, SUMMARY_GROUPS, TERMINOLOGY};

/// Name of links between an instruction and the instructions it waited for, as in neuron-profile.
pub const FLOW_DEPENDENCE: &str = "FLOW_DEPENDENCE";

/// Name of links from the instruction that starts a DMA transfer to the transfer.
pub const DMA_TRIGGER: &str = "DMA_TRIGGER";

/// Name of links from a DMA transfer to the instruction that waited for it.
pub const DMA_COMPLETION: &str = "DMA_COMPLETION";

/// Name of links from the instruction that starts a collective operation to the operation.
pub const COLLECTIVE_TRIGGER: &str = "COLLECTIVE_TRIGGER";

/// All tables.
pub static TABLES: [&TableSchema; 32] = [
    &INSTRUCTION,
    &DMA,
    &CC_OPS,
    &CC_INSTRUCTION,
    &HAM,
    &SEMAPHORE_UPDATE,
    &PENDING_DMA,
    &DMA_THROUGHPUT,
    &INSTRUCTION_USAGE,
    &HBM_USAGE,
    &SBUF_ALLOCATION,
    &SCRATCHPAD_ALLOCATION,
    &ERROR,
    &ACTIVE_TIME,
    &CC_STREAM,
    &DMA_QUEUES_INFO,
    &LAYER_SUMMARY,
    &METADATA,
    &MODEL_INFO,
    &NC_MEM_USAGE,
    &NEFF_HEADER,
    &NEFF_NODE,
    &PROFILE_INFO,
    &STACK_FRAME,
    &STACK_FRAME_FILE_LOCATION,
    &STACK_FRAME_FILE_NAME,
    &STACK_FRAME_FUNCTION_NAME,
    &SUMMARY,
    &SUMMARY_GROUPS,
    &SUMMARY_GROUP_ORDER,
    &TERMINOLOGY,
    &WARNINGS,
];

/// Names of tables that no other format has: a JSON with one of them is a Neuron profile. The list
/// is separate from [`TABLES`], because [`TABLES`] links in all explanations.
pub const TELLING: [&str; 28] = [
    "instruction",
    "dma",
    "cc_ops",
    "cc_instruction",
    "ham",
    "semaphore_update",
    "pending_dma",
    "dma_throughput",
    "instruction_usage",
    "hbm_usage",
    "sbuf_allocation",
    "scratchpad_allocation",
    "active_time",
    "cc_stream",
    "dma_queues_info",
    "layer_summary",
    "model_info",
    "nc_mem_usage",
    "neff_header",
    "neff_node",
    "profile_info",
    "stack_frame_file_location",
    "stack_frame_file_name",
    "stack_frame_function_name",
    "summary",
    "summary_groups",
    "summary_group_order",
    "terminology",
];

/// The table with this name.
#[must_use]
pub fn table(name: &str) -> Option<&'static TableSchema> {
    TABLES.into_iter().find(|table| table.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use crate::fixture::Recorder;
    use crate::model::TableKind;

    use super::*;

    #[test]
    fn telling_tables_are_tables() {
        let all: HashSet<&str> = TABLES.iter().map(|table| table.name).collect();
        let telling = HashSet::from(TELLING);
        assert!(telling.is_subset(&all));
        let shared: HashSet<&str> = all.difference(&telling).copied().collect();
        assert_eq!(
            shared,
            HashSet::from(["metadata", "warnings", "error", "stack_frame"]),
            "in other formats too"
        );
    }

    #[test]
    fn names_are_unique_and_everything_is_explained() {
        let mut tables = HashSet::new();
        for table in TABLES {
            assert!(tables.insert(table.name), "{} twice", table.name);
            assert!(table.spec().doc.ends_with('.'), "{}", table.name);
            let mut fields = HashSet::new();
            for field in table.fields {
                assert!(fields.insert(field.name), "{}.{} twice", table.name, field.name);
                assert!(field.doc.ends_with('.') && !field.group.is_empty(), "{}.{}", table.name, field.name);
            }
            for outside in ["timestamp", "duration", table.name_key, table.value_key] {
                let is_field = fields.contains(outside);
                assert!(table.kind == TableKind::Side || !is_field, "{}.{outside}", table.name);
            }
            assert_eq!(table.kind == TableKind::Samples, !table.value_key.is_empty(), "{}", table.name);
        }
    }

    #[test]
    fn handles_name_the_fields_they_stand_for() {
        let mut sink = Recorder::default();
        let ham = Ham::define(&mut sink).unwrap();
        assert_eq!(sink.tables[usize::from(ham.table.0)].name, "ham");
        assert_eq!(sink.fields[ham.kind.0 as usize].1.name, "type");
        assert_eq!(Ham::define(&mut sink).unwrap(), ham, "defining twice finds the same");
    }
}
