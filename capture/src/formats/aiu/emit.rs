//! Writes the slices of the device, once its clock is known, and what follows from them.

use std::collections::BTreeMap;

use nprof_engine::base::{Interval, Result, clamped};
use nprof_engine::makers::aiu::schema::{AiuCounter, AiuOp};
use nprof_engine::makers::aiu::{AiuClass, AiuTracks, CounterKind, HCOLL, LaneKind, Phase, STAMPS};
use nprof_engine::model::{Sink, SliceForm, SliceRecord, Value, WarningKind};
use nprof_engine::spill::{Scratch, Sorter, Space};

use super::argument::ArgumentFields;
use super::choice::TableChoices;
use super::clock::CounterClock;
use super::collective::{CollectiveStep, Collectives, StepEnd};
use super::device_slice::{DeviceSlice, HAS_CHARGE, HAS_GROUP, IS_UNFINISHED};
use super::edges::Edges;
use super::hcoll::{HcollOperations, Protocol};
use super::job::JobFiles;
use super::kernel::{Kernel, Lot, RatedTransfer};
use super::names::SliceNames;
use super::power::{KINDS, PowerSample, Readings, Scale};
use super::runs::{Active, KernelRuns, RATIO};
use super::settings::DurationClock;
use super::shift::ClockShift;
use super::summary::Ran;
use super::usage::{ArrayUsage, MatchedIdeal};
use super::watts::Watts;

/// Shortest slice whose charge is a reading of the power, in picoseconds.
const MIN_READING_PS: i64 = 100_000;

/// Most slices have no more fields.
const USUAL_FIELDS: usize = 24;
/// Most threads with tracks of their own. Further ones share a track.
const MAX_LANES: u32 = 4096;

/// Facts about a rank that its slices are written with.
#[derive(Clone, Copy)]
pub(super) struct RankFacts<'a> {
    pub(super) clock: &'a CounterClock,
    pub(super) names: &'a SliceNames,
    pub(super) jobs: &'a JobFiles,
    pub(super) threads: &'a [Box<str>],
    /// Whether the rank has several devices.
    pub(super) has_devices: bool,
    /// Whether work outside of its round trips is shifted.
    pub(super) fixes_jobs: bool,
    pub(super) durations: DurationClock,
    /// Frequency of the cores, if there are ideal cycles.
    pub(super) core_hz: Option<f64>,
    /// Shift of the runtime's clock to PyTorch's.
    pub(super) shift: Option<ClockShift>,
    pub(super) scale: Scale,
}

/// Totals of the slices of a rank.
#[derive(Debug, Clone, Default)]
pub(super) struct SliceTotals {
    pub(super) slices: u64,
    /// Slices within which the counter overflowed.
    pub(super) wraps_in_slices: u64,
    /// Slices whose counters run backwards.
    pub(super) reversed: u64,
    /// Durations of all kernels by the host and by their cycles, in picoseconds.
    pub(super) host_ps: i64,
    pub(super) device_ps: i64,
    /// Whether the compiler's tables name no kernel.
    pub(super) has_other_tables: bool,
    /// Times of the kernels by device.
    pub(super) actives: BTreeMap<u16, Active>,
}

/// Place of a slice in time.
#[derive(Debug, Clone, Copy)]
struct SlicePlace {
    start_ps: i64,
    end_ps: i64,
    /// Cycles of the slice's phase, if its counters are usable.
    cycles: Option<u32>,
}

/// Writer of the slices of a rank.
pub(super) struct SliceEmitter<'a, 's> {
    sink: &'a mut dyn Sink,
    facts: RankFacts<'a>,
    usage: ArrayUsage<'a>,
    choices: TableChoices,
    runs: KernelRuns<'s>,
    tracks: AiuTracks,
    arguments: ArgumentFields,
    counter: AiuCounter,
    readings: Readings<'s>,
    preps: Edges<'s>,
    data_in: Edges<'s>,
    data_out: Edges<'s>,
    collectives: Collectives<'s>,
    totals: SliceTotals,
}

impl<'a, 's> SliceEmitter<'a, 's> {
    pub(super) fn new(
        sink: &'a mut dyn Sink,
        facts: RankFacts<'a>,
        usage: ArrayUsage<'a>,
        choices: TableChoices,
        rank: Option<u32>,
        space: Space<'s>,
    ) -> Result<Self> {
        let (op, counter) = (AiuOp::define(sink)?, AiuCounter::define(sink)?);
        let end = |job: &super::job::JobFile| job.device.map_or(i64::MIN, |span| span.end_ps);
        let file_ends = facts.jobs.all.iter().map(end).collect();
        Ok(Self {
            sink,
            facts,
            usage,
            choices,
            runs: KernelRuns::new(space),
            tracks: if facts.has_devices { AiuTracks::of_several(rank) } else { AiuTracks::new(rank) },
            arguments: ArgumentFields::new(op),
            counter,
            readings: Readings::new(space),
            preps: Edges::new(space),
            data_in: Edges::new(space),
            data_out: Edges::new(space),
            collectives: Collectives::new(rank, file_ends, space),
            totals: SliceTotals::default(),
        })
    }

    /// Writes all slices.
    pub(super) fn slices(&mut self, held: Sorter<DeviceSlice, &dyn Scratch>) -> Result<()> {
        let mut sorted = held.finish()?;
        while let Some((held, rest)) = sorted.next_with()? {
            self.slice(&held, rest)?;
        }
        Ok(())
    }

    /// Counts the kernels of PyTorch's dialect, whose slices the ordinary reader has written.
    pub(super) fn torch_kernels(
        &mut self,
        mut kernels: impl FnMut() -> Result<Option<Kernel>>,
    ) -> Result<()> {
        while let Some(kernel) = kernels()? {
            if kernel.is_torch {
                let Kernel { job, device, name, start_ps, end_ps, .. } = kernel;
                self.kernel(job, Ran { device, name, start_ps, end_ps, steps: None })?;
            }
        }
        Ok(())
    }

    /// Counts the cycles and the charge of slices of the runtime that the ordinary reader has
    /// written.
    pub(super) fn written(&mut self, written: Sorter<DeviceSlice, &'s dyn Scratch>) -> Result<()> {
        let mut sorted = written.finish()?;
        while let Some((held, _)) = sorted.next_with()? {
            self.totals.slices += 1;
            let phase = self.facts.names.of(held.name).phase;
            let placed = self.place(&held, phase);
            // The charges of several devices are no series.
            if !self.facts.has_devices {
                let repaired = self.repaired(&held, phase, placed);
                self.charge(&held, placed, repaired)?;
            }
            if phase == Phase::Exec {
                self.sum(&held, placed);
                let device = u16::try_from(held.thread).unwrap_or(0);
                if let Some(steps) = steps(&held, placed) {
                    self.runs.count(self.facts.names, device, held.name, steps)?;
                }
            }
        }
        Ok(())
    }

    /// Takes the steps of collective operations of PyTorch's dialect.
    pub(super) fn protocols(&mut self, protocols: Sorter<Protocol, &'s dyn Scratch>) -> Result<()> {
        let mut operations = HcollOperations::default();
        let mut sorted = protocols.finish()?;
        while let Some(protocol) = sorted.next()? {
            let step = CollectiveStep {
                group: Some(operations.of(protocol).to_string()),
                title: Some(HCOLL),
                bytes: Some(protocol.bytes),
                ..CollectiveStep::default()
            };
            let name = &self.facts.names.of(protocol.name).text;
            let end = StepEnd(protocol.end_ps, None);
            self.collectives.step(&step, protocol.job, protocol.name, name, protocol.start_ps, end);
        }
        Ok(())
    }

    /// Writes the rates that transfers state.
    pub(super) fn transfers(
        &mut self,
        transfers: Sorter<RatedTransfer, &'s dyn Scratch>,
        space: Space<'s>,
    ) -> Result<()> {
        let mut edges = Edges::new(space);
        let mut sorted = transfers.finish()?;
        while let Some(&RatedTransfer { start_ps, end_ps, rate, device, .. }) = sorted.next()? {
            edges.add_on(device, Interval::new(start_ps, end_ps), clamped(rate))?;
        }
        self.counter(CounterKind::TransferRate, edges, 1.0)
    }

    fn slice(&mut self, held: &DeviceSlice, rest: &[u8]) -> Result<()> {
        self.totals.slices += 1;
        let name = self.facts.names.of(held.name);
        let placed = self.place(held, name.phase);
        let repaired = self.repaired(held, name.phase, placed);
        let has_group = held.is(HAS_GROUP);
        let job = &self.facts.jobs.all[held.job as usize];
        let class = self.class(held);
        let op = self.arguments.op;
        let host_ps = held.host_ps();
        let mut fields = Vec::with_capacity(USUAL_FIELDS);
        fields.extend([
            (op.class, Value::Text(class.name())),
            (op.job, Value::Text(&job.name)),
            (op.thread, Value::Text(&self.facts.threads[held.thread as usize])),
            (op.host_duration, Value::Int(host_ps)),
        ]);
        let stamps = [op.ts1, op.ts2, op.ts3, op.ts4, op.ts5];
        for (at, (field, cycle)) in stamps.into_iter().zip(repaired).enumerate() {
            if held.has_stamp(at) {
                fields.push((field, Value::Int(cycle)));
            }
        }
        if let Some(cycles) = placed.cycles {
            fields.push((op.cycles, Value::Int(i64::from(cycles))));
            fields.push((op.wraps, Value::Int(repaired[0].div_euclid(1 << 32))));
        }
        if held.is(HAS_CHARGE) {
            fields.push((op.charge, Value::Int(i64::from(held.charge))));
        }
        let mut step = self.arguments.read(self.sink, rest, &mut fields)?;
        if step.bytes.is_none() && name.bytes.is_some() {
            step.bytes = name.bytes;
            fields.extend(name.bytes.map(|bytes| (op.bytes, Value::Int(bytes))));
        }
        let end = StepEnd(placed.end_ps, placed.cycles.map(|_| repaired[name.phase.stamps().last]));
        if has_group {
            self.collectives.step(&step, held.job, held.name, &name.text, placed.start_ps, end);
        } else if name.phase == Phase::Exec {
            self.collectives.kernel(end)?;
        }
        let matched = self.follow(held, placed, repaired, step.bytes)?;
        fields.extend(matched.iter().flat_map(|matched| matched.fields(&op)));
        let lane = LaneKind::of(name.phase, has_group);
        let track = self.tracks.lane(self.sink, op.table, lane, held.thread.min(MAX_LANES))?;
        let form = if held.is(IS_UNFINISHED) { SliceForm::Unfinished } else { SliceForm::Complete };
        let duration_ps = placed.end_ps.saturating_sub(placed.start_ps);
        let record = SliceRecord {
            track,
            start_ps: placed.start_ps,
            duration_ps,
            name: match &step.name {
                Some(text) => self.sink.name(text)?,
                None => name.id,
            },
            form,
            fields: &fields,
        };
        self.sink.slice(&record).map(|_| ())
    }

    /// The class of a slice by its name, its operation and its place among the kernels of its job.
    fn class(&self, held: &DeviceSlice) -> AiuClass {
        let name = self.facts.names.of(held.name);
        let class = if held.is(HAS_GROUP) { name.class_in_group } else { name.class };
        let is_within =
            |span: super::job::GrowingSpan| held.start_ps > span.start_ps && held.start_ps < span.end_ps;
        let kernels = self.facts.jobs.all[held.job as usize].kernel_starts;
        if kernels.is_some_and(is_within) { class.within_job() } else { class }
    }

    /// The end by the host stays, and the length is that of the counters.
    fn place(&mut self, held: &DeviceSlice, phase: Phase) -> SlicePlace {
        let stamps = phase.stamps();
        let shift_ps =
            if self.facts.fixes_jobs { self.facts.jobs.all[held.job as usize].shift_ps() } else { 0 };
        let (start_ps, end_ps) =
            (held.start_ps.saturating_add(shift_ps), held.end_ps.saturating_add(shift_ps));
        if !held.has(stamps) {
            return SlicePlace { start_ps, end_ps, cycles: None };
        }
        let cycles = held.cycles(stamps);
        if self.facts.durations == DurationClock::Host {
            return SlicePlace { start_ps, end_ps, cycles: Some(cycles) };
        }
        let device_ps = self.facts.clock.ps(f64::from(cycles));
        if held.is(IS_UNFINISHED) {
            return SlicePlace { start_ps, end_ps: start_ps.saturating_add(device_ps), cycles: Some(cycles) };
        }
        let falls = held.stamps[stamps.last] < held.stamps[stamps.first];
        // An overflow takes seconds. Counters that fall within a short slice run backwards.
        if falls && cycles > i32::MAX.unsigned_abs() && device_ps / 2 > held.host_ps() {
            self.totals.reversed += 1;
            return SlicePlace { start_ps, end_ps, cycles: None };
        }
        self.totals.wraps_in_slices += u64::from(falls);
        SlicePlace { start_ps: end_ps.saturating_sub(device_ps), end_ps, cycles: Some(cycles) }
    }

    /// The counters with all overflows since the first slice of the rank.
    fn repaired(&self, held: &DeviceSlice, phase: Phase, placed: SlicePlace) -> [i64; STAMPS] {
        let last = phase.stamps().last;
        if placed.cycles.is_none() {
            return held.stamps.map(i64::from);
        }
        let anchor_ps = if held.is(IS_UNFINISHED) { held.start_ps } else { held.end_ps };
        let anchor = self.facts.clock.repaired(held.job, anchor_ps, held.stamps[last]);
        std::array::from_fn(|at| {
            let back = held.stamps[last].wrapping_sub(held.stamps[at]);
            // Counters before the anchor lie in the past. Those after it are near.
            if at <= last { anchor - i64::from(back) } else { anchor - i64::from(back.cast_signed()) }
        })
    }

    /// Results of a slice: kernels, counters, power.
    fn follow(
        &mut self,
        held: &DeviceSlice,
        placed: SlicePlace,
        repaired: [i64; STAMPS],
        bytes: Option<i64>,
    ) -> Result<Option<MatchedIdeal<'a>>> {
        let name = self.facts.names.of(held.name);
        let SlicePlace { start_ps, end_ps, .. } = placed;
        self.charge(held, placed, repaired)?;
        match name.phase {
            Phase::Prep => self.preps.add(start_ps, end_ps, 1)?,
            Phase::DataIn | Phase::DataOut => {
                let rate = bytes.map_or(0, |bytes| rate(bytes, end_ps.saturating_sub(start_ps)));
                let edges = if name.phase == Phase::DataIn { &mut self.data_in } else { &mut self.data_out };
                edges.add(start_ps, end_ps, rate)?;
            }
            Phase::Exec => {
                self.sum(held, placed);
                let (name, steps) = (held.name, steps(held, placed));
                return self.kernel(held.job, Ran { device: 0, name, start_ps, end_ps, steps });
            }
            Phase::Whole => {}
        }
        Ok(None)
    }

    /// Takes the readings of the charge of a slice.
    fn charge(&mut self, held: &DeviceSlice, placed: SlicePlace, repaired: [i64; STAMPS]) -> Result<()> {
        let name = self.facts.names.of(held.name);
        if name.phase == Phase::Prep || !held.is(HAS_CHARGE) || placed.cycles.is_none() {
            return Ok(());
        }
        let last = name.phase.stamps().last;
        let at = |stamp: usize| {
            let cycles = repaired[stamp] - repaired[last];
            placed.end_ps.saturating_add(self.facts.clock.ps(cycles as f64))
        };
        if placed.end_ps.saturating_sub(placed.start_ps) > MIN_READING_PS {
            self.readings.at_time(at(3), held.charge)?;
        }
        self.readings.at_cycle(repaired[2], at(2), held.charge, name.kind)
    }

    /// Sums the durations of a kernel by the host and by its cycles.
    fn sum(&mut self, held: &DeviceSlice, placed: SlicePlace) {
        if placed.cycles.is_some() {
            self.totals.host_ps = self.totals.host_ps.saturating_add(held.host_ps());
            let device_ps = placed.end_ps.saturating_sub(placed.start_ps);
            self.totals.device_ps = self.totals.device_ps.saturating_add(device_ps);
        }
    }

    /// Takes the next kernel of a job on its device.
    fn kernel(&mut self, job: u32, ran: Ran) -> Result<Option<MatchedIdeal<'a>>> {
        let Ran { device, name, start_ps, end_ps, .. } = ran;
        let (names, span) = (self.facts.names, Interval::new(start_ps, end_ps));
        let lot = Lot { job, device };
        self.runs.take(names, ran)?;
        let (kernel, table) = (Phase::kernel(&names.of(name).text), self.choices.next(lot));
        let matched = self.usage.take(kernel, lot, table, end_ps.saturating_sub(start_ps));
        if self.usage.share(lot).is_some() {
            self.runs.covers(lot, span);
        } else if let Some(utilization) = matched.as_ref().and_then(|matched| matched.utilization) {
            self.runs.uses(device, span, utilization)?;
        }
        Ok(matched)
    }

    /// Writes a counter: one track for each device, if there are several.
    fn counter(&mut self, counter: CounterKind, edges: Edges<'s>, unit: f64) -> Result<()> {
        let Self { sink, tracks, facts, counter: fields, .. } = self;
        let sample = |device: u16, time_ps: i64, sum: i64| {
            let device = facts.has_devices.then_some(device);
            let track = tracks.counter(*sink, fields.table, counter, device)?;
            sink.sample(track, time_ps, sum as f64 / unit, &[])
        };
        edges.finish(sample).map(|_| ())
    }

    /// Writes the counters and the tables. Returns the totals.
    pub(super) fn finish(mut self, space: Space<'s>) -> Result<SliceTotals> {
        let share = |lot| self.usage.share(lot).map_or(0.0, |share| share.utilization);
        let active = self.runs.used(share, space)?;
        let fresh = || Edges::new(space);
        let [preps, data_in, data_out] = [
            std::mem::replace(&mut self.preps, fresh()),
            std::mem::replace(&mut self.data_in, fresh()),
            std::mem::replace(&mut self.data_out, fresh()),
        ];
        self.counter(CounterKind::ConcurrentPreps, preps, 1.0)?;
        self.counter(CounterKind::DataInRate, data_in, 1.0)?;
        self.counter(CounterKind::DataOutRate, data_out, 1.0)?;
        self.counter(CounterKind::PtActive, active, RATIO)?;
        let mut changes = space.pile();
        self.runs.changes(&mut changes, space)?;
        let Self { sink, arguments, mut tracks, counter, readings, mut usage, runs, mut totals, .. } = self;
        self.collectives.finish(sink, &mut tracks, self.facts.clock)?;
        let sink_of = std::cell::RefCell::new((&mut *sink, &mut tracks));
        let sample = |of: CounterKind, sample: PowerSample, value: f64| {
            let (sink, tracks) = &mut *sink_of.borrow_mut();
            let track = tracks.counter(*sink, counter.table, of, None)?;
            let charge = clamped(sample.charge);
            sink.sample(track, sample.time_ps, value, &[(counter.charge, Value::Int(charge))])
        };
        let mut watts = Watts::new(&changes)?;
        let implausible = readings.finish(
            self.facts.scale,
            |of| {
                watts.take(of.value, Interval::new(of.time_ps, of.until_ps))?;
                sample(CounterKind::Power, of, of.value)
            },
            |of| {
                let kind = KINDS[usize::from(of.kind)];
                let value = (of.value * 1e3).round() / 1e3;
                sample(CounterKind::PowerOf(kind), of, value)?;
                // The value holds until the next reading, of whatever kind.
                let end = PowerSample { time_ps: of.until_ps - 1_000, charge: 0, ..of };
                sample(CounterKind::PowerOf(kind), end, 0.0)
            },
        )?;
        warn_of_power(sink, implausible, self.facts.scale.max_watts);
        warn_all(sink, &[(arguments.keyless, KEYLESS), (usage.too_short, TOO_SHORT)]);
        for _ in 0..usage.unknown.0 {
            sink.warn(WarningKind::MissingData, UNKNOWN, &|| usage.unknown.1.clone());
        }
        totals.has_other_tables = usage.unknown.0 > 0 && !usage.is_known;
        usage.finish(sink, self.facts.has_devices)?;
        totals.actives = runs.finish(sink, self.facts.has_devices)?;
        watts.finish(sink)?;
        Ok(totals)
    }
}

const KEYLESS: &str = "more than 4,096 different arguments; the value is dropped";
const TOO_SHORT: &str = "a kernel that took less than its ideal time; its ideal time is left out";
const UNKNOWN: &str = "a kernel that no table of the compiler names; its category is \"other\"";

/// Counts warnings about powers that cannot be.
fn warn_of_power(sink: &mut dyn Sink, count: u64, max_watts: f64) {
    let what =
        format!("a power above {max_watts} W; shown as 0 W, because the scale of the charge is not known");
    warn_all(sink, &[(count, &what)]);
}

/// Counts warnings about values.
fn warn_all(sink: &mut dyn Sink, counts: &[(u64, &str)]) {
    for &(count, what) in counts {
        for _ in 0..count {
            sink.warn(WarningKind::AdjustedValue, what, &String::new);
        }
    }
}

/// Cycles between neighbouring counters of a slice, if it has all.
fn steps(held: &DeviceSlice, placed: SlicePlace) -> Option<[u32; 4]> {
    let has_all = held.flags & 0b1_1111 == 0b1_1111 && placed.cycles.is_some();
    has_all.then(|| std::array::from_fn(|at| held.stamps[at + 1].wrapping_sub(held.stamps[at])))
}

/// Bytes per second.
#[expect(clippy::cast_possible_truncation, reason = "casts of floats saturate")]
fn rate(bytes: i64, duration_ps: i64) -> i64 {
    if duration_ps > 0 { (bytes as f64 / duration_ps as f64 * 1e12).round() as i64 } else { 0 }
}
