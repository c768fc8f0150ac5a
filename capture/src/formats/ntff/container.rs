//! The container: header, protobuf part, record segments. All ranges that it returns lie inside the
//! file.

use std::ops::Range;

use nprof_engine::base::in_memory;
use prost::Message;

use super::proto;
use super::record::{RECORD_LEN, SegmentKind};
use crate::error::Error;
use crate::probe::ntff::{PROTOBUF_LEN_AT, PROTOBUF_MAX_LEN, VERSION};

/// Bytes before the protobuf part.
pub const HEADER_LEN: usize = 128;
/// First byte of an `ntrace.pb`. This protobuf message shares nothing with an NTFF and is often
/// mistaken for one.
const NTRACE_FIRST_BYTE: u8 = 0x82;

/// An NTFF whose parts have been checked to lie inside the file.
#[derive(Debug)]
pub struct NtffContainer<'a> {
    /// The protobuf part.
    pub capture: proto::Capture,
    /// The record area: all bytes after the protobuf part.
    record_area: &'a [u8],
    /// Offset of `record_area` in the file.
    record_area_at: u64,
}

/// The records of a segment and their kind.
#[derive(Debug, Clone, Copy)]
pub struct RecordSegment<'a> {
    /// Subject of the records.
    pub kind: SegmentKind,
    /// The container's code for the writer of the records.
    pub block_kind: u32,
    /// The container's code for the sort of records.
    pub record_kind: u32,
    /// The records, without a rest.
    pub bytes: &'a [u8],
    /// Offset of `bytes` in the file.
    pub at: u64,
}

impl<'a> NtffContainer<'a> {
    /// Opens the file's bytes.
    ///
    /// # Errors
    /// If the header, the protobuf part or a segment contradicts the format.
    pub fn open(input: &'a [u8]) -> Result<Self, Error> {
        let protobuf = protobuf_range(input)?;
        let capture = proto::Capture::decode(&input[protobuf.clone()]).map_err(|error| {
            Error::format(
                format!("the protobuf part of the NTFF cannot be decoded ({error})"),
                format!("bytes {}..{}", protobuf.start, protobuf.end),
                "the file is damaged; copy it again from the machine of the capture",
            )
        })?;
        let container =
            Self { capture, record_area: &input[protobuf.end..], record_area_at: protobuf.end as u64 };
        if container.subgraphs().next().is_none() {
            return Err(Error::format(
                "the NTFF names no subgraph, so it contains nothing to show",
                format!("bytes {}..{}", protobuf.start, protobuf.end),
                "check that the model ran during the capture",
            ));
        }
        for subgraph in container.subgraphs() {
            for number in 0..subgraph.segments.len() {
                container.segment(subgraph, number)?;
            }
        }
        Ok(container)
    }

    /// All subgraphs, one per physical core.
    pub fn subgraphs(&self) -> impl Iterator<Item = &proto::Subgraph> {
        self.capture.nodes.iter().flat_map(|node| &node.parts).flat_map(|part| &part.subgraphs)
    }

    /// The segments of a subgraph.
    ///
    /// # Errors
    /// If a segment lies outside the file or holds a broken record. [`NtffContainer::open`] has
    /// already checked this.
    pub fn segments(&self, subgraph: &proto::Subgraph) -> Result<Vec<RecordSegment<'a>>, Error> {
        (0..subgraph.segments.len()).map(|number| self.segment(subgraph, number)).collect()
    }

    fn segment(&self, subgraph: &proto::Subgraph, number: usize) -> Result<RecordSegment<'a>, Error> {
        let segment = &subgraph.segments[number];
        let (offset, size) = (segment.offset_bytes, segment.size_bytes);
        let kind = SegmentKind::from_codes(segment.block_kind, segment.record_kind);
        let place = || {
            let start = self.record_area_at.saturating_add(offset);
            format!("segment {number} ({} records), byte {start}", kind.title())
        };
        if !size.is_multiple_of(RECORD_LEN as u64) {
            return Err(Error::format(
                format!("a record segment has {size} bytes, which is not a multiple of {RECORD_LEN}"),
                place(),
                "the file is damaged; copy it again from the machine of the capture",
            ));
        }
        let within = |end: u64| end <= self.record_area.len() as u64;
        let end = offset.checked_add(size).filter(|&end| within(end)).ok_or_else(|| {
            let available = self.record_area.len() as u64;
            Error::format(
                format!(
                    "the file ends early: {size} bytes of records expected, {} present",
                    available.saturating_sub(offset)
                ),
                place(),
                "the file was cut off; copy it again, or capture again with more disk space",
            )
        })?;
        let usize_of = |n: u64| in_memory(n);
        let bytes = self.record_area.get(usize_of(offset)..usize_of(end)).unwrap_or_default();
        Ok(RecordSegment {
            kind,
            block_kind: segment.block_kind,
            record_kind: segment.record_kind,
            bytes,
            at: self.record_area_at + offset,
        })
    }
}

/// Range of the protobuf part in the file, from the header.
fn protobuf_range(input: &[u8]) -> Result<Range<usize>, Error> {
    let Some(&version) = input.first() else {
        return Err(Error::format("the file is empty", "", "capture the profile again"));
    };
    if version == NTRACE_FIRST_BYTE {
        return Err(Error::format(
            "this is an ntrace.pb (host events of a system profile), not an NTFF",
            "",
            "name the .ntff file from the same directory",
        ));
    }
    if version != VERSION {
        return Err(Error::format(
            format!("NTFF version {version} cannot be read; this nprof reads version {VERSION}"),
            "",
            "check that the file is an NTFF, or capture with a Neuron runtime that writes version 5",
        ));
    }
    let cut_off = |expected: String| {
        Error::format(
            format!("the file ends early: {expected}, {} bytes present", input.len()),
            "header",
            "the file was cut off; copy it again, or capture again with more disk space",
        )
    };
    if input.len() < HEADER_LEN {
        return Err(cut_off(format!("a header of {HEADER_LEN} bytes expected")));
    }
    let mut len = [0; 8];
    len.copy_from_slice(&input[PROTOBUF_LEN_AT..PROTOBUF_LEN_AT + 8]);
    let len = u64::from_le_bytes(len);
    if len > PROTOBUF_MAX_LEN {
        return Err(Error::format(
            format!("the protobuf part claims {len} bytes; the limit is {PROTOBUF_MAX_LEN}"),
            format!("byte {PROTOBUF_LEN_AT}"),
            "the file is damaged or is not an NTFF; copy it again from the machine of the capture",
        ));
    }
    let end = usize::try_from(len).ok().and_then(|len| HEADER_LEN.checked_add(len));
    end.filter(|&end| end <= input.len())
        .map(|end| HEADER_LEN..end)
        .ok_or_else(|| cut_off(format!("{HEADER_LEN} bytes of header and {len} of protobuf expected")))
}

/// Text of the protobuf part. Invalid UTF-8 becomes replacement characters.
#[must_use]
pub fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}
