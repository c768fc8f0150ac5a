//! Filter and order of the list of profiles. Pure.

use std::cmp::Ordering;

use nprof_engine::base::order::sort_by;
use nprof_engine::wire::catalog::ProfileEntry;

/// A column by which the list can be sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProfileColumn {
    /// The display name.
    Name,
    /// The kind of trace.
    Source,
    /// Time of the ingest.
    Ingested,
    /// Number of ranks.
    Ranks,
    /// Number of events.
    Events,
    /// Bytes in the store.
    Size,
}

/// Direction of the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Smallest first.
    Ascending,
    /// Largest first.
    Descending,
}

impl ProfileColumn {
    /// All columns.
    pub const ALL: [Self; 6] =
        [Self::Name, Self::Source, Self::Ingested, Self::Ranks, Self::Events, Self::Size];

    /// The column's name in addresses.
    fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Source => "source",
            Self::Ingested => "ingested",
            Self::Ranks => "ranks",
            Self::Events => "events",
            Self::Size => "size",
        }
    }
}

/// Order of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sort {
    /// The column.
    pub column: ProfileColumn,
    /// The direction.
    pub direction: Direction,
}

impl Default for Sort {
    fn default() -> Self {
        Self::INITIAL
    }
}

impl Sort {
    /// The initial order: newest first.
    pub const INITIAL: Self = Self { column: ProfileColumn::Ingested, direction: Direction::Descending };

    /// The name in addresses: the column's name, with `-` before it if the largest is first.
    #[must_use]
    pub fn name(self) -> String {
        match self.direction {
            Direction::Ascending => self.column.name().to_owned(),
            Direction::Descending => format!("-{}", self.column.name()),
        }
    }

    /// Parses [`Sort::name`].
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let (direction, name) = match name.strip_prefix('-') {
            Some(name) => (Direction::Descending, name),
            None => (Direction::Ascending, name),
        };
        let column = ProfileColumn::ALL.into_iter().find(|column| column.name() == name)?;
        Some(Self { column, direction })
    }

    /// The order after a click on a column's heading. A click on the current column reverses it.
    /// Another column starts with the usual direction: names from A, numbers from the largest.
    #[must_use]
    pub fn clicked(self, column: ProfileColumn) -> Self {
        let direction = match (self.column == column, self.direction) {
            (true, Direction::Ascending) => Direction::Descending,
            (true, Direction::Descending) => Direction::Ascending,
            (false, _) => match column {
                ProfileColumn::Name | ProfileColumn::Source => Direction::Ascending,
                ProfileColumn::Ingested
                | ProfileColumn::Ranks
                | ProfileColumn::Events
                | ProfileColumn::Size => Direction::Descending,
            },
        };
        Self { column, direction }
    }

    fn compare(self, a: &ProfileEntry, b: &ProfileEntry) -> Ordering {
        let order = match self.column {
            ProfileColumn::Name => a.display_name.to_lowercase().cmp(&b.display_name.to_lowercase()),
            ProfileColumn::Source => a.source.cmp(&b.source),
            ProfileColumn::Ingested => a.created_unix_ms.cmp(&b.created_unix_ms),
            ProfileColumn::Ranks => a.ranks.cmp(&b.ranks),
            ProfileColumn::Events => a.events.cmp(&b.events),
            ProfileColumn::Size => a.size_bytes.cmp(&b.size_bytes),
        };
        let order = match self.direction {
            Direction::Ascending => order,
            Direction::Descending => order.reverse(),
        };
        // Equal profiles must keep their order when the list is read again.
        order.then_with(|| b.created_unix_ms.cmp(&a.created_unix_ms)).then_with(|| a.id.cmp(&b.id))
    }
}

/// The sorted profiles that match the filter. Every word of the filter must occur in name, slug, id
/// or source, in any case.
#[must_use]
pub fn shown(profiles: &[ProfileEntry], filter: &str, sort: Sort) -> Vec<ProfileEntry> {
    let words: Vec<String> = filter.split_whitespace().map(str::to_lowercase).collect();
    let matches = |profile: &&ProfileEntry| {
        let text = [&profile.display_name, &profile.slug, &profile.id, &profile.source]
            .map(|text| text.to_lowercase());
        words.iter().all(|word| text.iter().any(|text| text.contains(word)))
    };
    let mut shown: Vec<ProfileEntry> = profiles.iter().filter(matches).cloned().collect();
    sort_by(&mut shown, |a, b| sort.compare(a, b));
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(name: &str, created: i64, events: u64) -> ProfileEntry {
        ProfileEntry {
            id: format!("n_{name}"),
            slug: name.to_lowercase(),
            aliases: Vec::new(),
            display_name: name.to_owned(),
            created_unix_ms: created,
            ranks: 1,
            events,
            size_bytes: events * 2,
            warnings: 0,
            source: "neuron".to_owned(),
        }
    }

    #[track_caller]
    fn check(filter: &str, sort: Sort, expected: &str) {
        let profiles = [profile("b", 3, 10), profile("A", 1, 30), profile("c x", 2, 10)];
        let names: Vec<String> = shown(&profiles, filter, sort).into_iter().map(|p| p.display_name).collect();
        assert_eq!(names.join(","), expected);
    }

    #[test]
    fn sorts_by_column_and_keeps_equal_ones_newest_first() {
        check("", Sort::INITIAL, "b,c x,A");
        check("", Sort::INITIAL.clicked(ProfileColumn::Name), "A,b,c x");
        check("", Sort::INITIAL.clicked(ProfileColumn::Name).clicked(ProfileColumn::Name), "c x,b,A");
        check("", Sort::INITIAL.clicked(ProfileColumn::Events), "A,b,c x");
        check("", Sort::INITIAL.clicked(ProfileColumn::Events).clicked(ProfileColumn::Events), "b,c x,A");
    }

    #[test]
    fn filters_by_all_words() {
        check("X", Sort::INITIAL, "c x");
        check("c NEURON", Sort::INITIAL, "c x");
        check("neuron zzz", Sort::INITIAL, "");
        check("  ", Sort::INITIAL, "b,c x,A");
    }
}
