//! Ideal and real cycles of the kernels of a name.

use std::collections::BTreeMap;

use super::Phase;
use super::schema::ClockRow;
use crate::base::time::PS_PER_S;
use crate::base::{Interval, Result};
use crate::exec::Cancel;
use crate::makers::call_columns::{FieldColumns, slice_tracks};
use crate::makers::window_rows::rows_in_window;
use crate::metrics::trace::seconds;
use crate::metrics::{MetricDefinition, MetricFamily, MetricRow, MetricTable};
use crate::model::{NameId, OwnedValue, Role, Unit};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// The family.
pub(super) const FAMILY: MetricFamily = MetricFamily {
    key: "aiu_kernel_cycles",
    title: "Ideal and real cycles by kernel",
    row: Some("kernel"),
    metrics: &[
        MetricDefinition::new("time", Unit::Seconds, "Sum of the measured durations."),
        MetricDefinition::new(
            "ideal_of_real",
            Unit::Ratio,
            "Ideal cycles over real cycles: the use of the PT arrays. Above 1, the ideal cycles are those of \
             another kernel.",
        ),
        MetricDefinition::new(
            "ideal_cycles",
            Unit::Cycles,
            "Cycles at full use of the PT arrays, by the compiler.",
        ),
        MetricDefinition::new("real_cycles", Unit::Cycles, "Measured time at the frequency of the cores."),
        MetricDefinition::new("count", Unit::Count, "Executions with ideal cycles."),
    ],
    source: "nprof",
    needs: "no kernel has ideal cycles; a log of the compiler gives them: `-c compiler.log`",
};

/// Executions of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct KernelCycles {
    count: i64,
    time_ps: i64,
    ideal_cycles: i64,
}

/// The kernels with ideal cycles that start in a window, or all of them: those with the longest
/// time first. `None` if there are none.
pub(super) fn table<B: Bytes>(
    segment: &Segment<B>,
    window: Option<Interval>,
    cancel: Cancel<'_>,
) -> Result<Option<MetricTable>> {
    let core_hz = ClockRow::read(segment, cancel)?.first().and_then(|row| row.core_hz.float());
    let core_hz = core_hz.unwrap_or(super::CORE_MHZ * 1e6);
    let mut rows: Vec<(String, KernelCycles)> = by_kernel(segment, window, cancel)?.into_iter().collect();
    rows.sort_by(|a, b| b.1.time_ps.cmp(&a.1.time_ps).then_with(|| a.0.cmp(&b.0)));
    let row = |(name, of): (String, KernelCycles)| {
        let real = of.time_ps as f64 / PS_PER_S as f64 * core_hz;
        let values = vec![
            Some(seconds(of.time_ps.unsigned_abs())),
            (real > 0.0).then(|| OwnedValue::Float(of.ideal_cycles as f64 / real)),
            Some(OwnedValue::Int(of.ideal_cycles)),
            Some(OwnedValue::Int(real.round() as i64)),
            Some(OwnedValue::Int(of.count)),
        ];
        MetricRow { name, values }
    };
    let rows: Vec<MetricRow> = rows.into_iter().map(row).collect();
    Ok((!rows.is_empty()).then_some(MetricTable { family: &FAMILY, rows }))
}

fn by_kernel<B: Bytes>(
    segment: &Segment<B>,
    window: Option<Interval>,
    cancel: Cancel<'_>,
) -> Result<BTreeMap<String, KernelCycles>> {
    let mut by_kernel: BTreeMap<String, KernelCycles> = BTreeMap::new();
    for (track, table) in slice_tracks(segment, |role| role == Role::Kernels) {
        let columns = FieldColumns::of(segment, table, ["ideal_cycles"]);
        for block in segment.blocks_of(track)? {
            cancel.check()?;
            let fields = columns.block(segment, block)?;
            let mut core = BlockReader::new(segment, table, block)?;
            let wanted = rows_in_window(segment, table, block, window, &mut core)?;
            let durations = core.core_ints(ColumnRole::Duration)?;
            let names = core.core_ints(ColumnRole::Name)?;
            for at in wanted {
                let Some(ideal_cycles) = fields.int(0, at) else { continue };
                let name = segment.text(NameId(u32::try_from(names[at]).unwrap_or(u32::MAX)))?;
                let name = Phase::kernel(name);
                if !by_kernel.contains_key(name) {
                    by_kernel.insert(name.to_owned(), KernelCycles::default());
                }
                if let Some(of) = by_kernel.get_mut(name) {
                    of.count += 1;
                    of.time_ps = of.time_ps.saturating_add(durations[at].max(0));
                    of.ideal_cycles = of.ideal_cycles.saturating_add(ideal_cycles);
                }
            }
        }
    }
    Ok(by_kernel)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{BuildOptions, Builder};
    use crate::makers::aiu::schema::AiuOp;
    use crate::makers::aiu::{AiuTracks, LaneKind, SOURCE};
    use crate::model::{RankInfo, Sink, SliceForm, SliceRecord, Value};
    use crate::spill::MemoryScratch;

    #[test]
    fn kernels_have_the_cycles_of_their_executions() {
        let mut bytes = Vec::new();
        {
            let scratch = MemoryScratch::default();
            let mut sink = Builder::new(&scratch, &mut bytes, BuildOptions::default()).unwrap();
            sink.rank(RankInfo { source: SOURCE.to_owned(), ..RankInfo::default() });
            let (of, mut tracks) = (AiuOp::define(&mut sink).unwrap(), AiuTracks::new(Some(0)));
            let track = tracks.lane(&mut sink, of.table, LaneKind::Compute, 0).unwrap();
            // Cores run at 1,100 MHz: 1 µs has 1,100 cycles.
            for (name, start_us, ideal) in [("conv", 0, Some(550)), ("conv", 5, Some(660)), ("add", 9, None)]
            {
                let name = sink.name(&format!("{name} Cmpt Exec")).unwrap();
                let fields: Vec<_> =
                    ideal.map(|cycles| (of.ideal_cycles, Value::Int(cycles))).into_iter().collect();
                let (start_ps, duration_ps) = (start_us * 1_000_000, 1_000_000);
                let form = SliceForm::Complete;
                sink.slice(&SliceRecord { track, start_ps, duration_ps, name, form, fields: &fields })
                    .unwrap();
            }
            sink.finish().unwrap();
        }
        let segment = Segment::open(bytes).unwrap();
        let rows = |window| {
            let table = table(&segment, window, Cancel::NEVER).unwrap();
            table.map(|table| table.rows.into_iter().map(|row| (row.name, row.values)).collect::<Vec<_>>())
        };
        let conv = |time, share: f64, cycles: [i64; 3]| {
            let mut values = vec![Some(OwnedValue::Float(time)), Some(OwnedValue::Float(share))];
            values.extend(cycles.map(|cycles| Some(OwnedValue::Int(cycles))));
            Some(vec![("conv".to_owned(), values)])
        };
        assert_eq!(rows(None), conv(2e-6, 0.55, [1_210, 2_200, 2]));
        assert_eq!(rows(Some(Interval::new(0, 4_000_000))), conv(1e-6, 0.5, [550, 1_100, 1]));
        assert_eq!(rows(Some(Interval::new(8_000_000, 20_000_000))), None);
    }
}
