//! Metrics of DMA and of collectives, and the time in which anything was active.

use super::activity::{Activity, Classes, Classify, map_texts, sweep};
use super::run::RunFacts;
use super::{GroupedMetric, NamedColumns, count, float, int, seconds, share};
use crate::base::Result;
use crate::makers::neuron::group::NeuronGroup;
use crate::makers::neuron::schema::{DMA, INSTRUCTION};
use crate::model::{Role, TrackId, Unit};
use crate::query;
use crate::segment::{Bytes, Segment};

/// Classes of the sweep.
const PACKET: usize = 0;
const TRANSFER: usize = 1;
const SOFTWARE_DYNAMIC: usize = 2;
const HARDWARE_DYNAMIC: usize = 3;
const STATIC: usize = 4;
const ANYTHING: usize = 5;
const COLLECTIVE: usize = 6;
const COLLECTIVE_CORE: usize = 7;

fn class(class: usize) -> Classes {
    1 << class
}

/// Bytes by class.
#[derive(Debug, Default)]
struct Sizes {
    transfer: i64,
    software_dynamic: i64,
    hardware_dynamic: i64,
    fixed: i64,
}

/// Metrics of data movement.
pub fn metrics<B: Bytes>(
    segment: &Segment<B>,
    run: &RunFacts<'_>,
    out: &mut Vec<GroupedMetric>,
) -> Result<()> {
    let dma = NamedColumns::of(segment, DMA.name, run.cancel);
    let dma_classes = |_: TrackId, block: usize, names: &[i64]| match &dma {
        Some(dma) => classes_of(dma, block, names.len()),
        None => Ok(vec![0; names.len()]),
    };
    let waits = &segment.footer().waits;
    let engine_classes = |_: TrackId, _: usize, names: &[i64]| -> Result<Vec<Classes>> {
        Ok(names.iter().map(|&name| if waits.contains_stored(name) { 0 } else { class(ANYTHING) }).collect())
    };
    let collective =
        |_: TrackId, _: usize, names: &[i64]| Ok(vec![class(COLLECTIVE) | class(ANYTHING); names.len()]);
    let core = |_: TrackId, _: usize, names: &[i64]| Ok(vec![class(COLLECTIVE_CORE); names.len()]);
    let instruction = segment.table(INSTRUCTION.name);
    let is_instruction = |id: TrackId| instruction.is_some() && segment.table_of(id) == instruction;
    let mut tracks: Vec<(TrackId, &Classify<'_>)> = Vec::new();
    for id in query::slice::tracks(segment, None) {
        match segment.footer().tracks[id.0 as usize].spec.identity.role {
            Role::Queue => tracks.push((id, &dma_classes)),
            // Instructions of an unknown engine count too.
            Role::Engine(_) | Role::Unknown if is_instruction(id) => tracks.push((id, &engine_classes)),
            Role::Collectives => tracks.push((id, &collective)),
            Role::CollectiveCore => tracks.push((id, &core)),
            _ => {}
        }
    }
    let activity = sweep(segment, &tracks, run.cancel)?;
    let sizes = dma.as_ref().map_or(Ok(Sizes::default()), |dma| sizes_of(segment, dma))?;
    packet_metrics(&activity, run, out);
    transfer_metrics(activity[TRANSFER], sizes.transfer, out);
    class_metrics(&activity, &sizes, out);
    collective_metrics(&activity, run, out);
    let active_s = seconds(activity[ANYTHING].covered_ps);
    let doc = "Time in which at least one engine, DMA packet or collective was active.";
    out.push((NeuronGroup::Overall, float("total_active_time", active_s, Unit::Seconds, doc)));
    let doc = "Total active time as a share of the total time.";
    out.push((
        NeuronGroup::Overall,
        float("total_active_time_percent", share(active_s, run.total_s), Unit::Ratio, doc),
    ));
    Ok(())
}

/// Classes of the rows of a block. A row is a whole transfer or a packet of one. A packet belongs
/// to one kind of queue.
fn classes_of<B: Bytes>(dma: &NamedColumns<'_, B>, block: usize, rows: usize) -> Result<Vec<Classes>> {
    let is_transfer = map_texts(dma, "aggregated", block, rows, false, |text| text == "yes")?;
    let sorts = map_texts(dma, "queue_type", block, rows, STATIC, |text| match text {
        "software_dynamic" => SOFTWARE_DYNAMIC,
        "hardware_dynamic" => HARDWARE_DYNAMIC,
        _ => STATIC,
    })?;
    let classes = is_transfer.iter().zip(&sorts).map(|(&is_transfer, &sort)| {
        if is_transfer { class(TRANSFER) } else { class(PACKET) | class(ANYTHING) | class(sort) }
    });
    Ok(classes.collect())
}

fn sizes_of<B: Bytes>(segment: &Segment<B>, dma: &NamedColumns<'_, B>) -> Result<Sizes> {
    let mut sizes = Sizes::default();
    for block in 0..segment.blocks(dma.table())?.len() {
        let classes = classes_of(dma, block, segment.blocks(dma.table())?.rows(block))?;
        dma.for_each_int("transfer_size", block, |row, bytes| {
            let has = |of: usize| classes[row] & class(of) != 0;
            let sum = match () {
                () if has(TRANSFER) => &mut sizes.transfer,
                () if has(SOFTWARE_DYNAMIC) => &mut sizes.software_dynamic,
                () if has(HARDWARE_DYNAMIC) => &mut sizes.hardware_dynamic,
                () => &mut sizes.fixed,
            };
            *sum = sum.saturating_add(bytes);
        })?;
    }
    Ok(sizes)
}

fn packet_metrics(activity: &[Activity], run: &RunFacts<'_>, out: &mut Vec<GroupedMetric>) {
    let packets = activity[PACKET];
    let active_s = seconds(packets.covered_ps);
    let doc = "Time in which at least one DMA packet was in flight.";
    out.push((NeuronGroup::DataMovement, float("dma_active_time", active_s, Unit::Seconds, doc)));
    let doc = "DMA active time as a share of the total time.";
    out.push((
        NeuronGroup::DataMovement,
        float("dma_active_time_percent", share(active_s, run.total_s), Unit::Ratio, doc),
    ));
    let doc = "Sum of the durations of all DMA packets.";
    out.push((
        NeuronGroup::DataMovement,
        float("dma_packet_time", seconds(packets.total_ps), Unit::Seconds, doc),
    ));
    if let Some(chip) = run.chip {
        let cycles = (active_s * chip.base_hz).floor() as i64;
        out.push((
            NeuronGroup::DataMovement,
            int("dma_active_cycles", cycles, Unit::Cycles, "DMA active time in cycles of the base clock."),
        ));
    }
}

fn transfer_metrics(transfers: Activity, bytes: i64, out: &mut Vec<GroupedMetric>) {
    out.push((
        NeuronGroup::DataMovement,
        count(
            "dma_transfer_count",
            transfers.count,
            "Number of whole transfers. Each transfer has one or more packets.",
        ),
    ));
    let doc = "Sum of the durations of all whole transfers.";
    out.push((
        NeuronGroup::DataMovement,
        float("dma_transfer_time", seconds(transfers.total_ps), Unit::Seconds, doc),
    ));
    out.push((
        NeuronGroup::DataMovement,
        int("dma_transfer_total_bytes", bytes, Unit::Bytes, "Bytes of all whole transfers."),
    ));
    let average = share(bytes as f64, transfers.count as f64);
    out.push((
        NeuronGroup::DataMovement,
        float("dma_transfer_average_bytes", average, Unit::Bytes, "Average bytes of a whole transfer."),
    ));
}

fn class_metrics(activity: &[Activity], sizes: &Sizes, out: &mut Vec<GroupedMetric>) {
    let packets = activity[PACKET];
    let bytes = (sizes.software_dynamic + sizes.hardware_dynamic + sizes.fixed) as f64;
    let sorts = [
        (
            "software_dynamic_dma",
            activity[SOFTWARE_DYNAMIC],
            sizes.software_dynamic,
            "that software set up during the run",
        ),
        (
            "hardware_dynamic_dma",
            activity[HARDWARE_DYNAMIC],
            sizes.hardware_dynamic,
            "that hardware set up during the run",
        ),
        ("static_dma", activity[STATIC], sizes.fixed, "that were set up before the run"),
    ];
    for (prefix, of, size, which) in sorts {
        let mut push = |name: &str, metric: super::Metric| {
            debug_assert!(metric.name.ends_with(name), "the name says what it is");
            out.push((NeuronGroup::DataMovement, metric));
        };
        let name = |what: &str| format!("{prefix}_{what}");
        let active_s = seconds(of.covered_ps);
        // Like neuron-profile: if there are no packets of a kind, only the shares are given.
        if of.count > 0 {
            push("count", count(&name("packet_count"), of.count, &format!("DMA packets {which}.")));
            push("size", int(&name("size"), size, Unit::Bytes, &format!("Bytes of DMA packets {which}.")));
            let doc = format!("Time in which at least one of the DMA packets {which} was in flight.");
            push("time", float(&name("active_time"), active_s, Unit::Seconds, &doc));
        }
        let doc = format!("Share of the DMA packets {which}.");
        let value = share(of.count as f64, packets.count as f64);
        push("percent", float(&name("packet_percent"), value, Unit::Ratio, &doc));
        let doc = format!("Share of the DMA bytes in packets {which}.");
        push("percent", float(&name("size_percent"), share(size as f64, bytes), Unit::Ratio, &doc));
        let doc = format!("Share of the DMA active time in which packets {which} were in flight.");
        let value = share(active_s, seconds(packets.covered_ps));
        push("percent", float(&name("active_time_percent"), value, Unit::Ratio, &doc));
    }
    let (software, hardware) = (activity[SOFTWARE_DYNAMIC], activity[HARDWARE_DYNAMIC]);
    let mut dynamic = |what: &str, value: f64| {
        let name = format!("dynamic_dma_{what}_percent");
        out.push((
            NeuronGroup::DataMovement,
            float(&name, value, Unit::Ratio, "The same for DMA packets that were set up during the run."),
        ));
    };
    dynamic("packet", share((software.count + hardware.count) as f64, packets.count as f64));
    dynamic("size", share((sizes.software_dynamic + sizes.hardware_dynamic) as f64, bytes));
    let covered = software.covered_ps + hardware.covered_ps;
    dynamic("active_time", share(seconds(covered), seconds(packets.covered_ps)));
}

fn collective_metrics(activity: &[Activity], run: &RunFacts<'_>, out: &mut Vec<GroupedMetric>) {
    let sorts = [
        ("cc_op", activity[COLLECTIVE], "cc_op_time", "cc_op_active_time", "collective operations"),
        (
            "cc_cores_instruction",
            activity[COLLECTIVE_CORE],
            "cc_cores_instruction_time",
            "cc_cores_instruction_active_time",
            "steps of the cores for collective communication",
        ),
    ];
    for (prefix, of, total, active, what) in sorts {
        out.push((
            NeuronGroup::Collectives,
            count(&format!("{prefix}_count"), of.count, &format!("Number of {what}.")),
        ));
        let doc = format!("Sum of the durations of {what}.");
        out.push((NeuronGroup::Collectives, float(total, seconds(of.total_ps), Unit::Seconds, &doc)));
        let active_s = seconds(of.covered_ps);
        let doc = format!("Time in which at least one of the {what} ran.");
        out.push((NeuronGroup::Collectives, float(active, active_s, Unit::Seconds, &doc)));
        let doc = format!("Time in which at least one of the {what} ran, as a share of the total time.");
        out.push((
            NeuronGroup::Collectives,
            float(&format!("{active}_percent"), share(active_s, run.total_s), Unit::Ratio, &doc),
        ));
    }
}
