//! Tables of collective communication between ranks.

table! {
    /// Operations in which several ranks exchange data.
    "cc_ops" CC_OPS CcOps Slices, name in "operation";
    "Collective" {
        algorithm: None, "How the exchange is organised, such as Ring or Mesh.";
        dtype: None, "Type of the elements.";
        num_elements: Count, "Elements that each rank contributes.";
        input_size: Bytes, "Bytes that go in on each rank.";
        output_size: Bytes, "Bytes that come out on each rank.";
        algorithm_bandwidth: BytesPerSecond, "The larger of input and output by the duration.";
        bus_bandwidth: BytesPerSecond, "What the links carried: the algorithm bandwidth times a factor of operation and group size.";
        replica_group: None, "The ranks that take part, one list per group.";
        replica_group_id: None, "Number of this way of grouping the ranks.";
    }
    "Timing" {
        trigger_engine: None, "The engine whose instruction set it off.";
        trigger_start_ts: Nanoseconds, "Start of the instruction that set it off.";
        cc_trigger_start_delay: Nanoseconds, "From that instruction to the start.";
        rank_wait_time: Nanoseconds, "From this rank's arrival to that of the last rank.";
    }
    "IDs" {
        op_id: None, "Number of the operation; equal on all ranks that take part.";
        stream_id: None, "The stream it runs on, unique within the profile.";
        stream_index: None, "The stream it runs on, counted within the run.";
        pcore_idx: None, "The physical core within a logical core of several.";
    }
}

table! {
    /// Steps that the cores for collective communication executed.
    "cc_instruction" CC_INSTRUCTION CcInstruction Slices, name in "description";
    "Execution" {
        core_idx: None, "The core for collective communication.";
        trigger_engine: None, "The engine whose instruction set the operation off.";
        trigger_start_ts: Nanoseconds, "Start of the instruction that set the operation off.";
    }
    "IDs" {
        op_id: None, "The operation it is a step of.";
    }
}

table! {
    /// Streams of collective communication and the cores that serve them.
    "cc_stream" CC_STREAM CcStream Side;
    "Stream" {
        stream_id: None, "Unique within the profile.";
        stream_index: None, "Counted within the run.";
        cc_core_ids: None, "The cores that serve it.";
    }
}
