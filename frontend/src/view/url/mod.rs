//! The view as the path of a URL:
//! `/profile/<name>?v=2&rank=0&ranks=0,7&from=…&to=…&sel=…&counter=Power@1500&mark=a..b`, then
//! `&open=DMA/q0&closed=Engines&row=Engines/Tensor&lane=3&pin=Engines/Tensor`, then
//! `&clock=raw&order=late&q=…&search=regex&tab=details&of=57b3d6ea1f6dd8da`.
//!
//! `/compare/<name>/<name>` is a view of several profiles. A rank of a further profile is written
//! with the profile's position: `rank=0.1` is rank 0 of the second one.
//!
//! A versioned format: reading a written URL gives the same view. Times are picoseconds, tracks are
//! paths ([`TrackPath`]). Default values are left out and unknown parameters are ignored. A link
//! without a version is read as the current one, so that people can write links by hand.
//!
//! Version 1 named tracks by number, in the parameters `groups`, `reading` and `top`. They are read
//! and written as [`Numbered`] until the tracks are known.

pub mod link_hint;
pub mod page;
pub mod single_profile;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use nprof_engine::base::Interval;
use nprof_engine::base::order::gathered;
use nprof_engine::query::Syntax;
use nprof_engine::wire::percent::{parameter_decoded, percent_decoded, percent_encoded};
use nprof_engine::wire::questions::{syntax_name, syntax_of};

use super::ranks::standing::RankOrder;
use super::rows::layout::RankHeight;
use super::rows::layout::sight::{RowPart, TopRow};
use super::rows::pins::PinnedRanks;
use super::rows::track_path::TrackPath;
use super::shell::panel::Tab;
use super::shell::place::{ProfilePlace, split_names, split_path};
use super::source_id::SourceId;
use super::state::data::WARNINGS_TABLE;
use super::time::axes::{TimeFrame, Timebase};
use crate::view::state::profile_names::ProfileNames;
use crate::view::state::search::SearchState;
use crate::view::state::track_numbers::Numbered;
use crate::view::state::tracks::TracksState;
use crate::view::state::url_error::{UrlError, VERSION};
use crate::view::state::{MOST_BESIDE, View};

const PREFIX: &str = "/profile/";
/// Begins the paths of views of several profiles.
const COMPARE_PREFIX: &str = "/compare/";

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_path(f, &self.profiles, self.place)?;
        let parameters = ViewParameters(self).to_string();
        match self.is_bare && parameters.is_empty() {
            true => Ok(()),
            false => write!(f, "?v={VERSION}{parameters}"),
        }
    }
}

/// Writes the path: the profiles and the place.
fn write_path(f: &mut fmt::Formatter<'_>, profiles: &ProfileNames, place: ProfilePlace) -> fmt::Result {
    if !profiles.are_several() {
        return write!(f, "{PREFIX}{}{}", percent_encoded(profiles.first()), place.path());
    }
    let names: Vec<String> = profiles.iter().map(|name| percent_encoded(name).to_string()).collect();
    write!(f, "{COMPARE_PREFIX}{}{}", names.join("/"), place.path_after(&names))
}

/// The profiles and the place of a path.
fn read_path(path: &str) -> Result<(ProfileNames, ProfilePlace), UrlError> {
    let name = |text: &str| {
        let name = percent_decoded(text).filter(|name| !name.is_empty());
        name.map(Cow::into_owned).ok_or(UrlError::NotAProfile)
    };
    if let Some(rest) = path.strip_prefix(COMPARE_PREFIX) {
        let (names, place) = split_names(rest);
        let names = names.into_iter().map(name).collect::<Result<_, _>>()?;
        return Ok((ProfileNames::compared(names).ok_or(UrlError::Comparison)?, place));
    }
    let (slug, place) = split_path(path.strip_prefix(PREFIX).ok_or(UrlError::NotAProfile)?);
    Ok((ProfileNames::one(&name(slug)?), place))
}

/// The parameters of a view after the version, each with `&` before it.
struct ViewParameters<'a>(&'a View);

impl fmt::Display for ViewParameters<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(view) = self;
        if let Some(current) = view.tracks.current {
            write!(f, "&rank={current}")?;
        }
        write_list(f, "ranks", &view.tracks.ranks)?;
        if let Some(window) = view.window {
            write!(f, "&from={}&to={}", window.start.0, window.end.0)?;
        }
        write_selection(f, view)?;
        for (name, state) in GROUPS {
            let paths = view.tracks.groups.iter().filter(|(_, is_open)| **is_open == state);
            write_list(f, name, paths.map(|(path, _)| legible(path.as_str())))?;
        }
        for parameters in &TOPS {
            if let Some(top) = view.tracks.top_of(parameters.part) {
                write_top(f, parameters, top)?;
            }
        }
        let pins = &view.tracks.pins;
        write_list(f, "pin", pins.paths.iter().map(|path| legible(path.as_str())))?;
        if pins.of != PinnedRanks::default() {
            write!(f, "&pin_ranks={}", pins.of.name())?;
        }
        write_frame(f, view.frame())?;
        if view.tracks.order != RankOrder::default() {
            write!(f, "&order={}", view.tracks.order.name())?;
        }
        if view.tracks.height == RankHeight::Fit {
            write!(f, "&rows={}", RankHeight::FIT)?;
        }
        if let Some(numbered) = &view.numbered {
            write_numbered(f, numbered)?;
        }
        write_search(f, &view.search)?;
        write!(f, "{}{}{}{}", view.panels, view.orders, view.plots, view.compare)?;
        write_regions(f, view)?;
        write!(f, "{}", view.muted)?;
        write_list(f, "of", &view.of)?;
        write!(f, "{}", view.data)
    }
}

/// The selection, the marked span, and the slices that are added up there.
fn write_selection(f: &mut fmt::Formatter<'_>, view: &View) -> fmt::Result {
    if let Some(row) = view.selection.row {
        write!(f, "&sel={row}")?;
    }
    if let Some(reading) = &view.selection.reading {
        write!(f, "&counter={}", legible(&reading.to_string()))?;
    }
    if let Some(span) = view.selection.marked {
        write!(f, "&mark={}..{}", span.start.0, span.end.0)?;
    }
    if let Some(name) = &view.selection.marked_slice {
        write!(f, "&marked={}", percent_encoded(name))?;
    }
    if view.summed_hits().is_some() {
        write!(f, "&totals={HITS}")?;
    }
    Ok(())
}

fn write_search(f: &mut fmt::Formatter<'_>, search: &SearchState) -> fmt::Result {
    if !search.query.is_empty() {
        write!(f, "&q={}", percent_encoded(&search.query))?;
    }
    if search.is_only_hits() {
        write!(f, "&only={HITS}")?;
    }
    // Without a syntax, an address states a text.
    if !search.query.is_empty() || search.syntax != SearchState::default().syntax {
        write!(f, "&search={}", syntax_name(search.syntax))?;
    }
    Ok(())
}

/// Names of the parameters of a first visible row.
struct TopParameters {
    part: RowPart,
    row: &'static str,
    lane: &'static str,
}

/// The parameters of each part of the rows.
const TOPS: [TopParameters; 2] = [
    TopParameters { part: RowPart::Others, row: "row", lane: "lane" },
    TopParameters { part: RowPart::Pinned, row: "pin_row", lane: "pin_lane" },
];
/// Parameters of opened and closed groups, with the value of [`TracksState::groups`].
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

fn write_frame(f: &mut fmt::Formatter<'_>, frame: TimeFrame) -> fmt::Result {
    if frame.base == Timebase::Raw {
        write!(f, "&clock={}", Timebase::RAW)?;
    }
    if frame.later_ps != 0 { write!(f, "&{LATER}={}", frame.later_ps) } else { Ok(()) }
}

fn write_regions(f: &mut fmt::Formatter<'_>, view: &View) -> fmt::Result {
    write_list(f, "region", view.region.iter().map(|region| percent_encoded(region)))?;
    write_list(f, "beside", view.beside.iter().map(|region| percent_encoded(region)))
}

fn write_top(f: &mut fmt::Formatter<'_>, parameters: &TopParameters, top: &TopRow) -> fmt::Result {
    let TopParameters { row: row_name, lane: lane_name, .. } = parameters;
    let TopRow { source, path, lane } = top;
    let source = source.map_or_else(String::new, |source| format!("{source}:"));
    write!(f, "&{row_name}={source}{}", legible(path.as_str()))?;
    // Links from before there were lanes have none.
    if *lane > 0 { write!(f, "&{lane_name}={lane}") } else { Ok(()) }
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
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let (profiles, place) = read_path(path)?;
        let search = SearchState::OF_TEXT;
        let mut view = Self { profiles, place, search, is_bare: query.is_empty(), ..Self::default() };
        let (mut from, mut to, mut lane, mut pins_lane) = (None, None, 0, 0);
        for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            match name {
                "v" => match number("v", "a version number", value)? {
                    0..=VERSION => {}
                    version => return Err(UrlError::NewerVersion(version)),
                },
                "from" => from = Some(number("from", PICOSECONDS, value)?),
                "to" => to = Some(number("to", PICOSECONDS, value)?),
                "lane" => lane = number("lane", LANE, value)?,
                "pin_lane" => pins_lane = number("pin_lane", LANE, value)?,
                _ => view.read(name, value)?,
            }
        }
        let TracksState { top, pins_top, .. } = &mut view.tracks;
        for (top, lane) in [(top, lane), (pins_top, pins_lane)] {
            top.iter_mut().for_each(|top| top.lane = lane);
        }
        view.window = window(from, to)?;
        view.search = view.search.upgraded();
        view.check_sources()?;
        Ok(view)
    }
}

fn window(from: Option<i64>, to: Option<i64>) -> Result<Option<Interval>, UrlError> {
    let refused = |name, expected| Err(UrlError::Parameter { name, expected });
    match (from, to) {
        (None, None) => Ok(None),
        (Some(from), Some(to)) if from <= to => Ok(Some(Interval::new(from, to))),
        (Some(_), Some(_)) => refused("to", "no earlier than \"from\""),
        (Some(_), None) => refused("to", "given with \"from\""),
        (None, Some(_)) => refused("from", "given with \"to\""),
    }
}

impl View {
    /// Refuses ranks of profiles that the address does not have.
    fn check_sources(&self) -> Result<(), UrlError> {
        let TracksState { current, top, pins_top, .. } = &self.tracks;
        let rows = [("row", top), ("pin_row", pins_top)];
        let rows = rows.map(|(name, top)| (name, top.as_ref().and_then(|top| top.source)));
        let mut sources = [("rank", *current)].into_iter().chain(rows);
        let is_unknown = |source: SourceId| self.profiles.at(source.profile).is_none();
        match sources.find(|(_, source)| source.is_some_and(is_unknown)) {
            Some((name, _)) => Err(UrlError::Parameter { name, expected: "of a profile of this address" }),
            None => Ok(()),
        }
    }

    /// Reads a parameter.
    fn read(&mut self, name: &str, value: &str) -> Result<(), UrlError> {
        match name {
            "rank" => self.tracks.current = Some(number("rank", "the number of a rank, or all", value)?),
            "ranks" => {
                let one = |word| number("ranks", "numbers of ranks with commas between", word);
                self.tracks.ranks = value.split(',').map(one).collect::<Result<_, _>>()?;
            }
            "sel" => self.selection.row = Some(number("sel", "the row of a slice", value)?),
            "counter" => {
                self.selection.reading = Some(number("counter", COUNTER, &decoded("counter", value)?)?)
            }
            "mark" => self.selection.marked = Some(span(value)?),
            "marked" => self.selection.marked_slice = Some(decoded("marked", value)?),
            "totals" if value == HITS => self.selection.of_hits = true,
            "totals" => return Err(UrlError::Parameter { name: "totals", expected: HITS }),
            "open" => self.tracks.groups.extend(groups("open", value)?),
            "closed" => self.tracks.groups.extend(groups("closed", value)?),
            "row" => self.tracks.top = Some(top_row("row", value)?),
            "pin_row" => self.tracks.pins_top = Some(top_row("pin_row", value)?),
            "pin" => self.tracks.pins.paths.extend(paths("pin", value)?),
            "pin_ranks" => self.tracks.pins.of = pinned_ranks(value)?,
            "clock" if value == Timebase::RAW => self.timebase = Timebase::Raw,
            "clock" => return Err(UrlError::Parameter { name: "clock", expected: Timebase::RAW }),
            LATER => self.later_ps = number(LATER, PICOSECONDS, value)?,
            "order" => self.tracks.order = order(value)?,
            "rows" if value == RankHeight::FIT => self.tracks.height = RankHeight::Fit,
            "rows" => return Err(UrlError::Parameter { name: "rows", expected: RankHeight::FIT }),
            "q" => self.search.query = query_text(value)?,
            "only" if value == HITS => self.search.only_hits = true,
            "only" => return Err(UrlError::Parameter { name: "only", expected: HITS }),
            "search" => self.search.syntax = syntax(value)?,
            "tab" => self.open_tab(value)?,
            "region" => self.region = Some(decoded("region", value)?).filter(|name| !name.is_empty()),
            "beside" => self.beside = regions_beside(value)?,
            "of" => self.of = Some(content(value)?),
            "groups" => self.numbered().toggled = numbers("groups", GROUP_NUMBERS, value)?,
            "reading" => self.numbered().reading = Some(numbered_reading(value)?),
            "top" => self.numbered().top = Some(number("top", "the number of a track", value)?),
            _ => {
                let _is_known = self.panels.read(name, value)?
                    || self.orders.read(name, value)?
                    || self.plots.read(name, value)?
                    || self.compare.read(name, value)?
                    || self.muted.read(name, value)?
                    || self.data.read(name, value)?;
            }
        }
        Ok(())
    }

    fn numbered(&mut self) -> &mut Numbered {
        self.numbered.get_or_insert_default()
    }
}

/// Parameter of the time by which the profiles after the first one stand later.
const TABS: &str = "details, findings, path, waits, what-if, regions, selection, search, ingest or plots";
const LATER: &str = "later";
/// Value of the parameter for tracks with hits alone.
const HITS: &str = "hits";
const COUNTER: &str = "the path of a counter and picoseconds, written Power@1500";
const ROW: &str = "the path of a track, written Engines/Tensor or 7:Engines/Tensor";
const PATHS: &str = "paths of tracks with commas between";
const GROUP_NUMBERS: &str = "numbers of groups with commas between";
const READING: &str = "a counter's track and picoseconds, written 7@1500";
const LANE: &str = "the number of a lane";
const PICOSECONDS: &str = "a whole number of picoseconds";

fn number<T: FromStr>(name: &'static str, expected: &'static str, text: &str) -> Result<T, UrlError> {
    text.parse().map_err(|_| UrlError::Parameter { name, expected })
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
    let numbers: Result<Vec<u32>, _> = text.split(',').map(|id| number(name, expected, id)).collect();
    numbers.map(gathered)
}

/// Reads the paths of groups that are in the state of this parameter.
fn groups(name: &'static str, text: &str) -> Result<BTreeMap<TrackPath, bool>, UrlError> {
    let is_open = GROUPS.contains(&(name, true));
    Ok(gathered(paths(name, text)?.into_iter().map(|path| (path, is_open))))
}

fn paths(name: &'static str, text: &str) -> Result<Vec<TrackPath>, UrlError> {
    let path = |text| TrackPath::read(text).ok_or(UrlError::Parameter { name, expected: PATHS });
    decoded(name, text)?.split(',').map(path).collect()
}

/// Reads names of regions. A name is escaped, so a comma is between two.
fn regions_beside(text: &str) -> Result<Vec<String>, UrlError> {
    let mut names: Vec<String> = Vec::new();
    for name in text.split(',').filter(|name| !name.is_empty()).take(MOST_BESIDE) {
        names.push(decoded("beside", name)?);
    }
    Ok(names)
}

fn pinned_ranks(name: &str) -> Result<PinnedRanks, UrlError> {
    let expected = "all, latest or shown";
    PinnedRanks::from_name(name).ok_or(UrlError::Parameter { name: "pin_ranks", expected })
}

fn top_row(name: &'static str, text: &str) -> Result<TopRow, UrlError> {
    let (error, text) = (UrlError::Parameter { name, expected: ROW }, decoded(name, text)?);
    let (source, path) = match text.split_once(':') {
        Some((source, path)) => (Some(number(name, ROW, source)?), path),
        None => (None, text.as_str()),
    };
    Ok(TopRow { source, path: TrackPath::read(path).ok_or(error)?, lane: 0 })
}

fn numbered_reading(text: &str) -> Result<(u32, i64), UrlError> {
    let (track, time_ps) =
        text.split_once('@').ok_or(UrlError::Parameter { name: "reading", expected: READING })?;
    Ok((number("reading", READING, track)?, number("reading", READING, time_ps)?))
}

fn decoded(name: &'static str, text: &str) -> Result<String, UrlError> {
    let text = percent_decoded(text).map(Cow::into_owned);
    text.ok_or(UrlError::Parameter { name, expected: "a text with %20 for a space" })
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
                let tab = Tab::from_name(name).ok_or(UrlError::Parameter { name: "tab", expected: TABS })?;
                self.panels.tab = Some(tab);
            }
        }
        Ok(())
    }
}

fn order(name: &str) -> Result<RankOrder, UrlError> {
    RankOrder::from_name(name)
        .ok_or(UrlError::Parameter { name: "order", expected: "rank, host, late or wait" })
}

fn syntax(name: &str) -> Result<Syntax, UrlError> {
    syntax_of(name).ok_or(UrlError::Parameter { name: "search", expected: "text, regex or query" })
}

#[cfg(test)]
mod tests;
