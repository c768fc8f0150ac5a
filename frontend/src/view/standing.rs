//! How a rank stands among the others: how long others waited for it, and how long it waited. Lists
//! and rows of ranks are in the order of these times.
//!
//! The times are those of the table of ranks of the joint segment.

use std::cmp::Reverse;
use std::collections::HashMap;

use nprof_engine::wire::rows::{ColumnValues, Presence, RowColumn, TableRows};

/// Order of lists and rows of ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RankOrder {
    /// By number.
    #[default]
    Number,
    /// The rank first for which others waited longest.
    Late,
    /// The rank first that waited longest.
    Wait,
}

impl RankOrder {
    /// All orders.
    pub const ALL: [Self; 3] = [Self::Number, Self::Late, Self::Wait];

    /// The name in addresses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Number => "rank",
            Self::Late => "late",
            Self::Wait => "wait",
        }
    }

    /// The order with this name in addresses.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.name() == name)
    }

    /// The name for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Number => "By number",
            Self::Late => "Latest first",
            Self::Wait => "Longest wait first",
        }
    }

    /// The meaning of a rank's time in this order, in words. An order by number shows how late
    /// ranks are.
    #[must_use]
    pub fn quantity(self) -> &'static str {
        match self {
            Self::Number | Self::Late => "others waited for it",
            Self::Wait => "waited for others",
        }
    }
}

/// The times of a rank, in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Standing {
    /// Waiting of other ranks that began with this one.
    pub late_ps: i64,
    /// Time that it waited for other ranks.
    pub wait_ps: i64,
}

impl Standing {
    /// The time that an order is about.
    #[must_use]
    pub fn time_ps(self, order: RankOrder) -> i64 {
        match order {
            RankOrder::Number | RankOrder::Late => self.late_ps,
            RankOrder::Wait => self.wait_ps,
        }
    }
}

/// The times of all ranks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Standings {
    of: HashMap<u32, Standing>,
    most: Standing,
}

impl Standings {
    /// The times in the table of ranks of the joint segment. Without its columns nothing is known.
    #[must_use]
    pub fn read(rows: &TableRows) -> Self {
        let column = |name: &str| rows.columns.iter().find(|column| column.name == name).and_then(whole);
        let (Some(ranks), Some(late), Some(wait)) = (column("rank"), column("root_blame"), column("wait"))
        else {
            return Self::default();
        };
        let times =
            late.iter().zip(wait).map(|(late_ps, wait_ps)| Standing { late_ps: *late_ps, wait_ps: *wait_ps });
        let of: HashMap<u32, Standing> = ranks
            .iter()
            .zip(times)
            .filter_map(|(rank, one)| Some((u32::try_from(*rank).ok()?, one)))
            .collect();
        let most = |time: fn(&Standing) -> i64| of.values().map(time).max().unwrap_or_default();
        let most = Standing { late_ps: most(|one| one.late_ps), wait_ps: most(|one| one.wait_ps) };
        Self { of, most }
    }

    /// Whether the times of any rank are known.
    #[must_use]
    pub fn is_known(&self) -> bool {
        !self.of.is_empty()
    }

    /// The time of a rank that an order is about.
    #[must_use]
    pub fn time_ps(&self, rank: u32, order: RankOrder) -> Option<i64> {
        self.of.get(&rank).map(|one| one.time_ps(order))
    }

    /// The longest of all times.
    #[must_use]
    pub fn most_ps(&self) -> i64 {
        self.most.late_ps.max(self.most.wait_ps)
    }

    /// The time of a rank as a share of the longest time of all ranks.
    #[must_use]
    pub fn share(&self, rank: u32, order: RankOrder) -> f64 {
        let most_ps = self.most.time_ps(order);
        let time_ps = self.time_ps(rank, order).unwrap_or_default();
        if most_ps > 0 { time_ps.max(0) as f64 / most_ps as f64 } else { 0.0 }
    }

    /// Sorts ranks: the longest time first, ranks of equal times and all others by number.
    #[must_use]
    pub fn key(&self, rank: u32, order: RankOrder) -> impl Ord + use<> {
        let time_ps = match order {
            RankOrder::Number => None,
            RankOrder::Late | RankOrder::Wait => self.time_ps(rank, order),
        };
        (Reverse(time_ps), rank)
    }
}

/// The values of a column of whole numbers without gaps.
fn whole(column: &RowColumn) -> Option<&Vec<i64>> {
    match &column.values {
        ColumnValues::Ints(values) if column.present == Presence::All => Some(values),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use nprof_engine::wire::rows::RowColumnRole;

    use super::*;

    fn table(columns: &[(&str, &[i64])]) -> TableRows {
        let column = |(name, values): &(&str, &[i64])| RowColumn {
            role: RowColumnRole::Field,
            name: (*name).to_owned(),
            unit: String::new(),
            doc: String::new(),
            present: Presence::All,
            values: ColumnValues::Ints(values.to_vec()),
        };
        let rows = columns.first().map_or(0, |(_, values)| values.len() as u32);
        let columns = columns.iter().map(column).collect();
        TableRows { table: "rank".to_owned(), rows, total: rows.into(), truncated: false, columns }
    }

    #[track_caller]
    fn check(order: RankOrder, expected: &[u32]) {
        let known = [("rank", &[0, 1, 2, 3][..]), ("wait", &[5, 5, 0, 9]), ("root_blame", &[0, 7, 30, 7])];
        let standings = Standings::read(&table(&known));
        // Rank 9 is not in the table.
        let mut ranks = vec![9, 3, 2, 1, 0];
        ranks.sort_by_cached_key(|rank| standings.key(*rank, order));
        assert_eq!(ranks, expected, "{order:?}");
        let shares: Vec<f64> = [2, 0, 9].map(|rank| standings.share(rank, RankOrder::Number)).to_vec();
        assert_eq!(shares, [1.0, 0.0, 0.0]);
    }

    #[test]
    fn ranks_are_sorted_by_their_times() {
        check(RankOrder::Number, &[0, 1, 2, 3, 9]);
        check(RankOrder::Late, &[2, 1, 3, 0, 9]);
        check(RankOrder::Wait, &[3, 0, 1, 2, 9]);
    }

    #[test]
    fn tables_without_the_columns_say_nothing() {
        let standings = Standings::read(&table(&[("rank", &[0, 1])]));
        assert_eq!((standings.time_ps(0, RankOrder::Late), standings.share(0, RankOrder::Late)), (None, 0.0));
        let mut ranks = vec![1, 0];
        ranks.sort_by_cached_key(|rank| standings.key(*rank, RankOrder::Late));
        assert_eq!(ranks, [0, 1]);
    }

    #[test]
    fn orders_come_back_from_their_names() {
        for order in RankOrder::ALL {
            assert_eq!(RankOrder::from_name(order.name()), Some(order));
        }
        assert_eq!(RankOrder::from_name("host"), None);
    }
}
