//! `nprof findings`

use std::io::Write;

use clap::Args;
use nprof_engine::insight::finding::RULES;
use nprof_engine::wire::findings::Findings;
use serde_json::{Value, json};

use super::StorePlace;
use super::answer::{AnswerFormat, CheckedFormat, CheckedOutput, USUAL_LIMIT};
use super::failed_condition::conclude;
use super::finding_condition::{FindingCondition, checked};
use super::progress::analysing;
use super::region_spans::within_region;
use crate::analysis::findings::{KeptFindings, of_profile};
use crate::print;
use crate::print::answer_keys::head;
use crate::print::condition_report::ConditionReport;
use crate::print::finding::lines;
use crate::print::row_limit::RowLimit;
use crate::store::Profile;

const EXAMPLES: &str = "\
Examples:
  nprof findings run-7                       what is wrong, what it costs, and where
  nprof findings run-7 --rule late-rank      the answer of one rule
  nprof findings run-7 --region warm-up      those within a region that `nprof regions` names
  nprof findings run-7 --output-format json | jq '.findings[] | select(.state == \"found\")'
  nprof findings run-7 --fail-on 'late-rank > 2%' --fail-on 'slow-link > 5 ms'
                                             exit with 3 if one costs more, with 4 if nobody can tell";

/// Show what is wrong with a run, what it costs, and where
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct FindingsArgs {
    /// Name or id of a profile, as `nprof list` shows it
    profile: String,
    /// Only this rule; can be repeated [default: all]
    #[arg(long, value_name = "RULE", value_parser = rule_names())]
    rule: Vec<String>,
    /// Only findings whose span lies in part in this region, as `nprof regions` names it
    #[arg(long, value_name = "NAME")]
    region: Option<String>,
    /// Most findings, or `all`
    #[arg(long, value_name = "N", default_value = USUAL_LIMIT)]
    limit: RowLimit,
    /// Exit with 3 if a rule finds something that costs more, such as `late-rank`, `late-rank >
    /// 2%`, `slow-link > 5 ms` or `any > 10%`; with 4 if it cannot tell; can be repeated
    #[arg(long, value_name = "CONDITION")]
    fail_on: Vec<FindingCondition>,
    /// In which form
    #[arg(long, visible_alias = "format", value_enum, ignore_case = true, default_value = "text")]
    output_format: CheckedFormat,
}

fn rule_names() -> clap::builder::PossibleValuesParser {
    RULES.iter().map(|rule| rule.id).collect::<Vec<_>>().into()
}

impl FindingsArgs {
    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let profile = place.read()?.find(&self.profile)?;
        let KeptFindings { message, first_ps } = analysing(|cancel| of_profile(&profile, cancel))?;
        anyhow::ensure!(message.recorded_ps.is_some(), "{}", message.answer);
        let message = within_region(message, &profile, self.region.as_deref())?;
        // Conditions are about all rules of the region.
        let checked = checked(&self.fail_on, &message);
        let found = if self.rule.is_empty() { message } else { message.of_rules(&self.rule) };
        let answer = found.answer.clone();
        let report = ConditionReport { command: "nprof findings", answer: &answer, checked: &checked };
        CheckedOutput::from(self.output_format).write(&report, out, |format, out| {
            match format {
                AnswerFormat::Json => print::json::document(&document(&profile, found, self.limit), out)?,
                AnswerFormat::Text => print::lines(lines(&found, self.limit, first_ps), out)?,
            }
            Ok(())
        })?;
        conclude(&checked, out)
    }
}

/// The document of a profile: the message that a server gives, behind the keys of all commands.
fn document(profile: &Profile, mut found: Findings, limit: RowLimit) -> serde_json::Map<String, Value> {
    let total = found.findings.len();
    let shown = limit.shown(&found.findings).len();
    found = found.limited(shown);
    let mut document = head(profile, shown, total);
    if let Value::Object(message) = json!(found) {
        document.extend(message);
    }
    document
}
