//! Warnings of ingest: what could not be read or had to be changed. One bad event never loses a trace, and nothing is
//! dropped silently.

use std::collections::BTreeMap;

/// What went wrong with an event or a part of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WarningKind {
    /// The trace ends in the middle: what was there has been read.
    TruncatedInput,
    /// A record that contradicts its format; skipped.
    DamagedRecord,
    /// A start without an end, or an end without a start.
    Unpaired,
    /// A record of a kind this version does not know; kept as raw bytes where possible.
    UnknownRecord,
    /// A flow whose slice was not found.
    UnboundFlow,
    /// A value that had to be changed to be kept (out of range, invalid text …).
    AdjustedValue,
    /// Something the trace should have contained and does not.
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

    /// For people.
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

/// One sort of trouble, how often, and where first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// What went wrong.
    pub kind: WarningKind,
    /// What exactly, without the place, e.g. "`dur` is missing".
    pub what: String,
    /// Where it happened first, e.g. "byte 8812" or "record 17 of the DMA segment".
    pub first_place: String,
    /// How many times.
    pub count: u64,
}

/// What those are counted under whose texts are not kept.
const OTHER: &str = "other";

/// Collects warnings, equal ones together. At most [`Warnings::MAX_DISTINCT`] different texts are kept per kind, so
/// that a hostile file cannot fill the memory with them.
#[derive(Debug, Clone, Default)]
pub struct Warnings {
    by_kind: BTreeMap<(WarningKind, String), (String, u64)>,
}

impl Warnings {
    /// Different texts kept; what comes after is counted under "other".
    pub const MAX_DISTINCT: usize = 256;

    /// Counts one.
    pub fn add(&mut self, kind: WarningKind, what: &str, place: impl FnOnce() -> String) {
        if let Some((_, count)) = self.by_kind.get_mut(&(kind, what.to_owned())) {
            *count += 1;
            return;
        }
        let what = if self.by_kind.len() < Self::MAX_DISTINCT { what } else { OTHER };
        let entry = self.by_kind.entry((kind, what.to_owned())).or_insert_with(|| (place(), 0));
        entry.1 += 1;
    }

    /// Adds all of another collection, whose places come later.
    pub fn merge(&mut self, later: &Self) {
        for ((kind, what), (place, count)) in &later.by_kind {
            self.add(*kind, what, || place.clone());
            let what = if self.by_kind.contains_key(&(*kind, what.clone())) { what } else { OTHER };
            if let Some((_, all)) = self.by_kind.get_mut(&(*kind, what.to_owned())) {
                *all += count - 1;
            }
        }
    }

    /// All of them, by kind, then by text.
    pub fn iter(&self) -> impl Iterator<Item = Warning> + '_ {
        self.by_kind.iter().map(|((kind, what), (place, count))| Warning {
            kind: *kind,
            what: what.clone(),
            first_place: place.clone(),
            count: *count,
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
