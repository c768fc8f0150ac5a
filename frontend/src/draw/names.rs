//! Colours of names.
//!
//! The store numbers the names of a whole profile during the ingest (`query::KindSlot`). So a name
//! has the same colour on every rank and in every link, whichever was opened first. Names that take
//! next to no time have no number. Their colour is derived from their text.

use std::collections::HashMap;

use nprof_engine::query::{FIRST_SLOTS, SLOTS, kind_of, slot_of_rare};
use nprof_engine::wire::catalog::NameSlot;
use nprof_engine::wire::tile::Tile;

use super::palette::{FIRST_COLOURS, NAME_COLOURS};

const _: () = assert!(SLOTS == NAME_COLOURS && FIRST_SLOTS == FIRST_COLOURS, "each number has a colour");

/// The colours of a profile's names.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NameColours {
    slots: HashMap<String, u8>,
}

impl NameColours {
    /// Takes the numbers of a profile's names. Numbers beyond the colours are left out.
    #[must_use]
    pub fn new(slots: &[NameSlot]) -> Self {
        let known = slots.iter().filter(|name| usize::from(name.slot) < NAME_COLOURS);
        Self { slots: known.map(|name| (name.kind.clone(), name.slot)).collect() }
    }

    /// The colours of a tile's names, in the tile's order.
    #[must_use]
    pub fn of_tile(&self, tile: &Tile) -> Vec<u8> {
        tile.names.iter().map(|name| self.colour(name)).collect()
    }

    /// The colour of a name. Digits do not count: `fusion.12` and `fusion.7` are of one kind.
    #[must_use]
    pub fn colour(&self, name: &str) -> u8 {
        let kind = kind_of(name);
        self.slots.get(kind.as_ref()).copied().unwrap_or_else(|| slot_of_rare(&kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(kind: &str, slot: u8) -> NameSlot {
        NameSlot { kind: kind.into(), slot }
    }

    #[test]
    fn the_profile_decides_and_digits_do_not_count() {
        let names = NameColours::new(&[slot("fusion.", 5), slot("copy", 2), slot("hostile", 200)]);
        assert_eq!([names.colour("fusion.12"), names.colour("fusion.7"), names.colour("copy")], [5, 5, 2]);
        assert!(usize::from(names.colour("hostile")) < NAME_COLOURS);
    }

    #[test]
    fn a_rare_name_has_the_same_colour_everywhere() {
        let (one, other) = (NameColours::new(&[slot("copy", 2)]), NameColours::default());
        assert_eq!(one.colour("seldom 3"), other.colour("seldom 9"));
    }
}
