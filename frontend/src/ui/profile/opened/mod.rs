//! The open profile: the state that all parts of its page read, and the only way to change it.

mod late;
mod profile_source;
mod rank_details;
mod rank_times;
mod shown_tracks;

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::wire::ask::AskRank;
use nprof_engine::wire::catalog::{ProfileInfo, RankDetail, RankEntry};
use nprof_engine::wire::detail::{SliceDetail, SliceEntry};
use nprof_engine::wire::questions::{DetailQuestion, RankQuestion, SliceQuestion};
use nprof_engine::wire::rank_ref::RankRef;
use web_sys::AbortSignal;

use crate::fetch::{FetchError, Source};
use crate::ui::shell::{Address, Answered, Asked, Messages, TimesOf, clipboard, spawn_while_shown};
use crate::ui::timeline::{Times, Tracks};
use crate::view::rows::sheet_track::SourceId;
use crate::view::rows::track_path::TrackPath;
use crate::view::url::local;
use crate::view::url::page::Place;
use crate::view::{Axes, Axis, Clock, Command, Tab, TimeScale, View};
use profile_source::{ProfileSource, ask_for_clocks, known, profile_of, spans, zero};
use rank_details::RankDetails;
use rank_times::RankTimes;
use shown_tracks::{content_of, offers_of, tracks_of};

/// An answer, or `None` while it is missing.
pub type Answer<T> = Option<Result<Arc<T>, FetchError>>;

/// The open profile.
#[derive(Clone, Copy)]
pub struct Opened {
    /// The current view.
    pub view: Memo<View>,
    /// The profile and its ranks.
    pub profile: Signal<Answer<ProfileInfo>>,
    /// The shown rank, once it is known.
    pub rank_number: Memo<Option<RankRef>>,
    /// The current rank. While another rank is in flight, the previous one stays.
    pub rank: Signal<Answer<RankDetail>>,
    /// The tracks of all shown ranks.
    pub tracks: Tracks,
    /// All details of the selected slice. `None` while they are in flight and if nothing is
    /// selected.
    pub selected: Signal<Answer<SliceDetail>>,
    /// Time of the profile, and how it is shown.
    pub times: Times,
    /// Times of all ranks.
    pub rank_times: RankTimes,
    /// Requests all missing answers again.
    pub retry: Callback<()>,
    ranks: RankDetails,
    address: Address,
    pub(super) messages: Messages,
    of: ProfileSource,
}

/// The width of a timeline that was not shown yet. The Data page can be opened first.
const USUAL_PX: f64 = 1000.0;

impl Opened {
    /// Starts to fetch the profile with this slug.
    #[must_use]
    pub fn new(slug: String) -> Self {
        let address = expect_context::<Address>();
        let place = address.place();
        let view = Memo::new(move |before: Option<&View>| {
            // While the page changes to another place, this component still exists for a moment.
            place.with(|place| place.view().cloned()).or_else(|| before.cloned()).unwrap_or_default()
        });
        let (slug, attempt) = (StoredValue::new(slug), RwSignal::new(0_u32));
        let (source, again) = (Source::of_page(), RwSignal::new(0_u32));
        let profile = profile_of(source, slug, attempt, again);
        let timebase = Memo::new(move |_| view.with(|view| view.timebase));
        let axes = Memo::new(move |_| {
            let base = timebase.get();
            Arc::new(known(profile, |profile| Axes::of(&profile.ranks, base)).unwrap_or_default())
        });
        provide_context(TimesOf(axes));
        let of = ProfileSource { source, slug, axes };
        let rank_number = current_number(profile, view);
        let info = Signal::derive(move || profile.get().map(|(_, answer)| answer));
        let rank_times = RankTimes::new(of, info, view, attempt);
        let content = content_of(profile, view, rank_number, rank_times);
        let wanted = Memo::new(move |_| content.with(|content| content.ranks().collect()));
        let ranks = RankDetails::new(of, wanted, attempt);
        let rank = current_rank(ranks, rank_number);
        let selected = slice_resource(of, rank_number, view, attempt);
        ask_for_clocks(of, profile, again);
        let (whole, reach) = spans(profile, rank, timebase);
        let zero = zero(profile, rank, timebase);
        keep_choice(address, rank_number, view);
        let tracks_px = RwSignal::new((0.0, 0.0));
        let clock = Memo::new(move |_| {
            let window = view.with(|view| view.window_in(reach.get()));
            let width_px = tracks_px.get().0;
            let width_px = if width_px > 0.0 { width_px } else { USUAL_PX };
            let scale = TimeScale { window, width_px };
            Clock::new(&scale, zero.get().0)
        });
        Self {
            view,
            profile: info,
            rank_number,
            rank,
            tracks: tracks_of(ranks, rank, content, (of, rank_times), offers_of(info)),
            selected,
            times: Times { whole, zero, reach, clock, tracks_px },
            rank_times,
            retry: Callback::new(move |()| attempt.update(|attempt| *attempt += 1)),
            ranks,
            address,
            messages: expect_context::<Messages>(),
            of,
        }
    }

    /// The profile's name for URLs.
    #[must_use]
    pub fn slug(self) -> String {
        self.of.slug.get_value()
    }

    /// The profile's name for people, as far as it is known.
    #[must_use]
    pub fn name(self) -> String {
        self.profile.with(|answer| match answer {
            Some(Ok(profile)) => profile.entry.display_name.clone(),
            _ => self.slug(),
        })
    }

    /// The answer to a question about a rank, unless the signal comes first.
    pub async fn ask<Q: AskRank + Clone + Into<RankQuestion>>(
        self,
        rank: impl Into<RankRef>,
        question: Q,
        cancel: Option<&AbortSignal>,
    ) -> Result<Q::Answer, FetchError> {
        self.of.rank(rank.into()).ask(question, cancel).await
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
        let Some(current) = self.rank_number.get_untracked() else { return };
        let base = self.view.with_untracked(|view| view.timebase).other();
        let axis = |base| self.ranks_untracked(|ranks| Axes::of(ranks, base).axis(current));
        let (from, to) = (axis(base.other()), axis(base));
        self.act(&Command::SetTimebase { base, from, to });
    }

    fn ranks_untracked<T>(self, of: impl Fn(&[RankEntry]) -> T) -> T {
        self.profile.with_untracked(|answer| match answer {
            Some(Ok(profile)) => of(&profile.ranks),
            _ => of(&[]),
        })
    }

    /// The rank, once it is present.
    #[must_use]
    pub fn rank_detail(self) -> Option<Arc<RankDetail>> {
        self.rank.get().and_then(Result::ok)
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
        let read = self.view.with(|view| view.selection.reading.clone());
        sheet.with(|sheet| {
            let at = match read {
                Some(reading) => sheet.find(source, &reading.track)?,
                None => sheet.position(source, self.selected.get()?.ok()?.slice.track)?,
            };
            let track = &sheet.tracks()[at];
            Some(track.pin.as_ref().unwrap_or(&track.path).clone())
        })
    }

    /// Executes a command of the user.
    pub fn act(self, command: &Command) {
        let rank = match command {
            Command::OpenRank(rank) | Command::InRank { rank, .. } => Some(*rank),
            _ => self.rank_number.get_untracked(),
        };
        let segment = rank.and_then(|rank| self.ranks.segment_untracked(rank));
        self.address.apply(command, self.times.reach.get_untracked(), segment.as_deref());
    }

    /// Copies a link to exactly this view.
    pub fn copy_link(self) {
        let link = self.address.full_link(&Place::Profile(self.view.get_untracked()));
        let hint = local::hint(&link);
        clipboard::copy(link, "Link to this view", hint, self.messages);
    }

    /// Replaces the view by one that the user did not ask for, without a step in the history.
    pub fn amend(self, view: View) {
        self.address.amend(view);
    }

    /// Returns true if there was a window before the shown one.
    #[must_use]
    pub fn can_undo(self) -> bool {
        self.address.can_undo(self.view.with(|view| view.window))
    }

    /// The rank that the view names, once it is present.
    fn shown_rank(self) -> Option<Arc<RankDetail>> {
        let number = self.rank_number.get();
        self.rank_detail().filter(|rank| Some(rank.entry.rank) == number)
    }

    /// The view with the window that is really shown, which can differ from the window in a link.
    fn corrected(self) -> View {
        let (reach, view) = (self.times.reach.get(), self.view.get());
        let window = view.window.map(|_| view.window_in(reach));
        View { window, ..view }
    }

    /// Corrects the address if a link names a window that cannot be shown.
    pub fn correct_address(self) {
        Effect::new(move |_| {
            let is_known = self.profile.with(|answer| matches!(answer, Some(Ok(_))));
            let corrected = self.corrected();
            if is_known && corrected.window != self.view.with(|view| view.window) {
                self.address.correct(&corrected);
            }
        });
    }

    /// Completes a link once its rank is present: track numbers of old links become paths. Numbers
    /// that belong to another segment are dropped, and the user is told. That happens if the trace
    /// was ingested again after the link was made, or if the page holds a part of the profile.
    pub fn complete_link(self) {
        Effect::new(move |_| {
            let Some(rank) = self.shown_rank() else { return };
            let view = self.view.get();
            if view.is_numbered_by_another(rank.entry.segment()) {
                let said =
                    "This link was made with another version of this profile: what it selects is not shown";
                self.messages.fail(said, None);
                self.address.amend(view.without_numbers());
            } else if view.numbered.is_some() {
                let sheet = self.tracks.sheet.get();
                self.address.amend(view.upgraded(&sheet, SourceId::of_rank(rank.entry.rank)));
            }
        });
    }

    /// The visible span.
    #[must_use]
    pub fn window(self) -> Interval {
        let reach = self.times.reach.get_untracked();
        self.view.with_untracked(|view| view.window_in(reach))
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
        let hidden_by = sheet
            .position(source, track)
            .map_or_else(Vec::new, |at| self.view.with_untracked(|view| view.tracks.hidden_by(&sheet, at)));
        self.act(&Command::Reveal { row, start_ps, duration_ps, hidden_by });
    }

    /// Like [`Opened::reveal`], for a slice of which only the row is known.
    pub fn reveal_row(self, row: u32) {
        let rank = self.rank_number.get_untracked();
        rank.into_iter().for_each(|rank| self.reveal_in(rank, row));
    }

    /// Opens a rank and brings one of its slices into sight.
    pub fn reveal_in(self, rank: RankRef, row: u32) {
        spawn_while_shown(self.profile, async move {
            match self.ask(rank, SliceQuestion { row }, None).await {
                Ok(detail) if self.rank_number.get_untracked() == Some(rank) => self.reveal(&detail.slice),
                Ok(detail) => {
                    let SliceEntry { row, start_ps, duration_ps, track, .. } = detail.slice;
                    // Without its groups the slice is selected, and perhaps hidden.
                    let of_rank = self.ask(rank, DetailQuestion, None).await.ok();
                    let hidden_by = of_rank.map_or_else(Vec::new, |of| self.hidden_by(of, track));
                    let reveal = Command::Reveal { row, start_ps, duration_ps, hidden_by };
                    self.act(&Command::InRank { rank, then: Box::new(reveal) });
                    // Hits of another rank would hide it.
                    self.act(&Command::ShowTab(Tab::Details));
                }
                Err(error) => {
                    let again = Callback::new(move |()| self.reveal_in(rank, row));
                    self.messages.fail(format!("The slice was not found: {error}"), Some(again));
                }
            }
        });
    }
}

/// The number of the current rank: that of the view, else the one that the profile opens with.
fn current_number(profile: RwSignal<Answered<u32, ProfileInfo>>, view: Memo<View>) -> Memo<Option<RankRef>> {
    Memo::new(move |_| {
        // The profile knows the axes, without which no time can be asked for.
        let (first, first_rank) = known(profile, |profile| {
            let mut ranks = profile.ranks.iter().map(|rank| rank.rank);
            let first = ranks.clone().next()?;
            Some((first, ranks.find(|rank| !rank.is_all()).unwrap_or(first)))
        })??;
        let first_of = |view: &View| if view.is_bare { first } else { first_rank };
        Some(view.with(|view| view.tracks.rank.unwrap_or_else(|| first_of(view))))
    })
}

/// Makes the page's choice of all ranks a part of the address, so that a reload makes the same.
fn keep_choice(address: Address, rank_number: Memo<Option<RankRef>>, view: Memo<View>) {
    Effect::new(move |_| {
        let is_all = rank_number.get() == Some(RankRef::All);
        let chosen = view.with(|view| (is_all && view.tracks.rank.is_none()).then(|| view.clone()));
        if let Some(mut view) = chosen {
            (view.tracks.rank, view.is_bare) = (Some(RankRef::All), false);
            address.amend(view);
        }
    });
}

/// The current rank. The previous rank stays until the next one is present, but never in its place:
/// after a quick switch there and back, the page must not end on the other rank.
fn current_rank(ranks: RankDetails, number: Memo<Option<RankRef>>) -> Signal<Answer<RankDetail>> {
    let shown = Memo::new(move |before: Option<&Answer<RankDetail>>| {
        number.get().and_then(|number| ranks.get(number)).or_else(|| before.cloned().flatten())
    });
    Signal::derive(move || shown.get())
}

fn slice_resource(
    of: ProfileSource,
    rank: Memo<Option<RankRef>>,
    view: Memo<View>,
    attempt: RwSignal<u32>,
) -> Signal<Answer<SliceDetail>> {
    let wanted = Memo::new(move |_| rank.get().zip(view.with(|view| view.selection.row)));
    let asked = Asked::new_with(attempt, wanted, move |(rank, row): (RankRef, u32), _| async move {
        of.rank(rank).ask(SliceQuestion { row }, None).await
    });
    // The last answer stays until the next one, but must not pass for the answer about another
    // slice.
    Signal::derive(move || {
        let wanted = wanted.get()?;
        asked.last.get().filter(|(of, _)| *of == wanted).map(|(_, answer)| answer)
    })
}
