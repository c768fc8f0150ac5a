//! Memory of the processes and tracks of a trace, which stay until its end.

/// Bytes of memory that all processes and tracks can take. Further ones share tracks.
const MAX_BYTES: usize = if cfg!(test) { 8 << 20 } else { 96 << 20 };
/// Approximate bytes of a process or a track besides its texts, here and where its rows are stored.
const TRACK_BYTES: usize = 768;
/// Copies of the texts of a process or a track in memory, about.
const TEXT_COPIES: usize = 6;

/// Counts the memory of processes and tracks, and refuses those that are too many.
#[derive(Debug)]
pub(in crate::formats) struct TrackAllowance {
    left_bytes: usize,
    refused: u64,
}

impl Default for TrackAllowance {
    fn default() -> Self {
        Self { left_bytes: MAX_BYTES, refused: 0 }
    }
}

impl TrackAllowance {
    /// Number of events whose process or track was refused.
    pub(in crate::formats) fn refused(&self) -> u64 {
        self.refused
    }

    /// Takes the memory of a process or a track with texts of this many bytes. `false` if there is
    /// not enough.
    pub(in crate::formats) fn takes(&mut self, text_bytes: usize) -> bool {
        let left = self.left_bytes.checked_sub(TRACK_BYTES.saturating_add(TEXT_COPIES * text_bytes));
        self.refused += u64::from(left.is_none());
        self.left_bytes = left.unwrap_or(self.left_bytes);
        left.is_some()
    }

    /// Puts a name in the place of another one. `false` if there is not enough memory.
    pub(in crate::formats) fn renames(&mut self, place: &mut String, name: &str) -> bool {
        let left = (self.left_bytes + TEXT_COPIES * place.len()).checked_sub(TEXT_COPIES * name.len());
        if let Some(left) = left {
            self.left_bytes = left;
            name.clone_into(place);
            place.shrink_to_fit();
        }
        left.is_some()
    }
}
