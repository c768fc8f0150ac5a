//! Facts about a rank that its events are written with.

use std::collections::HashMap;

use nprof_engine::exec::Cancel;
use nprof_engine::makers::FieldCell;
use nprof_engine::makers::aiu::schema::{ActiveRow, AiuJobRow, ClockRow};
use nprof_engine::model::{OwnedValue, TrackId};
use nprof_engine::native::SegmentFile;
use serde_json::Value as Json;

use super::align::{Alignment, RankTime};
use super::args::Args;
use super::error::Result;
use super::event::{Event, id};
use super::ideals::Ideals;
use super::rows::{self, Row};

/// Table of the slices that the ordinary reader of Trace Event JSON keeps.
pub const SLICES: &str = "slice";
/// Side tables of the reader of Trace Event JSON.
const ORIGIN: &str = "clock";
const METADATA: &str = "metadata";
const METADATA_EVENTS: &str = "metadata_event";
const TRACKS: &str = "track";
const FILES: &str = "file";
const THREADS: &str = "thread";

/// Keys of a document that only PyTorch's profiler writes.
const OF_TORCH: [&str; 2] = ["schemaVersion", "deviceProperties"];
/// Key of a document with the list of devices.
pub const DEVICES: &str = "deviceProperties";

/// Positions of the processes of a rank, and the position of its device among them.
const RANK_POSITIONS: i64 = 123_000;
const DEVICE_POSITION: i64 = 15;

/// Dialect of the events of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// The runtime's.
    Flex,
    /// PyTorch's.
    Torch,
}

/// A file of a rank.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FileOf {
    name: String,
    dialect: Dialect,
}

/// Process, thread or counter of a track, as the trace names them.
#[derive(Debug, Clone, PartialEq)]
pub struct TracePlace {
    /// Process; null if the track belongs to none.
    pub pid: Json,
    /// Thread; null if the track is no thread.
    pub tid: Json,
    /// Counter, if the track is one.
    pub counter: String,
    /// Series of the counter.
    pub series: String,
    /// Id that tells counters of one name apart.
    pub counter_id: String,
}

impl TracePlace {
    /// The thread's id as text, as slices of the device state it.
    #[must_use]
    pub fn thread_id(&self) -> String {
        match &self.tid {
            Json::String(text) => text.clone(),
            Json::Null => String::new(),
            other => other.to_string(),
        }
    }
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
    /// Cycles per second that durations were computed with; 0 if the rank has no cycles.
    pub used_hz: f64,
    /// Keys of the document beside its events.
    pub document: Vec<(String, Json)>,
    /// Ids of threads with the times of their first slices, in picoseconds, and the numbers of the
    /// files with these.
    pub threads: Vec<(String, i64, usize)>,
    /// Ideal cycles of kernels.
    pub ideals: Ideals,
    /// Devices that PyTorch states, else those up to the last one with kernels.
    pub devices: usize,
    /// Distance between the numbers of the devices of two ranks.
    pub device_step: usize,
    files: Vec<FileOf>,
    /// Shifts of jobs in microseconds.
    shifts: HashMap<String, f64>,
    /// Ends of the work of jobs on the device, on the clock of the output.
    pub job_ends: HashMap<String, i128>,
    places: HashMap<u32, TracePlace>,
}

impl<'a> Source<'a> {
    /// Reads the side tables of a rank.
    pub fn of(segment: &'a SegmentFile, rank: u32, clocks: &Alignment) -> Result<Self> {
        let origin = rows::of(segment, ORIGIN)?;
        let origin_ns = origin.first().and_then(|row| match row.get("origin_ns") {
            Some(OwnedValue::Text(text)) => text.parse::<i128>().ok(),
            Some(value) => value.int().map(i128::from),
            None => None,
        });
        let document: Vec<(String, Json)> = rows::of(segment, METADATA)?
            .iter()
            .filter_map(|row| Some((row.text("key").to_owned(), json(row.get("value")?))))
            .collect();
        let thread = |row: &Row| {
            let (first, file) = (row.get("first")?.int()?, row.get("file")?.int()?);
            Some((row.text("tid").to_owned(), first, usize::try_from(file).ok()?))
        };
        let shift = |row: &AiuJobRow<FieldCell>| {
            (row.job.text_or_empty().to_owned(), row.shift.float_or_zero() / 1e3)
        };
        let clock = clocks.times(rank, origin_ns.unwrap_or(0) * 1_000);
        let jobs = AiuJobRow::read(segment, Cancel::NEVER)?;
        #[expect(clippy::cast_possible_truncation, reason = "casts of floats saturate")]
        let end = |row: &AiuJobRow<FieldCell>| {
            let end_ps = (row.device_end.float_or_zero() * 1e3).round() as i64;
            (row.job.text_or_empty().to_owned(), clock.at(end_ps))
        };
        let listed = document.iter().find(|(key, _)| key == DEVICES);
        let listed = listed.and_then(|(_, value)| value.as_array()).map(Vec::len);
        let devices = listed.map_or_else(|| with_kernels(segment), Ok)?;
        let clock_of_device = ClockRow::read(segment, Cancel::NEVER)?;
        Ok(Self {
            segment,
            rank,
            title: segment.footer().rank.title.clone(),
            clock,
            used_hz: clock_of_device.first().map_or(0.0, |row| row.used_hz.float_or_zero()),
            document,
            threads: rows::of(segment, THREADS)?.iter().filter_map(thread).collect(),
            ideals: Ideals::of(segment)?,
            devices,
            device_step: devices.max(1),
            files: rows::of(segment, FILES)?.iter().map(file).collect(),
            shifts: jobs.iter().map(shift).collect(),
            job_ends: jobs.iter().map(end).collect(),
            places: rows::of(segment, TRACKS)?.iter().filter_map(place).collect(),
        })
    }

    /// A time on the clock of the output.
    #[must_use]
    pub fn time(&self, ps: i64) -> i128 {
        self.clock.at(ps)
    }

    /// A time on the trace's own clock.
    #[must_use]
    pub fn stated(&self, ps: i64) -> i128 {
        self.clock.origin_ps + i128::from(ps)
    }

    /// Process, thread or counter of a track.
    #[must_use]
    pub fn place(&self, track: TrackId) -> Option<&TracePlace> {
        self.places.get(&track.0)
    }

    /// Processes and threads of all tracks.
    pub fn places(&self) -> impl Iterator<Item = &TracePlace> {
        self.places.values()
    }

    /// The dialect of a file of the rank.
    #[must_use]
    pub fn dialect_of(&self, file: usize) -> Dialect {
        self.files.get(file).map_or(Dialect::Flex, |file| file.dialect)
    }

    /// The name of a file of the rank.
    #[must_use]
    pub fn file_name(&self, file: usize) -> &str {
        self.files.get(file).map_or(&self.title, |file| &file.name)
    }

    /// Whether the rank has files of this dialect.
    #[must_use]
    pub fn has(&self, dialect: Dialect) -> bool {
        self.files.iter().any(|file| file.dialect == dialect)
    }

    /// The dialect of an event that tells no file: PyTorch's if no other file is there.
    #[must_use]
    pub fn main_dialect(&self) -> Dialect {
        if self.has(Dialect::Flex) || !self.has(Dialect::Torch) { Dialect::Flex } else { Dialect::Torch }
    }

    /// Shift of a job into its round trips in microseconds.
    #[must_use]
    pub fn shift_us(&self, job: &str) -> f64 {
        self.shifts.get(job).copied().unwrap_or(0.0)
    }

    /// The number of a device of this rank among the devices of all ranks. Every rank calls its
    /// only device 0.
    #[must_use]
    pub fn device(&self, device: i64) -> i64 {
        device_number(self.rank, self.device_step, device)
    }

    /// The process of an event of PyTorch's dialect: processes of devices have their numbers.
    #[must_use]
    pub fn process(&self, pid: Json) -> Json {
        pid.as_i64().map_or(pid, |number| Json::from(self.device(number)))
    }

    /// The metadata events of the trace. Those of FLEX stay in the process of the rank.
    pub fn metadata(&self) -> Result<Vec<Event>> {
        let is_flex = self.main_dialect() == Dialect::Flex && !self.has(Dialect::Torch);
        let event = |row: &Row| {
            let name = row.text("name");
            let pid = row.get("pid").map_or(Json::Null, id_of);
            let is_device = pid.as_i64().is_some_and(|pid| (0..self.device_step as i64).contains(&pid));
            let pid = if is_flex { Json::from(self.rank) } else { self.process(pid) };
            let mut event = Event::new('M', name, self.clock.origin_ps, pid);
            if !name.starts_with("process_") {
                event.tid = row.get("tid").map_or(Json::Null, id_of);
            }
            if let Some(Json::Object(args)) = row.get("args").map(json) {
                event.args = args.into_iter().collect();
            }
            if is_flex {
                event.args.insert("rank", Json::from(self.rank));
            } else if let Some(position) = event.args.get_mut("sort_index")
                && name == "process_sort_index"
            {
                let of_rank = i64::from(self.rank) * RANK_POSITIONS;
                *position = Json::from(of_rank + if is_device { DEVICE_POSITION } else { 0 });
            } else if let Some(Json::String(labels)) = event.args.get_mut("labels")
                && is_device
                && self.device_step == 1
            {
                *labels = labels_of_rank(labels, self.rank);
            }
            event
        };
        Ok(rows::of(self.segment, METADATA_EVENTS)?.iter().map(event).collect())
    }
}

/// Number of the devices of a rank up to the last one with kernels. 0 if the rank has one device
/// only, because its rows do not state it.
fn with_kernels(segment: &SegmentFile) -> Result<usize> {
    let rows = ActiveRow::read(segment, Cancel::NEVER)?;
    let last = rows.iter().filter_map(|row| row.device.int()).max();
    Ok(last.and_then(|last| usize::try_from(last + 1).ok()).unwrap_or(0))
}

/// The number of a device of a rank among the devices of all ranks, if each has so many.
#[must_use]
pub fn device_number(rank: u32, devices: usize, device: i64) -> i64 {
    let step = i64::try_from(devices).unwrap_or(1);
    if (0..step).contains(&device) { i64::from(rank) * step + device } else { device }
}

/// Labels of the device of a rank: the number at their end is that of the rank.
fn labels_of_rank(labels: &str, rank: u32) -> String {
    let rest = labels.trim_end_matches(|sign: char| sign.is_ascii_digit());
    if rest.len() < labels.len() { format!("{rest}{rank}") } else { labels.to_owned() }
}

fn file(row: &Row) -> FileOf {
    let is_torch = row.text("keys").split(' ').any(|key| OF_TORCH.contains(&key));
    let dialect = if is_torch { Dialect::Torch } else { Dialect::Flex };
    FileOf { name: row.text("name").to_owned(), dialect }
}

fn place(row: &Row) -> Option<(u32, TracePlace)> {
    let track = u32::try_from(row.get("track")?.int()?).ok()?;
    let part = |key: &str| row.get(key).map_or(Json::Null, id_of);
    let text = |key: &str| row.text(key).to_owned();
    let place = TracePlace {
        pid: part("pid"),
        tid: part("tid"),
        counter: text("counter"),
        series: text("series"),
        counter_id: text("counter_id"),
    };
    Some((track, place))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_end_with_the_rank() {
        assert_eq!(labels_of_rank("AIU 0", 3), "AIU 3");
        assert_eq!(labels_of_rank("CPU", 3), "CPU");
    }
}
