//! The findings about the run of a profile: answers of the engine's rules about all ranks, found
//! once and kept beside its segments.

use nprof_engine::analysis::Analysed;
use nprof_engine::base::{Error, Interval, Time};
use nprof_engine::exec::Cancel;
use nprof_engine::insight::finding::sentence::NO_WORK;
use nprof_engine::insight::finding::{Facts, findings};
use nprof_engine::insight::region::StepOrigin;
use nprof_engine::makers::{device_metrics, imitated_tool, measures, passes};
use nprof_engine::metrics::{DeviceMetrics, RankMeasures};
use nprof_engine::model::TrackId;
use nprof_engine::query::slice;
use nprof_engine::wire::findings::Findings;
use serde::{Deserialize, Serialize};

use super::graph::{Replayable, replayable, too_large};
use super::kept_answers::KeptAnswer;
use super::regions::regions_of_job;
use super::step_starts::step_starts;
use super::{AnalysisError, job_segment, of_segment, on_all_cores};
use crate::kept_file::{KeptFile, KeptKind};
use crate::store::{Profile, RankFile};
use crate::summary::{self, summary_of};

/// The file of a profile with its findings, a kept file ([`crate::kept_file`]). Its content is a
/// hash over all that findings read.
pub const FILE: &str = "run.findings";
/// The version is raised when a rule is added, removed or answers differently. The program's
/// version is part of it.
const KIND: KeptKind =
    KeptKind { subject: "findings", version: concat!("5-", env!("CARGO_PKG_VERSION")), most_bytes: 64 << 20 };

/// The findings about the run of a profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptFindings {
    /// The message about all rules.
    pub message: Findings,
    /// The earliest event on the clocks of the analysis, in picoseconds.
    pub first_ps: i64,
}

/// The kept findings of a profile, if nothing has changed since.
#[must_use]
pub fn kept(profile: &Profile) -> Option<KeptFindings> {
    kept_file(profile).good()
}

/// The state of the file with the findings of a profile.
#[must_use]
pub fn kept_file(profile: &Profile) -> KeptFile<KeptFindings> {
    KIND.read(&profile.dir.join(FILE), &content_of(profile))
}

/// A hash over all that findings read: the analysis of all ranks, and metrics of ranks. Regions and
/// marks of users are no part of it.
fn content_of(profile: &Profile) -> String {
    let read = format!("{} {}", job_segment::key_of(profile), summary::KIND.version);
    blake3::hash(read.as_bytes()).to_hex().to_string()
}

/// The findings of a profile: the kept ones, else those of its graph, which is made now.
pub fn of_profile(profile: &Profile, cancel: Cancel<'_>) -> Result<KeptFindings, AnalysisError> {
    match kept(profile) {
        Some(kept) => Ok(kept),
        None => of_run(profile, &replayable(profile, cancel)?, cancel),
    }
}

/// The findings of a profile with this graph, which are kept then.
pub fn of_run(profile: &Profile, of: &Replayable, cancel: Cancel<'_>) -> Result<KeptFindings, AnalysisError> {
    let message = judged(profile, of, cancel)?;
    let first_ps = profile.manifest.start_on(|file| of.analysed.clock_of(file.rank)).0;
    let found = KeptFindings { message, first_ps };
    KIND.keep(&profile.dir.join(FILE), &content_of(profile), &found);
    Ok(found)
}

/// The answers of all rules.
fn judged(profile: &Profile, of: &Replayable, cancel: Cancel<'_>) -> Result<Findings, AnalysisError> {
    if of.graph().is_empty() {
        return Ok(Findings::unknown(NO_WORK));
    }
    let facts = facts_of(profile, of, cancel)?;
    let failed = |source: Error| AnalysisError::Segment { path: profile.dir.clone(), source };
    let verdicts = findings(&facts).map_err(failed)?;
    Ok(Findings::of(&verdicts, facts.length_ps(), &facts.coverage))
}

/// Why a server does not look at a profile whose findings are not kept, and what does. `None` if it
/// looks.
#[must_use]
pub fn reason_without_graph(profile: &Profile) -> Option<String> {
    let name = profile.manifest.slug();
    Some(format!("{}; `nprof findings {name}` has no limit", too_large(profile)?))
}

/// All answers have about the same size: that about a thousand ranks takes some hundred KiB.
impl KeptAnswer for Findings {
    fn weight(&self) -> u64 {
        1
    }

    const CAPACITY: u64 = 64;
}

/// The facts, with the steps of the first rank by its marks. If the operations of the ranks tell no
/// steps either, with those of the first rank that has any.
pub fn facts_of<'g>(
    profile: &'g Profile,
    of: &'g Replayable,
    cancel: Cancel<'g>,
) -> Result<Facts<'g>, AnalysisError> {
    let failed = |source: Error| AnalysisError::Segment { path: profile.dir.clone(), source };
    let work = on_all_cores(cancel);
    let (mut facts, mut measured) = (None, None);
    // Measurements are read from the segments, facts are those of the graph.
    work.exec.beside(&mut || measured = Some(measures_of(profile, &of.analysed, cancel)), &mut || {
        facts = Some(Facts::new(&of.analysed.job, &of.analysed.report, of.graph(), work));
    });
    let facts = facts.expect("both tasks are run").map_err(failed)?;
    let facts = facts.with_measures(measured.expect("both tasks are run")?);
    let facts = facts.with_step_starts(step_starts(profile, &of.analysed, cancel)?);
    let facts = facts.with_operators(Box::new(move |rank, track, span| {
        operator(profile, &of.analysed, HostThread { rank, track }, span, cancel)
    }));
    let asked = if facts.lacks_steps() { profile.manifest.ranks.len() } else { 1 };
    let mut reason = None;
    for file in profile.manifest.ranks.iter().take(asked) {
        for of in regions_of_job(profile, &[file], &of.analysed, cancel)? {
            match &of.regions.steps {
                Ok(steps) if steps.origin == StepOrigin::Marks || facts.lacks_steps() => {
                    return Ok(facts.with_steps_of(of.rank, steps));
                }
                Ok(_) => {}
                Err(no_steps) => reason = reason.or(Some(*no_steps)),
            }
        }
    }
    Ok(match reason {
        Some(reason) => facts.without_steps(reason),
        None => facts,
    })
}

/// Measurements of the first rank, because the ranks of a job run one program. Those of devices and
/// errors are those of all ranks.
fn measures_of(
    profile: &Profile,
    analysed: &Analysed,
    cancel: Cancel<'_>,
) -> Result<RankMeasures, AnalysisError> {
    let Some((first, others)) = profile.manifest.ranks.split_first() else {
        return Ok(RankMeasures::default());
    };
    let of_rank = |file: &RankFile| {
        let mut of = of_segment(profile, file, |segment| measures(segment, file.rank, cancel))?;
        let clock = analysed.clock_of(file.rank);
        for error in of.errors.iter_mut().flatten() {
            error.start_ps = clock.to_shared(Time(error.start_ps)).0;
        }
        for tensor in &mut of.tensors {
            let (start, end) = tensor.span_ps;
            tensor.span_ps = (clock.to_shared(Time(start)).0, clock.to_shared(Time(end)).0);
        }
        Ok::<_, AnalysisError>(of)
    };
    let of_devices = profile.manifest.ranks.iter().map(|file| measured(profile, file, cancel));
    let devices: Vec<Option<DeviceMetrics>> = of_devices.collect::<Result<_, _>>()?;
    let devices = devices.into_iter().flatten().collect();
    let mut all = RankMeasures { devices, ..of_rank(first)? };
    if let Some(errors) = &mut all.errors {
        for file in others {
            errors.extend(of_rank(file)?.errors.into_iter().flatten());
        }
    }
    Ok(all)
}

/// The metrics of a rank, if its device has engines and a memory of its own.
fn measured(
    profile: &Profile,
    file: &RankFile,
    cancel: Cancel<'_>,
) -> Result<Option<DeviceMetrics>, AnalysisError> {
    of_segment(profile, file, |segment| {
        // Other devices have no such metrics, so none are computed.
        if imitated_tool(&segment.footer().rank.source).is_none() {
            return Ok(None);
        }
        let place = profile.place_of(file);
        let summary = summary_of(&place, segment, on_all_cores(cancel))?;
        let all = summary.groups.into_iter().flat_map(|group| group.metrics);
        let values = all.filter_map(|metric| Some((metric.name, metric.value.number()?))).collect();
        let mut of = device_metrics(&segment.footer().rank.source, file.rank, &values);
        if let Some(transfers) = of.as_mut().and_then(|of| of.transfers.as_mut()) {
            transfers.passes = f64::from(passes(segment, cancel)?);
        }
        Ok(of)
    })
}

/// A thread of a host.
#[derive(Debug, Clone, Copy)]
struct HostThread {
    rank: u32,
    track: TrackId,
}

/// The name of what a thread did in a span of the shared clock. `None` if nothing says it: a
/// finding is there without it, too.
fn operator(
    profile: &Profile,
    analysed: &Analysed,
    of: HostThread,
    span: Interval,
    cancel: Cancel<'_>,
) -> Option<String> {
    let file = profile.manifest.ranks.iter().find(|file| file.rank == of.rank)?;
    let local = analysed.clock_of(of.rank).to_local_span(span);
    let found = of_segment(profile, file, |segment| {
        let slice = slice::within(segment, of.track, local, cancel)?;
        slice.map(|slice| Ok(segment.text(slice.name())?.to_owned())).transpose()
    });
    found.unwrap_or_default()
}
