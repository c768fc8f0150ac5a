//! The open profiles: the state that all parts of its page read, and the only way to change it.

mod comparison;
mod current_regions;
mod finding;
mod first_place;
mod link;
mod profile_source;
mod rank_details;
mod rank_times;
mod region_names;
mod run_findings;
mod run_of_page;
mod run_path;
mod run_waits;
mod shown_tracks;
mod store_question;
mod straggler;
mod what_if;

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::wire::ask::AskRank;
use nprof_engine::wire::catalog::{ProfileInfo, RankDetail};
use nprof_engine::wire::detail::{SliceDetail, SliceEntry};
use nprof_engine::wire::questions::{DetailQuestion, RankQuestion, SliceQuestion};
use nprof_engine::wire::rank_ref::RankRef;
use web_sys::AbortSignal;

use crate::fetch::{FetchError, Source};
use crate::ui::shell::{Address, Messages, QuestionAnswers, TimesOf, clipboard, spawn_while_shown};
use crate::ui::timeline::{Times, Tracks};
use crate::view::rows::sheet_content::SheetContent;
use crate::view::rows::track_path::TrackPath;
use crate::view::source_id::SourceId;
use crate::view::state::profile_names::ProfileNames;
use crate::view::url::link_hint;
use crate::view::url::page::PagePlace;
use crate::view::{Axes, Axis, Clock, Command, Size, TimeFrame, TimeScale, View};
use current_regions::CurrentRegions;
pub use current_regions::{MOST_EVENTS_UNASKED, NamedSpan};
use profile_source::{
    ProfileAnswer, ProfileSource, ProfilesAnswer, all, ask_for_clocks, known, profile_of, spans, zero,
};
use rank_details::RankDetails;
use rank_times::RankTimes;
use run_findings::RunFindings;
pub use run_findings::ShownFinding;
use run_of_page::RunOfPage;
use run_path::RunPathAnswers;
use run_waits::RunWaitsAnswers;
use shown_tracks::{content_of, offers_of, tracks_of};
pub use what_if::TriedEdit;

/// An answer, or `None` while it is missing.
pub type Answer<T> = Option<Result<Arc<T>, FetchError>>;

/// The rank that is shown as the current one.
pub type ShownRank = Option<(SourceId, Result<Arc<RankDetail>, FetchError>)>;

/// State that all open profiles share.
#[derive(Clone, Copy)]
pub struct Session {
    /// The current view.
    pub view: Memo<View>,
    /// The profiles with their ranks, once all are present.
    pub profiles: Memo<ProfilesAnswer>,
    /// Requests all missing answers again.
    pub retry: Callback<()>,
    answers: StoredValue<Arc<[ProfileAnswer]>>,
    address: Address,
    messages: Messages,
}

/// The first profile, which tabs, lists and plots are about.
#[derive(Clone, Copy)]
pub struct FirstProfile {
    /// The profile and its ranks.
    pub info: Signal<Answer<ProfileInfo>>,
    /// Times of all ranks.
    pub rank_times: RankTimes,
}

/// The current rank, which details and search are about. It can be one of any profile.
#[derive(Clone, Copy)]
pub struct Current {
    /// The rank, once the profiles are known.
    pub source: Memo<Option<SourceId>>,
    /// Its tracks, tables and warnings. While another rank is in flight, the previous one stays.
    pub rank: Signal<Answer<RankDetail>>,
    /// All details of the selected slice. `None` while they are in flight and if nothing is
    /// selected.
    pub slice: Signal<Answer<SliceDetail>>,
    shown: Memo<ShownRank>,
}

/// The open profiles: one, or several that are compared.
#[derive(Clone, Copy)]
pub struct Opened {
    /// State that all profiles share.
    pub session: Session,
    /// The first profile.
    pub profile: FirstProfile,
    /// The current rank.
    pub current: Current,
    /// The tracks of all shown ranks.
    pub tracks: Tracks,
    /// Time of the profiles, and how it is shown.
    pub times: Times,
    /// The critical path, as long as its tab is open.
    pub path: RunPathAnswers,
    /// The waits, as long as their tab is open.
    pub waits: RunWaitsAnswers,
    /// The findings, once somebody wants to see them.
    pub findings: RunFindings,
    /// The change of the run that the user tries.
    pub tried: TriedEdit,
    /// The regions of the current rank.
    pub regions: CurrentRegions,
    ranks: RankDetails,
    content: Memo<SheetContent>,
    of: ProfileSource,
}

/// The width of a timeline that was not shown yet. The Data page can be opened first.
const USUAL_PX: f64 = 1000.0;

impl Opened {
    /// Starts to fetch the profiles with these names.
    #[must_use]
    pub fn new(names: ProfileNames) -> Self {
        let address = expect_context::<Address>();
        let view = view_of(address);
        let (source, attempt) = (Source::of_page(), RwSignal::new(0_u32));
        let asked = names.iter().map(|name| {
            let again = RwSignal::new(0_u32);
            (profile_of(source, name.to_owned(), attempt, again), again)
        });
        let (answers, again): (Vec<ProfileAnswer>, Vec<RwSignal<u32>>) = asked.unzip();
        let first = answers[0];
        let answers: Arc<[ProfileAnswer]> = answers.into();
        let of_all = Arc::clone(&answers);
        let profiles = Memo::new(move |_| all(&of_all));
        let frame = Memo::new(move |_| view.with(View::frame));
        let axes = Memo::new(move |_| {
            let frame = frame.get();
            Arc::new(known(profiles, |profiles| Axes::of(profiles, frame)).unwrap_or_default())
        });
        provide_context(TimesOf(axes));
        let of = ProfileSource { source, names: StoredValue::new(names), axes };
        for (at, (answer, again)) in (0..).zip(answers.iter().zip(again)) {
            ask_for_clocks(of, SourceId { rank: RankRef::All, profile: at }, *answer, again);
        }
        let info = Signal::derive(move || first.get().map(|(_, answer)| answer));
        let rank_times = RankTimes::new(of, info, view, attempt);
        let current_source = current_source(profiles, view);
        let content = content_of(profiles, view, current_source, rank_times);
        let wanted = Memo::new(move |_| content.with(|content| content.sources().collect()));
        let ranks = RankDetails::new(of, wanted, attempt);
        let shown = shown_rank(ranks, current_source);
        let rank = Signal::derive(move || shown.get().map(|(_, answer)| answer));
        let slice = slice_resource(of, current_source, view, attempt);
        keep_choice(address, current_source, view);
        let times = times(profiles, rank, view, frame);
        let run = RunOfPage::new(view, profiles, current_source, times);
        let regions = CurrentRegions::new(of, profiles, shown, view);
        Self {
            session: Session {
                view,
                profiles,
                retry: Callback::new(move |()| attempt.update(|attempt| *attempt += 1)),
                answers: StoredValue::new(answers),
                address,
                messages: expect_context::<Messages>(),
            },
            profile: FirstProfile { info, rank_times },
            current: Current { source: current_source, rank, slice, shown },
            tracks: tracks_of(ranks, shown, content, of, rank_times, offers_of(info)),
            times,
            path: RunPathAnswers::new(of, run),
            waits: RunWaitsAnswers::new(of, run, current_source),
            ranks,
            content,
            tried: TriedEdit::new(),
            regions,
            findings: RunFindings::new(of, run, view, regions.scope, source.embedded().is_some()),
            of,
        }
    }

    /// Names of the open profiles.
    #[must_use]
    pub fn names(self) -> ProfileNames {
        self.of.names.get_value()
    }

    /// The name of the first profile that could not be loaded, and why.
    #[must_use]
    pub fn failed(self) -> Option<(String, FetchError)> {
        self.session.answers.with_value(|answers| {
            let error = |answer: &ProfileAnswer| answer.get().and_then(|(_, answer)| answer.err());
            let (at, error) =
                answers.iter().enumerate().find_map(|(at, answer)| Some((at, error(answer)?)))?;
            Some((self.names().iter().nth(at).unwrap_or_default().to_owned(), error))
        })
    }

    /// The profile's name for URLs.
    #[must_use]
    pub fn slug(self) -> String {
        self.names().first().to_owned()
    }

    /// The names of the profiles for people, as far as they are known.
    #[must_use]
    pub fn name(self) -> String {
        let shown = |profiles: &[Arc<ProfileInfo>]| {
            profiles.iter().map(|profile| profile.entry.display_name.clone()).collect::<Vec<_>>()
        };
        let names = known(self.session.profiles, shown);
        let names = names.unwrap_or_else(|| self.names().iter().map(str::to_owned).collect());
        names.join(" and ")
    }

    /// The answer to a question about a rank, unless the signal comes first.
    pub async fn ask<Q: AskRank + Clone + Into<RankQuestion>>(
        self,
        source: SourceId,
        question: Q,
        cancel: Option<&AbortSignal>,
    ) -> Result<Q::Answer, FetchError> {
        self.of.rank(source).ask(question, cancel).await
    }

    /// A rank of the profile of the current rank.
    #[must_use]
    pub fn beside(self, rank: impl Into<RankRef>) -> SourceId {
        self.current.source.get_untracked().unwrap_or_default().sibling(rank)
    }

    /// The shown ranks beside the current one. The view of all ranks has other names than a rank,
    /// so it stands beside none.
    #[must_use]
    pub fn shown_beside(self) -> Vec<SourceId> {
        let Some(current) = self.current.source.get() else { return Vec::new() };
        let is_other = |other: &SourceId| *other != current && !other.rank.is_all() && !current.rank.is_all();
        self.content.with(|content| content.shown.iter().copied().filter(is_other).collect())
    }

    /// A rank in a sentence, with its profile if there are several.
    #[must_use]
    pub fn words_of(self, source: SourceId) -> String {
        let rank = source.rank.in_words();
        self.content.with_untracked(|content| match content.profiles.get(usize::from(source.profile)) {
            Some(profile) => format!("{rank} of {profile}"),
            None => rank,
        })
    }

    /// The axis of the current rank.
    #[must_use]
    pub fn axis(self) -> Axis {
        let Tracks { sheet, current, .. } = self.tracks;
        let source = current.get_untracked();
        sheet.with_untracked(|sheet| sheet.axis(source))
    }

    /// Shows all ranks on the other clocks.
    pub fn switch_clock(self) {
        let Some(current) = self.current.source.get_untracked() else { return };
        let Some(Ok(profiles)) = self.session.profiles.get_untracked() else { return };
        let before = self.session.view.with_untracked(View::frame);
        let base = before.base.other();
        let axis = |frame| Axes::of(&profiles, frame).axis(current);
        let (from, to) = (axis(before), axis(TimeFrame { base, ..before }));
        self.act(&Command::SetTimebase { base, from, to });
    }

    /// The rank, once it is present.
    #[must_use]
    pub fn rank_detail(self) -> Option<Arc<RankDetail>> {
        self.current.rank.get().and_then(Result::ok)
    }

    /// The name of a track of the current rank after the names of its groups. Empty until the rank
    /// is present.
    pub fn track_title(self, track: u32) -> Signal<String> {
        let Tracks { sheet, current, .. } = self.tracks;
        Signal::derive(move || {
            let source = current.get();
            sheet.with(|sheet| sheet.position(source, track).map_or_else(String::new, |at| sheet.title(at)))
        })
    }

    /// The path of the track of the selected slice or counter, if other ranks can show it too.
    #[must_use]
    pub fn selected_path(self) -> Option<TrackPath> {
        let Tracks { sheet, current, offers, .. } = self.tracks;
        let source = current.get();
        if source.rank.is_all() || !offers.get().are_several() {
            return None;
        }
        let read = self.session.view.with(|view| view.selection.reading.clone());
        sheet.with(|sheet| {
            let at = match read {
                Some(reading) => sheet.find(source, &reading.track)?,
                None => sheet.position(source, self.current.slice.get()?.ok()?.slice.track)?,
            };
            let track = &sheet.tracks()[at];
            Some(track.pin.as_ref().unwrap_or(&track.path).clone())
        })
    }

    /// Executes a command of the user.
    pub fn act(self, command: &Command) {
        let source = match command {
            Command::OpenRank(source) | Command::InRank { source, .. } => Some(*source),
            _ => self.current.source.get_untracked(),
        };
        let segment = source.and_then(|source| self.ranks.segment_untracked(source));
        self.session.address.apply(command, self.times.reach.get_untracked(), segment.as_deref());
    }

    /// Copies a link to exactly this view.
    pub fn copy_link(self) {
        let link = self.session.address.full_link(&PagePlace::Profile(self.session.view.get_untracked()));
        let hint = link_hint::hint(&link);
        clipboard::copy(link, "Link to this view", hint, self.session.messages);
    }

    /// Shows another view as a new step in the history.
    pub fn open_view(self, view: View) {
        self.session.address.open(PagePlace::Profile(view));
    }

    /// The address and history of the page.
    #[must_use]
    pub fn address(self) -> Address {
        self.session.address
    }

    /// Replaces the view by one that the user did not ask for, without a step in the history.
    pub fn amend(self, view: View) {
        self.session.address.amend(view);
    }

    /// The rank that the view names, once it is present.
    fn shown_rank(self) -> Option<Arc<RankDetail>> {
        let (source, rank) = self.current.shown.get()?;
        rank.ok().filter(|_| Some(source) == self.current.source.get())
    }

    /// The visible span.
    #[must_use]
    pub fn window(self) -> Interval {
        let reach = self.times.reach.get_untracked();
        self.session.view.with_untracked(|view| view.window_in(reach))
    }

    /// A thousandth of the whole profile, around a timestamp.
    #[must_use]
    pub fn around(self, ps: i64) -> Interval {
        let whole = self.times.whole.get_untracked();
        let half_ps = (whole.duration_ps() / 2_000).max(1);
        Interval::new(ps.saturating_sub(half_ps), ps.saturating_add(half_ps))
    }

    /// Selects a slice and brings it into sight.
    pub fn reveal(self, slice: &SliceEntry) {
        let SliceEntry { row, start_ps, duration_ps, track, .. } = *slice;
        let (sheet, source) = (self.tracks.sheet.get_untracked(), self.tracks.current.get_untracked());
        let hidden_by = sheet.position(source, track).map_or_else(Vec::new, |at| {
            self.session.view.with_untracked(|view| view.tracks.hidden_by(&sheet, at))
        });
        self.act(&Command::Reveal { row, start_ps, duration_ps, hidden_by });
    }

    /// Like [`Opened::reveal`], for a slice of which only the row is known.
    pub fn reveal_row(self, row: u32) {
        let source = self.current.source.get_untracked();
        source.into_iter().for_each(|source| self.reveal_in(source, row));
    }

    /// Opens a rank and brings one of its slices into sight.
    pub fn reveal_in(self, source: SourceId, row: u32) {
        spawn_while_shown(self.profile.info, async move {
            match self.ask(source, SliceQuestion { row }, None).await {
                Ok(detail) if self.current.source.get_untracked() == Some(source) => {
                    self.reveal(&detail.slice)
                }
                Ok(detail) => {
                    let SliceEntry { row, start_ps, duration_ps, track, .. } = detail.slice;
                    // Without its groups the slice is selected, and perhaps hidden.
                    let of_rank = self.ask(source, DetailQuestion, None).await.ok();
                    let hidden_by = of_rank.map_or_else(Vec::new, |of| self.hidden_by(of, track));
                    let reveal = Command::Reveal { row, start_ps, duration_ps, hidden_by };
                    self.act(&Command::InRank { source, then: Box::new(reveal) });
                    // Hits of another rank would hide it.
                    self.show_details();
                }
                Err(error) => {
                    let again = Callback::new(move |()| self.reveal_in(source, row));
                    self.session.messages.fail(format!("The slice was not found: {error}"), Some(again));
                }
            }
        });
    }
}

/// The view that the address names.
fn view_of(address: Address) -> Memo<View> {
    let place = address.place();
    Memo::new(move |before: Option<&View>| {
        // While the page changes to another place, this component still exists for a moment.
        place.with(|place| place.view().cloned()).or_else(|| before.cloned()).unwrap_or_default()
    })
}

/// Time of the profiles, and how it is shown.
fn times(
    profiles: Memo<ProfilesAnswer>,
    rank: Signal<Answer<RankDetail>>,
    view: Memo<View>,
    frame: Memo<TimeFrame>,
) -> Times {
    let (whole, reach) = spans(profiles, rank, frame);
    let zero = zero(profiles, rank, frame);
    let tracks_size = RwSignal::new(Size::default());
    let clock = Memo::new(move |_| {
        let window = view.with(|view| view.window_in(reach.get()));
        let width_px = tracks_size.get().width_px;
        let width_px = if width_px > 0.0 { width_px } else { USUAL_PX };
        let scale = TimeScale { window, width_px };
        Clock::new(&scale, zero.get().0)
    });
    Times { whole, zero, reach, clock, tracks_size }
}

/// The current rank: that of the view, else the one that the profiles open with. Several profiles
/// open with a rank, in which each of them has tracks of the same names.
fn current_source(profiles: Memo<ProfilesAnswer>, view: Memo<View>) -> Memo<Option<SourceId>> {
    Memo::new(move |_| {
        // The profiles know the axes, without which no time can be asked for.
        let (first, first_rank) = known(profiles, |profiles| {
            let mut ranks = profiles.first()?.ranks.iter().map(|rank| rank.rank);
            let first = ranks.clone().next()?;
            let first_rank = ranks.find(|rank| !rank.is_all()).unwrap_or(first);
            Some((if profiles.len() > 1 { first_rank } else { first }, first_rank))
        })??;
        let first_of = |view: &View| SourceId::of_first(if view.is_bare { first } else { first_rank });
        Some(view.with(|view| view.tracks.current.unwrap_or_else(|| first_of(view))))
    })
}

/// Makes the page's choice of all ranks a part of the address, so that a reload makes the same.
fn keep_choice(address: Address, source: Memo<Option<SourceId>>, view: Memo<View>) {
    Effect::new(move |_| {
        let all = source.get().filter(|source| source.rank.is_all());
        let chosen = view.with(|view| (all.is_some() && view.tracks.current.is_none()).then(|| view.clone()));
        if let Some(mut view) = chosen {
            (view.tracks.current, view.is_bare) = (all, false);
            address.amend(view);
        }
    });
}

/// The current rank. The previous rank stays until the next one is present, but never in its place:
/// after a quick switch there and back, the page must not end on the other rank.
fn shown_rank(ranks: RankDetails, source: Memo<Option<SourceId>>) -> Memo<ShownRank> {
    Memo::new(move |before: Option<&ShownRank>| {
        let present = source.get().and_then(|source| Some((source, ranks.get(source)?)));
        present.or_else(|| before.cloned().flatten())
    })
}

fn slice_resource(
    of: ProfileSource,
    source: Memo<Option<SourceId>>,
    view: Memo<View>,
    attempt: RwSignal<u32>,
) -> Signal<Answer<SliceDetail>> {
    let wanted = Memo::new(move |_| source.get().zip(view.with(|view| view.selection.row)));
    let asked =
        QuestionAnswers::new_with(attempt, wanted, move |(source, row): (SourceId, u32), _| async move {
            of.rank(source).ask(SliceQuestion { row }, None).await
        });
    // The last answer stays until the next one, but must not pass for the answer about another
    // slice.
    Signal::derive(move || {
        let wanted = wanted.get()?;
        asked.last.get().filter(|(of, _)| *of == wanted).map(|(_, answer)| answer)
    })
}
