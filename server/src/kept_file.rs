//! Answers in files, each computed once and stored beside what it was computed from.
//!
//! A kept file is a line of text, `nprof <subject> <version> <content> <hash>`, and a postcard
//! message. The content names what the message was computed from, and the hash is BLAKE3 of the
//! message. So a damaged file, or a file of another content or version, is never used: the answer
//! is computed again and the file is replaced. A lost file costs only time.

use std::io::{self, Write};
use std::path::Path;

use nprof_engine::native::{AtomicFile, read_regular};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A kind of kept files.
#[derive(Debug, Clone, Copy)]
pub struct KeptKind {
    /// Name of the answer, one word.
    pub subject: &'static str,
    /// Version of the answer, one word. Files of other versions are not used.
    pub version: &'static str,
    /// Larger files are none of nprof's.
    pub most_bytes: u64,
}

/// State of a kept file.
#[derive(Debug, Clone, PartialEq)]
pub enum KeptFile<T> {
    /// An answer of this content and version.
    Good(T),
    /// No file, or an answer of another content or version.
    None,
    /// A damaged file.
    Damaged,
}

impl<T> KeptFile<T> {
    /// The answer, if it can be used.
    pub fn good(self) -> Option<T> {
        match self {
            Self::Good(message) => Some(message),
            Self::None | Self::Damaged => None,
        }
    }

    /// Whether the file is damaged.
    pub fn is_damaged(&self) -> bool {
        matches!(self, Self::Damaged)
    }
}

impl KeptKind {
    /// The answer about this content in a file. `content` is one word.
    #[must_use]
    pub fn read<T: DeserializeOwned>(&self, path: &Path, content: &str) -> KeptFile<T> {
        let bytes = match read_regular(path, self.most_bytes) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return KeptFile::None,
            Err(_) => return KeptFile::Damaged,
        };
        let Some(end) = bytes.iter().position(|&byte| byte == b'\n') else { return KeptFile::Damaged };
        let (line, message) = bytes.split_at(end + 1);
        if line == self.head(content, message).as_bytes() {
            return postcard::from_bytes(message).map_or(KeptFile::Damaged, KeptFile::Good);
        }
        let words: Vec<&str> =
            std::str::from_utf8(line).unwrap_or_default().split_ascii_whitespace().collect();
        let is_other = match words[..] {
            ["nprof", subject, version, of, hash] => {
                subject == self.subject
                    && (version != self.version || of != content)
                    && hash == blake3::hash(message).to_hex().as_str()
            }
            _ => false,
        };
        if is_other { KeptFile::None } else { KeptFile::Damaged }
    }

    /// Keeps the answer about this content. A failure is not an error: the answer is computed again
    /// then.
    pub fn keep<T: Serialize>(&self, path: &Path, content: &str, message: &T) {
        if let Err(error) = self.write(path, content, message) {
            let (path, subject) = (path.display(), self.subject);
            tracing::debug!("{path}: cannot keep the {subject} for the next request ({error})");
        }
    }

    fn head(&self, content: &str, message: &[u8]) -> String {
        let Self { subject, version, .. } = self;
        format!("nprof {subject} {version} {content} {}\n", blake3::hash(message).to_hex())
    }

    /// Writes a temporary file and renames it. Nothing is synced. After a power failure the content
    /// can be lost, and the hash is wrong then.
    fn write<T: Serialize>(&self, path: &Path, content: &str, message: &T) -> io::Result<()> {
        let message = postcard::to_allocvec(message).map_err(io::Error::other)?;
        let mut bytes = self.head(content, &message).into_bytes();
        bytes.extend(message);
        let file = AtomicFile::create(path)?;
        file.file().write_all(&bytes)?;
        file.commit_unsynced()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const KIND: KeptKind = KeptKind { subject: "sums", version: "8-1.0.0", most_bytes: 1 << 10 };

    fn message() -> Vec<(String, f64)> {
        vec![("a".to_owned(), 0.1), ("b".to_owned(), f64::INFINITY)]
    }

    fn read(path: &Path, content: &str) -> KeptFile<Vec<(String, f64)>> {
        KIND.read(path, content)
    }

    #[test]
    fn only_a_whole_message_of_this_content_and_version_is_used() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("kept");
        assert_eq!(read(&path, "c1"), KeptFile::None);
        KIND.write(&path, "c1", &message()).unwrap();
        assert_eq!(read(&path, "c1"), KeptFile::Good(message()));
        assert_eq!(read(&path, "c2"), KeptFile::None, "of another content");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);

        let whole = fs::read(&path).unwrap();
        for other in [KeptKind { version: "7-1.0.0", ..KIND }, KeptKind { version: "8-0.0.1", ..KIND }] {
            other.write(&path, "c1", &message()).unwrap();
            assert_eq!(read(&path, "c1"), KeptFile::None, "of another version");
        }
        KeptKind { subject: "findings", ..KIND }.write(&path, "c1", &message()).unwrap();
        assert_eq!(read(&path, "c1"), KeptFile::Damaged, "of another subject");
        for at in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[at] ^= 4;
            fs::write(&path, &flipped).unwrap();
            assert!(!matches!(read(&path, "c1"), KeptFile::Good(_)), "byte {at}");
            fs::write(&path, &whole[..at]).unwrap();
            assert_eq!(read(&path, "c1"), KeptFile::Damaged, "cut at {at}");
        }
    }

    #[test]
    fn a_file_that_is_longer_than_any_of_its_kind_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("kept");
        // Zeros are the message of an empty list.
        let message = vec![0; usize::try_from(KIND.most_bytes).unwrap()];
        fs::write(&path, [KIND.head("c1", &message).as_bytes(), &message].concat()).unwrap();
        assert_eq!(read(&path, "c1"), KeptFile::Damaged);
    }
}
