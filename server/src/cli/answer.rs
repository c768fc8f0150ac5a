//! Parts that all answers about the dependency graph share: their form, their limit, the ends of
//! their lists.

use nprof_engine::insight::finding::sentence::NO_WORK;

use crate::analysis::graph::Replayable;
use crate::print::condition_report::CiForm;

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

impl CheckedFormat {
    /// The form of a report about the conditions, if that is wanted.
    pub(super) fn report(self) -> Option<CiForm> {
        match self {
            Self::Text | Self::Json => None,
            Self::Github => Some(CiForm::Github),
            Self::Junit => Some(CiForm::Junit),
            Self::Sarif => Some(CiForm::Sarif),
        }
    }
}

/// The profile, if it has work that can be replayed.
pub(super) fn with_work(of: Replayable) -> anyhow::Result<Replayable> {
    anyhow::ensure!(!of.graph().is_empty(), NO_WORK);
    Ok(of)
}
