//! The order of the table of times by name.

use std::cmp::Reverse;

use nprof_engine::wire::selection::NameTotal;

/// A column that the table can be sorted by, the largest number first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SortBy {
    /// Number of slices.
    Count,
    /// Sum of durations.
    Total,
    /// Sum of durations. Calls of the same name inside a call do not count again.
    Union,
    /// Time without the calls inside.
    #[default]
    Own,
    /// The longest slice.
    Longest,
}

impl SortBy {
    /// All columns with their headings, from left to right.
    pub const ALL: [(Self, &str); 5] = [
        (Self::Count, "Count"),
        (Self::Own, "Self"),
        (Self::Union, "Union"),
        (Self::Total, "Total"),
        (Self::Longest, "Longest"),
    ];

    /// The meaning of the column's numbers.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Count => "Slices that overlap the span",
            Self::Own => "Time inside the span without the calls inside: no time counts twice on a thread",
            Self::Union => "As the total, where calls of the same name inside do not count again",
            Self::Total => "Sum of the durations inside the span: calls inside calls count in each",
            Self::Longest => "The longest slice, with what lies outside of the span",
        }
    }

    fn number(self, of: &NameTotal) -> u64 {
        match self {
            Self::Count => of.count,
            Self::Total => of.total_ps,
            Self::Union => of.union_ps,
            Self::Own => of.self_ps,
            Self::Longest => of.longest_ps,
        }
    }

    /// The first `most` names by this column. Equal ones are ordered by name.
    #[must_use]
    pub fn first(self, names: &[NameTotal], most: usize) -> Vec<NameTotal> {
        let mut names: Vec<&NameTotal> = names.iter().collect();
        names.sort_by(|a, b| {
            Reverse(self.number(a)).cmp(&Reverse(self.number(b))).then_with(|| a.name.cmp(&b.name))
        });
        names.into_iter().take(most).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sort: SortBy, expected: &str) {
        let name = |name: &str, count, [total_ps, union_ps, self_ps, longest_ps]: [u64; 4]| NameTotal {
            name: name.to_owned(),
            count,
            total_ps,
            union_ps,
            self_ps,
            longest_ps,
            longest_row: 0,
        };
        let names = [name("outer", 2, [9, 5, 1, 9]), name("b", 1, [4, 4, 4, 2]), name("a", 1, [4, 4, 4, 3])];
        let first: Vec<String> = sort.first(&names, 2).into_iter().map(|of| of.name).collect();
        assert_eq!(first.join(" "), expected);
    }

    #[test]
    fn the_largest_numbers_come_first() {
        check(SortBy::default(), "a b");
        check(SortBy::Own, "a b");
        check(SortBy::Total, "outer a");
        check(SortBy::Union, "outer a");
        check(SortBy::Count, "outer a");
        check(SortBy::Longest, "outer a");
    }
}
