//! Which name has which colour.
//!
//! Names are numbered as they come; a number's colour is looked up when drawing, so that nothing is uploaded again when
//! it changes. Colours are given once the rank's first tracks are known in coarse: the names with the most time differ
//! most from each other. All others get the colour that is the rarest where they stand. What was given stays, also when another
//! rank is looked at.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use nprof_engine::tile::CELLS;
use nprof_engine::wire::tile::{Content, Lane, Tile};

use super::palette::{COLOURS, COUNTER, FIRST_COLOURS, NAME_COLOURS};
use super::shape::Shape;

/// Names that get a number of their own; all others share those of the colours. What is not among so many has next to
/// no time.
pub const MOST_NAMES: usize = 1024;

/// What stands beside each other: a track, and the group that it is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    track: u32,
    group: Option<usize>,
}

/// One kind of name.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Kind {
    colour: u8,
    /// Whether it keeps its colour.
    is_given: bool,
    hash: u64,
    places: BTreeSet<Place>,
}

/// The numbers of names. The first numbers are those of the colours themselves.
#[derive(Debug, Clone, Default)]
pub struct Names {
    numbers: HashMap<String, u16>,
    /// By number, from the first that is no colour's.
    kinds: Vec<Kind>,
    /// Whether colours were given: from then on, new names get one at once.
    is_known: bool,
    /// Changes whenever a colour does.
    version: u64,
}

impl Names {
    /// The numbers of a tile's names, in its order.
    pub fn of_tile(&mut self, tile: &Tile, shape: &Shape) -> Vec<u16> {
        let mut numbers: Vec<u16> = tile.names.iter().map(|name| self.number(name)).collect();
        for lane in &tile.lanes {
            let place = place(lane, shape);
            for name in names_in(lane) {
                if let Some(kind) = numbers.get(name as usize).and_then(|number| self.kind_mut(*number)) {
                    kind.places.insert(place);
                }
            }
        }
        if self.is_known {
            self.give_the_rest();
        }
        for (number, name) in numbers.iter_mut().zip(&tile.names) {
            if usize::from(*number) == COLOURS + MOST_NAMES {
                *number = u16::from(liked(hash(&kind_of(name)), 0));
            }
        }
        numbers
    }

    /// The number of a name; one beyond all where there are too many. Digits do not count: `fusion.12` and `fusion.7`
    /// are of one kind.
    fn number(&mut self, name: &str) -> u16 {
        let kind = kind_of(name);
        if let Some(number) = self.numbers.get(kind.as_ref()) {
            return *number;
        }
        let number = (COLOURS + self.kinds.len()) as u16;
        if self.kinds.len() < MOST_NAMES {
            let hash = hash(&kind);
            let colour = liked(hash, 0);
            self.kinds.push(Kind { colour, is_given: false, hash, places: BTreeSet::new() });
            self.numbers.insert(kind.into_owned(), number);
            self.version += 1;
        }
        number
    }

    fn kind_mut(&mut self, number: u16) -> Option<&mut Kind> {
        self.kinds.get_mut(usize::from(number).checked_sub(COLOURS)?)
    }

    /// The colour of a name.
    #[must_use]
    pub fn colour(&self, name: &str) -> u8 {
        let kind = kind_of(name);
        let number = self.numbers.get(kind.as_ref()).map(|number| usize::from(*number) - COLOURS);
        number.and_then(|at| self.kinds.get(at)).map_or_else(|| liked(hash(&kind), 0), |kind| kind.colour)
    }

    /// The colour of each number.
    pub fn colours(&self) -> impl Iterator<Item = u8> {
        (0..=COUNTER).chain(self.kinds.iter().map(|kind| kind.colour))
    }

    /// Changes whenever a colour does.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Gives all names their colours, those with the most time in these tiles first.
    pub fn give<'a>(&mut self, tiles: impl Iterator<Item = &'a Tile>, shape: &Shape) {
        let mut totals: HashMap<u16, u64> = HashMap::new();
        self.is_known = false;
        for tile in tiles {
            let numbers = self.of_tile(tile, shape);
            for (number, ps) in numbers.into_iter().zip(times(tile)) {
                let total = totals.entry(number).or_default();
                *total = total.saturating_add(ps);
            }
        }
        self.is_known = true;
        let mut order: Vec<(Reverse<u64>, &String, u16)> = self
            .numbers
            .iter()
            .filter_map(|(kind, number)| Some((Reverse(*totals.get(number)?), kind, *number)))
            .collect();
        order.sort_unstable();
        let order: Vec<usize> = order.into_iter().map(|(.., number)| usize::from(number) - COLOURS).collect();
        for at in order {
            self.give_one(at);
        }
        self.give_the_rest();
    }

    fn give_the_rest(&mut self) {
        for at in 0..self.kinds.len() {
            self.give_one(at);
        }
    }

    /// Gives a name the colour that is the rarest on its tracks, then in their groups; of those the one that its hash
    /// likes, so that it is the same in most ranks and whichever tile comes first.
    fn give_one(&mut self, at: usize) {
        let kind = &self.kinds[at];
        if kind.is_given {
            return;
        }
        let given = self.kinds.iter().filter(|kind| kind.is_given).count();
        // The first names take the colours that differ most.
        let choice = if given < FIRST_COLOURS { FIRST_COLOURS } else { NAME_COLOURS };
        let mut uses = [(0_u32, 0_u32); NAME_COLOURS];
        let groups: BTreeSet<_> = kind.places.iter().map(|place| place.group).collect();
        for other in self.kinds.iter().filter(|other| other.is_given) {
            let (on_track, in_group) = &mut uses[usize::from(other.colour)];
            *on_track += u32::from(other.places.iter().any(|place| kind.places.contains(place)));
            *in_group += u32::from(other.places.iter().any(|place| groups.contains(&place.group)));
        }
        let hash = kind.hash;
        let rarest = (0..choice).map(|step| (liked(hash, step) as usize) % choice).min_by_key(|at| uses[*at]);
        let kind = &mut self.kinds[at];
        (kind.colour, kind.is_given) = (rarest.unwrap_or(0) as u8, true);
        self.version += 1;
    }
}

/// The colour that a name likes best, next best and so on.
fn liked(hash: u64, step: usize) -> u8 {
    ((hash as usize).wrapping_add(step) % NAME_COLOURS) as u8
}

fn place(lane: &Lane, shape: &Shape) -> Place {
    Place { track: lane.track, group: shape.track(lane.track).and_then(|track| shape.parent(track)) }
}

/// The names in a lane, without most repetitions.
fn names_in(lane: &Lane) -> Vec<u32> {
    let mut names: Vec<u32> = match &lane.content {
        Content::Slices(slices) => slices.iter().map(|slice| slice.name).collect(),
        Content::Cells(cells) => cells.iter().map(|cell| cell.name).collect(),
        Content::Samples(_) | Content::Ranges(_) => Vec::new(),
    };
    names.sort_unstable();
    names.dedup();
    names
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

/// The time of each of a tile's names. A cell counts for the name that has the most time in it.
fn times(tile: &Tile) -> Vec<u64> {
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
    times
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::scene::tests::rank_of;
    use nprof_engine::wire::tile::TileCell;

    const TRACKS: &str = "Engines/\n  a\n  b\nDMA/\n  q";

    fn shape() -> Shape {
        Shape::new(&rank_of(TRACKS))
    }

    /// A tile of one track in which each name fills as many cells as the number behind it says.
    fn tile(track: u32, names: &[(&str, u64)]) -> Tile {
        let cells = (0..).zip(names).map(|(name, (_, cells))| TileCell {
            cell: name,
            busy_ps: cells * 1_000,
            count: 1,
            name,
            longest_row: 0,
            longest_ps: 1,
        });
        let lane = Lane { track, lane: 0, content: Content::Cells(cells.collect()) };
        let names = names.iter().map(|(name, _)| (*name).to_owned()).collect();
        Tile { version: 1, start_ps: 0, cell_ps: 1_000, names, lanes: vec![lane] }
    }

    fn letters(range: std::ops::RangeInclusive<char>) -> Vec<String> {
        range.map(|letter| letter.to_string().repeat(3)).collect()
    }

    fn colours(names: &Names, of: &[String]) -> BTreeSet<u8> {
        of.iter().map(|name| names.colour(name)).collect()
    }

    #[test]
    fn the_names_with_the_most_time_differ_most() {
        let letters = letters('a'..='p');
        let totals: Vec<(&str, u64)> = letters.iter().map(String::as_str).zip((1..=16).rev()).collect();
        let mut names = Names::default();
        names.give([tile(101, &totals)].iter(), &shape());
        assert_eq!(colours(&names, &letters[..8]), (0..8).collect());
        assert_eq!(colours(&names, &letters), (0..16).collect());
    }

    #[test]
    fn names_on_one_track_differ_though_they_come_late() {
        let (early, late) = (letters('a'..='t'), letters('A'..='H'));
        let of =
            |names: &[String]| -> Vec<(String, u64)> { names.iter().map(|name| (name.clone(), 1)).collect() };
        let tile_of = |track, names: &[String]| {
            let names = of(names);
            let names: Vec<_> = names.iter().map(|(name, cells)| (name.as_str(), *cells)).collect();
            tile(track, &names)
        };
        let mut names = Names::default();
        names.give([tile_of(104, &early)].iter(), &shape());
        names.of_tile(&tile_of(101, &late[..4]), &shape());
        names.of_tile(&tile_of(102, &late[4..]), &shape());
        assert_eq!(colours(&names, &late).len(), 8, "all in one group");
    }

    #[test]
    fn the_order_of_tiles_does_not_matter() {
        let tiles = [
            tile(101, &[("MATMUL", 9), ("COPY", 2)]),
            tile(102, &[("COPY", 8), ("LOAD", 3)]),
            tile(104, &[("ACT", 1)]),
        ];
        let given = |order: [usize; 3]| {
            let mut names = Names::default();
            names.give(order.iter().map(|at| &tiles[*at]), &shape());
            ["MATMUL", "COPY", "LOAD", "ACT"].map(|name| names.colour(name))
        };
        assert_eq!(given([0, 1, 2]), given([2, 0, 1]));
    }

    #[test]
    fn later_ranks_keep_what_was_given() {
        let mut names = Names::default();
        names.give([tile(101, &[("a", 5), ("b", 4)])].iter(), &shape());
        let (before, version) = ([names.colour("a"), names.colour("b")], names.version());
        names.give([tile(101, &[("c", 50), ("b", 9), ("a", 1)])].iter(), &shape());
        assert_eq!([names.colour("a"), names.colour("b")], before);
        assert!(!before.contains(&names.colour("c")));
        assert!(names.version() > version);
    }

    #[test]
    fn digits_do_not_count() {
        let numbers =
            Names::default().of_tile(&tile(101, &[("fusion.12", 1), ("fusion.7", 1), ("x", 1)]), &shape());
        assert_eq!(numbers[0], numbers[1]);
        assert_ne!(numbers[0], numbers[2]);
    }

    #[test]
    fn too_many_names_share_the_numbers_of_the_colours() {
        let mut names = Names::default();
        let letters: Vec<String> =
            (0..MOST_NAMES as u32 + 9).map(|at| char::from_u32(0x4e00 + at).unwrap().to_string()).collect();
        let of: Vec<_> = letters.iter().map(|name| (name.as_str(), 1)).collect();
        let numbers = names.of_tile(&tile(101, &of), &shape());
        assert_eq!(names.colours().count(), COLOURS + MOST_NAMES);
        assert!(numbers[MOST_NAMES..].iter().all(|number| usize::from(*number) < NAME_COLOURS));
    }
}
