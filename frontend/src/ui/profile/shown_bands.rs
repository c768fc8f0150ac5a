//! The bands over the tracks: the steps of the current rank, spans that users named, and the places
//! of the findings.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::base::time::short_duration;
use nprof_engine::wire::page_link::window_around;
use nprof_engine::wire::regions::{RegionEntry, RegionKindEntry, RegionList};

use super::open_profile::{Opened, ShownFinding};
use crate::ui::timeline::Bands;
use crate::view::Command;
use crate::view::band::{BandSpan, BandTarget, MOST_IN_SIGHT, RegionBand, lanes};
use crate::view::finding_box::FindingBox;

/// Lanes of regions that users named.
const NAMED_LANES: usize = 2;
/// Lanes of findings.
const FINDING_LANES: usize = 2;
/// Findings that a lane shows at once. The others have a box and a row of the list.
const MOST_FINDINGS: usize = 32;

/// The bands of the page.
#[must_use]
pub fn shown_bands(opened: Opened) -> Bands {
    let shown = Memo::new(move |_| {
        let mut bands = Vec::new();
        if let Some(Ok(list)) = opened.regions.found.get() {
            bands.extend(of_kinds(&list));
        }
        let named = opened.regions.named.get();
        let spans = named
            .into_iter()
            .map(|of| BandSpan { target: BandTarget::Named, ..region(of.name, of.span, false) });
        let spans = spans.collect();
        bands.extend(in_lanes("Named", spans, NAMED_LANES, MOST_IN_SIGHT));
        bands.extend(in_lanes("Findings", findings(opened), FINDING_LANES, MOST_FINDINGS));
        bands
    });
    let on_open = Callback::new(move |of: BandSpan| match of.target {
        BandTarget::Span { .. } => opened.act(&Command::Show(window_around(of.span))),
        BandTarget::Named => opened.show_region(of.span),
        BandTarget::Finding(at) => {
            let finding = opened.findings.shown.with_untracked(|shown| shown.get(at).cloned());
            finding.into_iter().for_each(|finding| opened.reveal_finding(&finding));
        }
    });
    let boxes = Memo::new(move |_| boxes(opened));
    Bands { shown, boxes, on_open }
}

/// A band for steps, else for layers, and one for phases.
fn of_kinds(list: &RegionList) -> Vec<RegionBand> {
    let kinds = [
        ("Steps", RegionKindEntry::Iteration),
        ("Layers", RegionKindEntry::Layer),
        ("Phases", RegionKindEntry::Phase),
    ];
    let of = |(title, kind)| {
        let spans = list.regions.iter().filter(|region| region.kind == kind).map(of_region).collect();
        in_lanes(title, spans, 1, MOST_IN_SIGHT)
    };
    kinds.into_iter().flat_map(of).collect()
}

/// A band for each of `count` lanes, which shows `most` spans at once. The first one has the title.
fn in_lanes(title: &'static str, spans: Vec<BandSpan>, count: usize, most: usize) -> Vec<RegionBand> {
    let bands = lanes(spans, count).into_iter().enumerate();
    bands.map(|(at, spans)| RegionBand { title: if at == 0 { title } else { "" }, spans, most }).collect()
}

fn of_region(of: &RegionEntry) -> BandSpan {
    let is_outlier = of.step.as_ref().is_some_and(|step| step.is_outlier);
    region(of.name.clone(), Interval::new(of.start_ps, of.end_ps), is_outlier)
}

fn region(label: String, span: Interval, is_outlier: bool) -> BandSpan {
    let title = format!("{label}, {}", short_duration(span.duration_ps() as f64));
    BandSpan { span, label, title, target: BandTarget::Span { is_outlier } }
}

/// The places of findings with a span.
fn findings(opened: Opened) -> Vec<BandSpan> {
    let shown = opened.findings.shown.get();
    let spans = shown.iter().enumerate().flat_map(|(at, finding)| {
        let saved = saved(finding).map(|saved| format!("{saved} ")).unwrap_or_default();
        marks(at, finding, &format!("{saved}{}", finding.entry.rule))
    });
    spans.collect()
}

/// The boxes of findings with a span and a rank.
fn boxes(opened: Opened) -> Vec<FindingBox> {
    let profile = opened.findings.times.with(|times| times.profile);
    let followed = opened.findings.followed.get();
    let shown = opened.findings.shown.get();
    let of_finding = |(at, finding): (usize, &ShownFinding)| -> Vec<FindingBox> {
        let Some(place) = &finding.place else { return Vec::new() };
        let ranks = FindingBox::ranks_of(place, profile);
        let label = saved(finding).map_or_else(|| finding.entry.rule.clone(), |saved| format!("−{saved}"));
        let is_followed = followed == Some(finding.at);
        let boxes = marks(at, finding, &label).into_iter().map(|mark| FindingBox {
            mark: Arc::new(mark),
            ranks: ranks.clone(),
            track: finding.entry.track.clone(),
            is_followed,
        });
        boxes.collect()
    };
    let boxes = shown.iter().enumerate().flat_map(of_finding);
    boxes.filter(|of| !of.ranks.is_empty()).collect()
}

/// The spans of a finding. One that is alone has the label; several have their own lengths, because
/// none of them costs all of it. Empty if the finding has no span.
fn marks(at: usize, finding: &ShownFinding, label: &str) -> Vec<BandSpan> {
    let Some(place) = &finding.place else { return Vec::new() };
    let spans: Vec<Interval> = place.spans().collect();
    let title = finding.title();
    let label = |span: Interval| match spans.len() {
        1 => label.to_owned(),
        _ => format!("{} {}", finding.entry.rule, short_duration(span.duration_ps() as f64)),
    };
    let mark = |&span: &Interval| BandSpan {
        span,
        label: label(span),
        title: title.clone(),
        target: BandTarget::Finding(at),
    };
    spans.iter().map(mark).collect()
}

/// The time that the run would save, if there is any.
fn saved(finding: &ShownFinding) -> Option<String> {
    finding.entry.saved_ps().filter(|ps| *ps > 0).map(|ps| short_duration(ps as f64))
}
