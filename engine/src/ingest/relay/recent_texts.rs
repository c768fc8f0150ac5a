//! A cache of recent texts. The hash of a text selects its slot. Texts of a trace repeat, and the
//! slot number of a known text replaces the text. Another text with the same slot overwrites it.

use crate::model::hash_of;

/// Bits of a slot number.
const PLACE_BITS: u32 = 12;
/// Number of slots.
pub const PLACES: usize = 1 << PLACE_BITS;
/// Longer texts are not cached, so that all slots together use few megabytes.
const MAX_LEN: usize = 1 << 10;

/// Cached texts by slot.
#[derive(Debug)]
pub struct RecentTexts {
    texts: Vec<String>,
}

/// Result of a cache look-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spot {
    /// The text is in this slot.
    Known(u16),
    /// This slot belongs to the text but holds another text or none.
    Other(u16),
    /// The text is empty or too long.
    Nowhere,
}

impl RecentTexts {
    /// An empty cache.
    pub fn new() -> Self {
        Self { texts: vec![String::new(); PLACES] }
    }

    /// Finds the slot of a text, below [`PLACES`]. The empty text has none, because slots start
    /// empty.
    pub fn find(&self, text: &str) -> Spot {
        if text.len() > MAX_LEN || text.is_empty() {
            return Spot::Nowhere;
        }
        let place = (hash_of(text) >> (u64::BITS - PLACE_BITS)) as u16;
        if self.texts[usize::from(place)] == text { Spot::Known(place) } else { Spot::Other(place) }
    }

    /// Stores a text in a slot.
    pub fn put(&mut self, place: u16, text: &str) {
        let kept = &mut self.texts[usize::from(place)];
        kept.clear();
        kept.push_str(text);
    }
}
