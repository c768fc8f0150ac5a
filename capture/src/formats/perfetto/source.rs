//! Packets of data sources that the reader does not read: kernel events, samples of profilers,
//! Android's own data. They are counted by name.

use std::collections::BTreeMap;

use nprof_engine::base::Result;
use nprof_engine::model::{FieldSpec, Sink, TableSpec, Unit, Value, WarningKind};

/// Names of the fields of a packet, as `trace_packet.proto` has them.
const NAMES: [(u32, &str); 81] = [
    (1, "ftrace_events"),
    (4, "inode_file_map"),
    (5, "chrome_events"),
    (7, "sys_stats"),
    (9, "process_stats"),
    (33, "trace_config"),
    (34, "ftrace_stats"),
    (35, "trace_stats"),
    (37, "profile_packet"),
    (38, "battery"),
    (39, "android_log"),
    (40, "power_rails"),
    (45, "system_info"),
    (46, "trigger"),
    (47, "packages_list"),
    (48, "chrome_benchmark_metadata"),
    (49, "perfetto_metatrace"),
    (51, "chrome_metadata"),
    (52, "gpu_counter_event"),
    (53, "gpu_render_stage_event"),
    (54, "streaming_profile_packet"),
    (56, "heap_graph"),
    (57, "graphics_frame_event"),
    (61, "module_symbols"),
    (62, "vulkan_memory_event"),
    (63, "gpu_log"),
    (64, "deobfuscation_mapping"),
    (65, "vulkan_api_event"),
    (66, "perf_sample"),
    (67, "cpu_info"),
    (68, "smaps_packet"),
    (69, "service_event"),
    (70, "initial_display_state"),
    (71, "gpu_mem_total_event"),
    (72, "extension_descriptor"),
    (73, "memory_tracker_snapshot"),
    (74, "streaming_allocation"),
    (75, "streaming_free"),
    (76, "frame_timeline_event"),
    (77, "android_energy_estimation_breakdown"),
    (78, "ui_state"),
    (82, "translation_table"),
    (83, "android_game_intervention_list"),
    (84, "statsd_atom"),
    (86, "android_system_property"),
    (88, "network_packet"),
    (89, "trace_uuid"),
    (90, "track_event_range_of_interest"),
    (91, "entity_state_residency"),
    (92, "network_packet_bundle"),
    (95, "etw_events"),
    (99, "v8_js_code"),
    (100, "v8_internal_code"),
    (101, "v8_wasm_code"),
    (102, "v8_reg_exp_code"),
    (103, "v8_code_move"),
    (107, "remote_clock_sync"),
    (109, "chrome_trigger"),
    (110, "pixel_modem_events"),
    (111, "pixel_modem_token_database"),
    (113, "clone_snapshot_trigger"),
    (115, "kernel_wakelock_data"),
    (117, "generic_kernel_task_state_event"),
    (118, "generic_kernel_cpu_freq_event"),
    (119, "cpu_per_uid_data"),
    (120, "generic_kernel_task_rename_event"),
    (121, "evdev_event"),
    (122, "generic_kernel_process_tree"),
    (123, "user_list"),
    (124, "trace_provenance"),
    (125, "protovms"),
    (126, "trace_attributes"),
    (127, "android_aflags"),
    (128, "gpu_info"),
    (129, "generic_gpu_frequency_event"),
    (130, "interrupt_info"),
    (131, "art_process_metadata"),
    (132, "journald_event"),
    (134, "concurrent_session_event"),
    (135, "stack_sample"),
    (900, "for_testing"),
];

/// Packets about the recording itself. They are listed, and need no warning.
const OF_RECORDING: [u32; 9] = [33, 34, 35, 45, 46, 69, 78, 89, 124];
/// Most kinds that are told apart.
const MAX_KINDS: usize = 512;

/// Packets of one kind.
#[derive(Debug)]
struct Unread {
    what: String,
    packets: u64,
    bytes: u64,
    /// Offset of the first one.
    first: u64,
}

/// Packets that are not read, by the number of their field.
#[derive(Debug, Default)]
pub(super) struct Sources(BTreeMap<u32, Unread>);

impl Sources {
    /// Counts a packet with data under this field.
    pub(super) fn count(&mut self, field: u32, bytes: usize, offset: u64) {
        let field = if self.0.len() < MAX_KINDS || self.0.contains_key(&field) { field } else { 0 };
        let fresh = || {
            let known = NAMES.iter().find(|(number, _)| *number == field);
            let what = known.map_or_else(|| format!("field {field}"), |(_, name)| (*name).to_owned());
            Unread { what, packets: 0, bytes: 0, first: offset }
        };
        let unread = self.0.entry(field).or_insert_with(fresh);
        unread.packets += 1;
        unread.bytes += bytes as u64;
    }

    /// The kinds with the most packets, as words; `None` if there are no packets but those about
    /// the recording.
    pub(super) fn listed(&self) -> Option<String> {
        /// Kinds that are named.
        const NAMED: usize = 5;
        let of_data = self.0.iter().filter(|(number, _)| !OF_RECORDING.contains(number));
        let mut kinds: Vec<&Unread> = of_data.map(|(_, unread)| unread).collect();
        kinds.sort_by_key(|unread| std::cmp::Reverse(unread.packets));
        let shown = |unread: &&Unread| format!("{} × `{}`", unread.packets, unread.what);
        let mut list: Vec<String> = kinds.iter().take(NAMED).map(shown).collect();
        if kinds.len() > NAMED {
            list.push("others".to_owned());
        }
        (!list.is_empty()).then(|| list.join(", "))
    }

    /// Counts the packets in warnings, and lists them in the side table `unread_packet`.
    pub(super) fn finish(&self, sink: &mut dyn Sink) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let table =
            sink.table(TableSpec::side("unread_packet", "Packets of the trace that nprof does not read."))?;
        let fields = [
            FieldSpec::new("name", Unit::None, "", "Name of the field in TracePacket."),
            FieldSpec::new("packets", Unit::Count, "", "Number of packets."),
            FieldSpec::new("size", Unit::Bytes, "", "Bytes of all of them."),
        ];
        let mut ids = Vec::new();
        for field in fields {
            ids.push(sink.field(table, field)?);
        }
        for (number, unread) in &self.0 {
            let values =
                [Value::Text(&unread.what), Value::unsigned(unread.packets), Value::unsigned(unread.bytes)];
            sink.row(table, &ids.iter().copied().zip(values).collect::<Vec<_>>())?;
            if OF_RECORDING.contains(number) {
                continue;
            }
            let what = format!("packets of `{}`, which nprof does not read", unread.what);
            let place = || format!("byte {}", unread.first);
            sink.warn_times(WarningKind::UnknownRecord, &what, unread.packets, &place);
        }
        Ok(())
    }
}
