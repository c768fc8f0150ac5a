//! Texts that came lately, each at the place that its hash says: the texts of a trace repeat, and a place is all that
//! has to be told of one that is known. A text is forgotten when another one takes its place.

use crate::model::hash_of;

/// Bits of a place.
const PLACE_BITS: u32 = 12;
/// Places.
pub const PLACES: usize = 1 << PLACE_BITS;
/// Longer texts have no place, so that all places together take few megabytes.
const MAX_LEN: usize = 1 << 10;

/// Texts by place.
#[derive(Debug)]
pub struct RecentTexts {
    texts: Vec<String>,
}

/// Where a text belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spot {
    /// The text is here.
    Known(u16),
    /// Another text is, or none.
    Other(u16),
    /// The text is empty or too long.
    Nowhere,
}

impl RecentTexts {
    /// None yet.
    pub fn new() -> Self {
        Self { texts: vec![String::new(); PLACES] }
    }

    /// Where a text belongs; places are below [`PLACES`]. The empty text has none: places begin with it.
    pub fn find(&self, text: &str) -> Spot {
        if text.len() > MAX_LEN || text.is_empty() {
            return Spot::Nowhere;
        }
        let place = (hash_of(text) >> (u64::BITS - PLACE_BITS)) as u16;
        if self.texts[usize::from(place)] == text { Spot::Known(place) } else { Spot::Other(place) }
    }

    /// Puts a text where it belongs.
    pub fn put(&mut self, place: u16, text: &str) {
        let kept = &mut self.texts[usize::from(place)];
        kept.clear();
        kept.push_str(text);
    }
}
