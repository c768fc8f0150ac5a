//! The profiles of a page without a server: one, or two that are compared. Questions go to the
//! bundle of their profile.

use super::ask::{ProfileStore, RankId};
use super::bundle::{Bundle, OpenBundle, OpenRank};
use super::catalog::{ProfileInfo, ProfileList};
use super::comparison::{ComparedRuns, RunChoice};
use super::findings::Findings;
use super::graph_progress::GraphProgress;
use super::notes::Notes;
use super::paired_tracks::PairedTracks;
use super::rank_balance::RankBalance;
use super::refusal::Refusal;
use super::run_path::RunPath;
use super::run_waits::RunWaits;
use super::what_if::{EditSubjects, WhatIf, WhatIfSweep};
use super::work_slack::WorkSlack;
use crate::base::{Interval, Result};
use crate::exec::Work;
use crate::insight::Edit;
use crate::insight::difference::WorkKey;
use crate::insight::wait::AskedWaits;
use crate::segment::Bytes;

/// Bundles with the open segments. The first one is that of the page.
#[derive(Debug)]
pub struct OpenBundles<B> {
    first: OpenBundle<B>,
    others: Vec<OpenBundle<B>>,
}

impl<B: Bytes> OpenBundles<B> {
    /// A bundle without open segments.
    pub fn new(first: Bundle) -> Result<Self> {
        Ok(Self { first: OpenBundle::new(first)?, others: Vec::new() })
    }

    /// Adds the bundle of another profile.
    pub fn join(&mut self, other: Bundle) -> Result<()> {
        self.others.push(OpenBundle::new(other)?);
        Ok(())
    }

    /// The bundle at this position, if there is one.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<&OpenBundle<B>> {
        if at == 0 { Some(&self.first) } else { self.others.get(at - 1) }
    }

    /// The bundle at this position, to open segments of it.
    pub fn get_mut(&mut self, at: usize) -> Option<&mut OpenBundle<B>> {
        if at == 0 { Some(&mut self.first) } else { self.others.get_mut(at - 1) }
    }

    /// The position of the profile with this name. The first one tells what is wrong with a name
    /// that no profile has.
    #[must_use]
    pub fn position(&self, name: &str) -> usize {
        let at = self.others.iter().position(|other| other.is_named(name));
        at.filter(|_| !self.first.is_named(name)).map_or(0, |at| at + 1)
    }

    fn of(&self, name: &str) -> &OpenBundle<B> {
        self.get(self.position(name)).unwrap_or(&self.first)
    }
}

impl<'a, B: Bytes> ProfileStore for &'a OpenBundles<B> {
    type Rank = OpenRank<'a, B>;

    fn profiles(&self) -> std::result::Result<ProfileList, Refusal> {
        let mut list = (&self.first).profiles()?;
        for other in &self.others {
            list.profiles.extend(other.profiles()?.profiles);
        }
        Ok(list)
    }

    fn profile(&self, name: &str) -> std::result::Result<ProfileInfo, Refusal> {
        self.of(name).profile(name)
    }

    fn notes(&self, name: &str) -> std::result::Result<Notes, Refusal> {
        self.of(name).notes(name)
    }

    fn findings(&self, name: &str, work: Work<'_>) -> std::result::Result<Findings, Refusal> {
        self.of(name).findings(name, work)
    }

    fn graph_progress(&self, name: &str) -> std::result::Result<GraphProgress, Refusal> {
        self.of(name).graph_progress(name)
    }

    fn critical_path(
        &self,
        name: &str,
        span: Option<Interval>,
        most: usize,
        work: Work<'_>,
    ) -> std::result::Result<RunPath, Refusal> {
        self.of(name).critical_path(name, span, most, work)
    }

    fn slack(
        &self,
        name: &str,
        rank: u32,
        row: u32,
        work: Work<'_>,
    ) -> std::result::Result<Option<WorkSlack>, Refusal> {
        self.of(name).slack(name, rank, row, work)
    }

    fn run_waits(
        &self,
        name: &str,
        asked: &AskedWaits<'_>,
        work: Work<'_>,
    ) -> std::result::Result<RunWaits, Refusal> {
        self.of(name).run_waits(name, asked, work)
    }

    fn rank_balance(
        &self,
        name: &str,
        most: usize,
        work: Work<'_>,
    ) -> std::result::Result<RankBalance, Refusal> {
        self.of(name).rank_balance(name, most, work)
    }

    fn what_if(&self, name: &str, edits: &[Edit], work: Work<'_>) -> std::result::Result<WhatIf, Refusal> {
        self.of(name).what_if(name, edits, work)
    }

    fn what_if_sweep(
        &self,
        name: &str,
        most: usize,
        work: Work<'_>,
    ) -> std::result::Result<WhatIfSweep, Refusal> {
        self.of(name).what_if_sweep(name, most, work)
    }

    fn predicted_tracks(
        &self,
        name: &str,
        edits: &[Edit],
        rank: u32,
        span: Option<Interval>,
        work: Work<'_>,
    ) -> std::result::Result<PairedTracks, Refusal> {
        self.of(name).predicted_tracks(name, edits, rank, span, work)
    }

    fn comparison(
        &self,
        a: &RunChoice,
        b: &RunChoice,
        by: WorkKey,
        work: Work<'_>,
    ) -> std::result::Result<ComparedRuns, Refusal> {
        self.of(&a.profile).comparison(a, b, by, work)
    }

    fn paired_tracks(
        &self,
        a: &RunChoice,
        b: &RunChoice,
        work: Work<'_>,
    ) -> std::result::Result<PairedTracks, Refusal> {
        self.of(&a.profile).paired_tracks(a, b, work)
    }

    fn edit_subjects(
        &self,
        name: &str,
        rank: u32,
        row: u32,
        work: Work<'_>,
    ) -> std::result::Result<EditSubjects, Refusal> {
        self.of(name).edit_subjects(name, rank, row, work)
    }

    fn rank(&self, id: &RankId) -> std::result::Result<OpenRank<'a, B>, Refusal> {
        self.of(&id.profile).rank(id)
    }
}
