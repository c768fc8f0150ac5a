//! The activity of all ranks over time, as the job segment keeps it.
//!
//! A job of 64 ranks has 16,384 rows, so an answer reads a few blocks whatever the traces have.

use super::schema::ActivityRow;
use crate::base::{Interval, Result};
use crate::exec::Cancel;
use crate::makers::FieldCell;
use crate::segment::{Bytes, Segment};

/// Activity of a rank in each span: a share of time, or a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ActivityQuantity {
    /// It computed, transferred, copied or filled memory.
    Busy,
    /// It waited for others in collective operations.
    #[default]
    Wait,
    /// It computed: operations a second where they are known, else a share of time.
    Compute,
}

impl ActivityQuantity {
    /// All quantities, in display order.
    pub const ALL: [Self; 3] = [Self::Busy, Self::Wait, Self::Compute];
    /// All quantities with their words for people, messages and addresses.
    pub const WORDS: [(&'static str, Self); 3] =
        [("busy", Self::Busy), ("wait", Self::Wait), ("compute", Self::Compute)];

    /// Its word.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::WORDS[self as usize].0
    }

    /// The quantity of this word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::WORDS.into_iter().find(|(word, _)| *word == name).map(|(_, quantity)| quantity)
    }

    /// Why a job can lack it.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Busy => "no rank recorded work of its device",
            Self::Wait => "no collective operation has calls of two ranks",
            Self::Compute => "no rank recorded computation",
        }
    }

    fn of(self, row: &ActivityRow<FieldCell>) -> Option<f64> {
        match self {
            Self::Busy => row.busy.float(),
            Self::Wait => row.wait.float(),
            Self::Compute => row.compute.float(),
        }
    }
}

/// A quantity of all ranks in equal spans of time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JobActivity {
    /// Start of the first span, in picoseconds.
    pub start_ps: i64,
    /// End of the last span, which can be shorter.
    pub end_ps: i64,
    /// Length of a span, in picoseconds; 0 without spans.
    pub step_ps: i64,
    /// The ranks that have the quantity, by number.
    pub ranks: Vec<SharesOfRank>,
    /// The quantities that no rank has.
    pub absent: Vec<ActivityQuantity>,
    /// The rate of which shares are, if the quantity is a rate and no share of time.
    pub rate: Option<ComputeRate>,
}

/// A rate of computation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComputeRate {
    /// Floating-point operations a second of the share 1.
    pub top_flops: f64,
    /// Whether that is the peak of the devices. Else it is the largest rate of a rank in a span.
    pub is_peak: bool,
}

impl ComputeRate {
    /// The rate of all ranks. `None` if a rank computes and its operations are not known.
    fn of(rows: &[ActivityRow<FieldCell>]) -> Option<Self> {
        let computing = || rows.iter().filter(|row| row.compute.float().is_some());
        let rates: Option<Vec<f64>> = computing().map(|row| row.compute_rate.float()).collect();
        let largest = rates?.into_iter().reduce(f64::max).filter(|largest| *largest > 0.0)?;
        let peaks: Option<Vec<f64>> = computing().map(|row| row.compute_peak.float()).collect();
        // A definition with more operations than the device does can exceed the peak.
        let peak = peaks.and_then(|peaks| peaks.into_iter().reduce(f64::max)).filter(|peak| *peak >= largest);
        Some(Self { top_flops: peak.unwrap_or(largest), is_peak: peak.is_some() })
    }
}

/// A quantity of a rank.
#[derive(Debug, Clone, PartialEq)]
pub struct SharesOfRank {
    /// Number of the rank.
    pub rank: u32,
    /// The share of each span, from 0 to 1: of its time, or of [`ComputeRate::top_flops`].
    pub shares: Vec<f32>,
}

/// A quantity of the ranks of a job segment. Empty if the segment is no job segment.
pub fn activity<B: Bytes>(
    segment: &Segment<B>,
    quantity: ActivityQuantity,
    cancel: Cancel<'_>,
) -> Result<JobActivity> {
    let rows = ActivityRow::read(segment, cancel)?;
    let has = |one: ActivityQuantity| rows.iter().any(|row| one.of(row).is_some());
    let absent = ActivityQuantity::ALL.into_iter().filter(|one| !has(*one)).collect();
    let mut found = JobActivity { absent, ..JobActivity::default() };
    let spans = rows.iter().filter_map(|row| Some(Interval::new(row.start.int()?, row.end.int()?)));
    if let Some(whole) = spans.clone().reduce(Interval::cover) {
        (found.start_ps, found.end_ps) = (whole.start.0, whole.end.0);
        found.step_ps = spans.map(Interval::duration_ps).max().unwrap_or(0);
    }
    found.rate = if quantity == ActivityQuantity::Compute { ComputeRate::of(&rows) } else { None };
    for row in &rows {
        let share = match found.rate {
            Some(rate) => row.compute_rate.float().map(|flops| flops / rate.top_flops),
            None => quantity.of(row),
        };
        let (Some(rank), Some(share)) = (row.rank.number(), share) else { continue };
        #[expect(clippy::cast_possible_truncation, reason = "colours need no more digits")]
        let share = share as f32;
        match found.ranks.last_mut() {
            Some(last) if last.rank == rank => last.shares.push(share),
            _ => found.ranks.push(SharesOfRank { rank, shares: vec![share] }),
        }
    }
    found.ranks.sort_by_key(|of| of.rank);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_stand_in_the_order_of_their_words() {
        for (word, quantity) in ActivityQuantity::WORDS {
            assert_eq!((quantity.name(), ActivityQuantity::from_name(word)), (word, Some(quantity)));
        }
        assert_eq!(ActivityQuantity::from_name("flops"), None);
    }
}
