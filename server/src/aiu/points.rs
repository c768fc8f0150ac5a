//! Points of arrows as the trace states them.

use std::collections::HashMap;

use nprof_engine::native::SegmentFile;
use serde_json::Value as Json;

use super::error::Result;
use super::event::{Event, id};
use super::rows::{self, Row};
use super::source::Source;

/// Table of the points.
const POINTS: &str = "flow_point";

/// A point of an arrow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrowPoint {
    /// Time in picoseconds since time zero of the rank.
    pub time_ps: i64,
    /// Phase: `s`, `t` or `f`.
    pub phase: char,
    /// Name of the arrow.
    pub name: String,
    /// Category of the arrow.
    pub category: String,
    /// Id of the arrow.
    pub id: String,
    /// Process as written.
    pub pid: String,
    /// Thread as written.
    pub tid: String,
}

/// The points of a rank in the order of its files.
pub fn of(segment: &SegmentFile) -> Result<Vec<ArrowPoint>> {
    let point = |row: &Row| {
        let text = |key: &str| row.text(key).to_owned();
        Some(ArrowPoint {
            time_ps: row.get("time_ps")?.int()?,
            phase: row.text("ph").chars().next()?,
            name: text("name"),
            category: text("cat"),
            id: text("id"),
            pid: text("pid"),
            tid: text("tid"),
        })
    };
    Ok(rows::of(segment, POINTS)?.iter().filter_map(point).collect())
}

/// The points as events. Arrows get numbers after `last`: ids are those of a rank. A point is at
/// the place of its thread in `places`, else where the trace states it.
pub fn events(
    points: &[ArrowPoint],
    source: &Source<'_>,
    places: &HashMap<String, (Json, Json)>,
    last: &mut u64,
) -> Vec<Event> {
    let mut numbers: HashMap<(&str, &str, &str), u64> = HashMap::new();
    let mut events = Vec::with_capacity(points.len());
    for point in points {
        let number = *numbers.entry((&point.category, &point.name, &point.id)).or_insert_with(|| {
            *last += 1;
            *last
        });
        let stated = || (source.process(id(&point.pid)), id(&point.tid));
        let (pid, tid) = places.get(&point.tid).cloned().unwrap_or_else(stated);
        let category = Some(point.category.clone()).filter(|category| !category.is_empty());
        let time_ps = source.time(point.time_ps);
        let id = Some(Json::from(number));
        events.push(Event { category, tid, id, ..Event::new(point.phase, &point.name, time_ps, pid) });
    }
    events
}
