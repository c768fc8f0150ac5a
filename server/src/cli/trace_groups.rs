//! Results of several traces: the profiles and ranks, and the reasons.

use std::io::{self, Write};

use clap::Args;
use nprof_capture::inputs::{Apart, GroupReason};

use super::size;
use crate::ingest::{DiskSpool, Grouped, GroupedInputs, NamedInputs, Result};
use crate::store::{Manifest, Store};
use crate::terminal::visible;
use crate::work::Meter;

/// Ranks that are listed with their files.
const SHOWN: usize = 8;

/// The choice of profiles, for commands that take several traces.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct GroupingArgs {
    /// Make ranks of one profile of all traces, also if nothing says that they are of one job
    #[arg(long)]
    as_ranks: bool,
}

impl GroupingArgs {
    /// The profiles of the named files.
    pub(super) fn profiles(self, store: &Store, named: &NamedInputs, meter: &Meter) -> Result<Grouped> {
        let tmp = store.tmp();
        let spool = DiskSpool::new(&tmp, meter);
        if !self.as_ranks {
            return named.profiles(&spool);
        }
        let inputs = named.inputs(&spool)?;
        Ok(Grouped { profiles: vec![GroupedInputs { inputs, why: GroupReason::Asked }], apart: None })
    }
}

/// Prints why there are several profiles.
pub(super) fn tell_apart(profiles: usize, apart: Option<Apart>, err: &mut dyn Write) -> io::Result<()> {
    let Some(apart) = apart.filter(|_| profiles > 1) else { return Ok(()) };
    let why = match apart {
        Apart::Jobs => "the traces state different jobs or numbers of ranks".to_owned(),
        Apart::Runs => "traces of the same rank or of different days follow one another".to_owned(),
        Apart::SameRank(rank) => format!("several traces tell rank {rank}"),
        Apart::Nothing => "no rank, job or time says that the traces are of one job".to_owned(),
    };
    writeln!(err, "{profiles} profiles, because {why}; --as-ranks makes ranks of one profile of all traces")
}

/// Prints which files became which rank of one of several profiles, and why they are one profile.
/// Prints nothing about the only trace of a command.
pub(super) fn tell_ranks(
    manifest: &Manifest,
    why: GroupReason,
    profiles: usize,
    err: &mut dyn Write,
) -> io::Result<()> {
    let why = match why {
        GroupReason::Alone if profiles == 1 => return Ok(()),
        GroupReason::Alone => "there is one trace".to_owned(),
        GroupReason::Format => "traces of this format belong together".to_owned(),
        GroupReason::Job => "the traces state the same job".to_owned(),
        GroupReason::WorldSize(size) => format!("the traces state ranks of a job of {size}"),
        GroupReason::Cycles => "the traces are cycles of one process".to_owned(),
        GroupReason::Names => "the names tell ranks".to_owned(),
        GroupReason::Times => "the times overlap, or the names count from 0".to_owned(),
        GroupReason::Whole => "the traces came together".to_owned(),
        GroupReason::Asked => "--as-ranks was given".to_owned(),
    };
    writeln!(err, "profile {}, because {why}:", manifest.slug())?;
    for rank in manifest.ranks.iter().take(SHOWN) {
        let inputs: Vec<String> = rank.inputs.iter().map(|name| visible(name).into_owned()).collect();
        writeln!(err, "  rank {}: {}", rank.rank, inputs.join(", "))?;
    }
    match manifest.ranks.len().saturating_sub(SHOWN) {
        0 => Ok(()),
        more => writeln!(err, "  and {}", size::counted(more as u64, "more rank")),
    }
}
