//! The trace formats that nprof recognises, as a table. A format is one row here, one row of
//! `formats::READERS`, one folder in `formats`, one fuzz target and one page in `docs/formats`;
//! `tests/tests/rooms.rs` checks that all of them exist. This table knows no reader, so the page
//! has it without them.

use std::fmt;

use crate::probe::process::ProcessFacts;
use crate::probe::{self, Confidence};

/// A trace format.
pub struct Importer {
    /// Name of the folder, the fuzz target and the doc page.
    pub name: &'static str,
    /// Name for messages.
    pub title: &'static str,
    /// Files that a rank is read from. The first row is the trace.
    pub takes: &'static [Takes],
    /// Prefix of file names. If a directory has such files, other traces of the format are left
    /// out.
    pub session_prefix: Option<&'static str>,
    /// Rule for which traces that arrive together are ranks of one profile.
    pub belonging: Belonging,
    /// Finds the rank that the first bytes of a trace state, if the format states ranks there.
    pub stated_rank: Option<FindRank>,
    /// Finds the facts that the first bytes of a trace state about its process, if the format
    /// states such facts.
    pub facts: Option<FindFacts>,
    /// Recognises traces of other formats that belong to traces of this format, if both come
    /// together.
    pub goes_with: Option<fn(&[u8]) -> bool>,
}

/// Finds the rank that the first bytes of a trace state.
pub type FindRank = fn(&[u8]) -> Option<u32>;

/// Finds facts about the process that wrote a trace in its first bytes.
pub type FindFacts = fn(&[u8]) -> ProcessFacts;

/// A kind of file that a format reads.
#[derive(Debug)]
pub struct Takes {
    /// The purpose of the file.
    pub role: FileRole,
    /// Name for messages.
    pub title: &'static str,
    /// Usual endings of names, in lower case and without the dot. The endings are only hints.
    pub extensions: &'static [&'static str],
    /// Confidence that a file with these first bytes is one.
    pub probe: fn(&[u8]) -> Option<Confidence>,
    /// Number of files of the kind that a rank can have.
    pub number: FileCount,
}

/// Number of files of one kind that a rank can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileCount {
    /// One. Each trace is a rank of its own, and a second file beside it is an error.
    One,
    /// Several. Traces belong to one rank if they tell the same rank.
    Several,
    /// Several, one after another: cycles of a profiler, as [`crate::inputs::cycle`] tells.
    Cycles,
}

/// Purpose of a rank's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileRole {
    /// The events. Every rank has such a file.
    Trace,
    /// The program that was traced. All ranks of a profile share it.
    Model,
    /// A log or a table of the compiler. Its name can tell the rank that it is for.
    Compiler,
}

/// Rule for which traces that arrive together are ranks of one profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Belonging {
    /// All traces of the format.
    All,
    /// Traces of which names, contents or times say that they are of one job.
    OneJob,
}

/// All formats. If two are equally sure of a file, the first gets it. In a directory with several
/// formats, only the first one is read.
pub static TABLE: [Importer; 5] = [
    Importer {
        name: "ntff",
        title: "NTFF",
        takes: &[
            Takes {
                role: FileRole::Trace,
                title: "NTFF",
                extensions: &["ntff"],
                probe: probe::ntff::probe,
                number: FileCount::One,
            },
            Takes {
                role: FileRole::Model,
                title: "NEFF",
                extensions: &["neff"],
                probe: probe::neff::probe,
                number: FileCount::One,
            },
        ],
        session_prefix: Some("profile_rank_"),
        belonging: Belonging::OneJob,
        stated_rank: None,
        facts: None,
        goes_with: None,
    },
    Importer {
        name: "neuron_json",
        title: "neuron-profile JSON",
        takes: &[Takes {
            role: FileRole::Trace,
            title: "neuron-profile JSON",
            extensions: &["json"],
            probe: probe::json::probe_neuron,
            number: FileCount::One,
        }],
        session_prefix: None,
        belonging: Belonging::OneJob,
        stated_rank: None,
        facts: None,
        goes_with: None,
    },
    Importer {
        name: "aiu",
        title: "AIU trace",
        takes: &[
            Takes {
                role: FileRole::Trace,
                title: "AIU trace",
                extensions: &["json", "pftrace", "perfetto-trace"],
                probe: probe::aiu::probe,
                number: FileCount::Several,
            },
            Takes {
                role: FileRole::Compiler,
                title: "AIU compiler log",
                extensions: &[],
                probe: probe::aiu::probe_compiler,
                number: FileCount::Several,
            },
        ],
        session_prefix: None,
        belonging: Belonging::All,
        stated_rank: Some(probe::aiu::rank),
        facts: None,
        goes_with: Some(probe::aiu::goes_with),
    },
    Importer {
        name: "trace_event",
        title: "Trace Event JSON",
        takes: &[Takes {
            role: FileRole::Trace,
            title: "Trace Event JSON",
            extensions: &["json"],
            probe: probe::json::probe_trace_event,
            number: FileCount::Cycles,
        }],
        session_prefix: None,
        belonging: Belonging::OneJob,
        stated_rank: None,
        facts: Some(probe::process::facts),
        goes_with: None,
    },
    Importer {
        name: "perfetto",
        title: "Perfetto trace",
        takes: &[Takes {
            role: FileRole::Trace,
            title: "Perfetto trace",
            extensions: &["pftrace", "perfetto-trace"],
            probe: probe::perfetto::probe,
            number: FileCount::One,
        }],
        session_prefix: None,
        belonging: Belonging::OneJob,
        stated_rank: None,
        facts: None,
        goes_with: None,
    },
];

/// A format's claim to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// The format.
    pub importer: &'static Importer,
    /// The purpose of the file.
    pub role: FileRole,
    /// Confidence of the format.
    pub confidence: Confidence,
    /// The rank that the first bytes of a trace state.
    pub rank: Option<u32>,
    /// Another format that reads the trace, if traces of that format come with it.
    pub companion: Option<Companion>,
}

/// A format that reads a trace of another format together with its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Companion {
    /// The format.
    pub importer: &'static Importer,
    /// The rank that the first bytes of the trace state, by the rules of that format.
    pub rank: Option<u32>,
}

impl Companion {
    /// The format that a trace with these first bytes goes with.
    fn of(head: &[u8]) -> Option<Self> {
        let importer = TABLE.iter().find(|row| row.goes_with.is_some_and(|goes| goes(head)))?;
        Some(Self { importer, rank: importer.stated_rank.and_then(|stated| stated(head)) })
    }
}

/// All formats that claim a file with these first bytes, the surest first.
#[must_use]
pub fn claims(head: &[u8]) -> Vec<Claim> {
    let of_row = |importer: &'static Importer| {
        importer.takes.iter().filter_map(move |takes| {
            let confidence = (takes.probe)(head)?;
            let stated = importer.stated_rank.filter(|_| takes.role == FileRole::Trace);
            let rank = stated.and_then(|stated| stated(head));
            Some(Claim { importer, role: takes.role, confidence, rank, companion: None })
        })
    };
    let mut claims: Vec<Claim> = TABLE.iter().flat_map(of_row).collect();
    claims.sort_by_key(|claim| std::cmp::Reverse(claim.confidence));
    if let Some(first) = claims.first_mut().filter(|claim| claim.role == FileRole::Trace) {
        first.companion = Companion::of(head).filter(|companion| companion.importer != first.importer);
    }
    claims
}

impl Importer {
    /// Whether a name has one of the usual endings. The name must be in lower case.
    #[must_use]
    pub fn is_hinted_by(&self, name: &str) -> bool {
        let ends_so = |extension: &str| name.strip_suffix(extension).is_some_and(|rest| rest.ends_with('.'));
        self.takes.iter().flat_map(|takes| takes.extensions).any(|extension| ends_so(extension))
    }
}

impl PartialEq for Importer {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Importer {}

impl fmt::Debug for Importer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
