//! The waits of a run on the axes of the page: what is drawn, and their table.

use nprof_engine::base::{Interval, narrow};
use nprof_engine::wire::rank_ref::RankRef;
use nprof_engine::wire::rows::{ColumnValues, RowPresence};
use nprof_engine::wire::run_waits::{RunWaits, WaitEntry, WaitSpan};

use super::run_times::RunTimes;
use super::source_id::SourceId;
use super::table::{DataTable, TableColumn, texts};

/// A wait that is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitStretch {
    /// The rank.
    pub source: SourceId,
    /// Number of the track.
    pub track: u32,
    /// Line of the track.
    pub lane: u32,
    /// The times on the page.
    pub span: Interval,
    /// Its name on the band. `None` within a slice, which has its own name there, and if nobody is
    /// known that was awaited.
    pub name: Option<String>,
}

/// The waits that are drawn.
#[must_use]
pub fn wait_stretches(waits: &RunWaits, times: &RunTimes) -> Vec<WaitStretch> {
    let stretch = |wait: &WaitSpan| {
        let time = |ps| times.shown(Some(wait.rank), ps);
        let awaited = wait.awaited.as_ref().filter(|_| !wait.is_within);
        WaitStretch {
            source: SourceId { rank: RankRef::Number(wait.rank), profile: times.profile },
            track: wait.track,
            lane: wait.lane,
            span: Interval::new(time(wait.start_ps), time(wait.end_ps)),
            name: awaited.map(|awaited| format!("wait for {awaited}")),
        }
    };
    waits.waits.iter().map(stretch).collect()
}

/// Key of the column of the longest waits.
pub const LONGEST_AT: &str = "longest_at";

/// The rows of waits as a table, with their ranks if they are of several.
#[must_use]
pub fn wait_table(rows: &[WaitEntry], has_ranks: bool) -> DataTable {
    let ints = |key: &str, title: &str, unit: &str, doc: &str, of: &dyn Fn(&WaitEntry) -> i64| {
        let values = ColumnValues::Ints(rows.iter().map(of).collect());
        TableColumn::new(key, title, unit, values).explained(doc)
    };
    let words = |key: &str, title: &str, doc: &str, of: &dyn Fn(&WaitEntry) -> Option<String>| {
        let values = texts(rows.iter().map(|row| of(row).unwrap_or_default()).collect());
        TableColumn::new(key, title, "", values).explained(doc)
    };
    let rank = has_ranks.then(|| ints("rank", "Rank", "", "Number of the rank.", &|row| row.rank.into()));
    let others = [
        ints("wait", "Waited", "ps", "Sum of these waits.", &|row| row.wait_ps),
        words("waiter", "Waiter", "The queue, engine or thread that waited.", &|row| {
            Some(row.waiter.clone().unwrap_or_else(|| "idle".to_owned()))
        }),
        words("awaited", "Awaited", "The one that it waited for, if it is known.", &|row| {
            row.awaited.clone()
        }),
        words("kind", "Kind", "The reason of the waits.", &|row| Some(row.kind.clone())),
        words("root", "Held back by", "The one that worked meanwhile.", &|row| row.root.clone()),
        longest(rows),
        words(LONGEST_AT, "Longest at", "The work that waited longest.", &longest_at),
    ];
    DataTable { columns: rank.into_iter().chain(others).collect(), rows: narrow(rows.len()) }
}

/// The longest waits. Idle time for which nothing is known has none.
fn longest(rows: &[WaitEntry]) -> TableColumn {
    let values = ColumnValues::Ints(rows.iter().filter_map(|row| row.longest_ps).collect());
    let presence = RowPresence::Some(rows.iter().map(|row| row.longest_ps.is_some()).collect());
    TableColumn::new("longest", "Longest", "ps", values)
        .explained("The longest of these waits.")
        .present(&presence, narrow(rows.len()))
}

/// The work that waited longest, with what it waited for.
fn longest_at(row: &WaitEntry) -> Option<String> {
    let waited = row.instruction.as_ref()?;
    let awaited = row.awaited_instruction.as_ref();
    Some(awaited.map_or_else(|| waited.clone(), |awaited| format!("{waited}, for {awaited}")))
}

#[cfg(test)]
mod tests {
    use nprof_engine::wire::run_waits::{StatedWaits, WaitTable};

    use super::*;

    fn wait(is_within: bool, awaited: Option<&str>) -> WaitSpan {
        let awaited = awaited.map(str::to_owned);
        WaitSpan { rank: 3, track: 5, lane: 1, start_ps: 10, end_ps: 30, awaited, row: None, is_within }
    }

    #[test]
    fn waits_between_slices_are_named_after_the_awaited_one() {
        let table = WaitTable {
            answer: String::new(),
            wait_ps: 0,
            stated_waits: StatedWaits { stated: 0, fulfilled: 0, charged: 0 },
            dropped_edges: 0,
            total: 0,
            rows: Vec::new(),
        };
        let waits = vec![wait(false, Some("Vector")), wait(true, Some("Vector")), wait(false, None)];
        let waits = RunWaits { table, waits, left_out: 0, left_out_ps: 0 };
        let drawn = wait_stretches(&waits, &RunTimes::default());
        let names: Vec<Option<&str>> = drawn.iter().map(|one| one.name.as_deref()).collect();
        assert_eq!(names, [Some("wait for Vector"), None, None]);
        assert_eq!((drawn[0].source, drawn[0].span), (SourceId::of_first(3), Interval::new(10, 30)));
    }
}
