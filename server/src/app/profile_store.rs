//! The answers to questions about the profiles of a store. All functions block.

use std::sync::Arc;

use nprof_engine::base::{Interval, narrow};
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::insight::Edit;
use nprof_engine::insight::difference::WorkKey;
use nprof_engine::insight::wait::AskedWaits;
use nprof_engine::wire::ask::{self, RankId};
use nprof_engine::wire::catalog::{ProfileInfo, ProfileList};
use nprof_engine::wire::comparison::{ComparedRuns, ComparedSide, RunChoice};
use nprof_engine::wire::findings::Findings;
use nprof_engine::wire::graph_progress::{GraphProgress, GraphStage};
use nprof_engine::wire::notes::Notes;
use nprof_engine::wire::paired_tracks::PairedTracks;
use nprof_engine::wire::rank_balance::RankBalance;
use nprof_engine::wire::refusal::{Refusal, RefusalKind};
use nprof_engine::wire::run_path::RunPath;
use nprof_engine::wire::run_waits::RunWaits;
use nprof_engine::wire::what_if::{EditSubjects, WhatIf, WhatIfSweep};
use nprof_engine::wire::work_slack::WorkSlack;

use super::{App, OpenRank};
use crate::analysis::comparison::{ComparedPart, compare, paired};
use crate::analysis::graph::{Replayable, metered, too_large};
use crate::analysis::graph_meter::GraphMeter;
use crate::analysis::kept_answers::key_of;
use crate::analysis::paired_tracks::paired_tracks;
use crate::analysis::{AnalysisError, findings, job_segment, on_all_cores};
use crate::export::requested_part::rank_of;
use crate::http::error::ApiError;
use crate::store::Profile;

impl App {
    /// The dependency graph of a profile.
    fn graph(&self, name: &str, cancel: Cancel<'_>) -> Result<Arc<Replayable>, Refusal> {
        let profile = self.store().find(name).map_err(ApiError::from)?;
        if let Some(reason) = too_large(&profile) {
            let what = format!("{reason}; the command line has no limit");
            return Err(Refusal::new(RefusalKind::BadQuestion, what));
        }
        self.graph_of(&profile, cancel).map_err(|error| refused(&error))
    }

    fn graph_of(&self, profile: &Profile, cancel: Cancel<'_>) -> Result<Arc<Replayable>, AnalysisError> {
        let made = || {
            let make = |meter: &GraphMeter| metered(profile, meter, cancel);
            self.0.graph_meters.metered(&key_of(profile), make)
        };
        self.0.graphs.of(profile, cancel, made)
    }
}

impl App {
    /// A part of a profile of the store, to compare it.
    fn compared_part(&self, of: &RunChoice) -> Result<ComparedPart, Refusal> {
        let profile = self.store().find(&of.profile).map_err(ApiError::from)?;
        let ranks = match &of.ranks {
            Some(ranks) => ranks
                .iter()
                .map(|rank| Ok(rank_of(&profile, *rank)?.clone()))
                .collect::<Result<_, ApiError>>()?,
            None => profile.manifest.ranks.clone(),
        };
        Ok(ComparedPart::new(profile, ranks, of.region.clone()))
    }
}

/// The refusal of a failed analysis. The log has the place of the store, too.
fn refused(error: &AnalysisError) -> Refusal {
    tracing::debug!("{error}");
    error.refusal()
}

impl ask::ProfileStore for App {
    type Rank = OpenRank;

    fn profiles(&self) -> Result<ProfileList, Refusal> {
        let profiles = self.store().list().map_err(ApiError::from)?;
        Ok(ProfileList { profiles: profiles.iter().map(|profile| profile.manifest.entry()).collect() })
    }

    fn profile(&self, name: &str) -> Result<ProfileInfo, Refusal> {
        let profile = self.store().find(name).map_err(ApiError::from)?;
        let mut info = profile.manifest.profile_info();
        let job = job_segment::is_for(&profile).then(|| self.kept_job(&profile)).flatten();
        if let Some(job) = &job {
            job.add_clocks(&mut info);
        }
        if let Some(entry) = job_segment::entry_of(&profile, &info, job.as_deref()) {
            info.ranks.insert(0, entry);
        }
        Ok(info)
    }

    fn notes(&self, name: &str) -> Result<Notes, Refusal> {
        let profile = self.store().find(name).map_err(ApiError::from)?;
        Ok(profile.notes().map_err(ApiError::from)?)
    }

    fn findings(&self, name: &str, work: Work<'_>) -> Result<Findings, Refusal> {
        let profile = self.store().find(name).map_err(ApiError::from)?;
        if let Some(kept) = self.kept_findings_of(&profile) {
            return Ok(Findings::clone(&kept));
        }
        // The answer that is missing is not kept: the command line can find it at any time.
        if let Some(reason) = findings::reason_without_graph(&profile) {
            return Ok(Findings::unknown(&reason));
        }
        let compute = || {
            let graph = self.graph_of(&profile, work.cancel)?;
            Ok(findings::of_run(&profile, &graph, work.cancel)?.message)
        };
        let found = self.0.findings.of(&profile, work.cancel, compute).map_err(|error| refused(&error))?;
        Ok(Findings::clone(&found))
    }

    fn graph_progress(&self, name: &str) -> Result<GraphProgress, Refusal> {
        let profile = self.store().find(name).map_err(ApiError::from)?;
        let ranks = narrow(profile.manifest.ranks.len());
        if self.0.graphs.kept(&profile).is_some() {
            return Ok(GraphProgress { stage: GraphStage::Kept, done: ranks, ranks });
        }
        let meter = self.0.graph_meters.of(&key_of(&profile));
        let absent = GraphProgress { stage: GraphStage::Absent, done: 0, ranks };
        Ok(meter.map_or(absent, |meter| meter.progress(ranks)))
    }

    fn critical_path(
        &self,
        name: &str,
        span: Option<Interval>,
        most: usize,
        work: Work<'_>,
    ) -> Result<RunPath, Refusal> {
        self.graph(name, work.cancel)?.run.critical_path(span, most, on_all_cores(work.cancel))
    }

    fn slack(&self, name: &str, rank: u32, row: u32, work: Work<'_>) -> Result<Option<WorkSlack>, Refusal> {
        self.graph(name, work.cancel)?.run.slack(rank, row, on_all_cores(work.cancel))
    }

    fn run_waits(&self, name: &str, asked: &AskedWaits<'_>, work: Work<'_>) -> Result<RunWaits, Refusal> {
        let profile = self.store().find(name).map_err(ApiError::from)?;
        self.graph(name, work.cancel)?.run_waits(&profile, asked, work.cancel)
    }

    fn rank_balance(&self, name: &str, most: usize, work: Work<'_>) -> Result<RankBalance, Refusal> {
        let profile = self.store().find(name).map_err(ApiError::from)?;
        self.graph(name, work.cancel)?.rank_balance(&profile, most, work.cancel)
    }

    fn what_if(&self, name: &str, edits: &[Edit], work: Work<'_>) -> Result<WhatIf, Refusal> {
        self.graph(name, work.cancel)?.run.what_if(edits, work.cancel)
    }

    fn what_if_sweep(&self, name: &str, most: usize, work: Work<'_>) -> Result<WhatIfSweep, Refusal> {
        self.graph(name, work.cancel)?.run.sweep(most, on_all_cores(work.cancel))
    }

    fn predicted_tracks(
        &self,
        name: &str,
        edits: &[Edit],
        rank: u32,
        span: Option<Interval>,
        work: Work<'_>,
    ) -> Result<PairedTracks, Refusal> {
        let side = ComparedSide { profile: name.to_owned(), title: name.to_owned() };
        self.graph(name, work.cancel)?.run.predicted_tracks(
            side,
            edits,
            rank,
            span,
            on_all_cores(work.cancel),
        )
    }

    fn comparison(
        &self,
        a: &RunChoice,
        b: &RunChoice,
        by: WorkKey,
        work: Work<'_>,
    ) -> Result<ComparedRuns, Refusal> {
        let [a, b] = paired([self.compared_part(a)?, self.compared_part(b)?]);
        compare(&a, &b, by, work.cancel).map_err(|error| error.refusal())
    }

    fn paired_tracks(&self, a: &RunChoice, b: &RunChoice, work: Work<'_>) -> Result<PairedTracks, Refusal> {
        let [a, b] = paired([self.compared_part(a)?, self.compared_part(b)?]);
        paired_tracks(&a, &b, work.cancel).map_err(|error| error.refusal())
    }

    fn edit_subjects(
        &self,
        name: &str,
        rank: u32,
        row: u32,
        work: Work<'_>,
    ) -> Result<EditSubjects, Refusal> {
        Ok(self.graph(name, work.cancel)?.run.edit_subjects(rank, row))
    }

    fn rank(&self, id: &RankId) -> Result<OpenRank, Refusal> {
        if !id.rank.is_all() {
            return self.open_rank(id);
        }
        let profile = self.store().find(&id.profile).map_err(ApiError::from)?;
        if !job_segment::is_for(&profile) {
            return self.open_rank(id);
        }
        self.close_some();
        let gone = || Refusal::new(RefusalKind::Replaced, "the profile has been changed; load it again");
        let job = self.kept_job(&profile).ok_or_else(gone)?;
        Ok(OpenRank {
            app: self.clone(),
            asked_for: id.profile.clone(),
            entry: job.entry.clone(),
            place: profile.place_of_all(job.path.clone()),
            later: Vec::new(),
            profile,
            segment: Arc::clone(&job.segment),
        })
    }
}
