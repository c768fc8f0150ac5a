//! Tables of collective communication between ranks.

table! {
    /// Operations in which several ranks exchange data.
    "cc_ops" CC_OPS CcOps Slices, name in "operation";
    "Collective" {
        algorithm: None, "Algorithm of the exchange, such as Ring or Mesh.";
        dtype: None, "Type of the elements.";
        num_elements: Count, "Elements that each rank contributes.";
        input_size: Bytes, "Input bytes of each rank.";
        output_size: Bytes, "Output bytes of each rank.";
        algorithm_bandwidth: BytesPerSecond, "Larger of input and output bytes, divided by the duration.";
        bus_bandwidth: BytesPerSecond, "Data rate of the links: the algorithm bandwidth times a factor of operation and group size.";
        replica_group: None, "Participating ranks, one list for each group.";
        replica_group_id: None, "Number of this grouping of ranks.";
    }
    "Timing" {
        trigger_engine: None, "Engine whose instruction started the operation.";
        trigger_start_ts: Nanoseconds, "Start of the instruction that started the operation.";
        cc_trigger_start_delay: Nanoseconds, "Time from the start of this instruction to the start of the operation.";
        rank_wait_time: Nanoseconds, "Time from the arrival of this rank to the arrival of the last rank.";
    }
    "IDs" {
        op_id: None, "Number of the operation; equal on all participating ranks.";
        stream_id: None, "Id of the operation's stream, unique within the profile.";
        stream_index: None, "Number of the operation's stream within the run.";
        pcore_idx: None, "Physical core within a logical core of several physical cores.";
    }
}

table! {
    /// Steps that the cores for collective communication executed.
    "cc_instruction" CC_INSTRUCTION CcInstruction Slices, name in "description";
    "Execution" {
        core_idx: None, "Core for collective communication.";
        trigger_engine: None, "Engine whose instruction started the operation.";
        trigger_start_ts: Nanoseconds, "Start of the instruction that started the operation.";
    }
    "IDs" {
        op_id: None, "Operation that contains this step.";
    }
}

table! {
    /// Streams of collective communication and the cores that serve them.
    "cc_stream" CC_STREAM CcStream Side;
    "Stream" {
        stream_id: None, "Id, unique within the profile.";
        stream_index: None, "Number within the run.";
        cc_core_ids: None, "Cores that serve the stream.";
    }
}
