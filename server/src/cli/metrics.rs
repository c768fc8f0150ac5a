//! `nprof metrics`

use std::io::Write;

use clap::Args;
use serde_json::json;

use super::answer::AnswerFormat;
use super::metric_list::{ListedMetric, listed};
use crate::print;
use crate::print::answer_keys::{version, with_counts};
use crate::print::text::wrapped;

const EXAMPLES: &str = "\
Examples:
  nprof metrics                              the definitions of all metrics
  nprof metrics launch                       those with this word in name, family or definition
  nprof metrics --output-format json | jq '.metrics[] | select(.unit == \"ratio\")'";

/// Show the definitions of all metrics: unit, meaning, and the tool that defines them
///
/// Conditions of `--fail-on` take these names and their short forms.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct MetricsArgs {
    /// Only metrics with this text in their name, family or definition
    text: Option<String>,
    /// As text or JSON
    #[arg(long, visible_alias = "format", value_enum, ignore_case = true, default_value = "text")]
    output_format: AnswerFormat,
}

impl MetricsArgs {
    pub(super) fn run(self, out: &mut dyn Write) -> anyhow::Result<()> {
        write(self.text.as_deref(), self.output_format, out)
    }
}

/// Writes the definitions with a text in their name, family or definition; without a text all.
pub(super) fn write(text: Option<&str>, format: AnswerFormat, out: &mut dyn Write) -> anyhow::Result<()> {
    let all = listed()?;
    let total = all.len();
    let is_wanted = |one: &ListedMetric| text.is_none_or(|text| one.contains(text));
    let wanted: Vec<ListedMetric> = all.into_iter().filter(is_wanted).collect();
    match format {
        AnswerFormat::Json => {
            let mut document = with_counts(version(), wanted.len(), total);
            document.insert("metrics".to_owned(), json!(wanted));
            Ok(print::json::document(&document, out)?)
        }
        AnswerFormat::Text if wanted.is_empty() => {
            anyhow::bail!("no metric has `{}` in its name or definition", text.unwrap_or_default())
        }
        AnswerFormat::Text => Ok(print::lines(lines(&wanted), out)?),
    }
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
        let alias = one.alias.as_ref().map_or_else(String::new, |alias| format!(" or {alias}"));
        lines.extend(wrapped(&format!("{}{alias}{unit}: {}", one.name, one.meaning), "  ", "      "));
    }
    lines
}
