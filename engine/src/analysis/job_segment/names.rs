//! Names in a job segment.

use crate::analysis::Job;
use crate::analysis::members::members;
use crate::base::Result;
use crate::model::{NameId, Sink};

/// The names of signatures, groups and waits.
#[derive(Debug)]
pub(super) struct SegmentNames {
    /// For each signature the name of its kind, and the name of its type of elements.
    pub(super) kinds: Vec<(NameId, NameId)>,
    /// For each group its name and its members.
    pub(super) groups: Vec<(NameId, NameId)>,
    /// For each rank the name of waiting for it.
    pub(super) waits: Vec<NameId>,
}

impl SegmentNames {
    pub(super) fn define(job: &Job, sink: &mut dyn Sink) -> Result<Self> {
        let mut kinds = Vec::new();
        for signature in &job.signatures {
            kinds.push((sink.name(signature.kind.name())?, sink.name(&signature.dtype)?));
        }
        let mut groups = Vec::new();
        for group in &job.groups {
            groups.push((sink.name(&group.communicator.name)?, sink.name(&members(group))?));
        }
        let mut waits = Vec::new();
        for rank in &job.ranks {
            waits.push(sink.name(&format!("wait for rank {}", rank.rank))?);
        }
        Ok(Self { kinds, groups, waits })
    }
}
