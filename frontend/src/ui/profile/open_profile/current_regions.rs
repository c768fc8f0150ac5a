//! The regions of the current rank: its steps, and the spans that users named.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::wire::notes::{NotedRegion, Notes};
use nprof_engine::wire::questions::{NotesQuestion, RegionsQuestion};
use nprof_engine::wire::regions::RegionList;

use super::profile_source::{ProfileSource, ProfilesAnswer, known};
use super::{Answer, ShownRank};
use crate::fetch::FetchError;
use crate::ui::shell::QuestionAnswers;
use crate::view::source_id::SourceId;
use crate::view::{Axes, Axis, View};

/// Ranks with more events are asked for their regions only if somebody wants them, and profiles
/// for their findings: all of their work is read.
pub const MOST_EVENTS_UNASKED: u64 = 2_000_000;

/// The regions.
#[derive(Clone, Copy)]
pub struct CurrentRegions {
    is_wanted: RwSignal<bool>,
    /// Those that are found. `None` until they are known.
    pub found: Memo<FoundRegions>,
    /// Those that users named, as the rank is shown.
    pub named: Memo<Vec<NamedSpan>>,
    /// The region to which numbers and findings are limited, if the rank has it.
    pub scope: Memo<Option<NamedSpan>>,
    /// Reads those of users again.
    pub refresh: Callback<()>,
    axes: Memo<AxesOfRank>,
}

/// A region that a user named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedSpan {
    /// The name.
    pub name: String,
    /// Its times on the page.
    pub span: Interval,
}

impl CurrentRegions {
    /// Asks for the regions of the shown rank. All ranks together have none.
    #[must_use]
    pub fn new(
        of: ProfileSource,
        profiles: Memo<ProfilesAnswer>,
        shown: Memo<ShownRank>,
        view: Memo<View>,
    ) -> Self {
        let is_wanted = RwSignal::new(false);
        let wanted = Memo::new(move |_| view.with(|view| view.region.clone()));
        let rank = Memo::new(move |_| {
            let (source, detail) = shown.get()?;
            let events = detail.ok()?.entry.events;
            let is_asked = is_wanted.get() || events <= MOST_EVENTS_UNASKED || wanted.with(Option::is_some);
            (is_asked && !source.rank.is_all()).then_some(source)
        });
        let asked = QuestionAnswers::new(rank, move |source: SourceId, cancel| async move {
            of.rank(source).ask(RegionsQuestion, Some(&cancel)).await
        });
        let found = Memo::new(move |_| {
            let (of, answer) = asked.last.get()?;
            (rank.get() == Some(of)).then_some(answer)
        });
        let notes = QuestionAnswers::new(rank, move |source: SourceId, cancel| async move {
            let profile =
                of.names.with_value(|names| names.at(source.profile).unwrap_or_default().to_owned());
            of.source.ask_until(NotesQuestion { profile }, Some(&cancel)).await
        });
        let axes = Memo::new(move |_| axes(profiles, view, rank.get().unwrap_or_default()));
        let refresh = notes.retry;
        let named = Memo::new(move |_| {
            let (Some(source), notes) = (rank.get(), notes.answer()) else { return Vec::new() };
            named_spans(&notes, source.rank.number(), axes.get())
        });
        let scope = Memo::new(move |_| {
            let name = wanted.get()?;
            all(named, found).into_iter().find(|region| region.name == name)
        });
        Self { is_wanted, found, named, scope, refresh, axes }
    }

    /// A span of the page on the clock on which it is kept.
    #[must_use]
    pub fn kept_span(self, span: Interval) -> Interval {
        self.axes.with_untracked(|axes| axes.kept.shared_span(axes.shown.local_span(span)))
    }

    /// The region of a user with this span, as far as a page can tell spans apart.
    #[must_use]
    pub fn named_with(self, span: Interval) -> Option<NamedSpan> {
        /// A span that goes to another clock and back can change by this much, in picoseconds.
        const SAME_PS: u64 = 2_000;
        let is_same = |of: &NamedSpan| {
            let edges = [(of.span.start.0, span.start.0), (of.span.end.0, span.end.0)];
            edges.iter().all(|(one, other)| one.abs_diff(*other) <= SAME_PS)
        };
        self.named.with(|named| named.iter().find(|of| is_same(of)).cloned())
    }

    /// Asks for the regions of ranks of any size, as long as the current component is there.
    pub fn want(self) {
        self.is_wanted.set(true);
        on_cleanup(move || {
            self.is_wanted.try_set(false);
        });
    }

    /// A name that no region has yet: this one, else with a number behind it.
    #[must_use]
    pub fn free_name(self, name: &str) -> String {
        let taken: Vec<String> = untrack(|| self.all()).into_iter().map(|region| region.name).collect();
        let numbered = (2..).map(|number| format!("{name} {number}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        names.find(|name| !taken.contains(name)).unwrap_or_default()
    }

    /// All regions with their names, those of users first.
    #[must_use]
    pub fn all(self) -> Vec<NamedSpan> {
        all(self.named, self.found)
    }
}

/// The answer about the regions of a rank.
type FoundRegions = Option<Result<Arc<RegionList>, FetchError>>;

fn all(named: Memo<Vec<NamedSpan>>, found: Memo<FoundRegions>) -> Vec<NamedSpan> {
    let found = found.get().and_then(Result::ok);
    let of_rank = found.iter().flat_map(|found| &found.regions).map(|region| NamedSpan {
        name: region.name.clone(),
        span: Interval::new(region.start_ps, region.end_ps),
    });
    named.get().into_iter().chain(of_rank).collect()
}

/// The axes of a rank.
#[derive(Clone, Copy, PartialEq, Default)]
struct AxesOfRank {
    /// That of the clock which the profile keeps: notes stand on it.
    kept: Axis,
    /// That on which the rank is shown.
    shown: Axis,
}

fn axes(profiles: Memo<ProfilesAnswer>, view: Memo<View>, source: SourceId) -> AxesOfRank {
    let frame = view.with(View::frame);
    let both = known(profiles, |profiles| {
        let ranks = &profiles.get(usize::from(source.profile))?.ranks;
        let rank = ranks.iter().find(|rank| rank.rank == source.rank)?;
        let kept = Axis(rank.clock.map(|clock| clock.0).unwrap_or_default());
        Some(AxesOfRank { kept, shown: Axes::of(profiles, frame).axis(source) })
    });
    both.flatten().unwrap_or_default()
}

fn named_spans(notes: &Answer<Notes>, rank: Option<u32>, axes: AxesOfRank) -> Vec<NamedSpan> {
    let notes = notes.as_ref().and_then(|notes| notes.as_ref().ok());
    let is_about = |region: &&NotedRegion| region.rank.is_none() || region.rank == rank;
    let of_users = notes.iter().flat_map(|notes| &notes.regions).filter(is_about);
    let span = |region: &NotedRegion| NamedSpan {
        name: region.name.clone(),
        span: axes.shown.shared_span(axes.kept.local_span(Interval::new(region.start_ps, region.end_ps))),
    };
    of_users.map(span).collect()
}
