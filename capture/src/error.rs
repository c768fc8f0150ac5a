//! The error of a trace that could not be read at all. Faults of single events go to the sink as
//! warnings instead.

use crate::refusal::FileRefusal;

/// The reason why a reader stopped.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The input is malformed or unsupported.
    #[error("{what}{}; {hint}", in_brackets(place))]
    Format {
        /// The fault, e.g. "NTFF version 4 is not supported".
        what: String,
        /// The place of the fault, e.g. "byte 4096". Empty if the fault is the whole input.
        place: String,
        /// Advice to the user.
        hint: String,
    },
    /// The input could not be read.
    #[error("reading failed: {0}")]
    Io(#[from] std::io::Error),
    /// The store refused the events.
    #[error(transparent)]
    Engine(#[from] nprof_engine::base::Error),
}

impl Error {
    /// An error about the input: the fault, its place, and advice.
    #[must_use]
    pub fn format(what: impl Into<String>, place: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Format { what: what.into(), place: place.into(), hint: hint.into() }
    }
}

impl From<FileRefusal> for Error {
    fn from(refusal: FileRefusal) -> Self {
        Self::format(refusal.what, refusal.place, refusal.hint)
    }
}

fn in_brackets(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!(" ({place})") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_says_what_where_and_what_to_do() {
        let error = Error::format("the file is empty", "byte 0", "capture the profile again");
        assert_eq!(error.to_string(), "the file is empty (byte 0); capture the profile again");
        let error = Error::format("the file is empty", "", "capture the profile again");
        assert_eq!(error.to_string(), "the file is empty; capture the profile again");
    }
}
