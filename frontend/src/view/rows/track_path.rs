//! The name of a track in links: the names of its groups and its own, from the top.
//!
//! A path stays the same when a trace is ingested again and its tracks get other numbers. Tracks of
//! equal names in one group are counted, so no two tracks of a rank have the same path.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::view::source_id::SourceId;

/// Path of a track within its rank, for example `Engines/Tensor`. A name's `/`, `#`, `,`, `@`, `:`
/// and `%` are written as `%2F` and so on. The second track of a name in its group ends with `#2`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrackPath(Arc<str>);

/// Characters with a meaning in paths or in lists of paths.
const ESCAPED: [char; 6] = ['%', '/', '#', ',', '@', ':'];

impl TrackPath {
    /// Reads a path from a link. `None` if the text cannot be a path.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let has_others = text.contains([',', '@', ':']);
        (!text.is_empty() && !has_others).then(|| Self(text.into()))
    }

    /// The path of the heading of a source's tracks. No track has such a path.
    #[must_use]
    pub fn of_source(source: SourceId) -> Self {
        Self(format!("rank#{source}#").into())
    }

    /// The path of the heading of a pinned track's rows. No track has such a path.
    #[must_use]
    pub fn of_pin(pinned: &Self) -> Self {
        Self(format!("pin#{pinned}#").into())
    }

    /// The name of the track itself.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// The path with the same text for every number. Tracks that correspond in two ranks can have
    /// different numbers of processes and devices.
    #[must_use]
    pub fn pattern(&self) -> String {
        let is_digit = |sign: &char| sign.is_ascii_digit();
        let mut pattern = String::with_capacity(self.0.len());
        for sign in self.0.chars() {
            match is_digit(&sign) {
                true if pattern.ends_with('0') => {}
                true => pattern.push('0'),
                false => pattern.push(sign),
            }
        }
        pattern
    }

    /// The path as a text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TrackPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Makes the paths of a rank's tracks, which come in any order with parents first.
#[derive(Debug, Default)]
pub struct Paths {
    /// Number of tracks with this path, not counting the suffix.
    used: HashMap<String, u32>,
}

impl Paths {
    /// The path of the next track. `group` is the path of its group.
    pub fn next(&mut self, group: Option<&TrackPath>, name: &str) -> TrackPath {
        let mut text = group.map_or_else(String::new, |group| format!("{group}/"));
        for sign in name.chars() {
            if ESCAPED.contains(&sign) {
                text.push_str(&format!("%{:02X}", sign as u32));
            } else {
                text.push(sign);
            }
        }
        let count = self.used.entry(text.clone()).or_default();
        *count += 1;
        // A track without a name has a path too.
        if *count > 1 || text.is_empty() || text.ends_with('/') {
            text.push_str(&format!("#{count}"));
        }
        TrackPath(text.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_unique_and_come_back() {
        let mut paths = Paths::default();
        let group = paths.next(None, "DMA");
        let names = [("q0", "DMA/q0"), ("q0", "DMA/q0#2"), ("a/b,c", "DMA/a%2Fb%2Cc"), ("", "DMA/#1")];
        for (name, expected) in names {
            let path = paths.next(Some(&group), name);
            assert_eq!(path.as_str(), expected);
            assert_eq!(TrackPath::read(path.as_str()), Some(path));
        }
        assert_eq!(paths.next(None, "DMA").as_str(), "DMA#2");
        assert_eq!(paths.next(None, "q0#2").as_str(), "q0%232");
    }

    #[test]
    fn numbers_do_not_count_in_patterns() {
        let path = |text| TrackPath::read(text).expect("a path");
        assert_eq!(path("GPU 0/stream 20").pattern(), path("GPU 13/stream 7").pattern());
        assert_ne!(path("GPU 0/stream 20").pattern(), path("CPU 0/stream 20").pattern());
        assert_eq!((path("GPU 0/stream 20").name(), path("lone").name()), ("stream 20", "lone"));
    }

    #[test]
    fn headings_of_ranks_are_no_tracks() {
        let heading = TrackPath::of_source(SourceId::of_first(3));
        assert_ne!(Paths::default().next(None, heading.as_str()), heading);
        assert_eq!(TrackPath::read(heading.as_str()), Some(heading));
    }

    #[test]
    fn texts_that_are_no_paths_are_refused() {
        for text in ["", "a,b", "a@3", "7:a"] {
            assert_eq!(TrackPath::read(text), None, "{text}");
        }
    }
}
