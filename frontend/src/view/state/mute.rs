//! Findings that a user does not want to see, with the writing and parsing of their parameter in
//! the address.

use std::collections::BTreeSet;
use std::fmt;

use nprof_engine::wire::findings::FindingEntry;
use nprof_engine::wire::percent::{parameter_decoded, percent_encoded};

use super::url_error::UrlError;

/// Muted rules and findings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MutedFindings(BTreeSet<String>);

/// A change of the muted findings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MuteChange {
    /// Mutes a rule, by its id, or a finding, by [`key`].
    Mute(String),
    /// Shows it again.
    Unmute(String),
    /// Shows all again.
    Clear,
}

const MUTE: &str = "mute";

/// The name of a finding in addresses: its rule and its place.
#[must_use]
pub fn key(of: &FindingEntry) -> String {
    let rank = of.rank.map_or_else(String::new, |rank| rank.to_string());
    let start = of.start_ps.map_or_else(String::new, |start| start.to_string());
    format!("{}@{rank}@{start}", of.rule)
}

impl MutedFindings {
    /// Whether the finding or its rule is muted.
    #[must_use]
    pub fn has(&self, of: &FindingEntry) -> bool {
        !self.0.is_empty() && (self.0.contains(&of.rule) || self.0.contains(&key(of)))
    }

    pub(in crate::view) fn apply(&mut self, change: &MuteChange) {
        match change {
            MuteChange::Mute(name) => {
                self.0.insert(name.clone());
            }
            MuteChange::Unmute(name) => {
                self.0.remove(name);
            }
            MuteChange::Clear => self.0.clear(),
        }
    }

    /// Takes over a parameter of an address. Returns false if it is another one.
    pub(in crate::view) fn read(&mut self, name: &str, value: &str) -> Result<bool, UrlError> {
        if name != MUTE {
            return Ok(false);
        }
        let error = || UrlError::Parameter { name: MUTE, expected: "rules with commas between" };
        for word in value.split(',').filter(|word| !word.is_empty()) {
            self.0.insert(parameter_decoded(word).ok_or_else(error)?);
        }
        Ok(true)
    }
}

/// The parameter, after `&`. Nothing without muted findings.
impl fmt::Display for MutedFindings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> =
            self.0.iter().map(|name| percent_encoded(name).replace("%40", "@")).collect();
        if words.is_empty() { Ok(()) } else { write!(f, "&{MUTE}={}", words.join(",")) }
    }
}
