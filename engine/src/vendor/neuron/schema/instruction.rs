//! Table `instruction`.

table! {
    /// Instructions that the compute engines executed.
    "instruction" INSTRUCTION Instruction Slices, name in "opcode";
    "Timing" {
        evt_wait_time: Nanoseconds, "How long the instruction stood ready and waited for its semaphores before it started.";
        trigger: Nanoseconds, "Start of the DMA transfer that this instruction set off.";
    }
    "Execution" {
        label: None, "The row neuron-profile draws it on: the engine, with matrix multiplications apart as TensorMatrix.";
        subgroup: None, "The engine that executed it.";
        pc: Count, "Position in the engine's program as loaded on the device.";
        compiler_pc: Count, "Position in the engine's program as the compiler wrote it.";
        compiler_opcode: None, "Opcode the compiler wrote, where loading replaced it by another.";
        instruction_type: None, "What the compiler meant it for, such as REGULAR or TRANSPOSE.";
        activation_fn: None, "Function that the Scalar engine applied.";
        elements: Count, "Multiply-accumulate operations of a matrix multiplication.";
        crc_in: Hexadecimal, "Checksum over the input; equal runs give equal checksums.";
        crc_out: Hexadecimal, "Checksum over the output; equal runs give equal checksums.";
    }
    "Operands" {
        operands: None, "Semaphores, addresses, shapes and types as executed.";
        compiler_operands: None, "Operands the compiler wrote, where loading replaced them by others.";
    }
    "Memory traffic" {
        hbm_read_bytes: Bytes, "Read from device memory on behalf of this instruction.";
        hbm_write_bytes: Bytes, "Written to device memory on behalf of this instruction.";
        sbuf_read_bytes: Bytes, "Read from the state buffer.";
        sbuf_write_bytes: Bytes, "Written to the state buffer.";
        psum_read_bytes: Bytes, "Read from the partial-sum buffer.";
        psum_write_bytes: Bytes, "Written to the partial-sum buffer.";
        psum_read_sbuf_write_bytes: Bytes, "Moved from the partial-sum buffer to the state buffer.";
        is_psum_read_sbuf_write: None, "Whether it moves partial sums to the state buffer.";
        spill_save_bytes: Bytes, "Saved to device memory because the state buffer was full.";
        spill_reload_bytes: Bytes, "Loaded again after it had been saved for want of room.";
        weight_queue_bytes: Bytes, "Loaded through a queue for weights.";
        input_queue_bytes: Bytes, "Loaded through a queue for inputs.";
        output_queue_bytes: Bytes, "Stored through a queue for outputs.";
    }
    "Source" {
        layer: None, "The model's layer that it belongs to.";
        hlo_name: None, "The HLO operation that it comes from.";
        hlo_attrs: None, "What the HLO operation says of its origin: operation type, file and line.";
        bir_instruction_name: None, "Name in the compiler's last representation before machine code.";
        nki_source_location: None, "File and line of the NKI kernel that it comes from.";
        bir_debug_info_source_location: None, "File and line that the compiler's debug records name.";
        stack_frame_ids: None, "Frames of the call that created the operation, innermost first.";
        fully_qualified_subgraph: None, "The subgraph that it belongs to.";
    }
    "IDs" {
        id: None, "Unique within the profile.";
        predecessors: None, "The instructions it depends on, as listed by the trace.";
        bir_id: None, "Number in the compiler's last representation, with its subgraph.";
        raw_bir_id: None, "The same without the subgraph.";
        penguin_id: None, "Number in the compiler's tensor representation, with its subgraph.";
        raw_penguin_id: None, "The same without the subgraph.";
        raw_hlo_id: None, "Number of the HLO operation.";
        raw_framework_id: None, "Numbers of the framework's operations that it comes from.";
        pcore_idx: None, "The physical core within a logical core of several.";
    }
}
