//! Probes of AIU traces and of logs of the AIU compiler.

use memchr::memmem;
use nprof_engine::makers::aiu::{IDEAL_CYCLES, LOG_TELLING, SETTINGS, TELLING};

use super::aiu_export::{OF_TRACK, TRACK};
use super::outline::events;
use super::{Confidence, perfetto};
use crate::protobuf::{MessageDamage, MessageFields};

pub use super::aiu_export::{exported, rank_of_group};

/// Highest process id that is the number of a rank.
const MAX_RANK: u32 = 65_535;

/// Texts by which packets of an AIU are recognised: the key of a counter with its length, and calls
/// of PyTorch's dialect. nprof's own exports of the runtime's traces have other keys, so their
/// tracks tell them.
const IN_PACKETS: [&str; 3] = [COUNTER, "aiuLaunch", "aiuScheduleWait"];
/// Names of the runtime, which tell an AIU if the packets describe processes. nprof's own exports
/// describe none.
const NAMES_IN_PACKETS: [&str; 4] = [" Cmpt Exec", "AIU Roundtrip", "Flex RoundTrip", "SenFusedDeviceNode"];
/// Key of the first cycle counter in a packet, with its length.
const COUNTER: &str = "\x03TS1";

/// Fields of a packet: descriptor of a process, and of a thread.
const PROCESS: u32 = 43;
const THREAD: u32 = 44;

/// Whether this is a trace of an AIU, in the dialect of its runtime or of PyTorch: Trace Event
/// JSON, or Perfetto's packets.
#[must_use]
pub fn probe(head: &[u8]) -> Option<Confidence> {
    if is_packets(head) {
        let has = |text: &str| memmem::find(head, text.as_bytes()).is_some();
        let is_named = NAMES_IN_PACKETS.iter().any(|name| has(name)) && first_process(head).is_some();
        let is_it = is_named || exported(head).is_some();
        return (is_it || IN_PACKETS.iter().any(|text| has(text))).then_some(Confidence::Certain);
    }
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

/// Whether a trace has Perfetto's form.
#[must_use]
pub fn is_packets(head: &[u8]) -> bool {
    perfetto::probe(head).is_some()
}

/// The process that the first descriptor of a process or a thread in packets names.
fn first_process(head: &[u8]) -> Option<u64> {
    let mut fields = MessageFields::new(head);
    while let Ok(Some((_, packet))) = fields.next() {
        if let Ok(Some(process)) = process_of(packet.bytes()) {
            return Some(process);
        }
    }
    None
}

/// The process that a packet describes.
fn process_of(packet: &[u8]) -> Result<Option<u64>, MessageDamage> {
    let mut fields = MessageFields::new(packet);
    while let Some((number, value)) = fields.next()? {
        match number {
            PROCESS | THREAD => return id_of(value.bytes()).map(Some),
            TRACK => {
                let mut parts = MessageFields::new(value.bytes());
                while let Some((part, value)) = parts.next()? {
                    if OF_TRACK.contains(&part) {
                        return id_of(value.bytes()).map(Some);
                    }
                }
            }
            _ => {}
        }
    }
    Ok(None)
}

/// The process id of a descriptor of a process or a thread. One that is not written is 0.
fn id_of(descriptor: &[u8]) -> Result<u64, MessageDamage> {
    let mut fields = MessageFields::new(descriptor);
    while let Some((number, value)) = fields.next()? {
        if number == 1 {
            return Ok(value.number());
        }
    }
    Ok(0)
}

/// The rank that a trace states: under `distributedInfo`, else in FLEX as the process id of its
/// first event, or of the first descriptor of packets.
#[must_use]
pub fn rank(head: &[u8]) -> Option<u32> {
    if let Some(exported) = exported(head) {
        return exported.rank;
    }
    if is_packets(head) {
        let process = first_process(head).filter(|_| !is_torch(head))?;
        return u32::try_from(process).ok().filter(|&rank| rank <= MAX_RANK);
    }
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

/// Whether a trace is in PyTorch's dialect. Packets have no keys of a document, so the counters of
/// the runtime tell them.
#[must_use]
pub fn is_torch(head: &[u8]) -> bool {
    let has = |key: &str| memmem::find(head, key.as_bytes()).is_some();
    if let Some(exported) = exported(head) {
        return !exported.has_lanes;
    }
    if is_packets(head) {
        return !has(COUNTER) && !NAMES_IN_PACKETS.iter().any(|name| has(name));
    }
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

    /// A message under a field.
    fn message(field: u8, content: &[u8]) -> Vec<u8> {
        // Fields above 15 have a tag of two bytes.
        let tag = u32::from(field) << 3 | 2;
        let low = u8::try_from(tag & 0x7f).unwrap();
        let tag = if tag > 0x7f { vec![low | 0x80, u8::try_from(tag >> 7).unwrap()] } else { vec![low] };
        [tag, vec![u8::try_from(content.len()).unwrap()], content.to_vec()].concat()
    }

    #[test]
    fn packets_are_recognised_by_their_content() {
        let packet = |content: &[u8]| message(1, &[&[0x50, 1, 0x40, 5], content].concat());
        let thread = packet(&message(60, &[&[8, 11], &*message(4, &[8, 7, 16, 8])].concat()));
        let name = |text: &[u8]| packet(&message(11, &[&[0x48, 1], &*message(10, text)].concat()));
        let counter = packet(&message(11, &message(4, &message(10, b"TS1"))));
        for (packets, expected, of_torch, number) in [
            ([&*thread, &counter], true, false, Some(7)),
            ([&*thread, &name(b"add Cmpt Exec")], true, false, Some(7)),
            // An own export describes no process.
            ([&*name(b"a"), &name(b"add Cmpt Exec")], false, false, None),
            ([&*thread, &name(b"aiuLaunchCompute")], true, true, None),
            ([&*thread, &name(b"cudaLaunchKernel")], false, true, None),
        ] {
            let head = packets.concat();
            assert!(is_packets(&head));
            assert_eq!(probe(&head), expected.then_some(Confidence::Certain), "{head:?}");
            assert_eq!((is_torch(&head), rank(&head)), (of_torch, number), "{head:?}");
            for cut in 0..head.len() {
                let _ = (probe(&head[..cut]), rank(&head[..cut]));
            }
        }
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
