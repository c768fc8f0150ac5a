//! The tracks of two runs of the store beside each other.

use nprof_engine::base::{Error, Interval};
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::insight::run_match::{RunProgram, paired_runs, usual_repetition};
use nprof_engine::native::{AllCores, SegmentFile, StoredFile};
use nprof_engine::wire::paired_tracks::{PairedRun, PairedTracks};

use super::comparison::{ComparedPart, ComparisonError, RankProgram, noted_spans};
use super::of_segment;
use crate::store::RankFile;

/// The repetition that stands for a run.
struct Shown {
    name: String,
    span: Interval,
}

/// Puts the tracks of one rank of each run beside each other.
pub fn paired_tracks(
    a: &ComparedPart,
    b: &ComparedPart,
    cancel: Cancel<'_>,
) -> Result<PairedTracks, ComparisonError> {
    let (file_a, file_b) = ranks(a, b)?;
    let (noted_a, noted_b) = (noted_spans(a, file_a)?, noted_spans(b, file_b)?);
    let found = of_segment(&a.profile, file_a, |segment_a| {
        let of_a = RankProgram::of(segment_a, a, file_a, &noted_a, cancel)?;
        let program_a = program(segment_a, &of_a);
        let Some(shown_a) = shown(a, &of_a, &program_a, cancel)? else { return Ok(Err(missing(a))) };
        let of_b = of_segment(&b.profile, file_b, |segment_b| {
            let of_b = RankProgram::of(segment_b, b, file_b, &noted_b, cancel)?;
            let program_b = program(segment_b, &of_b);
            let shown_b = match same_moment(a, &shown_a, b, &of_b) {
                Some(same) => Some(same),
                None => shown(b, &of_b, &program_b, cancel)?,
            };
            let Some(shown_b) = shown_b else { return Ok(Err(missing(b))) };
            let work = Work { exec: &AllCores, cancel };
            let found = paired_runs((&program_a, shown_a.span), (&program_b, shown_b.span), work)?;
            Ok(Ok((found, shown_b)))
        });
        Ok(of_b.map_err(ComparisonError::from).flatten().map(|(found, shown_b)| (found, shown_a, shown_b)))
    });
    let (found, shown_a, shown_b) = found??;
    let run = |part: &ComparedPart, file: &RankFile, of: &Shown| {
        PairedRun::new(part.side(), file.rank, &of.name, of.span)
    };
    Ok(PairedTracks::of(found, run(a, file_a, &shown_a), run(b, file_b, &shown_b)))
}

/// The ranks that stand for both runs: the first one of the first run, and the one of its number
/// in the second run, else the first one.
fn ranks<'p>(
    a: &'p ComparedPart,
    b: &'p ComparedPart,
) -> Result<(&'p RankFile, &'p RankFile), ComparisonError> {
    let none = |of: &ComparedPart| ComparisonError::NoWork(of.title.clone());
    let first = a.ranks.first().ok_or_else(|| none(a))?;
    let same = b.ranks.iter().find(|file| file.rank == first.rank);
    Ok((first, same.or_else(|| b.ranks.first()).ok_or_else(|| none(b))?))
}

fn program<'s>(segment: &'s SegmentFile, of: &'s RankProgram) -> RunProgram<'s, StoredFile> {
    match of.tracks.is_empty() {
        true => RunProgram::of_work(segment, &of.work),
        false => RunProgram::of_tracks(segment, of.tracks.clone()),
    }
}

/// The repetition that is shown. `None` without work, and without the region.
fn shown(
    part: &ComparedPart,
    of: &RankProgram,
    program: &RunProgram<'_, StoredFile>,
    cancel: Cancel<'_>,
) -> Result<Option<Shown>, Error> {
    if let Some(usual) = usual_repetition(&of.chosen) {
        return Ok(Some(Shown { name: usual.name.clone(), span: usual.span }));
    }
    if part.region.is_some() {
        return Ok(None);
    }
    let whole = program.whole(cancel)?;
    Ok(whole.map(|span| Shown { name: "the whole run".to_owned(), span }))
}

/// The repetition of another rank of the same run that has the name of a shown one: ranks did both
/// together.
fn same_moment(a: &ComparedPart, shown: &Shown, b: &ComparedPart, of_b: &RankProgram) -> Option<Shown> {
    let are_one_run = a.profile.manifest.id == b.profile.manifest.id && a.region == b.region;
    let mut same = of_b.chosen.iter().filter(|one| are_one_run && one.name == shown.name);
    let only = same.next().filter(|_| same.next().is_none())?;
    Some(Shown { name: only.name.clone(), span: only.span })
}

fn missing(of: &ComparedPart) -> ComparisonError {
    if of.region.is_some() { of.without_region() } else { ComparisonError::NoWork(of.title.clone()) }
}
