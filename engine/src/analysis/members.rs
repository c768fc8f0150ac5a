//! The members of a group, in words.

use super::job::{Group, Unplaced};
use crate::model::Communicator;

/// Listed members of a communicator. Others are counted.
const LISTED: usize = 16;

/// The members of a group in words, for example `ranks 0–7`.
pub(super) fn members(group: &Group) -> String {
    let ranks = group.ranks();
    if ranks.is_empty() {
        return "unknown ranks".to_owned();
    }
    let mut parts: Vec<String> = ranks
        .chunk_by(|a, b| a.checked_add(1) == Some(*b))
        .map(|run| match run {
            [one] => one.to_string(),
            [first, second] => format!("{first}, {second}"),
            [first, .., last] => format!("{first}–{last}"),
            [] => String::new(),
        })
        .collect();
    let listed = parts.len().min(LISTED);
    if listed < parts.len() || ranks.len() < group.size() as usize {
        parts.truncate(listed);
        let size = (group.size() as usize).max(ranks.len());
        return format!("ranks {} … ({size} in all)", parts.join(", "));
    }
    format!("rank{} {}", if ranks.len() == 1 { "" } else { "s" }, parts.join(", "))
}

impl Unplaced {
    /// Why the calls have no group, in words.
    #[must_use]
    pub fn reason(&self) -> String {
        let name = |choice: &Communicator| {
            let group = Group { communicator: choice.clone(), pair: None };
            format!("`{}` ({})", choice.name, members(&group))
        };
        match &self.choices[..] {
            [] => "the trace does not list the process groups of its rank".to_owned(),
            [only] => format!("which ranks of {} exchange data is not stated", name(only)),
            [others @ .., last] => {
                let others: Vec<String> = others.iter().map(name).collect();
                format!(
                    "they can belong to {} or {}, and their times do not tell",
                    others.join(", "),
                    name(last)
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Communicator, Membership};

    #[test]
    fn members_are_listed_as_runs() {
        let group = |ranks: Vec<u32>, size| {
            let communicator =
                Communicator { name: "tp".to_owned(), membership: Membership::Stated, ranks, size };
            members(&Group { communicator, pair: None })
        };
        assert_eq!(group(vec![], 0), "unknown ranks");
        assert_eq!(group(vec![3], 1), "rank 3");
        assert_eq!(group((0..8).collect(), 8), "ranks 0–7");
        assert_eq!(group(vec![0, 1, 8, 10, 11, 12], 6), "ranks 0, 1, 8, 10–12");
        assert_eq!(group(vec![0, 1], 64), "ranks 0, 1 … (64 in all)");
        assert!(group((0..100).map(|at| at * 2).collect(), 100).ends_with("28, 30 … (100 in all)"));
        assert_eq!(group(vec![u32::MAX - 1, u32::MAX], 2), "ranks 4294967294, 4294967295");
    }
}
