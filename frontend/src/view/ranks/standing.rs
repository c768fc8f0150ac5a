//! Standing of a rank among the others: the time others waited for it, its own waiting, and its
//! host. Lists and rows of ranks are in this order.
//!
//! The times are those of the table of ranks of the job segment.

use std::cmp::Reverse;
use std::collections::HashMap;

use nprof_engine::base::name_order::natural;
use nprof_engine::base::order::{sort_by, sort_by_key};
use nprof_engine::makers::job::schema::RankRow;
use nprof_engine::wire::rows::{ColumnValues, RowColumn, RowPresence, TableRows};

/// Order of lists and rows of ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RankOrder {
    /// By number.
    #[default]
    Number,
    /// By host, and by number within a host.
    Host,
    /// The rank first for which others waited longest.
    Late,
    /// The rank first that waited longest.
    Wait,
}

impl RankOrder {
    /// All orders.
    pub const ALL: [Self; 4] = [Self::Number, Self::Host, Self::Late, Self::Wait];

    /// The name in addresses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Number => "rank",
            Self::Host => "host",
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
            Self::Host => "By host",
            Self::Late => "Latest first",
            Self::Wait => "Longest wait first",
        }
    }

    /// The meaning of a rank's time in this order, in words. Orders by number and host show how
    /// late ranks are.
    #[must_use]
    pub fn quantity(self) -> &'static str {
        match self {
            Self::Number | Self::Host | Self::Late => "others waited for it",
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
            RankOrder::Number | RankOrder::Host | RankOrder::Late => self.late_ps,
            RankOrder::Wait => self.wait_ps,
        }
    }
}

/// The times and hosts of all ranks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Standings {
    of: HashMap<u32, Standing>,
    most: Standing,
    /// Names of the hosts, in order.
    hosts: Vec<String>,
    /// The host of each rank, as an index.
    host_of: HashMap<u32, usize>,
}

impl Standings {
    /// The times in the table of ranks of the job segment. Without its columns nothing is known.
    #[must_use]
    pub fn read(rows: &TableRows) -> Self {
        let of = RankRow::by(|field| rows.field(field.name).and_then(whole));
        let (Some(ranks), Some(late), Some(wait)) = (of.rank, of.root_blame, of.wait) else {
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
        Self { of, most, ..Self::default() }
    }

    /// The same times with the hosts of ranks. Hosts are ordered by name, and numbers in names by
    /// value.
    #[must_use]
    pub fn with_hosts<'a>(self, ranks: impl Iterator<Item = (u32, &'a str)> + Clone) -> Self {
        let mut hosts: Vec<String> = ranks.clone().map(|(_, host)| host.to_owned()).collect();
        sort_by(&mut hosts, |a, b| natural(a, b));
        hosts.dedup();
        let places: HashMap<&str, usize> =
            hosts.iter().enumerate().map(|(at, host)| (host.as_str(), at)).collect();
        let host_of = ranks.filter_map(|(rank, host)| Some((rank, *places.get(host)?))).collect();
        Self { hosts, host_of, ..self }
    }

    /// Whether ranks are on several hosts.
    #[must_use]
    pub fn has_hosts(&self) -> bool {
        self.hosts.len() > 1
    }

    /// The host of a rank, if it is known.
    #[must_use]
    pub fn host(&self, rank: u32) -> Option<&str> {
        self.hosts.get(*self.host_of.get(&rank)?).map(String::as_str)
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

    /// The key of a rank: the first host or the longest time comes first, all others by number.
    /// Ranks without a host or time come last.
    #[must_use]
    pub fn key(&self, rank: u32, order: RankOrder) -> impl Ord + use<> {
        let (host, time_ps) = match order {
            RankOrder::Number => (None, None),
            RankOrder::Host => (Some(self.host_of.get(&rank).copied().unwrap_or(usize::MAX)), None),
            RankOrder::Late | RankOrder::Wait => (None, self.time_ps(rank, order)),
        };
        (host, Reverse(time_ps), rank)
    }

    /// Sorts ranks by [`Standings::key`].
    pub fn sort(&self, ranks: &mut [u32], order: RankOrder) {
        sort_by_key(ranks, |rank| self.key(*rank, order));
    }
}

/// The values of a column of whole numbers without gaps.
fn whole(column: &RowColumn) -> Option<&Vec<i64>> {
    match &column.values {
        ColumnValues::Ints(values) if column.present == RowPresence::All => Some(values),
        _ => None,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use nprof_engine::wire::rows::RowColumnRole;

    use super::*;

    /// Ranks for which the others waited this long.
    pub(crate) fn standings(ranks: &[u32], late_ps: &[i64]) -> Standings {
        let ranks: Vec<i64> = ranks.iter().map(|rank| i64::from(*rank)).collect();
        let none = vec![0; ranks.len()];
        Standings::read(&table(&[("rank", &ranks[..]), ("wait", &none[..]), ("root_blame", late_ps)]))
    }

    fn table(columns: &[(&str, &[i64])]) -> TableRows {
        let column = |(name, values): &(&str, &[i64])| RowColumn {
            role: RowColumnRole::Field,
            name: (*name).to_owned(),
            unit: String::new(),
            doc: String::new(),
            present: RowPresence::All,
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
        standings.sort(&mut ranks, order);
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
        standings.sort(&mut ranks, RankOrder::Late);
        assert_eq!(ranks, [0, 1]);
    }

    #[test]
    fn orders_come_back_from_their_names() {
        for order in RankOrder::ALL {
            assert_eq!(RankOrder::from_name(order.name()), Some(order));
        }
        assert_eq!(RankOrder::from_name("node"), None);
    }

    #[test]
    fn ranks_are_sorted_by_host() {
        let hosts = [(5, "host-10"), (4, "host-2"), (1, "host-10"), (7, "gpu"), (3, "host-2")];
        let standings = Standings::default().with_hosts(hosts.into_iter());
        // The host of rank 0 is not known.
        let mut ranks = vec![0, 1, 3, 4, 5, 7];
        standings.sort(&mut ranks, RankOrder::Host);
        assert_eq!(ranks, [7, 3, 4, 1, 5, 0]);
        assert_eq!((standings.host(5), standings.host(0)), (Some("host-10"), None));
        assert!(standings.has_hosts() && !Standings::default().has_hosts());
    }
}
