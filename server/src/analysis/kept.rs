//! The overlay of a profile, kept beside its segments and computed again when they change.
//!
//! `collectives.overlay` is a line of text, `nprof overlay <version> <segments> <hash>`, and the
//! bytes of [`overlay`]. The segments are a hash over the ranks, their contents and the offsets
//! that their traces state. A damaged file, or one of other segments or another version, is never
//! used. A lost file costs only time. The manifest does not change when an overlay is written.

use std::fs;
use std::io::Write;
use std::path::Path;

use nprof_engine::analysis::{Job, Matched, matched, overlay};
use nprof_engine::native::AtomicFile;

use crate::store::Profile;

const FILE: &str = "collectives.overlay";
/// The first words of the file.
const TITLE: &str = "nprof overlay";
/// Larger files are no overlays of nprof.
const MAX_BYTES: u64 = 1 << 32;

/// The matched calls: the kept ones, else computed now and kept. A failure to keep them is not an
/// error.
pub(super) fn matched_of(profile: &Profile, job: &Job) -> Matched {
    let path = profile.dir.join(FILE);
    let segments = segments_of(profile);
    if let Some(found) = read(&path, &segments).and_then(|bytes| overlay::decode(job, &bytes).ok()) {
        return found;
    }
    let found = matched(job);
    if let Err(error) = write(&path, &segments, &overlay::encode(job, &found)) {
        tracing::debug!("{}: cannot keep the overlay for the next request ({error})", path.display());
    }
    found
}

/// A hash over the numbers, the contents and the stated offsets of all ranks.
fn segments_of(profile: &Profile) -> String {
    let mut hasher = blake3::Hasher::new();
    for (rank, stated_ps) in profile.manifest.ranks.iter().zip(profile.manifest.stated_offsets_ps()) {
        hasher.update(format!("{} {} {stated_ps}\n", rank.rank, rank.content).as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

fn head(segments: &str, bytes: &[u8]) -> String {
    format!("{TITLE} {} {segments} {}\n", overlay::VERSION, blake3::hash(bytes).to_hex())
}

fn read(path: &Path, segments: &str) -> Option<Vec<u8>> {
    fs::metadata(path).ok().filter(|meta| meta.len() <= MAX_BYTES)?;
    let bytes = fs::read(path).ok()?;
    let end = bytes.iter().position(|&byte| byte == b'\n')? + 1;
    let (line, overlay) = bytes.split_at(end);
    (line == head(segments, overlay).as_bytes()).then(|| overlay.to_vec())
}

/// What is wrong with the kept overlay of a profile. `None` if there is none, or if it is
/// undamaged. One of other segments or of another version is not damaged.
#[must_use]
pub fn damage(profile: &Profile) -> Option<String> {
    let path = profile.dir.join(FILE);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => return Some(format!("{FILE}: cannot read ({error})")),
    };
    (!is_whole(&bytes)).then(|| format!("{FILE} is damaged"))
}

/// Whether the first line is that of an overlay, and has the hash of the rest.
fn is_whole(bytes: &[u8]) -> bool {
    let Some(end) = bytes.iter().position(|&byte| byte == b'\n') else { return false };
    let (line, overlay) = (&bytes[..end], &bytes[end + 1..]);
    let words: Vec<&str> = std::str::from_utf8(line).map_or(Vec::new(), |line| line.split(' ').collect());
    let [name, kind, version, segments, hash] = words[..] else { return false };
    let is_hash = |word: &str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    format!("{name} {kind}") == TITLE
        && version.parse::<u32>().is_ok()
        && is_hash(segments)
        && hash == blake3::hash(overlay).to_hex().as_str()
}

/// Writes the whole file or nothing: a check of the store must not find a half one after a power
/// cut.
fn write(path: &Path, segments: &str, overlay: &[u8]) -> std::io::Result<()> {
    let file = AtomicFile::create(path)?;
    file.file().write_all(head(segments, overlay).as_bytes())?;
    file.file().write_all(overlay)?;
    file.commit().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_overlay_of_these_segments_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(FILE);
        assert_eq!(read(&path, "s1"), None);
        write(&path, "s1", b"over\nlay").unwrap();
        assert_eq!(read(&path, "s1").as_deref(), Some(&b"over\nlay"[..]));
        assert_eq!(read(&path, "s2"), None, "of other segments");
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            fs::write(&path, &whole[..at]).unwrap();
            assert_eq!(read(&path, "s1"), None, "cut at {at}");
        }
    }
}
