//! The view as the path of a URL:
//! `/profile/<name>?v=1&rank=0&from=…&to=…&sel=…&reading=7@1500&mark=a..b&groups=1,2`, then
//! `&q=…&search=regex&tab=details&top=3&of=57b3d6ea1f6dd8da`.
//!
//! A versioned format: reading a written URL gives the same view. Times are picoseconds. Default
//! values are left out and unknown parameters are ignored. A link without a version is read as the
//! current one, so that people can write links by hand.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use nprof_engine::base::Interval;
use nprof_engine::query::Syntax;
use nprof_engine::wire::percent::{parameter_decoded, percent_decoded, percent_encoded};
use nprof_engine::wire::question::{syntax_name, syntax_of};

use super::data::WARNINGS_TABLE;
use super::place::{ProfilePlace, split_path};
use super::state::{Tab, View};

/// The version of the parameters.
const VERSION: u32 = 1;
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
        write!(f, "{PREFIX}{}{}?v={VERSION}", percent_encoded(&self.profile), self.place.path())?;
        if let Some(rank) = self.rank {
            write!(f, "&rank={rank}")?;
        }
        if let Some(window) = self.window {
            write!(f, "&from={}&to={}", window.start.0, window.end.0)?;
        }
        if let Some(row) = self.selected {
            write!(f, "&sel={row}")?;
        }
        if let Some(reading) = self.reading {
            write!(f, "&reading={reading}")?;
        }
        if let Some(span) = self.marked {
            write!(f, "&mark={}..{}", span.start.0, span.end.0)?;
        }
        let mut separator = "&groups=";
        for group in &self.toggled {
            write!(f, "{separator}{group}")?;
            separator = ",";
        }
        if !self.query.is_empty() {
            write!(f, "&q={}", percent_encoded(&self.query))?;
        }
        if self.syntax != Syntax::default() {
            write!(f, "&search={}", syntax_name(self.syntax))?;
        }
        if let Some(tab) = self.tab {
            write!(f, "&tab={}", tab_name(tab))?;
        }
        if let Some(track) = self.top {
            write!(f, "&top={track}")?;
        }
        if let Some(of) = &self.of {
            write!(f, "&of={of}")?;
        }
        write!(f, "{}", self.data)
    }
}

impl FromStr for View {
    type Err = UrlError;

    fn from_str(url: &str) -> Result<Self, UrlError> {
        let rest = url.strip_prefix(PREFIX).ok_or(UrlError::NotAProfile)?;
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (slug, place) = split_path(path);
        let profile = percent_decoded(slug).filter(|name| !name.is_empty()).ok_or(UrlError::NotAProfile)?;
        let mut view = Self { profile, place, ..Self::default() };
        let (mut from, mut to) = (None, None);
        for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            match name {
                "v" => match number("v", "a version number", value)? {
                    VERSION => {}
                    version => return Err(UrlError::NewerVersion(version)),
                },
                "rank" => view.rank = Some(number("rank", "the number of a rank", value)?),
                "from" => from = Some(number("from", PICOSECONDS, value)?),
                "to" => to = Some(number("to", PICOSECONDS, value)?),
                "sel" => view.selected = Some(number("sel", "the row of a slice", value)?),
                "reading" => view.reading = Some(number("reading", READING, value)?),
                "mark" => view.marked = Some(span(value)?),
                "groups" => view.toggled = groups(value)?,
                "q" => view.query = query_text(value)?,
                "search" => view.syntax = syntax(value)?,
                "tab" => view.open_tab(value)?,
                "of" => view.of = Some(content(value)?),
                "top" => view.top = Some(number("top", "the number of a track", value)?),
                _ => {
                    view.data.read(name, value)?;
                }
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

const READING: &str = "a counter's track and picoseconds, written 7@1500";
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

fn groups(text: &str) -> Result<BTreeSet<u32>, UrlError> {
    text.split(',').map(|id| number("groups", "numbers of groups with commas between", id)).collect()
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

fn tab_name(tab: Tab) -> &'static str {
    match tab {
        Tab::Details => "details",
        Tab::Selection => "selection",
        Tab::Search => "search",
    }
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
                let known = Tab::ALL.into_iter().find(|&tab| tab_name(tab) == name);
                let expected = "details, selection or search";
                self.tab = Some(known.ok_or(UrlError::Parameter { name: "tab", expected })?);
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
    use crate::view::{DataView, Reading};
    use proptest::prelude::*;

    fn intervals() -> impl Strategy<Value = Interval> {
        (any::<i64>(), any::<i64>()).prop_map(|(a, b)| Interval::new(a.min(b), a.max(b)))
    }

    proptest! {
        #[test]
        fn reading_what_was_written_gives_the_same_view(
            profile in "\\PC{1,12}", rank in proptest::option::of(any::<u32>()),
            window in proptest::option::of(intervals()), selected in proptest::option::of(any::<u32>()),
            marked in proptest::option::of(intervals()),
            toggled in proptest::collection::btree_set(any::<u32>(), 0..4),
            (query, syntax) in ("\\PC{0,12}", prop_oneof![Just(Syntax::Text), Just(Syntax::Regex)]),
            tab in proptest::option::of(proptest::sample::select(&Tab::ALL[..])),
            top in proptest::option::of(any::<u32>()),
            reading in proptest::option::of((any::<u32>(), any::<i64>())),
            of in proptest::option::of("[0-9a-f]{1,20}"),
            place in proptest::sample::select(&ProfilePlace::ALL[..]), filter in "\\PC{0,12}",
        ) {
            let reading = reading.map(|(track, time_ps)| Reading { track, time_ps });
            let data = DataView { filter, ..DataView::default() };
            let view =
                View { profile, place, data, rank, window, selected, reading, marked, toggled, query, syntax, tab, top, of };
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
        assert_eq!("/profile/x/?else=3&rank=4".parse(), Ok(View { rank: Some(4), ..View::of_profile("x") }));
        assert_eq!("/profile/a%2Fb%20c".parse(), Ok(View::of_profile("a/b c")));
        assert_eq!("/profile/x/timeline".parse(), Ok(View::of_profile("x")));
        let place = ProfilePlace::Summary;
        assert_eq!("/profile/x/summary/?v=1".parse(), Ok(View { place, ..View::of_profile("x") }));
        let query = "all reduce=1".to_owned();
        assert_eq!("/profile/x?q=all+reduce%3D1".parse(), Ok(View { query, ..View::of_profile("x") }));
    }

    #[test]
    fn links_to_former_tabs_open_the_places() {
        let shown = |url: &str| url.parse::<View>().unwrap().to_string();
        assert_eq!(shown("/profile/x?v=1&rank=2&tab=summary"), "/profile/x/summary?v=1&rank=2");
        assert_eq!(shown("/profile/x?v=1&sel=7&tab=warnings"), "/profile/x/data?v=1&sel=7&table=~warnings");
    }

    #[test]
    fn broken_links_say_what_is_wrong() {
        check_refused("/", "not that of a profile");
        check_refused("/profile/", "not that of a profile");
        check_refused("/profile/%zz", "not that of a profile");
        check_refused("/profile/x?v=2", "version 2");
        check_refused("/profile/x?from=1", "\"to\"");
        check_refused("/profile/x?from=2&to=1", "no earlier");
        check_refused("/profile/x?sel=-1", "\"sel\"");
        check_refused("/profile/x?reading=7", "\"reading\"");
        check_refused("/profile/x?mark=9..3", "\"mark\"");
        check_refused("/profile/x?groups=a", "\"groups\"");
        check_refused("/profile/x?search=glob", "text or regex");
        check_refused("/profile/x?q=%ff", "\"q\"");
        check_refused("/profile/x?tab=3", "details, selection");
        check_refused("/profile/x?top=-1", "\"top\"");
        check_refused("/profile/x?of=xyz", "hexadecimal");
    }
}
