//! Choices of the comparison of two runs, with the writing and parsing of their parameters in the
//! address.

use std::fmt;

use nprof_engine::insight::difference::WorkKey;
use nprof_engine::wire::percent::{parameter_decoded, percent_encoded};

use super::url_error::UrlError;

/// Choices of the Compare place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CompareState {
    /// The subject of a row.
    pub by: WorkKey,
    /// Ranks of the first run; `None` for all.
    pub ranks: Option<Vec<u32>>,
    /// Ranks of the second run; `None` for all.
    pub with_ranks: Option<Vec<u32>>,
    /// The region of the second run. `None` for that of the first one, which is the region of the
    /// page.
    pub with_region: Option<String>,
}

/// A change of the comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompareChange {
    /// Rows are about something else.
    By(WorkKey),
    /// The first run has other ranks.
    Ranks(Option<Vec<u32>>),
    /// The second run has other ranks.
    WithRanks(Option<Vec<u32>>),
    /// The second run has another region.
    WithRegion(Option<String>),
}

const BY: &str = "by";
const RANKS: &str = "of_ranks";
const WITH_RANKS: &str = "with_ranks";
const WITH_REGION: &str = "with_region";

impl CompareState {
    /// Whether the two runs are parts of one profile that differ.
    #[must_use]
    pub fn has_two_parts(&self, region: Option<&str>) -> bool {
        self.ranks != self.with_ranks || self.with_region.as_deref().is_some_and(|with| Some(with) != region)
    }

    /// The choices of the swapped pair, of which the first run has the region that is returned.
    #[must_use]
    pub fn swapped(self, region: Option<String>) -> (Self, Option<String>) {
        let Self { by, ranks, with_ranks, with_region } = self;
        let first = with_region.clone().or_else(|| region.clone());
        let with_region = region.filter(|_| with_region.is_some());
        (Self { by, ranks: with_ranks, with_ranks: ranks, with_region }, first)
    }

    pub(in crate::view) fn apply(&mut self, change: &CompareChange) {
        match change {
            CompareChange::By(by) => self.by = *by,
            CompareChange::Ranks(ranks) => self.ranks.clone_from(ranks),
            CompareChange::WithRanks(ranks) => self.with_ranks.clone_from(ranks),
            CompareChange::WithRegion(region) => self.with_region.clone_from(region),
        }
    }

    /// Takes over a parameter of an address. Returns false if it is not one of the comparison.
    pub(in crate::view) fn read(&mut self, name: &str, value: &str) -> Result<bool, UrlError> {
        match name {
            BY => {
                let error = UrlError::Parameter {
                    name: BY,
                    expected: "name, track, layer, hlo, operator, line or rank",
                };
                self.by = WorkKey::from_name(value).ok_or(error)?;
            }
            RANKS => self.ranks = Some(rank_numbers(RANKS, value)?),
            WITH_RANKS => self.with_ranks = Some(rank_numbers(WITH_RANKS, value)?),
            WITH_REGION => {
                let error = UrlError::Parameter { name: WITH_REGION, expected: "the name of a region" };
                self.with_region =
                    Some(parameter_decoded(value).ok_or(error)?).filter(|name| !name.is_empty());
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn rank_numbers(name: &'static str, value: &str) -> Result<Vec<u32>, UrlError> {
    let error = |_| UrlError::Parameter { name, expected: "numbers of ranks with commas between" };
    value.split(',').map(str::parse).collect::<Result<_, _>>().map_err(error)
}

/// The parameters, each after `&`. Default values are left out.
impl fmt::Display for CompareState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.by != WorkKey::default() {
            write!(f, "&{BY}={}", self.by.name())?;
        }
        for (name, ranks) in [(RANKS, &self.ranks), (WITH_RANKS, &self.with_ranks)] {
            if let Some(ranks) = ranks {
                write!(f, "&{name}={}", in_address(ranks))?;
            }
        }
        match &self.with_region {
            Some(region) => write!(f, "&{WITH_REGION}={}", percent_encoded(region)),
            None => Ok(()),
        }
    }
}

/// Numbers of ranks with commas between.
#[must_use]
pub fn in_address(ranks: &[u32]) -> String {
    ranks.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_that_is_swapped_twice_is_as_it_was() {
        let state = CompareState {
            ranks: Some(vec![0]),
            with_ranks: Some(vec![1, 2]),
            with_region: Some("step 2".to_owned()),
            ..CompareState::default()
        };
        let region = Some("step 1".to_owned());
        let (swapped, first) = state.clone().swapped(region.clone());
        assert_eq!((first.as_deref(), swapped.with_region.as_deref()), (Some("step 2"), Some("step 1")));
        assert_eq!(
            (swapped.ranks.as_deref(), swapped.with_ranks.as_deref()),
            (Some(&[1, 2][..]), Some(&[0][..]))
        );
        assert_eq!(swapped.swapped(first), (state, region.clone()));
        // Without a region of its own, the second run has that of the first one.
        let (same, first) = CompareState::default().swapped(region.clone());
        assert_eq!((same, first), (CompareState::default(), region));
    }

    #[test]
    fn one_profile_is_compared_if_its_parts_differ() {
        let of = |ranks, with_ranks, with_region: Option<&str>| CompareState {
            ranks,
            with_ranks,
            with_region: with_region.map(str::to_owned),
            ..CompareState::default()
        };
        assert!(!CompareState::default().has_two_parts(None));
        assert!(of(None, Some(vec![1]), None).has_two_parts(None));
        assert!(!of(Some(vec![1]), Some(vec![1]), None).has_two_parts(Some("step 1")));
        assert!(of(None, None, Some("step 2")).has_two_parts(Some("step 1")));
        assert!(!of(None, None, Some("step 1")).has_two_parts(Some("step 1")));
    }
}
