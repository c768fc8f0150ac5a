//! A profile as a folder for a static web host: the page and the segments. A browser fetches only
//! the parts of the segments that it needs.
//!
//! File names contain a hash of the content, so that no cache mixes two exports.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use nprof_engine::exec::{Cancel, Work};
use nprof_engine::native::{directory_of, disk, open_regular};

use super::page::PageFiles;
use super::{EmbeddedRanks, PageHead, SegmentText, job_of, write_before};
use crate::export::{ExportChoices, ExportError, RanksOf};
use crate::work::{Meter, Metered};

/// File name of the page.
const INDEX: &str = "index.html";
/// Characters of a folder's name in the name of its staging directory, which must not be too long.
const MAX_NAME_CHARS: usize = 48;
/// Allows the page to load the files next to it.
const POLICY: &str = "; connect-src 'self'";

/// Writes these ranks as a folder, whole or not at all. Returns the bytes of all files.
pub fn write(
    of: RanksOf<'_>,
    choices: &ExportChoices,
    dir: &Path,
    meter: &Meter,
) -> Result<u64, ExportError> {
    let is_cancelled = || meter.is_cancelled();
    let work = Work { cancel: Cancel::when(&is_cancelled), ..Work::IN_PLACE };
    Site::of(of, choices, work)?.write(dir, meter)
}

/// A folder that has not been written yet.
#[derive(Debug)]
pub struct Site {
    /// Files by name.
    files: Vec<(String, SiteContent)>,
}

#[derive(Debug)]
enum SiteContent {
    Bytes(Vec<u8>),
    /// A copy of this file.
    CopyOf(SegmentText),
}

impl Site {
    /// Prepares these ranks of a profile. Reads all segments to report damage and compute metrics.
    ///
    /// # Errors
    /// If the page is not in this binary, or a segment cannot be opened.
    pub fn of(of: RanksOf<'_>, choices: &ExportChoices, work: Work<'_>) -> Result<Self, ExportError> {
        of.check()?;
        let page = PageFiles::of_binary()?;
        let job = job_of(of, work.cancel)?;
        let mut index = Vec::new();
        let head = PageHead { policy: POLICY, view: choices.view.as_deref() };
        let embedded = EmbeddedRanks { of, job: job.as_ref(), has_graph: choices.has_graph };
        write_before(&page, head, embedded, work, &mut index)?;
        let mut files = Vec::new();
        for (place, content) in embedded.segments() {
            let text = SegmentText::of(place)?;
            let (rank, size_bytes) = (text.place.rank(), text.size_bytes);
            let name = format!("rank_{rank}-{content}.nseg");
            let attributes = format!("data-segment=\"{rank}\" data-size=\"{size_bytes}\"");
            write_link(&attributes, &name, &mut index)?;
            files.push((name, SiteContent::CopyOf(text)));
        }
        let mut programs = Vec::new();
        for (id, bytes) in page.programs() {
            let name = format!("{id}-{:.16}.bin", blake3::hash(bytes).to_hex());
            write_link(&format!("id=\"{id}\""), &name, &mut programs)?;
            files.push((name, SiteContent::Bytes(bytes.to_vec())));
        }
        page.write_start(&programs, &mut index)?;
        files.push((INDEX.to_owned(), SiteContent::Bytes(index)));
        Ok(Self { files })
    }

    /// Writes the whole folder or nothing. The folder must be missing or empty. Returns the bytes
    /// of all files.
    ///
    /// # Errors
    /// `FolderInUse` if the folder contains files. Other errors if a segment cannot be read or the
    /// folder cannot be written.
    pub fn write(&self, dir: &Path, meter: &Meter) -> Result<u64, ExportError> {
        if fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some()) {
            return Err(ExportError::FolderInUse(dir.to_owned()));
        }
        let parent = directory_of(dir);
        let name: String =
            dir.file_name().unwrap_or_default().to_string_lossy().chars().take(MAX_NAME_CHARS).collect();
        let prefix = format!(".nprof-{name}-");
        remove_abandoned(parent, &prefix);
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).permissions(permissions());
        let staged = builder.tempdir_in(parent)?;
        // Tells other exports that this folder is not abandoned. Not all file systems have locks.
        let owner = File::open(staged.path())?;
        drop(owner.try_lock());
        let mut bytes = 0;
        for (name, content) in &self.files {
            let file = File::create(staged.path().join(name))?;
            bytes += content.write(&mut BufWriter::new(Metered::new(&file, meter)))?;
            file.sync_all()?;
        }
        disk::sync_dir(staged.path())?;
        disk::rename(staged.path(), dir)?;
        disk::sync_dir(parent)?;
        // The staging directory was renamed: nothing has its old name any more.
        let _ = staged.keep();
        Ok(bytes)
    }
}

impl SiteContent {
    fn write(&self, out: &mut dyn Write) -> Result<u64, ExportError> {
        let bytes = match self {
            Self::Bytes(bytes) => {
                out.write_all(bytes)?;
                bytes.len() as u64
            }
            Self::CopyOf(SegmentText { place, .. }) => {
                let failed = |source| ExportError::Open { place: place.clone(), source };
                io::copy(&mut open_regular(place.path()).map_err(failed)?, out)?
            }
        };
        out.flush()?;
        Ok(bytes)
    }
}

/// Removes what killed exports to the same folder left. Best effort: a folder that stays costs only
/// space.
fn remove_abandoned(parent: &Path, prefix: &str) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(prefix);
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_ours && is_directory && File::open(entry.path()).is_ok_and(|owner| owner.try_lock().is_ok()) {
            drop(disk::remove_dir_all(&entry.path()));
        }
    }
}

/// Permissions that let everybody read the folder, as far as the user's mask allows. A web host
/// runs as another user.
fn permissions() -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    fs::Permissions::from_mode(0o777)
}

/// Writes an element that refers to a file next to the page.
fn write_link(attributes: &str, name: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<script type=\"application/octet-stream\" {attributes} data-href=\"{name}\"></script>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_export_left_goes_with_the_next_one() {
        let dir = tempfile::tempdir().unwrap();
        let place = |name: &str| dir.path().join(name);
        for name in [".nprof-run-dead", ".nprof-run-alive", ".nprof-other-dead"] {
            fs::create_dir(place(name)).unwrap();
            fs::write(place(name).join("index.html"), "half").unwrap();
        }
        let alive = File::open(place(".nprof-run-alive")).unwrap();
        alive.lock().unwrap();
        let site = Site { files: vec![(INDEX.to_owned(), SiteContent::Bytes(b"whole".to_vec()))] };
        assert_eq!(site.write(&place("run"), &Meter::default()).unwrap(), 5);
        let mut left: Vec<_> = fs::read_dir(dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, [".nprof-other-dead", ".nprof-run-alive", "run"]);
    }
}
