//! Tables about a rank as a whole: its clock, its jobs, its active time.

use nprof_engine::base::Result;
use nprof_engine::makers::aiu::schema::{AiuActive, AiuClock, AiuJob};
use nprof_engine::model::{Sink, Value, WarningKind};

use super::clock::CounterClock;
use super::emit::{RankFacts, SliceTotals};
use super::job::GrowingSpan;
use super::summary::{count, share};

/// A stated frequency that differs from the found one by more than this share is wrong.
const MAX_OFF: f64 = 0.001;

/// Writes the tables.
pub(super) fn write(sink: &mut dyn Sink, facts: RankFacts<'_>, totals: &SliceTotals) -> Result<()> {
    if totals.slices > 0 {
        clock(sink, facts, totals)?;
        if facts.jobs.all.iter().any(|job| job.slices > 0) {
            jobs(sink, facts)?;
        }
    } else if facts.core_hz.is_some() {
        let fields = AiuClock::define(sink)?;
        let core = facts.core_hz.map(|hz| (fields.core_hz, Value::Float(hz)));
        sink.row(fields.table, core.as_slice())?;
    }
    active(sink, totals, facts.has_devices)
}

/// Says how far the frequency can be wrong.
fn warn_of_frequency(sink: &mut dyn Sink, clock: &CounterClock) {
    let (steps, largest_s) = clock.steps;
    if steps > 0 {
        let what = format!(
            "the clock of the host steps against the counters within a file, by {:.3} ms at most, as if jobs \
             with shifted clocks had been merged; the frequency is that between the steps",
            largest_s.abs() * 1e3
        );
        for _ in 0..steps {
            sink.warn(WarningKind::AdjustedValue, &what, &String::new);
        }
    }
    let is_found = clock.used_hz == clock.found_hz;
    if let Some(error) = clock.error.filter(|error| is_found && *error > MAX_OFF) {
        let what = format!(
            "the ends of slices tell the frequency of the counters only to {:.1} %, and with it all durations \
             on the device; state it with --freq if it is known",
            error * 100.0
        );
        sink.warn(WarningKind::AdjustedValue, &what, &String::new);
    }
}

fn clock(sink: &mut dyn Sink, facts: RankFacts<'_>, totals: &SliceTotals) -> Result<()> {
    let clock = facts.clock;
    warn_of_frequency(sink, clock);
    if (clock.used_hz / clock.found_hz - 1.0).abs() > MAX_OFF {
        // Ranks differ in the frequency, and their warnings are one kind.
        let what = "the stated frequency is not the one of the counters";
        let place = || format!("they run at {:.3} MHz", clock.found_hz / 1e6);
        sink.warn(WarningKind::AdjustedValue, what, &place);
    }
    if let Some(shift) = facts.shift.filter(|shift| shift.ps != 0) {
        let what = format!(
            "times of the runtime were moved by {:.3} us, so that its round trips lie within the calls of PyTorch",
            shift.ps as f64 / 1e6
        );
        sink.warn(WarningKind::AdjustedValue, &what, &|| format!("{} round trips", shift.pairs));
    }
    if totals.reversed > 0 {
        let what = "counters of a slice run backwards; its duration is that of the host";
        for _ in 0..totals.reversed {
            sink.warn(WarningKind::AdjustedValue, what, &String::new);
        }
    }
    let fields = AiuClock::define(sink)?;
    let mut values = vec![
        (fields.used_hz, Value::Float(clock.used_hz)),
        (fields.found_hz, Value::Float(clock.found_hz)),
        (fields.found_by, Value::Text(clock.basis.name())),
        (fields.slices, count(totals.slices)),
        (fields.drift, Value::Float(clock.drift_s() * 1e9)),
        (fields.used_drift, Value::Float(clock.used_drift_s() * 1e9)),
        (fields.wraps, Value::Int(clock.wraps)),
        (fields.wraps_in_slices, count(totals.wraps_in_slices)),
        (fields.reversed, count(totals.reversed)),
        (fields.host_duration, Value::Float(ns(totals.host_ps))),
        (fields.device_duration, Value::Float(ns(totals.device_ps))),
    ];
    values.extend(facts.core_hz.map(|hz| (fields.core_hz, Value::Float(hz))));
    values.extend(clock.residual_s.map(|residual_s| (fields.residual, Value::Float(residual_s * 1e9))));
    values.extend(clock.mean_hz.map(|hz| (fields.mean_hz, Value::Float(hz))));
    if let Some(shift) = facts.shift {
        values.push((fields.torch_shift, Value::Float(shift.ps as f64 / 1e3)));
        values.push((fields.torch_pairs, count(shift.pairs as u64)));
    }
    sink.row(fields.table, &values)
}

fn jobs(sink: &mut dyn Sink, facts: RankFacts<'_>) -> Result<()> {
    let fields = AiuJob::define(sink)?;
    let mut outside = 0;
    for (at, job) in facts.jobs.all.iter().enumerate().filter(|(_, job)| job.slices > 0) {
        let shift_ps = job.shift_ps();
        outside += u64::from(shift_ps != 0);
        let clock_shift_ns = facts.clock.shifts_s.get(at).map_or(0.0, |shift| shift * 1e9);
        let mut values = vec![
            (fields.job, Value::Text(&job.name)),
            (fields.slices, count(job.slices)),
            (fields.kernels, count(job.kernels)),
            (fields.shift, Value::Float(ns(shift_ps))),
            (fields.clock_shift, Value::Float(clock_shift_ns)),
        ];
        let spans = [
            (job.device, fields.device_start, fields.device_end),
            (job.host, fields.host_start, fields.host_end),
        ];
        for (span, start, end) in spans {
            if let Some(GrowingSpan { start_ps, end_ps }) = span {
                values.extend([(start, Value::Float(ns(start_ps))), (end, Value::Float(ns(end_ps)))]);
            }
        }
        sink.row(fields.table, &values)?;
    }
    let what = if facts.fixes_jobs {
        "work on the device was shifted into the round trips of its job"
    } else {
        "work on the device lies outside of the round trips of its job"
    };
    for _ in 0..outside {
        sink.warn(WarningKind::AdjustedValue, what, &String::new);
    }
    Ok(())
}

/// Writes the times of the kernels. Rows of several devices state theirs.
fn active(sink: &mut dyn Sink, totals: &SliceTotals, has_devices: bool) -> Result<()> {
    for (&device, of) in &totals.actives {
        let fields = AiuActive::define(sink)?;
        let elapsed = ns(of.end_ps.saturating_sub(of.start_ps));
        let mut values = vec![
            (fields.kernel_time, Value::Float(ns(of.kernel_ps))),
            (fields.busy_time, Value::Float(ns(of.busy_ps))),
            (fields.elapsed, Value::Float(elapsed)),
            (fields.start, Value::Float(ns(of.start_ps))),
            (fields.end, Value::Float(ns(of.end_ps))),
            (fields.share, Value::Float(share(ns(of.busy_ps), elapsed))),
            (fields.summed_share, Value::Float(share(ns(of.kernel_ps), elapsed))),
        ];
        values.extend(has_devices.then(|| (fields.device, Value::Int(device.into()))));
        sink.row(fields.table, &values)?;
    }
    Ok(())
}

fn ns(ps: i64) -> f64 {
    ps as f64 / 1e3
}
