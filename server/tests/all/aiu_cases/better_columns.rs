//! Columns of traces that differ from acelyzer's, and why they are better: the lines of
//! `better.tsv`.

use std::fs;

/// A column, and the reason.
pub type Better = (String, String);

/// The differences of a case in which nprof is better. A line has cases (a word with `*` at its end
/// means all that begin with it), columns, and the reason.
pub fn better(case: &str) -> Vec<Better> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/aiu_cases/better.tsv");
    let text = fs::read_to_string(path).unwrap();
    let mut better = Vec::new();
    for line in text.lines().skip(1) {
        let [cases, columns, why] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("no line of three parts: {line}");
        };
        let is_its = |of: &str| of.strip_suffix('*').map_or(of == case, |begin| case.starts_with(begin));
        if cases.split(' ').any(is_its) {
            better.extend(columns.split(", ").map(|column| (column.to_owned(), why.to_owned())));
        }
    }
    better
}
