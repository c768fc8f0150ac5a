//! Tables about the run and the program: rows without a place on the timeline.

use crate::model::FieldSpec;

use super::layer::per_engine;

table! {
    /// When each engine was busy: its instructions without semaphore waits, merged where they touch.
    "active_time" ACTIVE_TIME ActiveTime Side;
    "Timing" {
        engine: None, "The engine.";
        start_ts: Nanoseconds, "Start of the busy interval.";
        end_ts: Nanoseconds, "End of the busy interval.";
        duration_ns: Nanoseconds, "Length of the busy interval.";
        pcore_idx: None, "The physical core within a logical core of several.";
    }
}

table! {
    /// The DMA queues that the program declares.
    "dma_queues_info" DMA_QUEUES_INFO DmaQueuesInfo Side;
    "Queue" {
        q_name: None, "Its name.";
        q_type: None, "What it carries.";
        q_idx: None, "Its number on the DMA engine.";
        q_eng_idx: None, "Number of its DMA engine.";
        q_event_id: None, "The event it raises; -1 for none.";
        q_axi_port: None, "The bus port that it uses.";
        q_dram_channel: None, "The memory channel that it uses.";
        subgraph: None, "The subgraph that declares it.";
    }
}

table! {
    /// Clocks, sizes and peaks of the device, and the extent of the capture.
    "metadata" METADATA Metadata Side;
    "Capture" {
        ntff_version: None, "Version of the trace file.";
        data_version: None, "Version of the export.";
        first_hw_timestamp: Nanoseconds, "First moment of the trace.";
        last_hw_timestamp: Nanoseconds, "Last moment of the trace.";
        first_ts: None, "First moment of the trace, as date and time.";
        last_ts: None, "Last moment of the trace, as date and time.";
        ticks_per_nanosec: None, "Ticks of the trace's clock in a nanosecond.";
        total_point_count: Count, "Records in the trace.";
        num_subgraphs: Count, "Subgraphs of the program.";
        is_simulation: None, "Whether the trace comes from a simulator.";
        is_ext: None, "Whether the trace was taken outside the vendor's own tests.";
    }
    "Device" {
        num_physical_cores: Count, "Physical cores that act as one logical core.";
        vnc_enabled: None, "Whether several physical cores act as one.";
        pe_clock_freq: None, "Clock of the Tensor engine in gigahertz.";
        pe_clock_others: None, "Base clock of the core in gigahertz.";
        pe_num_rows: Count, "Rows of the Tensor engine's array.";
        pe_num_cols: Count, "Columns of the Tensor engine's array.";
        hbm_ddr_bandwidth: BytesPerSecond, "Peak data rate of the device memory for one core.";
        dma_ddr_bandwidth: BytesPerSecond, "Peak data rate of the DMA engines for one core.";
    }
}

table! {
    /// Counts of what one core executed.
    "model_info" MODEL_INFO ModelInfo Side, patterns in per_engine_count;
    "Run" {
        nd_idx: None, "Number of the device.";
        nc_idx: None, "Number of the core on its device.";
        sg_name: None, "The subgraph that it ran.";
        neuroncore_cycle_count: Cycles, "Cycles of the core's base clock in the run.";
        event_count: Count, "Records of events such as semaphore changes.";
        trace_count: Count, "Records of all kinds.";
        dma_queue_count: Count, "DMA queues that the program declares.";
    }
}

table! {
    /// What device memory is used for.
    "nc_mem_usage" NC_MEM_USAGE NcMemUsage Side;
    "Memory" {
        nd: None, "Number of the device.";
        nc: None, "Number of the core on its device.";
        usage_type: None, "What it is used for.";
        amount_bytes: Bytes, "How much is used.";
    }
}

table! {
    /// The head of the program file.
    "neff_header" NEFF_HEADER NeffHeader Side;
    "Program" {
        network_name: None, "The program's name.";
        package_version: None, "Version of the file's layout.";
        header_size: Bytes, "Bytes before the packed program.";
        data_size: Bytes, "Bytes of the packed program.";
        major_version: None, "Major version of the program's format.";
        minor_version: None, "Minor version of the program's format.";
        build_version: None, "Build that wrote it.";
        hash: None, "Checksum of the program.";
        uuid: None, "Identity of the program.";
        number_of_logical_neuroncores: Count, "Logical cores that it needs.";
        number_of_neuroncores_per_lnc: Count, "Physical cores in a logical one.";
        enabled_features: None, "Features that the runtime must have.";
    }
}

table! {
    /// The program's tensors: inputs, outputs and weights.
    "neff_node" NEFF_NODE NeffNode Side;
    "Tensor" {
        variable_name: None, "Its name.";
        kind = "type": None, "IN, OUT or WEIGHT.";
        format: None, "Order of its dimensions in memory.";
        shape: None, "Its dimensions.";
        size: Bytes, "Its bytes.";
        node: None, "The program's node that it belongs to.";
        sg_name: None, "The subgraph that it belongs to.";
    }
    "Memory traffic" {
        load_to_sbuf_dma_count: Count, "Transfers that loaded it into the state buffer.";
        load_to_sbuf_avg_size_bytes: Bytes, "Average size of these transfers.";
        load_to_sbuf_total_size_bytes: Bytes, "Size of these transfers together.";
        load_to_sbuf_repeat_factor: None, "How many times the whole tensor has been loaded.";
    }
}

table! {
    /// Where the profile comes from.
    "profile_info" PROFILE_INFO ProfileInfo Side;
    "Capture" {
        profile_name: None, "The profile's name.";
        neff_name: None, "The program file.";
        ntff_filename: None, "The trace file.";
        profile_type: None, "What kind of profile it is.";
        cc_only: None, "Whether only collective communication was traced.";
        profiler_version: None, "Version of the tool that exported it.";
        profiler_build_time: None, "When that tool was built.";
    }
}

table! {
    /// What the exporting tool warned of.
    "warnings" WARNINGS Warnings Side;
    "Warning" {
        category: None, "What kind of warning it is.";
        message: None, "What it says.";
    }
}

fn per_engine_count(name: &str) -> Option<FieldSpec> {
    per_engine(name, crate::model::Unit::Nanoseconds)
}
