//! The requested part of a profile as text: ranks, times, sizes. The command line and the HTTP API
//! read the same texts.

use nprof_engine::base::time::{PS_PER_MS, PS_PER_NS, PS_PER_S, PS_PER_US};

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
        for rank in self.0.iter().flat_map(|&(first, last)| [first, last]) {
            rank_of(profile, rank)?;
        }
        let is_wanted =
            |file: &&RankFile| self.0.iter().any(|&(first, last)| (first..=last).contains(&file.rank));
        Ok(profile.manifest.ranks.iter().filter(is_wanted).cloned().collect())
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

/// The numbers of these ranks, as text for messages.
#[must_use]
pub fn numbers(ranks: &[RankFile]) -> String {
    ranks.iter().map(|file| file.rank.to_string()).collect::<Vec<_>>().join(", ")
}

/// Splits a number from its unit.
#[must_use]
pub fn with_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-')).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    Some((number.parse().ok()?, unit.trim()))
}

/// Reads a time such as `10ms` as picoseconds.
///
/// # Errors
/// The error says how times are written.
pub fn time_ps(text: &str) -> Result<i64, String> {
    let expected = || {
        format!("\"{text}\" is not a time; write a number with the unit ps, ns, us, ms or s, such as 10ms")
    };
    let (number, unit) = with_unit(text).ok_or_else(expected)?;
    let ps = match unit {
        "ps" => 1,
        "ns" => PS_PER_NS,
        "us" | "µs" | "μs" => PS_PER_US,
        "ms" => PS_PER_MS,
        "s" => PS_PER_S,
        _ => return Err(expected()),
    };
    // A picosecond is exact up to two hours. Beyond that nobody cuts at a picosecond.
    Ok((number * ps as f64).round() as i64)
}

/// Reads a size such as `50MiB` as bytes. `MB` are a million bytes.
///
/// # Errors
/// The error says how sizes are written.
pub fn size_bytes(text: &str) -> Result<u64, String> {
    let expected =
        || format!("\"{text}\" is not a size; write a number with the unit KiB, MiB or GiB, such as 50MiB");
    let (number, unit) = with_unit(text).filter(|(number, _)| *number >= 0.0).ok_or_else(expected)?;
    let bytes = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "kib" => 1024.0,
        "mib" => 1024.0 * 1024.0,
        "gib" => 1024.0 * 1024.0 * 1024.0,
        _ => return Err(expected()),
    };
    Ok((number * bytes).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_numbers_and_ranges() {
        assert_eq!(Ranks::parse("0,3-5"), Ok(Ranks(vec![(0, 0), (3, 5)])));
        for wrong in ["", "a", "1-", "5-3", "-1", "1,,2"] {
            assert!(Ranks::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_and_sizes_have_units() {
        assert_eq!(time_ps("10ms"), Ok(10_000_000_000));
        assert_eq!(time_ps("12.5 us"), Ok(12_500_000));
        assert_eq!(time_ps("1.5ns"), Ok(1_500));
        assert_eq!(size_bytes("50MB"), Ok(50_000_000));
        assert_eq!(size_bytes("1 GiB"), Ok(1 << 30));
        for wrong in ["", "ms", "10", "10 parsecs", "1.2.3ms"] {
            assert!(time_ps(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "MB", "-1MB", "10 apples"] {
            assert!(size_bytes(wrong).is_err(), "{wrong}");
        }
    }
}
