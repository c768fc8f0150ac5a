//! The place to which a number of a summary leads, with the commands that lead there.

use nprof_engine::base::Interval;
use nprof_engine::makers::{SummaryTarget, TimePart, summary_target};
use nprof_engine::query::slice::SUMMARY_SEPARATOR;
use nprof_engine::query::{FieldTest, Syntax, WordFilter};
use nprof_engine::wire::detail::FieldContent;
use nprof_engine::wire::page_link::window_around;
use nprof_engine::wire::summary::MetricPlaceEntry;

use crate::view::rows::layout::sight::{RowPart, TopRow};
use crate::view::rows::sheet::{Sheet, TITLE_SEPARATOR};
use crate::view::source_id::SourceId;
use crate::view::state::tracks::TracksState;
use crate::view::{Command, DataChange, ProfilePlace, Tab};

/// A place to which a number leads.
#[derive(Debug, Clone, PartialEq)]
pub enum NumberTarget {
    /// The place that a metric of all ranks states.
    Stated {
        /// Key of the metric's group.
        group: String,
        /// The place.
        place: MetricPlaceEntry,
    },
    /// The slices that a query finds.
    Slices(String),
    /// Tracks: the first one comes into sight, and the slices of all are found.
    Tracks(TrackName),
    /// The track of a counter.
    Counter(String),
    /// A part of the recording.
    Stretch(TimePart),
    /// A tab of the timeline.
    Tab(Tab),
    /// A table of the profile.
    Table(String),
    /// A table of metrics of the same page.
    Metrics(String),
}

/// The name of tracks, as a summary has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrackName {
    /// A word of it, or of the names of its groups.
    Word(String),
    /// The names of its groups and its own, with [`SUMMARY_SEPARATOR`] between them.
    Path(String),
}

/// A number whose place is sought.
#[derive(Debug, Clone, Copy)]
pub struct NumberSubject<'a> {
    /// Key of its group or table.
    pub group: &'a str,
    /// Exported name of the metric.
    pub metric: &'a str,
    /// The thing of the trace that it is about, if it is about one.
    pub row: Option<&'a str>,
    /// The value.
    pub value: &'a FieldContent,
    /// The place that it states itself.
    pub place: Option<&'a MetricPlaceEntry>,
}

impl NumberTarget {
    /// The place of a number. `None` if no place shows more than the number.
    #[must_use]
    pub fn of(subject: NumberSubject<'_>) -> Option<Self> {
        let NumberSubject { group, metric, row, value, place } = subject;
        if let Some(place) = place {
            return Some(Self::Stated { group: group.to_owned(), place: place.clone() });
        }
        let target = Self::named(summary_target(group, metric)?, row)?;
        // A query for nothing finds nothing.
        (!is_zero(value) || !matches!(target, Self::Slices(_))).then_some(target)
    }

    /// The place of a part of the time.
    #[must_use]
    pub fn of_time(target: SummaryTarget) -> Option<Self> {
        Self::named(target, None)
    }

    fn named(target: SummaryTarget, row: Option<&str>) -> Option<Self> {
        let row = || row.filter(|row| !row.trim().is_empty()).map(str::to_owned);
        let query = |filter: WordFilter| Self::Slices(filter.to_string());
        Some(match target {
            SummaryTarget::Slices(text) => Self::Slices(text.to_owned()),
            SummaryTarget::SlicesOfName => query(WordFilter::of_field("name", FieldTest::Is(vec![row()?]))),
            SummaryTarget::TextOfName => query(WordFilter::of_text(&row()?)),
            SummaryTarget::Tracks(word) => Self::Tracks(TrackName::Word(word.to_owned())),
            SummaryTarget::TrackOfName => Self::Tracks(TrackName::Path(row()?)),
            SummaryTarget::Counter(name) => Self::Counter(name.to_owned()),
            SummaryTarget::Stretch(part) => Self::Stretch(part),
            SummaryTarget::Waits => Self::Tab(Tab::Waits),
            SummaryTarget::Findings => Self::Tab(Tab::Findings),
            SummaryTarget::Table(name) => Self::Table(name.to_owned()),
            SummaryTarget::Metrics(key) => Self::Metrics(key.to_owned()),
        })
    }

    /// The query that finds the slices there, if there are any.
    #[must_use]
    pub fn query(&self) -> Option<String> {
        let field = |test| Some(WordFilter::of_field("track", test).to_string());
        match self {
            Self::Slices(query) => Some(query.clone()),
            Self::Tracks(TrackName::Word(word)) => field(FieldTest::Has(vec![word.clone()])),
            Self::Tracks(TrackName::Path(path)) => field(FieldTest::Is(vec![path.clone()])),
            _ => None,
        }
    }

    /// The effect of a click, in words.
    #[must_use]
    pub fn words(&self) -> &'static str {
        match self {
            Self::Stated { .. } => "Shows where it happened",
            Self::Slices(_) => "Finds its slices in the timeline",
            Self::Tracks(_) => "Shows the track in the timeline",
            Self::Counter(_) => "Shows the counter in the timeline",
            Self::Stretch(_) => "Shows this time in the timeline",
            Self::Tab(Tab::Waits) => "Shows the waits in the timeline",
            Self::Tab(_) => "Shows the findings",
            Self::Table(_) => "Opens the table",
            Self::Metrics(_) => "Shows the table below",
        }
    }

    /// The commands that lead there. `stretch` is the time of a part, if it is known. A stated
    /// place and a table of the page need no command.
    #[must_use]
    pub fn commands(&self, rows: ShownRows<'_>, stretch: Option<Interval>) -> Vec<Command> {
        let mut commands = Vec::new();
        match self {
            Self::Stated { .. } | Self::Metrics(_) => return commands,
            Self::Table(name) => return vec![Command::Data(DataChange::Open(name.clone()))],
            Self::Stretch(part) => {
                // Work of the active stretch is summed up beside it.
                let marks = stretch.filter(|_| part.is_active());
                commands.extend(marks.map(|span| Command::Mark(Some(span))));
                commands.extend(stretch.map(|span| Command::Show(window_around(span))));
                return commands;
            }
            Self::Tab(tab) => commands.push(Command::ShowTab(*tab)),
            Self::Tracks(name) => commands.extend(rows.reveal(|title| name.is_in(title))),
            Self::Counter(name) => {
                let own = |title: &str| title.rsplit(TITLE_SEPARATOR).next().map(str::to_owned);
                commands.extend(rows.reveal(|title| own(title).is_some_and(|own| own.starts_with(name))));
            }
            Self::Slices(_) => {}
        }
        let search = |query| [Command::SearchAs(Syntax::Query), Command::SearchFor(query)];
        commands.extend(self.query().into_iter().flat_map(search));
        commands.insert(0, Command::GoTo(ProfilePlace::Timeline));
        commands
    }
}

impl TrackName {
    /// Whether it is the name of the track with this title.
    fn is_in(&self, title: &str) -> bool {
        match self {
            Self::Word(word) => title.contains(word.as_str()),
            Self::Path(path) => title.split(TITLE_SEPARATOR).eq(path.split(SUMMARY_SEPARATOR)),
        }
    }
}

/// The rows of the timeline, as far as they are known.
#[derive(Debug, Clone, Copy)]
pub struct ShownRows<'a> {
    /// The tracks.
    pub sheet: &'a Sheet,
    /// The rank whose tracks are meant.
    pub source: SourceId,
    /// The open groups.
    pub tracks: &'a TracksState,
}

impl ShownRows<'_> {
    /// The commands that bring the first track into sight whose title passes.
    #[must_use]
    pub fn reveal(self, is_it: impl Fn(&str) -> bool) -> Vec<Command> {
        let Self { sheet, source, tracks } = self;
        // The headings of ranks are no part of names.
        let titles = sheet.titles_of(source);
        let numbers = sheet.source(source).map_or(&[][..], |rank| &rank.tracks);
        let mut found = titles.iter().zip(numbers).filter(|(title, _)| is_it(title));
        let Some(at) = found.next().and_then(|(_, track)| sheet.position(source, track.id)) else {
            return Vec::new();
        };
        let opened = tracks.hidden_by(sheet, at).into_iter();
        let opened = opened.map(|path| Command::SetGroup { path, is_open: true });
        let scroll = TopRow::of(sheet, at).map(|row| Command::ScrollTo(RowPart::Others, Some(row)));
        opened.chain(scroll).collect()
    }
}

fn is_zero(value: &FieldContent) -> bool {
    match *value {
        FieldContent::Int(value) => value == 0,
        FieldContent::Uint(value) => value == 0,
        FieldContent::Float(value) => value == 0.0,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::rows::layout::tests::tracks;
    use crate::view::rows::sheet::tests::sheet_with;

    fn target(group: &str, metric: &str, row: Option<&str>, value: f64) -> Option<NumberTarget> {
        let value = FieldContent::Float(value);
        NumberTarget::of(NumberSubject { group, metric, row, value: &value, place: None })
    }

    #[track_caller]
    fn check(found: Option<NumberTarget>, query: &str) {
        assert_eq!(found.and_then(|target| target.query()).as_deref(), Some(query));
    }

    #[test]
    fn numbers_lead_to_their_slices() {
        check(target("kernels_by_name", "sum", Some("gemm<a, b>"), 1.0), "name=\"gemm<a, b>\"");
        check(target("operators", "own_device_time", Some("aten::mm"), 1.0), "\"aten::mm\"");
        check(target("tensor_engine", "tensor_engine_active_time", None, 1.0), "track:Tensor");
        check(
            target("idle_by_stream", "host_wait", Some("GPU 0 / stream 7"), 1.0),
            "track=\"GPU 0 / stream 7\"",
        );
        check(target("data_movement", "spill_save_bytes", None, 1.0), "spill_save_bytes>0");
        assert_eq!(target("data_movement", "spill_save_bytes", None, 0.0), None, "no slice has any");
        assert_eq!(target("kernels_by_name", "sum", Some(" "), 1.0), None, "a name without letters");
        assert_eq!(target("overall", "total_time", None, 1.0), None);
    }

    #[test]
    fn a_track_comes_into_sight_with_its_groups_open() {
        let sheet = sheet_with(tracks("GPU 0/\n  stream 7\n  stream 8"));
        let source = sheet.sources()[0].id;
        let state = TracksState::default();
        let rows = ShownRows { sheet: &sheet, source, tracks: &state };
        let found = target("busy_share_by_track", "", Some("GPU 0 / stream 8"), 1.0).unwrap();
        let row = TopRow::of(&sheet, 2).unwrap();
        assert_eq!(row.path.as_str(), "GPU 0/stream 8");
        let commands = found.commands(rows, None);
        assert_eq!(commands[0], Command::GoTo(ProfilePlace::Timeline));
        assert!(commands.contains(&Command::ScrollTo(RowPart::Others, Some(row))), "{commands:?}");
        let query = "track=\"GPU 0 / stream 8\"".to_owned();
        assert_eq!(commands.last(), Some(&Command::SearchFor(query)));
        let gone = NumberTarget::Counter("Power".to_owned());
        assert_eq!(gone.commands(rows, None), [Command::GoTo(ProfilePlace::Timeline)]);
    }

    #[test]
    fn parts_of_the_time_lead_to_their_stretch() {
        let sheet = sheet_with(tracks("a"));
        let (source, state) = (sheet.sources()[0].id, TracksState::default());
        let rows = ShownRows { sheet: &sheet, source, tracks: &state };
        let span = Interval::new(0, 40);
        let start_up = NumberTarget::Stretch(TimePart::StartUp);
        assert_eq!(start_up.commands(rows, Some(span)), [Command::Show(Interval::new(-10, 50))]);
        let idle = NumberTarget::Stretch(TimePart::Idle).commands(rows, Some(span));
        assert_eq!(idle[0], Command::Mark(Some(span)));
    }
}
