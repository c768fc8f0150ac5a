//! The view as the path of a URL:
//! `/profile/<name>?v=2&rank=0&ranks=0,7&from=…&to=…&sel=…&counter=Power@1500&mark=a..b`, then
//! `&open=DMA/q0&closed=Engines&row=Engines/Tensor&q=…&search=regex&tab=details`, then
//! `&of=57b3d6ea1f6dd8da`.
//!
//! A versioned format: reading a written URL gives the same view. Times are picoseconds, tracks are
//! paths ([`TrackPath`]). Default values are left out and unknown parameters are ignored. A link
//! without a version is read as the current one, so that people can write links by hand.
//!
//! Version 1 named tracks by number, in the parameters `groups`, `reading` and `top`. They are read
//! and written as [`Numbered`] until the tracks are known.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use nprof_engine::base::Interval;
use nprof_engine::query::Syntax;
use nprof_engine::wire::catalog::{rank_of_word, rank_word};
use nprof_engine::wire::percent::{parameter_decoded, percent_decoded, percent_encoded};
use nprof_engine::wire::question::{syntax_name, syntax_of};

use super::data::WARNINGS_TABLE;
use super::panel::Tab;
use super::place::{ProfilePlace, split_path};
use super::state::View;
use super::state::numbered::Numbered;
use super::state::tracks::TopRow;
use super::track_path::TrackPath;

/// The version of the parameters.
const VERSION: u32 = 2;
const PREFIX: &str = "/profile/";

/// Reasons why a URL is not a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UrlError {
    /// The path is not the path of a profile.
    NotAProfile,
    /// Written by a newer nprof.
    NewerVersion(u32),
    /// A parameter that cannot be read.
    Parameter {
        /// Name of the parameter.
        name: &'static str,
        /// Description of the expected value.
        expected: &'static str,
    },
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAProfile => f.write_str("this address is not that of a profile: open one from the list"),
            Self::NewerVersion(version) => {
                write!(f, "this link has version {version}, this nprof reads up to {VERSION}: upgrade nprof")
            }
            Self::Parameter { name, expected } => {
                write!(f, "the parameter \"{name}\" should be {expected}: correct or remove it")
            }
        }
    }
}

impl std::error::Error for UrlError {}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}{}", percent_encoded(&self.profile), self.place.path())?;
        let parameters = Parameters(self).to_string();
        match self.is_bare && parameters.is_empty() {
            true => Ok(()),
            false => write!(f, "?v={VERSION}{parameters}"),
        }
    }
}

/// The parameters of a view after the version, each with `&` before it.
struct Parameters<'a>(&'a View);

impl fmt::Display for Parameters<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(view) = self;
        if let Some(rank) = view.tracks.rank {
            write!(f, "&rank={}", rank_word(rank))?;
        }
        write_list(f, "ranks", view.tracks.ranks.iter().map(|rank| rank_word(*rank)))?;
        if let Some(window) = view.window {
            write!(f, "&from={}&to={}", window.start.0, window.end.0)?;
        }
        if let Some(row) = view.selection.row {
            write!(f, "&sel={row}")?;
        }
        if let Some(reading) = &view.selection.reading {
            write!(f, "&counter={}", legible(&reading.to_string()))?;
        }
        if let Some(span) = view.selection.marked {
            write!(f, "&mark={}..{}", span.start.0, span.end.0)?;
        }
        for (name, state) in GROUPS {
            let paths = view.tracks.groups.iter().filter(|(_, is_open)| **is_open == state);
            write_list(f, name, paths.map(|(path, _)| legible(path.as_str())))?;
        }
        if let Some(TopRow { rank, path }) = &view.tracks.top {
            let rank = rank.map_or_else(String::new, |rank| format!("{}:", rank_word(rank)));
            write!(f, "&row={rank}{}", legible(path.as_str()))?;
        }
        if let Some(numbered) = &view.numbered {
            write_numbered(f, numbered)?;
        }
        if !view.search.query.is_empty() {
            write!(f, "&q={}", percent_encoded(&view.search.query))?;
        }
        if view.search.syntax != Syntax::default() {
            write!(f, "&search={}", syntax_name(view.search.syntax))?;
        }
        write!(f, "{}", view.panels)?;
        if let Some(of) = &view.of {
            write!(f, "&of={of}")?;
        }
        write!(f, "{}", view.data)
    }
}

/// Parameters of opened and closed groups, with the value of [`TracksState::groups`].
///
/// [`TracksState::groups`]: super::state::tracks::TracksState::groups
const GROUPS: [(&str, bool); 2] = [("open", true), ("closed", false)];

/// Writes a parameter with commas between its items. Writes nothing if there are none.
fn write_list<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    items: impl IntoIterator<Item = T>,
) -> fmt::Result {
    for (at, item) in items.into_iter().enumerate() {
        match at {
            0 => write!(f, "&{name}={item}")?,
            _ => write!(f, ",{item}")?,
        }
    }
    Ok(())
}

fn write_numbered(f: &mut fmt::Formatter<'_>, numbered: &Numbered) -> fmt::Result {
    write_list(f, "groups", &numbered.toggled)?;
    if let Some((track, time_ps)) = numbered.reading {
        write!(f, "&reading={track}@{time_ps}")?;
    }
    numbered.top.map_or(Ok(()), |track| write!(f, "&top={track}"))
}

/// Escapes a path, but leaves the separators that a query may contain.
fn legible(path: &str) -> String {
    percent_encoded(path).replace("%2F", "/").replace("%40", "@")
}

impl FromStr for View {
    type Err = UrlError;

    fn from_str(url: &str) -> Result<Self, UrlError> {
        let rest = url.strip_prefix(PREFIX).ok_or(UrlError::NotAProfile)?;
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (slug, place) = split_path(path);
        let profile = percent_decoded(slug).filter(|name| !name.is_empty()).ok_or(UrlError::NotAProfile)?;
        let mut view = Self { profile, place, is_bare: query.is_empty(), ..Self::default() };
        let (mut from, mut to) = (None, None);
        for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            match name {
                "v" => match number("v", "a version number", value)? {
                    0..=VERSION => {}
                    version => return Err(UrlError::NewerVersion(version)),
                },
                "from" => from = Some(number("from", PICOSECONDS, value)?),
                "to" => to = Some(number("to", PICOSECONDS, value)?),
                _ => view.read(name, value)?,
            }
        }
        view.window = match (from, to) {
            (None, None) => None,
            (Some(from), Some(to)) if from <= to => Some(Interval::new(from, to)),
            (Some(_), Some(_)) => {
                return Err(UrlError::Parameter { name: "to", expected: "no earlier than \"from\"" });
            }
            (Some(_), None) => {
                return Err(UrlError::Parameter { name: "to", expected: "given with \"from\"" });
            }
            (None, Some(_)) => {
                return Err(UrlError::Parameter { name: "from", expected: "given with \"to\"" });
            }
        };
        Ok(view)
    }
}

impl View {
    /// Reads a parameter.
    fn read(&mut self, name: &str, value: &str) -> Result<(), UrlError> {
        match name {
            "rank" => self.tracks.rank = Some(rank("rank", "the number of a rank, or all", value)?),
            "ranks" => {
                let one = |word| rank("ranks", "numbers of ranks with commas between", word);
                self.tracks.ranks = value.split(',').map(one).collect::<Result<_, _>>()?;
            }
            "sel" => self.selection.row = Some(number("sel", "the row of a slice", value)?),
            "counter" => {
                self.selection.reading = Some(number("counter", COUNTER, &decoded("counter", value)?)?)
            }
            "mark" => self.selection.marked = Some(span(value)?),
            "open" => self.tracks.groups.extend(groups("open", value)?),
            "closed" => self.tracks.groups.extend(groups("closed", value)?),
            "row" => self.tracks.top = Some(top_row(&decoded("row", value)?)?),
            "q" => self.search.query = query_text(value)?,
            "search" => self.search.syntax = syntax(value)?,
            "tab" => self.open_tab(value)?,
            "of" => self.of = Some(content(value)?),
            "groups" => self.numbered().toggled = numbers("groups", GROUP_NUMBERS, value)?,
            "reading" => self.numbered().reading = Some(numbered_reading(value)?),
            "top" => self.numbered().top = Some(number("top", "the number of a track", value)?),
            _ => {
                let _is_known = self.panels.read(name, value)? || self.data.read(name, value)?;
            }
        }
        Ok(())
    }

    fn numbered(&mut self) -> &mut Numbered {
        self.numbered.get_or_insert_default()
    }
}

const COUNTER: &str = "the path of a counter and picoseconds, written Power@1500";
const ROW: &str = "the path of a track, written Engines/Tensor or 7:Engines/Tensor";
const PATHS: &str = "paths of groups with commas between";
const GROUP_NUMBERS: &str = "numbers of groups with commas between";
const READING: &str = "a counter's track and picoseconds, written 7@1500";
const PICOSECONDS: &str = "a whole number of picoseconds";

fn number<T: FromStr>(name: &'static str, expected: &'static str, text: &str) -> Result<T, UrlError> {
    text.parse().map_err(|_| UrlError::Parameter { name, expected })
}

fn rank(name: &'static str, expected: &'static str, text: &str) -> Result<u32, UrlError> {
    rank_of_word(text).ok_or(UrlError::Parameter { name, expected })
}

fn span(text: &str) -> Result<Interval, UrlError> {
    let expected = "two whole numbers of picoseconds, written 10..20";
    let (start, end) = text.split_once("..").ok_or(UrlError::Parameter { name: "mark", expected })?;
    let (start, end): (i64, i64) = (number("mark", expected, start)?, number("mark", expected, end)?);
    if end < start {
        return Err(UrlError::Parameter { name: "mark", expected });
    }
    Ok(Interval::new(start, end))
}

fn numbers(name: &'static str, expected: &'static str, text: &str) -> Result<BTreeSet<u32>, UrlError> {
    text.split(',').map(|id| number(name, expected, id)).collect()
}

/// Reads the paths of groups that are in the state of this parameter.
fn groups(name: &'static str, text: &str) -> Result<BTreeMap<TrackPath, bool>, UrlError> {
    let is_open = GROUPS.contains(&(name, true));
    let text = decoded(name, text)?;
    let path = |text| TrackPath::read(text).ok_or(UrlError::Parameter { name, expected: PATHS });
    text.split(',').map(|text| Ok((path(text)?, is_open))).collect()
}

fn top_row(text: &str) -> Result<TopRow, UrlError> {
    let error = UrlError::Parameter { name: "row", expected: ROW };
    let (rank, path) = match text.split_once(':') {
        Some((number, path)) => (Some(rank("row", ROW, number)?), path),
        None => (None, text),
    };
    Ok(TopRow { rank, path: TrackPath::read(path).ok_or(error)? })
}

fn numbered_reading(text: &str) -> Result<(u32, i64), UrlError> {
    let (track, time_ps) =
        text.split_once('@').ok_or(UrlError::Parameter { name: "reading", expected: READING })?;
    Ok((number("reading", READING, track)?, number("reading", READING, time_ps)?))
}

fn decoded(name: &'static str, text: &str) -> Result<String, UrlError> {
    percent_decoded(text).ok_or(UrlError::Parameter { name, expected: "a text with %20 for a space" })
}

/// Decodes a search text. A search written by hand can have spaces as `+`.
fn query_text(text: &str) -> Result<String, UrlError> {
    let expected = "a text with %20 for a space";
    parameter_decoded(text).ok_or(UrlError::Parameter { name: "q", expected })
}

fn content(text: &str) -> Result<String, UrlError> {
    let is_content = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let expected = "the content of a segment, in hexadecimal";
    is_content.then(|| text.to_owned()).ok_or(UrlError::Parameter { name: "of", expected })
}

impl View {
    /// Opens the tab with this name. Links from before there were places name two of them as tabs.
    fn open_tab(&mut self, name: &str) -> Result<(), UrlError> {
        match name {
            "summary" => self.place = ProfilePlace::Summary,
            "warnings" => {
                self.place = ProfilePlace::Data;
                self.data.table = Some(WARNINGS_TABLE.to_owned());
            }
            _ => {
                let expected = "details, selection, search or ingest";
                let tab = Tab::from_name(name).ok_or(UrlError::Parameter { name: "tab", expected })?;
                self.panels.tab = Some(tab);
            }
        }
        Ok(())
    }
}

fn syntax(name: &str) -> Result<Syntax, UrlError> {
    syntax_of(name).ok_or(UrlError::Parameter { name: "search", expected: "text or regex" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::panel::{PANELS, Side};
    use crate::view::state::panels::{PanelState, PanelsState};
    use crate::view::state::search::SearchState;
    use crate::view::state::selection::SelectionState;
    use crate::view::state::tracks::TracksState;
    use crate::view::track_path::Paths;
    use crate::view::{DataView, Reading};
    use nprof_engine::wire::catalog::ALL_RANKS;
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

    fn tracks() -> impl Strategy<Value = TracksState> {
        let top = (option::of(any::<u32>()), path()).prop_map(|(rank, path)| TopRow { rank, path });
        let groups = proptest::collection::btree_map(path(), any::<bool>(), 0..4);
        let ranks = proptest::collection::btree_set(any::<u32>(), 0..4);
        (option::of(any::<u32>()), ranks, groups, option::of(top))
            .prop_map(|(rank, ranks, groups, top)| TracksState { rank, ranks, groups, top })
    }

    fn selection() -> impl Strategy<Value = SelectionState> {
        let reading = (path(), any::<i64>()).prop_map(|(track, time_ps)| Reading { track, time_ps });
        (option::of(any::<u32>()), option::of(reading), option::of(intervals()))
            .prop_map(|(row, reading, marked)| SelectionState { row, reading, marked })
    }

    fn panel(side: Side) -> impl Strategy<Value = PanelState> {
        let size_px = option::of(
            any::<u32>()
                .prop_filter("the default size is left out", move |size_px| *size_px != side.default_px()),
        );
        (option::of(any::<bool>()), size_px).prop_map(|(is_open, size_px)| PanelState { is_open, size_px })
    }

    fn panels() -> impl Strategy<Value = PanelsState> {
        let tab = option::of(proptest::sample::select(&PANELS[..]).prop_map(|row| row.tab));
        (tab, panel(Side::Dock), panel(Side::Drawer)).prop_map(|(tab, dock, drawer)| PanelsState {
            tab,
            dock,
            drawer,
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
            profile in "\\PC{1,12}", tracks in tracks(), selection in selection(),
            window in option::of(intervals()), numbered in option::of(numbered()),
            (query, syntax) in ("\\PC{0,12}", prop_oneof![Just(Syntax::Text), Just(Syntax::Regex)]),
            panels in panels(),
            of in option::of("[0-9a-f]{1,20}"),
            place in proptest::sample::select(&ProfilePlace::ALL[..]),  filter in "\\PC{0,12}",
        ) {
            let search = SearchState { query, syntax };
            let data = DataView { filter, ..DataView::default() };
            let view = View { profile, place, data, window, tracks, selection, search, panels, numbered, of, is_bare: false };
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
    fn a_link_written_by_hand() {
        assert_eq!("/profile/x".parse(), Ok(View::of_profile("x")));
        let tracks = TracksState { rank: Some(4), ..TracksState::default() };
        assert_eq!(
            "/profile/x/?else=3&rank=4".parse(),
            Ok(View { tracks, is_bare: false, ..View::of_profile("x") })
        );
        assert_eq!("/profile/a%2Fb%20c".parse(), Ok(View::of_profile("a/b c")));
        let search = SearchState { query: "all reduce=1".to_owned(), ..SearchState::default() };
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
        assert_eq!(read("/profile/x?v=2&rank=all&row=all:Ranks").tracks.rank, Some(ALL_RANKS));
        let both = "/profile/x?v=2&rank=all&ranks=3,all&row=all:Ranks";
        assert_eq!(read(both).to_string(), both);
    }

    /// One link of each version. They are never changed: people keep links.
    #[test]
    fn links_of_all_versions_are_read() {
        let path = |text| TrackPath::read(text).expect("a path");
        let search = SearchState { query: "a b".to_owned(), syntax: Syntax::Regex };
        let selection = SelectionState { row: Some(4), reading: None, marked: Some(Interval::new(-5, 6)) };
        let common = View {
            window: Some(Interval::new(10, 20)),
            tracks: TracksState { rank: Some(1), ..TracksState::default() },
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
        view.tracks.ranks = [1, 7].into();
        view.tracks.groups = [(path("DMA/q%20"), true), (path("DMA"), true), (path("Engines"), false)].into();
        view.tracks.top = Some(TopRow { rank: Some(7), path: path("Engines/Tensor#2") });
        assert_eq!(second.parse(), Ok(view));
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
        check_refused("/profile/x?search=glob", "text or regex");
        check_refused("/profile/x?q=%ff", "\"q\"");
        check_refused("/profile/x?tab=3", "details, selection");
        check_refused("/profile/x?dock=yes", "\"dock\" should be open or closed");
        check_refused("/profile/x?drawer_px=tall", "\"drawer_px\"");
        check_refused("/profile/x?top=-1", "\"top\"");
        check_refused("/profile/x?of=xyz", "hexadecimal");
    }
}
