//! The ranks beside each other, for people: work by name, and the imbalance of regions.

use std::io::{self, Write};

use nprof_engine::base::time::short_duration;
use nprof_engine::insight::difference::sentence::signed_time;
use nprof_engine::insight::finding::short_name;
use nprof_engine::wire::rank_balance::{NameDifferenceEntry, RankBalance, RegionImbalanceEntry};

use super::size;
use crate::print;
use crate::print::text::{self, Align};

/// Rows of each kind.
const MOST: usize = 8;

/// A table of the largest of `total` rows.
struct Section {
    title: &'static str,
    heading: [&'static str; 6],
    align: [Align; 6],
    rows: Vec<Vec<String>>,
    total: u64,
}

/// Writes the largest differences and imbalances. Without any, nothing.
pub(super) fn write(of: &RankBalance, out: &mut dyn Write) -> io::Result<()> {
    use Align::{Left, Right};
    let names = Section {
        title: "work by name, beside the median of the other ranks",
        heading: ["RANK", "NAME", "COUNT", "TIME", "MEDIAN", "DIFFERENCE"],
        align: [Right, Left, Right, Right, Right, Right],
        rows: of.names.iter().take(MOST).map(difference).collect(),
        total: of.total_names,
    };
    let regions = Section {
        title: "work in the regions of all ranks",
        heading: ["REGION", "COUNT", "MOST ON RANK", "TIME", "MEAN", "IMBALANCE"],
        align: [Left, Right, Right, Right, Right, Right],
        rows: of.regions.iter().take(MOST).map(imbalance).collect(),
        total: of.total_regions,
    };
    names.write(out)?;
    regions.write(out)
}

impl Section {
    fn write(self, out: &mut dyn Write) -> io::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let more = self.total - self.rows.len() as u64;
        let more = if more > 0 { format!("; --output-format json has {more} more") } else { String::new() };
        print::lines([format!("{}{more}:", self.title)], out)?;
        let heading = self.heading.map(str::to_owned).to_vec();
        let rows: Vec<Vec<String>> = std::iter::once(heading).chain(self.rows).collect();
        text::table(out, &self.align, &rows)
    }
}

fn difference(of: &NameDifferenceEntry) -> Vec<String> {
    vec![
        of.rank.to_string(),
        short_name(&of.name),
        size::count(of.count),
        short_duration(of.time_ps as f64),
        short_duration(of.median_ps as f64),
        signed_time(of.difference_ps),
    ]
}

fn imbalance(of: &RegionImbalanceEntry) -> Vec<String> {
    vec![
        short_name(&of.name),
        size::count(of.count),
        of.most_rank.to_string(),
        short_duration(of.most_ps as f64),
        short_duration(of.mean_ps as f64),
        text::ratio(Some(of.imbalance)),
    ]
}
