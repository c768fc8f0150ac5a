//! Tables of memory that is in use for a time, and of errors.

table! {
    /// Address ranges of the state buffer that are in use for a time.
    "sbuf_allocation" SBUF_ALLOCATION SbufAllocation Slices, name in "tensor_name";
    "Memory" {
        start_address: Hexadecimal, "First byte of the range within its partition.";
        end_address: Hexadecimal, "Last byte of the range within its partition.";
        partition: None, "Partition of the state buffer.";
        size_bytes: Bytes, "Bytes of the range over all partitions.";
    }
    "Source" {
        op_source_type: None, "Writer of the data: an instruction or a DMA transfer.";
        opcode: None, "Opcode of the instruction that writes the data.";
        queue_name: None, "DMA queue that writes the data.";
        hlo_name: None, "HLO operation that the data belongs to.";
        pcore_idx: None, "Physical core within a logical core of several physical cores.";
    }
}

table! {
    /// Ranges of the scratchpad in device memory that are in use for a time: results that were
    /// saved because the state buffer was full.
    "scratchpad_allocation" SCRATCHPAD_ALLOCATION ScratchpadAllocation Slices, name in "tensor_name";
    "Memory" {
        start_address: Hexadecimal, "First byte of the range.";
        end_address: Hexadecimal, "Last byte of the range.";
        size_bytes: Bytes, "Bytes of the range.";
    }
    "Source" {
        queue_name: None, "DMA queue that saves the data.";
        hlo_name: None, "HLO operation that the data belongs to.";
        pcore_idx: None, "Physical core within a logical core of several physical cores.";
    }
}

table! {
    /// Errors and warnings of the hardware, such as reads out of bounds.
    "error" ERROR ErrorEvent Slices, name in "description";
    "Error" {
        kind = "type": None, "Category: Errors, Warnings or Custom Notification.";
        error_type_id: None, "Number of the kind of error.";
        metadata: None, "Facts that the hardware reports with the error.";
        metadata_hex: Hexadecimal, "The same facts as a number.";
        pcore_idx: None, "Physical core within a logical core of several physical cores.";
    }
}
