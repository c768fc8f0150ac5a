//! Ideal cycles of kernels: tables in logs of the compiler.

use std::hash::BuildHasher;

use rustc_hash::{FxBuildHasher, FxHashMap};

/// Part of the line that opens a table.
const OPENS: &str = "Ideal/Total Cycles";
/// Part of the line that closes a table.
const CLOSES: &str = "Perf Summary End";
/// Part of the line from which on tables are the autopilot's.
const AUTOPILOT: &str = "DSM-AutoPilot BEGIN";
/// Mark between a kernel's name and its category.
const CATEGORY: &str = "-opCat";
/// End of a name without a category.
const NO_CATEGORY: &str = "-NA";
/// Name of the row with the sum.
const TOTAL: &str = "Total";
/// Rows with these words are no kernels.
const LEFT_OUT: [&str; 2] = ["Precompute", "-LxPreload"];
/// Lines that state the phase of the tables that follow, and the phase's name.
const PHASES: [(&str, &str); 2] = [("PREFILL", "TTFT"), ("DECODING", "ITL")];
/// Phase of a table that states none.
pub(super) const NO_PHASE: &str = "UNKN";
/// Category of rows without one.
pub(super) const NOT_AVAILABLE: &str = "NotAvailable";

/// Most different tables.
const MAX_TABLES: usize = 256;
/// Longest line of a log that can belong to a table, in bytes.
const MAX_LINE_LEN: usize = 64 << 10;

/// A kernel of a table.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct TableKernel {
    pub(super) kernel: Box<str>,
    pub(super) category: Box<str>,
    pub(super) cycles: u64,
}

/// Kind of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IdealTableKind {
    /// The rows are the kernels of the trace.
    Kernels,
    /// The autopilot has arranged the kernels anew; only the total holds.
    Autopilot,
}

/// A table of ideal cycles: one iteration of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IdealTable {
    pub(super) phase: &'static str,
    pub(super) kind: IdealTableKind,
    pub(super) rows: Vec<TableKernel>,
    /// The sum that the log states.
    pub(super) total: Option<u64>,
    by_kernel: FxHashMap<Box<str>, usize>,
}

impl IdealTable {
    pub(super) fn new(phase: &'static str, kind: IdealTableKind) -> Self {
        Self { phase, kind, rows: Vec::new(), total: None, by_kernel: FxHashMap::default() }
    }

    /// Position of a kernel's row.
    pub(super) fn row(&self, kernel: &str) -> Option<usize> {
        self.by_kernel.get(kernel).copied()
    }

    /// Adds a row. If several rows have a name, the first one counts.
    pub(super) fn add(&mut self, kernel: &str, category: &str, cycles: u64) {
        if !self.by_kernel.contains_key(kernel) {
            self.by_kernel.insert(kernel.into(), self.rows.len());
            self.rows.push(TableKernel { kernel: kernel.into(), category: category.into(), cycles });
        }
    }

    /// Ideal cycles of an iteration.
    pub(super) fn cycles(&self) -> u64 {
        self.total.unwrap_or_else(|| self.rows.iter().map(|row| row.cycles).sum())
    }
}

/// Different tables.
#[derive(Debug, Default)]
pub(super) struct IdealTables {
    pub(super) all: Vec<IdealTable>,
    /// Positions of the tables with a hash.
    by_hash: FxHashMap<u64, Vec<usize>>,
    /// Tables that are too many.
    pub(super) dropped: u64,
}

impl IdealTables {
    /// Adds a table. A table of the same phase with the same rows as one before is the same table.
    fn add(&mut self, table: IdealTable) {
        if table.rows.is_empty() {
            return;
        }
        let hash = FxBuildHasher.hash_one((table.phase, table.total, &table.rows));
        let equal = self.by_hash.entry(hash).or_default();
        if equal.iter().any(|&at| self.all[at] == table) {
            return;
        }
        if self.all.len() >= MAX_TABLES {
            self.dropped += 1;
            return;
        }
        equal.push(self.all.len());
        self.all.push(table);
    }
}

/// Adds the tables of a log. Returns whether the log ends within a table.
pub(super) fn read_log(log: &[u8], tables: &mut IdealTables) -> bool {
    let (mut phase, mut kind) = (NO_PHASE, IdealTableKind::Kernels);
    let mut open: Option<IdealTable> = None;
    for line in log.split(|&byte| byte == b'\n').filter(|line| line.len() <= MAX_LINE_LEN) {
        let line = &*String::from_utf8_lossy(line);
        if let Some((_, name)) = PHASES.iter().find(|(word, _)| line.trim() == *word) {
            phase = name;
        } else if line.contains(AUTOPILOT) {
            kind = IdealTableKind::Autopilot;
        } else if line.contains(OPENS) {
            if let Some(before) = open.replace(IdealTable::new(phase, kind)) {
                tables.add(before);
            }
        } else if line.contains(CLOSES) {
            if let Some(table) = open.take() {
                tables.add(table);
            }
        } else if let Some(table) = &mut open {
            take_row(line, table);
        }
    }
    let is_cut = open.is_some();
    open.into_iter().for_each(|cut| tables.add(cut));
    is_cut
}

/// Takes a row: `<kernel>-opCat<category> <cycles>`.
fn take_row(line: &str, table: &mut IdealTable) {
    let mut words = line.split_ascii_whitespace();
    let (Some(name), Some(cycles), None) = (words.next(), words.next(), words.next()) else { return };
    let Ok(cycles) = cycles.parse() else { return };
    if LEFT_OUT.iter().any(|word| name.contains(word)) {
        return;
    }
    if name == TOTAL {
        table.total = Some(cycles);
    } else if let Some((kernel, category)) = name.rsplit_once(CATEGORY) {
        table.add(kernel, category, cycles);
    } else {
        table.add(name.strip_suffix(NO_CATEGORY).unwrap_or(name), NOT_AVAILABLE, cycles);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "noise 1\n   PREFILL  \n~~~~ Ideal/Total Cycles ~~~~\n----\nName   Ideal Cy.\n\
        bmm-BMM_1-opCatBmm_fp16      12288\nview-NA   0\na-LxPreload-opCatStcdpLx 5\n\
        bmm-BMM_1-opCatOther   7\nTotal\t12293\n====== Perf Summary End ======\nx-opCatY 3\n\
        \tDECODING\n Ideal/Total Cycles \nmul-opCatBroadcast   4\n";

    #[test]
    fn a_log_has_a_table_for_each_phase() {
        let mut tables = IdealTables::default();
        assert!(read_log(LOG.as_bytes(), &mut tables), "the last table has no end");
        assert!(!read_log(&LOG.as_bytes()[..LOG.find("x-opCatY").unwrap()], &mut tables));
        assert_eq!(tables.all.len(), 2, "equal tables count once");
        let first = &tables.all[0];
        let rows: Vec<_> = first.rows.iter().map(|row| (&*row.kernel, &*row.category, row.cycles)).collect();
        assert_eq!(rows, [("bmm-BMM_1", "Bmm_fp16", 12288), ("view", NOT_AVAILABLE, 0)]);
        assert_eq!((first.phase, first.cycles(), first.row("view")), ("TTFT", 12293, Some(1)));
        assert_eq!((tables.all[1].phase, tables.all[1].cycles()), ("ITL", 4), "a log that is cut off");
    }

    #[test]
    fn tables_of_the_autopilot_are_marked() {
        let mut tables = IdealTables::default();
        read_log(b"DSM-AutoPilot BEGIN\nIdeal/Total Cycles\na-opCatB 3\n", &mut tables);
        assert_eq!(tables.all[0].kind, IdealTableKind::Autopilot);
    }

    #[test]
    fn more_tables_than_a_compiler_writes_are_counted() {
        let table = |n: usize| format!("Ideal/Total Cycles\nmul-opCatBmm {n}\nPerf Summary End\n");
        let log: String = (0..MAX_TABLES + 7).map(table).collect();
        let mut tables = IdealTables::default();
        read_log(log.as_bytes(), &mut tables);
        read_log(table(3).as_bytes(), &mut tables);
        assert_eq!((tables.all.len(), tables.dropped), (MAX_TABLES, 7));
        // A line without an end is no row.
        read_log(&[b"Ideal/Total Cycles\nx-opCatY 3\n", &[b'x'; MAX_LINE_LEN + 1][..]].concat(), &mut tables);
        assert_eq!(tables.dropped, 8);
    }

    #[test]
    fn any_bytes_are_read() {
        let mut tables = IdealTables::default();
        for cut in 0..LOG.len() {
            read_log(&LOG.as_bytes()[..cut], &mut tables);
        }
        read_log(b"Ideal/Total Cycles\n\xff\xfe-opCat\xff 1\n-opCat 99999999999999999999", &mut tables);
    }
}
