//! Which format an input is in, by its first bytes.

use nprof_engine::segment::MAGIC;

use super::Error;
use super::trace_event::first_keys;

/// How many of the first (unpacked) bytes are worth having for [`detect`].
pub const HEAD_LEN: usize = 64 << 10;

/// A format that nprof knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Device trace of neuron-profile, version 5.
    Ntff,
    /// Compiled program of Neuron: a header of 1024 bytes and a tar, or the tar alone.
    Neff,
    /// What `neuron-profile view --output-format json` writes.
    NeuronJson,
    /// Trace Event JSON, PyTorch's dialect included.
    TraceEvent,
    /// System trace of the Neuron runtime, `ntrace.pb`.
    SystemTrace,
    /// A segment of nprof's own store.
    Segment,
}

/// The version of NTFF that is read.
const NTFF_VERSION: u8 = 5;
/// Where a NEFF states the length of its header, and what it is.
const NEFF_HEADER_LEN_AT: std::ops::Range<usize> = 8..16;
const NEFF_HEADER_LEN: u64 = 1024;
/// Where a tar says that it is one.
const TAR_MAGIC_AT: std::ops::Range<usize> = 257..262;
/// First byte of `ntrace.pb`: the tag of its first field.
const SYSTEM_TRACE_TAG: u8 = 0x82;

/// Tables of neuron-profile's JSON; each is an array of rows.
const NEURON_TABLES: [&str; 19] = [
    "instruction",
    "instruction_usage",
    "dma",
    "dma_throughput",
    "dma_queues_info",
    "pending_dma",
    "semaphore_update",
    "active_time",
    "ham",
    "summary",
    "summary_groups",
    "summary_group_order",
    "terminology",
    "layer_summary",
    "neff_header",
    "neff_node",
    "nc_mem_usage",
    "profile_info",
    "model_info",
];

/// The format of the input that begins with these bytes, unpacked.
///
/// # Errors
/// Where it is empty or none that nprof reads; the message says what it seems to be.
pub fn detect(head: &[u8]) -> Result<Format, Error> {
    let formats = "nprof reads NTFF, NEFF, neuron-profile JSON and Trace Event JSON";
    let reject = |what: &str, hint: &str| Err(Error::format(what, "byte 0", hint));
    if head.is_empty() {
        return reject("the file is empty", "capture the profile again; the capture may have failed");
    }
    if head.starts_with(&MAGIC) {
        return Ok(Format::Segment);
    }
    if is_neff(head) {
        return Ok(Format::Neff);
    }
    if let Some(keys) = first_keys(head) {
        let is_neuron =
            keys.iter().any(|(key, first)| *first == b'[' && NEURON_TABLES.contains(&key.as_str()));
        let is_trace = keys.iter().any(|(key, _)| key == "traceEvents");
        return Ok(if is_neuron && !is_trace { Format::NeuronJson } else { Format::TraceEvent });
    }
    match head {
        [NTFF_VERSION, ..] => Ok(Format::Ntff),
        [SYSTEM_TRACE_TAG, ..] => Ok(Format::SystemTrace),
        [0x1f, 0x8b, ..] => reject("gzip within gzip", "unpack the file once"),
        [b'\n', ..] => reject("this seems to be a Perfetto protobuf trace", "export it as JSON first"),
        [version @ 1..=31, ..] => reject(
            &format!("NTFF version {version} is not supported"),
            "nprof reads version 5, which neuron-profile of the Neuron SDK 2.2x writes",
        ),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => reject("this is packed with zstd", "unpack it first (`zstd -d`)"),
        [b'P', b'K', 3, 4, ..] => {
            reject("this is a zip archive", "unpack it first and pass the trace inside")
        }
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => reject("this is UTF-16", "convert it to UTF-8"),
        _ => reject("this is no trace that nprof knows", formats),
    }
}

fn is_neff(head: &[u8]) -> bool {
    let states_header = head
        .get(NEFF_HEADER_LEN_AT)
        .and_then(|bytes| bytes.try_into().ok())
        .is_some_and(|bytes| u64::from_le_bytes(bytes) == NEFF_HEADER_LEN);
    states_header || head.get(TAR_MAGIC_AT) == Some(b"ustar")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(head: &[u8], expected: Format) {
        assert_eq!(detect(head).unwrap(), expected);
    }

    #[track_caller]
    fn check_rejected(head: &[u8], expected: &str) {
        let message = detect(head).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }

    #[test]
    fn binary_formats() {
        check(b"\x05\x10\0\0\0\0\0\0\0", Format::Ntff);
        check(b"\x02\0\0\0\0\0\0\0\0\x04\0\0\0\0\0\0", Format::Neff);
        check(&[&[b'a'; 257], &b"ustar\x0000"[..]].concat(), Format::Neff);
        check(b"\x82\x01", Format::SystemTrace);
        check(b"NPROF\r\n\x1a\x01\0", Format::Segment);
    }

    #[test]
    fn json_formats() {
        check(b"[]", Format::TraceEvent);
        check(b"\xef\xbb\xbf\n // why\n[{", Format::TraceEvent);
        check(
            b"\n{\n \"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0}], \"traceEv",
            Format::TraceEvent,
        );
        check(br#"{"traceEvents":[], "summary": [{}]}"#, Format::TraceEvent);
        check(br#"{"metadata": {"instruction": 1}, "traceEvents": ["#, Format::TraceEvent);
        check(br#"{"ph":"X"}"#, Format::TraceEvent);
        check(br#"{"semaphore_update":[{"id":"2""#, Format::NeuronJson);
        check(br#"{"metadata":[{}],"summary":[{"#, Format::NeuronJson);
    }

    #[test]
    fn everything_else_says_what_it_seems_to_be() {
        check_rejected(b"", "the file is empty");
        check_rejected(b"\x04\0\0\0", "NTFF version 4 is not supported");
        check_rejected(b"\x0a\x03abc", "Perfetto");
        check_rejected(b"PK\x03\x04", "zip");
        check_rejected(b"hello", "no trace that nprof knows");
        check_rejected(b"\x1f\x8b\x08", "gzip");
    }
}
