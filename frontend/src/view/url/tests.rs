//! Laws of addresses, and one link of each version.

use super::*;
use crate::view::ranks::spread::OperationTime;
use crate::view::rows::layout::RankHeight;
use crate::view::rows::pins::Pins;
use crate::view::rows::track_path::Paths;
use crate::view::shell::panel::{PANELS, PanelSide};
use crate::view::source_id::SourceId;
use crate::view::state::compare::CompareState;
use crate::view::state::mute::{MuteChange, MutedFindings};
use crate::view::state::orders::{Orders, PanelTable};
use crate::view::state::panels::{PanelState, PanelsState};
use crate::view::state::plots::{PlotsState, WaitLine};
use crate::view::state::profile_names::ProfileNames;
use crate::view::state::search::SearchState;
use crate::view::state::selection::SelectionState;
use crate::view::state::tracks::TracksState;
use crate::view::table::Sorting;
use crate::view::{DataView, Reading};
use nprof_engine::insight::difference::WorkKey;
use nprof_engine::makers::job::activity::ActivityQuantity;
use nprof_engine::wire::rank_ref::RankRef;
use proptest::option;
use proptest::prelude::*;

fn intervals() -> impl Strategy<Value = Interval> {
    (any::<i64>(), any::<i64>()).prop_map(|(a, b)| Interval::new(a.min(b), a.max(b)))
}

fn path() -> impl Strategy<Value = TrackPath> {
    proptest::collection::vec("\\PC{0,6}", 1..3).prop_map(|names| {
        let mut paths = Paths::default();
        let deeper = |above: Option<TrackPath>, name: String| Some(paths.next(above.as_ref(), &name));
        names.into_iter().fold(None, deeper).expect("there is a name")
    })
}

fn rank() -> impl Strategy<Value = RankRef> {
    prop_oneof![Just(RankRef::All), any::<u32>().prop_map(RankRef::Number)]
}

/// A rank of one of two profiles.
fn source() -> impl Strategy<Value = SourceId> {
    (rank(), 0..2_u8).prop_map(|(rank, profile)| SourceId { rank, profile })
}

fn tracks() -> impl Strategy<Value = TracksState> {
    let top = || {
        let parts = (option::of(source()), path(), any::<u32>());
        option::of(parts.prop_map(|(source, path, lane)| TopRow { source, path, lane }))
    };
    let groups = proptest::collection::btree_map(path(), any::<bool>(), 0..4);
    let ranks = proptest::collection::btree_set(rank(), 0..4);
    let order = proptest::sample::select(&RankOrder::ALL[..]);
    let height = any::<bool>().prop_map(|fits| if fits { RankHeight::Fit } else { RankHeight::Usual });
    let pins =
        (proptest::collection::btree_set(path(), 0..3), proptest::sample::select(&PinnedRanks::ALL[..]));
    let pins = pins.prop_map(|(paths, of)| Pins { paths, of });
    (option::of(source()), ranks, groups, (top(), top()), order, height, pins).prop_map(
        |(current, ranks, groups, (top, pins_top), order, height, pins)| TracksState {
            current,
            ranks,
            groups,
            top,
            pins_top,
            order,
            height,
            pins,
        },
    )
}

fn selection() -> impl Strategy<Value = SelectionState> {
    let reading = (path(), any::<i64>()).prop_map(|(track, time_ps)| Reading { track, time_ps });
    let marked_slice = option::of("\\PC{1,8}");
    (option::of(any::<u32>()), option::of(reading), option::of(intervals()), marked_slice).prop_map(
        |(row, reading, marked, marked_slice)| SelectionState {
            row,
            reading,
            marked,
            marked_slice,
            of_hits: false,
        },
    )
}

fn panel(side: PanelSide) -> impl Strategy<Value = PanelState> {
    let size_px = option::of(
        any::<u32>()
            .prop_filter("the default size is left out", move |size_px| *size_px != side.default_px()),
    );
    (option::of(any::<bool>()), size_px).prop_map(|(is_open, size_px)| PanelState { is_open, size_px })
}

fn panels() -> impl Strategy<Value = PanelsState> {
    let tab = option::of(proptest::sample::select(&PANELS[..]).prop_map(|row| row.tab));
    (tab, panel(PanelSide::Dock), panel(PanelSide::Drawer)).prop_map(|(tab, dock, drawer)| PanelsState {
        tab,
        dock,
        drawer,
    })
}

fn orders() -> impl Strategy<Value = Orders> {
    let sorting =
        ("[a-z_0-9,%&]{1,6}", any::<bool>()).prop_map(|(column, descending)| Sorting { column, descending });
    let one = (proptest::sample::select(&PanelTable::ALL[..]), sorting);
    proptest::collection::vec(one, 0..4).prop_map(|chosen| {
        let with = |orders: Orders, (table, sorting)| orders.with(table, Some(sorting));
        chosen.into_iter().fold(Orders::default(), with)
    })
}

fn plots() -> impl Strategy<Value = PlotsState> {
    let line =
        prop_oneof![any::<u32>().prop_map(WaitLine::Rank), Just(WaitLine::Median), Just(WaitLine::Range)];
    let kinds = proptest::collection::btree_set("\\PC{1,8}", 0..3);
    let lines = proptest::collection::btree_set(line, 0..4);
    let heat = proptest::sample::select(&ActivityQuantity::ALL[..]);
    (proptest::sample::select(&OperationTime::ALL[..]), kinds, lines, heat).prop_map(
        |(time, hidden_kinds, hidden_lines, heat)| PlotsState { time, hidden_kinds, hidden_lines, heat },
    )
}

fn compare() -> impl Strategy<Value = CompareState> {
    let ranks = || option::of(proptest::collection::vec(any::<u32>(), 1..3));
    let by = proptest::sample::select(&WorkKey::WORDS[..]);
    (by, ranks(), ranks(), option::of("\\PC{1,8}")).prop_map(|((_, by), ranks, with_ranks, with_region)| {
        CompareState { by, ranks, with_ranks, with_region }
    })
}

fn muted() -> impl Strategy<Value = MutedFindings> {
    proptest::collection::vec("[a-z@%,0-9]{1,8}", 0..3).prop_map(|names| {
        let mut muted = MutedFindings::default();
        names.into_iter().for_each(|name| muted.apply(&MuteChange::Mute(name)));
        muted
    })
}

fn numbered() -> impl Strategy<Value = Numbered> {
    let toggled = proptest::collection::btree_set(any::<u32>(), 1..4);
    (toggled, option::of(any::<(u32, i64)>()), option::of(any::<u32>()))
        .prop_map(|(toggled, reading, top)| Numbered { toggled, reading, top })
}

proptest! {
    #[test]
    fn reading_what_was_written_gives_the_same_view(
        names in proptest::collection::vec("\\PC{1,12}", 2..4), tracks in tracks(), selection in selection(),
        window in option::of(intervals()), numbered in option::of(numbered()),
        (query, syntax) in ("\\PC{0,12}", prop_oneof![Just(Syntax::Query), Just(Syntax::Regex)]),
        (only_hits, of_hits) in any::<(bool, bool)>(),
        panels in panels(), (orders, plots, compare) in (orders(), plots(), compare()),
        (region, muted) in (option::of("\\PC{1,8}"), muted()),
        beside in proptest::collection::vec("\\PC{1,8}", 0..=MOST_BESIDE),
        of in option::of("[0-9a-f]{1,20}"),
        (timebase, later_ps) in (prop_oneof![Just(Timebase::Aligned), Just(Timebase::Raw)], any::<i64>()),
        place in proptest::sample::select(&ProfilePlace::ALL[..]),  filter in "\\PC{0,12}",
    ) {
        let has_query = !query.is_empty();
        let search = SearchState { only_hits: only_hits && has_query, query, syntax };
        let selection = SelectionState { of_hits: of_hits && has_query, ..selection };
        let data = DataView { filter, ..DataView::default() };
        let profiles = ProfileNames::of(names).unwrap();
        let view = View { profiles, place, data, window, timebase, later_ps, tracks, selection, search, panels, orders, plots, compare, region, beside, muted, numbered, of, is_bare: false };
        prop_assert_eq!(view.to_string().parse(), Ok(view));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,40}") {
        let _: Result<View, _> = format!("{PREFIX}{text}").parse();
    }
}

#[track_caller]
fn check_refused(url: &str, expected: &str) {
    let error = url.parse::<View>().expect_err(url);
    assert!(error.to_string().contains(expected), "{url} gave {error}");
}

#[test]
fn several_profiles_have_an_address() {
    let read = |url: &str| url.parse::<View>().unwrap();
    let profiles = |names: &[&str]| ProfileNames::of(names.iter().map(ToString::to_string)).unwrap();
    let view = read("/compare/a/b%2Fc");
    assert_eq!((view.profiles.clone(), view.is_bare), (profiles(&["a", "b/c"]), true));
    for url in ["/compare/a/b%2Fc", "/compare/a/b/data?v=2&rank=0.1&sel=4&row=0.1:Engines/Tensor"] {
        assert_eq!(read(url).to_string(), url);
    }
    for url in ["/compare/", "/compare/a//b"] {
        assert_eq!(url.parse::<View>(), Err(UrlError::NotAProfile), "{url}");
    }
    for url in ["/compare/a", "/compare/a/b/c/d/e/f/g/h/i"] {
        assert_eq!(url.parse::<View>(), Err(UrlError::Comparison), "{url}");
    }
    check_refused("/compare/a/b?rank=0.2", "\"rank\"");
    check_refused("/profile/a?row=0.1:x", "\"row\"");
}

#[test]
fn a_link_written_by_hand() {
    assert_eq!("/profile/x".parse(), Ok(View::of_profile("x")));
    let tracks = TracksState { current: Some(SourceId::of_first(4)), ..TracksState::default() };
    assert_eq!(
        "/profile/x/?else=3&rank=4".parse(),
        Ok(View { tracks, is_bare: false, ..View::of_profile("x") })
    );
    assert_eq!("/profile/a%2Fb%20c".parse(), Ok(View::of_profile("a/b c")));
    let search = SearchState { query: "\"all reduce=1\"".to_owned(), ..SearchState::default() };
    assert_eq!(
        "/profile/x?q=all+reduce%3D1".parse(),
        Ok(View { search, is_bare: false, ..View::of_profile("x") })
    );
    assert_eq!("/profile/x/timeline".parse(), Ok(View::of_profile("x")));
    let place = ProfilePlace::Summary;
    assert_eq!(
        "/profile/x/summary/?v=1".parse(),
        Ok(View { place, is_bare: false, ..View::of_profile("x") })
    );
}

#[test]
fn links_without_a_rank_keep_what_they_showed() {
    let read = |url: &str| url.parse::<View>().unwrap();
    // Written before there was a view of all ranks: about the first rank.
    assert!(!read("/profile/x?v=2&from=1&to=2").is_bare);
    assert!(read("/profile/x").is_bare);
    assert_eq!(View::of_profile("x").to_string(), "/profile/x");
    assert_eq!(
        read("/profile/x?v=2&rank=all&row=all:Ranks").tracks.current,
        Some(SourceId::of_first(RankRef::All))
    );
    let both = "/profile/x?v=2&rank=all&ranks=all,3&row=all:Ranks";
    assert_eq!(read(both).to_string(), both);
}

/// One link of each version. They are never changed: people keep links.
#[test]
fn links_of_all_versions_are_read() {
    let path = |text| TrackPath::read(text).expect("a path");
    let search = SearchState { query: "a b".to_owned(), syntax: Syntax::Regex, only_hits: false };
    let selection =
        SelectionState { row: Some(4), marked: Some(Interval::new(-5, 6)), ..SelectionState::default() };
    let common = View {
        window: Some(Interval::new(10, 20)),
        tracks: TracksState { current: Some(SourceId::of_first(1)), ..TracksState::default() },
        selection,
        search,
        panels: PanelsState { tab: Some(Tab::Details), ..PanelsState::default() },
        of: Some("57b3".to_owned()),
        is_bare: false,
        ..View::of_profile("p")
    };
    let first = "/profile/p?v=1&rank=1&from=10&to=20&sel=4&reading=7@1500&mark=-5..6&groups=1,2&q=a%20b\
                 &search=regex&tab=details&top=3&of=57b3";
    let numbered = Numbered { toggled: [1, 2].into(), reading: Some((7, 1_500)), top: Some(3) };
    assert_eq!(first.parse(), Ok(View { numbered: Some(numbered), ..common.clone() }));
    let second = "/profile/p?v=2&rank=1&ranks=1,7&from=10&to=20&sel=4&counter=Memory/HBM@1500&mark=-5..6\
                  &open=DMA/q%2520,DMA&closed=Engines&row=7:Engines/Tensor%232&q=a%20b&search=regex\
                  &tab=details&of=57b3";
    let mut view = common;
    view.selection.reading = Some(Reading { track: path("Memory/HBM"), time_ps: 1_500 });
    view.tracks.ranks = [1.into(), 7.into()].into();
    view.tracks.groups = [(path("DMA/q%20"), true), (path("DMA"), true), (path("Engines"), false)].into();
    view.tracks.top =
        Some(TopRow { source: Some(SourceId::of_first(7)), path: path("Engines/Tensor#2"), lane: 0 });
    assert_eq!(second.parse(), Ok(view));
}

/// The text of a link without a syntax is found as a text.
#[test]
fn texts_of_links_become_queries() {
    let query = |link: &str| {
        let view: View = link.parse().expect("a link");
        assert_eq!(view.search.syntax, Syntax::Query, "{link}");
        view.search.query
    };
    assert_eq!(query("/profile/p?v=2&q=MATMUL"), "MATMUL");
    assert_eq!(query("/profile/p?v=2&q=a%20b"), "\"a b\"");
    assert_eq!(query("/profile/p?v=2&q=a:b&search=text"), "\"a:b\"");
    assert_eq!(query("/profile/p?v=2&q=a:b&search=query"), "a:b");
    assert_eq!(query("/profile/p?v=2"), "");
}

/// A link of version 2 with the parameters that came after the one above. It is never changed.
#[test]
fn a_link_with_all_choices_of_version_2_is_read() {
    let link = "/profile/p/data?v=2&rank=all&mark=1..9&marked=step%235&pin=Engines/Tensor&pin_ranks=latest\
                &clock=raw&order=late&rows=fit&tab=plots&dock=closed&dock_px=500&drawer=open&drawer_px=340\
                &sort_names=count&sort_tracks=-self&sort_arrivals=rank&sort_warnings=-time&plot_time=transfer\
                &hide_kinds=all-gather&hide_lines=7,median&table=operation&sort=-bytes&filter=all&hide=group\
                &waits=shown&within=window";
    let view: View = link.parse().expect("a link of version 2");
    assert_eq!(view.place, ProfilePlace::Data);
    assert_eq!(view.selection.marked_slice.as_deref(), Some("step#5"));
    assert_eq!((view.timebase, view.tracks.order), (Timebase::Raw, RankOrder::Late));
    assert_eq!((view.tracks.height, view.tracks.pins.of), (RankHeight::Fit, PinnedRanks::Latest));
    assert_eq!(view.panels.drawer, PanelState { is_open: Some(true), size_px: Some(340) });
    assert_eq!(view.orders.of(PanelTable::Names), Sorting::from_name("count"));
    assert_eq!(view.plots.hidden_lines, [WaitLine::Rank(7), WaitLine::Median].into());
    assert!(view.data.with_waits && view.data.in_window);
    // Nothing of it is lost when it is written again, in whatever order.
    let parts = |url: &str| url.split('&').map(str::to_owned).collect::<BTreeSet<_>>();
    assert_eq!(parts(&view.to_string()), parts(link));
}

#[test]
fn a_link_names_the_first_visible_lane() {
    let link = "/profile/p?v=2&row=GPU%200/stream%207&lane=12";
    let view: View = link.parse().expect("a link of version 2");
    assert_eq!(view.tracks.top.as_ref().map(|top| top.lane), Some(12));
    assert_eq!(view.to_string(), link);
    // The order of parameters does not matter, and a lane without its track says nothing.
    assert_eq!("/profile/p?v=2&lane=12&row=GPU%200/stream%207".parse(), Ok(view));
    assert_eq!("/profile/p?v=2&lane=12".parse::<View>().expect("a link").to_string(), "/profile/p?v=2");
    check_refused("/profile/p?v=2&row=a&lane=-1", "\"lane\"");
}

#[test]
fn links_to_former_tabs_open_the_places() {
    let shown = |url: &str| url.parse::<View>().unwrap().to_string();
    assert_eq!(shown("/profile/x?v=1&rank=2&tab=summary"), "/profile/x/summary?v=2&rank=2");
    assert_eq!(shown("/profile/x?v=1&sel=7&tab=warnings"), "/profile/x/data?v=2&sel=7&table=~warnings");
}

#[test]
fn broken_links_say_what_is_wrong() {
    check_refused("/", "not that of a profile");
    check_refused("/profile/", "not that of a profile");
    check_refused("/profile/%zz", "not that of a profile");
    check_refused("/profile/x?v=3", "version 3");
    check_refused("/profile/x?from=1", "\"to\"");
    check_refused("/profile/x?from=2&to=1", "no earlier");
    check_refused("/profile/x?sel=-1", "\"sel\"");
    check_refused("/profile/x?reading=7", "\"reading\"");
    check_refused("/profile/x?mark=9..3", "\"mark\"");
    check_refused("/profile/x?groups=a", "\"groups\"");
    check_refused("/profile/x?open=a,,b", "\"open\"");
    check_refused("/profile/x?row=a:b", "\"row\"");
    check_refused("/profile/x?counter=7", "\"counter\"");
    check_refused("/profile/x?ranks=", "\"ranks\"");
    check_refused("/profile/x?search=glob", "text, regex or query");
    check_refused("/profile/x?q=%ff", "\"q\"");
    PANELS.iter().for_each(|row| check_refused("/profile/x?tab=3", row.name));
    check_refused("/profile/x?only=3", "\"only\" should be hits");
    check_refused("/profile/x?totals=3", "\"totals\" should be hits");
    check_refused("/profile/x?dock=yes", "\"dock\" should be open or closed");
    check_refused("/profile/x?drawer_px=tall", "\"drawer_px\"");
    check_refused("/profile/x?top=-1", "\"top\"");
    check_refused("/profile/x?of=xyz", "hexadecimal");
}

/// The command line and the API write links with a writer of their own.
#[test]
fn links_of_answers_are_read() {
    use nprof_engine::insight::finding::Place;
    use nprof_engine::wire::page_link::{page_of, place_in_page};

    let read = |place: &Place| {
        let url = format!("{}{}", page_of("run 7"), place_in_page(place).unwrap_or_default());
        url.parse::<View>().unwrap()
    };
    let slice = Place { span_ps: Some((100, 500)), row: Some(7), ..Place::of_rank(3) };
    let view = read(&slice);
    assert_eq!((view.profiles.first(), view.window), ("run 7", Some(Interval::new(0, 600))));
    assert_eq!((view.tracks.current, view.selection.row), (Some(SourceId::of_first(3)), Some(7)));
    let ranks = read(&Place { ranks: vec![1, 3], ..Place::of_span(10, 90) });
    assert_eq!(ranks.tracks.ranks, BTreeSet::from([1.into(), 3.into()]));
}
