//! Ideal cycles of kernels: tables in logs of the compiler, and files of the PyTorch compiler.

use rustc_hash::FxHashMap;

use nprof_engine::vendor::aiu::{IDEAL_CYCLES, OP_CATEGORY};

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
const NOT_AVAILABLE: &str = "NotAvailable";

/// A kernel of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ideal {
    pub(super) kernel: Box<str>,
    pub(super) category: Box<str>,
    pub(super) cycles: u64,
}

/// Kind of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TableKind {
    /// The rows are the kernels of the trace.
    Kernels,
    /// The autopilot has arranged the kernels anew; only the total holds.
    Autopilot,
}

/// A table of ideal cycles: one iteration of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) phase: &'static str,
    pub(super) kind: TableKind,
    pub(super) rows: Vec<Ideal>,
    /// The sum that the log states.
    pub(super) total: Option<u64>,
    by_kernel: FxHashMap<Box<str>, usize>,
}

impl Table {
    fn new(phase: &'static str, kind: TableKind) -> Self {
        Self { phase, kind, rows: Vec::new(), total: None, by_kernel: FxHashMap::default() }
    }

    /// Position of a kernel's row.
    pub(super) fn row(&self, kernel: &str) -> Option<usize> {
        self.by_kernel.get(kernel).copied()
    }

    /// Adds a row. Of rows with equal names the first one counts.
    fn add(&mut self, kernel: &str, category: &str, cycles: u64) {
        if !self.by_kernel.contains_key(kernel) {
            self.by_kernel.insert(kernel.into(), self.rows.len());
            self.rows.push(Ideal { kernel: kernel.into(), category: category.into(), cycles });
        }
    }

    /// Ideal cycles of an iteration.
    pub(super) fn cycles(&self) -> u64 {
        self.total.unwrap_or_else(|| self.rows.iter().map(|row| row.cycles).sum())
    }
}

/// Adds the tables of a log. A table of the same phase with the same rows as one before is the same
/// table.
pub(super) fn read_log(log: &[u8], tables: &mut Vec<Table>) {
    let log = String::from_utf8_lossy(log);
    let (mut phase, mut kind) = (NO_PHASE, TableKind::Kernels);
    let mut open: Option<Table> = None;
    let mut push = |table: Table| {
        if !(table.rows.is_empty() || tables.contains(&table)) {
            tables.push(table);
        }
    };
    for line in log.lines() {
        if let Some((_, name)) = PHASES.iter().find(|(word, _)| line.trim() == *word) {
            phase = name;
        } else if line.contains(AUTOPILOT) {
            kind = TableKind::Autopilot;
        } else if line.contains(OPENS) {
            if let Some(before) = open.replace(Table::new(phase, kind)) {
                push(before);
            }
        } else if line.contains(CLOSES) {
            if let Some(table) = open.take() {
                push(table);
            }
        } else if let Some(table) = &mut open {
            take_row(line, table);
        }
    }
    if let Some(cut) = open {
        push(cut);
    }
}

/// Takes a row: `<kernel>-opCat<category> <cycles>`.
fn take_row(line: &str, table: &mut Table) {
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

/// Adds a file of the PyTorch compiler to the table of such files: a list of objects with ideal
/// cycles and category, of which the first counts. The folder above `perf` names the kernel.
pub(super) fn read_inductor(path: &str, text: &[u8], tables: &mut Vec<Table>) -> Result<(), String> {
    let kernel = path.rsplit('/').skip_while(|part| *part != "perf").nth(1);
    let Some(kernel) = kernel else {
        return Err("the kernel is not known: the file is not at <kernel>/perf/ideal_cycles.json".to_owned());
    };
    let value: serde_json::Value = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let first = value.as_array().map_or(Some(&value), |rows| rows.first());
    let cycles = first.and_then(|first| first.get(IDEAL_CYCLES)).and_then(serde_json::Value::as_u64);
    let Some(cycles) = cycles else { return Err("there are no ideal cycles in it".to_owned()) };
    let category = first.and_then(|first| first.get(OP_CATEGORY)).and_then(serde_json::Value::as_str);
    let is_it = |table: &&mut Table| table.phase == NO_PHASE && table.kind == TableKind::Kernels;
    let category = category.unwrap_or(NOT_AVAILABLE);
    match tables.iter_mut().find(is_it) {
        Some(table) => table.add(kernel, category, cycles),
        None => {
            let mut table = Table::new(NO_PHASE, TableKind::Kernels);
            table.add(kernel, category, cycles);
            tables.push(table);
        }
    }
    Ok(())
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
        let mut tables = Vec::new();
        read_log(LOG.as_bytes(), &mut tables);
        read_log(LOG.as_bytes(), &mut tables);
        assert_eq!(tables.len(), 2, "equal tables count once");
        let first = &tables[0];
        let rows: Vec<_> = first.rows.iter().map(|row| (&*row.kernel, &*row.category, row.cycles)).collect();
        assert_eq!(rows, [("bmm-BMM_1", "Bmm_fp16", 12288), ("view", NOT_AVAILABLE, 0)]);
        assert_eq!((first.phase, first.cycles(), first.row("view")), ("TTFT", 12293, Some(1)));
        assert_eq!((tables[1].phase, tables[1].cycles()), ("ITL", 4), "a log that is cut off");
    }

    #[test]
    fn tables_of_the_autopilot_are_marked() {
        let mut tables = Vec::new();
        read_log(b"DSM-AutoPilot BEGIN\nIdeal/Total Cycles\na-opCatB 3\n", &mut tables);
        assert_eq!(tables[0].kind, TableKind::Autopilot);
    }

    #[test]
    fn any_bytes_are_read() {
        let mut tables = Vec::new();
        for cut in 0..LOG.len() {
            read_log(&LOG.as_bytes()[..cut], &mut tables);
        }
        read_log(b"Ideal/Total Cycles\n\xff\xfe-opCat\xff 1\n-opCat 99999999999999999999", &mut tables);
    }

    #[test]
    fn files_of_the_pytorch_compiler_make_one_table() {
        let mut tables = Vec::new();
        let read =
            |path: &str, text: &str, tables: &mut Vec<Table>| read_inductor(path, text.as_bytes(), tables);
        let row = r#"[{"ideal_cycles": 24000, "op_category": "Bmm"}, {"ideal_cycles": 1}]"#;
        read("x/inductor-spyre/addmm/perf/ideal_cycles.json", row, &mut tables).unwrap();
        read("add/perf/ideal_cycles.json", r#"{"ideal_cycles": 0}"#, &mut tables).unwrap();
        assert_eq!((tables.len(), tables[0].rows.len(), tables[0].row("add")), (1, 2, Some(1)));
        for (path, text) in [("ideal_cycles.json", row), ("a/perf/b", "[]"), ("a/perf/b", "[")] {
            assert!(read(path, text, &mut tables).is_err(), "{path} {text}");
        }
    }
}
