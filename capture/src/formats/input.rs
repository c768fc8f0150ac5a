//! Input as it comes from a file or a pipe: unpacked on the fly where it is gzip, with its first bytes to look at and the
//! packed bytes counted for progress. Buffers are bounded.

use std::io::{self, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;

/// What gzip begins with.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Packed bytes read at a time.
const PACKED_LEN: usize = 64 << 10;

/// How many bytes of the input as it was given (packed) have been read; may be looked at from another thread.
#[derive(Debug, Clone, Default)]
pub struct Position(Arc<AtomicU64>);

impl Position {
    /// Bytes so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

struct Counted<R> {
    inner: R,
    position: Position,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.inner.read(buffer)?;
        self.position.0.fetch_add(len as u64, Ordering::Relaxed);
        Ok(len)
    }
}

type Source<R> = io::Chain<io::Cursor<Vec<u8>>, Counted<R>>;

enum Unpack<R> {
    Plain(Source<R>),
    Gzip(Box<MultiGzDecoder<BufReader<Source<R>>>>),
}

/// The unpacked input.
pub struct Input<R> {
    unpack: Unpack<R>,
    /// Unpacked bytes that have been looked at and not yet read.
    head: io::Cursor<Vec<u8>>,
    position: Position,
    damage: Option<String>,
    unpacked_len: u64,
}

impl<R: Read> Input<R> {
    /// Looks whether the input is gzip (of any number of members).
    ///
    /// # Errors
    /// Those of the input.
    pub fn new(input: R) -> io::Result<Self> {
        let position = Position::default();
        let mut counted = Counted { inner: input, position: position.clone() };
        let mut magic = Vec::with_capacity(GZIP_MAGIC.len());
        counted.by_ref().take(GZIP_MAGIC.len() as u64).read_to_end(&mut magic)?;
        let is_gzip = magic == GZIP_MAGIC;
        let source = io::Cursor::new(magic).chain(counted);
        let unpack = if is_gzip {
            Unpack::Gzip(Box::new(MultiGzDecoder::new(BufReader::with_capacity(PACKED_LEN, source))))
        } else {
            Unpack::Plain(source)
        };
        Ok(Self { unpack, head: io::Cursor::default(), position, damage: None, unpacked_len: 0 })
    }

    /// How far the packed input has been read.
    #[must_use]
    pub fn position(&self) -> Position {
        self.position.clone()
    }

    /// The next bytes, up to `len` of them, without reading them. Fewer only where the input ends.
    ///
    /// # Errors
    /// Those of the input.
    pub fn head(&mut self, len: usize) -> io::Result<&[u8]> {
        let start = usize::try_from(self.head.position()).unwrap_or(usize::MAX);
        let mut head = std::mem::take(self.head.get_mut());
        head.drain(..start.min(head.len()));
        let missing = len.saturating_sub(head.len());
        let mut more = Vec::new();
        let result = (&mut Unpacked(self)).take(missing as u64).read_to_end(&mut more);
        head.append(&mut more);
        self.head = io::Cursor::new(head);
        result?;
        Ok(self.head.get_ref())
    }

    /// Why the input ended before its packing did: a gzip file that is cut off or damaged ends where that shows.
    #[must_use]
    pub fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    fn unpack(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.damage.is_some() {
            return Ok(0);
        }
        let result = match &mut self.unpack {
            Unpack::Plain(source) => source.read(buffer),
            Unpack::Gzip(decoder) => decoder.read(buffer),
        };
        match result {
            Ok(len) => {
                self.unpacked_len += len as u64;
                Ok(len)
            }
            // What came out so far is good: a cut file is read up to the cut.
            Err(error) if self.unpacked_len > 0 && is_damage(&error) => {
                self.damage = Some(error.to_string());
                Ok(0)
            }
            Err(error) => Err(error),
        }
    }
}

fn is_damage(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput
    )
}

/// Reads past the head.
struct Unpacked<'a, R>(&'a mut Input<R>);

impl<R: Read> Read for Unpacked<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.unpack(buffer)
    }
}

impl<R: Read> Read for Input<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.head.read(buffer)? {
            0 => self.unpack(buffer),
            len => Ok(len),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    #[track_caller]
    fn check(packed: &[u8], expected: &str) {
        let mut input = Input::new(packed).unwrap();
        let mut head = expected.as_bytes().to_vec();
        head.truncate(3);
        assert_eq!(input.head(3).unwrap(), head);
        let mut read = String::new();
        input.read_to_string(&mut read).unwrap();
        assert_eq!(read, expected);
        assert_eq!(input.position().bytes(), packed.len() as u64);
        assert_eq!(input.damage(), None);
    }

    #[test]
    fn plain_and_packed_input_read_alike() {
        for text in ["", "a", "ab", "some text that is longer"] {
            check(text.as_bytes(), text);
        }
        check(&gzip("packed"), "packed");
        check(&[gzip("two "), gzip("members")].concat(), "two members");
    }

    #[test]
    fn a_cut_file_is_read_up_to_the_cut() {
        let text: String = (0..20_000).map(|n| format!("{n},")).collect();
        let packed = gzip(&text);
        let mut input = Input::new(&packed[..packed.len() / 2]).unwrap();
        let mut read = String::new();
        input.read_to_string(&mut read).unwrap();
        assert!(!read.is_empty() && read.len() < text.len() && text.starts_with(&read));
        assert!(input.damage().is_some());
    }

    #[test]
    fn any_cut_or_damaged_byte_ends_without_a_panic() {
        let packed = gzip("some text that is longer");
        for at in 0..packed.len() {
            let mut damaged = packed.clone();
            damaged[at] ^= 0x41;
            for bytes in [&packed[..at], &damaged] {
                let mut read = Vec::new();
                let _ = Input::new(bytes).and_then(|mut input| input.read_to_end(&mut read));
            }
        }
    }

    #[test]
    fn the_head_may_be_asked_for_again() {
        let mut input = Input::new(&b"0123456789"[..]).unwrap();
        assert_eq!(input.head(2).unwrap(), b"01");
        assert_eq!(input.head(5).unwrap(), b"01234");
        let mut three = [0; 3];
        input.read_exact(&mut three).unwrap();
        assert_eq!(input.head(4).unwrap(), b"3456");
        assert_eq!(input.head(99).unwrap(), b"3456789");
    }
}
