//! Tables about the run and the program: rows without a place on the timeline.

use crate::model::FieldSpec;

use super::layer::per_engine;

table! {
    /// Busy intervals of each engine: instructions without semaphore waits, merged if they touch.
    "active_time" ACTIVE_TIME ActiveTime Side;
    "Timing" {
        engine: None, "Engine that was busy.";
        start_ts: Nanoseconds, "Start of the busy interval.";
        end_ts: Nanoseconds, "End of the busy interval.";
        duration_ns: Nanoseconds, "Length of the busy interval.";
        pcore_idx: None, "Physical core within a logical core of several physical cores.";
    }
}

table! {
    /// The DMA queues that the program declares.
    "dma_queues_info" DMA_QUEUES_INFO DmaQueuesInfo Side;
    "Queue" {
        q_name: None, "Name of the queue.";
        q_type: None, "Content of the queue.";
        q_idx: None, "Number of the queue on its DMA engine.";
        q_eng_idx: None, "Number of the queue's DMA engine.";
        q_event_id: None, "Event that the queue raises; -1 for none.";
        q_axi_port: None, "Bus port that the queue uses.";
        q_dram_channel: None, "Memory channel that the queue uses.";
        subgraph: None, "Subgraph that declares the queue.";
    }
}

table! {
    /// Clocks, sizes and peaks of the device, and the extent of the capture.
    "metadata" METADATA Metadata Side;
    "Capture" {
        ntff_version: None, "Version of the trace file.";
        data_version: None, "Version of the export.";
        first_hw_timestamp: Nanoseconds, "First time of the trace.";
        last_hw_timestamp: Nanoseconds, "Last time of the trace.";
        first_ts: None, "First time of the trace, as date and time.";
        last_ts: None, "Last time of the trace, as date and time.";
        ticks_per_nanosec: None, "Ticks of the trace's clock per nanosecond.";
        total_point_count: Count, "Number of records in the trace.";
        num_subgraphs: Count, "Number of subgraphs of the program.";
        is_simulation: None, "Whether the trace comes from a simulator.";
        is_ext: None, "Whether the trace was taken outside the vendor's own tests.";
    }
    "Device" {
        num_physical_cores: Count, "Number of physical cores that act as one logical core.";
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
    /// Counts of the work that one core executed.
    "model_info" MODEL_INFO ModelInfo Side, patterns in per_engine_count, rows ModelRow;
    "Run" {
        nd_idx: None, "Number of the device.";
        nc_idx: None, "Number of the core on its device.";
        sg_name: None, "Subgraph that the core ran.";
        neuroncore_cycle_count: Cycles, "Cycles of the core's base clock in the run.";
        event_count: Count, "Number of records of events such as semaphore changes.";
        trace_count: Count, "Number of records of all kinds.";
        dma_queue_count: Count, "Number of DMA queues that the program declares.";
    }
}

table! {
    /// Uses of device memory.
    "nc_mem_usage" NC_MEM_USAGE NcMemUsage Side;
    "Memory" {
        nd: None, "Number of the device.";
        nc: None, "Number of the core on its device.";
        usage_type: None, "Purpose of the memory.";
        amount_bytes: Bytes, "Used bytes.";
    }
}

table! {
    /// Header of the program file.
    "neff_header" NEFF_HEADER NeffHeader Side;
    "Program" {
        network_name: None, "Name of the program.";
        package_version: None, "Version of the file's layout.";
        header_size: Bytes, "Bytes before the packed program.";
        data_size: Bytes, "Bytes of the packed program.";
        major_version: None, "Major version of the program's format.";
        minor_version: None, "Minor version of the program's format.";
        build_version: None, "Build of the compiler that wrote the program.";
        hash: None, "Checksum of the program.";
        uuid: None, "Identity of the program.";
        number_of_logical_neuroncores: Count, "Number of logical cores that the program needs.";
        number_of_neuroncores_per_lnc: Count, "Number of physical cores in a logical core.";
        enabled_features: None, "Features that the runtime must have.";
    }
}

table! {
    /// Tensors of the program: inputs, outputs and weights.
    "neff_node" NEFF_NODE NeffNode Side;
    "Tensor" {
        variable_name: None, "Name of the tensor.";
        kind = "type": None, "IN, OUT or WEIGHT.";
        format: None, "Order of the tensor's dimensions in memory.";
        shape: None, "Dimensions of the tensor.";
        size: Bytes, "Size of the tensor.";
        node: None, "Node of the program that contains the tensor.";
        sg_name: None, "Subgraph that contains the tensor.";
    }
    "Memory traffic" {
        load_to_sbuf_dma_count: Count, "Number of transfers that loaded the tensor into the state buffer.";
        load_to_sbuf_avg_size_bytes: Bytes, "Average size of these transfers.";
        load_to_sbuf_total_size_bytes: Bytes, "Total size of these transfers.";
        load_to_sbuf_repeat_factor: None, "Number of times that the whole tensor was loaded.";
    }
}

table! {
    /// Origin of the profile.
    "profile_info" PROFILE_INFO ProfileInfo Side;
    "Capture" {
        profile_name: None, "Name of the profile.";
        neff_name: None, "Name of the program file.";
        ntff_filename: None, "Name of the trace file.";
        profile_type: None, "Kind of the profile.";
        cc_only: None, "Whether only collective communication was traced.";
        profiler_version: None, "Version of the tool that exported the profile.";
        profiler_build_time: None, "Build time of this tool.";
    }
}

table! {
    /// Warnings of the exporting tool.
    "warnings" WARNINGS Warnings Side;
    "Warning" {
        category: None, "Kind of the warning.";
        message: None, "Text of the warning.";
    }
}

fn per_engine_count(name: &str) -> Option<FieldSpec> {
    per_engine(name, crate::model::Unit::Nanoseconds)
}
