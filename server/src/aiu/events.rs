//! The events of a rank as acelyzer writes them: slices of the host and of the device with their
//! arguments, and counters.
//!
//! FLEX: threads are numbered from 1000 in steps of 100, in the order of their first slices. Slices
//! of the host are in process 1000 + rank; those of the device in the process of the rank.
//! PyTorch's events keep their processes and threads.

use std::collections::HashMap;
use std::sync::Arc;

use nprof_engine::model::{FieldId, Form as SliceForm, OwnedValue, TableId, TrackId};
use nprof_engine::query::{Order, RowContent, TimedRow, for_each_timed};
use nprof_engine::vendor::aiu::Class;
use nprof_engine::vendor::aiu::schema::{COLLECTIVES, COUNTERS, OPS};
use serde_json::Value as Json;

use super::args::Args;
use super::error::Result;
use super::event::Event;
use super::form::{Form, Names, Preps, StepForm, Threads};
use super::lanes::{Lanes, Placed};
use super::launches::Launches;
use super::source::{Dialect, Source, into_json, json, process};
use super::steps::Steps;
use super::sums::Sums;
use super::{device, names, series};

/// Table of the events that the ordinary reader of Trace Event JSON keeps.
const SLICES: &str = "slice";
/// Process of the host of rank 0.
pub const HOST: i64 = 1_000;
/// Number of the first thread, and the distance between threads.
const FIRST_THREAD: i64 = 1_000;
const THREAD_STEP: i64 = 100;

/// Receiver of events.
pub type Each<'e> = dyn FnMut(&Event) -> Result<()> + 'e;

/// Writer of the events of a rank.
pub struct Events<'a> {
    source: &'a Source<'a>,
    form: &'a Form,
    /// Names of fields.
    keys: Vec<Arc<str>>,
    /// Slices that overlap others.
    pub lanes: Lanes,
    threads: HashMap<String, i64>,
    series: HashMap<TrackId, Option<series::Written>>,
    tables: [Option<TableId>; 3],
    /// Last times of the host and of the device.
    last: [Option<i128>; 2],
    pairs: u64,
    sums: Sums,
    /// Launches of kernels in PyTorch's dialect.
    pub launches: Launches,
}

impl<'a> Events<'a> {
    /// Events of a rank in this form.
    #[must_use]
    pub fn new(source: &'a Source<'a>, form: &'a Form) -> Self {
        Self {
            source,
            form,
            keys: source.segment.footer().fields.iter().map(|(_, of)| of.name.as_str().into()).collect(),
            lanes: Lanes::new(form.overlap, form.max_streams),
            threads: HashMap::new(),
            series: HashMap::new(),
            tables: [OPS.name, SLICES, COUNTERS.name].map(|name| source.segment.table(name)),
            last: [None; 2],
            pairs: 0,
            sums: Sums::default(),
            launches: Launches::default(),
        }
    }

    /// Calls `each` with every event of the rank, by time; metadata come last. Steps of collective
    /// operations go to `steps`, too.
    ///
    /// # Errors
    /// If bytes are missing or damaged, or if `each` fails.
    pub fn for_each(&mut self, steps: &mut Steps, each: &mut Each<'_>) -> Result<()> {
        for event in self.source.metadata()? {
            each(&event)?;
        }
        let tables: Vec<TableId> = self.tables.into_iter().flatten().collect();
        for_each_timed(self.source.segment, &tables, Order::Time, |row| {
            if self.source.segment.table_of(row.track) == self.tables[2] {
                self.sample(&row, each)
            } else {
                self.slice(row, steps, each)
            }
        })?;
        for mut event in std::mem::take(&mut self.sums).finish() {
            self.shorten(&mut event);
            each(&event)?;
        }
        if self.form.has_collectives {
            self.collectives(each)?;
        }
        self.processes(each)
    }

    fn sample(&mut self, row: &TimedRow, each: &mut Each<'_>) -> Result<()> {
        let RowContent::Sample { value } = row.content else { return Ok(()) };
        let (segment, form) = (self.source.segment, self.form);
        let written =
            self.series.entry(row.track).or_insert_with(|| series::of_track(segment, row.track, form));
        let Some(written) = written else { return Ok(()) };
        each(&written.event(self.source.time(row.start_ps), i64::from(self.source.rank), value))
    }

    fn slice(&mut self, row: TimedRow, steps: &mut Steps, each: &mut Each<'_>) -> Result<()> {
        let RowContent::Slice { duration_ps, name, form, .. } = row.content else { return Ok(()) };
        let of_device = self.source.segment.table_of(row.track) == self.tables[0];
        let name = self.source.segment.text(name)?;
        let mut event = Event::new('X', name, self.source.time(row.start_ps), Json::Null);
        event.duration_ps = Some(duration_ps);
        let fields = self.named(row.fields);
        if of_device {
            let of = device::Op { name, fields };
            let Some(thread) = device::fill(&mut event, of, self.source) else { return Ok(()) };
            if !self.form.has_utilization {
                event.args.remove("pt_active");
                event.args.remove("core used");
            }
            if self.form.preps == Preps::Counted && device::is_prep(name) {
                // The number of preparations is a counter.
                self.thread(&thread);
                return Ok(());
            }
            event.tid = Json::from(self.thread(&thread));
        } else {
            self.of_host(&mut event, row.track, fields);
        }
        match form {
            SliceForm::Complete => {}
            SliceForm::Unfinished if of_device => {
                event.args.insert("unfinished", Json::from(true));
            }
            // Viewers draw a begin without its end to the end of the trace.
            SliceForm::Unfinished => {
                (event.phase, event.duration_ps) = ('B', None);
                return each(&event);
            }
            SliceForm::Instant => {
                (event.phase, event.duration_ps) = ('i', None);
                return each(&event);
            }
        }
        let is_summed = of_device && self.form.steps == StepForm::Summed;
        if !is_summed && (of_device || event.args.contains_key("stream")) {
            self.shorten(&mut event);
        }
        let Some(mut placed) = self.place(event, row.start_ps, each)? else { return Ok(()) };
        if of_device {
            steps.take(self.source.rank, &placed, name);
        } else if self.source.dialect == Dialect::Torch && self.form.has_launches {
            self.launches.take(&placed);
        }
        if is_summed {
            let Some(other) = self.sums.take(placed) else { return Ok(()) };
            placed = other;
            self.shorten(&mut placed);
        }
        each(&placed)
    }

    /// Fields with their names, in the order of the segment.
    fn named(&self, fields: Vec<(FieldId, OwnedValue)>) -> Vec<(Arc<str>, OwnedValue)> {
        fields.into_iter().map(|(id, value)| (self.keys[id.0 as usize].clone(), value)).collect()
    }

    /// Number of a thread of FLEX.
    fn thread(&mut self, name: &str) -> i64 {
        if let Some(&known) = self.threads.get(name) {
            return known;
        }
        let number = FIRST_THREAD + THREAD_STEP * i64::try_from(self.threads.len()).unwrap_or(0);
        let kept = Some(self.form.threads).filter(|of| *of == Threads::Kept);
        let number = kept.and_then(|_| name.trim_matches('"').parse().ok()).unwrap_or(number);
        self.threads.insert(name.to_owned(), number);
        number
    }

    /// Takes the numbers from the name of a slice of the device, if the form asks for it.
    fn shorten(&self, event: &mut Event) {
        let short = names::shortened(&event.name);
        if self.form.names == Names::Shortened && short != event.name {
            let original = std::mem::replace(&mut event.name, short);
            event.args.insert("orig_name", Json::from(original));
        }
    }

    fn of_host(&mut self, event: &mut Event, track: TrackId, fields: Vec<(Arc<str>, OwnedValue)>) {
        for (key, value) in fields {
            match (&*key, value) {
                ("cat", OwnedValue::Text(category)) => event.category = Some(category),
                (_, value) => event.args.insert(key, into_json(value)),
            }
        }
        let rank = i64::from(self.source.rank);
        let (pid, tid) = self.source.place(track).cloned().unwrap_or((Json::from(rank), Json::Null));
        event.args.insert("rank", Json::from(rank));
        let class = match self.source.dialect {
            Dialect::Torch => {
                (event.pid, event.tid) = (self.source.process(pid), tid);
                if let Some(device) = event.args.get_mut("device") {
                    *device = Json::from(rank);
                }
                Class::of_torch(event.category.as_deref().unwrap_or_default(), &event.name)
            }
            Dialect::Flex => {
                let class = Class::of_host(&event.name);
                let thread = self.thread(&tid.to_string());
                event.pid = Json::from(HOST + rank);
                // Round trips have a thread of their own.
                let has_own = class == Class::RoundtripAiu || self.form.threads == Threads::Kept;
                event.tid = Json::from(if has_own { thread } else { FIRST_THREAD });
                event.category.get_or_insert_with(|| "cpu_op".to_owned());
                class
            }
        };
        event.args.insert("class", Json::from(class.name()));
    }

    /// Puts a slice where it does not cross the others of its thread. Returns the slice, unless it
    /// was left out or written as a pair.
    fn place(&mut self, mut event: Event, start_ps: i64, each: &mut Each<'_>) -> Result<Option<Event>> {
        let duration_ps = event.duration_ps.unwrap_or(0);
        let side = usize::from(event.pid.as_i64() == Some(i64::from(self.source.rank)));
        let end_ps = event.time_ps + i128::from(duration_ps);
        self.last[side] = Some(self.last[side].map_or(end_ps, |last| last.max(end_ps)));
        let (Some(pid), Some(tid)) = (event.pid.as_i64(), event.tid.as_i64()) else { return Ok(Some(event)) };
        match self.lanes.place((pid, tid), start_ps, start_ps.saturating_add(duration_ps)) {
            Placed::Dropped => return Ok(None),
            Placed::On(tid) => event.tid = Json::from(tid),
            Placed::Later(later_ps) => {
                let us = |ps: i128| Json::from(ps as f64 / 1e6);
                event.args.insert("orig_ts", us(event.time_ps));
                event.args.insert("orig_dur", us(i128::from(duration_ps)));
                event.time_ps += i128::from(later_ps);
                event.duration_ps = Some((duration_ps - later_ps).max(0));
            }
            Placed::Async => {
                self.pairs += 1;
                (event.phase, event.id, event.duration_ps) = ('b', Some(self.pairs), None);
                each(&event)?;
                let end = Event { phase: 'e', time_ps: end_ps, args: Args::default(), ..event };
                each(&end)?;
                return Ok(None);
            }
        }
        Ok(Some(event))
    }

    /// Slices of whole collective operations.
    fn collectives(&mut self, each: &mut Each<'_>) -> Result<()> {
        let Some(table) = self.source.segment.table(COLLECTIVES.name) else { return Ok(()) };
        let rank = i64::from(self.source.rank);
        for_each_timed(self.source.segment, &[table], Order::Time, |row| {
            let RowContent::Slice { duration_ps, name, .. } = row.content else { return Ok(()) };
            let name = self.source.segment.text(name)?;
            let mut event = Event::new('X', "gloo:all_reduce", self.source.time(row.start_ps), Json::Null);
            event.duration_ps = Some(duration_ps);
            event.category = Some("user_annotation".to_owned());
            (event.pid, event.tid) = (Json::from(HOST + rank), Json::from(format!("coll{rank}")));
            for (key, value) in self.named(row.fields) {
                match &*key {
                    "bytes" => event.args.insert("bytes", Json::from(format!("{}B", json(&value)))),
                    "moved_bytes" => event.args.insert("Coll_data_size", json(&value)),
                    _ => event.args.insert(key, json(&value)),
                }
            }
            event.args.insert("CollGroup", Json::from(name));
            event.args.insert("orig_name", Json::from(name));
            each(&event)
        })
    }

    /// Names of the processes of FLEX.
    fn processes(&self, each: &mut Each<'_>) -> Result<()> {
        let rows = |table: TableId| self.source.segment.footer().tables[usize::from(table.0)].rows;
        if self.source.dialect == Dialect::Torch && self.tables[0].is_none_or(|table| rows(table) == 0) {
            return Ok(());
        }
        let rank = i64::from(self.source.rank);
        let titles = [(HOST + rank, format!("Host{rank}"), 0), (rank, format!("AIU Device{rank}"), 1)];
        for ((pid, name, side), last) in titles.into_iter().zip(self.last) {
            let Some(last) = last else { continue };
            process(pid, &name, 3 * rank + side, last).iter().try_for_each(&mut *each)?;
        }
        Ok(())
    }
}
