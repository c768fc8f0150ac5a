//! Warnings of the ingest about data that could not be read or had to be changed. A bad event never
//! fails a whole trace, and nothing is dropped silently.

use std::collections::BTreeMap;

/// Kind of problem with an event or a part of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WarningKind {
    /// The trace ends early; everything before the end was read.
    TruncatedInput,
    /// A record that contradicts its format; skipped.
    DamagedRecord,
    /// A start without an end, or an end without a start.
    Unpaired,
    /// A record of a kind that this version does not know; kept as raw bytes if possible.
    UnknownRecord,
    /// A flow whose slice was not found.
    UnboundFlow,
    /// A value that had to be changed to be kept (out of range, invalid text …).
    AdjustedValue,
    /// Data that the trace should contain and does not.
    MissingData,
}

impl WarningKind {
    /// All kinds; the position is the code in the format (`docs/format.md`, Warnings).
    pub const ALL: [Self; 7] = [
        Self::TruncatedInput,
        Self::DamagedRecord,
        Self::Unpaired,
        Self::UnknownRecord,
        Self::UnboundFlow,
        Self::AdjustedValue,
        Self::MissingData,
    ];

    /// Title for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::TruncatedInput => "Truncated input",
            Self::DamagedRecord => "Damaged record",
            Self::Unpaired => "Unpaired event",
            Self::UnknownRecord => "Unknown record",
            Self::UnboundFlow => "Unbound flow",
            Self::AdjustedValue => "Adjusted value",
            Self::MissingData => "Missing data",
        }
    }
}

/// One kind of problem, with its count and its first place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Kind of the problem.
    pub kind: WarningKind,
    /// Description without the place, e.g. "`dur` is missing".
    pub what: String,
    /// First place of the problem, e.g. "byte 8812" or "record 17 of the DMA segment".
    pub first_place: String,
    /// Number of occurrences.
    pub count: u64,
}

/// Text that counts warnings whose own texts are not kept.
const OTHER: &str = "other";

/// Collects warnings, equal ones together. At most [`Warnings::MAX_DISTINCT`] different texts are
/// kept, so that a hostile file cannot fill the memory with them.
#[derive(Debug, Clone, Default)]
pub struct Warnings {
    /// First place and count, by kind, then by text.
    by_kind: BTreeMap<WarningKind, BTreeMap<String, (String, u64)>>,
    /// Different texts of all kinds.
    distinct: usize,
}

impl Warnings {
    /// Most different texts that are kept. Further ones are counted under "other".
    pub const MAX_DISTINCT: usize = 256;

    /// Counts one warning.
    pub fn add(&mut self, kind: WarningKind, what: &str, place: impl FnOnce() -> String) {
        *self.count(kind, what, place) += 1;
    }

    /// Counts several equal warnings.
    pub fn add_all(&mut self, kind: WarningKind, what: &str, count: u64, place: impl FnOnce() -> String) {
        if count > 0 {
            *self.count(kind, what, place) += count;
        }
    }

    /// The count of a warning, 0 for a new one. Known texts are found without an allocation: a
    /// trace can have millions of unbound flows.
    fn count(&mut self, kind: WarningKind, what: &str, place: impl FnOnce() -> String) -> &mut u64 {
        let of_kind = self.by_kind.entry(kind).or_default();
        let what =
            if of_kind.contains_key(what) || self.distinct < Self::MAX_DISTINCT { what } else { OTHER };
        if !of_kind.contains_key(what) {
            of_kind.insert(what.to_owned(), (place(), 0));
            self.distinct += 1;
        }
        &mut of_kind.get_mut(what).expect("inserted above").1
    }

    /// Adds all warnings of another collection, whose places come later.
    pub fn merge(&mut self, later: &Self) {
        for (kind, texts) in &later.by_kind {
            for (what, (place, count)) in texts {
                *self.count(*kind, what, || place.clone()) += count;
            }
        }
    }

    /// All warnings, by kind, then by text.
    pub fn iter(&self) -> impl Iterator<Item = Warning> + '_ {
        self.by_kind.iter().flat_map(|(kind, texts)| {
            texts.iter().map(|(what, (place, count))| Warning {
                kind: *kind,
                what: what.clone(),
                first_place: place.clone(),
                count: *count,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_warnings_are_counted_and_the_first_place_is_kept() {
        let mut warnings = Warnings::default();
        for byte in [3, 5] {
            warnings.add(WarningKind::DamagedRecord, "no name", || format!("byte {byte}"));
        }
        let all: Vec<Warning> = warnings.iter().collect();
        assert_eq!((all.len(), all[0].count, all[0].first_place.as_str()), (1, 2, "byte 3"));
    }

    #[test]
    fn a_flood_of_different_warnings_stays_small() {
        let mut warnings = Warnings::default();
        for n in 0..10_000 {
            warnings.add(WarningKind::DamagedRecord, &format!("text {n}"), String::new);
        }
        assert!(warnings.iter().count() <= Warnings::MAX_DISTINCT + 1);
        assert_eq!(warnings.iter().map(|w| w.count).sum::<u64>(), 10_000);
    }
}
