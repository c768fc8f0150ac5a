//! Collective operations of an AIU profile: the rows of `aiu_collective`. Traces of PyTorch without
//! steps on the device have those of its profiler. Steps of HCOLL tell no ranks, so their
//! operations are those of one communicator with unknown members.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::schema::{COLLECTIVES, OPS};
use super::{HCOLL, transfers};
use crate::base::{Result, narrow};
use crate::exec::Cancel;
use crate::makers::call_book::{Call, CallBook, CallIds};
use crate::makers::call_columns::{FieldColumns, first_row, integers, slice_tracks};
use crate::makers::device_time::{Union, complete};
use crate::makers::kineto::{self, KinetoClass, class_on_device};
use crate::model::{
    CallList, CollectiveKind, Communicator, Membership, NameId, RankCalls, Role, Signature, TableId, TrackId,
};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// Field with the category of a slice.
const CATEGORY: &str = "cat";
const FIELDS: [&str; 2] = ["members", "bytes"];
const MEMBERS: usize = 0;
const BYTES: usize = 1;

/// Reads the operations of a rank. Its kernels are its computation.
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
    let mut instances = FxHashMap::default();
    for (track, of) in slice_tracks(segment, |role| role == Role::Collectives) {
        if of == table {
            for block in segment.blocks_of(track)? {
                cancel.check()?;
                add_block(segment, table, block, rank, &mut book, &mut calls, &mut instances)?;
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
    let (mut compute, mut copies) = (Union::default(), Union::default());
    for (track, of) in slice_tracks(segment, |role| role == Role::Kernels) {
        add_work(segment, track, of, &mut compute, &mut copies, cancel)?;
    }
    let mut rank = book.rank;
    rank.world_size = kineto::world_size(segment)?;
    complete(&mut rank, compute, copies);
    rank.transfers = transfers::read(segment, &ends(&rank.calls, &instances), cancel)?;
    Ok(rank)
}

/// Adds the kernels and copies of a track. Streams of PyTorch's dialect have copies and steps, too.
fn add_work<B: Bytes>(
    segment: &Segment<B>,
    track: TrackId,
    table: TableId,
    compute: &mut Union,
    copies: &mut Union,
    cancel: Cancel<'_>,
) -> Result<()> {
    let is_stream = segment.table(OPS.name) != Some(table);
    let columns = FieldColumns::of(segment, table, [CATEGORY]);
    let mut known: FxHashMap<(i64, Option<u32>), KinetoClass> = FxHashMap::default();
    for block in segment.blocks_of(track)? {
        cancel.check()?;
        let mut core = BlockReader::new(segment, table, block)?;
        let starts = core.core_ints(ColumnRole::Start)?;
        let durations = core.core_ints(ColumnRole::Duration)?;
        let names = if is_stream { core.core_ints(ColumnRole::Name)? } else { Vec::new() };
        let fields = columns.block(segment, block)?;
        for (at, (start, duration)) in starts.into_iter().zip(durations).enumerate() {
            if duration <= 0 {
                continue;
            }
            let class = match names.get(at) {
                Some(&name) => {
                    let key = (name, fields.code(0, at));
                    match known.get(&key) {
                        Some(&known) => known,
                        None => *known.entry(key).or_insert(class_of(segment, name, key.1)?),
                    }
                }
                None => KinetoClass::Compute,
            };
            let end = start.saturating_add(duration);
            match class {
                KinetoClass::Compute => compute.add(start, end),
                KinetoClass::Copy => copies.add(start, end),
                KinetoClass::Collective | KinetoClass::Neither => {}
            }
        }
    }
    Ok(())
}

/// The class of a slice of a stream, by the numbers of its name and its category.
fn class_of<B: Bytes>(segment: &Segment<B>, name: i64, category: Option<u32>) -> Result<KinetoClass> {
    let name = segment.text(NameId(u32::try_from(name).unwrap_or_default()))?;
    let category = category.map_or(Ok(""), |code| segment.text(NameId(code)))?;
    match name.contains(HCOLL) {
        true => Ok(KinetoClass::Collective),
        false => Ok(class_on_device(name, category)),
    }
}

/// Adds the operations of a block.
fn add_block<'s, B: Bytes>(
    segment: &'s Segment<B>,
    table: TableId,
    block: usize,
    rank: u32,
    book: &mut CallBook,
    calls: &mut Vec<Call>,
    instances: &mut FxHashMap<u32, &'s str>,
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
            // The steps of all ranks tell it.
            algorithm: String::new(),
            count: 0,
            bytes: fields.int(BYTES, at).and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0),
            peer: None,
        });
        instances.insert(row, name);
        let number = number_of(name);
        let (start_ps, duration_ps) = (starts[at], durations[at]);
        let id = number.unwrap_or_else(|| i64::from(row));
        calls.push(Call { start_ps, duration_ps, signature, number, row, id });
    }
    Ok(())
}

/// The calls of each instance by their ends. `instances` has the instance of each row.
fn ends<'s>(calls: &CallList, instances: &FxHashMap<u32, &'s str>) -> transfers::InstanceEnds<'s> {
    let mut ends = transfers::InstanceEnds::default();
    for (at, call) in (0..calls.len()).zip(0..) {
        if let Some(instance) = instances.get(&calls.rows[at]) {
            ends.entry(instance).or_default().push((calls.end_ps(at), call));
        }
    }
    ends.values_mut().for_each(|of| of.sort_unstable());
    ends
}

/// The group of the ranks that an operation names. If it names none, they are not known.
fn group_of(members: &str, rank: u32) -> Communicator {
    if members.is_empty() {
        let (name, membership) = (HCOLL.to_owned(), Membership::Unknown);
        return Communicator { name, membership, ranks: Vec::new(), size: 0 };
    }
    let mut ranks: Vec<u32> = integers(members).chain([rank]).collect();
    ranks.sort_unstable();
    ranks.dedup();
    let size = narrow(ranks.len());
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
        let unknown = group_of("", 1);
        assert_eq!((unknown.membership, unknown.size), (Membership::Unknown, 0));
    }
}
