//! The first screen of `nprof summary`: what a profile is, how long its run takes, where the time
//! goes, what is wrong, and which part was recorded.

use nprof_engine::analysis::Analysed;
use nprof_engine::base::Time;
use nprof_engine::base::time::short_duration;
use nprof_engine::insight::JobGraph;
use nprof_engine::insight::finding::sentence::{self, FoundCost, answer, between};
use nprof_engine::insight::finding::{Coverage, Finding, Judgement, RuleVerdict};
use nprof_engine::insight::path_sight::name_of_part;
use nprof_engine::insight::walk::{CriticalPath, PathPart};
use nprof_engine::makers::{aiu, neuron};
use nprof_engine::model::{MachineSide, WorkQueue};
use nprof_engine::wire::summary::Summary;
use unicode_width::UnicodeWidthStr as _;

use super::critical_path::track_of;
use super::size;
use crate::print::fit::{cut, fitted};
use crate::print::metric::{self, WholeTime};
use crate::print::text::{LINE_WIDTH, share, wrapped};
use crate::store::{Manifest, Profile, RankFile};
use crate::units::time_text;

/// Lines of a screen.
const MOST_LINES: usize = 40;
/// Findings on the screen.
const MOST_FINDINGS: usize = 3;
/// Names on the screen, if there is room.
const MOST_NAMES: usize = 10;
const LEAST_NAMES: usize = 3;
/// Ranks and tracks that a line names.
const MOST_PARTIES: usize = 4;
/// Metrics of a group on the screen.
const MOST_METRICS: usize = 6;
/// A recording that is longer than the run by this share is told apart from it.
const LONGER: f64 = 0.01;

/// A run whose work can be replayed.
pub(super) struct RunOverview<'a> {
    pub(super) profile: &'a Profile,
    pub(super) analysed: &'a Analysed,
    pub(super) graph: &'a JobGraph,
    pub(super) path: &'a CriticalPath,
    pub(super) verdicts: &'a [RuleVerdict],
    pub(super) coverage: &'a Coverage,
}

impl RunOverview<'_> {
    /// The screen.
    pub(super) fn lines(&self) -> Vec<String> {
        let begin = [title(&self.profile.manifest), self.length()];
        let begin = begin.into_iter().chain(self.recording()).chain([String::new()]);
        let mut before: Vec<String> = begin.chain(self.kinds()).collect();
        if self.graph.ranks.len() > 1 {
            before.extend(self.parties(&self.path.totals(|part| Some(rank_of(self.graph, part)))));
        }
        let tracks = self.path.totals(|part| Some(track_of(self.graph, part)));
        if tracks.len() > 1 {
            before.extend(self.parties(&tracks));
        }
        let mut behind = vec![String::new()];
        behind.extend(self.findings());
        behind.push(String::new());
        behind.extend(wrapped(&sentence::coverage(self.coverage), "", ""));
        behind.extend(hints(self.profile));
        // One line tells how many names are left out.
        let room = MOST_LINES.saturating_sub(before.len() + behind.len() + 1);
        let names = self.names(room.clamp(LEAST_NAMES, MOST_NAMES));
        before.into_iter().chain(names).chain(behind).collect()
    }

    fn with_share(&self, ps: i64) -> String {
        format!("{} ({})", short_duration(ps as f64), share(ps as f64, self.path.length_ps() as f64))
    }

    fn length(&self) -> String {
        let time = short_duration(self.path.length_ps() as f64);
        // The threads of a job without a device are its device.
        let is_device = |queue: &WorkQueue| queue.identity.role.side() == Some(MachineSide::Device);
        let has_device = self.graph.ranks.iter().any(|rank| rank.work.queues.iter().any(is_device));
        let whose = if has_device { "its devices" } else { "its threads" };
        format!("the run takes {time}, from the first to the last work of {whose}")
    }

    /// The time that was recorded before and after the run, if it is long.
    fn recording(&self) -> Option<String> {
        let Analysed { job, report } = self.analysed;
        let (from_ps, to_ps) = self.path.span_ps;
        let spans = job.ranks.iter().zip(&report.used).map(|(rank, clock)| {
            let (start_ps, end_ps) = rank.rest.recorded_ps;
            (clock.to_shared(Time(start_ps)).0, clock.to_shared(Time(end_ps)).0)
        });
        let (start_ps, end_ps) = spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
        let (before_ps, after_ps) =
            (from_ps.saturating_sub(start_ps).max(0), end_ps.saturating_sub(to_ps).max(0));
        let is_long = |ps: i64| ps as f64 > self.path.length_ps() as f64 * LONGER;
        let time = |ps: i64| short_duration(ps as f64);
        let text = match (is_long(before_ps), is_long(after_ps)) {
            (true, true) => {
                format!("begins {} before the run and ends {} after it", time(before_ps), time(after_ps))
            }
            (true, false) => format!("begins {} before the run", time(before_ps)),
            (false, true) => format!("ends {} after the run", time(after_ps)),
            (false, false) => return None,
        };
        Some(format!("the recording {text}"))
    }

    /// The parts of the critical path by kind.
    fn kinds(&self) -> Vec<String> {
        let kinds = self.path.totals(|part| Some(part.kind));
        let kinds: Vec<String> = kinds
            .into_iter()
            .map(|(kind, ps)| format!("{} {}", self.with_share(ps), kind.plural()))
            .collect();
        let heading = "WHERE THE TIME GOES, along the work that made the run as long as it is";
        let mut lines = vec![heading.to_owned()];
        lines.extend(listed("  ", kinds));
        lines
    }

    /// The time of the path on each rank or track.
    fn parties(&self, totals: &[(impl AsRef<str>, i64)]) -> Vec<String> {
        let (shown, rest) = totals.split_at(totals.len().min(MOST_PARTIES));
        let names: Vec<&str> = shown.iter().map(|(name, _)| name.as_ref()).collect();
        let names = fitted(&names, LINE_WIDTH / 3);
        let rows = shown.iter().zip(names);
        let mut parts: Vec<String> =
            rows.map(|((_, ps), name)| format!("{name} {}", self.with_share(*ps))).collect();
        if !rest.is_empty() {
            let others = size::counted(rest.len() as u64, "other");
            parts.push(format!("{others} {}", self.with_share(rest.iter().map(|(_, ps)| ps).sum())));
        }
        listed("  on ", parts)
    }

    /// The names with the most time on the path.
    fn names(&self, most: usize) -> Vec<String> {
        let totals = self.path.totals(|part| Some(name_of_part(self.graph, part)));
        let (shown, rest) = totals.split_at(totals.len().min(most));
        let names: Vec<&str> = shown.iter().map(|(name, _)| name.as_str()).collect();
        let names = fitted(&names, LINE_WIDTH - 22);
        let rows = shown.iter().zip(names);
        let mut lines: Vec<String> =
            rows.map(|((_, ps), name)| format!("{:>20}  {name}", self.with_share(*ps))).collect();
        if !rest.is_empty() {
            let ps = rest.iter().map(|(_, ps)| ps).sum();
            let names = size::counted(rest.len() as u64, "other name");
            lines.push(format!("{:>20}  {names}", self.with_share(ps)));
        }
        lines
    }

    /// A finding: its saving and its text, then the bounds of the saving and the place.
    fn finding(&self, of: &Finding) -> Vec<String> {
        let cost = of.saved_ps().map_or_else(String::new, |ps| self.with_share(ps));
        let (first, rest) = (format!("{cost:>20}  "), " ".repeat(22));
        let text = format!("{}: {}", of.rule.rule().id, of.text());
        let mut lines = wrapped(&text, &first, &rest);
        let first_ps = self.profile.manifest.start_on(|file| self.analysed.clock_of(file.rank)).0;
        let time = |ps: i64| time_text(i128::from(ps) - i128::from(first_ps));
        let place = sentence::place(&of.place, time).map(|place| format!("see {place}"));
        let details: Vec<String> =
            [of.saving.map(|saving| between(&saving)), place].into_iter().flatten().collect();
        if !details.is_empty() {
            lines.extend(wrapped(&details.join("; "), &rest, &rest));
        }
        lines
    }

    /// The first findings, and the rules that cannot tell.
    fn findings(&self) -> Vec<String> {
        let length_ps = self.path.length_ps();
        let mut found: Vec<&Finding> = self.verdicts.iter().flat_map(|one| one.verdict.found()).collect();
        found.sort_by_key(|one| std::cmp::Reverse(one.saved_ps()));
        let mut lines = vec!["FINDINGS".to_owned()];
        let costs: Vec<FoundCost<'_>> = found.iter().map(|one| FoundCost::from(*one)).collect();
        lines.extend(wrapped(&answer(&costs, length_ps), "  ", "  "));
        for one in found.iter().take(MOST_FINDINGS) {
            lines.extend(self.finding(one));
        }
        let command = format!("`nprof findings {}`", self.profile.manifest.slug());
        let more = found.len().saturating_sub(MOST_FINDINGS) as u64;
        if more > 0 {
            let findings = size::counted(more, "more finding");
            lines.extend(wrapped(&format!("{findings}: {command} shows all, with advice"), "  ", "  "));
        }
        let cannot = |one: &&RuleVerdict| matches!(one.verdict, Judgement::CannotTell(_));
        let cannot: Vec<&str> = self.verdicts.iter().filter(cannot).map(|one| one.rule.rule().id).collect();
        if !cannot.is_empty() {
            let rules = cannot.join(", ");
            lines.extend(wrapped(
                &format!("cannot tell {rules}: {command} says which data is missing"),
                "  ",
                "  ",
            ));
        }
        lines
    }
}

/// The screen of a profile without work: what it is, and its first metrics.
pub(super) fn without_work(
    profile: &Profile,
    reason: &str,
    first: Option<&(&RankFile, Summary)>,
) -> Vec<String> {
    let (start_ps, end_ps) = profile.manifest.span_ps();
    let length = short_duration(end_ps.saturating_sub(start_ps) as f64);
    let mut lines = vec![
        title(&profile.manifest),
        format!("the recording takes {length}, from its first to its last event"),
    ];
    lines.extend(wrapped(&format!("no critical path and no findings: {reason}"), "", ""));
    let hints = hints(profile);
    if let Some((rank, summary)) = first {
        let is_one_of_several = profile.manifest.ranks.len() > 1;
        let room = MOST_LINES - hints.len();
        for group in summary.groups.iter().filter(|group| !group.metrics.is_empty()) {
            let rows = metric::rows(group, WholeTime::of(group, summary), MOST_METRICS);
            if lines.len() + rows.len() + 3 > room {
                break;
            }
            let rank = if is_one_of_several { format!(", rank {}", rank.rank) } else { String::new() };
            let part = match group.metrics.len() {
                all if all > rows.len() => format!(" (the first {} of {all})", rows.len()),
                _ => String::new(),
            };
            lines.extend([String::new(), cut(&format!("{}{rank}{part}", group.title), LINE_WIDTH)]);
            lines.extend(rows);
        }
    }
    lines.push(String::new());
    lines.extend(hints);
    lines
}

fn rank_of(graph: &JobGraph, part: &PathPart) -> String {
    format!("rank {}", graph.ranks[part.rank as usize].rank)
}

/// The name and kind of a profile, and its size.
fn title(manifest: &Manifest) -> String {
    let (slug, shown) = (manifest.slug(), manifest.shown_name());
    let name = if slug == shown { slug.to_owned() } else { format!("{slug} \"{shown}\"") };
    let mut hosts: Vec<&str> = manifest.ranks.iter().filter_map(|rank| rank.host.as_deref()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let hosts = match hosts.len() {
        0 | 1 => String::new(),
        count => format!(" on {count} hosts"),
    };
    let entry = manifest.entry();
    let rest = format!(
        ": {}, {}{hosts}, {}",
        kind_of(&manifest.source),
        size::counted(entry.ranks.into(), "rank"),
        size::counted(entry.events, "event")
    );
    format!("{}{rest}", cut(&name, LINE_WIDTH.saturating_sub(rest.chars().count())))
}

/// The kind of a profile for people.
fn kind_of(source: &str) -> &str {
    match source {
        neuron::SOURCE => "AWS Neuron",
        aiu::SOURCE => "IBM AIU",
        "kineto" => "PyTorch profiler",
        "trace-event" => "Trace Event JSON",
        other => other,
    }
}

/// Commands that say more.
fn hints(profile: &Profile) -> Vec<String> {
    let slug = profile.manifest.slug();
    let text =
        format!("`nprof summary {slug} --all` shows all metrics, `--output-format json` their exact values");
    wrapped(&text, "", "")
}

/// Parts with commas between them. A line ends behind a part.
fn listed(indent: &str, parts: Vec<String>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if line.width() + part.width() + 3 <= LINE_WIDTH => *line = format!("{line}, {part}"),
            Some(line) => {
                line.push(',');
                lines.push(format!("{}{part}", " ".repeat(indent.len())));
            }
            None => lines.push(format!("{indent}{part}")),
        }
    }
    lines
}
