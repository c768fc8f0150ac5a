//! A counter at a timestamp: the selection after a click on a counter.

use std::fmt;
use std::str::FromStr;

use crate::view::rows::track_path::TrackPath;

/// A counter at a timestamp. Written `Power@1500`: path of the track, then picoseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Path of the counter's track.
    pub track: TrackPath,
    /// The timestamp in picoseconds.
    pub time_ps: i64,
}

/// Error for a text that is not a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoReading;

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.track, self.time_ps)
    }
}

impl FromStr for Reading {
    type Err = NoReading;

    fn from_str(text: &str) -> Result<Self, NoReading> {
        let (track, time_ps) = text.rsplit_once('@').ok_or(NoReading)?;
        let track = TrackPath::read(track).ok_or(NoReading)?;
        Ok(Self { track, time_ps: time_ps.parse().map_err(|_| NoReading)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_come_back_from_their_text() {
        let reading: Reading = "Memory/HBM@-1500".parse().expect("a reading");
        assert_eq!((reading.track.as_str(), reading.time_ps), ("Memory/HBM", -1_500));
        assert_eq!(reading.to_string().parse(), Ok(reading));
        for text in ["", "7", "7@", "@1", "a@b@2", "7@x"] {
            assert_eq!(text.parse::<Reading>(), Err(NoReading), "{text}");
        }
    }
}
