//! The events of a rank as acelyzer writes them: slices of the host and of the device with their
//! arguments, and counters.
//!
//! FLEX: threads have the [`ThreadNumbers`] of all ranks. Slices of the host are in process 1000 +
//! rank; those of the device in the process of the rank. PyTorch's events keep their processes and
//! threads. Each file of a rank has its own dialect.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use nprof_engine::makers::aiu::schema::{COUNTERS, OPS, OpRow};
use nprof_engine::makers::aiu::{AiuClass, Phase};
use nprof_engine::model::{FieldId, OwnedValue, SliceForm, TableId, TrackId};
use nprof_engine::query::{RowContent, RowOrder, TimedRow, for_each_timed};
use serde_json::Value as Json;

use super::args::Args;
use super::error::Result;
use super::event::{Each, Event, HOST};
use super::form::{EventForm, Forms, NameForm, Preps, StepForm, Threads};
use super::host::{self, NamedFields, Own, Samples};
use super::lanes::{Lanes, Placed, Thread};
use super::launches::Launches;
use super::source::{Dialect, SLICES, Source, process};
use super::steps::MessageSteps;
use super::sums::Sums;
use super::threads::{FIRST_THREAD, ThreadNumbers};
use super::{device, names, operations, points, series};

/// Tables of the ordinary reader of Trace Event JSON.
const SAMPLES: &str = "counter";
const ASYNCS: &str = "async";
/// Category of kernels in PyTorch's dialect.
const KERNEL: &str = "kernel";

/// The tables with events, as far as the segment has them.
#[derive(Debug, Clone, Copy)]
struct Tables {
    ops: Option<TableId>,
    slices: Option<TableId>,
    counters: Option<TableId>,
    samples: Option<TableId>,
    asyncs: Option<TableId>,
}

/// Writer of the events of a rank.
pub struct Events<'a> {
    source: &'a Source<'a>,
    form: &'a EventForm,
    numbers: &'a mut ThreadNumbers,
    /// Names of fields.
    keys: Vec<Arc<str>>,
    /// Slices that overlap others.
    pub lanes: Lanes,
    /// The counters that nprof computes. A trace that acelyzer or nprof wrote has them already,
    /// perhaps with other values.
    series: HashMap<TrackId, series::WrittenCounter>,
    tables: Tables,
    /// Rows with the same time.
    waiting: Vec<TimedRow>,
    samples: Samples,
    /// Last starts of the host and of the device.
    last: [Option<i128>; 2],
    pairs: u64,
    sums: Sums,
    launches: Launches,
    points: Vec<points::ArrowPoint>,
    /// Place of each thread of FLEX, if points of arrows need it.
    places: HashMap<String, (Json, Json)>,
    /// Ends of kernels outside of collective operations.
    pub kernels: operations::Kernels,
}

impl<'a> Events<'a> {
    /// Events of a rank in this form.
    pub fn new(source: &'a Source<'a>, form: &'a EventForm, numbers: &'a mut ThreadNumbers) -> Result<Self> {
        let table = |name: &str| source.segment.table(name);
        Ok(Self {
            source,
            form,
            keys: source.segment.footer().fields.iter().map(|(_, of)| of.name.as_str().into()).collect(),
            lanes: Lanes::new(form.overlap, form.max_streams, threads(source, numbers)),
            numbers,
            series: series::of(source.segment, form),
            tables: Tables {
                ops: table(OPS.name),
                slices: table(SLICES),
                counters: table(COUNTERS.name),
                samples: table(SAMPLES),
                asyncs: table(ASYNCS),
            },
            waiting: Vec::new(),
            samples: Samples::default(),
            last: [None; 2],
            pairs: 0,
            sums: Sums::new(source.job_ends.clone()),
            launches: Launches::default(),
            points: points::of(source.segment)?,
            places: HashMap::new(),
            kernels: operations::Kernels::default(),
        })
    }

    /// Calls `each` with every event of the rank, by time; metadata and arrows come last. Steps of
    /// collective operations go to `steps`, too. Arrows are numbered after `last_arrow`.
    pub fn for_each(
        &mut self,
        steps: &mut MessageSteps,
        last_arrow: &mut u64,
        each: &mut Each<'_>,
    ) -> Result<()> {
        for event in self.source.metadata()? {
            each(&event)?;
        }
        let Tables { ops, slices, counters, samples, asyncs } = self.tables;
        let tables: Vec<TableId> = [ops, slices, counters, samples, asyncs].into_iter().flatten().collect();
        for_each_timed(self.source.segment, &tables, RowOrder::Time, |row| {
            if self.waiting.first().is_some_and(|first| first.start_ps != row.start_ps) {
                self.rows(steps, each)?;
            }
            self.waiting.push(row);
            Ok::<_, super::error::AiuError>(())
        })?;
        self.rows(steps, each)?;
        for mut event in std::mem::take(&mut self.sums).finish() {
            self.shorten(&mut event);
            each(&event)?;
        }
        let (points, source) = (std::mem::take(&mut self.points), self.source);
        points::events(&points, source, &self.places, last_arrow).iter().try_for_each(&mut *each)?;
        let launches = std::mem::take(&mut self.launches);
        launches.arrows(&points, source, last_arrow).iter().flatten().try_for_each(&mut *each)?;
        self.processes(each)
    }

    /// Writes the rows that start together: the longest slices first, because others lie within.
    fn rows(&mut self, steps: &mut MessageSteps, each: &mut Each<'_>) -> Result<()> {
        let mut rows = std::mem::take(&mut self.waiting);
        rows.sort_by_key(|row| match row.content {
            RowContent::Slice { duration_ps, .. } => Reverse(duration_ps),
            RowContent::Sample { .. } => Reverse(-1),
        });
        for row in rows.drain(..) {
            let table = self.source.segment.table_of(row.track);
            if table == self.tables.counters {
                self.sample(&row, each)?;
            } else if table == self.tables.samples {
                self.host_sample(row);
            } else if table == self.tables.asyncs {
                self.asynchronous(row, each)?;
            } else {
                self.slice(row, steps, each)?;
            }
        }
        self.waiting = rows;
        self.samples.flush(each)
    }

    fn sample(&mut self, row: &TimedRow, each: &mut Each<'_>) -> Result<()> {
        let RowContent::Sample { value } = row.content else { return Ok(()) };
        let Some(written) = self.series.get(&row.track) else { return Ok(()) };
        each(&written.event(self.source, row.start_ps, value))
    }

    /// Takes a sample of a counter of the trace, unless nprof computes it. Counters of FLEX belong
    /// to the rank.
    fn host_sample(&mut self, row: TimedRow) {
        let RowContent::Sample { value } = row.content else { return };
        let own = Own::of(self.named(row.fields));
        let (source, time_ps) = (self.source, self.source.time(row.start_ps));
        // Tracks that nprof adds, such as those of allocated bytes, are no counters of the trace.
        let Some(place) = source.place(row.track) else { return };
        if place.series.is_empty() && !own.args.contains_key("series") {
            return;
        }
        let stated = own.pid.clone().unwrap_or_else(|| place.pid.clone());
        let pid = match source.main_dialect() {
            Dialect::Flex => Json::from(source.rank),
            Dialect::Torch => source.process(stated),
        };
        let counter = own.args.get("counter").and_then(Json::as_str).unwrap_or(&place.counter);
        let is_computed = |pid: i64| self.series.values().any(|of| of.is(counter, pid, source));
        if pid.as_i64().is_some_and(is_computed) {
            return;
        }
        self.samples.take(place, pid, time_ps, own, value);
    }

    /// Writes an asynchronous slice of the trace.
    fn asynchronous(&mut self, row: TimedRow, each: &mut Each<'_>) -> Result<()> {
        let RowContent::Slice { duration_ps, name, form, .. } = row.content else { return Ok(()) };
        let source = self.source;
        let own = Own::of(self.named(row.fields));
        let place = source.place(row.track);
        let pid = own.pid.or_else(|| place.map(|place| place.pid.clone())).unwrap_or(Json::Null);
        let mut event = Event::new('b', source.segment.text(name)?, source.time(row.start_ps), pid);
        (event.category, event.id, event.args) = (own.category, own.id, own.args);
        event.tid = own.tid.unwrap_or(Json::Null);
        event.args.insert("rank", Json::from(source.rank));
        event.pid = match source.main_dialect() {
            Dialect::Flex => Json::from(source.rank),
            Dialect::Torch => source.process(event.pid),
        };
        host::asynchronous(event, duration_ps, form, each)
    }

    fn slice(&mut self, row: TimedRow, steps: &mut MessageSteps, each: &mut Each<'_>) -> Result<()> {
        let RowContent::Slice { duration_ps, name: name_id, form, .. } = row.content else { return Ok(()) };
        let of_device = self.source.segment.table_of(row.track) == self.tables.ops;
        let name = self.source.segment.text(name_id)?;
        let mut event = Event::new('X', name, self.source.time(row.start_ps), Json::Null);
        event.duration_ps = Some(duration_ps);
        let fields = self.named(row.fields);
        let mut dialect = Dialect::Flex;
        if of_device {
            let of = device::Op { name, fields };
            let Some(thread) = device::fill(&mut event, of, self.source, self.form) else { return Ok(()) };
            if !self.form.has_utilization {
                event.args.remove(OpRow::by(|field| field.name).pt_active);
                event.args.remove("core used");
            }
            if self.form.preps == Preps::Counted && device::is_prep(name) {
                // The number of preparations is a counter.
                return Ok(());
            }
            event.tid = number(self.numbers.number(thread.trim_matches('"')));
            if !self.points.is_empty() {
                self.places.insert(thread, (event.pid.clone(), event.tid.clone()));
            }
            if self.form.has_collectives
                && Phase::of(name) == Phase::Exec
                && !event.args.contains_key("CollGroup")
            {
                self.kernels.take(event.time_ps + i128::from(duration_ps), name_id);
            }
        } else if form == SliceForm::Instant {
            return self.instant(event, row.track, fields, each);
        } else {
            dialect = self.of_host(&mut event, row.track, fields);
        }
        if form != SliceForm::Complete {
            if !of_device {
                // Viewers draw a begin without its end to the end of the trace.
                (event.phase, event.duration_ps) = ('B', None);
                return each(&event);
            }
            event.args.insert("unfinished", Json::from(true));
        }
        let is_summed = of_device && self.form.steps == StepForm::Summed;
        if !is_summed && (of_device || event.args.contains_key("stream")) {
            self.shorten(&mut event);
        }
        let Some(mut placed) = self.place(event, row.start_ps, each)? else { return Ok(()) };
        if of_device {
            steps.take(self.source.rank, &placed, name);
        } else if dialect == Dialect::Torch && self.form.has_launches {
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
    fn named(&self, fields: Vec<(FieldId, OwnedValue)>) -> NamedFields {
        fields.into_iter().map(|(id, value)| (self.keys[id.0 as usize].clone(), value)).collect()
    }

    /// Takes the numbers from the name of a slice of the device, if the form asks for it.
    fn shorten(&self, event: &mut Event) {
        let short = match self.form.forms {
            Forms::Own => names::shortened(&event.name),
            Forms::Acelyzer => names::shortened_as_acelyzer(&event.name),
        };
        if self.form.names == NameForm::Shortened && short != event.name {
            let original = std::mem::replace(&mut event.name, short);
            event.args.insert("orig_name", Json::from(original));
        }
    }

    /// Writes an instant of the trace. Those of FLEX belong to the rank and keep their threads, but
    /// what is left of a slice is on the slice's thread.
    fn instant(
        &mut self,
        mut event: Event,
        track: TrackId,
        fields: NamedFields,
        each: &mut Each<'_>,
    ) -> Result<()> {
        let own = Own::of(fields);
        let source = self.source;
        let place = source.place(track);
        let (pid, tid) = place.map_or((Json::Null, Json::Null), |of| (of.pid.clone(), of.tid.clone()));
        event.scope = Some(match (&pid, &tid) {
            (Json::Null, _) => 'g',
            (_, Json::Null) => 'p',
            _ => 't',
        });
        let (pid, tid) = (own.pid.clone().unwrap_or(pid), own.tid.clone().unwrap_or(tid));
        (event.pid, event.tid) = match source.dialect_of(own.file) {
            Dialect::Torch => (source.process(pid), tid),
            Dialect::Flex if own.is_of_slice() && own.has_counters() => {
                (Json::from(source.rank), number(self.numbers.number(&text_of(&tid))))
            }
            Dialect::Flex if own.is_of_slice() => self.thread_of_host(&tid, AiuClass::of_host(&event.name)),
            Dialect::Flex => (Json::from(source.rank), tid),
        };
        (event.phase, event.duration_ps) = ('i', None);
        (event.category, event.args) = (own.category, own.args);
        event.args.insert("rank", Json::from(source.rank));
        each(&event)
    }

    /// Fills an event with what the slice of the host, or of PyTorch's dialect, states.
    fn of_host(&mut self, event: &mut Event, track: TrackId, fields: NamedFields) -> Dialect {
        let own = Own::of(fields);
        let source = self.source;
        let dialect = source.dialect_of(own.file);
        let rank = i64::from(source.rank);
        let place = source.place(track);
        let (pid, tid) = place.map_or((Json::from(rank), Json::Null), |of| (of.pid.clone(), of.tid.clone()));
        let (pid, tid) = (own.pid.unwrap_or(pid), own.tid.unwrap_or(tid));
        (event.category, event.args) = (own.category, own.args);
        event.args.insert("rank", Json::from(rank));
        event.args.insert("jobname", Json::from(source.file_name(own.file)));
        let class = match dialect {
            Dialect::Torch => {
                (event.pid, event.tid) = (source.process(pid), tid);
                if let Some(device) = event.args.get_mut("device") {
                    *device = device.as_i64().map_or(Json::Null, |of| Json::from(source.device(of)));
                }
                self.utilization(event);
                AiuClass::of_torch(event.category.as_deref().unwrap_or_default(), &event.name)
            }
            Dialect::Flex => {
                let class = AiuClass::of_host(&event.name);
                (event.pid, event.tid) = self.thread_of_host(&tid, class);
                event.category.get_or_insert_with(|| "cpu_op".to_owned());
                if !self.points.is_empty() {
                    self.places.insert(text_of(&tid), (event.pid.clone(), event.tid.clone()));
                }
                class
            }
        };
        event.args.insert("class", Json::from(class.name()));
        dialect
    }

    /// Process and thread of a slice of the host that FLEX puts on this thread.
    fn thread_of_host(&mut self, tid: &Json, class: AiuClass) -> (Json, Json) {
        let thread = self.numbers.number(&text_of(tid));
        // Round trips have a thread of their own.
        let has_own = class == AiuClass::RoundtripAiu || self.form.threads == Threads::Kept;
        let tid = if has_own { thread } else { FIRST_THREAD };
        (Json::from(HOST + i64::from(self.source.rank)), number(tid))
    }

    /// States the category and the use of the PT arrays of a kernel of PyTorch's dialect.
    fn utilization(&self, event: &mut Event) {
        if event.category.as_deref() != Some(KERNEL) || !self.form.has_utilization {
            return;
        }
        let (ideals, duration_ps) = (&self.source.ideals, event.duration_ps.unwrap_or(0));
        let Some(category) = ideals.category(&event.name) else { return };
        event.args.insert("user_cat", Json::from(category));
        if let Some(active) = ideals.active(&event.name, duration_ps, self.form.core_mhz) {
            event.args.insert(OpRow::by(|field| field.name).pt_active, Json::from(active));
            event.args.insert("core used", Json::from(true));
        }
    }

    /// Puts a slice where it does not cross the others of its thread. Returns the slice, unless it
    /// was left out or written as a pair.
    fn place(&mut self, mut event: Event, start_ps: i64, each: &mut Each<'_>) -> Result<Option<Event>> {
        let duration_ps = event.duration_ps.unwrap_or(0);
        let side = usize::from(event.pid.as_i64() == Some(i64::from(self.source.rank)));
        self.last[side] = Some(self.last[side].map_or(event.time_ps, |last| last.max(event.time_ps)));
        let end_ps = event.time_ps + i128::from(duration_ps);
        let Some(thread) = thread(&event.pid, &event.tid) else { return Ok(Some(event)) };
        match self.lanes.place(thread, start_ps, start_ps.saturating_add(duration_ps)) {
            Placed::Dropped => return Ok(None),
            Placed::On(tid) => event.tid = number(tid),
            Placed::Later(later_ps) => {
                let us = |ps: i128| Json::from(ps as f64 / 1e6);
                event.args.insert("orig_ts", us(event.time_ps));
                event.args.insert("orig_dur", us(i128::from(duration_ps)));
                event.time_ps += i128::from(later_ps);
                event.duration_ps = Some((duration_ps - later_ps).max(0));
            }
            Placed::Async => {
                self.pairs += 1;
                (event.phase, event.id, event.duration_ps) = ('b', Some(Json::from(self.pairs)), None);
                each(&event)?;
                let end = Event { phase: 'e', time_ps: end_ps, args: Args::default(), ..event };
                each(&end)?;
                return Ok(None);
            }
        }
        Ok(Some(event))
    }

    /// Names of the processes of FLEX.
    fn processes(&self, each: &mut Each<'_>) -> Result<()> {
        let rows = |table: TableId| self.source.segment.footer().tables[usize::from(table.0)].rows;
        let has_ops = self.tables.ops.is_some_and(|table| rows(table) > 0);
        if self.source.main_dialect() == Dialect::Torch && !has_ops {
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

/// Process and thread as numbers, if they are.
fn thread(pid: &Json, tid: &Json) -> Option<Thread> {
    Some((pid.as_i64()?, tid.as_i64().map(i128::from).or_else(|| tid.as_u64().map(i128::from))?))
}

/// The id of a thread as FLEX writes it.
fn text_of(tid: &Json) -> String {
    match tid {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A thread number as JSON.
fn number(tid: i128) -> Json {
    match (i64::try_from(tid), u64::try_from(tid)) {
        (Ok(tid), _) => Json::from(tid),
        (_, Ok(tid)) => Json::from(tid),
        _ => Json::from(tid.to_string()),
    }
}

/// The threads of a rank in the output.
fn threads(source: &Source<'_>, numbers: &ThreadNumbers) -> HashSet<Thread> {
    let rank = i64::from(source.rank);
    let torch = source.has(Dialect::Torch).then(|| {
        let stated = source.places().map(|place| (source.process(place.pid.clone()), &place.tid));
        stated.filter_map(|(pid, tid)| thread(&pid, tid))
    });
    let flex = numbers.all().flat_map(|tid| [(HOST + rank, tid), (rank, tid)]);
    torch.into_iter().flatten().chain(flex).collect()
}
