//! Which reader a file is for, and reading it.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

use nprof_capture::formats::detect::{Format, HEAD_LEN, detect};
use nprof_capture::formats::input::Input;
use nprof_capture::formats::neff::Neff;
use nprof_capture::formats::neuron::json;
use nprof_capture::formats::trace_event::Origin;
use nprof_capture::formats::{Error, ntff, trace_event};
use nprof_engine::model::{Sink, WarningKind};
use nprof_engine::spill::Space;

use super::ahead::read_ahead;
use super::inputs::RankInput;
use super::mapped::Mapped;
use super::meter::{Meter, Metered};
use super::{IngestError, Result};

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// The largest NEFF that is unpacked; larger ones would not leave memory for the trace.
const MAX_NEFF_BYTES: u64 = 4 << 30;

/// Why the first bytes of a file show that it is no trace; `None` if it may be one, or cannot be
/// read at all.
pub(super) fn refusal(path: &Path) -> Option<String> {
    let mut reader = Input::new(File::open(path).ok()?).ok()?;
    match detect(reader.head(HEAD_LEN).ok()?) {
        Ok(Format::Ntff | Format::NeuronJson | Format::TraceEvent) => None,
        Ok(other) => Some(refused(other).to_string()),
        Err(error) => Some(error.to_string()),
    }
}

/// Why a file of this format is not read as a trace.
fn refused(format: Format) -> Error {
    let (what, hint) = match format {
        Format::Neff => (
            "this is a NEFF: the program, not its trace",
            "name the trace too: -n for the NEFF, -s for the trace",
        ),
        Format::SystemTrace => (
            "this is a system trace of the Neuron runtime (ntrace.pb), not a device trace",
            "expected an NTFF, which neuron-profile capture writes",
        ),
        Format::Segment => (
            "this is a segment of nprof's own store",
            "look at it with `nprof inspect`, or ingest the trace that it came from",
        ),
        Format::Ntff | Format::NeuronJson | Format::TraceEvent => ("this cannot be read here", "report it"),
    };
    Error::format(what, "byte 0", hint)
}

/// Reads a rank's files into the sink.
pub(super) fn read(
    input: &RankInput,
    origin: Option<Origin>,
    (sink, space): (&mut dyn Sink, Space<'_>),
    meter: &Meter,
) -> Result<()> {
    let path = &input.trace;
    let open = |source| IngestError::open(path, source);
    let format = |source| IngestError::Format { path: path.clone(), source };
    let unpack = |error: io::Error| match error.kind() {
        ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::UnexpectedEof => {
            format(not_gzip(&error))
        }
        _ => open(error),
    };
    // Bytes are counted where the file is read, before they are unpacked: the total is the file's size.
    let mut reader = Input::new(Metered::new(File::open(path).map_err(open)?, meter)).map_err(unpack)?;
    let head = reader.head(HEAD_LEN).map_err(unpack)?;
    let head_len = head.len() as u64;
    let found = detect(head).map_err(format)?;
    if let (Some(neff), Format::NeuronJson | Format::TraceEvent) = (&input.neff, found) {
        tracing::info!("{} is not needed for this kind of trace", neff.display());
    }
    let context = trace_event::Context { origin, space: Some(space) };
    let mut ignored = |_| {};
    match found {
        Format::NeuronJson => {
            read_ahead(&mut reader, |ahead| json::read(ahead, sink, &mut ignored)).map_err(format)?;
        }
        Format::TraceEvent => {
            let mapped = Mapped::open(path).map_err(open)?;
            if !mapped.bytes().starts_with(&GZIP_MAGIC) {
                let mut progress = counted(meter, head_len);
                return trace_event::read_bytes(mapped.bytes(), context, sink, &mut progress).map_err(format);
            }
            read_ahead(&mut reader, |ahead| trace_event::read(ahead, context, sink, &mut ignored))
                .map_err(format)?;
        }
        Format::Ntff => return read_ntff(path, input.neff.as_deref(), (sink, space), (meter, head_len)),
        Format::Neff | Format::SystemTrace | Format::Segment => return Err(format(refused(found))),
    }
    if let Some(damage) = reader.damage() {
        let what = "the file is cut off or damaged; what comes before has been read";
        sink.warn(WarningKind::TruncatedInput, what, &|| damage.to_owned());
    }
    Ok(())
}

fn read_ntff(
    path: &Path,
    neff: Option<&Path>,
    (sink, space): (&mut dyn Sink, Space<'_>),
    (meter, head_len): (&Meter, u64),
) -> Result<()> {
    let mapped = Mapped::open(path).map_err(|source| IngestError::open(path, source))?;
    if mapped.bytes().starts_with(&GZIP_MAGIC) {
        let hint = "unpack it with gunzip";
        let error = Error::format("this is an NTFF in gzip, but an NTFF is read as it is", "byte 0", hint);
        return Err(IngestError::Format { path: path.to_owned(), source: error });
    }
    let neff = neff.map(|path| read_neff(path, meter)).transpose()?;
    ntff::read(mapped.bytes(), neff.as_ref(), space, sink, &mut counted(meter, head_len))
        .map_err(|source| IngestError::Format { path: path.to_owned(), source })
}

/// Counts the bytes of a reader that tells how far it is, but for the first `told`, which have been counted.
fn counted(meter: &Meter, mut told: u64) -> impl FnMut(u64) + '_ {
    move |done| {
        meter.add_bytes(done.saturating_sub(told));
        told = told.max(done);
    }
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

fn not_gzip(error: &io::Error) -> Error {
    Error::format(
        format!("this begins like gzip but cannot be unpacked ({error})"),
        "byte 0",
        "copy the file again from where it was captured",
    )
}
