//! Findings: what is wrong in a run, where, what it costs, and what helps.
//!
//! Each rule of [`rules`] looks at the same facts and answers with one of three states: found,
//! nothing found, or cannot tell. A saving is a bracket from the replay where one is possible. The
//! savings of two findings do not add up: they can be of the same time.

pub mod coverage;
mod evidence;
mod facts;
mod missing;
mod place;
mod rules;
mod severity;
#[cfg(test)]
mod tests;
mod verdict;

pub use coverage::{Coverage, RankCoverage};
pub use evidence::{Evidence, Measure, Quantity};
pub use facts::Facts;
pub use missing::Missing;
pub use place::Place;
pub use rules::{RULES, Rule, RuleName};
pub use severity::Severity;
pub use verdict::{Finding, RuleVerdict, Verdict, findings};
