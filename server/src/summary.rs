//! The metrics of a rank, computed once and stored next to its segment.
//!
//! `rank_<n>.summary` is a line of text, `nprof summary <version> <content> <hash>`, and a postcard
//! message. The content is that of the segment, and the hash is BLAKE3 of the message. So a damaged
//! file, or a file of another segment or version, is never used: the metrics are computed again and
//! the file is replaced. A lost file costs only time.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use nprof_engine::base::Result;
use nprof_engine::exec::Work;
use nprof_engine::metrics::MetricScope;
use nprof_engine::native::{AtomicFile, SegmentFile, read_regular};
use nprof_engine::rank::RankView;
use nprof_engine::wire::answer;
use nprof_engine::wire::summary::Summary;

use crate::store::SegmentPlace;

/// Raised when a metric is added, removed or computed differently. The program's version is part of
/// it.
const VERSION: &str = concat!("9-", env!("CARGO_PKG_VERSION"));
/// The first words of the file.
const TITLE: &str = "nprof summary";
/// Larger files are not summaries of nprof.
const MAX_BYTES: u64 = 64 << 20;

/// State of a stored summary.
#[derive(Debug, Clone, PartialEq)]
pub enum StoredSummary {
    /// A summary of this segment and version.
    Good(Summary),
    /// No file, or a summary of another segment or version.
    None,
    /// A damaged file.
    Damaged,
}

/// The metrics of a rank: the stored ones, else computed now and stored. A failure to store them is
/// not an error.
pub fn summary_of(place: &SegmentPlace, segment: &SegmentFile, work: Work<'_>) -> Result<Summary> {
    if let Some(summary) = stored(place, segment) {
        return Ok(summary);
    }
    let path = path_of(place);
    let summary = answer::summary(RankView::of(segment), place.rank(), &MetricScope::default(), work)?;
    if let Err(error) = write(&path, segment.content(), &summary) {
        tracing::debug!("{}: cannot keep the summary for the next request ({error})", path.display());
    }
    Ok(summary)
}

/// The stored metrics of a rank, if they are those of this segment.
#[must_use]
pub fn stored(place: &SegmentPlace, segment: &SegmentFile) -> Option<Summary> {
    match read(&path_of(place), segment.content()) {
        StoredSummary::Good(summary) => Some(Summary { rank: place.rank(), ..summary }),
        StoredSummary::None | StoredSummary::Damaged => None,
    }
}

/// The state of the stored summary of a segment with this content, for `nprof verify`.
#[must_use]
pub fn kept(place: &SegmentPlace, content: &str) -> StoredSummary {
    read(&path_of(place), content)
}

/// Path of the stored summary of this segment, which can be missing.
#[must_use]
pub fn path_of(place: &SegmentPlace) -> PathBuf {
    place.path().with_extension("summary")
}

fn head(content: &str, message: &[u8]) -> String {
    format!("{TITLE} {VERSION} {content} {}\n", blake3::hash(message).to_hex())
}

fn read(path: &Path, content: &str) -> StoredSummary {
    let bytes = match read_regular(path, MAX_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return StoredSummary::None,
        Err(_) => return StoredSummary::Damaged,
    };
    let Some(end) = bytes.iter().position(|&byte| byte == b'\n') else { return StoredSummary::Damaged };
    let (line, message) = bytes.split_at(end + 1);
    if line == head(content, message).as_bytes() {
        return postcard::from_bytes(message).map_or(StoredSummary::Damaged, StoredSummary::Good);
    }
    let words: Vec<&str> = std::str::from_utf8(line).unwrap_or_default().split_ascii_whitespace().collect();
    let is_other = match words[..] {
        ["nprof", "summary", version, of, hash] => {
            (version != VERSION || of != content) && hash == blake3::hash(message).to_hex().as_str()
        }
        _ => false,
    };
    if is_other { StoredSummary::None } else { StoredSummary::Damaged }
}

/// Writes a temporary file and renames it. Nothing is synced. After a power failure the content can
/// be lost, and the hash is wrong then.
fn write(path: &Path, content: &str, summary: &Summary) -> std::io::Result<()> {
    let message = postcard::to_allocvec(summary).map_err(std::io::Error::other)?;
    let mut bytes = head(content, &message).into_bytes();
    bytes.extend(message);
    let file = AtomicFile::create(path)?;
    file.file().write_all(&bytes)?;
    file.commit_unsynced()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use nprof_engine::wire::detail::FieldContent;
    use nprof_engine::wire::rank_ref::RankRef;
    use nprof_engine::wire::summary::{MetricEntry, MetricGroupEntry};

    use super::*;

    fn summary() -> Summary {
        let metric = |name: &str, value| MetricEntry {
            name: name.to_owned(),
            value,
            unit: "s".to_owned(),
            doc: "What it is.".to_owned(),
            place: None,
        };
        let values =
            [FieldContent::Float(0.1), FieldContent::Float(f64::INFINITY), FieldContent::Uint(u64::MAX)];
        let metrics = values.into_iter().map(|value| metric("m", value)).collect();
        Summary {
            tables: Vec::new(),
            absent: Vec::new(),
            rank: RankRef::Number(3),
            groups: vec![MetricGroupEntry {
                key: "all".to_owned(),
                title: "All".to_owned(),
                has_names_of_trace: false,
                metrics,
            }],
        }
    }

    #[test]
    fn only_a_whole_summary_of_this_content_and_version_is_used() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rank_0.summary");
        assert_eq!(read(&path, "c1"), StoredSummary::None);
        write(&path, "c1", &summary()).unwrap();
        assert_eq!(read(&path, "c1"), StoredSummary::Good(summary()));
        assert_eq!(read(&path, "c2"), StoredSummary::None, "of another segment");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);

        let whole = fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&whole).into_owned();
        let version = text.split(' ').nth(2).unwrap();
        let older: Vec<u8> = [b"nprof summary 0-0.0.1", &whole[TITLE.len() + 1 + version.len()..]].concat();
        fs::write(&path, older).unwrap();
        assert_eq!(read(&path, "c1"), StoredSummary::None, "of another version");
        for at in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[at] ^= 4;
            fs::write(&path, &flipped).unwrap();
            assert!(!matches!(read(&path, "c1"), StoredSummary::Good(_)), "byte {at}");
            fs::write(&path, &whole[..at]).unwrap();
            assert_eq!(read(&path, "c1"), StoredSummary::Damaged, "cut at {at}");
        }
    }

    #[test]
    fn a_file_that_is_longer_than_any_summary_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rank_0.summary");
        // Zeros are the message of a summary without groups.
        let message = vec![0; usize::try_from(MAX_BYTES).unwrap()];
        fs::write(&path, [head("c1", &message).as_bytes(), &message].concat()).unwrap();
        assert_eq!(read(&path, "c1"), StoredSummary::Damaged);
    }
}
