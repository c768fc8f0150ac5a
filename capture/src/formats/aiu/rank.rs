//! The ranks of FLEX traces: each process with slices is a rank, in the order of the files.

use rustc_hash::FxHashMap;

/// Most ranks of the files of a plan.
const MAX_RANKS: usize = 1 << 16;

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
pub(super) struct Ranks {
    nth: usize,
    known: FxHashMap<Box<[u8]>, usize>,
    /// Process of the last event.
    last: Option<(Box<[u8]>, Whose)>,
    /// Process id of the rank that is being read.
    mine: Option<Box<[u8]>>,
}

impl Ranks {
    /// Ranks, of which the one with this position is being read.
    pub(super) fn new(nth: usize) -> Self {
        Self { nth, known: FxHashMap::default(), last: None, mine: None }
    }

    /// Whose event this is. Only slices make a process a rank; other events of processes that are
    /// none belong to the first rank.
    pub(super) fn of(&mut self, pid: &[u8], is_slice: bool) -> Whose {
        if let Some((last, whose)) = &self.last
            && **last == *pid
        {
            return *whose;
        }
        let count = self.known.len();
        let position = match self.known.get(pid) {
            Some(&known) => Some(known),
            None if is_slice && count < MAX_RANKS => {
                self.known.insert(pid.into(), count);
                Some(count)
            }
            None => None,
        };
        let Some(position) = position else {
            return if self.nth == 0 { Whose::Mine } else { Whose::Other };
        };
        let whose = if position == self.nth { Whose::Mine } else { Whose::Other };
        if whose == Whose::Mine && self.mine.is_none() {
            self.mine = Some(pid.into());
        }
        self.last = Some((pid.into(), whose));
        whose
    }

    /// Number of ranks so far.
    pub(super) fn count(&self) -> usize {
        self.known.len()
    }

    /// The number of the rank that is being read, if its process id is one.
    pub(super) fn number(&self) -> Option<u32> {
        let number = std::str::from_utf8(self.mine.as_deref()?).ok()?.trim().parse().ok()?;
        usize::try_from(number).is_ok_and(|rank| rank < MAX_RANKS).then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_process_with_slices_is_a_rank() {
        let whose = |nth: usize| {
            let mut ranks = Ranks::new(nth);
            let events = [("9", false), ("3", true), ("3", true), ("1", true), ("3", true), ("9", false)];
            let mine = events.map(|(pid, is_slice)| ranks.of(pid.as_bytes(), is_slice) == Whose::Mine);
            (mine, ranks.count(), ranks.number())
        };
        assert_eq!(whose(0), ([true, true, true, false, true, true], 2, Some(3)));
        assert_eq!(whose(1), ([false, false, false, true, false, false], 2, Some(1)));
    }
}
