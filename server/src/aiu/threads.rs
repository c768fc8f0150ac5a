//! Numbers of threads of FLEX: from 1000 in steps of 100, in the order in which the files of all
//! ranks name the threads. A thread id has the same number on every rank.

use std::collections::{HashMap, HashSet};

use nprof_engine::makers::aiu::schema::OPS;
use nprof_engine::model::OwnedValue;
use nprof_engine::query::{RowOrder, for_each_timed};

use super::error::{AiuError, Result};
use super::form::{EventForm, Threads};
use super::source::{Dialect, SLICES, Source};

/// Number of the first thread, and the distance between threads.
pub const FIRST_THREAD: i128 = 1_000;
const THREAD_STEP: i128 = 100;

/// The numbers of all threads.
#[derive(Debug, Default)]
pub struct ThreadNumbers(HashMap<String, i128>);

impl ThreadNumbers {
    /// The numbers of the threads of these ranks.
    pub fn of(ranks: &[Source<'_>], form: &EventForm) -> Result<Self> {
        let mut all = Vec::new();
        for source in ranks {
            let is_flex = |file: usize| source.dialect_of(file) == Dialect::Flex;
            let mut threads: Vec<&(String, i64, usize)> =
                source.threads.iter().filter(|(.., file)| is_flex(*file)).collect();
            if form.is_part && !threads.is_empty() {
                // Threads whose slices were left out have no number.
                let met = met(source)?;
                threads.retain(|(id, ..)| met.contains(id));
            }
            all.extend(threads.iter().map(|(id, first_ps, _)| (source.stated(*first_ps), id.as_str())));
        }
        // The sort is stable: of equal times, the order of the ranks and of their files counts.
        all.sort_by_key(|(time_ps, _)| *time_ps);
        let mut numbers = Self::default();
        for (_, id) in all {
            match form.threads {
                Threads::Kept if let Ok(own) = id.parse() => numbers.0.insert(id.to_owned(), own),
                _ => Some(numbers.number(id)),
            };
        }
        Ok(numbers)
    }

    /// The number of a thread. A thread that is not known gets the next one.
    pub fn number(&mut self, id: &str) -> i128 {
        if let Some(&known) = self.0.get(id) {
            return known;
        }
        let number = FIRST_THREAD + THREAD_STEP * i128::try_from(self.0.len()).unwrap_or(0);
        self.0.insert(id.to_owned(), number);
        number
    }

    /// All numbers.
    pub fn all(&self) -> impl Iterator<Item = i128> {
        self.0.values().copied()
    }
}

/// Ids of the threads with slices of a rank.
fn met(source: &Source<'_>) -> Result<HashSet<String>> {
    let segment = source.segment;
    let ops = segment.table(OPS.name);
    let tables: Vec<_> = ops.into_iter().chain(segment.table(SLICES)).collect();
    let fields = &segment.footer().fields;
    let mut met = HashSet::new();
    for_each_timed(segment, &tables, RowOrder::Track, |row| {
        if segment.table_of(row.track) == ops {
            let thread = row.fields.iter().find(|(id, _)| fields[id.0 as usize].1.name == "thread");
            if let Some((_, OwnedValue::Text(id))) = thread
                && !met.contains(id.as_str())
            {
                met.insert(id.clone());
            }
        } else if let Some(place) = source.place(row.track) {
            met.insert(place.thread_id());
        }
        Ok::<_, AiuError>(())
    })?;
    Ok(met)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_numbered_in_steps() {
        let mut numbers = ThreadNumbers::default();
        let found = ["7002", "7001", "7002"].map(|id| numbers.number(id));
        assert_eq!(found, [1_000, 1_100, 1_000]);
        assert_eq!(numbers.all().count(), 2);
    }
}
