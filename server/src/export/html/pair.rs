//! Two runs in one HTML file, which opens with their comparison: two profiles, or two parts of one.

use nprof_engine::exec::{Cancel, Work};
use nprof_engine::insight::difference::WorkKey;
use nprof_engine::wire::bundle::{BundledComparison, BundledTracks};
use nprof_engine::wire::comparison::RunChoice;
use nprof_engine::wire::percent::percent_encoded;

use super::page::PageFiles;
use super::{
    EmbeddedRanks, Html, PageHead, SegmentText, bundle, job_of, view_attribute, write_bundle, write_dense,
};
use crate::analysis::comparison::{ComparedPart, compare};
use crate::analysis::paired_tracks::paired_tracks;
use crate::export::{ExportError, RanksOf};
use crate::store::Profile;

impl Html {
    /// Prepares two runs beside each other, with their differences in both directions by all keys.
    /// All ranks of their profiles are there. The runs must not be equal.
    pub fn of_pair(pair: [&ComparedPart; 2], work: Work<'_>) -> Result<Self, ExportError> {
        let page = PageFiles::of_binary()?;
        let profiles: Vec<&Profile> = match pair.map(|part| &part.profile) {
            [a, b] if a.manifest.id == b.manifest.id => vec![a],
            both => both.to_vec(),
        };
        let (mut before, mut after, mut segments) = (Vec::new(), Vec::new(), Vec::new());
        let titles: Vec<&str> = profiles.iter().map(|profile| profile.manifest.shown_name()).collect();
        page.write_head(&titles.join(" and "), PageHead::default().policy, &mut before)?;
        let view = view_attribute(Some(&compare_view(pair)));
        for (at, profile) in (0_u8..).zip(&profiles) {
            let of = RanksOf::all(profile);
            of.check()?;
            let job = job_of(of, work.cancel)?;
            let embedded = EmbeddedRanks { of, job: job.as_ref(), has_graph: false };
            let mut bundle = bundle(embedded, work)?;
            let [a, b] = pair;
            for pair in [[a, b], [b, a]] {
                if pair[0].profile.manifest.id == profile.manifest.id {
                    bundle.comparisons.extend(comparisons(pair, work.cancel));
                    bundle.paired.push(tracks(pair, work.cancel));
                }
            }
            work.cancel.check().map_err(ExportError::Cancelled)?;
            let attributes = if at == 0 { view.as_str() } else { "" };
            write_bundle(at, &bundle, profile.manifest.slug(), attributes, &mut before)?;
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

/// The differences of two runs by all keys.
fn comparisons([a, b]: [&ComparedPart; 2], cancel: Cancel<'_>) -> impl Iterator<Item = BundledComparison> {
    WorkKey::WORDS.iter().map(move |(_, key)| BundledComparison {
        runs: [choice(a), choice(b)],
        by: key.name().to_owned(),
        found: compare(a, b, *key, cancel).map_err(|error| error.refusal()),
    })
}

/// The tracks of two runs beside each other.
fn tracks([a, b]: [&ComparedPart; 2], cancel: Cancel<'_>) -> BundledTracks {
    let found = paired_tracks(a, b, cancel).map_err(|error| error.refusal());
    BundledTracks { runs: [choice(a), choice(b)], found }
}

/// The part of a profile as the page asks for it.
fn choice(of: &ComparedPart) -> RunChoice {
    RunChoice::new(of.profile.manifest.slug(), &ranks_of(of), &of.region)
}

/// The numbers of the ranks of a run. `None` for all of its profile.
fn ranks_of(of: &ComparedPart) -> Option<Vec<u32>> {
    let has_all = of.ranks.len() == of.profile.manifest.ranks.len();
    (!has_all).then(|| of.ranks.iter().map(|file| file.rank).collect())
}

/// The address of the comparison of two runs, as the page writes it.
fn compare_view(pair: [&ComparedPart; 2]) -> String {
    let [a, b] = pair.map(|part| percent_encoded(part.profile.manifest.slug()));
    let path = if a == b { format!("/profile/{a}") } else { format!("/compare/{a}/{b}") };
    let ranks = |of: &ComparedPart| {
        let numbers = ranks_of(of)?.iter().map(u32::to_string).collect::<Vec<_>>();
        Some(numbers.join(","))
    };
    let [of_a, of_b] = pair;
    // The second run has the region of the first one, if it has none of its own.
    let parameters = [
        ("of_ranks", ranks(of_a)),
        ("with_ranks", ranks(of_b)),
        ("with_region", of_b.region.as_deref().map(percent_encoded)),
        ("region", of_a.region.as_deref().map(percent_encoded)),
    ];
    let known = parameters.into_iter().filter_map(|(name, value)| Some(format!("&{name}={}", value?)));
    format!("{path}/compare?v=2{}", known.collect::<String>())
}
