//! A profile that is queried without a server: one HTML file, or a folder of a static web host. The
//! page carries a [`Bundle`] beside the segments and answers all questions itself.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::answer;
use super::ask::{ProfileStore, Rank, RankId};
use super::catalog::{NameSlot, ProfileInfo, ProfileList, RankDetail, RankEntry, WarningEntry};
use super::comparison::{ComparedRuns, ComparedSide, RunChoice};
use super::findings::Findings;
use super::graph_progress::{GraphProgress, GraphStage};
use super::notes::Notes;
use super::paired_tracks::PairedTracks;
use super::rank_balance::RankBalance;
use super::rank_ref::RankRef;
use super::refusal::{Refusal, RefusalKind};
use super::regions::RegionList;
use super::run_graph::{MOST_EVENTS_IN_PAGE, RunGraph};
use super::run_path::RunPath;
use super::run_waits::RunWaits;
use super::summary::Summary;
use super::what_if::{EditSubjects, WhatIf, WhatIfSweep};
use super::work_slack::WorkSlack;
use crate::base::{Error, Interval, Result};
use crate::exec::Work;
use crate::insight::difference::WorkKey;
use crate::insight::wait::AskedWaits;
use crate::insight::{Edit, GraphOverlay};
use crate::metrics::MetricScope;
use crate::query::row_times;
use crate::rank::RankView;
use crate::segment::{Bytes, Segment};

/// The data of a profile beside its segments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bundle {
    /// The profile and its ranks.
    pub profile: ProfileInfo,
    /// Colour numbers of the profile's names.
    pub names: Vec<NameSlot>,
    /// The notes of users.
    pub notes: Notes,
    /// The findings about the run, or the reason why there are none.
    pub findings: std::result::Result<Findings, Refusal>,
    /// The critical path, as fine as a picture of the whole run, or the reason why there is none.
    pub path: std::result::Result<RunPath, Refusal>,
    /// The waits of all ranks together and of each one, or the reason why there are none.
    pub waits: std::result::Result<Vec<BundledWaits>, Refusal>,
    /// The ranks beside each other, or the reason why they cannot be.
    pub balance: std::result::Result<RankBalance, Refusal>,
    /// The dependency graph, or the reason why there is none.
    pub graph: std::result::Result<GraphOverlay, Refusal>,
    /// Differences to other runs of the page, or between parts of this one.
    pub comparisons: Vec<BundledComparison>,
    /// Tracks beside those of other runs of the page.
    pub paired: Vec<BundledTracks>,
    /// Data of each rank, in the order of the profile's ranks.
    pub ranks: Vec<BundledRank>,
}

/// The difference of two runs in the same page, the first one of the profile of the bundle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BundledComparison {
    /// The two runs.
    pub runs: [RunChoice; 2],
    /// Name of the subject of rows.
    pub by: String,
    /// The difference, or the reason why there is none.
    pub found: std::result::Result<ComparedRuns, Refusal>,
}

/// The tracks of two runs in the same page, the first one of the profile of the bundle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BundledTracks {
    /// The two runs.
    pub runs: [RunChoice; 2],
    /// The tracks, or the reason why there are none.
    pub found: std::result::Result<PairedTracks, Refusal>,
}

/// The waits of a rank, or of all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BundledWaits {
    /// Number of the rank. `None` for all ranks together.
    pub rank: Option<u32>,
    /// Its waits, as fine as a picture of the whole run.
    pub waits: RunWaits,
}

/// The data of a rank beside its segment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BundledRank {
    /// Warnings that came up after the segment was written.
    pub warnings: Vec<WarningEntry>,
    /// The metrics, or the reason why they could not be computed.
    pub summary: std::result::Result<Summary, Refusal>,
    /// The regions, or the reason why they could not be found.
    pub regions: std::result::Result<RegionList, Refusal>,
}

/// A bundle with the open segments.
#[derive(Debug)]
pub struct OpenBundle<B> {
    bundle: Bundle,
    /// One entry for each rank of the profile; `None` until it is open.
    segments: Vec<Option<Segment<B>>>,
    graph: OnceLock<RunGraph>,
}

impl<B: Bytes> OpenBundle<B> {
    /// A bundle without open segments.
    ///
    /// # Errors
    /// `Invalid` if the bundle contradicts itself.
    pub fn new(bundle: Bundle) -> Result<Self> {
        if bundle.ranks.len() != bundle.profile.ranks.len() {
            return Err(Error::Invalid { what: "the ranks of a bundle differ from those of its profile" });
        }
        let segments = bundle.ranks.iter().map(|_| None).collect();
        Ok(Self { bundle, segments, graph: OnceLock::new() })
    }

    /// The segment of a rank, if it is open.
    #[must_use]
    pub fn segment(&self, rank: RankRef) -> Option<&Segment<B>> {
        self.segments.get(self.position(rank)?)?.as_ref()
    }

    /// The position of a rank in the bundle.
    #[must_use]
    pub fn position(&self, rank: RankRef) -> Option<usize> {
        self.bundle.profile.ranks.iter().position(|entry| entry.rank == rank)
    }

    /// Opens the segment of the rank at this position.
    ///
    /// # Errors
    /// `Damaged` if the bytes are not a segment, or are the segment of another rank.
    pub fn open(&mut self, at: usize, bytes: B) -> std::result::Result<(), Refusal> {
        let segment = Segment::open(bytes)?;
        let (Some(place), Some(entry)) = (self.segments.get_mut(at), self.bundle.profile.ranks.get(at))
        else {
            return Err(Error::Invalid { what: "the rank is not in the bundle" }.into());
        };
        if entry.segment() != segment.content() {
            let rank = entry.rank.in_words();
            let what = format!("{rank}: the segment belongs to another rank or profile");
            return Err(Refusal::new(RefusalKind::Damaged, what));
        }
        *place = Some(segment);
        Ok(())
    }

    /// The dependency graph. It is read for the first question that needs it, with the segments of
    /// all ranks.
    fn graph(&self, work: Work<'_>) -> std::result::Result<&RunGraph, Refusal> {
        if let Some(graph) = self.graph.get() {
            return Ok(graph);
        }
        let overlay = self.bundle.graph.as_ref().map_err(Refusal::clone)?;
        if overlay.len() > MOST_EVENTS_IN_PAGE {
            let what =
                format!("the run has {} events, and a page replays {MOST_EVENTS_IN_PAGE}", overlay.len());
            return Err(Refusal::new(RefusalKind::BadQuestion, what));
        }
        let row_times = |rank: u32, rows: &[u32]| {
            let closed = Error::Invalid { what: "a rank is not open" };
            row_times(self.segment(rank.into()).ok_or(closed)?, rows, work.cancel)
        };
        let graph = RunGraph::from(overlay.graph(&row_times, work)?);
        Ok(self.graph.get_or_init(|| graph))
    }

    /// Whether the profile has this name or id.
    #[must_use]
    pub fn is_named(&self, name: &str) -> bool {
        let entry = &self.bundle.profile.entry;
        [&entry.slug, &entry.id].into_iter().chain(&entry.aliases).any(|known| known == name)
    }

    fn check_name(&self, name: &str) -> std::result::Result<(), Refusal> {
        if self.is_named(name) {
            return Ok(());
        }
        let held = &self.bundle.profile.entry.slug;
        let what = format!("profile \"{name}\" is not in this page, which holds only \"{held}\"");
        Err(Refusal::new(RefusalKind::NotFound, what))
    }
}

impl<'a, B: Bytes> ProfileStore for &'a OpenBundle<B> {
    type Rank = OpenRank<'a, B>;

    fn profiles(&self) -> std::result::Result<ProfileList, Refusal> {
        Ok(ProfileList { profiles: vec![self.bundle.profile.entry.clone()] })
    }

    fn profile(&self, name: &str) -> std::result::Result<ProfileInfo, Refusal> {
        self.check_name(name)?;
        Ok(self.bundle.profile.clone())
    }

    fn notes(&self, name: &str) -> std::result::Result<Notes, Refusal> {
        self.check_name(name)?;
        Ok(self.bundle.notes.clone())
    }

    fn findings(&self, name: &str, _: Work<'_>) -> std::result::Result<Findings, Refusal> {
        self.check_name(name)?;
        self.bundle.findings.clone()
    }

    fn graph_progress(&self, name: &str) -> std::result::Result<GraphProgress, Refusal> {
        self.check_name(name)?;
        let ranks = self.bundle.profile.ranks.iter().filter(|entry| !entry.rank.is_all()).count();
        let ranks = crate::base::narrow(ranks);
        Ok(GraphProgress { stage: GraphStage::Kept, done: ranks, ranks })
    }

    fn critical_path(
        &self,
        name: &str,
        span: Option<Interval>,
        _most: usize,
        _: Work<'_>,
    ) -> std::result::Result<RunPath, Refusal> {
        self.check_name(name)?;
        self.bundle.path.clone().map(|path| path.within(span))
    }

    fn slack(
        &self,
        name: &str,
        rank: u32,
        row: u32,
        work: Work<'_>,
    ) -> std::result::Result<Option<WorkSlack>, Refusal> {
        self.check_name(name)?;
        self.graph(work)?.slack(rank, row, work)
    }

    fn run_waits(
        &self,
        name: &str,
        asked: &AskedWaits<'_>,
        _: Work<'_>,
    ) -> std::result::Result<RunWaits, Refusal> {
        self.check_name(name)?;
        let known = self.bundle.waits.as_ref().map_err(Refusal::clone)?;
        let is_asked_for = |of: &&BundledWaits| match asked.ranks {
            None => of.rank.is_none(),
            Some(ranks) => of.rank.is_some_and(|rank| ranks == [rank]),
        };
        let unknown = || {
            let what = "this page holds the waits of each rank that it shows, and of all together";
            Refusal::new(RefusalKind::NotFound, what)
        };
        known.iter().find(is_asked_for).map(|of| of.waits.within(asked.span, asked.most)).ok_or_else(unknown)
    }

    fn rank_balance(
        &self,
        name: &str,
        most: usize,
        _: Work<'_>,
    ) -> std::result::Result<RankBalance, Refusal> {
        self.check_name(name)?;
        self.bundle.balance.clone().map(|balance| balance.first(most))
    }

    fn what_if(&self, name: &str, edits: &[Edit], work: Work<'_>) -> std::result::Result<WhatIf, Refusal> {
        self.check_name(name)?;
        self.graph(work)?.what_if(edits, work.cancel)
    }

    fn what_if_sweep(
        &self,
        name: &str,
        most: usize,
        work: Work<'_>,
    ) -> std::result::Result<WhatIfSweep, Refusal> {
        self.check_name(name)?;
        self.graph(work)?.sweep(most, work)
    }

    fn predicted_tracks(
        &self,
        name: &str,
        edits: &[Edit],
        rank: u32,
        span: Option<Interval>,
        work: Work<'_>,
    ) -> std::result::Result<PairedTracks, Refusal> {
        self.check_name(name)?;
        let side = ComparedSide { profile: name.to_owned(), title: name.to_owned() };
        self.graph(work)?.predicted_tracks(side, edits, rank, span, work)
    }

    fn comparison(
        &self,
        a: &RunChoice,
        b: &RunChoice,
        by: WorkKey,
        _: Work<'_>,
    ) -> std::result::Result<ComparedRuns, Refusal> {
        self.check_name(&a.profile)?;
        let is_it = |one: &&BundledComparison| are_runs(&one.runs, a, b) && one.by == by.name();
        let kept = self.bundle.comparisons.iter().find(is_it);
        kept.map_or_else(|| Err(no_comparison()), |kept| kept.found.clone())
    }

    fn paired_tracks(
        &self,
        a: &RunChoice,
        b: &RunChoice,
        _: Work<'_>,
    ) -> std::result::Result<PairedTracks, Refusal> {
        self.check_name(&a.profile)?;
        let kept = self.bundle.paired.iter().find(|one| are_runs(&one.runs, a, b));
        kept.map_or_else(|| Err(no_comparison()), |kept| kept.found.clone())
    }

    fn edit_subjects(
        &self,
        name: &str,
        rank: u32,
        row: u32,
        work: Work<'_>,
    ) -> std::result::Result<EditSubjects, Refusal> {
        self.check_name(name)?;
        Ok(self.graph(work)?.edit_subjects(rank, row))
    }

    fn rank(&self, id: &RankId) -> std::result::Result<OpenRank<'a, B>, Refusal> {
        self.check_name(&id.profile)?;
        let missing = || {
            let (rank, profile) = (id.rank.in_words(), &id.profile);
            let what = format!("this page does not hold {rank} of profile \"{profile}\"");
            Refusal::new(RefusalKind::NotFound, what)
        };
        let at = self.position(id.rank).ok_or_else(missing)?;
        let closed = || {
            let what = format!("the segment of {} is not open", id.rank.in_words());
            Refusal::new(RefusalKind::Internal, what)
        };
        let segment = self.segments[at].as_ref().ok_or_else(closed)?;
        Ok(OpenRank { bundle: &self.bundle, at, segment })
    }
}

fn are_runs([one, other]: &[RunChoice; 2], a: &RunChoice, b: &RunChoice) -> bool {
    (one, other) == (a, b)
}

fn no_comparison() -> Refusal {
    let what = "this page holds no such comparison; `nprof diff` compares any two parts of runs";
    Refusal::new(RefusalKind::NotFound, what)
}

/// A rank of a bundle with its segment.
#[derive(Debug)]
pub struct OpenRank<'a, B> {
    bundle: &'a Bundle,
    at: usize,
    segment: &'a Segment<B>,
}

impl<B> OpenRank<'_, B> {
    fn entry(&self) -> &RankEntry {
        &self.bundle.profile.ranks[self.at]
    }
}

impl<B: Bytes> Rank for OpenRank<'_, B> {
    type Bytes = B;

    fn view(&self) -> RankView<'_, B> {
        let clock = self.entry().clock.map(|clock| clock.0);
        RankView::of(self.segment).with_clock(clock.unwrap_or_default())
    }

    fn number(&self) -> Option<u32> {
        self.entry().rank.number()
    }

    fn tile_content(&self) -> String {
        self.entry().content.clone()
    }

    fn detail(&self) -> Result<RankDetail> {
        let later = self.bundle.ranks[self.at].warnings.iter().cloned();
        answer::rank_detail(self.view(), self.entry().clone(), &self.bundle.names, later)
    }

    fn summary(&self, window: Option<Interval>, work: Work<'_>) -> std::result::Result<Summary, Refusal> {
        let Some(window) = window else { return self.bundle.ranks[self.at].summary.clone() };
        let scope = MetricScope::within(Some(window));
        answer::summary(self.view(), self.entry().rank, &scope, work).map_err(|error| self.refusal(error))
    }

    fn regions(&self, _: Work<'_>) -> std::result::Result<RegionList, Refusal> {
        self.bundle.ranks[self.at].regions.clone()
    }

    fn notes(&self) -> std::result::Result<Notes, Refusal> {
        Ok(self.bundle.notes.clone())
    }

    fn place(&self) -> String {
        self.entry().rank.in_words()
    }

    fn advice(&self) -> String {
        String::new()
    }
}
