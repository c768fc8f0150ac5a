//! Findings: what is wrong in a run, where, what it costs, and what helps.
//!
//! Each rule of [`rules`] looks at the same facts and answers with one of three states: found,
//! nothing found, or cannot tell. A saving is a bracket from the replay where one is possible. The
//! savings of two findings do not add up: they can be of the same time.

mod chip_waits;
pub mod coverage;
mod data_gap;
mod evidence;
mod facts;
mod idle_time;
mod judgement;
mod place;
mod rule_name;
mod rules;
pub mod sentence;
mod severity;
#[cfg(test)]
mod tests;
mod verdict;

pub use coverage::{Coverage, RankCoverage};
pub use data_gap::DataGap;
pub use evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence, percent, short_name};
pub use facts::{Facts, OperatorOf};
pub use judgement::{findings, verdict_of};
pub use place::Place;
pub use rule_name::RuleName;
pub use rules::{FindingRule, MetricsNeed, RULES};
pub use severity::Severity;
pub use verdict::{Finding, Judgement, RuleVerdict};
