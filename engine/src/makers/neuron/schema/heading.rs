//! Headings over the tables of a Neuron profile, for lists of tables.

/// Headings with their tables. A table that is not listed stands with the events of the trace.
/// Names only: the tables themselves would link in all their explanations.
const HEADINGS: [(&str, &[&str]); 3] = [
    ("Model & NEFF", &["neff_header", "neff_node", "model_info", "profile_info", "terminology"]),
    (
        "Program",
        &[
            "layer_summary",
            "dma_queues_info",
            "cc_stream",
            "stack_frame",
            "stack_frame_file_location",
            "stack_frame_file_name",
            "stack_frame_function_name",
            "summary",
            "summary_groups",
            "summary_group_order",
        ],
    ),
    ("Device", &["metadata", "nc_mem_usage"]),
];

/// The heading over a table; `None` if the table holds events of the trace.
#[must_use]
pub fn heading_of(table: &str) -> Option<&'static str> {
    HEADINGS.iter().find(|(_, tables)| tables.contains(&table)).map(|(heading, _)| *heading)
}

#[cfg(test)]
mod tests {
    use super::super::TABLES;
    use super::*;
    use crate::model::TableKind;

    #[test]
    fn side_tables_have_headings_and_events_have_none() {
        for table in TABLES {
            let has_heading = heading_of(table.name).is_some();
            let is_side = table.kind == TableKind::Side;
            // Warnings and active times tell about the trace itself.
            let of_trace = ["warnings", "active_time"].contains(&table.name);
            assert_eq!(has_heading, is_side && !of_trace, "{}", table.name);
        }
        for name in HEADINGS.iter().flat_map(|(_, tables)| *tables) {
            assert!(TABLES.iter().any(|table| table.name == *name), "{name}");
        }
    }
}
