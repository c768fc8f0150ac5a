//! `nprof metrics`

use std::io::Write;

use clap::Args;
use nprof_engine::makers::defined_metrics;
use serde::Serialize;
use serde_json::json;

use super::answer::AnswerFormat;
use super::terms;
use crate::print;
use crate::print::answer_keys::{version, with_counts};
use crate::print::text::wrapped;

const EXAMPLES: &str = "\
Examples:
  nprof metrics                              the definitions of all metrics
  nprof metrics launch                       those with this word in name, family or definition
  nprof metrics --output-format json | jq '.metrics[] | select(.unit == \"ratio\")'";

/// Show the definitions of all metrics: unit, meaning, and the tool that defines them
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct MetricsArgs {
    /// Only metrics with this text in their name, family or definition
    text: Option<String>,
    /// As text or JSON
    #[arg(long, visible_alias = "format", value_enum, ignore_case = true, default_value = "text")]
    output_format: AnswerFormat,
}

/// A definition as it is listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct ListedMetric {
    family: String,
    name: String,
    unit: String,
    meaning: String,
    of: String,
    source: String,
}

impl ListedMetric {
    fn contains(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        [&self.family, &self.name, &self.meaning].iter().any(|part| part.to_lowercase().contains(&text))
    }
}

impl MetricsArgs {
    pub(super) fn run(self, out: &mut dyn Write) -> anyhow::Result<()> {
        let all = listed()?;
        let total = all.len();
        let is_wanted = |one: &ListedMetric| self.text.as_deref().is_none_or(|text| one.contains(text));
        let wanted: Vec<ListedMetric> = all.into_iter().filter(is_wanted).collect();
        match self.output_format {
            AnswerFormat::Json => {
                let mut document = with_counts(version(), wanted.len(), total);
                document.insert("metrics".to_owned(), json!(wanted));
                Ok(print::json::document(&document, out)?)
            }
            AnswerFormat::Text if wanted.is_empty() => {
                anyhow::bail!("no metric has `{}` in its name or definition", self.text.unwrap_or_default())
            }
            AnswerFormat::Text => Ok(print::lines(lines(&wanted), out)?),
        }
    }
}

/// All definitions. Those of Neuron profiles whose names depend on engines come from a simulated
/// rank.
fn listed() -> anyhow::Result<Vec<ListedMetric>> {
    let mut all: Vec<ListedMetric> = Vec::new();
    for one in defined_metrics() {
        all.push(ListedMetric {
            family: one.family.to_owned(),
            name: one.name.to_owned(),
            unit: one.unit.symbol().to_owned(),
            meaning: one.doc.to_owned(),
            of: one.of.to_owned(),
            source: one.source.to_owned(),
        });
    }
    for term in terms::metrics()? {
        let is_known = |one: &ListedMetric| one.of == "Neuron" && one.name == term.name;
        all.retain(|one| !is_known(one));
        all.push(ListedMetric {
            family: term.group,
            name: term.name,
            unit: term.unit,
            meaning: term.meaning,
            of: "Neuron".to_owned(),
            source: "neuron-profile".to_owned(),
        });
    }
    Ok(all)
}

/// A heading for each family, and a paragraph for each metric.
fn lines(all: &[ListedMetric]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut last = "";
    for one in all {
        if one.family != last {
            lines.extend((!lines.is_empty()).then(String::new));
            lines.extend(wrapped(&format!("{} ({}; {})", one.family, one.of, one.source), "", "  "));
            last = &one.family;
        }
        let unit = if one.unit.is_empty() { String::new() } else { format!(" [{}]", one.unit) };
        lines.extend(wrapped(&format!("{}{unit}: {}", one.name, one.meaning), "  ", "      "));
    }
    lines
}
