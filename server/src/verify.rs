//! Checks profiles: their manifests and every byte of their segments. Continues after damage.

use std::ops::ControlFlow;

use nprof_engine::base::{ANNEX, Error};
use nprof_engine::native::{OpenError, SegmentFile};
use nprof_engine::query::{self, Finding, PartName};
use serde::Serialize;

use crate::ingest::IngestError;
use crate::store::{Profile, RankFile, SharedName, Store};
use crate::summary::{Kept, kept};
use crate::work::{Meter, Stage};

/// Name of a damaged part that loses no data: the metrics are computed again.
pub const KEPT_SUMMARY: &str = "summary";

/// Name of a damaged part that loses no data: several profiles have one name.
pub const SHARED_NAME: &str = "name";

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
    pub damages: Vec<Damage>,
}

/// One damaged place.
#[derive(Debug, Clone, Serialize)]
pub struct Damage {
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
}

/// Checks these profiles, or the whole store if `names` is empty.
///
/// # Errors
/// If the store cannot be listed, a name is unknown, or the check is cancelled.
pub fn verify(store: &Store, names: &[String], meter: &Meter) -> Result<Verified, IngestError> {
    let mut verified = Verified::default();
    let profiles = if names.is_empty() {
        let survey = store.survey()?;
        verified.damages.extend(survey.unreadable.into_iter().map(|(dir, error)| Damage {
            profile: dir.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            ..Damage::of(error.to_string())
        }));
        verified.damages.extend(survey.shared.into_iter().map(|SharedName { name, directories }| Damage {
            profile: name,
            part: Some(SHARED_NAME),
            ..Damage::of(format!(
                "several profiles have this name; remove all but one by their ids: {}",
                directories.join(", ")
            ))
        }));
        survey.profiles
    } else {
        names.iter().map(|name| store.find(name)).collect::<Result<_, _>>()?
    };
    let files = || profiles.iter().flat_map(|profile| &profile.manifest.ranks);
    meter.begin(Stage::Verifying, files().map(|file| file.size_bytes).sum());
    for profile in &profiles {
        for file in &profile.manifest.ranks {
            verify_rank(profile, file, meter, &mut verified)?;
        }
        verified.profiles += 1;
    }
    Ok(verified)
}

fn verify_rank(
    profile: &Profile,
    file: &RankFile,
    meter: &Meter,
    verified: &mut Verified,
) -> Result<(), IngestError> {
    let of = |damage: Damage| Damage {
        profile: profile.manifest.slug().to_owned(),
        rank: Some(file.rank),
        ..damage
    };
    if kept(profile, file) == Kept::Damaged {
        let what = format!("the kept summary of {} is damaged", file.file);
        verified.damages.push(of(Damage { part: Some(KEPT_SUMMARY), ..Damage::of(what) }));
    }
    let before = meter.bytes().0;
    let segment = match SegmentFile::open_file(&profile.dir.join(&file.file)) {
        Ok(segment) => segment,
        Err(error) => {
            let what = match error {
                OpenError::Segment(error) => format!("{}: {error}", file.file),
                OpenError::Io(error) => format!("{}: cannot read ({error})", file.file),
            };
            verified.damages.push(of(Damage::of(what)));
            return Ok(());
        }
    };
    if segment.content() != file.content {
        let what = format!("{} is undamaged, but it is not the segment that the manifest names", file.file);
        verified.damages.push(of(Damage::of(what)));
    }
    let ended = query::verify::check(&segment, &mut |finding| {
        match finding {
            Finding::Checked(bytes) => meter.add_bytes(bytes),
            Finding::Damaged { part, offset, error } => {
                let damage = Damage::of_part(query::part::name(&segment, part), offset, error);
                verified.damages.push(of(damage));
            }
        }
        if meter.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if ended.is_break() {
        return Err(IngestError::Cancelled);
    }
    // The header, footer and trailer were checked when the segment was opened.
    meter.add_bytes(segment.file_len().saturating_sub(meter.bytes().0 - before));
    verified.bytes += segment.file_len();
    verified.ranks += 1;
    Ok(())
}

impl Damage {
    fn of(what: String) -> Self {
        let (offset, part, number) = (None, None, None);
        let (column, table, track) = (None, None, None);
        Self { profile: String::new(), rank: None, offset, part, number, column, table, track, what }
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

impl std::fmt::Display for Damage {
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
