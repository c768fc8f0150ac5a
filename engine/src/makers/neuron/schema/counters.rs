//! Tables of what changes over time: semaphores, throttling, counters.

use std::borrow::Cow;

/// The `type` of a row in `ham` in which the device limits nothing. neuron-profile calls it
/// `unknown` in the names of metrics.
pub const UNTHROTTLED_KIND: i64 = 99;

/// The name of a period of throttling, from the `type` of its row in `ham`: the reason, or that
/// nothing is limited. All readers use these names.
///
/// Only codes that were seen in traces have names.
#[must_use]
pub fn throttle_reason(code: i64) -> Cow<'static, str> {
    match code {
        0 => "activity_0".into(),
        UNTHROTTLED_KIND => "unthrottled".into(),
        other => format!("type {other}").into(),
    }
}

table! {
    /// Periods in which the device limits its use to a share of the peak, and those without a
    /// limit.
    "ham" HAM Ham Slices;
    "Throttling" {
        k: Count, "Allowed steps of the peak. The limit is k / n.";
        n: Count, "All steps of the peak. The limit is k / n.";
        kind = "type": None, "Code of the reason; 0 is activity_0, 99 says that nothing is limited.";
        pcore_idx: None, "Physical core within a logical core of several physical cores.";
    }
}

table! {
    /// Changes of semaphores. Engines and DMA queues use semaphores to wait for each other.
    "semaphore_update" SEMAPHORE_UPDATE SemaphoreUpdate Slices, name in "id";
    "Semaphore" {
        value: None, "Value after the change.";
        update_source: None, "Engine that changed the semaphore, or AXI for the bus.";
        pcore_idx: None, "Physical core within a logical core of several physical cores.";
    }
}

table! {
    /// DMA transfers that have started and not completed.
    "pending_dma" PENDING_DMA PendingDma Samples, value in "value";
    "IDs" {
        pcore_idx: None, "Physical core within a logical core of several physical cores.";
    }
}

table! {
    /// Data rate of all packets in flight, sampled at each start and end of a packet.
    "dma_throughput" DMA_THROUGHPUT DmaThroughput Samples, value in "transfer_rate";
    "Memory traffic" {
        total_transfer_bytes: Bytes, "Bytes of all packets that have started so far.";
        hbm_transfer_rate: BytesPerSecond, "TemplateValue of the data rate to or from device memory.";
        hbm_total_transfer_bytes: Bytes, "Bytes of all packets to or from device memory that have started so far.";
        uses_hbm: None, "Whether any packet in flight touches device memory.";
    }
}

table! {
    /// Used share of the on-chip memories: the state buffer (sb) and the partial-sum buffer (psum).
    "instruction_usage" INSTRUCTION_USAGE InstructionUsage Samples, value in "usage_avg", patterns in bank;
    "Memory" {
        kind = "type": None, "Memory: sb or psum.";
        partition_0_usage: Ratio, "Share of partition 0 in use.";
        partition_32_usage: Ratio, "Share of partition 32 in use.";
        partition_64_usage: Ratio, "Share of partition 64 in use.";
        partition_96_usage: Ratio, "Share of partition 96 in use.";
        bank_0_usage: Ratio, "Share of bank 0 in use.";
        bank_1_usage: Ratio, "Share of bank 1 in use.";
        bank_2_usage: Ratio, "Share of bank 2 in use.";
        bank_3_usage: Ratio, "Share of bank 3 in use.";
        bank_4_usage: Ratio, "Share of bank 4 in use.";
        bank_5_usage: Ratio, "Share of bank 5 in use.";
        bank_6_usage: Ratio, "Share of bank 6 in use.";
        bank_7_usage: Ratio, "Share of bank 7 in use.";
    }
}

table! {
    /// Device memory in use.
    "hbm_usage" HBM_USAGE HbmUsage Samples, value in "value";
    "Memory" {
        capacity_bytes: Bytes, "Largest amount that the core can use.";
    }
}

fn bank(name: &str) -> Option<crate::model::FieldSpec> {
    let part = name.strip_suffix("_usage")?;
    let (what, number) = part.rsplit_once('_')?;
    let known = matches!(what, "bank" | "partition") && number.parse::<u32>().is_ok();
    known.then(|| {
        let doc = format!("Share of {what} {number} in use.");
        crate::model::FieldSpec::new(name, crate::model::Unit::Ratio, "Memory", &doc)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_that_are_not_known_keep_their_code() {
        assert_eq!(throttle_reason(0), "activity_0");
        assert_eq!(throttle_reason(12), "type 12");
        assert_eq!(throttle_reason(99), "unthrottled");
    }

    #[test]
    fn partitions_beyond_the_usual_four_are_explained() {
        assert_eq!(INSTRUCTION_USAGE.field("partition_16_usage").doc, "Share of partition 16 in use.");
        assert_eq!(INSTRUCTION_USAGE.field("partition_x_usage").doc, "");
    }
}
