//! The overlay of a profile, kept beside its segments and computed again when they change.
//!
//! `collectives.overlay` is a line of text, `nprof overlay <version> <segments> <hash>`, and the
//! bytes of [`overlay`]. The segments are a hash over the ranks, their contents, their hosts and
//! the offsets that their traces state. A damaged file, or one of other segments or another
//! version, is never used. A lost file costs only time. The manifest does not change when an
//! overlay is written.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use nprof_engine::analysis::{Job, MatchedJob, matched, overlay};
use nprof_engine::base;
use nprof_engine::exec::Cancel;
use nprof_engine::native::{AtomicFile, open_regular};

use crate::store::Profile;

pub(crate) const FILE: &str = "collectives.overlay";
/// The first words of the file.
const TITLE: &str = "nprof overlay";
/// Longest first line in bytes.
const MAX_LINE_BYTES: u64 = 256;
/// Bytes of an overlay without calls, and for each rank and each call, at most: a call takes a few
/// bits.
const BYTES: u64 = 1 << 20;
const BYTES_A_RANK: u64 = 1 << 10;
const BYTES_A_CALL: u64 = 16;
/// Longer files are no overlays of nprof: no segments have more calls.
const MAX_BYTES: u64 = 1 << 36;

/// The matched calls: the kept ones, else computed now and kept in `dir`. A failure to keep them is
/// not an error.
pub(super) fn matched_of(
    profile: &Profile,
    job: &Job,
    dir: &Path,
    cancel: Cancel<'_>,
) -> base::Result<MatchedJob> {
    let segments = segments_of(profile);
    let calls: u64 = job.ranks.iter().map(|rank| rank.calls.len() as u64).sum();
    let most = BYTES + BYTES_A_RANK * job.ranks.len() as u64 + BYTES_A_CALL * calls;
    if let Some(found) =
        read(&profile.dir.join(FILE), &segments, most).and_then(|bytes| overlay::decode(job, &bytes).ok())
    {
        return Ok(found);
    }
    let found = matched(job, cancel)?;
    let path = dir.join(FILE);
    if let Err(error) = write(&path, &segments, &overlay::encode(job, &found)) {
        tracing::debug!("{}: cannot keep the overlay for the next request ({error})", path.display());
    }
    Ok(found)
}

/// A hash over the numbers, the contents, the stated offsets and the hosts of all ranks.
fn segments_of(profile: &Profile) -> String {
    let mut hasher = blake3::Hasher::new();
    for (rank, stated_ps) in profile.manifest.ranks.iter().zip(profile.manifest.stated_offsets_ps()) {
        hasher.update(format!("{} {} {stated_ps} {:?}\n", rank.rank, rank.content, rank.host).as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

fn head(segments: &str, bytes: &[u8]) -> String {
    format!("{TITLE} {} {segments} {}\n", overlay::VERSION, blake3::hash(bytes).to_hex())
}

/// The overlay of these segments in a file of at most `most` bytes behind its first line.
fn read(path: &Path, segments: &str, most: u64) -> Option<Vec<u8>> {
    let mut file = BufReader::new(open_regular(path).ok()?);
    let line = first_line(&mut file).ok()?;
    let mut overlay = Vec::new();
    file.take(most + 1).read_to_end(&mut overlay).ok()?;
    let is_it = overlay.len() as u64 <= most && line == head(segments, &overlay).as_bytes();
    is_it.then_some(overlay)
}

/// The first line with its end. It is cut if it is too long.
fn first_line(file: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    file.take(MAX_LINE_BYTES).read_until(b'\n', &mut line)?;
    Ok(line)
}

/// Fault of the kept overlay of a profile. `None` if there is none, or if it is
/// undamaged. One of other segments or of another version is not damaged.
#[must_use]
pub fn damage(profile: &Profile) -> Option<String> {
    let is_whole = open_regular(&profile.dir.join(FILE)).and_then(|file| is_whole(BufReader::new(file)));
    match is_whole {
        Ok(true) => None,
        Ok(false) => Some(format!("{FILE} is damaged")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => Some(format!("{FILE}: cannot read ({error})")),
    }
}

/// Whether the first line is that of an overlay, and has the hash of the rest. Memory does not grow
/// with the file.
fn is_whole(mut file: impl BufRead) -> io::Result<bool> {
    let line = first_line(&mut file)?;
    let Some(line) = line.strip_suffix(b"\n") else { return Ok(false) };
    let words: Vec<&str> = std::str::from_utf8(line).map_or(Vec::new(), |line| line.split(' ').collect());
    let [name, kind, version, segments, hash] = words[..] else { return Ok(false) };
    let is_hash = |word: &str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    if format!("{name} {kind}") != TITLE || version.parse::<u32>().is_err() || !is_hash(segments) {
        return Ok(false);
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(file.take(MAX_BYTES))?;
    Ok(hash == hasher.finalize().to_hex().as_str())
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
    use std::fs;

    use super::*;

    #[test]
    fn only_a_whole_overlay_of_these_segments_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(FILE);
        assert_eq!(read(&path, "s1", 8), None);
        write(&path, "s1", b"over\nlay").unwrap();
        assert_eq!(read(&path, "s1", 8).as_deref(), Some(&b"over\nlay"[..]));
        assert_eq!(read(&path, "s2", 8), None, "of other segments");
        assert_eq!(read(&path, "s1", 7), None, "longer than an overlay of these calls");
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            fs::write(&path, &whole[..at]).unwrap();
            assert_eq!(read(&path, "s1", 8), None, "cut at {at}");
        }
    }
}
