//! Formats that nprof knows and does not read, with advice.

use nprof_engine::segment::MAGIC;

use super::json::is_own_export;
use super::protobuf::is_xplane;
use crate::refusal::FileRefusal;

/// First byte of `ntrace.pb`: the tag of its first field.
const SYSTEM_TRACE_TAG: u8 = 0x82;

/// A format that is known and not read.
pub struct KnownFormat {
    mark: FormatMark,
    /// Kind of the file. [`FIRST_BYTE`] stands for the value of its first byte.
    what: &'static str,
    hint: &'static str,
}

/// Mark by which a format is recognised.
enum FormatMark {
    /// The file begins with these bytes, in upper or lower case.
    Begins(&'static [u8]),
    Is(fn(&[u8]) -> bool),
}

/// Placeholder in [`KnownFormat::what`] for the value of the file's first byte.
const FIRST_BYTE: &str = "{first byte}";

/// All known formats. The first row that fits counts.
static KNOWN: [KnownFormat; 21] = [
    known(b"\xfd7zXZ\0", "this is packed with xz", "unpack it first (`xz -d`)"),
    known(b"BZh", "this is packed with bzip2", "unpack it first (`bzip2 -d`)"),
    known(b"\x04\x22\x4d\x18", "this is packed with lz4", "unpack it first (`lz4 -d`)"),
    known(b"7z\xbc\xaf\x27\x1c", "this is a 7z archive", "unpack it first and pass the trace inside"),
    known(b"Rar!\x1a\x07", "this is a rar archive", "unpack it first and pass the trace inside"),
    known(
        b"SQLite format 3\0",
        "this is an SQLite database",
        "export the trace as JSON with the program that wrote the database",
    ),
    known(b"PAR1", "this is a Parquet file", "name the trace that this file was made from"),
    known(b"\x89HDF\r\n", "this is an HDF5 file", "name the trace that this file was made from"),
    known(b"\x7fELF", "this is a program (ELF)", "name the trace of a run of the program"),
    known(b"%PDF-", "this is a PDF", "name a trace"),
    known(b"<!DOCTYPE", WEB_PAGE, "download the trace again"),
    known(b"<html", WEB_PAGE, "download the trace again"),
    known(
        &MAGIC,
        "this is a segment of nprof's own store",
        "show it with `nprof inspect`, or ingest the trace that it came from",
    ),
    known(
        &[SYSTEM_TRACE_TAG],
        "this is a system trace of the Neuron runtime (ntrace.pb), not a device trace",
        "name an NTFF, which `neuron-profile capture` writes",
    ),
    KnownFormat {
        mark: FormatMark::Is(is_xplane),
        what: "this is an XPlane profile (.xplane.pb)",
        hint: "export its trace as Trace Event JSON first",
    },
    KnownFormat {
        mark: FormatMark::Is(is_own_export),
        what: "this is a JSON export of nprof, not a trace",
        hint: "name the trace that it came from, or export as `perfetto`, which nprof reads",
    },
    known(b"\n", "this begins like a Perfetto trace and is none", "capture the trace again"),
    KnownFormat {
        mark: FormatMark::Is(|head| matches!(head, [1..=31, ..])),
        what: "NTFF version {first byte} is not supported",
        hint: "nprof reads version 5, which neuron-profile of Neuron SDK 2.2x writes",
    },
    known(b"\xff\xfe", "this is UTF-16", "convert it to UTF-8"),
    known(b"\xfe\xff", "this is UTF-16", "convert it to UTF-8"),
    known(
        b"",
        "this is not a trace that nprof can read",
        "nprof reads NTFF, NEFF, neuron-profile JSON, AIU traces, Trace Event JSON and Perfetto traces, \
         compressed or not",
    ),
];

const WEB_PAGE: &str = "this is a web page, probably from a failed download";

const fn known(mark: &'static [u8], what: &'static str, hint: &'static str) -> KnownFormat {
    KnownFormat { mark: FormatMark::Begins(mark), what, hint }
}

/// Refusal of a file with these first bytes, which no format has claimed.
#[must_use]
pub fn refuse(head: &[u8]) -> FileRefusal {
    let first = match head.first() {
        Some(&first) if !head.trim_ascii().is_empty() => first,
        _ => return FileRefusal::unread("the file is empty", "capture the profile again"),
    };
    let fits = |known: &&KnownFormat| match known.mark {
        FormatMark::Begins(magic) => {
            head.get(..magic.len()).is_some_and(|start| start.eq_ignore_ascii_case(magic))
        }
        FormatMark::Is(is) => is(head),
    };
    let row = KNOWN.iter().find(fits).expect("the last row fits every file");
    FileRefusal::unread(row.what.replace(FIRST_BYTE, &first.to_string()), row.hint)
}
