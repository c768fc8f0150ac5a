//! The critical path of a run on the axes of the page: what is drawn, and its table.

use nprof_engine::base::{Interval, narrow};
use nprof_engine::wire::rows::ColumnValues;
use nprof_engine::wire::run_path::{PathEntry, PathKindEntry, PathShare, RunPath};

use super::ranks::waits::asked_span;
use super::run_times::RunTimes;
use super::source_id::SourceId;
use super::table::{DataTable, TableColumn, texts};

/// A part of the path that is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct PathStretch {
    /// The rank.
    pub source: SourceId,
    /// Number of the track.
    pub track: u32,
    /// Line of the track.
    pub lane: u32,
    /// The times on the page.
    pub span: Interval,
    /// Whether nothing of the run worked meanwhile.
    pub is_idle: bool,
}

/// The span of the run to ask for if this window is shown: somewhat more, so that small moves ask
/// for nothing. `None` is the whole run.
#[must_use]
pub fn span_of_run(times: &RunTimes, window: Interval) -> Option<Interval> {
    times.of_page(asked_span(window))
}

/// The stretches of a path, in the order of time.
#[must_use]
pub fn stretches(path: &RunPath, times: &RunTimes) -> Vec<PathStretch> {
    let stretch = |part: &PathEntry| PathStretch {
        source: SourceId { rank: part.rank.into(), profile: times.profile },
        track: part.track,
        lane: part.lane,
        span: shown(part, times),
        is_idle: matches!(part.kind, PathKindEntry::Gap | PathKindEntry::Host),
    };
    path.parts.iter().map(stretch).collect()
}

fn shown(part: &PathEntry, times: &RunTimes) -> Interval {
    let time = |ps| times.shown(Some(part.rank), ps);
    Interval::new(time(part.start_ps), time(part.end_ps))
}

/// A key by which the time of a path is added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathGrouping {
    /// Names of work.
    Name,
    /// Engines, queues, streams and threads.
    Engine,
    /// Layers of the model.
    Layer,
    /// Kinds of activity.
    Kind,
}

impl PathGrouping {
    /// All keys, in display order.
    pub const ALL: [Self; 4] = [Self::Name, Self::Engine, Self::Layer, Self::Kind];

    /// The word for the page's forms.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Engine => "engine",
            Self::Layer => "layer",
            Self::Kind => "kind",
        }
    }

    /// The entry of a list of keys.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Name => "by name",
            Self::Engine => "by engine, queue, stream, thread",
            Self::Layer => "by layer",
            Self::Kind => "by kind of activity",
        }
    }

    /// The key with this word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.name() == name)
    }

    /// The words for those that are left out: for one, and for several.
    #[must_use]
    pub fn others(self) -> (&'static str, &'static str) {
        match self {
            Self::Name => ("other name", "other names"),
            Self::Engine => ("other engine, queue or thread", "other engines, queues or threads"),
            Self::Layer => ("other layer", "other layers"),
            Self::Kind => ("other kind", "other kinds"),
        }
    }

    /// The parts of a path. Empty if the trace states none.
    #[must_use]
    pub fn shares(self, path: &RunPath) -> &[PathShare] {
        match self {
            Self::Name => &path.by_name,
            Self::Engine => &path.by_engine,
            Self::Layer => &path.by_layer,
            Self::Kind => &path.by_kind,
        }
    }

    /// Number of all parts.
    #[must_use]
    pub fn count(self, path: &RunPath) -> u64 {
        match self {
            Self::Name => path.names,
            _ => self.shares(path).len() as u64,
        }
    }
}

/// Key of the column of names.
pub const NAME: &str = "name";

/// Parts of a path as a table. Starts count from `zero_ps`, as on the ruler.
#[must_use]
pub fn path_table(parts: &[PathEntry], times: &RunTimes, zero_ps: i64) -> DataTable {
    let ints = |key: &str, title: &str, unit: &str, doc: &str, of: &dyn Fn(&PathEntry) -> i64| {
        let values = ColumnValues::Ints(parts.iter().map(of).collect());
        TableColumn::new(key, title, unit, values).explained(doc)
    };
    let words = |key: &str, title: &str, doc: &str, of: &dyn Fn(&PathEntry) -> String| {
        let values = texts(parts.iter().map(of).collect());
        TableColumn::new(key, title, "", values).explained(doc)
    };
    let columns = vec![
        ints("start", "Start", "ps", "Start of the part, as on the ruler.", &|part| {
            times.shown(Some(part.rank), part.start_ps).saturating_sub(zero_ps)
        }),
        ints("duration", "Duration", "ps", "Its part of the length of the run.", &|part| {
            part.end_ps.saturating_sub(part.start_ps)
        }),
        ints("rank", "Rank", "", "Number of the rank.", &|part| i64::from(part.rank)),
        words("track", "Track", "Track of the work.", &|part| part.track_name.clone()),
        words("kind", "Kind", "What the run did meanwhile.", &|part| kind_words(part.kind).to_owned()),
        words(NAME, "Work", "The work; of several parts the longest.", &name_of),
    ];
    DataTable { columns, rows: narrow(parts.len()) }
}

/// The name of a part, with the number of parts that it stands for.
fn name_of(part: &PathEntry) -> String {
    match part.count {
        0 | 1 => part.name.clone(),
        count => format!("{} and {} more", part.name, count - 1),
    }
}

fn kind_words(kind: PathKindEntry) -> &'static str {
    match kind {
        PathKindEntry::Work => "work",
        PathKindEntry::Transfer => "transfer",
        PathKindEntry::Call => "call of a host",
        PathKindEntry::Host => "host between calls",
        PathKindEntry::Gap => "gap",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(rank: u32, kind: PathKindEntry, start_ps: i64, end_ps: i64) -> PathEntry {
        let (name, track_name) = ("a".to_owned(), "t".to_owned());
        PathEntry {
            rank,
            track: 5,
            track_name,
            lane: 1,
            row: Some(3),
            name,
            kind,
            start_ps,
            end_ps,
            count: 1,
        }
    }

    fn path(parts: Vec<PathEntry>) -> RunPath {
        RunPath {
            answer: String::new(),
            start_ps: 100,
            length_ps: 900,
            by_kind: Vec::new(),
            by_rank: Vec::new(),
            by_name: Vec::new(),
            by_engine: Vec::new(),
            by_layer: Vec::new(),
            names: 0,
            parts,
        }
    }

    #[test]
    fn parts_are_rows_with_the_times_of_the_ruler() {
        let parts = vec![
            part(0, PathKindEntry::Work, 100, 400),
            PathEntry { count: 4, ..part(2, PathKindEntry::Gap, 400, 1_000) },
        ];
        let table = path_table(&parts, &RunTimes::default(), 100);
        let line =
            |row: u32| table.columns.iter().map(|column| column.text(row)).collect::<Vec<_>>().join(", ");
        let lines: Vec<String> = (0..table.rows).map(line).collect();
        assert_eq!(lines, ["0, 300, 0, t, work, a", "300, 600, 2, t, gap, a and 3 more"]);
    }

    #[test]
    fn stretches_have_their_rank_and_the_times_of_the_page() {
        let path =
            path(vec![part(0, PathKindEntry::Work, 100, 400), part(2, PathKindEntry::Host, 400, 1_000)]);
        let stretches = stretches(&path, &RunTimes::default());
        let of = |at: usize| (stretches[at].source, stretches[at].span, stretches[at].is_idle);
        assert_eq!(of(0), (SourceId::of_first(0), Interval::new(100, 400), false));
        assert_eq!(of(1), (SourceId::of_first(2), Interval::new(400, 1_000), true));
    }
}
