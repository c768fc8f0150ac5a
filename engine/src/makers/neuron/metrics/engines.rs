//! Metrics of the compute engines: busy times, floating-point operations, and memory traffic of
//! instructions.

use super::activity::{NeuronActivity, instructions_of};
use super::elements::Elements;
use super::field_sums::{ClassSums, field_sums};
use super::opcode;
use super::run::{CorePeaks, RunFacts};
use super::{GroupedMetric, NamedColumns, count, float, int, seconds, share};
use crate::base::Result;
use crate::makers::class_times::BlockClasses;
use crate::makers::neuron::Engine;
use crate::makers::neuron::group::NeuronGroup;
use crate::makers::neuron::schema::INSTRUCTION;
use crate::model::{TrackId, Unit};
use crate::query;
use crate::segment::{BlockReader, Bytes, Segment};

/// Fields that are summed over all instructions, with their explanations.
const TRAFFIC: [(&str, &str); 12] = [
    ("hbm_read_bytes", "Bytes read from device memory."),
    ("hbm_write_bytes", "Bytes written to device memory."),
    ("sbuf_read_bytes", "Bytes read from the state buffer."),
    ("sbuf_write_bytes", "Bytes written to the state buffer."),
    ("psum_read_bytes", "Bytes read from the partial-sum buffer."),
    ("psum_write_bytes", "Bytes written to the partial-sum buffer."),
    ("psum_read_sbuf_write_bytes", "Bytes moved from the partial-sum buffer to the state buffer."),
    ("spill_save_bytes", "Bytes saved to device memory because the state buffer was full."),
    ("spill_reload_bytes", "Bytes loaded again that were saved earlier because the state buffer was full."),
    ("weight_queue_bytes", "Bytes loaded through queues for weights."),
    ("input_queue_bytes", "Bytes loaded through queues for inputs."),
    ("output_queue_bytes", "Bytes stored through queues for outputs."),
];

/// Metrics of engines and instructions.
pub fn metrics<B: Bytes>(
    segment: &Segment<B>,
    run: &RunFacts<'_>,
    activity: &NeuronActivity,
    out: &mut Vec<GroupedMetric>,
) -> Result<()> {
    let work = run.work;
    let Some(instruction) = NamedColumns::of(segment, INSTRUCTION.name, work.cancel) else { return Ok(()) };
    for engine in Engine::ALL {
        engine_metrics(engine, activity, run.total_s, out);
    }
    // Tracks without a known engine count only here.
    let tracks = instruction_tracks(segment, &instruction);
    for (opcode, prefix, engine) in
        [("MATMUL", "matmul", Engine::Tensor), ("ACTIVATE", "activate", Engine::Scalar)]
    {
        let group = NeuronGroup::Engine(engine);
        let total = opcode::total(segment, instruction.table(), &tracks, opcode, run.window, work)?;
        let doc = format!("Number of instructions with opcode {opcode}.");
        out.push((group, count(&format!("{prefix}_instruction_count"), total.count, &doc)));
        if engine == Engine::Scalar {
            let doc = format!("Sum of the durations of instructions with opcode {opcode}.");
            let name = format!("{prefix}_instruction_time");
            out.push((group, float(&name, seconds(total.total_ps), Unit::Seconds, &doc)));
        }
    }
    let all = |_: &mut BlockReader<'_, B>| Ok(BlockClasses::One(0));
    let traffic = field_sums(segment, &instruction, TRAFFIC.map(|(name, _)| name), &all, run.window, work)?;
    let hbm_bytes = traffic_metrics(&traffic, out);
    let elements = Elements::of(segment, &instruction, run)?;
    elements.metrics(out);
    let transposes = instruction.has("instruction_type").then(|| elements.transposed().saturating_mul(2));
    flops_metrics(elements.multiplied(), transposes, run, hbm_bytes, out);
    Ok(())
}

/// Tracks with instructions.
pub fn instruction_tracks<B: Bytes>(segment: &Segment<B>, instruction: &NamedColumns<'_, B>) -> Vec<TrackId> {
    let all = query::slice::tracks(segment, None);
    all.into_iter().filter(|&id| segment.table_of(id) == Some(instruction.table())).collect()
}

fn engine_metrics(engine: Engine, activity: &NeuronActivity, total_s: f64, out: &mut Vec<GroupedMetric>) {
    let (prefix, group, kind) = (engine.prefix(), NeuronGroup::Engine(engine), instructions_of(engine));
    let active_s = seconds(activity.engine_covered_ps(engine));
    let (instructions, working) = (activity.total(&[kind]).count, activity.working(&[kind]));
    out.push((
        group,
        count(&format!("{prefix}_instruction_count"), instructions, "Number of executed instructions."),
    ));
    let doc = "Sum of the durations of all instructions, without waits. Time with several \
        instructions counts once for each.";
    out.push((
        group,
        float(&format!("{prefix}_instruction_time"), seconds(working.total_ps), Unit::Seconds, doc),
    ));
    let doc = "Time in which at least one instruction ran, without waits.";
    out.push((group, float(&format!("{prefix}_active_time"), active_s, Unit::Seconds, doc)));
    let doc = "Active time as a share of the total time.";
    out.push((
        group,
        float(&format!("{prefix}_active_time_percent"), share(active_s, total_s), Unit::Ratio, doc),
    ));
}

/// Metrics of bytes moved by instructions. Returns the bytes of device memory, read and written.
fn traffic_metrics(sums: &[ClassSums; TRAFFIC.len()], out: &mut Vec<GroupedMetric>) -> f64 {
    let mut hbm = 0.0;
    for ((name, doc), sums) in TRAFFIC.into_iter().zip(sums) {
        let all = sums.all();
        if name.starts_with("hbm_") {
            hbm += all.sum() as f64;
        }
        out.push((
            NeuronGroup::DataMovement,
            int(name, all.sum(), Unit::Bytes, &format!("{doc} Sum over all instructions.")),
        ));
        if name == "psum_read_sbuf_write_bytes" {
            let doc = "Number of instructions that move partial sums to the state buffer.";
            out.push((NeuronGroup::DataMovement, count("psum_read_sbuf_write_count", all.rows, doc)));
        }
    }
    hbm
}

/// Metrics of floating-point operations, from the products of all matrix multiplications, and from
/// the operations of those that only transpose data, if the rows tell them.
fn flops_metrics(
    products: i64,
    transposes: Option<i64>,
    run: &RunFacts<'_>,
    hbm_bytes: f64,
    out: &mut Vec<GroupedMetric>,
) {
    let hardware = products.saturating_mul(2);
    let doc = "Floating-point operations of all matrix multiplications. Each element counts as a \
        multiplication and an addition.";
    out.push((NeuronGroup::Overall, int("hardware_flops", hardware, Unit::Flops, doc)));
    let transposes = transposes.or_else(|| run.stated_number("transpose_flops").map(|flops| flops as i64));
    if let Some(transposes) = transposes {
        let doc = "Floating-point operations of matrix multiplications that only transpose data.";
        out.push((NeuronGroup::Overall, int("transpose_flops", transposes, Unit::Flops, doc)));
    }
    let by_rows = transposes.map(|transposes| (hardware - transposes) as f64);
    let model = run.stated_number("model_flops").or(by_rows);
    if let Some(model) = model {
        let doc = "Floating-point operations of the model, from the NEFF. Without a NEFF, the executed \
            operations without transposes.";
        out.push((NeuronGroup::Overall, int("model_flops", model as i64, Unit::Flops, doc)));
    }
    if let Some(chip) = run.chip {
        utilisation(chip, run.total_s, hbm_bytes, hardware as f64, model, by_rows, out);
    }
}

/// Metrics of the used share of the chip's peaks.
fn utilisation(
    chip: CorePeaks,
    total_s: f64,
    hbm_bytes: f64,
    hardware: f64,
    model: Option<f64>,
    by_rows: Option<f64>,
    out: &mut Vec<GroupedMetric>,
) {
    let peak = chip.peak_flops() * total_s;
    let mut ratio =
        |group, name: &str, value: f64, doc: &str| out.push((group, float(name, value, Unit::Ratio, doc)));
    ratio(
        NeuronGroup::Engine(Engine::Tensor),
        "hfu_estimated_percent",
        share(hardware, peak),
        "Executed floating-point operations as a share of the peak.",
    );
    let doc = "Bytes moved to and from device memory as a share of the peak of the memory.";
    ratio(
        NeuronGroup::DataMovement,
        "mbu_estimated_percent",
        share(hbm_bytes, chip.hbm_bytes_per_s * total_s),
        doc,
    );
    let balance = chip.peak_flops() / chip.hbm_bytes_per_s;
    let doc_used = "Useful floating-point operations as a share of the peak.";
    let doc_max = "Share of the peak that the arithmetic intensity allows.";
    for (flops, names) in [(model, ["mfu", "mfu_hlo"].as_slice()), (by_rows, ["mfu_inst"].as_slice())] {
        let Some(flops) = flops else { continue };
        for name in names {
            ratio(
                NeuronGroup::Engine(Engine::Tensor),
                &format!("{name}_estimated_percent"),
                share(flops, peak),
                doc_used,
            );
            let achievable = (share(flops, hbm_bytes) / balance).min(1.0);
            ratio(
                NeuronGroup::Engine(Engine::Tensor),
                &format!("{name}_max_achievable_estimated_percent"),
                achievable,
                doc_max,
            );
        }
    }
    if let Some(flops) = model {
        let doc = "Useful floating-point operations for each byte moved to or from device memory.";
        out.push((
            NeuronGroup::Overall,
            float("mm_arithmetic_intensity", share(flops, hbm_bytes), Unit::None, doc),
        ));
    }
}

#[cfg(test)]
mod tests {
    use crate::base::Interval;
    use crate::exec::Work;
    use crate::ingest::{BuildOptions, Builder};
    use crate::makers::neuron::metrics::{for_each_busy, read};
    use crate::makers::neuron::schema::Instruction;
    use crate::makers::neuron::{Engine, NeuronTracks, SEMAPHORE_WAIT, SOURCE};
    use crate::metrics::MetricScope;
    use crate::model::{OwnedValue, RankInfo, Sink, SliceForm, SliceRecord, TrackId};
    use crate::query;
    use crate::segment::Segment;
    use crate::spill::MemoryScratch;

    /// A rank whose engines wait most of the time and work on several lanes.
    fn rank() -> (Segment<Vec<u8>>, Vec<(Engine, TrackId)>) {
        let (scratch, mut bytes) = (MemoryScratch::default(), Vec::new());
        let mut sink = Builder::new(&scratch, &mut bytes, BuildOptions::default()).unwrap();
        sink.rank(RankInfo { source: SOURCE.to_owned(), ..RankInfo::default() });
        Instruction::define(&mut sink).unwrap();
        let (mut tracks, mut of) = (NeuronTracks::default(), Vec::new());
        for engine in Engine::ALL {
            let track = tracks.engine(&mut sink, engine.name(), 0).unwrap();
            of.push((engine, track));
            for at in 0..3_000_i64 {
                let start = at * 1_000 + engine.index() as i64;
                let slices = [
                    (SEMAPHORE_WAIT, start, 900),
                    ("MATMUL", start + 880, 60 + at % 50),
                    ("WAIT_FOR_RANKS", start + 900, 5),
                    ("ACTIVATE", start + 930, at % 40),
                ];
                for (name, start_ps, duration_ps) in slices {
                    let (name, form) = (sink.name(name).unwrap(), SliceForm::Complete);
                    sink.slice(&SliceRecord { track, start_ps, duration_ps, name, form, fields: &[] })
                        .unwrap();
                }
            }
        }
        sink.finish().unwrap();
        (Segment::open(bytes).unwrap(), of)
    }

    #[test]
    fn the_whole_span_is_as_busy_as_the_summary_says() {
        let (segment, tracks) = rank();
        let whole = Interval::new(0, 4_000_000);
        let metrics: Vec<_> = read(&segment, &MetricScope::default(), Work::IN_PLACE)
            .unwrap()
            .groups
            .into_iter()
            .flat_map(|group| group.metrics)
            .collect();
        let all: Vec<TrackId> = tracks.iter().map(|(_, track)| *track).collect();
        let selection = query::selection::select(&segment, &all, whole, Work::IN_PLACE).unwrap();
        for ((engine, _), of) in tracks.iter().zip(&selection.by_track) {
            let name = format!("{}_active_time", engine.prefix());
            let active = metrics.iter().find(|metric| metric.name == name).unwrap();
            assert_eq!(active.value, OwnedValue::Float(super::seconds(of.busy_ps)), "{name}");
            let mut exported_ps = 0;
            for_each_busy(&segment, |busy| {
                let is_of = busy.core == 0 && busy.start_ps % 1_000 == (880 + engine.index() as i64) % 1_000;
                exported_ps += if is_of { busy.end_ps.abs_diff(busy.start_ps) } else { 0 };
                Ok::<_, crate::base::Error>(())
            })
            .unwrap();
            assert_eq!(exported_ps, of.busy_ps, "{name}");
            assert!(of.busy_ps < 300_000 && of.wait_ps > 2_600_000, "{of:?}");
        }
        let waits: Vec<_> = selection.by_name.iter().skip_while(|name| !name.is_wait).collect();
        assert_eq!((waits.len(), waits.iter().all(|name| name.is_wait)), (2, true));
    }
}
