//! Checks profiles: their manifests and every byte of their segments. Continues after damage.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use nprof_engine::base::{ANNEX, Error};
use nprof_engine::native::{OpenError, SegmentFile};
use nprof_engine::query::{self, PartName, VerifyFinding};
use serde::Serialize;

use crate::analysis::{findings, job_segment, overlay_damage};
use crate::output::FileId;
use crate::store::{ATTEMPTS, Profile, RankFile, SharedName, Store, StoreError, Survey, name_for_rm};
use crate::summary::kept;
use crate::work::{Meter, Stage};

/// Name of a damaged part that loses no data: the metrics are computed again.
pub const KEPT_SUMMARY: &str = "summary";

/// Name of a damaged part that loses no data: the findings are found again.
pub const KEPT_FINDINGS: &str = "findings";

/// Name of a damaged part that loses no data: the overlay or the job segment of all ranks, which
/// follow from their segments.
pub const KEPT_COMPARISON: &str = "comparison of ranks";

/// Name of a damaged part that loses no data: several profiles have one name.
pub const SHARED_NAME: &str = "name";

/// Reason why a check did not end.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// Error of the store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Cancelled by the user.
    #[error("cancelled; the store is unchanged")]
    Cancelled,
}

/// Result of a check.
#[derive(Debug, Default, Serialize)]
pub struct Verified {
    /// Profiles checked.
    pub profiles: usize,
    /// Segments checked.
    pub ranks: usize,
    /// Bytes of segments checked.
    pub bytes: u64,
    /// All damage, in the order of profiles, ranks and tables.
    pub damages: Vec<DamagedPlace>,
}

/// One damaged place.
#[derive(Debug, Clone, Serialize)]
pub struct DamagedPlace {
    /// Name of the profile, or its directory if the manifest cannot be read.
    pub profile: String,
    /// The rank, unless the damage is in the manifest.
    pub rank: Option<u32>,
    /// Offset of the part in the segment, if known.
    pub offset: Option<u64>,
    /// Kind of the part, e.g. `block`.
    pub part: Option<&'static str>,
    /// Number of the part within its kind.
    pub number: Option<usize>,
    /// Column of the part.
    pub column: Option<String>,
    /// Table of the part.
    pub table: Option<String>,
    /// Track of the part.
    pub track: Option<String>,
    /// Description of the damage, with the name of the part.
    pub what: String,
    /// Repair of the damage.
    #[serde(skip)]
    pub remedy: Remedy,
}

/// Repair of a damaged place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// To ingest the trace again.
    Ingest,
    /// A newer nprof, which wrote the file.
    Upgrade,
}

impl Remedy {
    fn of(error: &Error) -> Self {
        match error {
            Error::UnsupportedVersion { found, newest } if found > newest => Self::Upgrade,
            _ => Self::Ingest,
        }
    }
}

/// Checks these profiles, or the whole store if `names` is empty.
///
/// # Errors
/// If the store cannot be listed, a name is unknown, or the check is cancelled.
pub fn verify(store: &Store, names: &[String], meter: &Meter) -> Result<Verified, VerifyError> {
    let mut verified = Verified::default();
    let profiles = if names.is_empty() {
        let survey = settled_survey(store)?;
        verified.damages.extend(survey.unreadable.into_iter().map(|(dir, error)| DamagedPlace {
            profile: name_for_rm(&dir),
            ..DamagedPlace::of_manifest(&error)
        }));
        verified.damages.extend(survey.shared.into_iter().map(|SharedName { name, directories }| {
            DamagedPlace {
                profile: name,
                part: Some(SHARED_NAME),
                ..DamagedPlace::of(format!(
                    "several profiles have this name; remove all but one by their ids: {}",
                    directories.join(", ")
                ))
            }
        }));
        survey.profiles
    } else {
        names.iter().map(|name| store.find(name)).collect::<Result<_, _>>()?
    };
    let files = || profiles.iter().flat_map(|profile| &profile.manifest.ranks);
    let job_bytes = |profile: &Profile| job_file(profile).map_or(0, |(_, size_bytes)| size_bytes);
    let all_bytes = files().map(|file| file.size_bytes).chain(profiles.iter().map(job_bytes)).sum();
    meter.begin(Stage::Verifying, all_bytes);
    for profile in profiles {
        verified.add(verify_settled(store, profile, meter)?);
    }
    Ok(verified)
}

/// The content of the store. Unreadable files can have been removed or replaced meanwhile.
fn settled_survey(store: &Store) -> Result<Survey, StoreError> {
    let mut survey = store.survey()?;
    for _ in 1..ATTEMPTS {
        if survey.unreadable.is_empty() {
            break;
        }
        survey = store.survey()?;
    }
    Ok(survey)
}

/// Checks a profile. Damage counts only if the profile is still the same afterwards. One that was
/// removed meanwhile has none, one that was replaced is checked again.
fn verify_settled(store: &Store, mut profile: Profile, meter: &Meter) -> Result<Verified, VerifyError> {
    let mut attempt = 1;
    loop {
        let before = FileId::at(&profile.dir);
        let found = verify_profile(&profile, meter)?;
        if found.damages.is_empty() || attempt == ATTEMPTS {
            return Ok(found);
        }
        match store.by_id(&profile.manifest.id) {
            Ok(None) => return Ok(Verified::default()),
            Ok(Some(now)) if now != profile || FileId::at(&now.dir) != before => profile = now,
            _ => return Ok(found),
        }
        attempt += 1;
    }
}

fn verify_profile(profile: &Profile, meter: &Meter) -> Result<Verified, VerifyError> {
    let mut verified = Verified { profiles: 1, ..Verified::default() };
    verify_comparison(profile, meter, &mut verified)?;
    for file in &profile.manifest.ranks {
        verify_rank(profile, file, meter, &mut verified)?;
    }
    Ok(verified)
}

fn verify_rank(
    profile: &Profile,
    file: &RankFile,
    meter: &Meter,
    verified: &mut Verified,
) -> Result<(), VerifyError> {
    let of = |damage: DamagedPlace| DamagedPlace {
        profile: profile.manifest.slug().to_owned(),
        rank: Some(file.rank),
        ..damage
    };
    if kept(&profile.place_of(file), &file.content).is_damaged() {
        let what = format!("the kept summary of {} is damaged", file.file);
        verified.damages.push(of(DamagedPlace { part: Some(KEPT_SUMMARY), ..DamagedPlace::of(what) }));
    }
    let Some(segment) = check(&profile.segment_path(file), &of, meter, &mut verified.damages)? else {
        return Ok(());
    };
    if segment.content() != file.content {
        let what = format!("{} is undamaged, but it is not the segment that the manifest names", file.file);
        verified.damages.push(of(DamagedPlace::of(what)));
    }
    verified.bytes += segment.file_len();
    verified.ranks += 1;
    Ok(())
}

/// The kept job segment of a profile, and its size.
fn job_file(profile: &Profile) -> Option<(PathBuf, u64)> {
    let path = job_segment::is_for(profile).then(|| job_segment::path_of(profile))?;
    let size_bytes = std::fs::metadata(&path).ok()?.len();
    Some((path, size_bytes))
}

/// Checks the overlay, the findings and the job segment of a profile, if they are kept.
fn verify_comparison(profile: &Profile, meter: &Meter, verified: &mut Verified) -> Result<(), VerifyError> {
    let slug = profile.manifest.slug();
    let of = |damage: DamagedPlace| DamagedPlace {
        profile: slug.to_owned(),
        part: Some(KEPT_COMPARISON),
        number: None,
        ..damage
    };
    verified.damages.extend(overlay_damage(profile).map(|what| of(DamagedPlace::of(what))));
    if findings::kept_file(profile).is_damaged() {
        let what = format!("the kept {} are damaged", findings::FILE);
        verified.damages.push(DamagedPlace { part: Some(KEPT_FINDINGS), ..of(DamagedPlace::of(what)) });
    }
    let Some((path, _)) = job_file(profile) else { return Ok(()) };
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let of_file = |damage: DamagedPlace| match damage.what.starts_with(&name) {
        true => of(damage),
        false => of(DamagedPlace { what: format!("{name}: {}", damage.what), ..damage }),
    };
    if let Some(segment) = check(&path, &of_file, meter, &mut verified.damages)? {
        verified.bytes += segment.file_len();
    }
    Ok(())
}

/// Checks all bytes of a segment. `None` if it cannot be opened.
fn check(
    path: &Path,
    of: &dyn Fn(DamagedPlace) -> DamagedPlace,
    meter: &Meter,
    damages: &mut Vec<DamagedPlace>,
) -> Result<Option<SegmentFile>, VerifyError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let before = meter.bytes().0;
    let segment = match SegmentFile::open_file(path) {
        Ok(segment) => segment,
        Err(error) => {
            let damage = match error {
                OpenError::Segment(error) => DamagedPlace {
                    remedy: Remedy::of(&error),
                    ..DamagedPlace::of(format!("{name}: {error}"))
                },
                OpenError::Io(error) => DamagedPlace::of(format!("{name}: cannot read ({error})")),
            };
            damages.push(of(damage));
            return Ok(None);
        }
    };
    let ended = query::verify::check(&segment, &mut |finding| {
        match finding {
            VerifyFinding::Checked(bytes) => meter.add_bytes(bytes),
            VerifyFinding::Damaged { part, offset, error } => {
                damages.push(of(DamagedPlace::of_part(query::part::name(&segment, part), offset, error)));
            }
        }
        if meter.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if ended.is_break() {
        return Err(VerifyError::Cancelled);
    }
    // The header, footer and trailer were checked when the segment was opened.
    meter.add_bytes(segment.file_len().saturating_sub(meter.bytes().0 - before));
    Ok(Some(segment))
}

impl Verified {
    fn add(&mut self, other: Self) {
        self.profiles += other.profiles;
        self.ranks += other.ranks;
        self.bytes += other.bytes;
        self.damages.extend(other.damages);
    }
}

impl DamagedPlace {
    fn of(what: String) -> Self {
        let (offset, part, number) = (None, None, None);
        let (column, table, track) = (None, None, None);
        let (profile, rank, remedy) = (String::new(), None, Remedy::Ingest);
        Self { profile, rank, offset, part, number, column, table, track, what, remedy }
    }

    fn of_manifest(error: &StoreError) -> Self {
        let is_newer = matches!(error, StoreError::NewerManifest { .. });
        let remedy = if is_newer { Remedy::Upgrade } else { Remedy::Ingest };
        Self { remedy, ..Self::of(error.to_string()) }
    }

    fn of_part(name: PartName, offset: u64, error: Error) -> Self {
        let why = match error {
            // The engine's message names the part less exactly than `name`.
            Error::Corrupt { .. } => "is damaged".to_owned(),
            other => other.to_string(),
        };
        let what = format!("{name} {why}");
        let PartName { kind, number, column, table, track } = name;
        // An offset beyond the footer is not an offset in the file.
        let offset = (offset < ANNEX).then_some(offset);
        Self { offset, part: Some(kind), number, column, table, track, ..Self::of(what) }
    }
}

impl std::fmt::Display for DamagedPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.profile)?;
        if let Some(rank) = self.rank {
            write!(f, " rank {rank}")?;
        }
        if let Some(offset) = self.offset {
            write!(f, " byte {offset}")?;
        }
        write!(f, ": {}", self.what)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::ingest::{IngestSettings, NamedInputs, run};
    use crate::store::{Existing, Manifest};

    /// Ingests a trace of one slice under the name `n`.
    fn ingest(store: &Store, name: &str) -> Profile {
        let trace = store.root().with_extension("json");
        fs::write(&trace, format!(r#"[{{"ph":"X","pid":1,"tid":1,"ts":0,"dur":1,"name":"{name}"}}]"#))
            .unwrap();
        let named = NamedInputs { files: vec![trace], ..NamedInputs::default() };
        let slug = Some("n".parse().unwrap());
        let settings = IngestSettings { existing: Existing::Replace, slug, ..IngestSettings::default() };
        run(store, &named, &settings, &Meter::default()).unwrap().profile
    }

    #[test]
    fn what_was_removed_or_replaced_meanwhile_is_not_damaged() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("store")).unwrap();
        let check = |profile: &Profile| verify_settled(&store, profile.clone(), &Meter::default()).unwrap();
        let found = ingest(&store, "a");
        assert_eq!(check(&found).profiles, 1);

        let mut old = found.clone();
        let mut manifest = Manifest::clone(&found.manifest);
        manifest.ranks[0].content = "0".repeat(manifest.ranks[0].content.len());
        old.manifest = manifest.into();
        let replaced = check(&old);
        assert_eq!((replaced.profiles, replaced.damages.len()), (1, 0), "{replaced:?}");

        let segment = found.segment_path(&found.manifest.ranks[0]);
        let whole = fs::read(&segment).unwrap();
        fs::write(&segment, &whole[..whole.len() / 2]).unwrap();
        assert_eq!(check(&found).damages.len(), 1, "damage stays damage");

        store.remove("n").unwrap();
        let gone = check(&found);
        assert_eq!((gone.profiles, gone.damages.len()), (0, 0), "{gone:?}");
    }
}
