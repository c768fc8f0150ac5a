//! The requested part of a profile as text: its ranks, and the view at which a file opens. The
//! command line and the HTTP API read the same texts.

use std::collections::HashSet;

use super::ExportError;
use crate::store::{Profile, RankFile};

/// Numbers of ranks as ranges: first and last number of each, both inclusive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranks(Vec<(u32, u32)>);

impl Ranks {
    /// Reads a list such as `0,3-5`.
    ///
    /// # Errors
    /// The error names the part that is no rank.
    pub fn parse(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            text.trim().parse::<u32>().map_err(|_| format!("\"{text}\" is not the number of a rank"))
        };
        let range = |part: &str| match part.split_once('-') {
            None => number(part).map(|rank| (rank, rank)),
            Some((first, last)) => {
                let (first, last) = (number(first)?, number(last)?);
                if first <= last {
                    Ok((first, last))
                } else {
                    Err(format!("\"{part}\" is not a range of ranks; write the lower number first"))
                }
            }
        };
        text.split(',').map(range).collect::<Result<_, _>>().map(Self)
    }

    /// These ranks of a profile, in the profile's order.
    ///
    /// # Errors
    /// `NoRank` if the first or the last number of a range is no rank of the profile.
    pub fn of(&self, profile: &Profile) -> Result<Vec<RankFile>, ExportError> {
        let all = &profile.manifest.ranks;
        let known: HashSet<u32> = all.iter().map(|file| file.rank).collect();
        let mut ends = self.0.iter().flat_map(|&(first, last)| [first, last]);
        if let Some(unknown) = ends.find(|rank| !known.contains(rank)) {
            rank_of(profile, unknown)?;
        }
        let ranges = self.without_overlaps();
        let is_wanted = |file: &&RankFile| {
            let at = ranges.partition_point(|&(_, last)| last < file.rank);
            ranges.get(at).is_some_and(|&(first, _)| first <= file.rank)
        };
        Ok(all.iter().filter(is_wanted).cloned().collect())
    }

    /// The ranges in ascending order. A request can name each rank of a profile in thousands of
    /// ranges.
    fn without_overlaps(&self) -> Vec<(u32, u32)> {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let mut ranges = Vec::<(u32, u32)>::new();
        for (first, last) in sorted {
            match ranges.last_mut() {
                Some((_, end)) if first <= *end => *end = last.max(*end),
                _ => ranges.push((first, last)),
            }
        }
        ranges
    }
}

/// Begins the path of each view.
const VIEW_PATH: &str = "/profile/";
/// Limit of the bytes of a view's address, as of those in a browser.
const MAX_VIEW_BYTES: usize = 16 << 10;

/// Reads the address of a view, as the page has it: a link to a server or to a file, or the path
/// and query alone. Returns the path with the query.
///
/// # Errors
/// The error says where such an address is found.
pub fn view_of(text: &str) -> Result<String, String> {
    let at = text.find(VIEW_PATH).filter(|_| !text.contains(char::is_control));
    match at.map(|at| &text[at..]).filter(|view| view.len() <= MAX_VIEW_BYTES) {
        Some(view) => Ok(view.to_owned()),
        None => Err(format!(
            "\"{}\" is not the address of a view; copy one from the page, such as {VIEW_PATH}run-7?v=2&rank=1",
            text.chars().take(80).collect::<String>().escape_debug()
        )),
    }
}

/// The rank with this number.
///
/// # Errors
/// `NoRank` if the profile has no such rank.
pub fn rank_of(profile: &Profile, rank: u32) -> Result<&RankFile, ExportError> {
    let all = &profile.manifest.ranks;
    all.iter().find(|file| file.rank == rank).ok_or_else(|| ExportError::NoRank {
        profile: profile.manifest.slug().to_owned(),
        rank,
        known: numbers(all),
    })
}

/// Numbers of ranks in the form that [`Ranks::parse`] reads, such as `0,3-5`.
#[must_use]
pub fn ranges(ranks: &[u32]) -> String {
    let follows = |before: &u32, next: &u32| before.checked_add(1) == Some(*next);
    let range = |run: &[u32]| match run {
        [first, .., last] => format!("{first}-{last}"),
        _ => run.iter().map(u32::to_string).collect(),
    };
    ranks.chunk_by(follows).map(range).collect::<Vec<_>>().join(",")
}

/// The numbers of these ranks, as text for messages.
#[must_use]
pub fn numbers(ranks: &[RankFile]) -> String {
    ranks.iter().map(|file| file.rank.to_string()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_numbers_and_ranges() {
        assert_eq!(Ranks::parse("0,3-5"), Ok(Ranks(vec![(0, 0), (3, 5)])));
        let mixed = Ranks::parse("8,0-2,2-4,8-9,1").unwrap();
        assert_eq!(mixed.without_overlaps(), [(0, 4), (8, 9)]);
        for wrong in ["", "a", "1-", "5-3", "-1", "1,,2"] {
            assert!(Ranks::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_view_is_read_from_any_link_to_it() {
        let view = "/profile/run%207?v=2&rank=1&from=5&to=9";
        for before in ["", "http://127.0.0.1:3001", "https://host.example", "file:///tmp/a.html#"] {
            assert_eq!(view_of(&format!("{before}{view}")).as_deref(), Ok(view), "{before}");
        }
        let long = format!("{view}&q={}", "x".repeat(MAX_VIEW_BYTES));
        for wrong in ["", "run-7", "http://host/", "/profile/a\nb", &long] {
            let said = view_of(wrong).unwrap_err();
            assert!(said.contains("copy one from the page") && said.len() < 400, "{said}");
        }
    }

    #[test]
    fn ranges_are_read_as_they_are_written() {
        assert_eq!(ranges(&[0, 3, 4, 5, 9, 10]), "0,3-5,9-10");
        assert_eq!(Ranks::parse(&ranges(&[7])), Ok(Ranks(vec![(7, 7)])));
        assert_eq!(ranges(&[]), "");
    }
}
