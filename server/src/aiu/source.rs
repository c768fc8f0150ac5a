//! Facts about a rank that its events are written with.

use std::collections::HashMap;

use nprof_engine::model::{OwnedValue, TrackId};
use nprof_engine::native::SegmentFile;
use nprof_engine::vendor::aiu::schema::CLOCK;
use serde_json::Value as Json;

use super::align::{Alignment, RankTime};
use super::args::Args;
use super::error::Result;
use super::event::{Event, id};
use super::rows::{self, Row, integer};

/// Side tables of the reader of Trace Event JSON.
const ORIGIN: &str = "clock";
const METADATA: &str = "metadata";
const METADATA_EVENTS: &str = "metadata_event";
const TRACKS: &str = "track";

/// Keys of a document that only PyTorch's profiler writes.
const OF_TORCH: [&str; 2] = ["schemaVersion", "deviceProperties"];

/// Process of the device in PyTorch's dialect.
const DEVICE: i64 = 0;
/// Positions of the processes of a rank, and the position of its device among them.
const RANK_POSITIONS: i64 = 123_000;
const DEVICE_POSITION: i64 = 15;

/// Dialect of the events of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// The runtime's.
    Flex,
    /// PyTorch's.
    Torch,
}

/// A rank with what its side tables state.
#[derive(Debug)]
pub struct Source<'a> {
    /// The segment.
    pub segment: &'a SegmentFile,
    /// Number of the rank.
    pub rank: u32,
    /// Title of the trace.
    pub title: String,
    /// The rank's times on the clock of the output.
    pub clock: RankTime,
    /// Dialect of the events of the host.
    pub dialect: Dialect,
    /// Cycles per second that durations were computed with; 0 if the rank has no cycles.
    pub used_hz: f64,
    /// Keys of the document beside its events.
    pub document: Vec<(String, Json)>,
    /// Process and thread of tracks, as the trace names them.
    places: HashMap<u32, (Json, Json)>,
}

impl<'a> Source<'a> {
    /// Reads the side tables of a rank.
    ///
    /// # Errors
    /// If bytes are missing or damaged.
    pub fn of(segment: &'a SegmentFile, rank: u32, clocks: &Alignment) -> Result<Self> {
        let origin = rows::of(segment, ORIGIN)?;
        let origin_ns = origin.first().and_then(|row| match row.get("origin_ns") {
            Some(OwnedValue::Text(text)) => text.parse::<i128>().ok(),
            Some(value) => integer(value).map(i128::from),
            None => None,
        });
        let document: Vec<(String, Json)> = rows::of(segment, METADATA)?
            .iter()
            .filter_map(|row| Some((row.text("key").to_owned(), json(row.get("value")?))))
            .collect();
        let is_torch = document.iter().any(|(key, _)| OF_TORCH.contains(&key.as_str()));
        let places = rows::of(segment, TRACKS)?.iter().filter_map(place).collect();
        let used_hz = rows::of(segment, CLOCK.name)?.first().map_or(0.0, |row| row.number("used_hz"));
        let dialect = if is_torch { Dialect::Torch } else { Dialect::Flex };
        let clock = clocks.times(rank, origin_ns.unwrap_or(0) * 1_000);
        let title = segment.footer().rank.title.clone();
        Ok(Self { segment, rank, title, clock, dialect, used_hz, document, places })
    }

    /// A time on the clock of the output.
    #[must_use]
    pub fn time(&self, ps: i64) -> i128 {
        self.clock.at(ps)
    }

    /// Process and thread of a track.
    #[must_use]
    pub fn place(&self, track: TrackId) -> Option<&(Json, Json)> {
        self.places.get(&track.0)
    }

    /// The process of an event of PyTorch's dialect. All ranks call their device 0.
    #[must_use]
    pub fn process(&self, pid: Json) -> Json {
        if pid == DEVICE { Json::from(self.rank) } else { pid }
    }

    /// The metadata events of PyTorch's dialect. acelyzer writes its own for FLEX.
    ///
    /// # Errors
    /// If bytes are missing or damaged.
    pub fn metadata(&self) -> Result<Vec<Event>> {
        if self.dialect == Dialect::Flex {
            return Ok(Vec::new());
        }
        let event = |row: &Row| {
            let pid = row.get("pid").map_or(Json::Null, id_of);
            let is_device = pid == DEVICE;
            let mut event = Event::new('M', row.text("name"), self.clock.origin_ps, self.process(pid));
            event.tid = row.get("tid").map_or(Json::Null, id_of);
            if let Some(Json::Object(args)) = row.get("args").map(json) {
                event.args = args.into_iter().collect();
            }
            if let Some(position) = event.args.get_mut("sort_index") {
                let of_rank = i64::from(self.rank) * RANK_POSITIONS;
                *position = Json::from(of_rank + if is_device { DEVICE_POSITION } else { 0 });
            }
            event
        };
        Ok(rows::of(self.segment, METADATA_EVENTS)?.iter().map(event).collect())
    }
}

fn place(row: &Row) -> Option<(u32, (Json, Json))> {
    let track = u32::try_from(integer(row.get("track")?)?).ok()?;
    let part = |key: &str| row.get(key).map_or(Json::Null, id_of);
    Some((track, (part("pid"), part("tid"))))
}

fn id_of(value: &OwnedValue) -> Json {
    match json(value) {
        Json::String(text) => id(&text),
        other => other,
    }
}

/// A value of the store as JSON.
#[must_use]
pub fn json(value: &OwnedValue) -> Json {
    into_json(value.clone())
}

/// The same, of a value that is not needed any more.
#[must_use]
pub fn into_json(value: OwnedValue) -> Json {
    match value {
        OwnedValue::Int(value) => Json::from(value),
        OwnedValue::Uint(value) => Json::from(value),
        OwnedValue::Float(value) => Json::from(value),
        OwnedValue::Bool(value) => Json::from(value),
        OwnedValue::Text(text) => Json::from(text),
        OwnedValue::Json(text) => serde_json::from_str(&text).unwrap_or_else(|_| Json::from(text)),
    }
}

/// The metadata events that name a process.
#[must_use]
pub fn process(pid: i64, name: &str, position: i64, time_ps: i128) -> [Event; 3] {
    [
        ("process_name", "name", Json::from(name)),
        ("process_label", "name", Json::from(name)),
        ("process_sort_index", "sort_index", Json::from(position)),
    ]
    .map(|(what, key, value)| {
        let mut args = Args::default();
        args.insert(key, value);
        Event { args, ..Event::new('M', what, time_ps, Json::from(pid)) }
    })
}
