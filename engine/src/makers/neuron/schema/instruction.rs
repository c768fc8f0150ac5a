//! Table `instruction`.

table! {
    /// Instructions that the compute engines executed.
    "instruction" INSTRUCTION Instruction Slices, name in "opcode";
    "Timing" {
        evt_wait_time: Nanoseconds, "Time that the ready instruction waited for its semaphores before it started.";
        trigger: Nanoseconds, "Start of the DMA transfer that this instruction started.";
    }
    "Execution" {
        label: None, "Row of the instruction in neuron-profile: the engine, or TensorMatrix for matrix multiplications.";
        subgroup: None, "Engine that executed the instruction.";
        pc: Count, "Position in the engine's program as loaded on the device.";
        compiler_pc: Count, "Position in the engine's program as the compiler wrote it.";
        compiler_opcode: None, "Opcode that the compiler wrote, if loading replaced it.";
        instruction_type: None, "Purpose that the compiler gave the instruction, such as REGULAR or TRANSPOSE.";
        activation_fn: None, "Function that the Scalar engine applied.";
        elements: Count, "Multiply-accumulate operations of a matrix multiplication.";
        crc_in: Hexadecimal, "Checksum over the input; equal runs give equal checksums.";
        crc_out: Hexadecimal, "Checksum over the output; equal runs give equal checksums.";
    }
    "Operands" {
        operands: None, "Semaphores, addresses, shapes and types as executed.";
        compiler_operands: None, "Operands that the compiler wrote, if loading replaced them.";
    }
    "Memory traffic" {
        hbm_read_bytes: Bytes, "Bytes read from device memory for this instruction.";
        hbm_write_bytes: Bytes, "Bytes written to device memory for this instruction.";
        sbuf_read_bytes: Bytes, "Bytes read from the state buffer.";
        sbuf_write_bytes: Bytes, "Bytes written to the state buffer.";
        psum_read_bytes: Bytes, "Bytes read from the partial-sum buffer.";
        psum_write_bytes: Bytes, "Bytes written to the partial-sum buffer.";
        psum_read_sbuf_write_bytes: Bytes, "Bytes moved from the partial-sum buffer to the state buffer.";
        is_psum_read_sbuf_write: None, "Whether the instruction moves partial sums to the state buffer.";
        spill_save_bytes: Bytes, "Bytes saved to device memory because the state buffer was full.";
        spill_reload_bytes: Bytes, "Bytes loaded again that were saved earlier because the state buffer was full.";
        weight_queue_bytes: Bytes, "Bytes loaded through a queue for weights.";
        input_queue_bytes: Bytes, "Bytes loaded through a queue for inputs.";
        output_queue_bytes: Bytes, "Bytes stored through a queue for outputs.";
    }
    "Source" {
        layer: None, "Layer of the model that contains the instruction.";
        hlo_name: None, "HLO operation that the instruction comes from.";
        hlo_attrs: None, "Origin that the HLO operation states: operation type, file and line.";
        bir_instruction_name: None, "Name in the compiler's last representation before machine code.";
        nki_source_location: None, "File and line of the NKI kernel that the instruction comes from.";
        bir_debug_info_source_location: None, "File and line in the debug records of the compiler.";
        stack_frame_ids: None, "Stack frames of the call that created the operation, innermost first.";
        fully_qualified_subgraph: None, "Subgraph that contains the instruction.";
    }
    "IDs" {
        id: None, "Id, unique within the profile.";
        predecessors: None, "Instructions that this instruction depends on, as the trace lists them.";
        bir_id: None, "Number in the compiler's last representation, with its subgraph.";
        raw_bir_id: None, "Number in the compiler's last representation, without its subgraph.";
        penguin_id: None, "Number in the compiler's tensor representation, with its subgraph.";
        raw_penguin_id: None, "Number in the compiler's tensor representation, without its subgraph.";
        raw_hlo_id: None, "Number of the HLO operation.";
        raw_framework_id: None, "Numbers of the framework's operations that the instruction comes from.";
        pcore_idx: None, "Physical core within a logical core of several physical cores.";
    }
}
