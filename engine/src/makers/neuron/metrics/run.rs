//! Facts about the run or a window of it: its length, the chip's peaks, and the values that the
//! trace states for the whole run.

use super::{GroupedMetric, NamedColumns, count, float, int};
use crate::base::time::PS_PER_NS;
use crate::base::{Interval, Result};
use crate::exec::Work;
use crate::makers::neuron::group::NeuronGroup;
use crate::makers::neuron::schema::{METADATA, MODEL_INFO, NC_MEM_USAGE, SUMMARY};
use crate::metrics::{MetricScope, trace};
use crate::model::{OwnedValue, Unit};
use crate::segment::{Bytes, Segment};

/// Facts that metrics are computed with.
#[derive(Debug)]
pub struct RunFacts<'a> {
    /// The part of the run that is measured. `None` for all of it.
    pub window: Option<Interval>,
    /// Length of the run or of the window in seconds.
    pub total_s: f64,
    /// Nanoseconds that shares of throttling are taken of: the end of the last instruction, or the
    /// length of the window.
    pub last_ns: f64,
    /// Peaks of the chip, if known.
    pub chip: Option<CorePeaks>,
    /// Metrics that the trace states for the whole run. A window has none.
    pub stated: Vec<(&'a str, OwnedValue)>,
    /// Runs the tasks that need rows.
    pub work: Work<'a>,
    counts: Vec<(&'static str, u64)>,
    memory: Vec<(String, i64)>,
}

/// Peaks of one core.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CorePeaks {
    /// Clock of the Tensor engine in hertz.
    pub tensor_hz: f64,
    /// Base clock in hertz.
    pub base_hz: f64,
    /// Multipliers of the Tensor engine.
    pub multipliers: f64,
    /// Bytes a second of device memory.
    pub hbm_bytes_per_s: f64,
    /// Bytes a second of the DMA engines, if the trace states them.
    pub dma_bytes_per_s: Option<f64>,
}

impl CorePeaks {
    /// Peak floating-point operations per second: a multiplication and an addition per multiplier
    /// and cycle.
    pub fn peak_flops(&self) -> f64 {
        2.0 * self.multipliers * self.tensor_hz
    }
}

/// Bytes by use of memory, as neuron-profile calls them.
const WEIGHTS: &str = "Weights";
const TENSORS: &str = "Tensors";

impl<'a> RunFacts<'a> {
    /// Reads the facts from side tables.
    pub fn of<B: Bytes>(segment: &'a Segment<B>, scope: &MetricScope, work: Work<'a>) -> Result<Self> {
        let rows = |table: &str| {
            NamedColumns::of(segment, table, work.cancel).map_or(Ok(Vec::new()), |table| table.all_rows())
        };
        let metadata = rows(METADATA.name)?.into_iter().next().unwrap_or_default();
        let of = |name: &str| number_of(&metadata, name);
        if let Some(window) = scope.window {
            return Ok(Self {
                window: Some(window),
                total_s: super::seconds(window.duration_ps().unsigned_abs()),
                last_ns: window.duration_ps() as f64 / PS_PER_NS as f64,
                chip: chip_of(of),
                stated: Vec::new(),
                work,
                counts: Vec::new(),
                memory: Vec::new(),
            });
        }
        let stated = rows(SUMMARY.name)?.into_iter().next().unwrap_or_default();
        let span = trace::span(segment);
        let total_s = number_of(&stated, "total_time");
        let mut run = Self {
            window: None,
            total_s: total_s.unwrap_or_else(|| super::seconds(span.duration_ps().unsigned_abs())),
            last_ns: of("last_hw_timestamp").unwrap_or_else(|| span.end.floor_ns() as f64),
            chip: chip_of(of),
            stated,
            work,
            counts: Vec::new(),
            memory: Vec::new(),
        };
        let model_info = rows(MODEL_INFO.name)?;
        for name in ["event_count", "trace_count", "dma_queue_count"] {
            let of_cores = model_info.iter().filter_map(|core| number_of(core, name));
            if let Some(sum) = of_cores.reduce(|a, b| a + b) {
                run.counts.push((name, sum as u64));
            }
        }
        for row in rows(NC_MEM_USAGE.name)? {
            let label = row.iter().find(|(name, _)| *name == "usage_type");
            if let (Some((_, OwnedValue::Text(label))), Some(bytes)) =
                (label, number_of(&row, "amount_bytes"))
            {
                run.memory.push((label.clone(), bytes as i64));
            }
        }
        Ok(run)
    }

    /// The number of a metric that the trace states.
    pub fn stated_number(&self, name: &str) -> Option<f64> {
        number_of(&self.stated, name)
    }

    fn memory_of(&self, label: &str) -> Option<i64> {
        let rows = self.memory.iter().filter(|(of, _)| of == label).map(|&(_, bytes)| bytes);
        rows.reduce(|a, b| a + b)
    }

    /// Metrics that follow from side tables alone.
    pub fn metrics(&self, out: &mut Vec<GroupedMetric>) {
        out.push((
            NeuronGroup::Overall,
            float(
                "total_time",
                self.total_s,
                Unit::Seconds,
                "Time of the run on the device, or length of the window.",
            ),
        ));
        if let Some(chip) = self.chip {
            // Single precision, like the vendor's tool.
            let cycles = (self.total_s * chip.base_hz) as f32;
            out.push((
                NeuronGroup::Overall,
                int(
                    "neuroncore_cycle_count",
                    cycles as i64,
                    Unit::Cycles,
                    "Total time in cycles of the base clock.",
                ),
            ));
            let ratio = chip.peak_flops() / chip.hbm_bytes_per_s;
            let doc = "Peak floating-point operations of the Tensor engine for each byte of the peak \
                memory bandwidth.";
            out.push((NeuronGroup::Overall, float("peak_flops_bandwidth_ratio", ratio, Unit::None, doc)));
        }
        let docs = [
            ("event_count", NeuronGroup::Overall, "Number of records of events and semaphores."),
            ("trace_count", NeuronGroup::Overall, "Number of instructions, DMA rows and events."),
            ("dma_queue_count", NeuronGroup::DataMovement, "Number of DMA queues that the program declares."),
        ];
        for (name, group, doc) in docs {
            if let Some(&(_, value)) = self.counts.iter().find(|(of, _)| *of == name) {
                out.push((group, count(name, value, doc)));
            }
        }
        if let Some(weights) = self.memory_of(WEIGHTS) {
            out.push((
                NeuronGroup::DataMovement,
                int("weight_size_bytes", weights, Unit::Bytes, "Device memory that weights occupy."),
            ));
            if let Some(tensors) = self.memory_of(TENSORS) {
                let doc = "Device memory that inputs, outputs and weights occupy.";
                out.push((
                    NeuronGroup::DataMovement,
                    int("inputs_outputs_weights_size_bytes", weights + tensors, Unit::Bytes, doc),
                ));
            }
        }
    }
}

fn number_of(row: &[(&str, OwnedValue)], name: &str) -> Option<f64> {
    row.iter().find(|(of, _)| *of == name).and_then(|(_, value)| match *value {
        OwnedValue::Int(v) => Some(v as f64),
        OwnedValue::Uint(v) => Some(v as f64),
        OwnedValue::Float(v) => Some(v),
        OwnedValue::Bool(_) | OwnedValue::Text(_) | OwnedValue::Json(_) => None,
    })
}

fn chip_of(of: impl Fn(&str) -> Option<f64>) -> Option<CorePeaks> {
    const HZ_PER_GHZ: f64 = 1e9;
    Some(CorePeaks {
        tensor_hz: of("pe_clock_freq")? * HZ_PER_GHZ,
        base_hz: of("pe_clock_others")? * HZ_PER_GHZ,
        multipliers: of("pe_num_rows")? * of("pe_num_cols")?,
        hbm_bytes_per_s: of("hbm_ddr_bandwidth")?,
        dma_bytes_per_s: of("dma_ddr_bandwidth"),
    })
}
