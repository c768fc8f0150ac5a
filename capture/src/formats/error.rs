//! Why a trace could not be read at all. What is wrong with single events goes to the sink as warnings instead.

/// The reason why a reader stopped.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The input is not what it should be.
    #[error("{what} ({place}): {hint}")]
    Format {
        /// What is wrong, e.g. "NTFF version 4 is not supported".
        what: String,
        /// Where, e.g. "byte 0".
        place: String,
        /// What to do about it.
        hint: String,
    },
    /// The input could not be read.
    #[error("reading failed: {0}")]
    Io(#[from] std::io::Error),
    /// The store refused what was read.
    #[error(transparent)]
    Engine(#[from] nprof_engine::base::Error),
}

impl Error {
    /// A complaint about the input: what is wrong, where, and what to do.
    #[must_use]
    pub fn format(what: impl Into<String>, place: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Format { what: what.into(), place: place.into(), hint: hint.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_says_what_where_and_what_to_do() {
        let error = Error::format("the file is empty", "byte 0", "capture the profile again");
        assert_eq!(error.to_string(), "the file is empty (byte 0): capture the profile again");
    }
}
