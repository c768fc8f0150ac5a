//! The ranks of FLEX traces: each process with slices is a rank, in the order of the files.

use rustc_hash::FxHashMap;

/// Highest process id that is the number of a rank.
const MAX_NUMBER: u32 = 1 << 16;

/// Most ranks of the files of a plan, however small these are.
const MAX_RANKS: usize = 256;
/// Ranks that files of any size can have.
const MIN_RANKS: u64 = 16;
/// Each rank is read in a pass of its own, so all passes together read at most this many bytes, or
/// [`MIN_RANKS`] times all files.
const MAX_BYTES: u64 = 64 << 30;

/// Most ranks of files with this many bytes. Further processes belong to the first rank.
pub(super) fn most_ranks(bytes: u64) -> usize {
    let ranks = (MAX_BYTES / bytes.max(1)).max(MIN_RANKS);
    usize::try_from(ranks).unwrap_or(MAX_RANKS).min(MAX_RANKS)
}

/// Rank that an event belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// The rank that is being read.
    Mine,
    /// Another rank, which is read in a pass of its own.
    Other,
}

/// The processes seen so far.
#[derive(Debug)]
pub(super) struct FlexRanks {
    nth: usize,
    most: usize,
    known: FxHashMap<Box<[u8]>, usize>,
    /// Whether there were more processes than ranks.
    is_full: bool,
    /// Process of the last event that was of a known one, and its position.
    last: Option<(Box<[u8]>, usize)>,
    /// Position of the process of the last event; `None` if it was not known before.
    owner: Option<usize>,
    /// Process id of the rank that is being read.
    mine: Option<Box<[u8]>>,
    /// The rank of all events, whatever their process, in place of its process id.
    within: Option<Box<[u8]>>,
}

impl FlexRanks {
    /// At most this many ranks, of which the one with this position is being read.
    pub(super) fn new(nth: usize, most: usize) -> Self {
        Self {
            nth,
            most,
            known: FxHashMap::default(),
            is_full: false,
            last: None,
            owner: None,
            mine: None,
            within: None,
        }
    }

    /// Whether there were more processes than ranks.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// The events that follow are of this rank, or of that of their processes again.
    pub(super) fn within(&mut self, rank: Option<&[u8]>) {
        self.within = rank.map(Box::from);
    }

    /// Whether the rank of the events that follow is stated.
    pub(super) fn is_within(&self) -> bool {
        self.within.is_some()
    }

    /// The owner of an event. Only slices make a process a rank; other events of processes that are
    /// none belong to the first rank.
    pub(super) fn of(&mut self, pid: &[u8], is_slice: bool) -> Whose {
        let within = self.within.take();
        // A rank that is stated is one, whatever its events.
        let whose = self.find(within.as_deref().unwrap_or(pid), is_slice || within.is_some());
        self.within = within;
        whose
    }

    fn find(&mut self, pid: &[u8], is_slice: bool) -> Whose {
        if let Some((last, position)) = &self.last
            && **last == *pid
        {
            self.owner = Some(*position);
            return self.whose(*position);
        }
        let count = self.known.len();
        self.owner = self.known.get(pid).copied();
        let position = match self.owner {
            Some(known) => Some(known),
            None if is_slice && count < self.most => {
                self.known.insert(pid.into(), count);
                Some(count)
            }
            None => None,
        };
        let Some(position) = position else {
            self.is_full |= is_slice;
            return if self.nth == 0 { Whose::Mine } else { Whose::Other };
        };
        let whose = self.whose(position);
        if whose == Whose::Mine && self.mine.is_none() {
            self.mine = Some(pid.into());
        }
        self.last = Some((pid.into(), position));
        whose
    }

    /// Whether the events of a process are of the rank that is being read. `None` for processes
    /// that are no rank, or not yet.
    pub(super) fn is_own(&self, pid: &[u8]) -> Option<bool> {
        self.known.get(pid).map(|&position| self.whose(position) == Whose::Mine)
    }

    fn whose(&self, position: usize) -> Whose {
        if position == self.nth { Whose::Mine } else { Whose::Other }
    }

    /// Position of the rank of the last event. `None` if the event made its process a rank, or if
    /// its process is none.
    pub(super) fn owner(&self) -> Option<u32> {
        self.owner.and_then(|position| u32::try_from(position).ok())
    }

    /// Number of ranks so far.
    pub(super) fn count(&self) -> usize {
        self.known.len()
    }

    /// The number of the rank that is being read, if its process id is one.
    pub(super) fn number(&self) -> Option<u32> {
        let number = std::str::from_utf8(self.mine.as_deref()?).ok()?.trim().parse().ok()?;
        (number < MAX_NUMBER).then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_process_with_slices_is_a_rank() {
        let whose = |nth: usize| {
            let mut ranks = FlexRanks::new(nth, 9);
            let events = [("9", false), ("3", true), ("3", true), ("1", true), ("3", true), ("9", false)];
            let mine = events.map(|(pid, is_slice)| ranks.of(pid.as_bytes(), is_slice) == Whose::Mine);
            (mine, ranks.count(), ranks.number(), ranks.owner())
        };
        assert_eq!(whose(0), ([true, true, true, false, true, true], 2, Some(3), None));
        assert_eq!(whose(1), ([false, false, false, true, false, false], 2, Some(1), None));
        let mut ranks = FlexRanks::new(1, 9);
        let stated = [Some("4"), Some("5"), Some("4"), None].map(|rank| {
            ranks.within(rank.map(str::as_bytes));
            ranks.of(b"3", true) == Whose::Mine
        });
        assert_eq!((stated, ranks.count(), ranks.number()), ([false, true, false, false], 3, Some(5)));
        let mut ranks = FlexRanks::new(0, 9);
        let owners = ["3", "3", "1", "3", "1", "1"].map(|pid| {
            ranks.of(pid.as_bytes(), true);
            ranks.owner()
        });
        assert_eq!(owners, [None, Some(0), None, Some(0), Some(1), Some(1)]);
    }

    #[test]
    fn processes_beyond_the_most_ranks_are_of_the_first() {
        let mine = |nth: usize| {
            let mut ranks = FlexRanks::new(nth, 2);
            let mine = ["3", "1", "7", "3"].map(|pid| ranks.of(pid.as_bytes(), true) == Whose::Mine);
            (mine, ranks.count(), ranks.is_full())
        };
        assert_eq!(mine(0), ([true, false, true, true], 2, true));
        assert_eq!(mine(1), ([false, true, false, false], 2, true));
        assert_eq!((most_ranks(0), most_ranks(1 << 30), most_ranks(u64::MAX)), (256, 64, 16));
    }
}
