//! Notes: the texts of users about a profile. It belongs to no segment, and is kept beside them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::message_times::{TimeField, Timed};
use crate::base::{ClockFit, Interval};
use crate::query::RegionSpan;

/// Most regions of a profile.
const MOST_REGIONS: usize = 10_000;
/// Longest name in characters.
const LONGEST_NAME: usize = 200;
/// Largest time in picoseconds: any two can be subtracted.
const MOST_PS: i64 = i64::MAX / 2;

/// All notes of a profile.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Notes {
    /// Regions that users named, by start.
    pub regions: Vec<NotedRegion>,
}

/// A region that a user named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotedRegion {
    /// Its name; no other region of a user has it.
    pub name: String,
    /// The rank that it is about. `None` for all of them.
    pub rank: Option<u32>,
    /// Start, in picoseconds of the time that all ranks share.
    pub start_ps: i64,
    /// End, in the same time; not before the start.
    pub end_ps: i64,
}

/// Why notes cannot be changed so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotesError {
    /// The name is empty, too long, or contains control characters.
    Name(String),
    /// Another region has the name.
    Taken(String),
    /// No region of a user has the name.
    Unknown {
        /// The name.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// The region ends before it begins, or lies beyond all times.
    Span(String),
    /// There are too many regions.
    TooMany,
}

impl fmt::Display for NotesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => {
                let shown: String = name.chars().take(LONGEST_NAME).collect();
                write!(
                    f,
                    "{shown:?} cannot be the name of a region; a name has 1 to {LONGEST_NAME} characters on one line"
                )
            }
            Self::Taken(name) => {
                write!(f, "a region has the name \"{name}\" already; rename or delete it first")
            }
            Self::Unknown { name, known } if known.is_empty() => {
                write!(f, "no user added a region \"{name}\"; there is none yet")
            }
            Self::Unknown { name, known } => {
                write!(f, "no user added a region \"{name}\"; there are {known}")
            }
            Self::Span(name) => write!(f, "the region \"{name}\" ends before it begins, or too far away"),
            Self::TooMany => write!(f, "a profile has at most {MOST_REGIONS} regions of users"),
        }
    }
}

impl std::error::Error for NotesError {}

impl Notes {
    /// The regions of a rank, also those of all ranks, on the clock of the rank. `None` is all
    /// ranks together.
    #[must_use]
    pub fn regions_on(&self, rank: Option<u32>, clock: ClockFit) -> Vec<RegionSpan> {
        let of_rank = self.regions.iter().filter(|region| region.rank.is_none() || region.rank == rank);
        let local = |region: &NotedRegion| {
            let span = clock.to_local_span(Interval::new(region.start_ps, region.end_ps));
            RegionSpan { name: region.name.clone(), span }
        };
        of_rank.map(local).collect()
    }

    /// Whether nobody wrote anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.regions.is_empty()
    }

    /// Adds a region.
    pub fn add(&mut self, mut region: NotedRegion) -> Result<(), NotesError> {
        region.name = region.name.trim().to_owned();
        region.check()?;
        if self.regions.iter().any(|known| known.name == region.name) {
            return Err(NotesError::Taken(region.name));
        }
        if self.regions.len() >= MOST_REGIONS {
            return Err(NotesError::TooMany);
        }
        self.regions.push(region);
        self.sort();
        Ok(())
    }

    /// Gives a region another name.
    pub fn rename(&mut self, name: &str, new: &str) -> Result<(), NotesError> {
        let at = self.place(name)?;
        let renamed = NotedRegion { name: new.trim().to_owned(), ..self.regions[at].clone() };
        renamed.check()?;
        if self.regions.iter().any(|known| known.name == renamed.name)
            && renamed.name != self.regions[at].name
        {
            return Err(NotesError::Taken(renamed.name));
        }
        self.regions[at] = renamed;
        self.sort();
        Ok(())
    }

    /// Removes a region and returns it.
    pub fn delete(&mut self, name: &str) -> Result<NotedRegion, NotesError> {
        let at = self.place(name)?;
        Ok(self.regions.remove(at))
    }

    /// Checks notes that others wrote: all regions are allowed, and no two have one name.
    pub fn check(&self) -> Result<(), NotesError> {
        let mut names = std::collections::BTreeSet::new();
        for region in &self.regions {
            region.check()?;
            if !names.insert(region.name.as_str()) {
                return Err(NotesError::Taken(region.name.clone()));
            }
        }
        if self.regions.len() > MOST_REGIONS { Err(NotesError::TooMany) } else { Ok(()) }
    }

    fn place(&self, name: &str) -> Result<usize, NotesError> {
        /// Names that a reader would read.
        const SHOWN: usize = 12;
        self.regions.iter().position(|region| region.name == name.trim()).ok_or_else(|| {
            let names = self.regions.iter().take(SHOWN).map(|region| format!("\"{}\"", region.name));
            let mut known = names.collect::<Vec<_>>().join(", ");
            if self.regions.len() > SHOWN {
                known.push_str(&format!(" and {} more", self.regions.len() - SHOWN));
            }
            NotesError::Unknown { name: name.trim().to_owned(), known }
        })
    }

    fn sort(&mut self) {
        self.regions.sort_by(|a, b| (a.start_ps, a.end_ps, &a.name).cmp(&(b.start_ps, b.end_ps, &b.name)));
    }
}

impl NotedRegion {
    fn check(&self) -> Result<(), NotesError> {
        let is_name = !self.name.trim().is_empty()
            && self.name.chars().count() <= LONGEST_NAME
            && !self.name.chars().any(char::is_control);
        if !is_name {
            return Err(NotesError::Name(self.name.clone()));
        }
        let is_span = self.start_ps <= self.end_ps && -MOST_PS <= self.start_ps && self.end_ps <= MOST_PS;
        if is_span { Ok(()) } else { Err(NotesError::Span(self.name.clone())) }
    }
}

/// Times are those that all ranks share.
impl Timed for Notes {
    fn each_time(&mut self, _: &mut dyn FnMut(TimeField<'_>)) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(name: &str, start_ps: i64, end_ps: i64) -> NotedRegion {
        NotedRegion { name: name.to_owned(), rank: None, start_ps, end_ps }
    }

    #[test]
    fn regions_are_added_renamed_and_deleted() {
        let mut notes = Notes::default();
        notes.add(region(" late ", 20, 30)).unwrap();
        notes.add(region("early", 0, 10)).unwrap();
        assert_eq!(notes.add(region("late", 0, 1)), Err(NotesError::Taken("late".to_owned())));
        notes.rename("late", "tail").unwrap();
        notes.rename("tail", "tail").unwrap();
        assert_eq!(notes.rename("tail", "early"), Err(NotesError::Taken("early".to_owned())));
        let names: Vec<&str> = notes.regions.iter().map(|region| region.name.as_str()).collect();
        assert_eq!(names, ["early", "tail"]);
        assert_eq!(notes.check(), Ok(()));
        assert_eq!(notes.delete("tail"), Ok(region("tail", 20, 30)));
        let unknown = notes.delete("tail").unwrap_err().to_string();
        assert_eq!(unknown, "no user added a region \"tail\"; there are \"early\"");
    }

    #[test]
    fn names_and_spans_are_checked() {
        let mut notes = Notes::default();
        let long = "x".repeat(LONGEST_NAME + 1);
        for wrong in [region("", 0, 1), region(" ", 0, 1), region("a\nb", 0, 1), region(&long, 0, 1)] {
            assert!(matches!(notes.add(wrong), Err(NotesError::Name(_))));
        }
        for wrong in [region("a", 2, 1), region("a", i64::MIN, 1), region("a", 0, i64::MAX)] {
            assert_eq!(notes.add(wrong), Err(NotesError::Span("a".to_owned())));
        }
        assert!(notes.is_empty());
        let twice = Notes { regions: vec![region("a", 0, 1), region("a", 2, 3)] };
        assert_eq!(twice.check(), Err(NotesError::Taken("a".to_owned())));
        for at in 0..MOST_REGIONS {
            notes.regions.push(region(&at.to_string(), 0, 1));
        }
        assert_eq!(notes.add(region("one more", 0, 1)), Err(NotesError::TooMany));
    }
}
