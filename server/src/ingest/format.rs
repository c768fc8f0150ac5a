//! Which reader a file is for, and reading it.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use nprof_capture::formats::neff::Neff;
use nprof_capture::formats::neff::header::Header;
use nprof_capture::formats::neuron::json;
use nprof_capture::formats::{Error, ntff, trace_event};
use nprof_engine::model::Sink;

use super::inputs::RankInput;
use super::mapped::Mapped;
use super::meter::{Meter, Metered};
use super::{IngestError, Result};

/// Bytes that are looked at to tell the format: a JSON file's first key is among them.
const HEAD_LEN: u64 = 4096;
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// The largest NEFF that is unpacked; larger ones would not leave memory for the trace.
const MAX_NEFF_BYTES: u64 = 4 << 30;

/// The formats of traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// Binary: what `neuron-profile capture` writes. Its reader tells versions and other files apart.
    Ntff,
    /// What `neuron-profile view --output-format json` writes.
    NeuronJson,
    /// Trace Event JSON.
    TraceEvent,
}

/// Reads a rank's files into the sink.
pub(super) fn read(input: &RankInput, sink: &mut dyn Sink, meter: &Meter) -> Result<()> {
    let path = &input.trace;
    let open = |source| IngestError::open(path, source);
    let format = |source| IngestError::Format { path: path.clone(), source };
    let mut file = File::open(path).map_err(open)?;
    let mut head = Vec::new();
    (&mut file).take(HEAD_LEN).read_to_end(&mut head).map_err(open)?;
    let is_packed = head.starts_with(&GZIP_MAGIC);
    // Bytes are counted where the file is read, before they are unpacked: the total is the file's size.
    let whole = Metered::new(Cursor::new(head.clone()).chain(file), meter);
    let mut reader: Box<dyn Read + '_> =
        if is_packed { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) };
    if is_packed {
        head.clear();
        (&mut reader).take(HEAD_LEN).read_to_end(&mut head).map_err(|error| format(not_gzip(&error)))?;
        reader = Box::new(Cursor::new(head.clone()).chain(reader));
    }
    let found = detect(&head).map_err(format)?;
    if let (Some(neff), Format::NeuronJson | Format::TraceEvent) = (&input.neff, found) {
        tracing::info!("{} is not needed for this kind of trace", neff.display());
    }
    let mut ignored = |_| {};
    match found {
        Format::NeuronJson => json::read(&mut reader, sink, &mut ignored).map_err(format),
        Format::TraceEvent => trace_event::read(&mut reader, sink, &mut ignored).map_err(format),
        Format::Ntff if is_packed => Err(format(Error::format(
            "this is gzip, but there is no JSON in it",
            "byte 0",
            "unpack it with gunzip if it is an NTFF",
        ))),
        Format::Ntff => read_ntff(path, input.neff.as_deref(), sink, meter),
    }
}

fn read_ntff(path: &Path, neff: Option<&Path>, sink: &mut dyn Sink, meter: &Meter) -> Result<()> {
    let mapped = Mapped::open(path).map_err(|source| IngestError::open(path, source))?;
    let neff = neff.map(|path| read_neff(path, meter)).transpose()?;
    let mut told = 0;
    let mut progress = |done: u64| {
        meter.add_bytes(done.saturating_sub(told));
        told = done;
    };
    ntff::read(mapped.bytes(), neff.as_ref(), sink, &mut progress)
        .map_err(|source| IngestError::Format { path: path.to_owned(), source })
}

fn read_neff(path: &Path, meter: &Meter) -> Result<Neff> {
    let mapped = Mapped::open(path).map_err(|source| IngestError::open(path, source))?;
    let format = |source| IngestError::Format { path: path.to_owned(), source };
    let size = mapped.bytes().len() as u64;
    if size > MAX_NEFF_BYTES {
        let what = format!("the NEFF has {size} bytes, more than the {MAX_NEFF_BYTES} that are read");
        return Err(format(Error::format(what, "byte 0", "leave it out: the trace can be read without it")));
    }
    let neff = Neff::read(mapped.bytes()).map_err(format)?;
    meter.add_bytes(size);
    Ok(neff)
}

/// From a file's first bytes, unpacked.
fn detect(head: &[u8]) -> Result<Format, Error> {
    let text = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head).trim_ascii_start();
    match text.first() {
        None => Err(Error::format("the file is empty", "byte 0", "capture or export the profile again")),
        Some(b'{') if json::recognises(head) => Ok(Format::NeuronJson),
        Some(b'{' | b'[') => Ok(Format::TraceEvent),
        Some(_) if Header::is_at_start(head) => Err(Error::format(
            "this is a NEFF: the program, not its trace",
            "byte 0",
            "name the trace too: -n for the NEFF, -s for the trace",
        )),
        // An NTFF begins with its version, a small number.
        Some(first) if !first.is_ascii_control() && first.is_ascii() => Err(Error::format(
            "this is no trace: neither NTFF nor JSON",
            "byte 0",
            "expected what neuron-profile capture or a profiler's JSON export writes",
        )),
        Some(_) => Ok(Format::Ntff),
    }
}

fn not_gzip(error: &io::Error) -> Error {
    Error::format(
        format!("this begins like gzip but cannot be unpacked ({error})"),
        "byte 0",
        "copy the file again from where it was captured",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(head: &[u8], expected: Option<Format>) {
        assert_eq!(detect(head).ok(), expected, "{}", head.escape_ascii());
    }

    #[test]
    fn formats_by_their_first_bytes() {
        check(b"", None);
        check(b" \n", None);
        check(b"{\"instruction\":[", Some(Format::NeuronJson));
        check(b"\xef\xbb\xbf { \"dma\" : [", Some(Format::NeuronJson));
        check(b"{\"traceEvents\":[", Some(Format::TraceEvent));
        check(b"\n[{\"ph\":", Some(Format::TraceEvent));
        check(b"\x05\0\0\0", Some(Format::Ntff));
        check(b"\x82\x01", Some(Format::Ntff));
        check(b"root:x:0:0", None);
        check(&[&2_u64.to_le_bytes()[..], &1024_u64.to_le_bytes()].concat(), None);
    }
}
