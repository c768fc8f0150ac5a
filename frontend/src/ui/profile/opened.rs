//! The open profile: the state that all parts of its page read, and the only way to change it.

use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use nprof_engine::base::Interval;
use nprof_engine::wire::catalog::{ProfileInfo, RankDetail};
use nprof_engine::wire::detail::{SliceDetail, SliceEntry};

use super::field;
use crate::fetch::{FetchError, RankSource, Source};
use crate::ui::address::Address;
use crate::ui::message::Messages;
use crate::view::opening::{close_large_groups, hidden_by};
use crate::view::window::Reach;
use crate::view::{Clock, Command, Tab, TimeScale, View};

/// An answer, or `None` while it is missing.
pub type Answer<T> = Option<Result<Arc<T>, FetchError>>;

/// The open profile.
#[derive(Clone, Copy)]
pub struct Opened {
    /// The current view.
    pub view: Memo<View>,
    /// The profile and its ranks.
    pub profile: Signal<Answer<ProfileInfo>>,
    /// Number of the shown rank, once it is known.
    pub rank_number: Memo<Option<u32>>,
    /// The rank. While another rank is in flight, the previous one stays.
    pub rank: Signal<Answer<RankDetail>>,
    /// All details of the selected slice. `None` while they are in flight and if nothing is
    /// selected.
    pub selected: Signal<Answer<SliceDetail>>,
    /// From the first timestamp of all ranks to the last. Times count from its start.
    pub whole: Memo<Interval>,
    /// Limits of windows.
    pub reach: Memo<Reach>,
    /// Width and height of the tracks in CSS pixels; the timeline measures them.
    pub tracks_px: RwSignal<(f64, f64)>,
    /// Format of timestamps.
    pub clock: Memo<Clock>,
    /// The panel's content.
    pub tab: Memo<Tab>,
    /// Requests all missing answers again.
    pub retry: Callback<()>,
    address: Address,
    messages: Messages,
    of: ProfileSource,
}

/// The source of answers about the open profile.
#[derive(Debug, Clone, Copy)]
struct ProfileSource {
    source: Source,
    slug: StoredValue<String>,
}

impl ProfileSource {
    fn rank(self, rank: u32) -> RankSource {
        self.source.rank(self.slug.get_value(), rank)
    }
}

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
        let of = ProfileSource { source: Source::of_page(), slug: StoredValue::new(slug) };
        let attempt = RwSignal::new(0_u32);
        let profile = LocalResource::new(move || {
            attempt.track();
            let slug = of.slug.get_value();
            async move { of.source.profile(&slug).await.map(Arc::new) }
        });
        let rank_number = Memo::new(move |_| {
            view.with(|view| view.rank).or_else(|| {
                profile.with(|answer| match answer {
                    Some(Ok(profile)) => profile.ranks.first().map(|rank| rank.rank),
                    _ => None,
                })
            })
        });
        let rank = rank_resource(of, rank_number, attempt);
        let selected = slice_resource(of, rank_number, view, attempt);
        let profile = Signal::derive(move || profile.get());
        let whole = Memo::new(move |_| whole(profile, rank));
        let reach = Memo::new(move |_| Reach { whole: whole.get(), active: active(profile) });
        let tracks_px = RwSignal::new((0.0, 0.0));
        let clock = Memo::new(move |_| {
            let window = view.with(|view| view.window_in(reach.get()));
            let scale = TimeScale { window, width_px: tracks_px.get().0 };
            Clock::new(&scale, whole.get().start.0)
        });
        Self {
            view,
            profile,
            rank_number,
            rank,
            selected,
            whole,
            reach,
            tracks_px,
            clock,
            tab: Memo::new(move |_| view.with(View::shown_tab)),
            retry: Callback::new(move |()| attempt.update(|attempt| *attempt += 1)),
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

    /// The source of answers about a rank.
    #[must_use]
    pub fn ask(self, rank: u32) -> RankSource {
        self.of.rank(rank)
    }

    /// The rank, once it is present.
    #[must_use]
    pub fn rank_detail(self) -> Option<Arc<RankDetail>> {
        self.rank.get().and_then(Result::ok)
    }

    /// A track's name after the names of its groups. Empty until the rank is present.
    pub fn track_path(self, track: u32) -> Signal<String> {
        Signal::derive(move || {
            self.rank.with(|answer| match answer {
                Some(Ok(rank)) => field::track_path(&rank.tracks, track),
                _ => String::new(),
            })
        })
    }

    /// Executes a command of the user.
    pub fn act(self, command: &Command) {
        // Row and track numbers of the previous rank are meaningless in the next one.
        let is_other_rank = matches!(command, Command::OpenRank(_));
        let rank = if is_other_rank { None } else { untrack(|| self.shown_rank()) };
        let segment = rank.as_ref().map(|rank| rank.entry.segment());
        self.address.apply(command, self.reach.get_untracked(), segment);
    }

    /// The rank that the view names, once it is present.
    fn shown_rank(self) -> Option<Arc<RankDetail>> {
        let number = self.rank_number.get();
        self.rank_detail().filter(|rank| Some(rank.entry.rank) == number)
    }

    /// The view with the window that is really shown, which can differ from the window in a link.
    fn corrected(self) -> View {
        let (reach, view) = (self.reach.get(), self.view.get());
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

    /// Drops numbers in a link that belong to another segment, and reports it. That happens if the
    /// trace was ingested again after the link was made, or if the page holds a part of the
    /// profile.
    pub fn drop_foreign_numbers(self) {
        Effect::new(move |_| {
            let Some(rank) = self.shown_rank() else { return };
            let view = self.view.get();
            if view.is_numbered_by_another(rank.entry.segment()) {
                let said =
                    "This link was made with another version of this profile: what it selects is not shown";
                self.messages.fail(said, None);
                self.address.amend(view.without_numbers());
            }
        });
    }

    /// The visible span.
    #[must_use]
    pub fn window(self) -> Interval {
        let reach = self.reach.get_untracked();
        self.view.with_untracked(|view| view.window_in(reach))
    }

    /// A thousandth of the whole profile, around a timestamp.
    #[must_use]
    pub fn around(self, ps: i64) -> Interval {
        let whole = self.whole.get_untracked();
        let half_ps = (whole.duration_ps() / 2_000).max(1);
        Interval::new(ps.saturating_sub(half_ps), ps.saturating_add(half_ps))
    }

    /// Selects a slice and brings it into sight.
    pub fn reveal(self, slice: &SliceEntry) {
        let SliceEntry { row, start_ps, duration_ps, track, .. } = *slice;
        let hidden_by = self.rank.with_untracked(|answer| match answer {
            Some(Ok(rank)) => self.view.with_untracked(|view| hidden_by(&rank.tracks, view, track)),
            _ => Vec::new(),
        });
        self.act(&Command::Reveal { row, start_ps, duration_ps, hidden_by });
    }

    /// Like [`Opened::reveal`], for a slice of which only the row is known.
    pub fn reveal_row(self, row: u32) {
        let Some(rank) = self.rank_number.get_untracked() else { return };
        spawn_local(async move {
            match self.ask(rank).slice(row).await {
                Ok(detail) => self.reveal(&detail.slice),
                Err(error) => {
                    let again = Callback::new(move |()| self.reveal_row(row));
                    self.messages.fail(format!("The slice was not found: {error}"), Some(again));
                }
            }
        });
    }
}

/// From the first timestamp of all ranks to the last. If that is not known, the span of the shown
/// rank.
fn whole(profile: Signal<Answer<ProfileInfo>>, rank: Signal<Answer<RankDetail>>) -> Interval {
    let of_profile = profile.with(|answer| match answer {
        Some(Ok(profile)) => Some(Interval::new(profile.start_ps, profile.end_ps)),
        _ => None,
    });
    of_profile.unwrap_or_else(|| {
        rank.with(|answer| match answer {
            Some(Ok(rank)) => Interval::new(rank.entry.start_ps, rank.entry.end_ps),
            _ => Interval::default(),
        })
    })
}

/// The busiest time span of a profile.
fn active(profile: Signal<Answer<ProfileInfo>>) -> Option<Interval> {
    profile.with(|answer| match answer {
        Some(Ok(profile)) => profile.active_ps.map(|(start, end)| Interval::new(start, end)),
        _ => None,
    })
}

/// A rank's number with its answer.
type NumberedRank = (u32, Result<Arc<RankDetail>, FetchError>);

fn rank_resource(
    of: ProfileSource,
    number: Memo<Option<u32>>,
    attempt: RwSignal<u32>,
) -> Signal<Answer<RankDetail>> {
    let resource = LocalResource::new(move || {
        attempt.track();
        let number = number.get();
        async move {
            match number {
                Some(number) => Some((
                    number,
                    of.rank(number).detail().await.map(|mut rank| {
                        close_large_groups(&mut rank.tracks);
                        Arc::new(rank)
                    }),
                )),
                None => None,
            }
        }
    });
    let answer = apart(resource);
    // The previous rank stays until the next one is present, but never in its place. After a quick
    // switch there and back, the page must not end on the other rank.
    let shown = Memo::new(move |before: Option<&Option<NumberedRank>>| {
        let wanted = number.get();
        answer.get().filter(|(of, _)| Some(*of) == wanted).or_else(|| before.cloned().flatten())
    });
    Signal::derive(move || shown.get().map(|(_, answer)| answer))
}

/// Do not read a resource and its source in the same closure: a reader that checks the resource
/// first clears the source's change flag, and the fetch never starts. A memo between both keeps
/// them apart.
fn apart<T: Clone + PartialEq + Send + Sync + 'static>(
    resource: LocalResource<Option<T>>,
) -> Memo<Option<T>> {
    Memo::new(move |_| resource.get().flatten())
}

fn slice_resource(
    of: ProfileSource,
    rank: Memo<Option<u32>>,
    view: Memo<View>,
    attempt: RwSignal<u32>,
) -> Signal<Answer<SliceDetail>> {
    let wanted = Memo::new(move |_| rank.get().zip(view.with(|view| view.selected)));
    let resource = LocalResource::new(move || {
        attempt.track();
        let wanted = wanted.get();
        async move {
            match wanted {
                Some((rank, row)) => Some((wanted, of.rank(rank).slice(row).await.map(Arc::new))),
                None => None,
            }
        }
    });
    let answer = apart(resource);
    // The last answer stays until the next one, but must not pass for the answer about another
    // slice.
    Signal::derive(move || answer.get().filter(|(of, _)| *of == wanted.get()).map(|(_, answer)| answer))
}
