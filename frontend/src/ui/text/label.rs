//! Labels for names of fields and metrics: `evt_wait_time` is "Event wait time". Pure.
//!
//! The name itself is in the explanation, because queries, exports and other tools use it.

use nprof_engine::makers::shown_name_of_metric;
use nprof_engine::wire::summary::MetricGroupEntry;

/// Meanings of abbreviations.
const WORDS: [(&str, &str); 10] = [
    ("avg", "average"),
    ("cat", "category"),
    ("evt", "event"),
    ("fn", "function"),
    ("hz", "frequency"),
    ("instr", "instruction"),
    ("num", "number of"),
    ("param", "parameter"),
    ("params", "parameters"),
    ("util", "utilization"),
];

/// Words written in capitals.
const CAPITALS: [&str; 30] = [
    "aiu", "api", "bir", "cc", "cpu", "cuda", "dge", "dma", "dram", "gpu", "hbm", "hfu", "hlo", "id", "io",
    "lnc", "mac", "mbu", "mfu", "mm", "neff", "nki", "pc", "pe", "psum", "pt", "sbuf", "tid", "tpb", "url",
];

/// Words written in capitals before a number: NeuronCore 0, counter `TS1` of an AIU.
const CAPITALS_WITH_NUMBER: [&str; 2] = ["nc", "ts"];

/// The label of a name. A name that is not `in_this_form` comes from the trace and is not changed.
#[must_use]
pub fn label(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if !name.starts_with(|first: char| first.is_ascii_lowercase()) || !name.bytes().all(is_plain) {
        return name.to_owned();
    }
    let mut text = String::with_capacity(name.len() + 8);
    // The value itself shows its unit.
    let words = name.strip_suffix("_ns").unwrap_or(name).split('_');
    for word in words.filter(|word| !word.is_empty()) {
        if !text.is_empty() {
            text.push(' ');
        }
        let letters = word.trim_end_matches(|sign: char| sign.is_ascii_digit());
        let is_numbered = letters != word;
        if CAPITALS.contains(&letters) || (is_numbered && CAPITALS_WITH_NUMBER.contains(&letters)) {
            text.push_str(&word.to_ascii_uppercase());
        } else if word == "percent" {
            text.push('%');
        } else {
            text.push_str(WORDS.iter().find(|(short, _)| *short == word).map_or(word, |(_, long)| long));
        }
    }
    if text.starts_with(|first: char| first.is_ascii_lowercase()) {
        text[..1].make_ascii_uppercase();
    }
    text
}

/// The label of a metric in a group. Names from the trace are not changed.
#[must_use]
pub fn label_of_metric(group: &MetricGroupEntry, name: &str) -> String {
    if group.has_names_of_trace { name.to_owned() } else { label_in_group(&group.key, name) }
}

/// The label of a metric of nprof in the group with this key.
#[must_use]
pub fn label_in_group(key: &str, name: &str) -> String {
    let shown = shown_name_of_metric(name);
    without_prefix(&format!("{key}_"), shown.as_deref().unwrap_or(name))
}

/// Like [`label`], below a heading: words of the heading are left out.
#[must_use]
pub fn label_below(heading: &str, name: &str) -> String {
    without_prefix(&(heading.to_lowercase().replace(' ', "_") + "_"), name)
}

fn without_prefix(prefix: &str, name: &str) -> String {
    label(name.strip_prefix(prefix).filter(|rest| !rest.starts_with("percent")).unwrap_or(name))
}

/// The label of a field below a heading. `None` for a field that nprof does not know: it has no
/// explanation, and its name is a key of the trace.
#[must_use]
pub fn known_label(heading: &str, name: &str, doc: &str) -> Option<String> {
    (!doc.is_empty()).then(|| label_below(heading, name))
}

/// A name and its explanation as the text of a tooltip.
#[must_use]
pub fn explanation(name: &str, doc: &str) -> String {
    if doc.is_empty() { name.to_owned() } else { format!("{name}\n{doc}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: &str) {
        assert_eq!(label(name), expected);
    }

    #[test]
    fn names_become_words() {
        check("evt_wait_time", "Event wait time");
        check("compiler_pc", "Compiler PC");
        check("dma_active_time_percent", "DMA active time %");
        check("throttle_avg_util_limit_nc0_percent", "Throttle average utilization limit NC0 %");
        check("activation_fn", "Activation function");
        check("throttle_active_nc0_time_ns", "Throttle active NC0 time");
        check("used_hz", "Used frequency");
        check("layer", "Layer");
        check("ts1", "TS1");
        check("first_ts", "First ts");
        check("q0_x__y", "Q0 x y");
    }

    #[test]
    fn other_forms_are_left_alone() {
        for name in ["External id", "Ev Idx", "correlationId", "größe", "_x", "", "S[8]"] {
            check(name, name);
        }
    }

    #[test]
    fn headings_are_not_said_again() {
        assert_eq!(label_below("Tensor engine", "tensor_engine_active_time"), "Active time");
        assert_eq!(label_below("Throttle", "throttle_percent"), "Throttle %");
        assert_eq!(label_below("", "layer"), "Layer");
        let group = |has_names_of_trace| MetricGroupEntry {
            key: "tensor_engine".to_owned(),
            title: "PE".to_owned(),
            has_names_of_trace,
            metrics: Vec::new(),
        };
        assert_eq!(label_of_metric(&group(false), "tensor_engine_active_time"), "Active time");
        let unthrottled = label_of_metric(&group(false), "throttle_unknown_active_time_nc0_percent");
        assert_eq!(unthrottled, "Unthrottled active time NC0 %");
        assert_eq!(label_of_metric(&group(true), "tensor_engine_active_time"), "tensor_engine_active_time");
        assert_eq!(explanation("pc", "Where."), "pc\nWhere.");
    }

    #[test]
    fn keys_of_a_trace_stay_as_they_are() {
        for key in ["i", "cbid", "fn", "grid"] {
            assert_eq!(known_label("Arguments", key, ""), None, "{key}");
        }
        assert_eq!(known_label("Event", "cat", "Categories of the event.").as_deref(), Some("Category"));
    }
}
