//! acelyzer's tables, from the side tables of the ranks. Columns, order and formats of numbers are
//! acelyzer's; times are in microseconds.

use std::io::{self, Write};

use nprof_engine::base::Result;
use nprof_engine::makers::aiu::schema::{ACTIVE, CATEGORIES, CYCLES, KERNELS};

use super::align::RankTime;
use super::names;
use super::rows::{self, Row};
use super::source::{Source, device_number};
use super::table_text;

/// Phase of a table of the compiler that states none.
const NO_PHASE: &str = "UNKN";

const SUMMARY_HEAD: &str = "Time  \t Total Time\t Calls\t    Mean  \t  Median  \t    Min    \t   Max   \t   StDev  \t  \
                            pid\t Name ";
const ACTIVE_HEAD: &str = "Total Kernel Time  \t  Elapsed Time\t  Start Time\t         End Time  \t Active percentage  \
                           \t   pid ";

/// Steps between neighbouring counters, and the numbers about each.
const STEPS: [&str; 4] = ["TS2-1", "TS3-2", "TS4-3", "TS5-4"];
const SPREAD: [(&str, &str); 5] = [
    ("mean", "Mean   "),
    ("median", "Median  "),
    ("min", "Min    "),
    ("max", "Max   "),
    ("stdev", "StDev  "),
];

/// Columns of the table of categories.
const CATEGORY_HEAD: [&str; 10] = [
    "Pid",
    "Phase",
    "Category",
    "Kernel_Time",
    "Frac_Time",
    "Calls",
    "Ideal_Time",
    "Ideal_Cyc",
    "Frac_Ideal",
    "PT_Util",
];

/// The side tables of a rank.
#[derive(Debug)]
pub struct RankTables {
    /// Number of the rank.
    pub rank: u32,
    /// Devices of each rank.
    device_step: usize,
    /// The rank's times on the clock of the output.
    clock: RankTime,
    kernels: Vec<Row>,
    active: Vec<Row>,
    cycles: Vec<Row>,
    categories: Vec<Row>,
    /// Time of collective operations in microseconds.
    pub communication_us: f64,
}

impl RankTables {
    /// Reads the tables of a rank.
    ///
    /// # Errors
    /// If bytes are missing or damaged.
    pub fn of(source: &Source<'_>, communication_us: f64) -> Result<Self> {
        let segment = source.segment;
        Ok(Self {
            rank: source.rank,
            device_step: source.device_step,
            clock: source.clock,
            kernels: rows::of(segment, KERNELS.name)?,
            active: rows::of(segment, ACTIVE.name)?,
            cycles: rows::of(segment, CYCLES.name)?,
            categories: rows::of(segment, CATEGORIES.name)?,
            communication_us,
        })
    }

    /// The process of a row: that of the rank, or of one of its devices.
    fn pid(&self, row: &Row) -> i64 {
        let device = row.get("device").and_then(rows::integer);
        device.map_or(self.rank.into(), |device| device_number(self.rank, self.device_step, device))
    }

    /// A time on the clock of the output in microseconds, with three digits.
    fn at(&self, ns: f64) -> String {
        #[expect(clippy::cast_possible_truncation, reason = "casts of floats saturate")]
        let ps = self.clock.at((ns * 1e3).round() as i64);
        let ns = (ps + 500).div_euclid(1_000);
        format!("{}.{:03}", ns.div_euclid(1_000), ns.rem_euclid(1_000))
    }
}

fn us(row: &Row, field: &str) -> f64 {
    // To the picosecond: the quotient of a decimal number of nanoseconds is no decimal number.
    (row.number(field) * 1e3).round() / 1e6
}

/// Kernels by name: `_summary.csv`.
///
/// # Errors
/// If the output cannot be written.
pub fn summary(ranks: &[RankTables], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{SUMMARY_HEAD}")?;
    for (of, row) in ranks.iter().flat_map(|of| of.kernels.iter().map(move |row| (of, row))) {
        let (share, total, calls) = (row.number("share") * 100.0, us(row, "total"), row.number("calls"));
        write!(out, "{share:5.2}\t {total:10.3}\t {calls:5.0}")?;
        for field in ["mean", "median", "min", "max", "stdev"] {
            write!(out, "\t {:8.3}", us(row, field))?;
        }
        writeln!(out, "\t {:4}\t {}", of.pid(row), cell(row.text("name")))?;
    }
    Ok(())
}

/// Time of kernels by rank: `_active.csv`.
///
/// # Errors
/// If the output cannot be written.
pub fn active(ranks: &[RankTables], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{ACTIVE_HEAD}")?;
    for (of, row) in ranks.iter().flat_map(|of| of.active.iter().map(move |row| (of, row))) {
        let (kernels, elapsed) = (us(row, "kernel_time"), us(row, "elapsed"));
        let (start, end) = (of.at(row.number("start")), of.at(row.number("end")));
        let share = row.number("summed_share") * 100.0;
        // A sign or a blank comes before the digits.
        let elapsed = format!(" {elapsed:.3}");
        writeln!(out, "{kernels:9.3}\t {elapsed:>10}\t  {start}\t {end}\t {share:5.2}\t {:4}", of.pid(row))?;
    }
    Ok(())
}

/// Cycles between neighbouring counters by kernel: `_ts_analysis.csv`.
///
/// # Errors
/// If the output cannot be written.
pub fn cycles(ranks: &[RankTables], out: &mut dyn Write) -> io::Result<()> {
    write!(out, "Calls  \t ")?;
    for (step, (_, title)) in STEPS.iter().flat_map(|step| SPREAD.iter().map(move |of| (step, of))) {
        write!(out, "{step}_{title}\t")?;
    }
    writeln!(out, "pid\t Name ")?;
    for of in ranks {
        // The rows of a kernel follow each other, one for each step.
        let is_same = |a: &Row, b: &Row| a.text("name") == b.text("name") && of.pid(a) == of.pid(b);
        for kernel in of.cycles.chunk_by(is_same) {
            write!(out, "{:6.0}", kernel[0].number("calls"))?;
            for step in STEPS {
                let row = kernel.iter().find(|row| row.text("step") == step);
                for (field, _) in SPREAD {
                    write!(out, "\t {:8.3}", row.map_or(0.0, |row| row.number(field)))?;
                }
            }
            writeln!(out, "\t {:4}\t {}", of.pid(&kernel[0]), cell(kernel[0].text("name")))?;
        }
    }
    Ok(())
}

/// A name as a cell: acelyzer's words, without signs that end cells.
fn cell(name: &str) -> String {
    names::plain(name).name.replace(['\t', '\n', '\r'], " ")
}

/// Whether a rank has categories.
#[must_use]
pub fn has_categories(ranks: &[RankTables]) -> bool {
    ranks.iter().any(|of| !of.categories.is_empty())
}

/// A row of the table of categories.
fn category(of: &RankTables, row: &Row) -> [Cell; 10] {
    let phase = Some(row.text("phase")).filter(|phase| !phase.is_empty()).unwrap_or(NO_PHASE);
    let rounded = |value: f64| Cell::Float((value * 1e4).round() / 1e4);
    let whole = |field: &str| Cell::Text(format!("{:.0}", row.number(field)), Align::Number);
    [
        Cell::Text(of.pid(row).to_string(), Align::Number),
        Cell::Text(phase.to_owned(), Align::Word),
        Cell::Text(row.text("category").to_owned(), Align::Word),
        Cell::Float(us(row, "kernel_time")),
        rounded(row.number("share")),
        whole("calls"),
        rounded(us(row, "ideal_time")),
        whole("ideal_cycles"),
        rounded(row.number("ideal_share")),
        rounded(row.number("pt_util")),
    ]
}

pub use table_text::{Align, Cell};

fn all_categories(ranks: &[RankTables]) -> Vec<[Cell; 10]> {
    ranks.iter().flat_map(|of| of.categories.iter().map(move |row| category(of, row))).collect()
}

/// Use of the PT arrays by category: `_categories.csv`.
///
/// # Errors
/// If the output cannot be written.
pub fn categories_csv(ranks: &[RankTables], out: &mut dyn Write) -> io::Result<()> {
    table_text::csv(&CATEGORY_HEAD, &all_categories(ranks), out)
}

/// Use of the PT arrays by category, for people: `_categories.txt`.
///
/// # Errors
/// If the output cannot be written.
pub fn categories_txt(ranks: &[RankTables], out: &mut dyn Write) -> io::Result<()> {
    table_text::aligned(&CATEGORY_HEAD, &all_categories(ranks), out)
}

/// Time of kernels and of collective operations by rank: `_stats_summary.csv`.
///
/// # Errors
/// If the output cannot be written.
pub fn stats(ranks: &[RankTables], out: &mut dyn Write) -> io::Result<()> {
    const HEAD: [&str; 6] = [
        "pid",
        "elapsed_time",
        "comp_active_atime",
        "comm_active_atime",
        "comp_active_atime_perc",
        "comm_active_atime_perc",
    ];
    let row = |of: &RankTables, row: &Row| {
        let (elapsed, kernels) = (us(row, "elapsed"), us(row, "kernel_time"));
        let share = |part: f64| Cell::Float(if elapsed > 0.0 { part / elapsed } else { 0.0 });
        [
            Cell::Text(of.pid(row).to_string(), Align::Number),
            Cell::Float(elapsed),
            Cell::Float(kernels),
            Cell::Float(of.communication_us),
            share(kernels),
            share(of.communication_us),
        ]
    };
    let rows: Vec<[Cell; 6]> =
        ranks.iter().flat_map(|of| of.active.iter().map(move |active| row(of, active))).collect();
    table_text::csv(&HEAD, &rows, out)
}
