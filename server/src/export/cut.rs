//! The exported part of a profile: some tracks, some time. The part is written as separate
//! segments, so the formats need no code for it.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;

use nprof_engine::base::Interval;
use nprof_engine::exec::Cancel;
use nprof_engine::ingest::BuildOptions;
use nprof_engine::model::TrackContent;
use nprof_engine::native::{SegmentFile, Taking, WriteError, write_segment_while};
use nprof_engine::query::{self, SegmentCut, active_span};

use super::ranks::{failed, open};
use super::track_pattern::TrackPattern;
use super::tracks::ExportTracks;
use super::{Comparing, ExportError, RanksOf};
use crate::store::{self, Manifest, Profile, RankFile, Staging};
use crate::units::time_text;

/// Events of a part whose ranks are compared in this process, whatever process that is.
const MAX_COMPARED: u64 = 2_000_000;

/// The exported part of a profile.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PartOf {
    /// First timestamp, in picoseconds of shared time since the start of the profile.
    pub from_ps: Option<i64>,
    /// Last timestamp, in picoseconds of shared time since the start of the profile.
    pub to_ps: Option<i64>,
    /// Patterns of tracks. A pattern that matches a group includes the tracks below the group.
    pub tracks: Vec<TrackPattern>,
}

/// Ranks of a profile, or the part of them that was taken. Files of a part are removed when this
/// value is dropped.
#[derive(Debug)]
pub struct TakenPart {
    profile: Profile,
    ranks: Vec<RankFile>,
    whole: Profile,
    is_part: bool,
    comparing: Comparing,
    _staging: Option<Staging>,
}

impl TakenPart {
    /// The ranks to write.
    #[must_use]
    pub fn ranks(&self) -> RanksOf<'_> {
        RanksOf {
            profile: &self.profile,
            ranks: &self.ranks,
            whole: &self.whole,
            is_part: self.is_part,
            comparing: self.comparing,
        }
    }
}

impl PartOf {
    /// Returns true if this is the whole profile.
    fn is_all(&self) -> bool {
        *self == Self::default()
    }

    /// Takes this part of the ranks. `stage` creates the directory for it. Writes nothing if the
    /// part is all.
    ///
    /// # Errors
    /// `NothingLeft` if no track or no event is in the part. Other errors if a segment cannot be
    /// read or written, or if the work is cancelled.
    pub fn take(
        &self,
        stage: impl FnOnce() -> store::Result<Staging>,
        of: RanksOf<'_>,
        cancel: Cancel<'_>,
    ) -> Result<TakenPart, ExportError> {
        let RanksOf { profile, ranks, whole, is_part, comparing } = of;
        let whole = whole.clone();
        if self.is_all() {
            let (profile, ranks) = (profile.clone(), ranks.to_vec());
            return Ok(TakenPart { profile, ranks, whole, is_part, comparing, _staging: None });
        }
        let span = self.span(&profile.manifest)?;
        let staging = stage()?;
        let dir = staging.profile_dir();
        let mut cut = Vec::new();
        for rank in ranks {
            cancel.check().map_err(ExportError::Cancelled)?;
            cut.push(self.cut_rank(profile, rank, span, &dir, cancel)?);
        }
        if cut.iter().all(|rank| rank.events == 0) {
            return Err(ExportError::NothingLeft { known: known_tracks(profile, ranks, cancel)? });
        }
        let manifest = Manifest { ranks: cut.clone(), ..Manifest::clone(&profile.manifest) };
        let profile = Profile { manifest: manifest.into(), dir };
        let is_part = is_part || !self.tracks.is_empty();
        // A part of the time has a comparison of its own. Memory for it grows with the calls.
        let events: u64 = cut.iter().map(|rank| rank.events).sum();
        let comparing = if events <= MAX_COMPARED { Comparing::Here } else { comparing };
        Ok(TakenPart { profile, ranks: cut, whole, is_part, comparing, _staging: Some(staging) })
    }

    /// The wanted time as shared times. `None` if all is wanted.
    fn span(&self, manifest: &Manifest) -> Result<Option<Interval>, ExportError> {
        if self.from_ps.is_none() && self.to_ps.is_none() {
            return Ok(None);
        }
        let (first_ps, (_, last_ps)) = (manifest.shared_start().0, manifest.span_ps());
        let length_ps = last_ps.saturating_sub(first_ps);
        let (from_ps, to_ps) = (self.from_ps.unwrap_or(0), self.to_ps.unwrap_or(i64::MAX));
        let text = |ps: i64| time_text(ps.into());
        if self.from_ps.is_some() && to_ps <= from_ps {
            return Err(ExportError::Reversed { from: text(from_ps), to: text(to_ps) });
        }
        if from_ps > length_ps || to_ps <= 0 {
            return Err(ExportError::BesideProfile { length: text(length_ps) });
        }
        let at = |ps: i64| first_ps.saturating_add(ps);
        Ok(Some(Interval::new(at(from_ps), at(to_ps))))
    }

    fn cut_rank(
        &self,
        profile: &Profile,
        rank: &RankFile,
        span: Option<Interval>,
        dir: &Path,
        cancel: Cancel<'_>,
    ) -> Result<RankFile, ExportError> {
        let damaged = |source| ExportError::Segment { place: profile.place_of(rank), source };
        let segment = open(profile, rank)?;
        // The same moment of the job on every rank.
        let span = span.map(|span| rank.view(&segment).local_span(span));
        let cut = SegmentCut { span, tracks: self.kept_tracks(profile, rank, &segment, cancel)? };
        let path = dir.join(&rank.file);
        let built = write_segment_while(&path, of_cut(), Taking::Beside, cancel, |sink, _| {
            query::copy::copy(&segment, &cut, sink, cancel)
        });
        let built = built.map_err(|error| match error {
            WriteError::Read(source) | WriteError::Engine(source) => damaged(source),
            WriteError::Io(source) => ExportError::Write(source),
        })?;
        let written = SegmentFile::open_file(&path).map_err(|error| failed(profile.place_of(rank), error))?;
        let active = active_span(&written, cancel).ok().flatten();
        let (kept, all) = (built.events, rank.events);
        let note =
            format!("only a part of this rank is here: {kept} of {all} events; other warnings are about all");
        Ok(RankFile {
            size_bytes: built.bytes,
            content: built.content,
            events: built.events,
            start_ps: built.start_ps,
            end_ps: built.end_ps,
            active_ps: active.map(|span| (span.start.0, span.end.0)),
            left_out: [&rank.left_out[..], &[note]].concat(),
            ..rank.clone()
        })
    }

    /// For each track whether it is in the part; `None` if all are.
    fn kept_tracks(
        &self,
        profile: &Profile,
        rank: &RankFile,
        segment: &SegmentFile,
        cancel: Cancel<'_>,
    ) -> Result<Option<Vec<bool>>, ExportError> {
        if self.tracks.is_empty() {
            return Ok(None);
        }
        let damaged = |source| ExportError::Segment { place: profile.place_of(rank), source };
        let tracks = ExportTracks::of(segment).map_err(damaged)?;
        let matches = |id| self.matches(&tracks.path(id).join("/"), cancel);
        let matching = tracks.ids().map(matches).collect::<Result<Vec<bool>, _>>()?;
        let is_kept = |id| tracks.upward(id).any(|above| matching.get(above.0 as usize) == Some(&true));
        Ok(Some(tracks.ids().map(is_kept).collect()))
    }

    /// Whether a pattern matches this path of a track or a group.
    fn matches(&self, path: &str, cancel: Cancel<'_>) -> Result<bool, ExportError> {
        for pattern in &self.tracks {
            // A long name takes a long time.
            cancel.check().map_err(ExportError::Cancelled)?;
            if pattern.matches(path) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The means for copying a part: rows come in order already, so sorting needs little memory.
fn of_cut() -> BuildOptions {
    const SHARE: usize = 4;
    let whole = BuildOptions::default();
    BuildOptions {
        sort_bytes: whole.sort_bytes / SHARE,
        dictionary_bytes: whole.dictionary_bytes,
        group_bytes: whole.group_bytes / SHARE,
        reader_bytes: whole.reader_bytes / SHARE,
    }
}

/// The tracks of these ranks with their groups, as text for messages.
fn known_tracks(profile: &Profile, ranks: &[RankFile], cancel: Cancel<'_>) -> Result<String, ExportError> {
    /// Longest list that a reader would read.
    const MOST: usize = 12;
    // Hashes of paths: a name of a group is in the path of each track below it.
    let (hasher, mut known, mut first) = (RandomState::new(), HashSet::new(), Vec::new());
    for rank in ranks {
        let segment = open(profile, rank)?;
        let damaged = |source| ExportError::Segment { place: profile.place_of(rank), source };
        let tracks = ExportTracks::of(&segment).map_err(damaged)?;
        let is_group = |track: &nprof_engine::segment::TrackMeta| track.spec.kind == TrackContent::Group;
        for (id, _) in tracks.ids().zip(&segment.footer().tracks).filter(|(_, track)| !is_group(track)) {
            cancel.check().map_err(ExportError::Cancelled)?;
            let path = tracks.path(id).join("/");
            if known.insert(hasher.hash_one(&path)) && first.len() < MOST {
                first.push(cut_short(path));
            }
        }
    }
    let more = known.len().saturating_sub(MOST);
    let first = first.join(", ");
    Ok(if more > 0 { format!("{first} and {more} more") } else { first })
}

/// A path for a message, without the rest of a long one.
fn cut_short(path: String) -> String {
    /// Longest path that a reader would read, in characters.
    const MOST: usize = 160;
    match path.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &path[..end]),
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_paths_are_cut_short_in_messages() {
        assert_eq!(cut_short("Engines/q0".to_owned()), "Engines/q0");
        assert_eq!(cut_short("é".repeat(160)), "é".repeat(160));
        assert_eq!(cut_short("é".repeat(161)), format!("{}…", "é".repeat(160)));
    }

    #[test]
    fn a_cancelled_match_ends_before_the_next_pattern() {
        let part = PartOf { tracks: TrackPattern::parse_all("b,a").unwrap(), ..PartOf::default() };
        assert!(part.matches("a", Cancel::NEVER).unwrap());
        let cancelled = part.matches("a", Cancel::when(&|| true));
        assert!(matches!(cancelled, Err(ExportError::Cancelled(_))), "{cancelled:?}");
    }
}
