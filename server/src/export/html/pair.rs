//! Two profiles in one HTML file, which opens with their comparison.

use nprof_engine::exec::{Cancel, Work};
use nprof_engine::insight::difference::WorkKey;
use nprof_engine::wire::bundle::{BundledComparison, BundledTracks};

use super::page::PageFiles;
use super::{EmbeddedRanks, Html, PageHead, SegmentText, bundle, job_of, write_bundle, write_dense};
use crate::analysis::comparison::{ComparedPart, compare, paired};
use crate::analysis::paired_tracks::paired_tracks;
use crate::export::{ExportError, RanksOf};
use crate::store::Profile;

impl Html {
    /// Prepares two profiles beside each other, with their differences in both directions by all
    /// keys. The profiles must be two.
    pub fn of_pair(pair: [&Profile; 2], work: Work<'_>) -> Result<Self, ExportError> {
        let page = PageFiles::of_binary()?;
        let ranks = pair.map(RanksOf::all);
        let jobs = [job_of(ranks[0], work.cancel)?, job_of(ranks[1], work.cancel)?];
        let (mut before, mut after, mut segments) = (Vec::new(), Vec::new(), Vec::new());
        let title = format!("{} and {}", pair[0].manifest.shown_name(), pair[1].manifest.shown_name());
        page.write_head(&title, PageHead::default().policy, &mut before)?;
        for (at, (of, job)) in (0_u8..).zip(ranks.into_iter().zip(&jobs)) {
            of.check()?;
            let embedded = EmbeddedRanks { of, job: job.as_ref(), has_graph: false };
            let mut bundle = bundle(embedded, work)?;
            let other = pair[1 - usize::from(at)];
            (bundle.comparisons, bundle.paired) = comparisons(of.profile, other, work.cancel);
            work.cancel.check().map_err(ExportError::Cancelled)?;
            write_bundle(at, &bundle, of.profile.manifest.slug(), "", &mut before)?;
            for (place, _) in embedded.segments() {
                segments.push(SegmentText::of(place)?.in_profile(at));
            }
        }
        page.write_worker(&mut before)?;
        let mut programs = Vec::new();
        for (id, bytes) in page.programs() {
            write_dense(id, bytes, &mut programs)?;
        }
        page.write_start(&programs, &mut after)?;
        Ok(Self { before, segments, after })
    }
}

/// The differences of two runs by all keys, and their tracks beside each other.
fn comparisons(a: &Profile, b: &Profile, cancel: Cancel<'_>) -> (Vec<BundledComparison>, Vec<BundledTracks>) {
    let part = |profile: &Profile| ComparedPart::new(profile.clone(), profile.manifest.ranks.clone(), None);
    let [part_a, part_b] = paired([part(a), part(b)]);
    let of = |key: WorkKey| BundledComparison {
        with: b.manifest.slug().to_owned(),
        by: key.name().to_owned(),
        found: compare(&part_a, &part_b, key, cancel).map_err(|error| error.refusal()),
    };
    let tracks = BundledTracks {
        with: b.manifest.slug().to_owned(),
        found: paired_tracks(&part_a, &part_b, cancel).map_err(|error| error.refusal()),
    };
    (WorkKey::WORDS.iter().map(|(_, key)| of(*key)).collect(), vec![tracks])
}
