//! The end of each lane of a track: a tree that finds the first free lane and the last busy one.

use crate::exec::step;

/// The end of the last slice of each lane, in a binary tree with the smallest and largest end per
/// node.
///
/// Node 1 is the root, and the nodes 2n and 2n + 1 are below node n. The last half of the nodes are
/// the lanes. An unused lane ends at `i64::MIN`. Up to [`FLAT_LINES`] lanes have no tree above
/// them: most tracks have few lanes, and looking at each is quicker.
#[derive(Debug, Default)]
pub struct LineEnds {
    /// Smallest and largest end; empty, or a power of two long.
    nodes: Vec<(i64, i64)>,
    count: usize,
}

const UNUSED: (i64, i64) = (i64::MIN, i64::MIN);
/// Initial capacity in lanes.
const FIRST_LINES: usize = 4;
/// Most lanes that are looked at one by one.
const FLAT_LINES: usize = 8;
/// Most lanes of a track. A slice that finds them all busy shares the last one.
pub const MAX_LINES: usize = 1 << 14;

impl LineEnds {
    /// Number of used lanes.
    pub fn count(&self) -> usize {
        self.count
    }

    fn room(&self) -> usize {
        self.nodes.len() / 2
    }

    /// The last lane that ends at `end_ps` or later.
    pub fn last_reaching(&self, end_ps: i64) -> Option<usize> {
        let room = self.room();
        if room <= FLAT_LINES {
            return self.nodes[room..].iter().rposition(|&(_, end)| end >= end_ps);
        }
        if self.nodes[1].1 < end_ps {
            return None;
        }
        let mut node = 1;
        while node < room {
            step(1);
            node = 2 * node + 1;
            if self.nodes[node].1 < end_ps {
                node -= 1;
            }
        }
        Some(node - room)
    }

    /// Assigns a slice that ends at `end_ps` to the first free lane at `start_ps`, from `lowest`
    /// on. If no lane is free, and the track can have no further lane, the slice shares the last
    /// one. Returns the lane, and whether the slice shares it.
    pub fn take_first_free(&mut self, lowest: usize, start_ps: i64, end_ps: i64) -> (usize, bool) {
        let free = self.first_free(lowest, start_ps);
        let line = match free {
            Some(line) => line,
            None => self.next_line(lowest),
        };
        self.count = self.count.max(line + 1);
        if free.is_none() && line == MAX_LINES - 1 && self.nodes[self.room() + line] != UNUSED {
            let (_, end) = self.nodes[self.room() + line];
            self.set(line, end_ps.max(end));
            return (line, true);
        }
        self.set(line, end_ps);
        (line, false)
    }

    /// A lane after all others, if there can be one more, or else the last lane.
    #[cold]
    fn next_line(&mut self, lowest: usize) -> usize {
        let line = self.room().max(lowest).min(MAX_LINES - 1);
        if line >= self.room() {
            self.make_room(line + 1);
        }
        line
    }

    fn first_free(&self, lowest: usize, start_ps: i64) -> Option<usize> {
        let room = self.room();
        if room <= FLAT_LINES {
            let free = |&(_, &(end, _)): &(usize, &(i64, i64))| end <= start_ps;
            return self.nodes[room..].iter().enumerate().skip(lowest).find(free).map(|(line, _)| line);
        }
        if lowest >= room {
            return None;
        }
        let mut node = room + lowest;
        // Go to the next subtree on the right until one has a free lane.
        while self.nodes[node].0 > start_ps {
            step(1);
            while node % 2 == 1 {
                step(1);
                node /= 2;
            }
            if node == 0 {
                return None;
            }
            node += 1;
        }
        while node < room {
            step(1);
            node *= 2;
            if self.nodes[node].0 > start_ps {
                node += 1;
            }
        }
        Some(node - room)
    }

    /// Doubles the capacity until it reaches `lines`.
    fn make_room(&mut self, lines: usize) {
        let (old, room) = (self.room(), lines.next_power_of_two().max(FIRST_LINES));
        let mut nodes = vec![UNUSED; 2 * room];
        nodes[room..room + old].copy_from_slice(&self.nodes[old..]);
        self.nodes = nodes;
        for node in (1..room).rev() {
            step(1);
            self.sum_up(node);
        }
    }

    fn sum_up(&mut self, node: usize) {
        let ((left_min, left_max), (right_min, right_max)) = (self.nodes[2 * node], self.nodes[2 * node + 1]);
        self.nodes[node] = (left_min.min(right_min), left_max.max(right_max));
    }

    fn set(&mut self, line: usize, end_ps: i64) {
        let mut node = self.room() + line;
        self.nodes[node] = (end_ps, end_ps);
        while node > 1 && self.room() > FLAT_LINES {
            step(1);
            node /= 2;
            let before = self.nodes[node];
            self.sum_up(node);
            if self.nodes[node] == before {
                break;
            }
        }
    }
}
