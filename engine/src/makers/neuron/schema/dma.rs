//! Table `dma`.

/// The name if the trace does not say which data a transfer moves.
const UNKNOWN: &str = "unknown";

/// The name of a DMA slice: the data it moves, or the type of its queue if the data is unknown.
#[must_use]
pub fn dma_name<'a>(variable: &'a str, queue_type: &'a str) -> &'a str {
    match (variable, queue_type) {
        (variable, _) if is_known_variable(variable) => variable,
        (_, "") => UNKNOWN,
        (_, queue_type) => queue_type,
    }
}

/// Whether a transfer with this variable says which tensor it moves.
#[must_use]
pub fn is_known_variable(variable: &str) -> bool {
    !matches!(variable, "" | UNKNOWN)
}

table! {
    /// Data moved by the DMA engines: single packets, and the transfers that consist of them.
    "dma" DMA Dma Slices;
    "Transfer" {
        variable: None, "Tensor that is moved.";
        source: None, "Source of the data, such as WEIGHT, INPUT or SB (the state buffer).";
        dest: None, "Destination of the data.";
        op: None, "Operation on the data, such as copy or transpose.";
        transfer_size: Bytes, "Bytes moved.";
        read_size: Bytes, "Bytes read at the source.";
        write_size: Bytes, "Bytes written at the destination.";
        transfer_rate: BytesPerSecond, "Bytes moved, divided by the duration.";
        aggregated: None, "Whether the row is a whole transfer (yes) or one of its packets (no).";
        duplicate: None, "Whether the same packet has been reported before.";
        is_cc_dma: None, "Whether the transfer belongs to a collective operation.";
        crc: Hexadecimal, "Checksum over the data; equal runs give equal checksums.";
    }
    "Queue" {
        dma_engine: None, "Number of the DMA engine.";
        dma_queue: None, "Number of the queue on its engine.";
        queue_type: None, "Content or producer of the queue: data, instruction, input, output, software_dynamic, hardware_dynamic.";
        subgroup: None, "Known parts of the queue's name, number and engine.";
        semaphore_id: None, "Semaphore raised on completion; -1 for transfers that set up the run.";
        block_id: None, "Number of the transfer by the compiler, unique within its queue.";
        packet_idx: Count, "Position of the packet within its transfer.";
    }
    "Timing" {
        trigger: Nanoseconds, "Start of the instruction that started the transfer.";
        completion: Nanoseconds, "Time at which the waiting instruction saw the end of the transfer.";
    }
    "IDs" {
        id: None, "Id, unique within the profile.";
        packet_aggregation_id: None, "Transfer that contains the packet.";
        pcore_idx: None, "Physical core within a logical core of several physical cores.";
    }
    "Access pattern" {
        read_shape: None, "Shape read at the source.";
        source_offset: None, "Byte offset at the source.";
        source_steps: None, "Strides at the source.";
        source_sb_partitions: None, "Partitions of the state buffer that are read.";
        source_num_sb_partitions: Count, "Number of partitions of the state buffer that are read.";
        write_shape: None, "Shape written at the destination.";
        dest_offset: None, "Byte offset at the destination.";
        dest_steps: None, "Strides at the destination.";
        dest_sb_partitions: None, "Partitions of the state buffer that are written.";
        dest_num_sb_partitions: Count, "Number of partitions of the state buffer that are written.";
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
