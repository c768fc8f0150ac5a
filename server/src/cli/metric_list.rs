//! The list of all metrics, with the names that conditions can call them by.

use nprof_engine::makers::defined_metrics;
use serde::Serialize;

use super::terms;

/// A definition as it is listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct ListedMetric {
    pub(super) family: String,
    pub(super) name: String,
    /// The short form of the name. `None` if it has none.
    pub(super) alias: Option<String>,
    pub(super) unit: String,
    pub(super) meaning: String,
    pub(super) of: String,
    pub(super) source: String,
}

impl ListedMetric {
    /// Whether a text is part of its names, family or definition.
    pub(super) fn contains(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        let parts = [&self.family, &self.name, &self.meaning].into_iter().chain(&self.alias);
        parts.into_iter().any(|part| part.to_lowercase().contains(&text))
    }
}

/// Ends of names that say how a ratio is known and written: its short form lacks them.
const LONG_ENDS: [&str; 2] = ["_estimated_percent", "_percent"];

/// The short form of the name of a metric. `None` if it has none.
pub(super) fn alias(name: &str) -> Option<&str> {
    LONG_ENDS.iter().find_map(|end| name.strip_suffix(end)).filter(|short| !short.is_empty())
}

/// Whether a metric can be called by a name, whatever its case.
pub(super) fn is_called(metric: &str, name: &str) -> bool {
    metric.eq_ignore_ascii_case(name) || alias(metric).is_some_and(|alias| alias.eq_ignore_ascii_case(name))
}

/// The one of these names that is most like a text.
pub(super) fn nearest<'n>(text: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let text = text.to_lowercase();
    let with_likeness = names.map(|name| (strsim::jaro_winkler(&text, &name.to_lowercase()), name));
    with_likeness.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, name)| name)
}

/// All definitions. Those of Neuron profiles whose names depend on engines come from a simulated
/// rank.
pub(super) fn listed() -> anyhow::Result<Vec<ListedMetric>> {
    let mut all: Vec<ListedMetric> = Vec::new();
    for one in defined_metrics() {
        all.push(ListedMetric {
            family: one.family.to_owned(),
            name: one.name.to_owned(),
            unit: one.unit.symbol().to_owned(),
            meaning: one.doc.to_owned(),
            of: one.of.to_owned(),
            source: one.source.to_owned(),
            alias: alias(one.name).map(str::to_owned),
        });
    }
    for term in terms::metrics()? {
        let is_known = |one: &ListedMetric| one.of == "Neuron" && one.name == term.name;
        let source =
            all.iter().find(|one| is_known(one)).map_or("nprof", |one| one.source.as_str()).to_owned();
        all.retain(|one| !is_known(one));
        all.push(ListedMetric {
            alias: alias(&term.name).map(str::to_owned),
            family: term.group,
            name: term.name,
            unit: term.unit,
            meaning: term.meaning,
            of: "Neuron".to_owned(),
            source,
        });
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_have_short_names() {
        assert_eq!(alias("mfu_estimated_percent"), Some("mfu"));
        assert_eq!(alias("dma_active_time_percent"), Some("dma_active_time"));
        assert_eq!((alias("idle_time"), alias("_percent")), (None, None));
        assert!(is_called("mfu_estimated_percent", "MFU") && is_called("mfu", "mfu"));
        assert!(!is_called("hfu_estimated_percent", "mfu"));
    }

    #[test]
    fn the_nearest_name_is_found() {
        let names = ["mfu", "mbu", "idle_time", "spill_save_bytes"];
        for (text, expected) in
            [("mfuu", "mfu"), ("idel_time", "idle_time"), ("spill_bytes", "spill_save_bytes")]
        {
            assert_eq!(nearest(text, names.into_iter()), Some(expected));
        }
    }
}
