//! Collective operations of an AIU profile: the rows of `aiu_collective`. Traces of PyTorch without
//! steps on the device have those of its profiler.

use std::collections::BTreeMap;

use super::schema::COLLECTIVES;
use crate::base::Result;
use crate::exec::Cancel;
use crate::model::{CollectiveKind, Communicator, Membership, NameId, RankCalls, Role, Signature, TableId};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};
use crate::vendor::call_book::{Call, CallBook, CallIds};
use crate::vendor::call_columns::{FieldColumns, first_row, integers, slice_tracks};
use crate::vendor::device_time::{Union, complete};
use crate::vendor::kineto;

const FIELDS: [&str; 2] = ["members", "bytes"];
const MEMBERS: usize = 0;
const BYTES: usize = 1;

/// Reads the operations of a rank. Its kernels are its computation.
///
/// # Errors
/// If bytes are missing or damaged, or the work is cancelled.
pub fn read<B: Bytes>(
    segment: &Segment<B>,
    rank: u32,
    ids: CallIds,
    cancel: Cancel<'_>,
) -> Result<RankCalls> {
    let Some(table) = segment.table(COLLECTIVES.name) else {
        return kineto::collectives::read(segment, ids, cancel);
    };
    let mut book = CallBook::new(ids);
    let mut calls = Vec::new();
    for (track, of) in slice_tracks(segment, |role| role == Role::Collectives) {
        if of == table {
            for block in segment.blocks_of(track)? {
                cancel.check()?;
                add_block(segment, (table, block), rank, (&mut book, &mut calls))?;
            }
        }
    }
    // A number that several operations of this rank have does not tell one operation.
    let mut uses: BTreeMap<(u32, i64), u32> = BTreeMap::new();
    let key = |book: &CallBook, call: &Call| {
        call.number.map(|number| (book.rank.signatures[call.signature as usize].communicator, number))
    };
    for key in calls.iter().filter_map(|call| key(&book, call)) {
        *uses.entry(key).or_default() += 1;
    }
    for call in calls {
        let is_unique = key(&book, &call).is_some_and(|key| uses[&key] == 1);
        book.call(Call { number: call.number.filter(|_| is_unique), ..call });
    }
    let mut compute = Union::default();
    for (track, of) in slice_tracks(segment, |role| role == Role::Kernels) {
        for block in segment.blocks_of(track)? {
            cancel.check()?;
            let mut columns = BlockReader::new(segment, of, block)?;
            let starts = columns.core_ints(ColumnRole::Start)?;
            let durations = columns.core_ints(ColumnRole::Duration)?;
            for (start, duration) in starts.into_iter().zip(durations).filter(|(_, duration)| *duration > 0) {
                compute.add(start, start.saturating_add(duration));
            }
        }
    }
    let mut rank = book.rank;
    complete(&mut rank, compute);
    Ok(rank)
}

/// Adds the operations of a block.
fn add_block<B: Bytes>(
    segment: &Segment<B>,
    (table, block): (TableId, usize),
    rank: u32,
    (book, calls): (&mut CallBook, &mut Vec<Call>),
) -> Result<()> {
    let fields = FieldColumns::of(segment, table, FIELDS).block(segment, block)?;
    let mut core = BlockReader::new(segment, table, block)?;
    let starts = core.core_ints(ColumnRole::Start)?;
    let durations = core.core_ints(ColumnRole::Duration)?;
    let names = core.core_ints(ColumnRole::Name)?;
    let first = first_row(segment, table, block)?;
    for (at, row) in (0..starts.len()).zip(first..) {
        let name = segment.text(NameId(u32::try_from(names[at]).unwrap_or_default()))?;
        let communicator = book.communicator(group_of(fields.text(segment, MEMBERS, at)?, rank));
        let signature = book.signature(Signature {
            communicator,
            kind: CollectiveKind::of_name(name),
            dtype: String::new(),
            count: 0,
            bytes: fields.int(BYTES, at).and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0),
            peer: None,
        });
        let number = number_of(name);
        let (start_ps, duration_ps) = (starts[at], durations[at]);
        let id = number.unwrap_or_else(|| i64::from(row));
        calls.push(Call { start_ps, duration_ps, signature, number, row, id });
    }
    Ok(())
}

/// The group of the ranks that an operation names.
fn group_of(members: &str, rank: u32) -> Communicator {
    let mut ranks: Vec<u32> = integers(members).chain([rank]).collect();
    ranks.sort_unstable();
    ranks.dedup();
    let size = u32::try_from(ranks.len()).unwrap_or(u32::MAX);
    Communicator { name: String::new(), membership: Membership::Stated, ranks, size }
}

/// The number at the end of an instance's name, such as `AllReduce_all_reduce_4`.
fn number_of(name: &str) -> Option<i64> {
    let digits = name.rsplit(|sign: char| !sign.is_ascii_digit()).next()?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_instances_end_with_a_number() {
        assert_eq!(number_of("AllReduce_all_reduce_4"), Some(4));
        assert_eq!((number_of("g"), number_of("4_g"), number_of("")), (None, None, None));
    }

    #[test]
    fn this_rank_is_a_member() {
        let group = group_of("0,2", 1);
        assert_eq!((group.ranks.as_slice(), group.size, group.is_whole()), (&[0, 1, 2][..], 3, true));
    }
}
