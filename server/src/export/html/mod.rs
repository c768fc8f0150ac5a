//! A profile as one HTML file: the page, a worker that answers its questions, and the segments. Or
//! as a folder for a static web host, with programs and segments as files next to the HTML file.
//!
//! All content except our own markup is base64 or [`septets`], so no name of a trace is ever read
//! as markup. The same profile gives the same bytes.

mod page;
mod pair;
mod run_answers;
mod septets;
pub mod site;

use std::io::{self, Read, Write};
use std::ops::ControlFlow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::model::Warning;
use nprof_engine::native::{SegmentFile, open_regular};
use nprof_engine::query::{self, VerifyFinding};
use nprof_engine::wire::answer;
use nprof_engine::wire::bundle::{Bundle, BundledRank};
use nprof_engine::wire::catalog::{RankEntry, WarningEntry};
use nprof_engine::wire::notes::Notes;
use nprof_engine::wire::refusal::Refusal;

use self::page::PageFiles;
use self::run_answers::{AskedAnswers, RunAnswers};

use super::ranks::{Comparing, open};
use super::{ExportChoices, ExportError, PreparedExport, RanksOf};
use crate::analysis::job_segment::{self, JobSegment};
use crate::markup::escaped;
use crate::store::{Manifest, Profile, SegmentPlace};
use crate::summary::summary_of;
use crate::warnings;

/// Bytes of a segment in one element of the page; a multiple of three. Browsers limit the length of
/// a text, and the page shows how many elements it has unpacked.
const PART_BYTES: u64 = 12 << 20;
/// End of the element, after the base64 text.
const PART_END: &str = "</script>\n";
/// Compression level of data that is packed for each export. The data is small.
const ZSTD_LEVEL: i32 = 19;

/// Prepares an HTML file. Reads all segments to report damage and compute metrics.
///
/// # Errors
/// If the page is not in this binary, a segment cannot be opened, or the file would be too large.
pub fn prepare<'a>(
    of: RanksOf<'a>,
    choices: &'a ExportChoices,
    work: Work<'_>,
) -> Result<PreparedExport<'a>, ExportError> {
    let html = Html::of(of, choices, work)?;
    choices.max_bytes.map_or(Ok(()), |max_bytes| html.check_size(max_bytes))?;
    let size_bytes = html.size_bytes();
    Ok(PreparedExport::new(move |out| html.write(out)).with_size(size_bytes))
}

/// A profile as an HTML file that has not been written yet.
#[derive(Debug)]
pub struct Html {
    /// All bytes before the segments.
    before: Vec<u8>,
    segments: Vec<SegmentText>,
    /// All bytes after the segments.
    after: Vec<u8>,
}

/// The segment of a rank as text.
#[derive(Debug)]
struct SegmentText {
    size_bytes: u64,
    place: SegmentPlace,
    /// Position of its profile in the page.
    profile: u8,
}

impl Html {
    /// Prepares these ranks of a profile. Reads all segments to report damage and compute metrics.
    ///
    /// # Errors
    /// If the page is not in this binary, or a segment cannot be opened.
    pub fn of(of: RanksOf<'_>, choices: &ExportChoices, work: Work<'_>) -> Result<Self, ExportError> {
        of.check()?;
        let page = PageFiles::of_binary()?;
        let job = job_of(of, work.cancel)?;
        let embedded = EmbeddedRanks { of, job: job.as_ref(), has_graph: choices.has_graph };
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let head = PageHead { policy: "", view: choices.view.as_deref() };
        write_before(&page, head, embedded, work, &mut before)?;
        let mut programs = Vec::new();
        for (id, bytes) in page.programs() {
            write_dense(id, bytes, &mut programs)?;
        }
        page.write_start(&programs, &mut after)?;
        let segments =
            embedded.segments().map(|(place, _)| SegmentText::of(place)).collect::<Result<_, _>>()?;
        Ok(Self { before, segments, after })
    }

    /// Size of the file in bytes.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        let segments: u64 = self.segments.iter().map(SegmentText::text_bytes).sum();
        (self.before.len() + self.after.len()) as u64 + segments
    }

    /// Refuses a file of more than `max_bytes`.
    ///
    /// # Errors
    /// `TooLarge` if the file is larger.
    pub fn check_size(&self, max_bytes: u64) -> Result<(), ExportError> {
        let size_bytes = self.size_bytes();
        if size_bytes > max_bytes { Err(ExportError::TooLarge { size_bytes, max_bytes }) } else { Ok(()) }
    }

    /// Writes the file.
    pub fn write(&self, out: &mut dyn Write) -> Result<(), ExportError> {
        out.write_all(&self.before)?;
        for segment in &self.segments {
            segment.write(out)?;
        }
        out.write_all(&self.after)?;
        Ok(())
    }
}

impl SegmentText {
    fn of(place: SegmentPlace) -> Result<Self, ExportError> {
        let failed = |source| ExportError::Open { place: place.clone(), source };
        let size_bytes = open_regular(place.path()).and_then(|file| file.metadata()).map_err(failed)?.len();
        Ok(Self { size_bytes, place, profile: 0 })
    }

    /// The same segment in a further profile of the page.
    fn in_profile(self, profile: u8) -> Self {
        Self { profile, ..self }
    }

    /// The opening tag before the base64 text of each part.
    fn tag(&self) -> String {
        let (rank, size_bytes) = (self.place.rank(), self.size_bytes);
        // The name of a rank in addresses of the page.
        let rank = if self.profile == 0 { rank.to_string() } else { format!("{rank}.{}", self.profile) };
        format!(
            "<script type=\"application/octet-stream\" data-segment=\"{rank}\" data-size=\"{size_bytes}\">"
        )
    }

    fn text_bytes(&self) -> u64 {
        let parts = self.size_bytes.div_ceil(PART_BYTES);
        parts * (self.tag().len() + PART_END.len()) as u64 + self.size_bytes.div_ceil(3) * 4
    }

    fn write(&self, out: &mut dyn Write) -> Result<(), ExportError> {
        let failed = |source| ExportError::Open { place: self.place.clone(), source };
        let mut file = open_regular(self.place.path()).map_err(failed)?;
        let (mut part, mut text) = (Vec::new(), String::new());
        let mut left = self.size_bytes;
        while left > 0 {
            part.clear();
            (&mut file).take(left.min(PART_BYTES)).read_to_end(&mut part).map_err(failed)?;
            if part.is_empty() {
                return Err(failed(io::ErrorKind::UnexpectedEof.into()));
            }
            left -= part.len() as u64;
            text.clear();
            STANDARD.encode_string(&part, &mut text);
            write!(out, "{}{text}{PART_END}", self.tag())?;
        }
        Ok(())
    }
}

/// The view of all ranks together. If ranks or tracks are left out, or if the ranks cannot be
/// compared, the export has no job segment.
fn job_of(of: RanksOf<'_>, cancel: Cancel<'_>) -> Result<Option<JobSegment>, ExportError> {
    let RanksOf { profile, ranks, is_part, .. } = of;
    let is_whole = !is_part && job_segment::is_for(profile);
    if is_part && ranks.len() > 1 {
        tracing::warn!("the export has no view of all ranks together, because ranks or tracks are left out");
    }
    let job = is_whole.then(|| match of.comparing {
        Comparing::Here => match job_segment::of_profile(profile, cancel) {
            Ok(job) => Some(job),
            // A cancelled export says that it is cancelled, and nothing else.
            Err(_) if cancel.is_cancelled() => None,
            Err(error) => {
                tracing::warn!("the export has no view of all ranks: {error}");
                None
            }
        },
        Comparing::Apart => {
            let kept = job_segment::kept(&job_segment::path_of(profile));
            if kept.is_none() {
                tracing::warn!("the export has no view of all ranks: they are not compared");
            }
            kept
        }
    });
    cancel.check().map_err(ExportError::Cancelled)?;
    // In a store that may only be read the file is elsewhere, and already gone.
    Ok(job.flatten().filter(|job| job.entry.events > 0 && job.path.exists()))
}

/// The content that an export embeds in the page.
#[derive(Debug, Clone, Copy)]
pub struct EmbeddedRanks<'a> {
    /// The ranks.
    pub of: RanksOf<'a>,
    /// The view of all of them.
    pub job: Option<&'a JobSegment>,
    /// Whether the dependency graph of the run is embedded, too.
    pub has_graph: bool,
}

impl<'a> From<RanksOf<'a>> for EmbeddedRanks<'a> {
    fn from(of: RanksOf<'a>) -> Self {
        Self { of, job: None, has_graph: false }
    }
}

impl<'a> EmbeddedRanks<'a> {
    /// The place and the content of each segment, in the order of the page's ranks.
    fn segments(self) -> impl Iterator<Item = (SegmentPlace, &'a str)> {
        let profile = self.of.profile;
        let job = self.job.map(|job| (profile.place_of_all(job.path.clone()), job.segment.content()));
        let ranks = self.of.ranks.iter();
        job.into_iter().chain(ranks.map(|rank| (profile.place_of(rank), rank.content.as_str())))
    }
}

/// The data about these ranks that the page needs in addition to their segments.
pub fn bundle(embedded: EmbeddedRanks<'_>, work: Work<'_>) -> Result<Bundle, ExportError> {
    let EmbeddedRanks { of, job, has_graph } = embedded;
    let RanksOf { profile, ranks, .. } = of;
    let manifest = Manifest { ranks: ranks.to_vec(), ..Manifest::clone(&profile.manifest) };
    let mut info = manifest.profile_info();
    let kept = |of| job_segment::is_for(of).then(|| job_segment::kept(&job_segment::path_of(of))).flatten();
    let own = kept(profile);
    let is_part = manifest.ranks != of.whole.manifest.ranks;
    let of_whole = if is_part { kept(of.whole) } else { None };
    // A part without a job segment of its own keeps the clocks of the whole job.
    if let Some(kept) = own.as_ref().or(of_whole.as_ref()) {
        kept.add_clocks(&mut info);
    }
    if is_part {
        info.whole = whole(&info.ranks, of.whole, of_whole.as_ref());
    }
    info.ranks.splice(0..0, job.map(|job| job.entry.clone()));
    let of_job = job.map(|job| bundled(&profile.place_of_all(job.path.clone()), &job.segment, &[], work));
    let of_ranks = manifest
        .ranks
        .iter()
        .map(|rank| bundled(&profile.place_of(rank), &open(profile, rank)?, &warnings::later(rank), work));
    let ranks = of_job.into_iter().chain(of_ranks).collect::<Result<_, ExportError>>()?;
    // Damaged notes are no reason to lose the rest.
    let notes = of.whole.notes().unwrap_or_else(|error| {
        tracing::warn!("{error}");
        Notes::default()
    });
    let asked = AskedAnswers { has_job: own.is_some(), has_graph };
    let RunAnswers { findings, path, waits, balance, graph } = RunAnswers::of(of, asked, work.cancel)?;
    Ok(Bundle {
        profile: info,
        names: manifest.names.clone(),
        notes,
        findings,
        path,
        waits,
        balance,
        graph,
        comparisons: Vec::new(),
        paired: Vec::new(),
        ranks,
    })
}

/// The data of a rank beside its segment. `later` are warnings that arose after it was written.
fn bundled(
    place: &SegmentPlace,
    segment: &SegmentFile,
    later: &[Warning],
    work: Work<'_>,
) -> Result<BundledRank, ExportError> {
    let damage = damage(segment, work.cancel);
    for WarningEntry { what, first_place, .. } in &damage {
        tracing::warn!("{place} is damaged: {what} ({first_place})");
    }
    let warnings = later.iter().map(WarningEntry::from).chain(damage).collect();
    // A damaged rank must not fail the export: the file has other ranks, and more than metrics.
    let summary = summary_of(place, segment, work).map_err(Refusal::from);
    let regions = answer::regions(segment, work).map_err(Refusal::from);
    work.cancel.check().map_err(ExportError::Cancelled)?;
    Ok(BundledRank { warnings, summary, regions })
}

/// The ranks of the whole profile. A rank that is `here`, in a part of it, has the same clock in
/// both lists.
fn whole(here: &[RankEntry], whole: &Profile, kept: Option<&JobSegment>) -> Vec<RankEntry> {
    let mut info = whole.manifest.profile_info();
    if let Some(kept) = kept {
        kept.add_clocks(&mut info);
    }
    for rank in &mut info.ranks {
        if let Some(here) = here.iter().find(|here| here.rank == rank.rank) {
            rank.found = here.found;
        }
    }
    info.ranks
}

/// A warning for each unreadable part of a segment. The file contains the segment unchanged.
fn damage(segment: &SegmentFile, cancel: Cancel<'_>) -> Vec<WarningEntry> {
    let mut found = Vec::new();
    let flow = query::verify::check(segment, &mut |finding| {
        if let VerifyFinding::Damaged { part, offset, error } = finding {
            found.push(WarningEntry {
                title: "Damaged segment".to_owned(),
                what: format!("{}: {error}", query::part::name(segment, part)),
                first_place: format!("byte {offset} of the segment"),
                count: 1,
            });
        }
        if cancel.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    debug_assert!(flow.is_continue() || cancel.is_cancelled(), "only a cancellation breaks");
    found
}

fn message(bundle: &Bundle) -> Result<Vec<u8>, ExportError> {
    postcard::to_allocvec(bundle).map_err(|error| ExportError::Write(io::Error::other(error)))
}

fn packed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    zstd::bulk::compress(bytes, ZSTD_LEVEL)
}

/// Additions of an export's form to the page.
#[derive(Debug, Clone, Copy, Default)]
struct PageHead<'a> {
    /// Added to the page's Content-Security-Policy.
    policy: &'a str,
    /// Path and query of the view that the page opens at if its address names none.
    view: Option<&'a str>,
}

/// Writes all before the segments.
fn write_before(
    page: &PageFiles,
    head: PageHead<'_>,
    embedded: EmbeddedRanks<'_>,
    work: Work<'_>,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let (bundle, manifest) = (bundle(embedded, work)?, &embedded.of.profile.manifest);
    page.write_head(manifest.shown_name(), head.policy, out)?;
    write_bundle(0, &bundle, manifest.slug(), &view_attribute(head.view), out)?;
    Ok(page.write_worker(out)?)
}

/// The attribute of the view that the page opens at; it begins with a space.
fn view_attribute(view: Option<&str>) -> String {
    view.map_or_else(String::new, |view| format!(" data-view=\"{}\"", escaped(view)))
}

/// Writes the bundle of the profile at a position of the page. `attributes` begins with a space.
fn write_bundle(
    profile: u8,
    bundle: &Bundle,
    slug: &str,
    attributes: &str,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let id = if profile == 0 { "nprof-bundle".to_owned() } else { format!("nprof-bundle-{profile}") };
    let attributes = format!(" data-slug=\"{}\"{attributes}", escaped(slug));
    Ok(write_packed(&id, &attributes, &packed(&message(bundle)?)?, out)?)
}

/// Writes an element that holds bytes as base64. `attributes` begins with a space.
fn write_packed(id: &str, attributes: &str, bytes: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let text = STANDARD.encode(bytes);
    writeln!(out, "<script type=\"application/octet-stream\" id=\"{id}\"{attributes}>{text}</script>")
}

/// Writes an element that holds bytes as [`septets`], for `frontend/boot/unpack.js`.
fn write_dense(id: &str, bytes: &[u8], out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "<script type=\"application/octet-stream\" id=\"{id}\">{}</script>",
        septets::text_of(bytes)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A warning about what the export lacks would be about a file that nobody gets.
    #[test]
    fn a_cancelled_export_is_no_export_without_a_view_of_all_ranks() {
        let rank = |rank: u32| {
            serde_json::json!({
                "rank": rank, "id": "n", "file": "rank.nseg", "size_bytes": 1, "content": "c",
                "inputs": ["a.json"], "events": 1, "start_ps": 0, "end_ps": 1,
            })
        };
        let manifest: Manifest = serde_json::from_value(serde_json::json!({
            "format": 1, "id": "n_1", "created": "2026-11-25T00:00:00Z", "written_by": "0.1.0",
            "source": "trace_event", "ranks": [rank(0), rank(1)],
        }))
        .unwrap();
        let dir = tempfile::tempdir().unwrap();
        let profile = Profile { manifest: manifest.into(), dir: dir.path().to_owned() };
        let of = |cancel| job_of(RanksOf::all(&profile), cancel);
        assert!(of(Cancel::NEVER).unwrap().is_none());
        assert!(matches!(of(Cancel::when(&|| true)), Err(ExportError::Cancelled(_))));
    }
}
