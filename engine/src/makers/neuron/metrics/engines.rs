//! Metrics of the compute engines: busy times, floating-point operations, and memory traffic of
//! instructions.

use super::activity::{Activity, Classes, Classify, sweep};
use super::run::{CorePeaks, RunFacts};
use super::{GroupedMetric, NamedColumns, count, float, int, seconds, share};
use crate::base::Result;
use crate::index::Postings;
use crate::makers::neuron::Engine;
use crate::makers::neuron::group::NeuronGroup;
use crate::makers::neuron::schema::INSTRUCTION;
use crate::model::{NameId, Role, TableId, TrackId, Unit};
use crate::query;
use crate::segment::{Bytes, ColumnRole, Segment};

/// Fields that are summed over all instructions, with their explanations.
const BYTES: [(&str, &str); 11] = [
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
];

/// Classes of the sweeps: all instructions, instructions except waits, and two opcodes.
const ALL: usize = 0;
const WORK: usize = 1;
const MATMUL: usize = 2;
const ACTIVATE: usize = 3;

/// Metrics of engines and instructions.
pub fn metrics<B: Bytes>(
    segment: &Segment<B>,
    run: &RunFacts<'_>,
    out: &mut Vec<GroupedMetric>,
) -> Result<()> {
    let Some(instruction) = NamedColumns::of(segment, INSTRUCTION.name, run.cancel) else { return Ok(()) };
    let tracks = instruction_tracks(segment, &instruction);
    let code = |name| name_code(segment, instruction.table(), name);
    let (matmul, activate) = (code("MATMUL")?, code("ACTIVATE")?);
    // The waits of the statistics of a span, so that both agree.
    let waits = &segment.footer().waits;
    let classify = |_: TrackId, _: usize, names: &[i64]| -> Result<Vec<Classes>> {
        let bit = |class: usize, holds: bool| Classes::from(holds) << class;
        let classes = |&name: &i64| {
            let is_work = !waits.contains_stored(name);
            let name = Some(name);
            1 << ALL | bit(WORK, is_work) | bit(MATMUL, name == matmul) | bit(ACTIVATE, name == activate)
        };
        Ok(names.iter().map(classes).collect())
    };
    let swept = |chosen: &dyn Fn(Role) -> bool| {
        let role = |id: TrackId| segment.footer().tracks[id.0 as usize].spec.identity.role;
        let chosen = tracks.iter().filter(|&&id| chosen(role(id)));
        let chosen: Vec<_> = chosen.map(|&id| (id, &classify as &Classify<'_>)).collect();
        sweep(segment, &chosen, run.cancel)
    };
    // Tracks without a known engine count only for the opcodes.
    let mut sweeps = vec![swept(&|role| !matches!(role, Role::Engine(_)))?];
    for engine in Engine::ALL {
        let activity = swept(&|role| role == Role::Engine(engine.kind()))?;
        engine_metrics(engine, activity[ALL].count, activity[WORK], run.total_s, out);
        sweeps.push(activity);
    }
    for (opcode, class, prefix, engine) in
        [("MATMUL", MATMUL, "matmul", Engine::Tensor), ("ACTIVATE", ACTIVATE, "activate", Engine::Scalar)]
    {
        let group = NeuronGroup::Engine(engine);
        let instructions = sweeps.iter().map(|activity| activity[class].count).sum();
        let doc = format!("Number of instructions with opcode {opcode}.");
        out.push((group, count(&format!("{prefix}_instruction_count"), instructions, &doc)));
        if class == ACTIVATE {
            let total_ps = sweeps.iter().map(|activity| activity[class].total_ps).sum();
            let doc = format!("Sum of the durations of instructions with opcode {opcode}.");
            let name = format!("{prefix}_instruction_time");
            out.push((group, float(&name, seconds(total_ps), Unit::Seconds, &doc)));
        }
    }
    let traffic = traffic_metrics(&instruction, out)?;
    flops_metrics(segment, &instruction, run, traffic, out)
}

/// Tracks with instructions.
pub fn instruction_tracks<B: Bytes>(segment: &Segment<B>, instruction: &NamedColumns<'_, B>) -> Vec<TrackId> {
    let all = query::slice::tracks(segment, None);
    all.into_iter().filter(|&id| segment.table_of(id) == Some(instruction.table())).collect()
}

/// Number of a name that occurs in the rows of a table; `None` if no row has it.
pub fn name_code<B: Bytes>(segment: &Segment<B>, table: TableId, wanted: &str) -> Result<Option<i64>> {
    let is_wanted = |code: i64| -> Result<bool> {
        let id = NameId(u32::try_from(code).unwrap_or(u32::MAX));
        Ok(segment.text(id)? == wanted)
    };
    let Some(column) = segment.column(table, ColumnRole::Name) else { return Ok(None) };
    let piece = segment.footer().columns[column].postings;
    if piece.len > 0 {
        // The postings list the few names that occur.
        let bytes = segment.piece(piece, "postings")?;
        let postings = Postings::decode(&mut bytes.cursor(), piece.offset)?;
        for &code in postings.codes() {
            if is_wanted(code)? {
                return Ok(Some(code));
            }
        }
        return Ok(None);
    }
    for code in 0..i64::from(segment.footer().dictionary.texts) {
        if is_wanted(code)? {
            return Ok(Some(code));
        }
    }
    Ok(None)
}

fn engine_metrics(
    engine: Engine,
    instructions: u64,
    active: Activity,
    total_s: f64,
    out: &mut Vec<GroupedMetric>,
) {
    let (prefix, group) = (engine.prefix(), NeuronGroup::Engine(engine));
    let active_s = seconds(active.covered_ps);
    out.push((
        group,
        count(&format!("{prefix}_instruction_count"), instructions, "Number of executed instructions."),
    ));
    let doc = "Sum of the durations of all instructions, without waits. Time with several \
        instructions counts once for each.";
    out.push((
        group,
        float(&format!("{prefix}_instruction_time"), seconds(active.total_ps), Unit::Seconds, doc),
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
fn traffic_metrics<B: Bytes>(instruction: &NamedColumns<'_, B>, out: &mut Vec<GroupedMetric>) -> Result<f64> {
    let mut hbm = 0.0;
    for (name, doc) in BYTES {
        let (sum, rows) = instruction.sum(name)?;
        if name.starts_with("hbm_") {
            hbm += sum as f64;
        }
        out.push((
            NeuronGroup::DataMovement,
            int(name, sum, Unit::Bytes, &format!("{doc} Sum over all instructions.")),
        ));
        if name == "psum_read_sbuf_write_bytes" {
            let doc = "Number of instructions that move partial sums to the state buffer.";
            out.push((NeuronGroup::DataMovement, count("psum_read_sbuf_write_count", rows, doc)));
        }
    }
    let (output, _) = instruction.sum("output_queue_bytes")?;
    out.push((
        NeuronGroup::DataMovement,
        int(
            "output_queue_bytes",
            output,
            Unit::Bytes,
            "Bytes stored through queues for outputs. Sum over all instructions.",
        ),
    ));
    Ok(hbm)
}

fn flops_metrics<B: Bytes>(
    segment: &Segment<B>,
    instruction: &NamedColumns<'_, B>,
    run: &RunFacts<'_>,
    hbm_bytes: f64,
    out: &mut Vec<GroupedMetric>,
) -> Result<()> {
    let (elements, _) = instruction.sum("elements")?;
    let hardware = elements.saturating_mul(2);
    let doc = "Floating-point operations of all matrix multiplications. Each element counts as a \
        multiplication and an addition.";
    out.push((NeuronGroup::Overall, int("hardware_flops", hardware, Unit::Flops, doc)));
    let transposes = if instruction.has("instruction_type") {
        Some(transpose_flops(segment, instruction)?)
    } else {
        run.stated_number("transpose_flops").map(|flops| flops as i64)
    };
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
    Ok(())
}

fn transpose_flops<B: Bytes>(segment: &Segment<B>, instruction: &NamedColumns<'_, B>) -> Result<i64> {
    let mut elements = 0_i64;
    for block in 0..segment.blocks(instruction.table())?.len() {
        let rows = segment.blocks(instruction.table())?.rows(block);
        let transposes =
            super::activity::map_texts(instruction, "instruction_type", block, rows, false, |text| {
                text == "TRANSPOSE"
            })?;
        instruction.for_each_int("elements", block, |row, value| {
            elements += if transposes[row] { value } else { 0 };
        })?;
    }
    Ok(elements.saturating_mul(2))
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
    use crate::exec::{Cancel, Work};
    use crate::ingest::{BuildOptions, Builder};
    use crate::makers::neuron::metrics::{for_each_busy, groups};
    use crate::makers::neuron::schema::Instruction;
    use crate::makers::neuron::{Engine, NeuronTracks, SEMAPHORE_WAIT, SOURCE};
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
        let metrics: Vec<_> =
            groups(&segment, Cancel::NEVER).unwrap().into_iter().flat_map(|group| group.metrics).collect();
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
