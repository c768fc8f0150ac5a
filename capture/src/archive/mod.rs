//! Files inside of files: gzip, zstd, zip and tar, also inside of each other.
//!
//! The content decides how a file is opened, not the name. Entry names are shown and tell ranks. No
//! file is ever written under an entry name. All lengths come from a hostile file, so each is
//! checked and the unpacked size is limited ([`limit`]). Memory holds one head of an entry at a
//! time.

#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod limit;
mod tar_entries;
pub mod unpack;
mod zip_entries;

#[cfg(test)]
mod tests;

use std::io::{self, Read};
use std::ops::{Deref, Range};
use std::sync::Arc;

use nprof_engine::base::in_memory;

use self::limit::DiskAllowance;
use self::unpack::{EarlyEnd, PackingLayer, UnpackedBytes};
use crate::inputs::{Candidate, FileHead, FileKind, PackingKind};
use crate::probe::HEAD_LEN;
use crate::refusal::FileRefusal;

/// Bytes that stay readable, e.g. those of a mapped file.
pub trait Hold: AsRef<[u8]> + Send + Sync {
    /// Tells that these bytes have been read, and will hardly be read again. The holder may free
    /// memory that they can be read into once more.
    fn let_go(&self, _range: Range<usize>) {}
}

impl Hold for Vec<u8> {}

/// Bytes with several owners.
pub type SharedBytes = Arc<dyn Hold>;

/// Bytes of a file: all of the shared bytes, or a part.
#[derive(Clone)]
pub struct FileBytes {
    held: SharedBytes,
    range: Range<usize>,
}

impl FileBytes {
    /// All of the shared bytes.
    #[must_use]
    pub fn new(held: SharedBytes) -> Self {
        let range = 0..(*held).as_ref().len();
        Self { held, range }
    }

    /// A part of at most `len` bytes from `start`, clamped to the end.
    #[must_use]
    pub fn part(&self, start: u64, len: u64) -> Self {
        let clamped = |at: u64| in_memory(at).min(self.len());
        let (start, end) = (clamped(start), clamped(start.saturating_add(len)));
        Self { held: Arc::clone(&self.held), range: self.range.start + start..self.range.start + end }
    }

    /// Tells that these bytes have been read, and will hardly be read again. Offsets beyond the end
    /// are clamped.
    pub fn let_go(&self, read: Range<usize>) {
        let of = |at: usize| self.range.start + at.min(self.len());
        self.held.let_go(of(read.start)..of(read.end));
    }
}

impl Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        (*self.held).as_ref().get(self.range.clone()).unwrap_or_default()
    }
}

/// Storage for files that must be unpacked as a whole.
pub trait Spool {
    /// Reads `unpacked` to its end and keeps the bytes until the last owner is dropped.
    fn keep(&self, unpacked: &mut dyn Read) -> io::Result<SharedBytes>;

    /// The allowance that all files opened with this storage share. `None` gives each its own.
    fn allowance(&self) -> Option<&DiskAllowance> {
        None
    }

    /// Whether nobody wants the files any more. Files that are not open yet are left out then.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Storage in memory.
#[derive(Debug, Clone, Copy, Default)]
pub struct InMemory;

impl Spool for InMemory {
    fn keep(&self, unpacked: &mut dyn Read) -> io::Result<SharedBytes> {
        let mut bytes = Vec::new();
        unpacked.read_to_end(&mut bytes)?;
        Ok(Arc::new(bytes))
    }
}

/// A file that is neither packed files nor an archive itself, at any depth of archives.
#[derive(Clone)]
pub struct PlainFile {
    /// The name, and the recognised kind. Names of archives come before that of the entry.
    pub candidate: Candidate,
    /// The bytes as stored, still packed.
    pub packed: FileBytes,
    /// The packings, the outermost first.
    pub layers: Vec<PackingLayer>,
}

impl PlainFile {
    /// A reader of the unpacked bytes. `source` must give the packed ones.
    #[must_use]
    pub fn unpacked<'a>(&'a self, source: Box<dyn Read + Send + 'a>) -> UnpackedBytes<'a> {
        UnpackedBytes::new(source, &self.layers, self.packed.len() as u64)
    }

    /// A reader of the unpacked bytes of [`PlainFile::packed`].
    #[must_use]
    pub fn reader(&self) -> UnpackedBytes<'_> {
        self.unpacked(Box::new(&*self.packed))
    }

    /// Whether the bytes must be unpacked.
    #[must_use]
    pub fn is_packed(&self) -> bool {
        unpack::is_packed(&self.layers)
    }

    /// The bytes, if they are not packed. Nobody has compared them with the checksum that an
    /// archive states for them: that is [`PlainFile::damage`].
    #[must_use]
    pub fn plain(&self) -> Option<FileBytes> {
        (!self.is_packed()).then(|| self.packed.clone())
    }

    /// Most bytes that the packed parts of a trace in this file unpack to, all together.
    #[must_use]
    pub fn most_unpacked(&self) -> u64 {
        limit::packets(self.packed.len() as u64)
    }

    /// The damage of bytes that are not packed, if an archive states another checksum for them.
    /// Reads all of them.
    #[must_use]
    pub fn damage(&self) -> Option<EarlyEnd> {
        unpack::damage_of(&self.packed, &self.layers)
    }
}

/// The content of an opened file.
pub struct OpenedFile {
    /// The files. A file that cannot be opened is refused, with the place of the fault.
    pub leaves: Vec<PlainFile>,
    /// True if the file is an archive, so that its files have names of their own.
    pub is_archive: bool,
}

/// Opens a file: all files inside, or the file itself. Packed archives are unpacked into the spool
/// as a whole.
#[must_use]
pub fn open(name: &str, bytes: FileBytes, spool: &dyn Spool) -> OpenedFile {
    let own = DiskAllowance::default();
    let allowance = spool.allowance().unwrap_or(&own);
    allowance.add_file(bytes.len() as u64);
    let mut opening = Opening { spool, allowance, leaves: Vec::new(), is_archive: false };
    opening.look(QueuedFile { name: name.to_owned(), packed: bytes, layers: Vec::new(), depth: 0 });
    OpenedFile { leaves: opening.leaves, is_archive: opening.is_archive }
}

/// A file that is still to be opened.
struct QueuedFile {
    name: String,
    packed: FileBytes,
    layers: Vec<PackingLayer>,
    /// Number of packings and archives around the file.
    depth: usize,
}

struct Opening<'s> {
    spool: &'s dyn Spool,
    allowance: &'s DiskAllowance,
    leaves: Vec<PlainFile>,
    is_archive: bool,
}

impl Opening<'_> {
    fn look(&mut self, item: QueuedFile) {
        if self.spool.is_cancelled() {
            return;
        }
        let head = match head(&item) {
            Ok(head) => head,
            Err(refusal) => return self.refuse(item, refusal),
        };
        let candidate = Candidate::of(FileHead { name: &item.name, head: &head });
        match candidate.found {
            FileKind::Packed(_) if item.depth == limit::MAX_DEPTH => {
                let what = format!("this is compressed or archived more than {} times", limit::MAX_DEPTH);
                self.refuse(item, FileRefusal::unread(what, "unpack it and pass the traces inside"));
            }
            FileKind::Packed(PackingKind::Gzip) => self.look(item.within(PackingLayer::Gzip)),
            FileKind::Packed(PackingKind::Zstd) => self.look(item.within(PackingLayer::Zstd)),
            FileKind::Packed(packing) => self.archive(item, packing),
            FileKind::Claimed(_) | FileKind::Refused(_) => {
                self.leaves.push(PlainFile { candidate, packed: item.packed, layers: item.layers });
            }
        }
    }

    /// Opens all entries.
    fn archive(&mut self, mut item: QueuedFile, packing: PackingKind) {
        self.is_archive = true;
        if unpack::is_packed(&item.layers) {
            match self.spooled(&item) {
                Ok(bytes) => (item.packed, item.layers) = (bytes, Vec::new()),
                Err(refusal) => return self.refuse(item, refusal),
            }
        } else if let Some(damage) = unpack::damage_of(&item.packed, &item.layers) {
            self.refuse_whole(&item, &damage);
        }
        let mut listing =
            EntryList { allowance: self.allowance, around: &item.name, entries: Vec::new(), damage: None };
        match packing {
            PackingKind::Zip => zip_entries::list(&item.packed, &mut listing),
            _ => tar_entries::list(&item.packed, &mut listing),
        }
        let EntryList { entries, damage, .. } = listing;
        for entry in entries {
            let name = format!("{}/{}", item.name, entry.name);
            let layers = entry.content.as_ref().map_or(Vec::new(), |content| content.layers.clone());
            let packed = match &entry.content {
                Ok(content) => item.packed.part(content.start, content.len),
                Err(_) => item.packed.part(0, 0),
            };
            let inner = QueuedFile { name, packed, layers, depth: item.depth + 1 };
            match entry.content {
                Ok(_) => self.look(inner),
                Err(refusal) => self.refuse(inner, refusal),
            }
        }
        if let Some(refusal) = damage {
            self.refuse(item, refusal);
        }
    }

    /// Says that an archive is damaged. The entries before the damage are good.
    fn refuse_whole(&mut self, item: &QueuedFile, damage: &EarlyEnd) {
        let refusal = FileRefusal::damaged(damage.what.clone(), damage.place());
        let (name, packed) = (item.name.clone(), item.packed.part(0, 0));
        self.refuse(QueuedFile { name, packed, layers: Vec::new(), depth: item.depth }, refusal);
    }

    /// Unpacks a file into the spool as a whole.
    fn spooled(&mut self, item: &QueuedFile) -> Result<FileBytes, FileRefusal> {
        let mut unpacked = item.reader();
        unpacked.limit(limit::spooled(item.packed.len() as u64).min(self.allowance.left()));
        let kept = self.spool.keep(&mut unpacked);
        // A failure counts as well: it has cost the time, and others must not repeat it.
        self.allowance.take(unpacked.unpacked_len());
        let bytes = FileBytes::new(kept.map_err(|error| unpacked.refusal(&error))?);
        if let Some(damage) = unpacked.damage() {
            self.refuse_whole(item, damage);
        }
        Ok(bytes)
    }

    fn refuse(&mut self, item: QueuedFile, refusal: FileRefusal) {
        let candidate = Candidate::new(&item.name, FileKind::Refused(refusal));
        self.leaves.push(PlainFile { candidate, packed: item.packed, layers: item.layers });
    }
}

impl QueuedFile {
    fn reader(&self) -> UnpackedBytes<'_> {
        UnpackedBytes::new(Box::new(&*self.packed), &self.layers, self.packed.len() as u64)
    }

    /// The same file with one more packing around it.
    fn within(mut self, layer: PackingLayer) -> Self {
        self.layers.push(layer);
        self.depth += 1;
        self
    }
}

/// The first unpacked bytes.
fn head(item: &QueuedFile) -> Result<Vec<u8>, FileRefusal> {
    if !unpack::is_packed(&item.layers) {
        return Ok(item.packed[..item.packed.len().min(HEAD_LEN)].to_vec());
    }
    let mut unpacked = item.reader();
    let mut head = Vec::new();
    match (&mut unpacked).take(HEAD_LEN as u64).read_to_end(&mut head) {
        Ok(_) => Ok(head),
        Err(error) => Err(unpacked.refusal(&error)),
    }
}

/// Advice about an entry that is whole, but of a kind that nprof does not read.
const UNPACK: &str = "unpack the archive, and name the files inside";

/// The entries of an archive.
struct EntryList<'a> {
    allowance: &'a DiskAllowance,
    /// Name of the archive, which comes before that of each entry.
    around: &'a str,
    entries: Vec<ArchiveEntry>,
    /// The reason why the list is incomplete, if the archive ends early.
    damage: Option<FileRefusal>,
}

/// A file in an archive.
struct ArchiveEntry {
    name: String,
    content: Result<EntryPlace, FileRefusal>,
}

/// Place and packing of an entry's bytes within the archive.
struct EntryPlace {
    start: u64,
    len: u64,
    layers: Vec<PackingLayer>,
}

impl EntryList<'_> {
    /// Adds an entry. Returns false if there are too many.
    fn push(&mut self, entry: ArchiveEntry) -> bool {
        if !self.allowance.take_entry(self.around.len() + entry.name.len()) {
            let what = format!(
                "all archives together have more than {} files, or more than {} bytes of names; nprof does \
                 not read the files after these",
                limit::MAX_ENTRIES,
                limit::MAX_NAMES_LEN
            );
            let place = format!("entry {}", self.entries.len());
            self.damage = Some(FileRefusal::unsupported(what, place, UNPACK));
            return false;
        }
        self.entries.push(entry);
        true
    }
}

/// The name of an entry, for display. `None` for files that systems add, such as `.DS_Store`.
fn entry_name(bytes: &[u8]) -> Option<String> {
    let name = String::from_utf8_lossy(bytes);
    let parts = name.split(['/', '\\']).filter(|part| !matches!(*part, "" | "." | ".."));
    let name = parts.collect::<Vec<_>>().join("/");
    let is_beside = |part: &str| part.starts_with('.') || part == "__MACOSX";
    let shown = |sign: char| if sign.is_control() { char::REPLACEMENT_CHARACTER } else { sign };
    let is_shown = !name.is_empty() && !name.split('/').any(is_beside);
    is_shown.then(|| name.chars().take(limit::MAX_NAME_CHARS).map(shown).collect())
}
