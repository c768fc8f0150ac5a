//! Progress of the dependency graph of a profile, which a server makes once somebody asks.

use serde::{Deserialize, Serialize};

use super::message_times::{TimeField, Timed};

/// Progress of a dependency graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GraphProgress {
    /// The stage of the work.
    pub stage: GraphStage,
    /// Ranks whose work is read.
    pub done: u32,
    /// Ranks of the profile.
    pub ranks: u32,
}

/// A stage of the work on a dependency graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum GraphStage {
    /// Nobody has asked for it.
    #[default]
    Absent,
    /// The calls of the ranks are read and compared.
    Calls,
    /// The work of the ranks is read.
    Work,
    /// The dependencies are searched.
    Edges,
    /// It is kept, and answers cost no reading.
    Kept,
}

impl GraphProgress {
    /// The progress in words. `None` if nothing is going on.
    #[must_use]
    pub fn words(self) -> Option<String> {
        let Self { stage, done, ranks } = self;
        match stage {
            GraphStage::Absent | GraphStage::Kept => None,
            GraphStage::Calls if ranks == 1 => Some("the recording is read".to_owned()),
            GraphStage::Calls => Some(format!("the calls of {ranks} ranks are compared")),
            GraphStage::Work if ranks == 1 => Some("the work is read".to_owned()),
            GraphStage::Work => Some(format!("the work of {done} of {ranks} ranks is read")),
            GraphStage::Edges => Some("what waits for what is searched".to_owned()),
        }
    }
}

/// Progress has no times of a trace.
impl Timed for GraphProgress {
    fn each_time(&mut self, _: &mut dyn FnMut(TimeField<'_>)) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_told_in_words() {
        let words = |stage, done, ranks| GraphProgress { stage, done, ranks }.words();
        assert_eq!(words(GraphStage::Absent, 0, 4), None);
        let work = words(GraphStage::Work, 17, 64);
        assert_eq!(work.as_deref(), Some("the work of 17 of 64 ranks is read"));
        assert_eq!(words(GraphStage::Work, 0, 1).as_deref(), Some("the work is read"));
    }
}
