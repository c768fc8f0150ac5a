//! Recent texts, each at a place that its hash says. Texts of a trace repeat, and the place of a
//! known text stands for the text. A text is forgotten when another one takes its place.

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

/// The place of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spot {
    /// The text is remembered here.
    Known(u16),
    /// Another text is remembered here, or none.
    Other(u16),
    /// The text is empty or too long.
    Nowhere,
}

impl RecentTexts {
    /// None yet.
    pub fn new() -> Self {
        Self { texts: vec![String::new(); PLACES] }
    }

    /// The place of a text, below [`PLACES`]. The empty text has none, because places begin empty.
    pub fn find(&self, text: &str) -> Spot {
        if text.len() > MAX_LEN || text.is_empty() {
            return Spot::Nowhere;
        }
        let place = (hash_of(text) >> (u64::BITS - PLACE_BITS)) as u16;
        if self.texts[usize::from(place)] == text { Spot::Known(place) } else { Spot::Other(place) }
    }

    /// Remembers a text at its place.
    pub fn put(&mut self, place: u16, text: &str) {
        let kept = &mut self.texts[usize::from(place)];
        kept.clear();
        kept.push_str(text);
    }
}
