//! Messages between the server and a child: four bytes with the length, little endian, and a
//! postcard value. An order begins with [`MAGIC`].

use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use nprof_engine::wire::refusal::Refusal;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt};

use super::Limits;
use crate::ingest::IngestSettings;
use crate::terminal::shortened;
use crate::work::Progress;

/// First bytes of an order. Another version can have other messages.
const MAGIC: &[u8] = concat!("nprof order ", env!("CARGO_PKG_VERSION"), "\n").as_bytes();
/// Longest order in bytes: the paths of 65,536 files.
const MAX_ORDER_BYTES: usize = 32 << 20;
/// Longest report in bytes: [`MAX_REASON_CHARS`], and some numbers.
const MAX_REPORT_BYTES: usize = 1 << 16;
/// Longest reason of a refusal in characters.
const MAX_REASON_CHARS: usize = 8_192;
/// Bytes of a length.
const LENGTH_BYTES: usize = size_of::<u32>();

/// Task of a child.
#[derive(Debug, Serialize, Deserialize)]
pub struct ChildTask {
    /// Directory of the store. The child reads it.
    store: Vec<u8>,
    /// Directory for the files that the child writes.
    staging: Vec<u8>,
    /// The work.
    pub(super) task: Task,
    /// Limits of the child.
    pub limits: Limits,
}

/// The work of a child.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Task {
    /// Reads the files of an upload.
    Ingest {
        /// The inputs.
        files: Vec<Vec<u8>>,
        /// Settings for the profile.
        settings: Box<IngestSettings>,
    },
    /// Compares the ranks of the profile with this id.
    Compare(String),
}

/// Message of a child.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum ChildMessage {
    Progress(Progress),
    /// The last message.
    Done(Result<InputsOutcome, Refusal>),
}

/// Result of the inputs.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InputsOutcome {
    /// The profile with this id has these inputs already.
    AlreadyThere(String),
    /// The staging directory holds a complete profile.
    Staged,
    /// The staging directory holds a job segment in a file of this name.
    Compared(String),
}

impl ChildTask {
    /// An order to read `files`.
    #[must_use]
    pub fn new(
        store: &Path,
        staging: &Path,
        files: &[PathBuf],
        settings: IngestSettings,
        limits: Limits,
    ) -> Self {
        let files = files.iter().map(|file| bytes(file)).collect();
        let task = Task::Ingest { files, settings: Box::new(settings) };
        Self { store: bytes(store), staging: bytes(staging), task, limits }
    }

    /// An order to compare the ranks of the profile with this id.
    #[must_use]
    pub fn comparison(store: &Path, staging: &Path, id: &str, limits: Limits) -> Self {
        let task = Task::Compare(id.to_owned());
        Self { store: bytes(store), staging: bytes(staging), task, limits }
    }

    /// The order as a child reads it.
    pub(super) fn to_bytes(&self) -> io::Result<Vec<u8>> {
        Ok([MAGIC, &framed(self, MAX_ORDER_BYTES)?].concat())
    }

    /// Reads an order.
    ///
    /// # Errors
    /// If these are not the bytes of an order of this version.
    pub(super) fn read(from: &mut impl Read) -> io::Result<Self> {
        let mut magic = [0; MAGIC.len()];
        from.read_exact(&mut magic)?;
        if magic != *MAGIC {
            return Err(invalid("these bytes are not an order"));
        }
        let mut length = [0; LENGTH_BYTES];
        from.read_exact(&mut length)?;
        let mut message = vec![0; checked(length, MAX_ORDER_BYTES)?];
        from.read_exact(&mut message)?;
        parsed(&message)
    }

    pub(super) fn store(&self) -> PathBuf {
        path(&self.store)
    }

    pub(super) fn staging(&self) -> PathBuf {
        path(&self.staging)
    }
}

impl Task {
    /// The inputs of an ingest.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        match self {
            Self::Ingest { files, .. } => files.iter().map(|file| path(file)).collect(),
            Self::Compare(_) => Vec::new(),
        }
    }
}

impl ChildMessage {
    /// Writes the report. A long reason is cut.
    pub(super) fn write(mut self, to: &mut impl Write) -> io::Result<()> {
        if let Self::Done(Err(refusal)) = &mut self {
            refusal.message = shortened(&refusal.message, MAX_REASON_CHARS).into_owned();
        }
        to.write_all(&framed(&self, MAX_REPORT_BYTES)?)?;
        to.flush()
    }

    /// Reads the next report.
    ///
    /// # Errors
    /// If the sender ends, or sends something else.
    pub(super) async fn read(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Self> {
        let mut length = [0; LENGTH_BYTES];
        from.read_exact(&mut length).await?;
        let mut message = vec![0; checked(length, MAX_REPORT_BYTES)?];
        from.read_exact(&mut message).await?;
        parsed(&message)
    }
}

fn bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(std::ffi::OsString::from_vec(bytes.to_vec()))
}

fn framed(message: &impl Serialize, limit_bytes: usize) -> io::Result<Vec<u8>> {
    let message = postcard::to_allocvec(message).map_err(io::Error::other)?;
    match u32::try_from(message.len()) {
        Ok(length) if message.len() <= limit_bytes => Ok([&length.to_le_bytes(), &*message].concat()),
        _ => Err(invalid("the message is too long")),
    }
}

/// The length of a message, if it is within the limit.
fn checked(length: [u8; LENGTH_BYTES], limit_bytes: usize) -> io::Result<usize> {
    let length = usize::try_from(u32::from_le_bytes(length)).ok();
    length.filter(|length| *length <= limit_bytes).ok_or_else(|| invalid("the message is too long"))
}

/// The value of a message that has no further bytes.
fn parsed<T: DeserializeOwned>(message: &[u8]) -> io::Result<T> {
    match postcard::take_from_bytes(message) {
        Ok((value, [])) => Ok(value),
        _ => Err(invalid("the message cannot be read")),
    }
}

fn invalid(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use nprof_engine::wire::refusal::RefusalKind;

    use super::*;
    use crate::work::Stage;

    #[tokio::test]
    async fn reports_arrive_as_they_were_sent() {
        let progress = Progress { stage: Stage::Reading, read_bytes: 1, total_bytes: u64::MAX, events: 7 };
        let reason = "é".repeat(70_000);
        let refusal = |message: String| ChildMessage::Done(Err(Refusal::new(RefusalKind::BadTrace, message)));
        let mut bytes = Vec::new();
        for report in
            [ChildMessage::Progress(progress), ChildMessage::Done(Ok(InputsOutcome::Staged)), refusal(reason)]
        {
            report.write(&mut bytes).unwrap();
        }
        let mut from = &*bytes;
        assert_eq!(ChildMessage::read(&mut from).await.unwrap(), ChildMessage::Progress(progress));
        assert_eq!(
            ChildMessage::read(&mut from).await.unwrap(),
            ChildMessage::Done(Ok(InputsOutcome::Staged))
        );
        let cut = format!("{}…", "é".repeat(MAX_REASON_CHARS));
        assert_eq!(ChildMessage::read(&mut from).await.unwrap(), refusal(cut));
        assert!(ChildMessage::read(&mut from).await.is_err(), "the end");
    }

    #[tokio::test]
    async fn every_cut_and_every_length_of_a_report_is_an_error() {
        let mut bytes = Vec::new();
        ChildMessage::Done(Ok(InputsOutcome::AlreadyThere("n_1".to_owned()))).write(&mut bytes).unwrap();
        for end in 0..bytes.len() {
            assert!(ChildMessage::read(&mut &bytes[..end]).await.is_err(), "cut at {end}");
        }
        for length in [0, 1, u32::MAX, 1 << 16 | 1, 3] {
            bytes[..LENGTH_BYTES].copy_from_slice(&u32::to_le_bytes(length));
            assert!(ChildMessage::read(&mut &*bytes).await.is_err(), "{length}");
        }
    }

    #[test]
    fn an_order_keeps_paths_of_any_bytes_and_nothing_else_is_an_order() {
        let odd = Path::new(std::ffi::OsStr::from_bytes(b"/a\xff/b"));
        let files = [odd.join("t.json")];
        let order =
            ChildTask::new(odd, Path::new("tmp"), &files, IngestSettings::default(), Limits::default());
        let bytes = order.to_bytes().unwrap();
        let read = ChildTask::read(&mut &*bytes).unwrap();
        assert_eq!(
            (read.store(), read.staging(), read.task.files()),
            (odd.to_owned(), "tmp".into(), files.to_vec())
        );
        for end in 0..bytes.len() {
            assert!(ChildTask::read(&mut &bytes[..end]).is_err(), "cut at {end}");
        }
        assert!(ChildTask::read(&mut &[b"X", &bytes[1..]].concat()[..]).is_err());
    }
}
