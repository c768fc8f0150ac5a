//! Use of device memory: side table `nc_mem_usage`.

use nprof_engine::base::Result;
use nprof_engine::model::{Sink, Value};

use super::container::text;
use super::core::CoreProgram;
use nprof_engine::makers::neuron::schema::NcMemUsage;

/// The runtime's labels and their display names.
const LABELS: [(&str, &str); 18] = [
    ("generic", "Generic"),
    ("pe", "Tensor Instructions"),
    ("act", "Scalar Instructions"),
    ("pool", "GpSimd Instructions"),
    ("dve", "Vector Instructions"),
    ("sp", "Sync Instructions"),
    ("io", "IO"),
    ("spill", "DRAM Spill"),
    ("weight", "Weights"),
    ("profiler buffers", "Profiler Buffers"),
    ("act table", "Scalar Table"),
    ("shared scratchpad", "Shared Scratchpad"),
    ("tensor", "Tensors"),
    ("ucode", "Ucode lib"),
    ("pool stdio", "GpSimd STDIO"),
    ("collectives", "Collectives"),
    ("scratchpad", "Scratchpad"),
    ("xt cc", "XT CC (unused)"),
];

/// Labels of rings, one per purpose.
const RINGS: [(&str, &str); 4] = [
    ("runtime", "DMA Rings Runtime"),
    ("spill", "DMA Rings Spill"),
    ("io", "DMA Rings IO"),
    ("collectives", "DMA Rings Collectives"),
];

/// Writes the table, with a row for the sum.
pub fn write(core: &CoreProgram<'_>, sink: &mut dyn Sink) -> Result<()> {
    let memory = &core.subgraph.memory;
    if memory.is_empty() {
        return Ok(());
    }
    let handles = NcMemUsage::define(sink)?;
    let mut row = |label: &str, size_bytes: u64| {
        let size = Value::unsigned(size_bytes);
        sink.row(
            handles.table,
            &[
                (handles.nd, Value::Int(0)),
                (handles.nc, Value::Int(i64::from(core.number))),
                (handles.usage_type, Value::Text(label)),
                (handles.amount_bytes, size),
            ],
        )
    };
    let mut total = 0_u64;
    for entry in memory {
        row(&display_label(&text(&entry.label)), entry.size_bytes)?;
        total = total.saturating_add(entry.size_bytes);
    }
    row("Total", total)
}

fn display_label(label: &str) -> String {
    let (table, key) = match label.strip_prefix("dma rings ") {
        Some(purpose) => (&RINGS[..], purpose),
        None => (&LABELS[..], label),
    };
    let known = table.iter().find(|(from, _)| *from == key);
    known.map_or_else(|| label.to_owned(), |(_, to)| (*to).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_are_not_known_stay_as_they_are() {
        let labels = ["dve", "dma rings io", "dma rings new", "something new"].map(display_label);
        assert_eq!(labels, ["Vector Instructions", "DMA Rings IO", "dma rings new", "something new"]);
    }
}
