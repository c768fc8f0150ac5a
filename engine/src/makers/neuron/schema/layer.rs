//! Table `layer_summary`, and the fields that exist once per engine.

use crate::model::{FieldSpec, Unit};

/// The engines as field names spell them, and their display names.
const ENGINES: [(&str, &str); 5] = [
    ("tensor", "Tensor engine"),
    ("vector", "Vector engine"),
    ("scalar", "Scalar engine"),
    ("gpsimd", "GpSimd engine"),
    ("sync", "Sync engine"),
];

table! {
    /// Time of each layer, and the work of each engine for the layer.
    "layer_summary" LAYER_SUMMARY LayerSummary Side, patterns in per_engine_ns, rows LayerRow;
    "Layer" {
        name: None, "Subgraph and layer; the subgraph alone means all of its layers.";
        fully_qualified_subgraph: None, "Subgraph that contains the layer.";
    }
    "Timing" {
        start: Nanoseconds, "Start of the layer's first instruction.";
        end: Nanoseconds, "End of the layer's last instruction.";
        duration: Nanoseconds, "Time from start to end.";
    }
    "Tensor engine" {
        tensor_engine_mfu: Ratio, "Floating-point operations of the model as a share of the engine's peak in the layer's time.";
        tensor_engine_hfu: Ratio, "Executed floating-point operations as a share of the engine's peak in the layer's time.";
        tensor_engine_flop_count: Flops, "Executed floating-point operations, with transposes.";
        tensor_engine_model_flop_count: Flops, "Executed floating-point operations, without transposes.";
    }
}

fn per_engine_ns(name: &str) -> Option<FieldSpec> {
    per_engine(name, Unit::Nanoseconds)
}

/// Explains `<engine>_engine_<quantity>`. `time` is the unit of its times.
pub(super) fn per_engine(name: &str, time: Unit) -> Option<FieldSpec> {
    let (engine, quantity) = name.split_once("_engine_")?;
    let (_, title) = ENGINES.into_iter().find(|(key, _)| *key == engine)?;
    let seconds = if time == Unit::None { ", in seconds" } else { "" };
    let (unit, doc) = match quantity {
        "active_time" => (time, format!("Time with at least one instruction on the {title}{seconds}.")),
        "active_percent" | "active_time_percent" => {
            (Unit::Ratio, format!("Share of the time with at least one instruction on the {title}."))
        }
        "instruction_count" => (Unit::Count, format!("Number of instructions that the {title} executed.")),
        "instruction_time" => (
            time,
            format!(
                "Sum of the durations of all instructions of the {title}, with overlaps counted twice{seconds}."
            ),
        ),
        _ => return None,
    };
    Some(FieldSpec::new(name, unit, title, &doc))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_has_its_quantities() {
        for (engine, title) in ENGINES {
            for quantity in ["active_time", "active_percent", "instruction_count", "instruction_time"] {
                let field = LAYER_SUMMARY.field(&format!("{engine}_engine_{quantity}"));
                assert_eq!(field.group, title);
                assert!(field.doc.contains(title), "{field:?}");
            }
        }
        assert_eq!(LAYER_SUMMARY.field("other_engine_active_time").doc, "");
    }
}
