//! A counter at a timestamp: the selection after a click on a counter.

use std::fmt;
use std::str::FromStr;

/// A counter at a timestamp. Written `7@1500`: track, then picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// Number of the counter's track.
    pub track: u32,
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
        let (track, time_ps) = text.split_once('@').ok_or(NoReading)?;
        let track = track.parse().map_err(|_| NoReading)?;
        Ok(Self { track, time_ps: time_ps.parse().map_err(|_| NoReading)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_come_back_from_their_text() {
        let reading = Reading { track: 7, time_ps: -1_500 };
        assert_eq!(reading.to_string(), "7@-1500");
        assert_eq!(reading.to_string().parse(), Ok(reading));
        for text in ["", "7", "7@", "@1", "-1@2", "7@x"] {
            assert_eq!(text.parse::<Reading>(), Err(NoReading), "{text}");
        }
    }
}
