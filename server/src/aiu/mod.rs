//! acelyzer's files: its tables and its Trace Event JSON, from a profile of AIUs. `docs/aiu.md`
//! describes them.
//!
//! [`inputs`] makes the user's files inputs of an ingest, [`write()`] writes all files of a
//! profile. Events are written rank by rank while their rows are read, so memory is that of a block
//! a track.

pub mod align;
mod args;
mod bandwidth;
mod chrome;
mod device;
mod error;
mod event;
mod events;
pub mod form;
mod frame;
mod host;
mod ideals;
pub mod inputs;
pub mod lanes;
mod launches;
pub mod log_lines;
mod names;
mod operations;
mod points;
pub mod profile;
mod rows;
mod series;
mod source;
mod steps;
mod sums;
mod table_text;
mod tables;
mod threads;
mod trace;
pub mod verification;

use std::io::{self, Write};
use std::path::PathBuf;

use nprof_engine::makers::aiu::schema::COLLECTIVES;
use nprof_engine::native::SegmentFile;

use self::align::Alignment;
pub use self::error::{AiuError, Result};
use self::form::EventForm;
use self::source::Source;
use self::tables::RankTables;
pub use self::trace::Met;
pub use self::verification::Report;
use crate::export::{OpenedRank, RanksOf};
use crate::output::{Outputs, Written};

/// The files to write, and their form.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The trace; the names of other files are made from it.
    pub output: PathBuf,
    /// The command, which the trace states.
    pub command: String,
    /// Form of the events.
    pub form: EventForm,
    /// Kind of the file with the trace; `None` if it is not written.
    pub trace: Option<Kind>,
    /// Whether the tables of kernels are written.
    pub has_tables: bool,
    /// Whether the table of times of kernels and of collective operations is written.
    pub has_shares: bool,
    /// Whether the trace is for TensorBoard: with a file for each of several ranks.
    pub for_tensorboard: bool,
}

/// Kind of a file with a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Trace Event JSON.
    Chrome,
    /// A table of the slices.
    Frame,
}

/// Ending of names of traces for TensorBoard.
const TENSORBOARD: &str = ".pt.trace.json";
/// Ending of names of traces.
const JSON: &str = ".json";
/// Ending of names of tables of slices.
const TEXT: &str = ".txt";

impl Request {
    /// The output without its ending.
    fn stem(&self) -> String {
        let path = self.output.to_string_lossy();
        let endings = [TENSORBOARD, JSON, TEXT];
        let stem = endings.iter().find_map(|ending| path.strip_suffix(ending));
        stem.unwrap_or(&path).to_owned()
    }

    /// Path of a file beside the trace.
    fn beside(&self, ending: &str) -> PathBuf {
        PathBuf::from(format!("{}{ending}", self.stem()))
    }

    /// Path of the trace.
    fn trace(&self) -> PathBuf {
        if self.for_tensorboard { self.beside(TENSORBOARD) } else { self.output.clone() }
    }

    /// Name of the trace.
    fn title(&self) -> String {
        self.trace().display().to_string()
    }
}

/// Form of the report of a verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportForm {
    /// JSON.
    Json,
    /// Text for people.
    Text,
}

/// Checks a profile and writes the report to the output of the request.
pub fn verify(
    of: RanksOf<'_>,
    request: &Request,
    form: ReportForm,
    outputs: &mut Outputs<'_>,
) -> Result<(Report, Option<Written>)> {
    let opened = of.open()?;
    let ranks = sources(&opened, &Alignment::default())?;
    let report = verification::check(&ranks)?;
    let written = outputs.write(&request.output, |out| {
        match form {
            ReportForm::Json => report.write_json(chrome::metadata(&ranks, request), out)?,
            ReportForm::Text => report.write_text(&request.command, ranks.len(), out)?,
        }
        Ok::<_, AiuError>(())
    })?;
    Ok((report, written))
}

fn sources<'a>(opened: &'a [OpenedRank<'_>], clocks: &Alignment) -> Result<Vec<Source<'a>>> {
    let of = |of: &'a OpenedRank<'_>| Source::of(of.segment(), of.rank.rank, clocks);
    let mut sources = opened.iter().map(of).collect::<Result<Vec<_>>>()?;
    let step = sources.iter().map(|source| source.devices).max().unwrap_or(0).max(1);
    sources.iter_mut().for_each(|source| source.device_step = step);
    Ok(sources)
}

/// Writes the files of a profile. Returns them, and what was met in the events of the trace.
///
/// # Errors
/// If a segment cannot be read or a file cannot be written. A file is written as a whole or not at
/// all.
pub fn write(
    of: RanksOf<'_>,
    clocks: &Alignment,
    request: &Request,
    outputs: &mut Outputs<'_>,
) -> Result<(Vec<Written>, Met)> {
    let opened = of.open()?;
    let ranks = sources(&opened, clocks)?;
    let mut written = Vec::new();
    let mut met = Met::default();
    if request.trace == Some(Kind::Frame) {
        written.extend(outputs.write(&request.output, |out| {
            met = frame::write(&ranks, &request.form, out)?;
            Ok::<_, AiuError>(())
        })?);
    }
    if request.trace == Some(Kind::Chrome) {
        let mut shared = trace::JobEvents::new();
        written.extend(outputs.write(&request.trace(), |out| {
            (met, shared) = chrome::write(&ranks, request, out)?;
            Ok::<_, AiuError>(())
        })?);
        if request.for_tensorboard && ranks.len() > 1 {
            for (at, source) in ranks.iter().enumerate() {
                let path = request.beside(&format!("_worker_{}{TENSORBOARD}", source.rank));
                let write = |out: &mut dyn Write| chrome::write_rank(&ranks, at, request, &shared, out);
                written.extend(outputs.write(&path, write)?);
            }
        }
    }
    written.extend(tables_of(&ranks, request, outputs)?);
    Ok((written, met))
}

fn tables_of(ranks: &[Source<'_>], request: &Request, outputs: &mut Outputs<'_>) -> Result<Vec<Written>> {
    let of = |source: &Source<'_>| Ok(RankTables::of(source, communication_us(source.segment)?)?);
    let tables: Vec<RankTables> = ranks.iter().map(of).collect::<Result<_>>()?;
    type WriteTable = fn(&[RankTables], &mut dyn Write) -> io::Result<()>;
    let mut files: Vec<(&str, WriteTable)> = Vec::new();
    if request.has_tables {
        files.extend([
            ("_summary.csv", tables::summary as WriteTable),
            ("_active.csv", tables::active),
            ("_ts_analysis.csv", tables::cycles),
        ]);
    }
    if request.form.has_utilization && request.has_tables && tables::has_categories(&tables) {
        files.extend([
            ("_categories.csv", tables::categories_csv as WriteTable),
            ("_categories.txt", tables::categories_txt),
        ]);
    }
    if request.form.has_collectives && request.has_shares {
        files.push(("_stats_summary.csv", tables::stats));
    }
    let mut written = Vec::new();
    for (ending, write) in files {
        let write = |out: &mut dyn Write| Ok::<_, AiuError>(write(&tables, out)?);
        written.extend(outputs.write(&request.beside(ending), write)?);
    }
    Ok(written)
}

/// Time of the collective operations of a rank in microseconds.
fn communication_us(segment: &SegmentFile) -> Result<f64> {
    use nprof_engine::query::{RowContent, RowOrder, for_each_timed};
    let Some(table) = segment.table(COLLECTIVES.name) else { return Ok(0.0) };
    let (mut total_ps, mut end_ps) = (0_i64, i64::MIN);
    for_each_timed(segment, &[table], RowOrder::Time, |row| {
        if let RowContent::Slice { duration_ps, .. } = row.content {
            let end = row.start_ps.saturating_add(duration_ps);
            // Operations that overlap count once.
            total_ps = total_ps.saturating_add((end - row.start_ps.max(end_ps)).max(0));
            end_ps = end_ps.max(end);
        }
        Ok::<_, AiuError>(())
    })?;
    #[expect(clippy::cast_precision_loss, reason = "a time to print")]
    let us = total_ps as f64 / 1e6;
    Ok(us)
}
