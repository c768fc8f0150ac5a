//! Probes of AIU traces and of logs of the AIU compiler.

use memchr::memmem;
use nprof_engine::vendor::aiu::{IDEAL_CYCLES, LOG_TELLING, SETTINGS, TELLING};

use super::Confidence;
use super::json::events;

/// Highest process id that is the number of a rank.
const MAX_RANK: u32 = 65_535;

/// Whether this is a trace of an AIU, in the dialect of its runtime or of PyTorch.
#[must_use]
pub fn probe(head: &[u8]) -> Option<Confidence> {
    TELLING.iter().find(|text| memmem::find(head, text.as_bytes()).is_some())?;
    events(head).filter(|confidence| *confidence > Confidence::Possible)?;
    Some(Confidence::Certain)
}

/// Whether this is a log of the compiler, a file of ideal cycles of the PyTorch compiler, or a file
/// with settings of the reader.
#[must_use]
pub fn probe_compiler(head: &[u8]) -> Option<Confidence> {
    if head.starts_with(SETTINGS.as_bytes()) {
        return Some(Confidence::Certain);
    }
    let has = |text: &str| memmem::find(head, text.as_bytes()).is_some();
    let is_json = head.trim_ascii_start().first().is_some_and(|first| matches!(first, b'[' | b'{'));
    if is_json && has(&format!("\"{IDEAL_CYCLES}\"")) && !has("\"ph\"") {
        return Some(Confidence::Certain);
    }
    // A log can begin with a bracket: `[DeepRT] …`. A trace can quote one.
    if has("\"ph\"") || has("\"traceEvents\"") {
        return None;
    }
    LOG_TELLING.iter().any(|text| has(text)).then_some(Confidence::Likely)
}

/// The rank that a trace states: under `distributedInfo`, else in FLEX as the process id of its
/// first event.
#[must_use]
pub fn rank(head: &[u8]) -> Option<u32> {
    match stated_rank(head) {
        None if !is_torch(head) => number_after(head, b"\"pid\"").filter(|&rank| rank <= MAX_RANK),
        stated => stated,
    }
}

/// The rank that a trace states under `distributedInfo`.
#[must_use]
pub fn stated_rank(head: &[u8]) -> Option<u32> {
    number_after(&head[memmem::find(head, b"\"distributedInfo\"")?..], b"\"rank\"")
}

/// Whether a trace is in PyTorch's dialect.
fn is_torch(head: &[u8]) -> bool {
    let has = |key: &str| memmem::find(head, key.as_bytes()).is_some();
    has("\"deviceProperties\"") || has("\"schemaVersion\"")
}

/// Texts of PyTorch's traces of other devices.
const OF_OTHERS: [&str; 5] = ["\"computeMajor\"", "\"cuda", "\"hip", "\"NVIDIA", "\"AMD"];

/// Whether a trace can be PyTorch's of a rank whose runtime wrote AIU traces: it is in PyTorch's
/// dialect, and no other device is in it.
#[must_use]
pub fn goes_with(head: &[u8]) -> bool {
    let has = |text: &str| memmem::find(head, text.as_bytes()).is_some();
    is_torch(head) && !OF_OTHERS.iter().any(|text| has(text)) && events(head) == Some(Confidence::Certain)
}

/// The number after the first occurrence of a key. A number that can go on behind the head does not
/// count.
fn number_after(head: &[u8], key: &[u8]) -> Option<u32> {
    let after = &head[memmem::find(head, key)? + key.len()..];
    let value = after.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let value = value.strip_prefix(b"\"").unwrap_or(value);
    let len = value.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(&value[..len]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLEX: &str = r#"[{"name":"a Cmpt Exec","ph":"B","pid": 3,"tid":1,"ts":1,"attr":{"TS1":"1"}}]"#;
    const TORCH: &str = r#"{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"AIU"}],
        "distributedInfo":{"backend":"x","rank": 7},"traceEvents":[{"ph":"X","pid":41}]}"#;

    #[test]
    fn both_dialects_are_recognised() {
        for (text, expected) in [(FLEX, Some(3)), (TORCH, Some(7))] {
            assert_eq!(probe(text.as_bytes()), Some(Confidence::Certain));
            assert_eq!(rank(text.as_bytes()), expected);
        }
        let cuda = TORCH.replace("AIU", "NVIDIA").replace("\"rank\": 7", "\"a\":1");
        assert_eq!((probe(cuda.as_bytes()), rank(cuda.as_bytes())), (None, None));
        assert!(!goes_with(cuda.as_bytes()) && !goes_with(FLEX.as_bytes()));
        assert!(goes_with(cuda.replace("NVIDIA", "CPU").as_bytes()));
        assert_eq!(probe(br#"{"AIU Roundtrip":1}"#), None, "no trace");
        for cut in 0..FLEX.len() {
            let head = &FLEX.as_bytes()[..cut];
            let _ = (probe(head), probe_compiler(head), rank(head));
        }
        let object = br#"{"distributedInfo":{"rank":6},"traceEvents":[{"pid":4711,"TS1":1}]}"#;
        assert_eq!(rank(object), Some(6), "FLEX as an object");
        assert_eq!(rank(br#"[{"pid":12"#), None, "the number can go on");
        assert_eq!(rank(br#"[{"pid":1000000,"#), None, "no rank");
    }

    #[test]
    fn files_of_the_compiler_are_recognised() {
        assert_eq!(probe_compiler(b"x\n~~~ Ideal/Total Cycles ~~~"), Some(Confidence::Likely));
        assert_eq!(probe_compiler(br#"[{"ideal_cycles": 1}]"#), Some(Confidence::Certain));
        assert_eq!(probe_compiler(b"[DeepRT] ===== Perf BEGIN ====="), Some(Confidence::Likely));
        assert_eq!(probe_compiler(br#"[{"ph":"i","name":"[DeepRT]"}]"#), None);
        assert_eq!(probe_compiler(b"hello"), None);
        assert_eq!(probe_compiler(FLEX.as_bytes()), None);
    }
}
