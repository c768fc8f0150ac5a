//! Why an address is not a view. Each part of the state reads its own parameters.

use std::fmt;

use super::profile_names::MOST_PROFILES;

/// The version of the parameters.
pub(in crate::view) const VERSION: u32 = 2;

/// Reasons why a URL is not a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UrlError {
    /// The path is not the path of a profile.
    NotAProfile,
    /// The path is a comparison of too few or too many profiles.
    Comparison,
    /// Written by a newer nprof.
    NewerVersion(u32),
    /// A parameter that cannot be read.
    Parameter {
        /// Name of the parameter.
        name: &'static str,
        /// Description of the expected value.
        expected: &'static str,
    },
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAProfile => f.write_str("this address is not that of a profile: open one from the list"),
            Self::Comparison => {
                write!(f, "a comparison names 2 to {MOST_PROFILES} profiles: /compare/first/second")
            }
            Self::NewerVersion(version) => {
                write!(f, "this link has version {version}, this nprof reads up to {VERSION}: upgrade nprof")
            }
            Self::Parameter { name, expected } => {
                write!(f, "the parameter \"{name}\" should be {expected}: correct or remove it")
            }
        }
    }
}

impl std::error::Error for UrlError {}
