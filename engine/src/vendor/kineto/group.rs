//! Process groups: names with ranks. Lists of ranks beside a kernel end after 30 ranks. The
//! complete lists are in `distributedInfo`.

use crate::base::Result;
use crate::model::{Communicator, Membership, OwnedValue};
use crate::query::fields::for_each_row;
use crate::segment::{Bytes, Segment};
use crate::vendor::call_columns::integers;

/// Facts of a trace about its job.
#[derive(Debug, Default)]
pub(super) struct Job {
    pub(super) world_size: Option<u32>,
    groups: Vec<Group>,
}

#[derive(Debug, PartialEq, Eq)]
struct Group {
    name: String,
    size: u32,
    ranks: Vec<u32>,
}

impl Job {
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
        let groups = config.split("\"pg_name\"").skip(1).filter_map(|group| {
            let name = group.trim_start_matches([':', ' ']);
            let name = name.split([',', '}']).next()?.trim().trim_matches('"').to_owned();
            let size = integers(after(group, "pg_size")?).next()?;
            let list = after(group, "ranks")?;
            let list = list.split(']').next()?;
            let mut ranks: Vec<u32> = integers(list).collect();
            if ranks.is_empty() && Some(size) == number("world_size") {
                ranks = (0..size).collect();
            }
            ranks.sort_unstable();
            (ranks.len() == size as usize).then_some(Group { name, size, ranks })
        });
        Self { world_size: number("world_size"), groups: groups.collect() }
    }

    /// The communicator that a kernel states. `shown` is its list of ranks, which can be cut.
    pub(super) fn communicator(&self, name: &str, shown: &str, size: u32) -> Communicator {
        let mut ranks: Vec<u32> = integers(shown).collect();
        let is_cut = shown.contains("...");
        let fits = |group: &&Group| {
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
        let job = Job::parse(INFO);
        assert_eq!(job.world_size, Some(40));
        let world = job.communicator("0", "[0, 1, 2, ...]", 40);
        assert!(world.is_whole(), "{world:?}");
        assert_eq!(job.communicator("tp", "[2, 3]", 2).ranks, [2, 3]);
        let unknown = job.communicator("dp", "[0, 4, ...]", 40);
        assert!(!unknown.is_whole());
        assert_eq!(unknown.ranks, [0, 4]);
    }

    #[test]
    fn damaged_facts_are_no_facts() {
        for text in ["", "{", "\"pg_config\"", "{\"pg_config\":[{\"pg_name\":", "{\"world_size\":\"x\"}"] {
            let job = Job::parse(text);
            assert_eq!((job.world_size, job.groups.len()), (None, 0), "{text}");
        }
    }
}
