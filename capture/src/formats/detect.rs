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
/// Members of a tar begin at multiples of this, with their names.
const TAR_BLOCK_LEN: usize = 512;
const TAR_NAME_LEN: usize = 100;
/// Bytes of the longest varint.
const MAX_VARINT_LEN: usize = 10;
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
    if head.get(TAR_MAGIC_AT) == Some(b"ustar") {
        return reject("this is a tar archive", "unpack it first (`tar -xf`) and pass the traces inside");
    }
    if let Some((what, hint)) = foreign(head) {
        return reject(what, hint);
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
        [b'\n', ..] if is_xplane(head) => {
            reject("this is an XPlane profile (.xplane.pb)", "export its trace as Trace Event JSON first")
        }
        [b'\n', ..] => reject("this seems to be a Perfetto protobuf trace", "export it as JSON first"),
        [version @ 1..=31, ..] => reject(
            &format!("NTFF version {version} is not supported"),
            "nprof reads version 5, which neuron-profile of the Neuron SDK 2.2x writes",
        ),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => reject("this is UTF-16", "convert it to UTF-8"),
        _ => reject("this is no trace that nprof knows", formats),
    }
}

/// Files of other programs: first bytes, kind, advice. No trace begins with any of these bytes.
const FOREIGN: [(&[u8], &str, &str); 14] = [
    (b"\x28\xb5\x2f\xfd", "this is packed with zstd", "unpack it first (`zstd -d`)"),
    (b"\xfd7zXZ\0", "this is packed with xz", "unpack it first (`xz -d`)"),
    (b"BZh", "this is packed with bzip2", "unpack it first (`bzip2 -d`)"),
    (b"\x04\x22\x4d\x18", "this is packed with lz4", "unpack it first (`lz4 -d`)"),
    (b"7z\xbc\xaf\x27\x1c", "this is a 7z archive", "unpack it first and pass the trace inside"),
    (b"Rar!\x1a\x07", "this is a rar archive", "unpack it first and pass the trace inside"),
    (b"PK\x03\x04", "this is a zip archive", "unpack it first and pass the trace inside"),
    (b"SQLite format 3\0", "this is an SQLite database", "export the trace as JSON with its own program"),
    (b"PAR1", "this is a Parquet file", "name the trace that it was made of"),
    (b"\x89HDF\r\n", "this is an HDF5 file", "name the trace that it was made of"),
    (b"\x7fELF", "this is a program (ELF)", "name the trace of a run"),
    (b"%PDF-", "this is a PDF", "name a trace"),
    (b"<!DOCTYPE", "this is a web page, perhaps of a failed download", "download the trace again"),
    (b"<html", "this is a web page, perhaps of a failed download", "download the trace again"),
];

fn foreign(head: &[u8]) -> Option<(&'static str, &'static str)> {
    let starts_with =
        |magic: &[u8]| head.get(..magic.len()).is_some_and(|start| start.eq_ignore_ascii_case(magic));
    FOREIGN.into_iter().find(|(magic, ..)| starts_with(magic)).map(|(_, what, hint)| (what, hint))
}

/// Names of a NEFF's members begin like one of these.
const NEFF_MEMBERS: [&str; 8] =
    ["neff", "info.json", "kelf", "sg0", "hlo_", "metrics.json", "tensor_map", "debug_info"];

/// Whether this is a program: with its header, or the tar alone.
fn is_neff(head: &[u8]) -> bool {
    let states_header = head
        .get(NEFF_HEADER_LEN_AT)
        .and_then(|bytes| bytes.try_into().ok())
        .is_some_and(|bytes| u64::from_le_bytes(bytes) == NEFF_HEADER_LEN);
    if states_header {
        return true;
    }
    let is_tar = head.get(TAR_MAGIC_AT) == Some(b"ustar");
    let mut headers = head.chunks(TAR_BLOCK_LEN).filter(|block| block.get(TAR_MAGIC_AT) == Some(b"ustar"));
    is_tar
        && headers.any(|block| {
            let name = block[..TAR_NAME_LEN].split(|&byte| byte == 0).next().unwrap_or_default();
            let name = std::str::from_utf8(name).unwrap_or_default().trim_start_matches("./");
            NEFF_MEMBERS.iter().any(|member| name.starts_with(member))
        })
}

/// Whether a protobuf message whose first field is 1 is an XSpace of XPlanes and not a Perfetto
/// trace. A plane's name, a text, is field 2; field 2 of a Perfetto packet is a message, which
/// begins with a tag.
fn is_xplane(head: &[u8]) -> bool {
    let plane = head.get(1..).and_then(varint).and_then(|(_, rest)| {
        // A small number, the plane's id, may come first.
        match rest {
            [0x08, after @ ..] => varint(after).map(|(_, rest)| rest),
            rest => Some(rest),
        }
    });
    let Some([0x12, after @ ..]) = plane else { return false };
    let Some((len, rest)) = varint(after) else { return false };
    let name = usize::try_from(len).ok().and_then(|len| rest.get(..len));
    name.is_some_and(|name| !name.is_empty() && name.iter().all(|&byte| (b' '..=b'~').contains(&byte)))
}

/// A protobuf varint and what comes after it.
fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    for (at, &byte) in bytes.iter().enumerate().take(MAX_VARINT_LEN) {
        value |= u64::from(byte & 0x7f).checked_shl(7 * u32::try_from(at).ok()?)?;
        if byte < 0x80 {
            return Some((value, &bytes[at + 1..]));
        }
    }
    None
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

    /// The head of a tar with one empty member.
    fn tar(member: &str) -> Vec<u8> {
        let mut block = vec![0; TAR_BLOCK_LEN];
        block[..member.len()].copy_from_slice(member.as_bytes());
        block[TAR_MAGIC_AT].copy_from_slice(b"ustar");
        block
    }

    #[test]
    fn binary_formats() {
        check(b"\x05\x10\0\0\0\0\0\0\0", Format::Ntff);
        check(b"\x02\0\0\0\0\0\0\0\0\x04\0\0\0\0\0\0", Format::Neff);
        for member in ["neff.json", "./sg00/", "info.json"] {
            check(&tar(member), Format::Neff);
        }
        check(&[tar("readme.txt"), tar("kelf-0.json")].concat(), Format::Neff);
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
        check_rejected(&tar("dlrm_8_ranks/rank-0.json"), "tar archive");
        check_rejected(b"\x0a\x80\x02\x08\x01\x12\x09/host:CPU\x1a", "XPlane");
        check_rejected(b"\x0a\x10\x12\x0d/device:TPU:0\x1a", "XPlane");
        check_rejected(b"\x0a\x10\x12\x05\x0a\x03\x08\x01\x10", "Perfetto");
        check_rejected(b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "Perfetto");
        check_rejected(b"\x04\x22\x4d\x18", "lz4");
        check_rejected(b"SQLite format 3\0", "SQLite");
        check_rejected(b"<!doctype html>", "web page");
        check_rejected(b"hello", "no trace that nprof knows");
        check_rejected(b"\x1f\x8b\x08", "gzip");
    }
}
