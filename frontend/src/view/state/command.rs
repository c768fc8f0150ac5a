//! The closed set of user actions on a [`View`].

use std::collections::BTreeSet;

use nprof_engine::base::Interval;
use nprof_engine::query::Syntax;
use nprof_engine::wire::rank_ref::RankRef;

use super::View;
use super::compare::CompareChange;
use super::data::DataChange;
use super::mute::MuteChange;
use super::orders::PanelTable;
use super::plots::PlotsChange;
use super::reading::Reading;
use crate::view::ranks::standing::RankOrder;
use crate::view::rows::layout::RankHeight;
use crate::view::rows::layout::sight::RowPart;
use crate::view::rows::layout::sight::TopRow;
use crate::view::rows::pins::PinnedRanks;
use crate::view::rows::track_path::TrackPath;
use crate::view::shell::panel::{Arrangement, PanelSide, Tab};
use crate::view::shell::place::ProfilePlace;
use crate::view::source_id::SourceId;
use crate::view::table::Sorting;
use crate::view::time::axes::Timebase;
use crate::view::time::axis::Axis;
use crate::view::time::window::{self, Reach};

/// A step from one view to the next.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Makes the window `factor` times as wide. The timestamp `at_ps` stays in place.
    Zoom {
        /// Below 1 to see more detail.
        factor: f64,
        /// The timestamp that stays in place.
        at_ps: i64,
    },
    /// Like [`Command::Zoom`], around the middle of the window.
    ZoomMiddle {
        /// Below 1 to see more detail.
        factor: f64,
    },
    /// Moves the window by this many times its own duration. Positive numbers move it later.
    Pan {
        /// Distance in windows.
        windows: f64,
    },
    /// Moves the window with the pointer or the minimap. Like [`Command::Show`], but one step among
    /// many.
    Slide(Interval),
    /// Shows this span.
    Show(Interval),
    /// Shows this span of a slice that was just selected.
    Focus(Interval),
    /// Shows everything.
    ShowAll,
    /// Selects a slice by its row, or none.
    Select(Option<u32>),
    /// Reads a counter at a timestamp. No slice is selected then.
    Read(Reading),
    /// Selects a slice and moves the window as little as needed to show it.
    Reveal {
        /// The slice's row.
        row: u32,
        /// Its start.
        start_ps: i64,
        /// Its length.
        duration_ps: i64,
        /// The closed groups that hide the slice. They are opened.
        hidden_by: Vec<TrackPath>,
    },
    /// Selects the slice that a step along or across the tracks leads to. See [`Command::Reveal`].
    Step {
        /// The slice's row.
        row: u32,
        /// Its start.
        start_ps: i64,
        /// Its length.
        duration_ps: i64,
        /// The closed groups that hide the slice. They are opened.
        hidden_by: Vec<TrackPath>,
    },
    /// Marks a span for its statistics, or none.
    Mark(Option<Interval>),
    /// Marks the span of a slice. Other ranks are asked for their own slice of its name.
    MarkSlice {
        /// The span.
        span: Interval,
        /// The name of the slice.
        name: String,
    },
    /// Opens or closes a group, in all ranks.
    SetGroup {
        /// The group.
        path: TrackPath,
        /// True to open it.
        is_open: bool,
    },
    /// Searches for a text. An empty text ends the search.
    SearchFor(String),
    /// Searches for a text, whatever its letters are.
    SearchForText(String),
    /// Sets the syntax of the search text.
    SearchAs(Syntax),
    /// Leaves out the tracks without hits, or shows all again.
    ShowOnlyHits(bool),
    /// Adds up the hits of the search alone, or all slices.
    SumOnlyHits(bool),
    /// Opens a tab with its panel.
    ShowTab(Tab),
    /// Turns to a tab. Its panel stays open or closed.
    TurnTo(Tab),
    /// Closes a panel.
    ClosePanel {
        /// The panel.
        side: PanelSide,
        /// Positions of the panels. The drawer of a narrow window closes with the tabs of the dock.
        arrangement: Arrangement,
    },
    /// Changes the size of a panel.
    Resize {
        /// The panel.
        side: PanelSide,
        /// The new size in CSS pixels.
        size_px: u32,
    },
    /// Reports that a part of the rows scrolled to this track, or to its first one.
    ScrollTo(RowPart, Option<TopRow>),
    /// Makes this rank the current one. The window stays, and nothing is selected. If the rank is
    /// not shown yet, it replaces all shown ones.
    OpenRank(SourceId),
    /// Makes this rank the current one, then executes a command there.
    InRank {
        /// The rank.
        source: SourceId,
        /// The command.
        then: Box<Command>,
    },
    /// Shows these ranks, one below the other.
    ShowRanks {
        /// The ranks, with the current one.
        ranks: BTreeSet<RankRef>,
        /// The current rank. To change it too, use [`Command::InRank`].
        current: SourceId,
    },
    /// Pins a track, by its path, in the ranks of [`Command::PinRanks`], or unpins it.
    Pin(TrackPath),
    /// Chooses the ranks whose pinned tracks are shown.
    PinRanks(PinnedRanks),
    /// Unpins all tracks.
    Unpin,
    /// Shows all ranks on other clocks. The content of the current rank in the window stays in its
    /// place.
    SetTimebase {
        /// The time base.
        base: Timebase,
        /// The axis of the current rank before.
        from: Axis,
        /// The axis of the current rank after it.
        to: Axis,
    },
    /// Puts the profiles after the first one later than if all began together.
    StandLater {
        /// By how much, in picoseconds.
        ps: i64,
    },
    /// Sorts lists and rows of ranks.
    SortRanks(RankOrder),
    /// Sets the height of the rows of ranks.
    SetRankHeight(RankHeight),
    /// Opens a place of the page.
    GoTo(ProfilePlace),
    /// Changes the Data place.
    Data(DataChange),
    /// Sorts a table in a panel.
    SortTable {
        /// The table.
        table: PanelTable,
        /// The order; `None` is the one that the table has at first.
        sorting: Option<Sorting>,
    },
    /// Changes the plots.
    Plots(PlotsChange),
    /// Changes the comparison of two runs.
    Compare(CompareChange),
    /// Numbers are about a region; `None` is the whole run.
    LimitTo(Option<String>),
    /// Puts the numbers of these regions beside those.
    Beside(Vec<String>),
    /// Mutes findings.
    Mute(MuteChange),
}

/// Effect of a command on the browser's history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum History {
    /// A new entry, which "back" leaves.
    Push,
    /// A zoom or a move of the window. Those without a rest between them share one entry.
    Settle,
    /// No new entry: the current one is rewritten.
    Replace,
}

impl Command {
    /// This command in a rank, which becomes the current one.
    #[must_use]
    pub fn in_rank(self, source: SourceId, current: SourceId) -> Self {
        if source == current { self } else { Self::InRank { source, then: Box::new(self) } }
    }

    /// The effect on the browser's history.
    #[must_use]
    pub fn history(&self) -> History {
        match self {
            Self::Zoom { .. }
            | Self::ZoomMiddle { .. }
            | Self::Pan { .. }
            | Self::Slide(_)
            | Self::Focus(_) => History::Settle,
            Self::Step { .. }
            | Self::SetGroup { .. }
            | Self::SearchFor(_)
            | Self::SearchForText(_)
            | Self::SearchAs(_)
            | Self::ShowOnlyHits(_)
            | Self::SumOnlyHits(_)
            | Self::ShowTab(_)
            | Self::TurnTo(_)
            | Self::ClosePanel { .. }
            | Self::Resize { .. }
            | Self::SetTimebase { .. }
            | Self::StandLater { .. }
            | Self::SortRanks(_)
            | Self::SetRankHeight(_)
            | Self::SortTable { .. }
            | Self::Plots(_)
            | Self::Compare(_)
            | Self::LimitTo(_)
            | Self::Beside(_)
            | Self::Mute(_)
            | Self::ScrollTo(..) => History::Replace,
            Self::Data(DataChange::Open(_)) | Self::GoTo(_) => History::Push,
            Self::Data(_) => History::Replace,
            Self::Show(_)
            | Self::ShowAll
            | Self::Select(_)
            | Self::Read(_)
            | Self::Reveal { .. }
            | Self::Mark(_)
            | Self::MarkSlice { .. }
            | Self::OpenRank(_)
            | Self::Pin(_)
            | Self::PinRanks(_)
            | Self::Unpin
            | Self::ShowRanks { .. } => History::Push,
            Self::InRank { then, .. } => then.history(),
        }
    }
}

impl View {
    /// The visible span of a profile.
    #[must_use]
    pub fn window_in(&self, reach: Reach) -> Interval {
        window::clamped(self.window.unwrap_or_else(|| reach.first()), reach.whole)
    }

    /// The view after this command on a profile.
    #[must_use]
    pub fn apply(mut self, command: &Command, reach: Reach) -> Self {
        let panels = self.panels_after(command);
        self.is_bare = false;
        if matches!(command, Command::OpenRank(_) | Command::InRank { .. }) {
            self.numbered = None;
        }
        self.place = self.place_after(command);
        self.move_window(command, reach);
        self.tracks.apply(command);
        self.selection.apply(command);
        self.search.apply(command);
        match *command {
            Command::SortTable { table, ref sorting } => {
                self.orders = std::mem::take(&mut self.orders).with(table, sorting.clone());
            }
            Command::Plots(ref change) => self.plots.apply(change),
            Command::Compare(ref change) => self.compare.apply(change),
            Command::LimitTo(ref region) => self.region.clone_from(region),
            Command::Beside(ref regions) => self.beside.clone_from(regions),
            Command::Mute(ref change) => self.muted.apply(change),
            Command::Data(ref change) => self.data = std::mem::take(&mut self.data).changed(change),
            Command::SetTimebase { base, from, to } => {
                self.timebase = base;
                self.window = self.window.map(|span| to.shared_span(from.local_span(span)));
                self.selection.move_times(|ps| to.shared(from.local(ps)));
            }
            Command::StandLater { ps } => self.later_ps = ps,
            Command::Resize { side, size_px } => {
                self.panels = std::mem::take(&mut self.panels).sized(side, size_px);
            }
            _ => {}
        }
        self.choose(panels);
        match command {
            Command::InRank { then, .. } => self.apply(then, reach),
            _ => self,
        }
    }

    fn move_window(&mut self, command: &Command, reach: Reach) {
        let (now, whole) = (self.window_in(reach), reach.whole);
        match *command {
            Command::Zoom { factor, at_ps } => self.window = Some(window::zoomed(now, factor, at_ps, whole)),
            Command::ZoomMiddle { factor } => {
                let middle = now.start.0 + now.duration_ps() / 2;
                self.window = Some(window::zoomed(now, factor, middle, whole));
            }
            Command::Pan { windows } => self.window = Some(window::shifted(now, windows, whole)),
            Command::Show(span) | Command::Slide(span) | Command::Focus(span) => {
                self.window = Some(window::clamped(span, whole));
            }
            Command::ShowAll => self.window = Some(window::widest(whole)),
            Command::Reveal { start_ps, duration_ps, .. } | Command::Step { start_ps, duration_ps, .. } => {
                let end_ps = start_ps.saturating_add(duration_ps.max(0));
                let shown = window::revealing(now, start_ps, end_ps, whole);
                if shown != now {
                    self.window = Some(shown);
                }
            }
            // The owner of the view has the window history and shows its last window.
            _ => {}
        }
        if self.window == Some(reach.first()) {
            self.window = None;
        }
    }

    /// The place for a command. A slice or span is shown where time is, a table in its own place.
    fn place_after(&self, command: &Command) -> ProfilePlace {
        match *command {
            Command::GoTo(place) => place,
            Command::Reveal { .. } | Command::Show(_) => ProfilePlace::Timeline,
            Command::Data(DataChange::Open(_)) => ProfilePlace::Data,
            _ => self.place,
        }
    }
}

#[cfg(test)]
mod tests {
    use nprof_engine::base::ClockFit;

    use super::*;

    fn whole() -> Reach {
        Reach { whole: Interval::new(0, 1_000_000), active: None }
    }

    #[track_caller]
    fn check(commands: &[Command], expected: &str) {
        let view = commands.iter().fold(View::of_profile("p"), |view, command| view.apply(command, whole()));
        assert_eq!(view.to_string(), expected);
    }

    fn path(text: &str) -> TrackPath {
        TrackPath::read(text).expect("a path")
    }

    fn reveal(start_ps: i64, duration_ps: i64, hidden_by: &[&str]) -> Command {
        let hidden_by = hidden_by.iter().map(|text| path(text)).collect();
        Command::Reveal { row: 4, start_ps, duration_ps, hidden_by }
    }

    #[test]
    fn commands_change_what_they_name() {
        check(&[Command::Show(Interval::new(10_000, 20_000))], "/profile/p?v=2&from=10000&to=20000");
        let group = |text, is_open| Command::SetGroup { path: path(text), is_open };
        check(&[group("b", true), group("a/c", true)], "/profile/p?v=2&open=a/c,b");
        check(&[group("b", true), group("b", false)], "/profile/p?v=2&closed=b");
        check(
            &[Command::Select(Some(7)), Command::OpenRank(SourceId::of_first(2))],
            "/profile/p?v=2&rank=2&dock=open",
        );
        let reading = || Command::Read("Power@12".parse::<Reading>().expect("a reading"));
        check(&[Command::Select(Some(7)), reading()], "/profile/p?v=2&counter=Power@12");
        check(&[reading(), Command::Select(Some(7))], "/profile/p?v=2&sel=7");
        check(&[reading(), Command::OpenRank(SourceId::of_first(2))], "/profile/p?v=2&rank=2&dock=open");
        check(&[Command::SearchAs(Syntax::Regex)], "/profile/p?v=2&search=regex");
        check(&[Command::SearchAs(Syntax::Regex), Command::SearchAs(Syntax::Query)], "/profile/p?v=2");
        let mark = || Command::Mark(Some(Interval::new(-5, 6)));
        check(&[mark()], "/profile/p?v=2&mark=-5..6");
        let name = "ProfilerStep#12".to_owned();
        let step = || Command::MarkSlice { span: Interval::new(1, 2), name: name.clone() };
        check(&[mark(), step()], "/profile/p?v=2&mark=1..2&marked=ProfilerStep%2312");
        check(&[step(), mark()], "/profile/p?v=2&mark=-5..6");
        let row = |source| Some(TopRow { source, path: path("DMA/q0"), lane: 0 });
        let top = |source| Command::ScrollTo(RowPart::Others, row(source));
        check(&[top(None)], "/profile/p?v=2&row=DMA/q0");
        check(&[top(Some(SourceId::of_first(7)))], "/profile/p?v=2&row=7:DMA/q0");
        check(&[top(None), Command::ScrollTo(RowPart::Others, None)], "/profile/p?v=2");
        check(
            &[Command::ScrollTo(RowPart::Pinned, row(Some(SourceId::of_first(7))))],
            "/profile/p?v=2&pin_row=7:DMA/q0",
        );
        let both = Command::ShowRanks { ranks: [0.into(), 7.into()].into(), current: SourceId::of_first(0) };
        check(std::slice::from_ref(&both), "/profile/p?v=2&rank=0&ranks=0,7");
        let then = Box::new(Command::Select(Some(5)));
        check(
            &[both, Command::InRank { source: SourceId::of_first(7), then }],
            "/profile/p?v=2&rank=7&ranks=0,7&sel=5",
        );
    }

    #[test]
    fn another_time_base_keeps_what_the_current_rank_shows() {
        let axis = |offset_ps| Axis(ClockFit::new(0, offset_ps, 0, None).expect("no drift"));
        let raw = Command::SetTimebase { base: Timebase::Raw, from: axis(5_000), to: axis(0) };
        let back = Command::SetTimebase { base: Timebase::Aligned, from: axis(0), to: axis(5_000) };
        let show = Command::Show(Interval::new(10_000, 20_000));
        let mark = Command::Mark(Some(Interval::new(12_000, 13_000)));
        let read = Command::Read("Power@15000".parse::<Reading>().expect("a reading"));
        let link = "/profile/p?v=2&from=5000&to=15000&counter=Power@10000&mark=7000..8000&clock=raw";
        check(&[show, mark, read, raw.clone()], link);
        // The opening window follows the time base.
        check(std::slice::from_ref(&raw), "/profile/p?v=2&clock=raw");
        check(&[raw, back], "/profile/p?v=2");
    }

    #[test]
    fn the_panels_answer_to_what_is_done() {
        let select = Command::Select(Some(7));
        let mark = Command::Mark(Some(Interval::new(1, 2)));
        let search = || Command::SearchFor("a b".to_owned());
        check(&[search()], "/profile/p?v=2&q=a%20b&search=query&tab=search");
        // The hits stay in sight.
        check(&[search(), select.clone()], "/profile/p?v=2&sel=7&q=a%20b&search=query&tab=search");
        check(&[search(), Command::SearchFor(String::new())], "/profile/p?v=2&tab=search");
        check(&[select.clone(), mark.clone()], "/profile/p?v=2&sel=7&mark=1..2&tab=selection");
        check(&[mark, select.clone()], "/profile/p?v=2&sel=7&mark=1..2");
        check(&[Command::ShowTab(Tab::Selection)], "/profile/p?v=2&tab=selection");
        check(&[Command::ShowTab(Tab::Selection), select.clone()], "/profile/p?v=2&sel=7&drawer=open");
        let both = [Command::ShowTab(Tab::Selection), Command::ShowTab(Tab::Details)];
        check(&both, "/profile/p?v=2&dock=open&drawer=open");
        // Dropping the selection changes the panel's content. The panel stays open.
        check(&[select, Command::Select(None)], "/profile/p?v=2&dock=open");
    }

    #[test]
    fn slices_are_shown_in_the_timeline_and_tables_keep_their_state() {
        let open = Command::Data(DataChange::Open("dma".to_owned()));
        let filter = Command::Data(DataChange::Filter("x".to_owned()));
        let go = Command::GoTo;
        check(&[go(ProfilePlace::Summary)], "/profile/p/summary?v=2");
        check(&[go(ProfilePlace::Summary), open.clone()], "/profile/p/data?v=2&table=dma");
        let slice = reveal(0, 10, &[]);
        check(&[open.clone(), filter.clone(), slice.clone()], "/profile/p?v=2&sel=4&table=dma&filter=x");
        let back = [open.clone(), filter, slice, go(ProfilePlace::Data)];
        check(&back, "/profile/p/data?v=2&sel=4&table=dma&filter=x");
        check(&[open, Command::Show(Interval::new(10, 20_000))], "/profile/p?v=2&from=10&to=20000&table=dma");
    }

    #[test]
    fn zooming_all_the_way_out_is_the_whole_rank() {
        check(&[Command::ZoomMiddle { factor: 0.25 }, Command::ZoomMiddle { factor: 8.0 }], "/profile/p?v=2");
    }

    #[test]
    fn a_profile_opens_where_it_works_and_a_link_to_all_of_it_says_so() {
        let reach =
            Reach { whole: Interval::new(0, 1_000_000), active: Some(Interval::new(900_000, 920_000)) };
        let opened = View::of_profile("p");
        assert_eq!(opened.window_in(reach), Interval::new(899_000, 921_000));
        let all = opened.clone().apply(&Command::ShowAll, reach);
        assert_eq!(all.to_string(), "/profile/p?v=2&from=-10000&to=1010000");
        assert_eq!(all.window_in(reach), window::widest(reach.whole));
        let back = all.apply(&Command::Show(Interval::new(899_000, 921_000)), reach);
        assert_eq!(back, View { is_bare: false, ..opened });
    }

    #[test]
    fn revealing_what_is_visible_only_selects() {
        check(&[reveal(0, 10, &[])], "/profile/p?v=2&sel=4");
        check(
            &[Command::Show(Interval::new(0, 100_000)), reveal(500_000, 0, &["DMA"])],
            "/profile/p?v=2&from=450000&to=550000&sel=4&open=DMA",
        );
    }
}
