//! Stage profiles: files that switch the stages of acelyzer off. Many stages have a counterpart in
//! nprof; the others do nothing here that could be left out.

use std::collections::BTreeSet;

use serde_json::Value as Json;

/// Work that nprof does in place of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Switch {
    /// Durations of work on the device follow its counters.
    DeviceTime,
    /// Threads get numbers from 1000 on.
    Threads,
    /// Ranks get one clock.
    Alignment,
    /// Preparations become a counter.
    Preps,
    /// Slices with which the host keeps books can be left out.
    Globals,
    /// Overlapping slices are treated.
    Overlaps,
    /// Iterations are found.
    Iterations,
    /// The power is computed.
    Power,
    /// Rates of transfers are computed.
    Rates,
    /// The use of the PT arrays is computed.
    Utilization,
    /// Steps of a send or receive can be summed up.
    Sums,
    /// Arrows of collective operations can be written, and slices of whole operations.
    Flows,
    /// The bandwidth of collective operations is computed.
    Bandwidth,
    /// The tables of kernels are written.
    Tables,
    /// The table of times of kernels and of collective operations can be written.
    Shares,
    /// Events can be chosen by their phase.
    Filter,
    /// Names lose their numbers.
    Names,
    /// Arrows of launches are written.
    Launches,
}

/// Stages, and what each does here. A profile names some of them several times.
const STAGES: &[(&str, Option<Switch>)] = &[
    ("drop_timestamp_reversed_events", None),
    ("create_slice_from_BE", None),
    ("normalize_phase1", None),
    ("frequency_align_collect", None),
    ("pipeline_barrier", None),
    ("frequency_align_apply", None),
    ("normalize_phase2", None),
    ("event_sanity_checks", None),
    ("time_align_collect", None),
    ("time_align_apply", None),
    ("remove_ids_from_name", None),
    ("map_tid_to_range", Some(Switch::Threads)),
    ("cycle_count_to_wallclock", Some(Switch::DeviceTime)),
    ("tighten_hts_by_instr_type", Some(Switch::DeviceTime)),
    ("tripple_phased_events", None),
    ("mp_sync_tight_v1", Some(Switch::Alignment)),
    ("mp_ts_calibration_v2", None),
    ("queueing_counter", Some(Switch::Preps)),
    ("drop_global_events", Some(Switch::Globals)),
    ("recombine_cpu_events", None),
    ("sort_events", None),
    ("assert_ts_sequence", None),
    ("assert_global_ts_sequence", None),
    ("detect_partial_overlap_tids", None),
    ("detect_partial_overlap_events", Some(Switch::Overlaps)),
    ("collect_iteration_stats", Some(Switch::Iterations)),
    ("extract_power_event", Some(Switch::Power)),
    ("compute_power", Some(Switch::Power)),
    ("extract_data_transfer_event", Some(Switch::Rates)),
    ("compute_bandwidth", Some(Switch::Rates)),
    ("compute_utilization_fingerprints", Some(Switch::Utilization)),
    ("compute_utilization", Some(Switch::Utilization)),
    ("communication_event_collection", Some(Switch::Sums)),
    ("communication_event_apply", Some(Switch::Sums)),
    ("launch_flow_collect", Some(Switch::Launches)),
    ("launch_flow_create_missing", Some(Switch::Launches)),
    ("flow_prepare_event_data", Some(Switch::Flows)),
    ("flow_extraction", Some(Switch::Flows)),
    ("mp_calc_bw_v2", Some(Switch::Bandwidth)),
    ("mp_calc_bw", None),
    ("calculate_stats", Some(Switch::Tables)),
    ("calculate_stats_v2", Some(Switch::Shares)),
    ("processing_filter", Some(Switch::Filter)),
    ("flow_data_cleanup", None),
    ("cleanup_copy_of_device_ts", None),
    ("tb_refinement_intrusive", Some(Switch::Names)),
    ("tb_refinement_lightweight", None),
    ("cycle_count_conversion_cleanup", None),
];

/// Stages that the profile `torch_minimal` switches off, of those with a counterpart.
const OFF_IN_TORCH_MINIMAL: [Switch; 5] =
    [Switch::Threads, Switch::DeviceTime, Switch::Alignment, Switch::Preps, Switch::Globals];

/// The stages of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stages {
    off: BTreeSet<Switch>,
    /// Stages that the file switches off or does not name, and that do nothing in nprof.
    pub without_effect: Vec<String>,
    /// Stages that nprof does not know.
    pub unknown: Vec<String>,
}

impl Stages {
    /// The stages of a profile that acelyzer brings along, by the name of its file.
    #[must_use]
    pub fn known(name: &str) -> Option<Self> {
        match name {
            "everything.json" | "default.json" => Some(Self::default()),
            "torch_minimal.json" => Some(Self::torch_minimal()),
            _ => None,
        }
    }

    /// The stages of acelyzer's profile for TensorBoard.
    #[must_use]
    pub fn torch_minimal() -> Self {
        Self { off: BTreeSet::from(OFF_IN_TORCH_MINIMAL), ..Self::default() }
    }

    /// Reads a profile: `{"stages":[{"name":true},…]}`. A profile without stages switches none off;
    /// otherwise stages that it does not name are off. `name#2` is the second stage of this name.
    ///
    /// # Errors
    /// If the text is no profile.
    pub fn parse(text: &str) -> Result<Self, String> {
        let document: Json = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let Some(object) = document.as_object() else { return Err("it is no JSON object".to_owned()) };
        let Some(stages) = object.get("stages") else { return Ok(Self::default()) };
        let stages = stages.as_array().ok_or("`stages` is no list")?;
        let mut stated: Vec<(&str, bool)> = Vec::new();
        for entry in stages {
            let entry = entry.as_object().ok_or("a stage is no object")?;
            for (name, is_on) in entry {
                let is_on = is_on.as_bool().ok_or_else(|| format!("`{name}` is neither true nor false"))?;
                stated.push((name.split('#').next().unwrap_or(name), is_on));
            }
        }
        let is_on = |name: &str| stated.iter().any(|(of, is_on)| *of == name && *is_on);
        let mut of = Self::default();
        for (name, switch) in STAGES {
            match switch {
                Some(switch) if !is_on(name) => {
                    of.off.insert(*switch);
                }
                None if !is_on(name) => of.without_effect.push((*name).to_owned()),
                _ => {}
            }
        }
        let is_known = |name: &str| STAGES.iter().any(|(of, _)| *of == name);
        of.unknown =
            stated.iter().filter(|(name, _)| !is_known(name)).map(|(name, _)| (*name).to_owned()).collect();
        Ok(of)
    }

    /// Whether something is done.
    #[must_use]
    pub fn has(&self, switch: Switch) -> bool {
        !self.off.contains(&switch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_switches_stages_off() {
        assert_eq!(Stages::parse("{}"), Ok(Stages::default()));
        let all: Vec<String> = STAGES.iter().map(|(name, _)| format!(r#"{{"{name}":true}}"#)).collect();
        let with = |changes: &str| {
            let text = format!(r#"{{"stages":[{}{changes}]}}"#, all.join(","));
            Stages::parse(&text).unwrap()
        };
        assert_eq!(with(""), Stages::default());
        assert_eq!(with(r#",{"other#2":false}"#).unknown, ["other"]);
        let text = format!(r#"{{"stages":[{}]}}"#, all.join(","));
        let without = text
            .replace(r#""queueing_counter":true"#, r#""queueing_counter":false"#)
            .replace(r#""normalize_phase1":true"#, r#""normalize_phase1":false"#)
            .replace(r#",{"compute_power":true}"#, "");
        let stages = Stages::parse(&without).unwrap();
        assert!(!stages.has(Switch::Preps) && !stages.has(Switch::Power) && stages.has(Switch::Names));
        assert_eq!(stages.without_effect, ["normalize_phase1"]);
        for wrong in ["", "[]", r#"{"stages":1}"#, r#"{"stages":[1]}"#, r#"{"stages":[{"a":1}]}"#] {
            assert!(Stages::parse(wrong).is_err(), "{wrong}");
        }
    }
}
