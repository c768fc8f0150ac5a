//! acelyzer's tables, from the side tables of the ranks. Columns, order and formats of numbers are
//! acelyzer's; times are in microseconds.

use std::io::{self, Write};

use nprof_engine::base::Result;
use nprof_engine::exec::Cancel;
use nprof_engine::makers::FieldCell;
use nprof_engine::makers::aiu::schema::{ActiveRow, CategoryRow, CyclesRow, KernelRow};

use super::align::RankTime;
use super::names;
use super::source::{Source, device_number};
use super::table_text;

/// Phase of a table of the compiler that states none.
const NO_PHASE: &str = "UNKN";

const SUMMARY_HEAD: &str = "Time  \t Total Time\t Calls\t    Mean  \t  Median  \t    Min    \t   Max   \t   StDev  \t  \
                            pid\t Name ";
const ACTIVE_HEAD: &str = "Total Kernel Time  \t  Elapsed Time\t  Start Time\t         End Time  \t Active percentage  \
                           \t   pid ";

/// A cell of a row of cycles.
type CyclesCell = fn(&CyclesRow<FieldCell>) -> &FieldCell;

/// Steps between neighbouring counters, and the numbers about each.
const STEPS: [&str; 4] = ["TS2-1", "TS3-2", "TS4-3", "TS5-4"];
const SPREAD: [(CyclesCell, &str); 5] = [
    (|row| &row.mean, "Mean   "),
    (|row| &row.median, "Median  "),
    (|row| &row.min, "Min    "),
    (|row| &row.max, "Max   "),
    (|row| &row.stdev, "StDev  "),
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
    kernels: Vec<KernelRow<FieldCell>>,
    active: Vec<ActiveRow<FieldCell>>,
    cycles: Vec<CyclesRow<FieldCell>>,
    categories: Vec<CategoryRow<FieldCell>>,
    /// Time of collective operations in microseconds.
    pub communication_us: f64,
}

impl RankTables {
    /// Reads the tables of a rank.
    pub fn of(source: &Source<'_>, communication_us: f64) -> Result<Self> {
        let segment = source.segment;
        Ok(Self {
            rank: source.rank,
            device_step: source.device_step,
            clock: source.clock,
            kernels: KernelRow::read(segment, Cancel::NEVER)?,
            active: ActiveRow::read(segment, Cancel::NEVER)?,
            cycles: CyclesRow::read(segment, Cancel::NEVER)?,
            categories: CategoryRow::read(segment, Cancel::NEVER)?,
            communication_us,
        })
    }

    /// The process of a row: that of the rank, or of one of its devices.
    fn pid(&self, device: &FieldCell) -> i64 {
        let device = device.int();
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

fn us(ns: &FieldCell) -> f64 {
    // To the picosecond: the quotient of a decimal number of nanoseconds is no decimal number.
    (ns.float_or_zero() * 1e3).round() / 1e6
}

/// Kernels by name: `_summary.csv`.
pub fn summary(ranks: &[RankTables], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{SUMMARY_HEAD}")?;
    for (of, row) in ranks.iter().flat_map(|of| of.kernels.iter().map(move |row| (of, row))) {
        let (share, total, calls) =
            (row.share.float_or_zero() * 100.0, us(&row.total), row.calls.float_or_zero());
        write!(out, "{share:5.2}\t {total:10.3}\t {calls:5.0}")?;
        for ns in [&row.mean, &row.median, &row.min, &row.max, &row.stdev] {
            write!(out, "\t {:8.3}", us(ns))?;
        }
        writeln!(out, "\t {:4}\t {}", of.pid(&row.device), cell(row.name.text_or_empty()))?;
    }
    Ok(())
}

/// Time of kernels by rank: `_active.csv`.
pub fn active(ranks: &[RankTables], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{ACTIVE_HEAD}")?;
    for (of, row) in ranks.iter().flat_map(|of| of.active.iter().map(move |row| (of, row))) {
        let (kernels, elapsed) = (us(&row.kernel_time), us(&row.elapsed));
        let (start, end) = (of.at(row.start.float_or_zero()), of.at(row.end.float_or_zero()));
        let share = row.summed_share.float_or_zero() * 100.0;
        // A sign or a blank comes before the digits.
        let elapsed = format!(" {elapsed:.3}");
        writeln!(
            out,
            "{kernels:9.3}\t {elapsed:>10}\t  {start}\t {end}\t {share:5.2}\t {:4}",
            of.pid(&row.device)
        )?;
    }
    Ok(())
}

/// Cycles between neighbouring counters by kernel: `_ts_analysis.csv`.
pub fn cycles(ranks: &[RankTables], out: &mut dyn Write) -> io::Result<()> {
    write!(out, "Calls  \t ")?;
    for (step, (_, title)) in STEPS.iter().flat_map(|step| SPREAD.iter().map(move |of| (step, of))) {
        write!(out, "{step}_{title}\t")?;
    }
    writeln!(out, "pid\t Name ")?;
    for of in ranks {
        // The rows of a kernel follow each other, one for each step.
        let is_same = |a: &CyclesRow<FieldCell>, b: &CyclesRow<FieldCell>| {
            a.name.text_or_empty() == b.name.text_or_empty() && of.pid(&a.device) == of.pid(&b.device)
        };
        for kernel in of.cycles.chunk_by(is_same) {
            write!(out, "{:6.0}", kernel[0].calls.float_or_zero())?;
            for step in STEPS {
                let row = kernel.iter().find(|row| row.step.text_or_empty() == step);
                for (cell, _) in SPREAD {
                    write!(out, "\t {:8.3}", row.map_or(0.0, |row| cell(row).float_or_zero()))?;
                }
            }
            writeln!(out, "\t {:4}\t {}", of.pid(&kernel[0].device), cell(kernel[0].name.text_or_empty()))?;
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
fn category(of: &RankTables, row: &CategoryRow<FieldCell>) -> [Cell; 10] {
    let phase = Some(row.phase.text_or_empty()).filter(|phase| !phase.is_empty()).unwrap_or(NO_PHASE);
    let rounded = |value: f64| Cell::Float((value * 1e4).round() / 1e4);
    let whole = |cell: &FieldCell| Cell::Text(format!("{:.0}", cell.float_or_zero()), ColumnKind::Number);
    [
        Cell::Text(of.pid(&row.device).to_string(), ColumnKind::Number),
        Cell::Text(phase.to_owned(), ColumnKind::Word),
        Cell::Text(row.category.text_or_empty().to_owned(), ColumnKind::Word),
        Cell::Float(us(&row.kernel_time)),
        rounded(row.share.float_or_zero()),
        whole(&row.calls),
        rounded(us(&row.ideal_time)),
        whole(&row.ideal_cycles),
        rounded(row.ideal_share.float_or_zero()),
        rounded(row.pt_util.float_or_zero()),
    ]
}

pub use table_text::{Cell, ColumnKind};

fn all_categories(ranks: &[RankTables]) -> Vec<[Cell; 10]> {
    ranks.iter().flat_map(|of| of.categories.iter().map(move |row| category(of, row))).collect()
}

/// Use of the PT arrays by category: `_categories.csv`.
pub fn categories_csv(ranks: &[RankTables], out: &mut dyn Write) -> io::Result<()> {
    table_text::csv(&CATEGORY_HEAD, &all_categories(ranks), out)
}

/// Use of the PT arrays by category, for people: `_categories.txt`.
pub fn categories_txt(ranks: &[RankTables], out: &mut dyn Write) -> io::Result<()> {
    table_text::aligned(&CATEGORY_HEAD, &all_categories(ranks), out)
}

/// Time of kernels and of collective operations by rank: `_stats_summary.csv`.
pub fn stats(ranks: &[RankTables], out: &mut dyn Write) -> io::Result<()> {
    const HEAD: [&str; 6] = [
        "pid",
        "elapsed_time",
        "comp_active_atime",
        "comm_active_atime",
        "comp_active_atime_perc",
        "comm_active_atime_perc",
    ];
    let row = |of: &RankTables, row: &ActiveRow<FieldCell>| {
        let (elapsed, kernels) = (us(&row.elapsed), us(&row.kernel_time));
        let share = |part: f64| Cell::Float(if elapsed > 0.0 { part / elapsed } else { 0.0 });
        [
            Cell::Text(of.pid(&row.device).to_string(), ColumnKind::Number),
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
