//! Parts that answers share: their forms, their limit, what they need.

use std::io::Write;

use nprof_engine::insight::finding::sentence::NO_WORK;

use crate::analysis::graph::Replayable;
use crate::print::TableFormat;
use crate::print::condition_report::{CiForm, ConditionReport};

/// The limit of a list unless told otherwise.
pub(super) const USUAL_LIMIT: &str = "200";

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum AnswerFormat {
    /// Sentences.
    Text,
    /// One document.
    Json,
}

/// The form of an answer whose conditions CI systems read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum CheckedFormat {
    /// Sentences
    Text,
    /// One document
    Json,
    /// Annotations of GitHub about the conditions
    Github,
    /// JUnit's XML, a test for each condition
    Junit,
    /// SARIF, a result for each condition that is not kept
    Sarif,
}

/// The form of a table whose conditions CI systems read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum CheckedTableFormat {
    /// Aligned columns with units
    Text,
    /// Comma-separated values, times in nanoseconds
    Csv,
    /// JSON, times in nanoseconds
    Json,
    /// Annotations of GitHub about the conditions
    Github,
    /// JUnit's XML, a test for each condition
    Junit,
    /// SARIF, a result for each condition that is not kept
    Sarif,
}

/// A command prints its answer in a form `F`, or a report about its conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CheckedOutput<F> {
    /// The answer.
    Answer(F),
    /// The report.
    Report(CiForm),
}

impl From<CheckedFormat> for CheckedOutput<AnswerFormat> {
    fn from(format: CheckedFormat) -> Self {
        match format {
            CheckedFormat::Text => Self::Answer(AnswerFormat::Text),
            CheckedFormat::Json => Self::Answer(AnswerFormat::Json),
            CheckedFormat::Github => Self::Report(CiForm::Github),
            CheckedFormat::Junit => Self::Report(CiForm::Junit),
            CheckedFormat::Sarif => Self::Report(CiForm::Sarif),
        }
    }
}

impl From<CheckedTableFormat> for CheckedOutput<TableFormat> {
    fn from(format: CheckedTableFormat) -> Self {
        match format {
            CheckedTableFormat::Text => Self::Answer(TableFormat::Text),
            CheckedTableFormat::Csv => Self::Answer(TableFormat::Csv),
            CheckedTableFormat::Json => Self::Answer(TableFormat::Json),
            CheckedTableFormat::Github => Self::Report(CiForm::Github),
            CheckedTableFormat::Junit => Self::Report(CiForm::Junit),
            CheckedTableFormat::Sarif => Self::Report(CiForm::Sarif),
        }
    }
}

impl<F> CheckedOutput<F> {
    /// Writes the report, or the answer in its form.
    pub(super) fn write(
        self,
        report: &ConditionReport<'_>,
        out: &mut dyn Write,
        answer: impl FnOnce(F, &mut dyn Write) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        match self {
            Self::Answer(form) => answer(form, out),
            Self::Report(form) => Ok(report.write(form, out)?),
        }
    }
}

/// The profile, if it has work that can be replayed.
pub(super) fn with_work(of: Replayable) -> anyhow::Result<Replayable> {
    anyhow::ensure!(!of.graph().is_empty(), NO_WORK);
    Ok(of)
}
