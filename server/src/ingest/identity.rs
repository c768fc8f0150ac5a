//! The identity of a profile: a hash of its inputs, so that the same inputs give the same id.
//!
//! A rank's hash is BLAKE3 over a domain text, then for each of its files its length in eight bytes, little endian,
//! and its bytes. A profile of one rank has that hash; a profile of several has the hash of their hashes, in order of
//! ranks. Ids show the first 20 bytes.

use std::path::Path;

use nprof_engine::base::ProfileId;
use nprof_engine::base::id::{HASH_LEN, RankCount};
use nprof_engine::exec::Cancel;

use super::inputs::RankInput;
use super::mapped::Mapped;
use super::meter::{Meter, Stage};
use super::{IngestError, Result};

/// Bytes that are hashed at once: enough for all cores.
const CHUNK_LEN: usize = 4 << 20;

/// Keeps these hashes apart from those of the same bytes for another purpose.
const RANK_DOMAIN: &[u8] = b"nprof rank 1\n";
const PROFILE_DOMAIN: &[u8] = b"nprof profile 1\n";

/// Who the inputs are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The profile's id.
    pub profile: ProfileId,
    /// The ids that the ranks would have as profiles of their own, in the order of the inputs.
    pub ranks: Vec<ProfileId>,
    /// Bytes of all inputs; 0 where they are no files.
    pub input_bytes: u64,
}

impl Identity {
    /// Reads all inputs, as a stage of its own.
    ///
    /// # Errors
    /// Where one cannot be read, or the ingest is cancelled.
    pub fn of(inputs: &[RankInput], meter: &Meter) -> Result<Self> {
        meter.begin(Stage::Identifying, total_bytes(inputs)?);
        Self::read(inputs, |hasher, chunk| {
            hasher.update_rayon(chunk);
            meter.add_bytes(chunk.len() as u64);
            !meter.is_cancelled()
        })
    }

    /// Reads all inputs while other work goes on: on this core alone, until it is cancelled.
    ///
    /// # Errors
    /// Where one cannot be read; `Cancelled` where it was ended.
    pub fn beside(inputs: &[RankInput], cancel: Cancel<'_>) -> Result<Self> {
        Self::read(inputs, |hasher, chunk| {
            hasher.update(chunk);
            !cancel.is_cancelled()
        })
    }

    fn read(inputs: &[RankInput], hash: impl Fn(&mut blake3::Hasher, &[u8]) -> bool) -> Result<Self> {
        let hashes = inputs.iter().map(|input| rank_hash(input, &hash)).collect::<Result<Vec<_>>>()?;
        let ranks: Vec<ProfileId> = hashes.iter().map(|hash| ProfileId::new(RankCount::One, *hash)).collect();
        let profile = match ranks[..] {
            [only] => only,
            _ => {
                let mut hasher = blake3::Hasher::new();
                hasher.update(PROFILE_DOMAIN);
                hashes.iter().for_each(|hash| {
                    hasher.update(hash);
                });
                ProfileId::new(RankCount::Several, shortened(&hasher))
            }
        };
        Ok(Self { profile, ranks, input_bytes: total_bytes(inputs)? })
    }
}

/// Bytes of all files.
pub(super) fn total_bytes(inputs: &[RankInput]) -> Result<u64> {
    inputs.iter().flat_map(RankInput::files).map(size_bytes).sum()
}

/// Bytes of an input file.
fn size_bytes(path: &Path) -> Result<u64> {
    let meta = std::fs::metadata(path).map_err(|source| IngestError::open(path, source))?;
    if meta.is_file() { Ok(meta.len()) } else { Err(IngestError::not_a_file(path)) }
}

/// `hash` takes a chunk and says whether to go on.
fn rank_hash(input: &RankInput, hash: impl Fn(&mut blake3::Hasher, &[u8]) -> bool) -> Result<[u8; HASH_LEN]> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(RANK_DOMAIN);
    for path in input.files() {
        hasher.update(&size_bytes(path)?.to_le_bytes());
        let mapped = Mapped::open(path).map_err(|source| IngestError::open(path, source))?;
        for chunk in mapped.bytes().chunks(CHUNK_LEN) {
            if !hash(&mut hasher, chunk) {
                return Err(IngestError::Cancelled);
            }
        }
    }
    Ok(shortened(&hasher))
}

fn shortened(hasher: &blake3::Hasher) -> [u8; HASH_LEN] {
    let mut hash = [0; HASH_LEN];
    hasher.finalize_xof().fill(&mut hash);
    hash
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn input(trace: PathBuf, neff: Option<PathBuf>) -> RankInput {
        RankInput { trace, neff, rank: None, chosen: super::super::inputs::Chosen::ByName }
    }

    #[test]
    fn the_same_bytes_give_the_same_id_whatever_the_names() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let [one, same, two] = [file("one", "x"), file("same", "x"), file("two", "y")];
        let id = |inputs: &[RankInput]| Identity::of(inputs, &Meter::default()).unwrap().profile.to_string();
        let alone = id(&[input(one.clone(), None)]);
        assert!(alone.starts_with("n_"));
        assert_eq!(alone, id(&[input(same.clone(), None)]));
        let different = [
            id(&[input(two.clone(), None)]),
            id(&[input(one.clone(), Some(two.clone()))]),
            id(&[input(one.clone(), None), input(two.clone(), None)]),
            id(&[input(two, None), input(one.clone(), None)]),
            alone,
        ];
        let distinct: std::collections::HashSet<&String> = different.iter().collect();
        assert_eq!(distinct.len(), different.len());
        assert!(different[2].starts_with("p_"));
        let several =
            Identity::of(&[input(one.clone(), None), input(same, None)], &Meter::default()).unwrap();
        assert_eq!(several.ranks[0], several.ranks[1]);
    }

    #[test]
    fn what_is_no_file_is_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        for path in [dir.path().to_owned(), dir.path().join("missing")] {
            let error = Identity::of(&[input(path.clone(), None)], &Meter::default()).unwrap_err();
            assert!(error.to_string().starts_with(&path.display().to_string()), "{error}");
        }
    }
}
