//! The exported part of a profile: some tracks, some time. The part is written as separate
//! segments, so the formats need no code for it.

use std::collections::HashSet;
use std::path::Path;

use glob::{MatchOptions, Pattern};
use nprof_engine::base::Interval;
use nprof_engine::exec::Cancel;
use nprof_engine::ingest::BuildOptions;
use nprof_engine::model::TrackKind;
use nprof_engine::native::{SegmentFile, Taking, WriteError, write_segment_while};
use nprof_engine::query::{self, Cut, active_span};

use super::ranks::{failed, open};
use super::tracks::Tracks;
use super::{Comparing, ExportError, RanksOf};
use crate::store::{self, Manifest, Profile, RankFile, Staging};
use crate::units::time_text;

/// Events of a part whose ranks are compared in this process, whatever process that is.
const MAX_COMPARED: u64 = 2_000_000;

/// The exported part of a profile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartOf {
    /// First timestamp, in picoseconds of shared time since the start of the profile.
    pub from_ps: Option<i64>,
    /// Last timestamp, in picoseconds of shared time since the start of the profile.
    pub to_ps: Option<i64>,
    /// Patterns of tracks. `*` stands for any text. A pattern that matches a group includes the
    /// tracks below the group.
    pub tracks: Vec<Pattern>,
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
            cut.push(self.cut_rank((profile, rank), span, &dir, cancel)?);
        }
        if cut.iter().all(|rank| rank.events == 0) {
            return Err(ExportError::NothingLeft { known: known_tracks(profile, ranks)? });
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
        (profile, rank): (&Profile, &RankFile),
        span: Option<Interval>,
        dir: &Path,
        cancel: Cancel<'_>,
    ) -> Result<RankFile, ExportError> {
        let damaged = |source| ExportError::Segment { place: profile.place_of(rank), source };
        let segment = open(profile, rank)?;
        // The same moment of the job on every rank.
        let span = span.map(|span| rank.view(&segment).local_span(span));
        let cut = Cut { span, tracks: self.kept_tracks(&segment).map_err(damaged)? };
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

    fn kept_tracks(&self, segment: &SegmentFile) -> nprof_engine::base::Result<Option<Vec<bool>>> {
        if self.tracks.is_empty() {
            return Ok(None);
        }
        let tracks = Tracks::of(segment)?;
        let is_kept = |id| {
            let path = tracks.path(id);
            (1..=path.len()).any(|len| self.takes(&path[..len].join("/")))
        };
        Ok(Some(tracks.ids().map(is_kept).collect()))
    }

    fn takes(&self, path: &str) -> bool {
        let options = MatchOptions { case_sensitive: false, ..MatchOptions::default() };
        self.tracks.iter().any(|pattern| pattern.matches_with(path, options))
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
fn known_tracks(profile: &Profile, ranks: &[RankFile]) -> Result<String, ExportError> {
    /// Longest list that a reader would read.
    const MOST: usize = 12;
    let (mut known, mut first) = (HashSet::new(), Vec::new());
    for rank in ranks {
        let segment = open(profile, rank)?;
        let damaged = |source| ExportError::Segment { place: profile.place_of(rank), source };
        let tracks = Tracks::of(&segment).map_err(damaged)?;
        let is_group = |track: &nprof_engine::segment::TrackMeta| track.spec.kind == TrackKind::Group;
        for (id, _) in tracks.ids().zip(&segment.footer().tracks).filter(|(_, track)| !is_group(track)) {
            let path = tracks.path(id).join("/");
            if known.insert(path.clone()) && first.len() < MOST {
                first.push(path);
            }
        }
    }
    let more = known.len().saturating_sub(MOST);
    let first = first.join(", ");
    Ok(if more > 0 { format!("{first} and {more} more") } else { first })
}
