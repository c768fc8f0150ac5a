//! Arrangement of the parts of a profile's page, and the commands that do not belong to the
//! timeline.

use leptos::prelude::*;

use super::bar::Bar;
use super::compare::ComparePage;
use super::culprit::CulpritNotice;
use super::data::DataPage;
use super::finding_notice::{FindingNotice, SoughtFinding};
use super::found_places::found_places;
use super::missing_page::{Failed, failure};
use super::open_profile::Opened;
use super::panels::has_warnings;
use super::panels::{PanelFrame, Panels};
use super::rail::Rail;
use super::ranks::find_rank;
use super::ranks::{RankTabs, needs, open_neighbour, show_fewer, show_more};
use super::row_tooltip::HoverTip;
use super::search::Search;
use super::shown_bands::shown_bands;
use super::slice_menu::SliceMenu;
use super::summary::SummaryPage;
use crate::fetch::Source;
use crate::fetch::page_bundle::{Embedded, Unpacked};
use crate::ui::controls::Loading;
use crate::ui::shell::{Commands, Handler};
use crate::ui::text::format;
use crate::ui::timeline::{DrawnRun, Pointed, Timeline};
use crate::view::act::Need;
use crate::view::ring::Walk;
use crate::view::sought::Sought;
use crate::view::state::profile_names::ProfileNames;
use crate::view::{Act, Command, Hover, PanelSide, Point, ProfilePlace};

/// The page of one profile, or of several beside each other.
#[component]
pub fn ProfilePage(
    /// The profiles' names for URLs.
    names: ProfileNames,
) -> impl IntoView {
    let opened = Opened::new(names);
    opened.open_first_place();
    let search = Search::new(opened);
    let panels = Panels::new(opened, search);
    let run = Callback::new(move |act| search.run(act) || panels.run(act) || run(act, opened));
    let find = Callback::new(move |sought: Sought| found_places(opened, &sought));
    let given = Callback::new(move |()| given(opened));
    expect_context::<Commands>().handle(Handler { run, given, find: Some(find) });
    let failure = Memo::new(move |_| failure(opened));
    let place = Memo::new(move |_| opened.session.view.with(|view| view.place));
    opened.correct_address();
    opened.complete_link();
    Effect::new(move |_| document().set_title(&format!("{} · nprof", opened.name())));
    view! {
        <div class="profile">
            <Bar opened search />
            <div class="profile-body">
                <Rail opened />
                <div class="profile-place">
                    <RankTabs opened />
                    {move || match (failure.get(), place.get()) {
                        (Some(failure), _) => view! { <Failed opened failure /> }.into_any(),
                        (None, ProfilePlace::Summary) => view! { <SummaryPage opened /> }.into_any(),
                        (None, ProfilePlace::Data) => view! { <DataPage opened /> }.into_any(),
                        (None, ProfilePlace::Compare) => view! { <ComparePage opened /> }.into_any(),
                        (None, ProfilePlace::Timeline) => {
                            view! {
                                <div class="timeline-place">
                                    <div class="timeline-column">
                                        <TimelineArea opened search />
                                        <PanelFrame panels side=PanelSide::Drawer />
                                    </div>
                                    <PanelFrame panels side=PanelSide::Dock />
                                </div>
                            }
                                .into_any()
                        }
                    }}
                </div>
            </div>
        </div>
    }
}

/// Runs a command. Returns false if it belongs to another part of the page.
fn run(act: Act, opened: Opened) -> bool {
    match act {
        Act::PreviousRank => open_neighbour(opened, Walk::Backward),
        Act::NextRank => open_neighbour(opened, Walk::Forward),
        Act::MoreRanks => show_more(opened),
        Act::FewerRanks => show_fewer(opened),
        Act::PinTrack => {
            untrack(|| opened.selected_path()).into_iter().for_each(|path| opened.act(&Command::Pin(path)));
        }
        Act::Unpin => opened.act(&Command::Unpin),
        Act::SwitchClock => opened.switch_clock(),
        Act::FindRank => return find_rank(),
        Act::Undo => opened.address().undo(),
        Act::Redo => opened.address().redo(),
        Act::SwapRuns => return opened.swap_runs(),
        Act::NextOperation => return opened.step_to_finding(Walk::Forward),
        Act::PreviousOperation => return opened.step_to_finding(Walk::Backward),
        Act::GoTo(place) => opened.go_to_place(place),
        Act::CopyLink => opened.copy_link(),
        _ => return false,
    }
    true
}

/// The needs that the open profile meets.
fn given(opened: Opened) -> Vec<Need> {
    let (is_selected, is_searched) = opened.session.view.with(|view| {
        let is_selected = !view.selection.is_empty() || view.selection.marked.is_some();
        (is_selected, !view.search.query.is_empty())
    });
    let is_slice = matches!(opened.current.slice.get(), Some(Ok(_)));
    let met = [
        (Need::Profile, true),
        (Need::Pair, opened.can_compare()),
        (Need::Undo, opened.address().can_undo()),
        (Need::Redo, opened.address().can_redo()),
        (Need::Slice, is_slice),
        (Need::Selection, is_selected),
        (Need::TrackOfRanks, opened.selected_path().is_some()),
        (Need::Pins, opened.session.view.with(|view| !view.tracks.pins.paths.is_empty())),
        (Need::Search, is_searched),
        (Need::Warnings, has_warnings(opened)),
    ];
    met.into_iter().filter(|(_, is_met)| *is_met).map(|(need, _)| need).chain(needs(opened)).collect()
}

/// The notice about waiting, or the finding that the user followed.
#[component]
fn Notices(opened: Opened) -> impl IntoView {
    let is_followed = Memo::new(move |_| opened.findings.followed.get().is_some());
    move || match is_followed.get() {
        true => view! { <FindingNotice opened /> }.into_any(),
        false => view! { <SoughtFinding opened /> <CulpritNotice opened /> }.into_any(),
    }
}

#[component]
fn TimelineArea(opened: Opened, search: Search) -> impl IntoView {
    let hover = RwSignal::new(None::<Hover>);
    // Changes of the rank reach the timeline without creating it again.
    let here = Memo::new(move |_| {
        let is_rank_here = opened.current.rank.with(|answer| matches!(answer, Some(Ok(_))));
        // Times count from the profile's start, so nothing is shown before that is known.
        is_rank_here && opened.profile.info.with(|answer| matches!(answer, Some(Ok(_))))
    });
    let unpacked = Source::of_page().embedded().map(Embedded::unpacked);
    let loading = Signal::derive(move || match unpacked.and_then(|unpacked| unpacked.get()) {
        Some(Unpacked { rank, done_bytes, total_bytes }) => format!(
            "Unpacking {}: {} of {} …",
            rank.in_words(),
            format::bytes(done_bytes),
            format::bytes(total_bytes)
        ),
        None => "Loading the timeline …".to_owned(),
    });
    let selected = Signal::derive(move || opened.current.slice.get().and_then(Result::ok));
    let on_command = Callback::new(move |command: Command| opened.act(&command));
    let on_hover = Callback::new(move |at| hover.set(at));
    let pointed = Pointed::new(opened.session.view.into(), opened.tracks);
    let menu = RwSignal::new(None::<Point>);
    let on_menu = Callback::new(move |at: Point| menu.set(Some(at)));
    let bands = shown_bands(opened);
    let run = DrawnRun {
        path: opened.path.stretches,
        waits: opened.waits.stretches,
        light: search.lights.shown,
        overview: search.lights.overview,
    };
    view! {
        <main class="timeline-area">
            {move || if here.get() {
                view! {
                    <Timeline view=opened.session.view.into() tracks=opened.tracks times=opened.times bands selected run on_command pointed on_hover on_menu />
                    <Notices opened />
                }
                .into_any()
            } else {
                view! { <Loading what=loading /> }.into_any()
            }}
        </main>
        <HoverTip opened hover pointed />
        <SliceMenu opened at=menu />
    }
}
