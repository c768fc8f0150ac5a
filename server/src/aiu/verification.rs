//! Checks of a trace: work of the device that overlaps other work of its stream, and kernels
//! outside of the calls that launched them.
//!
//! FLEX: the executions of a rank must not overlap. PyTorch's dialect: the slices of the device on
//! one stream must not overlap, and a kernel must lie between the first start and the last end of
//! the calls with its correlation. Each rank is checked alone. Memory: a row a correlation, and the
//! findings.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use nprof_engine::base::Interval;
use nprof_engine::makers::aiu::schema::OPS;
use nprof_engine::makers::aiu::{AiuClass, Phase};
use nprof_engine::model::{OwnedValue, SliceForm, TableId, TrackId};
use nprof_engine::query::{RowContent, RowOrder, TimedRow, for_each_timed};
use serde_json::{Map, Value as Json, json};

use super::error::Result;
use super::source::{SLICES, Source, json as value_json};

/// Names of the calls that launch kernels and wait for them.
const PARENTS: [&str; 2] = ["ScheduleCompute", "ScheduleWait"];
/// Findings of a kind that a report lists. The count is that of all.
const MAX_LISTED: usize = 10_000;
/// Times that differ by less are equal: half of a nanosecond, in picoseconds.
const MARGIN_PS: i64 = 500;

/// A kind of finding.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckFinding {
    /// Name of the kind.
    pub name: &'static str,
    /// Whether it makes the trace wrong.
    pub is_error: bool,
    /// Number of times that the fault was found.
    pub count: u64,
    /// The places, up to a limit.
    pub instances: Vec<Json>,
}

/// The result of all checks.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// All kinds of findings, found or not.
    pub findings: [CheckFinding; 4],
}

/// Key of the rank of a place.
const RANK: &str = "rank";

/// Position of each kind in a report.
const OVERLAPS: usize = 0;
const OUTSIDE: usize = 1;
const ORPHAN_KERNELS: usize = 2;
const ORPHAN_PARENTS: usize = 3;

impl Default for Report {
    fn default() -> Self {
        let kind = |name, is_error| CheckFinding { name, is_error, count: 0, instances: Vec::new() };
        Self {
            findings: [
                kind("overlaps", true),
                kind("kernel_outside_parent", true),
                kind("orphan_kernels", false),
                kind("orphan_parents", false),
            ],
        }
    }
}

/// The slices of one correlation of a rank.
#[derive(Debug, Default)]
struct Correlated {
    /// Starts and ends of kernels.
    kernels: Vec<(i64, i64)>,
    /// First start and last end of the calls.
    parents: Option<(i64, i64)>,
}

/// Checks these ranks.
pub fn check(ranks: &[Source<'_>]) -> Result<Report> {
    let mut report = Report::default();
    for source in ranks {
        check_rank(source, &mut report)?;
    }
    Ok(report)
}

fn check_rank(source: &Source<'_>, report: &mut Report) -> Result<()> {
    let ops = source.segment.table(OPS.name);
    let tables: Vec<TableId> = ops.into_iter().chain(source.segment.table(SLICES)).collect();
    let mut checked = Checked { source, ops, ends: HashMap::new(), by_correlation: BTreeMap::new() };
    for_each_timed(source.segment, &tables, RowOrder::Time, |row| checked.take(&row, report))?;
    for (correlation, of) in &checked.by_correlation {
        check_parent(source, *correlation, of, report);
    }
    Ok(())
}

/// The slices of a rank so far.
struct Checked<'a> {
    source: &'a Source<'a>,
    /// Table of the slices of FLEX on the device.
    ops: Option<TableId>,
    /// The last end by process and stream. A stream is a number or a text.
    ends: HashMap<(String, Option<String>), i64>,
    by_correlation: BTreeMap<i64, Correlated>,
}

impl Checked<'_> {
    fn take(&mut self, row: &TimedRow, report: &mut Report) -> Result<()> {
        let RowContent::Slice { duration_ps, name, form: SliceForm::Complete, .. } = row.content else {
            return Ok(());
        };
        let segment = self.source.segment;
        let name = segment.text(name)?;
        let fields = &segment.footer().fields;
        let field = |wanted: &str| {
            let mut fields = row.fields.iter().filter(|(id, _)| fields[id.0 as usize].1.name == wanted);
            fields.next().map(|(_, value)| value)
        };
        let span = (row.start_ps, row.start_ps.saturating_add(duration_ps));
        let category = match field("cat") {
            Some(OwnedValue::Text(category)) => category.as_str(),
            _ => "",
        };
        let is_op = segment.table_of(row.track) == self.ops;
        let is_work = if is_op {
            Phase::of(name) == Phase::Exec
        } else {
            category.contains("gpu") || category.contains("kernel")
        };
        if is_work {
            self.work(
                row.track,
                name,
                Interval::new(span.0, span.1),
                field("stream").map(value_json),
                report,
            );
        }
        if is_op {
            return Ok(());
        }
        let Some(correlation) = field("correlation").and_then(OwnedValue::int) else { return Ok(()) };
        if AiuClass::of_torch(category, name) == AiuClass::ComputeExec {
            self.by_correlation.entry(correlation).or_default().kernels.push(span);
        } else if PARENTS.iter().any(|parent| name.contains(parent)) {
            let of = &mut self.by_correlation.entry(correlation).or_default().parents;
            let (first, last) = of.unwrap_or(span);
            *of = Some((first.min(span.0), last.max(span.1)));
        }
        Ok(())
    }

    /// Compares a slice of the device with those before it on its stream.
    fn work(
        &mut self,
        track: TrackId,
        name: &str,
        span: Interval,
        stream: Option<Json>,
        report: &mut Report,
    ) {
        let source = self.source;
        let place = source.place(track).map(|place| (place.pid.clone(), place.tid.clone()));
        let (pid, tid) = place.unwrap_or((json!(source.rank), Json::Null));
        let of = (pid.to_string(), stream.as_ref().map(Json::to_string));
        let last = self.ends.entry(of).or_insert(i64::MIN);
        let start_ps = span.start.0;
        if start_ps < last.saturating_sub(MARGIN_PS) && span.duration_ps() > 0 {
            let (ts, dur) = (source.time(start_ps) as f64 / 1e6, span.duration_ps() as f64 / 1e6);
            let place = json!({
                "name": name, "pid": source.process(pid), "tid": tid, "stream": stream, "ts": ts, "dur": dur,
            });
            report.add(OVERLAPS, place);
        }
        *last = (*last).max(span.end.0);
    }
}

fn check_parent(source: &Source<'_>, correlation: i64, of: &Correlated, report: &mut Report) {
    let us = |ps: i64| source.time(ps) as f64 / 1e6;
    match of.parents {
        None => report.add(
            ORPHAN_KERNELS,
            json!({ "corr_id": correlation, RANK: source.rank, "count": of.kernels.len() }),
        ),
        Some(_) if of.kernels.is_empty() => {
            report.add(ORPHAN_PARENTS, json!({ "corr_id": correlation, RANK: source.rank }));
        }
        Some((first, last)) => {
            let is_outside = |(start, end): &&(i64, i64)| first - start > MARGIN_PS || end - last > MARGIN_PS;
            for (start, end) in of.kernels.iter().filter(is_outside) {
                report.add(
                    OUTSIDE,
                    json!({
                        "corr_id": format!("{correlation:#x}"), RANK: source.rank,
                        "kernel_start": us(*start), "kernel_end": us(*end),
                        "parent_start": us(first), "parent_end": us(last),
                    }),
                );
            }
        }
    }
}

impl Report {
    fn add(&mut self, kind: usize, instance: Json) {
        let finding = &mut self.findings[kind];
        finding.count += 1;
        if finding.instances.len() < MAX_LISTED {
            finding.instances.push(instance);
        }
    }

    /// Whether a check found an error.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.findings.iter().any(|finding| finding.is_error && finding.count > 0)
    }

    /// The checks, each with whether it passed.
    fn tests(&self) -> [(&'static str, bool); 2] {
        let passed = |kind: usize| self.findings[kind].count == 0;
        [("Compute Overlap Check", passed(OVERLAPS)), ("Kernel-Parent Timestamp Check", passed(OUTSIDE))]
    }

    /// Writes the report as JSON.
    pub fn write_json(&self, metadata: Map<String, Json>, out: &mut dyn Write) -> io::Result<()> {
        let finding = |finding: &CheckFinding| {
            json!({
                "finding": finding.name, "is_error": finding.is_error, "count": finding.count,
                "instances": finding.instances,
            })
        };
        let list = |is_wanted: &dyn Fn(&CheckFinding) -> bool| {
            self.findings.iter().filter(|of| is_wanted(of)).map(finding).collect::<Vec<Json>>()
        };
        let tests = self
            .tests()
            .map(|(test, passed)| json!({ "test": test, "result": if passed { "pass" } else { "fail" } }));
        let report = json!({
            "version": "1.0",
            "result": if self.has_failed() { "FAIL" } else { "PASS" },
            "metadata": metadata,
            "test_results": tests,
            "errors": list(&|of| of.is_error && of.count > 0),
            "warnings": list(&|of| !of.is_error && of.count > 0),
            "passed": list(&|of| of.count == 0),
        });
        serde_json::to_writer_pretty(&mut *out, &report)?;
        writeln!(out)
    }

    /// Writes the report as acelyzer's text: the command, the findings with their places, the
    /// checks and the result. Places state their rank only if there are several.
    pub fn write_text(&self, command: &str, ranks: usize, out: &mut dyn Write) -> io::Result<()> {
        // The line is one sign longer than the title.
        writeln!(out, "Acelyzer Verification Report\n{}", "=".repeat(29))?;
        writeln!(out, "Input:   {command}\n")?;
        type IsWanted = fn(&&CheckFinding) -> bool;
        let sections: [(&str, IsWanted); 3] = [
            ("ERRORS", |of| of.is_error && of.count > 0),
            ("WARNINGS", |of| !of.is_error && of.count > 0),
            ("PASSED", |of| of.count == 0),
        ];
        for (title, is_wanted) in sections {
            let count = self.findings.iter().filter(is_wanted).count();
            writeln!(out, "{}", underlined(&format!("{title} ({count})")))?;
            for finding in self.findings.iter().filter(is_wanted) {
                writeln!(out, "  {}: {} occurrence(s)", finding.name, finding.count)?;
                for instance in &finding.instances {
                    writeln!(out, "    {}", place(instance, ranks))?;
                }
            }
            writeln!(out)?;
        }
        let tests = self.tests();
        writeln!(out, "{}", underlined(&format!("TESTS APPLIED ({})", tests.len())))?;
        for (test, passed) in tests {
            writeln!(out, "  {}  {test}", if passed { "PASS" } else { "FAIL" })?;
        }
        writeln!(out, "\nResult: {}", if self.has_failed() { "FAIL (errors detected)" } else { "PASS" })
    }
}

/// A title with a line of the same length below it.
fn underlined(title: &str) -> String {
    format!("{title}\n{}", "-".repeat(title.len()))
}

/// A place as `key=value` pairs.
fn place(instance: &Json, ranks: usize) -> String {
    let members = instance.as_object().into_iter().flatten();
    let members = members.filter(|(key, _)| ranks > 1 || key.as_str() != RANK);
    let pair = |(key, value): (&String, &Json)| match value {
        Json::String(text) => format!("{key}={text}"),
        // acelyzer's word for no value.
        Json::Null => format!("{key}=None"),
        value => format!("{key}={value}"),
    };
    members.map(pair).collect::<Vec<String>>().join("  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A report as acelyzer 1.3.0 writes it.
    const REPORT: &str = "\
Acelyzer Verification Report
=============================
Input:   nprof aiu -V

ERRORS (1)
----------
  overlaps: 1 occurrence(s)
    name=a  stream=None  ts=7000001368.76

WARNINGS (1)
------------
  orphan_kernels: 1 occurrence(s)
    corr_id=7  count=2

PASSED (2)
----------
  kernel_outside_parent: 0 occurrence(s)
  orphan_parents: 0 occurrence(s)

TESTS APPLIED (2)
-----------------
  FAIL  Compute Overlap Check
  PASS  Kernel-Parent Timestamp Check

Result: FAIL (errors detected)
";

    #[test]
    fn only_errors_fail() {
        let mut report = Report::default();
        report.add(ORPHAN_KERNELS, json!({ "corr_id": 7, "rank": 3, "count": 2 }));
        assert!(!report.has_failed());
        let json = |report: &Report| {
            let mut out = Vec::new();
            report.write_json(Map::new(), &mut out).unwrap();
            serde_json::from_slice::<Json>(&out).unwrap()
        };
        let passing = json(&report);
        assert_eq!((&passing["result"], &passing["warnings"][0]["count"]), (&json!("PASS"), &json!(1)));
        report.add(OVERLAPS, json!({ "name": "a", "stream": null, "ts": 7_000_001_368.76 }));
        let failing = json(&report);
        assert_eq!(
            (&failing["result"], &failing["errors"][0]["finding"]),
            (&json!("FAIL"), &json!("overlaps"))
        );
        assert_eq!(failing["passed"].as_array().unwrap().len(), 2);
        let text = |ranks: usize| {
            let mut out = Vec::new();
            report.write_text("nprof aiu -V", ranks, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(text(1), REPORT);
        assert!(text(2).contains("    corr_id=7  rank=3  count=2\n"), "{}", text(2));
    }
}
