//! Metrics of DMA and of collectives, and the time in which anything was active.

use super::activity::{
    COLLECTIVE, COLLECTIVE_CORE, DmaFields, HARDWARE_DYNAMIC, NeuronActivity, PACKETS, SOFTWARE_DYNAMIC,
    STATIC, TRANSFER,
};
use super::field_sums::{ClassSums, field_sums};
use super::run::RunFacts;
use super::{GroupedMetric, NamedColumns, count, float, int, seconds, share};
use crate::base::Result;
use crate::makers::class_times::ClassTotal;
use crate::makers::neuron::group::NeuronGroup;
use crate::makers::neuron::schema::DMA;
use crate::model::Unit;
use crate::segment::{BlockReader, Bytes, Segment};

/// Metrics of data movement.
pub fn metrics<B: Bytes>(
    segment: &Segment<B>,
    run: &RunFacts<'_>,
    activity: &NeuronActivity,
    out: &mut Vec<GroupedMetric>,
) -> Result<()> {
    let sizes = match NamedColumns::of(segment, DMA.name, run.work.cancel) {
        Some(dma) => {
            let fields = DmaFields::of(&dma);
            let kinds = |block: &mut BlockReader<'_, B>| fields.kinds(segment, block);
            let [sizes] = field_sums(segment, &dma, ["transfer_size"], &kinds, run.window, run.work)?;
            sizes
        }
        None => ClassSums::default(),
    };
    packet_metrics(activity, run, out);
    transfer_metrics(activity.total(&[TRANSFER]), sizes.of(TRANSFER).sum(), out);
    class_metrics(activity, &sizes, out);
    collective_metrics(activity, run, out);
    let active_s = seconds(activity.active_ps());
    let doc = "Time in which at least one engine, DMA packet or collective was active.";
    out.push((NeuronGroup::Overall, float("total_active_time", active_s, Unit::Seconds, doc)));
    let doc = "Total active time as a share of the total time.";
    out.push((
        NeuronGroup::Overall,
        float("total_active_time_percent", share(active_s, run.total_s), Unit::Ratio, doc),
    ));
    Ok(())
}

fn packet_metrics(activity: &NeuronActivity, run: &RunFacts<'_>, out: &mut Vec<GroupedMetric>) {
    let active_s = seconds(activity.packets_covered_ps());
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
        float("dma_packet_time", seconds(activity.total(&PACKETS).total_ps), Unit::Seconds, doc),
    ));
    if let Some(chip) = run.chip {
        let cycles = (active_s * chip.base_hz).floor() as i64;
        out.push((
            NeuronGroup::DataMovement,
            int("dma_active_cycles", cycles, Unit::Cycles, "DMA active time in cycles of the base clock."),
        ));
    }
}

fn transfer_metrics(transfers: ClassTotal, bytes: i64, out: &mut Vec<GroupedMetric>) {
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

fn class_metrics(activity: &NeuronActivity, sizes: &ClassSums, out: &mut Vec<GroupedMetric>) {
    let packets = activity.total(&PACKETS).count as f64;
    let packets_s = seconds(activity.packets_covered_ps());
    let size_of = |class| sizes.of(class).sum();
    let bytes = PACKETS.map(size_of).iter().sum::<i64>() as f64;
    let sorts = [
        ("software_dynamic_dma", SOFTWARE_DYNAMIC, "that software set up during the run"),
        ("hardware_dynamic_dma", HARDWARE_DYNAMIC, "that hardware set up during the run"),
        ("static_dma", STATIC, "that were set up before the run"),
    ];
    for (prefix, class, which) in sorts {
        let (of, size) = (activity.total(&[class]), size_of(class));
        let mut push = |name: &str, metric: super::Metric| {
            debug_assert!(metric.name.ends_with(name), "the name says what it is");
            out.push((NeuronGroup::DataMovement, metric));
        };
        let name = |what: &str| format!("{prefix}_{what}");
        let active_s = seconds(activity.covered_ps(class));
        // Like neuron-profile: if there are no packets of a kind, only the shares are given.
        // Packets can reach into a window in which none starts.
        if of.count > 0 || active_s > 0.0 {
            push("count", count(&name("packet_count"), of.count, &format!("DMA packets {which}.")));
            push("size", int(&name("size"), size, Unit::Bytes, &format!("Bytes of DMA packets {which}.")));
            let doc = format!("Time in which at least one of the DMA packets {which} was in flight.");
            push("time", float(&name("active_time"), active_s, Unit::Seconds, &doc));
        }
        let doc = format!("Share of the DMA packets {which}.");
        let value = share(of.count as f64, packets);
        push("percent", float(&name("packet_percent"), value, Unit::Ratio, &doc));
        let doc = format!("Share of the DMA bytes in packets {which}.");
        push("percent", float(&name("size_percent"), share(size as f64, bytes), Unit::Ratio, &doc));
        let doc = format!("Share of the DMA active time in which packets {which} were in flight.");
        let value = share(active_s, packets_s);
        push("percent", float(&name("active_time_percent"), value, Unit::Ratio, &doc));
    }
    let of_dynamic = [SOFTWARE_DYNAMIC, HARDWARE_DYNAMIC];
    let mut dynamic = |what: &str, value: f64| {
        let name = format!("dynamic_dma_{what}_percent");
        out.push((
            NeuronGroup::DataMovement,
            float(&name, value, Unit::Ratio, "The same for DMA packets that were set up during the run."),
        ));
    };
    dynamic("packet", share(activity.total(&of_dynamic).count as f64, packets));
    dynamic("size", share(of_dynamic.map(size_of).iter().sum::<i64>() as f64, bytes));
    let covered = of_dynamic.iter().map(|class| activity.covered_ps(*class)).sum::<u64>();
    dynamic("active_time", share(seconds(covered), packets_s));
}

fn collective_metrics(activity: &NeuronActivity, run: &RunFacts<'_>, out: &mut Vec<GroupedMetric>) {
    let sorts = [
        ("cc_op", COLLECTIVE, "cc_op_time", "cc_op_active_time", "collective operations"),
        (
            "cc_cores_instruction",
            COLLECTIVE_CORE,
            "cc_cores_instruction_time",
            "cc_cores_instruction_active_time",
            "steps of the cores for collective communication",
        ),
    ];
    for (prefix, class, total, active, what) in sorts {
        let of = activity.total(&[class]);
        out.push((
            NeuronGroup::Collectives,
            count(&format!("{prefix}_count"), of.count, &format!("Number of {what}.")),
        ));
        let doc = format!("Sum of the durations of {what}.");
        out.push((NeuronGroup::Collectives, float(total, seconds(of.total_ps), Unit::Seconds, &doc)));
        let active_s = seconds(activity.covered_ps(class));
        let doc = format!("Time in which at least one of the {what} ran.");
        out.push((NeuronGroup::Collectives, float(active, active_s, Unit::Seconds, &doc)));
        let doc = format!("Time in which at least one of the {what} ran, as a share of the total time.");
        out.push((
            NeuronGroup::Collectives,
            float(&format!("{active}_percent"), share(active_s, run.total_s), Unit::Ratio, &doc),
        ));
    }
}
