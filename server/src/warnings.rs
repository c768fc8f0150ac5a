//! The warnings of a profile: warnings in its segments, and later ones.

use std::collections::BTreeMap;

use nprof_engine::model::{Warning, WarningKind};
use nprof_engine::native::{OpenError, TEMPORARY};
use nprof_engine::segment::Footer;

use crate::store::{Profile, RankFile};

/// The files of a rank for a message: the first one, and how many more the user named.
fn named(inputs: &[String]) -> String {
    let mut of_user = inputs.iter().filter(|name| !name.starts_with(TEMPORARY));
    let first = of_user.next().cloned().unwrap_or_default();
    match of_user.count() {
        0 => first,
        1 => format!("{first} and 1 more file"),
        more => format!("{first} and {more} more files"),
    }
}

/// All warnings of a rank. The warnings in its segment come first.
#[must_use]
pub fn of_rank(rank: &RankFile, footer: &Footer) -> Vec<Warning> {
    footer.warnings.iter().cloned().chain(later(rank)).collect()
}

/// The warnings of a rank that arose after its segment was written.
#[must_use]
pub fn later(rank: &RankFile) -> Vec<Warning> {
    let first_place = named(&rank.inputs);
    let of_kind = |kind, notes: &[String]| {
        let of =
            |what: &String| Warning { kind, what: what.clone(), first_place: first_place.clone(), count: 1 };
        notes.iter().map(of).collect::<Vec<_>>()
    };
    let adjusted = of_kind(WarningKind::AdjustedValue, &rank.notes);
    [adjusted, of_kind(WarningKind::MissingData, &rank.left_out)].concat()
}

/// The warning about a rank whose segment cannot be read.
fn unreadable(rank: &RankFile, error: &OpenError) -> Warning {
    let (file, rank) = (&rank.file, rank.rank);
    let what = format!(
        "the segment {file} of rank {rank} cannot be read ({error}); run `nprof verify` to find the damage"
    );
    Warning { kind: WarningKind::MissingData, what, first_place: String::new(), count: 1 }
}

/// The kinds of warnings of all ranks. Equal kinds of several ranks become one, with the sum of
/// their counts. The most frequent kinds come first. The first place also names the file. A rank
/// with an unreadable segment gets a warning about that.
#[must_use]
pub fn of_profile(profile: &Profile) -> Vec<Warning> {
    let mut kinds = BTreeMap::<(WarningKind, String), Warning>::new();
    for rank in &profile.manifest.ranks {
        let of_rank = match profile.open_rank(rank) {
            Ok(segment) => of_rank(rank, segment.footer()),
            Err(error) => vec![unreadable(rank, &error)],
        };
        for mut warning in of_rank {
            let input = named(&rank.inputs);
            if warning.first_place.is_empty() {
                warning.first_place = input;
            } else if !rank.inputs.iter().any(|input| warning.first_place.starts_with(input.as_str())) {
                warning.first_place = format!("{input}, {}", warning.first_place);
            }
            let count = warning.count;
            let known = kinds.entry((warning.kind, warning.what.clone()));
            known.and_modify(|known| known.count = known.count.saturating_add(count)).or_insert(warning);
        }
    }
    let mut kinds: Vec<Warning> = kinds.into_values().collect();
    // A missing arrow is not a lost event, and PyTorch ends thousands of flows that it never
    // begins.
    kinds.sort_by_key(|warning| (warning.kind == WarningKind::UnboundFlow, std::cmp::Reverse(warning.count)));
    kinds
}
