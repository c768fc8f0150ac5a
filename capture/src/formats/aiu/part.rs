//! The traces of a plan, as their first bytes tell.

use std::io::Read;

use crate::files::ImportJob;
use crate::formats::{perfetto, trace_event};
use crate::inputs::{PlanFile, rank_of};
use crate::origin::TraceBeginning;
use crate::probe::HEAD_LEN;
use crate::probe::aiu::{exported, is_packets, is_torch, stated_rank};

/// Dialect of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TraceDialect {
    /// The runtime's.
    Flex,
    /// PyTorch's.
    Torch,
}

/// Form of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileForm {
    /// Trace Event JSON.
    Json,
    /// Perfetto's packets.
    Packets,
    /// Perfetto's packets that nprof wrote from a profile of AIUs.
    Export,
}

/// A trace.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlanTrace {
    pub(super) file: usize,
    pub(super) dialect: TraceDialect,
    pub(super) written: FileForm,
    pub(super) beginning: Option<TraceBeginning>,
    /// The rank of all its events, if its name or its document states one. PyTorch's traces always
    /// have one.
    pub(super) rank: Option<u32>,
}

impl PlanTrace {
    /// The trace of a file of the plan.
    pub(super) fn of(job: &ImportJob<'_>, part: &PlanFile) -> Self {
        let mut head = Vec::new();
        // A file that cannot be read is reported when it is read as a whole.
        let leaf = job.files.leaf(part.file);
        let _ = leaf.reader().take(HEAD_LEN as u64).read_to_end(&mut head);
        let dialect = if is_torch(&head) { TraceDialect::Torch } else { TraceDialect::Flex };
        let of_plan = || (dialect == TraceDialect::Torch).then(|| job.plan.rank.unwrap_or(0));
        let rank = rank_of(&leaf.candidate.name).or_else(|| stated_rank(&head)).or_else(of_plan);
        let written = match (exported(&head), is_packets(&head)) {
            (Some(_), _) => FileForm::Export,
            (None, true) => FileForm::Packets,
            (None, false) => FileForm::Json,
        };
        Self { file: part.file, dialect, written, beginning: beginning(&head), rank }
    }

    /// Whether its events can be of several ranks.
    pub(super) fn has_ranks(&self) -> bool {
        self.dialect == TraceDialect::Flex || self.written == FileForm::Export
    }
}

/// Finds the beginning of a trace in its first bytes, which may end anywhere.
#[must_use]
pub fn beginning(head: &[u8]) -> Option<TraceBeginning> {
    if is_packets(head) { perfetto::beginning(head) } else { trace_event::beginning(head) }
}
