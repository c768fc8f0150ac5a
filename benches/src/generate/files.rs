//! Output of the generator: a directory with one file per column. Each file has little-endian
//! numbers of one width and can be read in pieces. Texts are codes that index a file of lines.

use std::fs::File;
use std::io::{BufWriter, Error, Read, Result, Write};
use std::marker::PhantomData;
use std::path::Path;

/// Buffer size of a writer in bytes.
const BUFFER_BYTES: usize = 1 << 18;

/// A number of one width.
pub trait Fixed: Copy {
    /// Width in bytes.
    const BYTES: usize;
    /// Decodes exactly [`Self::BYTES`] bytes.
    fn from_bytes(bytes: &[u8]) -> Self;
    /// Writes the number.
    fn write(self, out: &mut impl Write) -> Result<()>;
}

macro_rules! fixed {
    ($($number:ty),*) => {$(
        impl Fixed for $number {
            const BYTES: usize = size_of::<Self>();
            fn from_bytes(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().expect("the caller cuts pieces of this width"))
            }
            fn write(self, out: &mut impl Write) -> Result<()> {
                out.write_all(&self.to_le_bytes())
            }
        }
    )*};
}
fixed!(u8, u16, u32, u64);

/// Writes one column.
pub struct ColumnWriter<T> {
    file: BufWriter<File>,
    numbers: PhantomData<T>,
}

impl<T: Fixed> ColumnWriter<T> {
    /// Creates `<column>.bin`.
    pub fn create(directory: &Path, column: &str) -> Result<Self> {
        let file = File::create(directory.join(format!("{column}.bin")))?;
        Ok(Self { file: BufWriter::with_capacity(BUFFER_BYTES, file), numbers: PhantomData })
    }

    /// Appends a number.
    pub fn push(&mut self, number: T) -> Result<()> {
        number.write(&mut self.file)
    }

    /// Flushes the buffer to the system.
    pub fn finish(mut self) -> Result<()> {
        self.file.flush()
    }
}

/// Reads one column in pieces.
pub struct ColumnReader<T> {
    file: File,
    bytes: Vec<u8>,
    numbers: PhantomData<T>,
}

impl<T: Fixed> ColumnReader<T> {
    /// Opens `<column>.bin`.
    pub fn open(directory: &Path, column: &str) -> Result<Self> {
        let path = directory.join(format!("{column}.bin"));
        let file = File::open(&path)
            .map_err(|error| Error::new(error.kind(), format!("{}: {error}", path.display())))?;
        Ok(Self { file, bytes: Vec::new(), numbers: PhantomData })
    }

    /// Replaces `out` with the next `rows` numbers.
    pub fn read(&mut self, rows: usize, out: &mut Vec<T>) -> Result<()> {
        self.bytes.resize(rows * T::BYTES, 0);
        self.file.read_exact(&mut self.bytes)?;
        numbers_of(&self.bytes, out);
        Ok(())
    }
}

/// Replaces `out` with the numbers in these bytes.
pub fn numbers_of<T: Fixed>(bytes: &[u8], out: &mut Vec<T>) {
    out.clear();
    out.extend(bytes.chunks_exact(T::BYTES).map(T::from_bytes));
}

/// Reads a dictionary text by text, with a buffer of texts.
pub struct TextReader {
    file: File,
    /// Whole lines, and the position of the next one.
    lines: String,
    at: usize,
    /// The start of the line after them.
    rest: Vec<u8>,
}

impl TextReader {
    /// Opens `<column>.txt`.
    pub fn open(directory: &Path, column: &str) -> Result<Self> {
        let file = File::open(directory.join(format!("{column}.txt")))?;
        Ok(Self { file, lines: String::new(), at: 0, rest: Vec::new() })
    }

    /// The next text; `None` after the last.
    pub fn read(&mut self) -> Result<Option<&str>> {
        if self.at == self.lines.len() {
            self.fill()?;
        }
        let rest = &self.lines[self.at..];
        let Some(text) = rest.lines().next() else { return Ok(None) };
        self.at += (text.len() + 1).min(rest.len());
        Ok(Some(text))
    }

    fn fill(&mut self) -> Result<()> {
        let mut bytes = std::mem::take(&mut self.lines).into_bytes();
        bytes.clear();
        bytes.append(&mut self.rest);
        loop {
            let before = bytes.len();
            let read = (&self.file).take(BUFFER_BYTES as u64).read_to_end(&mut bytes)?;
            let line = bytes[before..].iter().rposition(|&byte| byte == b'\n');
            if let Some(last) = line {
                self.rest = bytes.split_off(before + last + 1);
            }
            if line.is_some() || read == 0 {
                break;
            }
        }
        self.lines = String::from_utf8(bytes).map_err(Error::other)?;
        self.at = 0;
        Ok(())
    }
}

/// Writes a dictionary with one text per line. The code of a text is its line number.
pub struct TextWriter {
    file: BufWriter<File>,
    texts: u32,
}

impl TextWriter {
    /// Creates `<column>.txt`.
    pub fn create(directory: &Path, column: &str) -> Result<Self> {
        let file = File::create(directory.join(format!("{column}.txt")))?;
        Ok(Self { file: BufWriter::with_capacity(BUFFER_BYTES, file), texts: 0 })
    }

    /// Appends a text and returns its code.
    pub fn push(&mut self, write: impl FnOnce(&mut BufWriter<File>) -> Result<()>) -> Result<u32> {
        write(&mut self.file)?;
        self.file.write_all(b"\n")?;
        self.texts += 1;
        Ok(self.texts - 1)
    }

    /// Flushes the buffer to the system and returns the number of texts.
    pub fn finish(mut self) -> Result<u32> {
        self.file.flush()?;
        Ok(self.texts)
    }
}

/// Writes a whole dictionary.
pub fn write_texts(directory: &Path, column: &str, texts: &[String]) -> Result<()> {
    let mut file = TextWriter::create(directory, column)?;
    for text in texts {
        file.push(|out| out.write_all(text.as_bytes()))?;
    }
    file.finish().map(|_| ())
}

/// Reads a whole dictionary as one text, with a newline after each entry.
pub fn read_texts(directory: &Path, column: &str) -> Result<String> {
    let path = directory.join(format!("{column}.txt"));
    std::fs::read_to_string(&path)
        .map_err(|error| Error::new(error.kind(), format!("{}: {error}", path.display())))
}
