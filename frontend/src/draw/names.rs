//! Which name has which colour.
//!
//! Names are numbered as they come; a number's colour is looked up when drawing, so that nothing is uploaded again when
//! it changes. Colours are given once the whole rank is known in coarse: the names with the most time differ most from
//! each other. Ranks that are looked at later keep the colours that were given.

use std::collections::HashMap;

use nprof_engine::tile::CELLS;
use nprof_engine::wire::tile::{Content, Tile};

use super::palette::{COLOURS, COUNTER, FIRST_COLOURS, NAME_COLOURS};

/// Names that get a number of their own; all others share those of the colours. What is not among so many has next to
/// no time.
pub const MOST_NAMES: usize = 4096;

/// The numbers of names.
#[derive(Debug, Clone)]
pub struct Names {
    /// By kind. The first numbers are those of the colours themselves.
    numbers: HashMap<String, u16>,
    /// The colour of each number.
    colours: Vec<u8>,
    /// How many names were given their colour by their time.
    given: usize,
    /// Whether the name of a number was given its colour.
    is_given: Vec<bool>,
    /// Changes whenever a colour does.
    version: u64,
}

impl Default for Names {
    fn default() -> Self {
        let colours: Vec<u8> = (0..COLOURS as u8).collect();
        let is_given = vec![true; COLOURS];
        Self { numbers: HashMap::new(), colours, given: 0, is_given, version: 0 }
    }
}

impl Names {
    /// The number of a name. Digits do not count: `fusion.12` and `fusion.7` are of one kind.
    pub fn number(&mut self, name: &str) -> u16 {
        let kind = kind_of(name);
        if let Some(number) = self.numbers.get(kind.as_ref()) {
            return *number;
        }
        let colour = (hash(&kind) % NAME_COLOURS as u64) as u8;
        if self.colours.len() >= MOST_NAMES {
            return u16::from(colour);
        }
        let number = self.colours.len() as u16;
        self.numbers.insert(kind.into_owned(), number);
        self.colours.push(colour);
        self.is_given.push(false);
        self.version += 1;
        number
    }

    /// The colour of a name, without numbering it.
    #[must_use]
    pub fn colour(&self, name: &str) -> u8 {
        let kind = kind_of(name);
        match self.numbers.get(kind.as_ref()) {
            Some(number) => self.colours.get(usize::from(*number)).copied().unwrap_or(COUNTER),
            None => (hash(&kind) % NAME_COLOURS as u64) as u8,
        }
    }

    /// The colour of each number.
    #[must_use]
    pub fn colours(&self) -> &[u8] {
        &self.colours
    }

    /// Changes whenever a colour does.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Gives the names in these tiles their colours, those with the most time first: each takes the colour that it would
    /// like best of those that are left.
    pub fn give<'a>(&mut self, tiles: impl Iterator<Item = &'a Tile>) {
        let mut totals: HashMap<String, u64> = HashMap::new();
        for tile in tiles {
            add_times(tile, &mut totals);
        }
        let mut totals: Vec<(String, u64)> = totals.into_iter().collect();
        totals.sort_unstable_by(|(a, a_ps), (b, b_ps)| b_ps.cmp(a_ps).then_with(|| a.cmp(b)));
        for (kind, _) in totals {
            let number = usize::from(self.number(&kind));
            if self.is_given.get(number) != Some(&false) {
                continue;
            }
            let first =
                if self.given < FIRST_COLOURS { 0..FIRST_COLOURS } else { FIRST_COLOURS..NAME_COLOURS };
            if self.given < NAME_COLOURS {
                let liked = (hash(&kind) % first.len() as u64) as usize;
                let is_taken = |colour: usize| {
                    self.colours
                        .iter()
                        .zip(&self.is_given)
                        .skip(COLOURS)
                        .any(|(of, is_given)| *is_given && usize::from(*of) == colour)
                };
                let free = (0..first.len()).map(|step| first.start + (liked + step) % first.len());
                if let Some(colour) = free.into_iter().find(|colour| !is_taken(*colour)) {
                    self.colours[number] = colour as u8;
                }
            }
            self.is_given[number] = true;
            self.given += 1;
            self.version += 1;
        }
    }
}

/// A name without its digits.
fn kind_of(name: &str) -> std::borrow::Cow<'_, str> {
    if name.bytes().any(|byte| byte.is_ascii_digit()) {
        name.chars().filter(|sign| !sign.is_ascii_digit()).collect::<String>().into()
    } else {
        name.into()
    }
}

/// FNV-1a, and a last mixing so that similar names do not get neighbouring colours.
fn hash(kind: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in kind.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40
}

/// Adds the time of each kind of name in a tile. A cell counts for the name that has the most time in it.
fn add_times(tile: &Tile, totals: &mut HashMap<String, u64>) {
    let end_ps = tile.cell_ps.saturating_mul(CELLS);
    let mut times = vec![0_u64; tile.names.len()];
    let mut add = |name: u32, ps: u64| {
        if let Some(time) = times.get_mut(name as usize) {
            *time = time.saturating_add(ps);
        }
    };
    for lane in &tile.lanes {
        match &lane.content {
            Content::Slices(slices) => {
                for slice in slices {
                    let end = slice.start_ps.saturating_add(slice.duration_ps).min(end_ps);
                    add(slice.name, end.saturating_sub(slice.start_ps.max(0)).max(0).unsigned_abs());
                }
            }
            Content::Cells(cells) => cells.iter().for_each(|cell| add(cell.name, cell.busy_ps)),
            Content::Samples(_) | Content::Ranges(_) => {}
        }
    }
    for (name, ps) in tile.names.iter().zip(times) {
        let total = totals.entry(kind_of(name).into_owned()).or_default();
        *total = total.saturating_add(ps);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nprof_engine::wire::tile::{Lane, TileCell};
    use std::collections::BTreeSet;

    /// A tile in which each name fills as many cells as the number behind it says.
    fn tile(names: &[(&str, u64)]) -> Tile {
        let cells = (0..).zip(names).map(|(name, (_, cells))| TileCell {
            cell: name,
            busy_ps: cells * 1_000,
            count: 1,
            name,
            longest_row: 0,
            longest_ps: 1,
        });
        let lane = Lane { track: 0, lane: 0, content: Content::Cells(cells.collect()) };
        let names = names.iter().map(|(name, _)| (*name).to_owned()).collect();
        Tile { version: 1, start_ps: 0, cell_ps: 1_000, names, lanes: vec![lane] }
    }

    #[test]
    fn the_names_with_the_most_time_differ_most() {
        let letters: Vec<String> = ('a'..='p').map(|letter| letter.to_string().repeat(3)).collect();
        let totals: Vec<(&str, u64)> = letters.iter().map(String::as_str).zip((1..=16).rev()).collect();
        let mut names = Names::default();
        names.give([tile(&totals)].iter());
        let colours = |of: &[String]| -> BTreeSet<u8> { of.iter().map(|name| names.colour(name)).collect() };
        assert_eq!(colours(&letters[..8]), (0..8).collect());
        assert_eq!(colours(&letters), (0..16).collect());
    }

    #[test]
    fn the_order_of_tiles_does_not_matter() {
        let tiles =
            [tile(&[("MATMUL", 9), ("COPY", 2)]), tile(&[("COPY", 8), ("LOAD", 3)]), tile(&[("ACT", 1)])];
        let given = |order: [usize; 3]| {
            let mut names = Names::default();
            names.give(order.iter().map(|at| &tiles[*at]));
            ["MATMUL", "COPY", "LOAD", "ACT"].map(|name| names.colour(name))
        };
        assert_eq!(given([0, 1, 2]), given([2, 0, 1]));
    }

    #[test]
    fn later_ranks_keep_what_was_given() {
        let mut names = Names::default();
        names.give([tile(&[("a", 5), ("b", 4)])].iter());
        let (before, version) = ([names.colour("a"), names.colour("b")], names.version());
        names.give([tile(&[("c", 50), ("b", 9), ("a", 1)])].iter());
        assert_eq!([names.colour("a"), names.colour("b")], before);
        assert!(!before.contains(&names.colour("c")));
        assert!(names.version() > version);
    }

    #[test]
    fn digits_do_not_count() {
        let mut names = Names::default();
        assert_eq!(names.number("fusion.12"), names.number("fusion.7"));
        assert_ne!(names.number("fusion"), names.number("copy"));
    }

    #[test]
    fn too_many_names_share_the_numbers_of_the_colours() {
        let mut names = Names::default();
        let letter = |at: usize| char::from_u32(0x4e00 + at as u32).unwrap().to_string();
        for at in 0..2 * MOST_NAMES {
            assert!(usize::from(names.number(&letter(at))) < MOST_NAMES);
        }
        assert_eq!(names.colours().len(), MOST_NAMES);
        assert!(names.number("one more") < NAME_COLOURS as u16);
    }
}
