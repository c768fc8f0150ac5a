//! Table `dma`.

/// The name if the trace does not say which data a transfer moves.
const UNKNOWN: &str = "unknown";

/// The name of a DMA slice: the data it moves, or the type of its queue if the data is unknown.
#[must_use]
pub fn dma_name<'a>(variable: &'a str, queue_type: &'a str) -> &'a str {
    match (variable, queue_type) {
        ("" | UNKNOWN, "") => UNKNOWN,
        ("" | UNKNOWN, queue_type) => queue_type,
        (variable, _) => variable,
    }
}

table! {
    /// Data moved by the DMA engines: single packets, and the transfers that they add up to.
    "dma" DMA Dma Slices;
    "Transfer" {
        variable: None, "The tensor that is moved.";
        source: None, "Where the data comes from, such as WEIGHT, INPUT or SB (the state buffer).";
        dest: None, "Where the data goes.";
        op: None, "What happens on the way, such as copy or transpose.";
        transfer_size: Bytes, "Bytes moved.";
        read_size: Bytes, "Bytes read at the source.";
        write_size: Bytes, "Bytes written at the destination.";
        transfer_rate: BytesPerSecond, "Bytes moved by the time it took.";
        aggregated: None, "Whether the row is a whole transfer (yes) or one of its packets (no).";
        duplicate: None, "Whether the same packet has been reported before.";
        is_cc_dma: None, "Whether it belongs to a collective operation.";
        crc: Hexadecimal, "Checksum over the data; equal runs give equal checksums.";
    }
    "Queue" {
        dma_engine: None, "Number of the DMA engine.";
        dma_queue: None, "Number of the queue on its engine.";
        queue_type: None, "What the queue carries, or who fills it: data, instruction, input, output, software_dynamic, hardware_dynamic.";
        subgroup: None, "Name of the queue, its number and its engine, as far as they are known.";
        semaphore_id: None, "The semaphore raised on completion; -1 for transfers that set up the run.";
        block_id: None, "The compiler's number for the transfer, unique within its queue.";
        packet_idx: Count, "Position of the packet within its transfer.";
    }
    "Timing" {
        trigger: Nanoseconds, "Start of the instruction that set the transfer off.";
        completion: Nanoseconds, "When the waiting instruction saw its end.";
    }
    "IDs" {
        id: None, "Unique within the profile.";
        packet_aggregation_id: None, "The transfer that the packet belongs to.";
        pcore_idx: None, "The physical core within a logical core of several.";
    }
    "Access pattern" {
        read_shape: None, "Shape read at the source.";
        source_offset: None, "Byte offset at the source.";
        source_steps: None, "Strides at the source.";
        source_sb_partitions: None, "Partitions of the state buffer that are read.";
        source_num_sb_partitions: Count, "How many partitions of the state buffer are read.";
        write_shape: None, "Shape written at the destination.";
        dest_offset: None, "Byte offset at the destination.";
        dest_steps: None, "Strides at the destination.";
        dest_sb_partitions: None, "Partitions of the state buffer that are written.";
        dest_num_sb_partitions: Count, "How many partitions of the state buffer are written.";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_is_named_after_what_is_known() {
        assert_eq!(dma_name("layers.0.q_proj", "data"), "layers.0.q_proj");
        assert_eq!(dma_name("unknown", "software_dynamic"), "software_dynamic");
        assert_eq!(dma_name("", ""), "unknown");
    }
}
