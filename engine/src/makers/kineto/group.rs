//! Process groups: names with ranks. Lists of ranks beside a kernel end after 30 ranks. The
//! complete lists are in `distributedInfo`. It also tells to which group a call can belong that
//! states none: one of those with this rank.

use crate::base::Result;
use crate::makers::call_columns::integers;
use crate::model::{Communicator, Membership, OwnedValue};
use crate::query::fields::for_each_row;
use crate::segment::{Bytes, Segment};

/// Facts of a trace about its job.
#[derive(Debug, Default)]
pub(super) struct JobFacts {
    pub(super) world_size: Option<u32>,
    /// The names of the backends, as the trace lists them.
    pub(super) backends: String,
    rank: Option<u32>,
    groups: Vec<ProcessGroup>,
    /// Whether groups are stated without their ranks. Any call can belong to one of these.
    has_unlisted: bool,
}

/// Facts that a call without a group states about its group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Hint {
    /// Number of members.
    pub(super) size: Option<u32>,
    /// Some members, ascending.
    pub(super) ranks: Vec<u32>,
}

impl Hint {
    /// The facts of two calls of one group.
    pub(super) fn and(&mut self, other: Self) {
        self.size = self.size.or(other.size);
        self.ranks.extend(other.ranks);
        self.ranks.sort_unstable();
        self.ranks.dedup();
    }
}

#[derive(Debug, PartialEq, Eq)]
struct ProcessGroup {
    name: String,
    size: u32,
    ranks: Vec<u32>,
}

impl JobFacts {
    /// Reads the trace's facts about itself. A trace without them gives an empty value.
    pub(super) fn read<B: Bytes>(segment: &Segment<B>) -> Result<Self> {
        let mut job = Self::default();
        let Some(table) = segment.table("metadata") else { return Ok(job) };
        for_each_row(segment, table, |_, fields| {
            let texts: Vec<&str> = fields
                .iter()
                .filter_map(|(_, value)| match value {
                    OwnedValue::Text(text) | OwnedValue::Json(text) => Some(text.as_str()),
                    _ => None,
                })
                .collect();
            if let ["distributedInfo", value] = texts[..] {
                job = Self::parse(value);
            }
            Ok::<_, crate::base::Error>(())
        })?;
        Ok(job)
    }

    /// Parses `distributedInfo`, which is compact JSON.
    fn parse(text: &str) -> Self {
        let number = |key: &str| integers(after(text, key)?).next();
        let config = after(text, "pg_config").unwrap_or_default();
        let (mut groups, mut has_unlisted) = (Vec::new(), false);
        for group in config.split("\"pg_name\"").skip(1) {
            match ProcessGroup::parse(group, number("world_size")) {
                Some(group) => groups.push(group),
                None => has_unlisted = true,
            }
        }
        let backends = [texts(text, "\"backend\":"), texts(text, "\"backend_config\":")].concat().join(",");
        let (world_size, rank) = (number("world_size"), number("rank"));
        Self { world_size, backends, rank, groups, has_unlisted }
    }

    /// The groups to which a call of this rank can belong that states none, each list of ranks
    /// once. Empty if the trace does not state all groups.
    pub(super) fn choices(&self, hint: &Hint) -> Vec<Communicator> {
        let mut found: Vec<Communicator> = Vec::new();
        if self.has_unlisted {
            return found;
        }
        let has = |group: &ProcessGroup, rank: u32| group.ranks.binary_search(&rank).is_ok();
        let fits = |group: &&ProcessGroup| {
            group.size > 1
                && self.rank.is_none_or(|own| has(group, own))
                && hint.size.is_none_or(|size| group.size == size)
                && hint.ranks.iter().all(|rank| has(group, *rank))
        };
        for group in self.groups.iter().filter(fits) {
            // Calls of groups with equal ranks meet the same partners.
            if found.iter().all(|other| other.ranks != group.ranks) {
                let (name, ranks) = (group.name.clone(), group.ranks.clone());
                found.push(Communicator { name, membership: Membership::Stated, ranks, size: group.size });
            }
        }
        found
    }

    /// The only group to which a call of this rank can belong that states none.
    pub(super) fn only(&self, hint: &Hint) -> Option<Communicator> {
        let mut choices = self.choices(hint);
        if choices.len() == 1 { choices.pop() } else { None }
    }

    /// The other rank of a group of two.
    pub(super) fn other(&self, group: &Communicator) -> Option<u32> {
        let own = self.rank?;
        match group.ranks[..] {
            [low, high] if own == low => Some(high),
            [low, high] if own == high => Some(low),
            _ => None,
        }
    }

    /// The communicator that a kernel states. `shown` is its list of ranks, which can be cut.
    pub(super) fn communicator(&self, name: &str, shown: &str, size: u32) -> Communicator {
        let mut ranks: Vec<u32> = integers(shown).collect();
        let is_cut = shown.contains("...");
        let fits = |group: &&ProcessGroup| {
            group.name == name
                && (size == 0 || group.size == size)
                && ranks.iter().all(|rank| group.ranks.binary_search(rank).is_ok())
        };
        if (is_cut || ranks.is_empty())
            && let Some(group) = self.groups.iter().find(fits)
        {
            ranks.clone_from(&group.ranks);
        }
        ranks.sort_unstable();
        ranks.dedup();
        let size = if size == 0 && !is_cut { u32::try_from(ranks.len()).unwrap_or(0) } else { size };
        Communicator { name: name.to_owned(), membership: Membership::Stated, ranks, size }
    }
}

impl ProcessGroup {
    /// Parses the rest of a group after the key of its name. `None` if its ranks are not stated.
    fn parse(text: &str, world_size: Option<u32>) -> Option<Self> {
        let name = text.trim_start_matches([':', ' ']);
        let name = name.split([',', '}']).next()?.trim().trim_matches('"').to_owned();
        let size = integers(after(text, "pg_size")?).next()?;
        let list = after(text, "ranks")?;
        let list = list.split(']').next()?;
        let mut ranks: Vec<u32> = integers(list).collect();
        if ranks.is_empty() && Some(size) == world_size {
            ranks = (0..size).collect();
        }
        ranks.sort_unstable();
        (ranks.len() == size as usize).then_some(Self { name, size, ranks })
    }
}

/// The texts after each of these keys of compact JSON.
pub(super) fn texts<'t>(text: &'t str, key: &str) -> Vec<&'t str> {
    text.split(key).skip(1).filter_map(|rest| rest.split('"').nth(1)).collect()
}

/// The text after a key of compact JSON and its colon.
fn after<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let at = text.find(&format!("\"{key}\""))?;
    text.get(at + key.len() + 2..)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INFO: &str = r#"{"backend":"nccl","rank":0,"world_size":40,"pg_config":[
        {"pg_name":"0","pg_desc":"default_pg","pg_size":40,"ranks":[]},
        {"pg_name":"tp","pg_size":2,"ranks":[0,1]},{"pg_name":"tp","pg_size":2,"ranks":"[2, 3]"}]}"#;

    #[test]
    fn cut_lists_are_completed_and_equal_names_are_told_apart() {
        let job = JobFacts::parse(INFO);
        assert_eq!(job.world_size, Some(40));
        let world = job.communicator("0", "[0, 1, 2, ...]", 40);
        assert!(world.is_whole(), "{world:?}");
        assert_eq!(job.communicator("tp", "[2, 3]", 2).ranks, [2, 3]);
        let unknown = job.communicator("dp", "[0, 4, ...]", 40);
        assert!(!unknown.is_whole());
        assert_eq!(unknown.ranks, [0, 4]);
    }

    #[test]
    fn a_call_belongs_to_a_group_of_its_rank() {
        let groups = r#"{"backend":"gloo","rank":2,"world_size":4,"pg_config":[
            {"pg_name":"0","backend_config":"cpu:own","pg_size":4,"ranks":[0,1,2,3]},
            {"pg_name":"1","pg_size":4,"ranks":[0,1,2,3]},{"pg_name":"2","pg_size":1,"ranks":[2]},
            {"pg_name":"3","pg_size":2,"ranks":[0,1]},{"pg_name":"4","pg_size":2,"ranks":[2,3]}]}"#;
        let names = |groups: &str, hint: Hint| -> Vec<String> {
            JobFacts::parse(groups).choices(&hint).into_iter().map(|one| one.name).collect()
        };
        assert_eq!(JobFacts::parse(groups).backends, "gloo,cpu:own");
        assert_eq!(names(groups, Hint::default()), ["0", "4"]);
        assert_eq!(names(groups, Hint { size: Some(2), ..Hint::default() }), ["4"]);
        assert_eq!(names(groups, Hint { ranks: vec![1], ..Hint::default() }), ["0"]);
        let unlisted = groups.replace("[2,3]", "[]");
        assert!(names(&unlisted, Hint::default()).is_empty(), "a group without its ranks");
    }

    #[test]
    fn damaged_facts_are_no_facts() {
        for text in ["", "{", "\"pg_config\"", "{\"pg_config\":[{\"pg_name\":", "{\"world_size\":\"x\"}"] {
            let job = JobFacts::parse(text);
            assert_eq!((job.world_size, job.groups.len()), (None, 0), "{text}");
        }
    }
}
