//! Unpacking as a stream: any layers of gzip, zstd and deflate.
//!
//! A file that is truncated or damaged gives the bytes before the damage, and then reports its
//! place.

use std::io::{self, BufReader, ErrorKind, Read};

use flate2::bufread::{DeflateDecoder, MultiGzDecoder};

use super::limit;
use crate::refusal::FileRefusal;

/// Packed bytes read at a time.
const PACKED_LEN: usize = 64 << 10;

/// One packing around a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackingLayer {
    /// Any number of gzip members.
    Gzip,
    /// Any number of zstd frames.
    Zstd,
    /// Deflate without a frame, as the entries of a zip have it.
    Deflate,
    /// No packing, but a checksum that a zip states for its entry.
    Checksum {
        /// CRC-32 of the bytes.
        crc: u32,
    },
}

impl PackingLayer {
    fn title(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Deflate | Self::Checksum { .. } => "a zip's entry",
        }
    }
}

/// Whether bytes with these layers must be unpacked.
#[must_use]
pub fn is_packed(layers: &[PackingLayer]) -> bool {
    layers.iter().any(|layer| !matches!(layer, PackingLayer::Checksum { .. }))
}

/// The damage of bytes that are not packed, if one of the layers states another checksum.
pub(super) fn damage_of(bytes: &[u8], layers: &[PackingLayer]) -> Option<EarlyEnd> {
    let is_wrong = |layer: &PackingLayer| matches!(layer, PackingLayer::Checksum { crc } if crc32fast::hash(bytes) != *crc);
    let is_damaged = !is_packed(layers) && layers.iter().any(is_wrong);
    is_damaged.then(|| EarlyEnd { what: WRONG_CHECKSUM.to_owned(), unpacked_len: bytes.len() as u64 })
}

const WRONG_CHECKSUM: &str = "its checksum differs from the checksum in the archive";

/// The place and reason of an early end of unpacking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlyEnd {
    /// Reason, for display.
    pub what: String,
    /// Number of unpacked bytes before the damage.
    pub unpacked_len: u64,
}

impl EarlyEnd {
    /// The place, for messages.
    #[must_use]
    pub fn place(&self) -> String {
        place_at(self.unpacked_len)
    }
}

/// The unpacked bytes.
pub struct UnpackedBytes<'a> {
    inner: Box<dyn Read + Send + 'a>,
    /// The outermost layer.
    outermost: Option<PackingLayer>,
    unpacked_len: u64,
    most_len: u64,
    damage: Option<EarlyEnd>,
}

impl<'a> UnpackedBytes<'a> {
    /// Unpacks `packed_len` bytes of `source`. Without layers the bytes pass unchanged.
    #[must_use]
    pub fn new(source: Box<dyn Read + Send + 'a>, layers: &[PackingLayer], packed_len: u64) -> Self {
        let mut inner = source;
        for layer in layers {
            let buffered = BufReader::with_capacity(PACKED_LEN, inner);
            inner = match *layer {
                PackingLayer::Gzip => Box::new(MultiGzDecoder::new(buffered)),
                PackingLayer::Zstd => Box::new(ZstdReader::new(buffered)),
                PackingLayer::Deflate => Box::new(DeflateDecoder::new(buffered)),
                PackingLayer::Checksum { crc } => Box::new(ChecksumReader::new(buffered, crc)),
            };
        }
        let most_len = if is_packed(layers) { limit::streamed(packed_len) } else { u64::MAX };
        Self { inner, outermost: layers.first().copied(), unpacked_len: 0, most_len, damage: None }
    }

    /// Limits the number of unpacked bytes. More are an error.
    pub fn limit(&mut self, most_len: u64) {
        self.most_len = self.most_len.min(most_len);
    }

    /// Number of unpacked bytes so far.
    #[must_use]
    pub fn unpacked_len(&self) -> u64 {
        self.unpacked_len
    }

    /// The damage, if the bytes ended before their packing did.
    #[must_use]
    pub fn damage(&self) -> Option<&EarlyEnd> {
        self.damage.as_ref()
    }

    /// Turns an error of reading into a refusal of the file.
    #[must_use]
    pub fn refusal(&self, error: &io::Error) -> FileRefusal {
        let place = place_at(self.unpacked_len);
        match self.outermost {
            _ if error.kind() == ErrorKind::FileTooLarge => FileRefusal::damaged(error.to_string(), place),
            Some(layer) if is_damage(error) => {
                let what = format!("this starts like {} but cannot be unpacked ({error})", layer.title());
                FileRefusal::damaged(what, "byte 0")
            }
            _ => FileRefusal::damaged(format!("reading failed: {error}"), place),
        }
    }
}

impl Read for UnpackedBytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.damage.is_some() {
            return Ok(0);
        }
        match self.inner.read(buffer) {
            Ok(len) => {
                self.unpacked_len += len as u64;
                if self.unpacked_len > self.most_len {
                    return Err(too_large(self.most_len));
                }
                Ok(len)
            }
            // The bytes before the damage are good. A truncated file is read up to the cut.
            Err(error) if self.unpacked_len > 0 && self.outermost.is_some() && is_damage(&error) => {
                self.damage = Some(EarlyEnd { what: error.to_string(), unpacked_len: self.unpacked_len });
                Ok(0)
            }
            Err(error) => Err(error),
        }
    }
}

fn place_at(unpacked_len: u64) -> String {
    format!("byte {unpacked_len} of the unpacked file")
}

fn too_large(most_len: u64) -> io::Error {
    let what = format!("this unpacks to more than {most_len} bytes, the limit for a packed file of its size");
    io::Error::new(ErrorKind::FileTooLarge, what)
}

fn is_damage(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::InvalidData | ErrorKind::InvalidInput)
}

/// Zstd frames. The first read opens a frame, so that its errors are errors of reading.
enum ZstdReader<R: io::BufRead> {
    Unopened(Option<R>),
    Open(Box<zstd::stream::read::Decoder<'static, R>>),
}

impl<R: io::BufRead> ZstdReader<R> {
    fn new(source: R) -> Self {
        Self::Unopened(Some(source))
    }
}

impl<R: io::BufRead> Read for ZstdReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Self::Unopened(source) = self {
            let source = source.take().ok_or(ErrorKind::InvalidData)?;
            *self = Self::Open(Box::new(zstd::stream::read::Decoder::with_buffer(source)?));
        }
        let Self::Open(decoder) = self else { return Err(ErrorKind::InvalidData.into()) };
        // The zstd crate reports damage as `Other`.
        decoder.read(buffer).map_err(|error| match error.kind() {
            ErrorKind::Other => io::Error::new(ErrorKind::InvalidData, error),
            _ => error,
        })
    }
}

/// A reader that compares a checksum at the end.
struct ChecksumReader<R> {
    inner: R,
    hasher: crc32fast::Hasher,
    expected: u32,
}

impl<R> ChecksumReader<R> {
    fn new(inner: R, expected: u32) -> Self {
        Self { inner, hasher: crc32fast::Hasher::new(), expected }
    }
}

impl<R: Read> Read for ChecksumReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.inner.read(buffer)?;
        self.hasher.update(&buffer[..len]);
        if len == 0 && !buffer.is_empty() && self.hasher.clone().finalize() != self.expected {
            return Err(io::Error::new(ErrorKind::InvalidData, WRONG_CHECKSUM));
        }
        Ok(len)
    }
}
