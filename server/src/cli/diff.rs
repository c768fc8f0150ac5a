//! `nprof diff`

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use nprof_engine::exec::Work;
use nprof_engine::insight::difference::WorkKey;
use nprof_engine::wire::comparison::ComparedRuns;
use serde_json::{Value, json};

use super::StorePlace;
use super::diff_condition::{DiffCondition, checked};
use super::failed_condition::conclude;
use super::progress::analysing;
use super::write::{STANDARD_OUTPUT, write_answer, write_text};
use crate::analysis::comparison::{ComparedPart, compare, paired};
use crate::analysis::finding_changes::ChangedFindings;
use crate::export::html::Html;
use crate::export::requested_part::Ranks;
use crate::print;
use crate::print::answer_keys::version;
use crate::print::comparison;
use crate::print::condition_report::{CheckedCondition, CiForm, ConditionReport};
use crate::print::row_limit::RowLimit;
use crate::store::{Profile, Store};

const EXAMPLES: &str = "\
Examples:
  nprof diff run-7 run-8                     is run-8 faster, and what takes another time
  nprof diff run-7 run-8 --by operator       by the operators of PyTorch that launched the work
  nprof diff run-7 run-8 --by track          by engines, queues and streams
  nprof diff run-7 run-8 --region 'ProfilerStep#10'
                                             one step, as `nprof regions` names it
  nprof diff run-7 --ranks 3 --b-ranks 5     two ranks of one profile
  nprof diff run-7 --region prefill --b-region decode
                                             two regions of one profile
  nprof diff run-7 run-8 --fail-on 'total_time > +2%'
                                             exit with 3 if run-8 takes longer, with 4 if nobody can tell
  nprof diff run-7 run-8 --output-format markdown
                                             a table for a pull request
  nprof diff run-7 run-8 --report diff.html  both profiles in one file, which opens with the comparison";

/// Compare two profiles, ranks or regions: is the second one faster, and what differs
///
/// Steps are compared with steps, and work with work of the same name. Bounds of a difference come
/// from how much the steps of each run vary; a difference whose bounds hold zero can be chance. The
/// differences of all rows sum up to that of the total.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct DiffArgs {
    /// Name or id of the first profile, or the name of a baseline
    a: String,
    /// Name or id of the second profile, or the name of a baseline [default: the first one]
    b: Option<String>,
    /// Subject of a row
    #[arg(long, value_parser = subjects(), default_value = "name", ignore_case = true)]
    by: WorkKey,
    /// Only these ranks of both profiles, such as `0,3-5`
    #[arg(long, visible_alias = "rank", value_name = "LIST", value_parser = Ranks::parse)]
    ranks: Option<Ranks>,
    /// These ranks of the second profile [default: those of --ranks]
    #[arg(long, value_name = "LIST", value_parser = Ranks::parse)]
    b_ranks: Option<Ranks>,
    /// Only this region of both profiles, as `nprof regions` names it
    #[arg(long, value_name = "NAME")]
    region: Option<String>,
    /// This region of the second profile [default: that of --region]
    #[arg(long, value_name = "NAME")]
    b_region: Option<String>,
    /// Most rows of work, or `all`; the others are summed up in one row [default: 30 of text, 10
    /// of Markdown, all of JSON and CSV]
    #[arg(long, value_name = "N")]
    limit: Option<RowLimit>,
    /// Exit with 3 if this holds, such as `total_time > +2%`; with 4 if nobody can tell; can be
    /// repeated
    ///
    /// A condition is a change: the second run takes longer, such as `total_time > 5 ms` or
    /// `work:gemm > 10%`, or shorter, such as `total_time < -2%`. All conditions of `nprof summary`
    /// are allowed, too, about the second run, such as `mfu < 30%` or `finding:spill > 1%`.
    #[arg(long, value_name = "CONDITION")]
    fail_on: Vec<DiffCondition>,
    /// Let a condition hold for a difference that can be chance
    #[arg(long, requires = "fail_on")]
    even_if_noise: bool,
    /// In which form
    #[arg(long, visible_alias = "format", value_enum, ignore_case = true, default_value = "text")]
    output_format: DiffFormat,
    /// Also write both profiles and their differences to one HTML file, which opens with the
    /// comparison
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// The file to write, `-` for standard output [default: -]
    #[arg(short = 'o', long, value_name = "FILE")]
    output_file: Option<PathBuf>,
}

/// Rows of work for people.
const USUAL_ROWS: usize = 30;

/// The form of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DiffFormat {
    /// Sentences and a table
    Text,
    /// One document with exact times
    Json,
    /// The rows with exact times, for spreadsheets and data frames
    Csv,
    /// A table for a pull request
    Markdown,
    /// Annotations of GitHub about the conditions
    Github,
    /// JUnit's XML, a test for each condition
    Junit,
    /// SARIF, a result for each condition that is not kept
    Sarif,
    /// Both profiles in one HTML file, which opens with the comparison
    Html,
}

/// The subjects of a row, with what each is.
fn subjects() -> impl TypedValueParser<Value = WorkKey> {
    let value = |key: WorkKey| {
        let (aliases, help): (&'static [&'static str], &'static str) = match key {
            WorkKey::Name => (&["opcode", "kernel"], "The name of a slice: a kernel, an opcode, a transfer"),
            WorkKey::Track => (&["engine", "queue", "stream"], "The track: an engine, a queue, a stream"),
            WorkKey::Layer => (&[], "The layer of the model"),
            WorkKey::Hlo => (&[], "The operation of the compiler's program (HLO)"),
            WorkKey::Operator => (&[], "The innermost operator of PyTorch that launched the work"),
            WorkKey::Line => (&[], "The line of source"),
            WorkKey::Rank => (&[], "The rank; its time is a part of the mean over ranks"),
        };
        PossibleValue::new(key.name()).aliases(aliases).help(help)
    };
    let values = WorkKey::WORDS.map(|(_, key)| value(key));
    let all = values.clone();
    let key = move |text: String| {
        let at = all.iter().position(|value| value.matches(&text, true));
        at.map_or_else(WorkKey::default, |at| WorkKey::WORDS[at].1)
    };
    PossibleValuesParser::new(values).map(key)
}

impl DiffArgs {
    pub(super) fn run(self, place: &StorePlace, out: &mut dyn Write) -> anyhow::Result<()> {
        let store = place.read()?;
        let [a, b] = self.parts(&store)?;
        let mut found = analysing(|cancel| compare(&a, &b, self.by, cancel))?;
        let checked = checked(&self.fail_on, &found, &b, self.even_if_noise)?;
        found.merge_beyond(self.most_rows());
        let path = self.output_file.as_deref().unwrap_or(STANDARD_OUTPUT.as_ref());
        match self.output_format {
            DiffFormat::Html => self.write_html(&store, [&a, &b], path, out)?,
            _ => {
                let findings = self.changed_findings(&a, &b)?;
                write_text(&store, path, out, &self.text(&found, &findings, &checked)?)?;
            }
        }
        if let Some(path) = &self.report {
            self.write_html(&store, [&a, &b], path, out)?;
        }
        conclude(&checked, out)
    }

    /// The answer in the form that was asked for.
    fn text(
        &self,
        found: &ComparedRuns,
        findings: &ChangedFindings,
        checked: &[CheckedCondition],
    ) -> anyhow::Result<Vec<u8>> {
        let mut text = Vec::new();
        let out = &mut text;
        let report = ConditionReport { command: "nprof diff", answer: &found.answer, checked };
        match self.output_format {
            DiffFormat::Text => print::lines(comparison::lines(found, &findings.sentences()), out)?,
            DiffFormat::Json => {
                let mut document = version();
                document.insert("unit".to_owned(), json!("ps"));
                if let Value::Object(message) = json!(found) {
                    document.extend(message);
                }
                let findings = match findings {
                    ChangedFindings::Known(changes) => json!(changes),
                    ChangedFindings::Unknown(_) | ChangedFindings::Absent => Value::Null,
                };
                document.insert("findings".to_owned(), findings);
                print::json::document(&document, out)?;
            }
            DiffFormat::Csv => comparison::csv(found, out)?,
            DiffFormat::Markdown => print::lines(comparison::markdown(found, &findings.sentences()), out)?,
            DiffFormat::Github => report.write(CiForm::Github, out)?,
            DiffFormat::Junit => report.write(CiForm::Junit, out)?,
            DiffFormat::Sarif => report.write(CiForm::Sarif, out)?,
            DiffFormat::Html => {}
        }
        Ok(text)
    }

    /// The findings that came or went, for the forms that show them.
    fn changed_findings(&self, a: &ComparedPart, b: &ComparedPart) -> anyhow::Result<ChangedFindings> {
        match self.output_format {
            DiffFormat::Text | DiffFormat::Json | DiffFormat::Markdown => {
                Ok(analysing(|cancel| ChangedFindings::of(a, b, cancel))?)
            }
            _ => Ok(ChangedFindings::Absent),
        }
    }

    /// Writes the HTML file of both profiles.
    fn write_html(
        &self,
        store: &Store,
        [a, b]: [&ComparedPart; 2],
        path: &Path,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        write_answer(store, &a.profile, path, out, |cancel| {
            let html = Html::of_pair([a, b], Work { cancel, ..Work::IN_PLACE })?;
            let mut text = Vec::new();
            html.write(&mut text)?;
            Ok(text)
        })
    }

    fn most_rows(&self) -> usize {
        match (self.limit, self.output_format) {
            (Some(limit), _) => limit.most(),
            (None, DiffFormat::Json | DiffFormat::Csv) => usize::MAX,
            (None, DiffFormat::Markdown) => comparison::MOST_SHORT_ROWS,
            (None, _) => USUAL_ROWS,
        }
    }

    /// The two runs.
    fn parts(&self, store: &Store) -> anyhow::Result<[ComparedPart; 2]> {
        let (a, b) = (self.a.as_str(), self.b.as_deref().unwrap_or(&self.a));
        let b_ranks = self.b_ranks.as_ref().or(self.ranks.as_ref());
        let b_region = self.b_region.as_ref().or(self.region.as_ref());
        let parts = [
            part(store.find(a)?, self.ranks.as_ref(), self.region.as_ref())?,
            part(store.find(b)?, b_ranks, b_region)?,
        ];
        anyhow::ensure!(
            self.b.is_some() || self.b_ranks.is_some() || self.b_region.is_some(),
            "name a second profile, or another part of this one by --b-ranks or --b-region"
        );
        Ok(paired(parts))
    }
}

fn part(profile: Profile, ranks: Option<&Ranks>, region: Option<&String>) -> anyhow::Result<ComparedPart> {
    let ranks = match ranks {
        Some(ranks) => ranks.of(&profile)?,
        None => profile.manifest.ranks.clone(),
    };
    Ok(ComparedPart::new(profile, ranks, region.cloned()))
}
