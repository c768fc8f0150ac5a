//! The identity of a profile: a hash of its inputs, so that the same inputs give the same id.
//!
//! The hash of a trace is BLAKE3 over a domain text and all files of the trace. Each file
//! contributes its length in eight bytes, little endian, and its stored bytes. Stored bytes are the
//! packed bytes of a packed file, and the bytes within the archive of an archive entry. A profile
//! of one trace has the hash of the trace. A profile of several traces has the hash of their
//! hashes, in order of ranks. The first rank of a trace has the id of the trace. Each further rank
//! has the hash of this id and the rank's position. Ids show the first 20 bytes.

use nprof_engine::base::ProfileId;
use nprof_engine::base::id::{HASH_LEN, RankCount};
use nprof_engine::exec::Cancel;

use nprof_capture::inputs::Plan;

use super::inputs::Inputs;
use super::{IngestError, Result};
use crate::work::{Meter, Stage};

/// Bytes hashed at once: enough for all cores.
const CHUNK_LEN: usize = 4 << 20;

/// Hash domain of ranks, apart from other hashes of the same bytes.
const RANK_DOMAIN: &[u8] = b"nprof rank 1\n";
const PROFILE_DOMAIN: &[u8] = b"nprof profile 1\n";
const PART_DOMAIN: &[u8] = b"nprof part 1\n";

/// Identity of the inputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputIdentity {
    /// The profile's id.
    pub profile: ProfileId,
    /// The id of each trace as a profile of its own, in the order of the plans.
    pub traces: Vec<ProfileId>,
    /// Bytes of all inputs; 0 if they are not files.
    pub input_bytes: u64,
}

impl InputIdentity {
    /// Reads all inputs, as a separate stage.
    pub fn of(inputs: &Inputs, meter: &Meter) -> Result<Self> {
        meter.begin(Stage::Identifying, inputs.total_bytes());
        Self::read(inputs, |hasher, chunk| {
            hasher.update_rayon(chunk);
            meter.add_bytes(chunk.len() as u64);
            !meter.is_cancelled()
        })
    }

    /// Reads all inputs while other work runs: on this core alone, until cancelled.
    pub fn beside(inputs: &Inputs, cancel: Cancel<'_>) -> Result<Self> {
        Self::read(inputs, |hasher, chunk| {
            hasher.update(chunk);
            !cancel.is_cancelled()
        })
    }

    fn read(inputs: &Inputs, hash: impl Fn(&mut blake3::Hasher, &[u8]) -> bool) -> Result<Self> {
        let hashes =
            inputs.plans.iter().map(|plan| trace_hash(inputs, plan, &hash)).collect::<Result<Vec<_>>>()?;
        let traces: Vec<ProfileId> =
            hashes.iter().map(|hash| ProfileId::new(RankCount::One, *hash)).collect();
        let profile = match traces[..] {
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
        Ok(Self { profile, traces, input_bytes: inputs.total_bytes() })
    }

    /// The id of a rank. The first rank of a trace has the id of the trace.
    #[must_use]
    pub fn of_rank(&self, trace: usize, nth: usize) -> ProfileId {
        let of_trace = self.traces[trace];
        if nth == 0 {
            return of_trace;
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update(PART_DOMAIN);
        hasher.update(of_trace.to_string().as_bytes());
        hasher.update(&(nth as u64).to_le_bytes());
        ProfileId::new(RankCount::One, shortened(&hasher))
    }
}

/// Hashes the files of a trace. `hash` takes a chunk and returns whether to go on.
fn trace_hash(
    inputs: &Inputs,
    plan: &Plan,
    hash: impl Fn(&mut blake3::Hasher, &[u8]) -> bool,
) -> Result<[u8; HASH_LEN]> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(RANK_DOMAIN);
    for file in inputs.files_of(plan) {
        let bytes = &file.leaf.packed;
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        for (nth, chunk) in bytes.chunks(CHUNK_LEN).enumerate() {
            if !hash(&mut hasher, chunk) {
                return Err(IngestError::Cancelled);
            }
            bytes.let_go(nth * CHUNK_LEN..(nth + 1) * CHUNK_LEN);
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
    use std::sync::atomic::{AtomicU64, Ordering};

    use nprof_capture::archive::InMemory;

    use super::*;
    use crate::ingest::NamedInputs;

    fn inputs(traces: &[&PathBuf], neff: Option<&PathBuf>) -> Inputs {
        let files = traces.iter().map(|path| (*path).clone()).collect();
        NamedInputs { files, neff: neff.cloned(), ..NamedInputs::default() }.inputs(&InMemory).unwrap()
    }

    fn id(inputs: &Inputs) -> String {
        InputIdentity::of(inputs, &Meter::default()).unwrap().profile.to_string()
    }

    #[test]
    fn the_same_bytes_give_the_same_id_whatever_the_names() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, length: u8| {
            let path = dir.path().join(name);
            std::fs::write(&path, [5, length, 0, 0, 0, 0, 0, 0, 0]).unwrap();
            path
        };
        let [one, same, two] = [file("one", 1), file("same", 1), file("two", 2)];
        let alone = id(&inputs(&[&one], None));
        assert!(alone.starts_with("n_"));
        assert_eq!(alone, id(&inputs(&[&same], None)));
        let different = [
            id(&inputs(&[&two], None)),
            id(&inputs(&[&one], Some(&two))),
            id(&inputs(&[&one, &two], None)),
            id(&inputs(&[&two, &one], None)),
            alone,
        ];
        let distinct: std::collections::HashSet<&String> = different.iter().collect();
        assert_eq!(distinct.len(), different.len());
        assert!(different[2].starts_with("p_"));
        let several = InputIdentity::of(&inputs(&[&one, &same], None), &Meter::default()).unwrap();
        assert_eq!(several.traces[0], several.traces[1]);
        assert_eq!(several.of_rank(0, 0), several.traces[0]);
        assert_ne!(several.of_rank(0, 1), several.of_rank(0, 2));
    }

    #[test]
    fn a_cancelled_hash_ends_after_the_chunk_that_is_being_read() {
        const CHUNKS: u64 = 5;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("long");
        std::fs::write(&path, [5, 1, 0, 0, 0, 0, 0, 0, 0]).unwrap();
        let len = CHUNKS * CHUNK_LEN as u64;
        std::fs::File::options().write(true).open(&path).unwrap().set_len(len).unwrap();
        let inputs = inputs(&[&path], None);
        let meter = Meter::default();
        assert!(InputIdentity::of(&inputs, &meter).is_ok());
        assert_eq!(meter.bytes().0, len);
        meter.cancel();
        assert!(matches!(InputIdentity::of(&inputs, &meter), Err(IngestError::Cancelled)));
        assert_eq!(meter.bytes().0, CHUNK_LEN as u64);
        let checks = AtomicU64::new(0);
        let is_cancelled = || checks.fetch_add(1, Ordering::Relaxed) == 1;
        let hashed = InputIdentity::beside(&inputs, Cancel::when(&is_cancelled));
        assert!(matches!(hashed, Err(IngestError::Cancelled)));
        assert_eq!(checks.into_inner(), 2, "of {CHUNKS} chunks");
    }

    #[test]
    fn what_is_no_file_is_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        for (path, what) in [(dir.path().to_owned(), "no trace"), (dir.path().join("missing"), "cannot read")]
        {
            let named = NamedInputs { files: vec![path.clone()], ..NamedInputs::default() };
            let error = named.inputs(&InMemory).err().unwrap().to_string();
            assert!(error.starts_with(&path.display().to_string()) && error.contains(what), "{error}");
        }
    }
}
