//! Collective operations of a Neuron profile: the rows of `cc_ops`.

use rustc_hash::FxHashMap;

use super::schema::{CC_OPS, DMA};
use crate::base::{Result, narrow};
use crate::exec::Cancel;
use crate::makers::call_book::{Call, CallBook, CallIds};
use crate::makers::call_columns::{CallFields, FieldColumns, first_row, integers, slice_tracks};
use crate::makers::device_time::{Union, complete};
use crate::model::{
    CollectiveKind, Communicator, Membership, NameId, RankCalls, Role, Signature, TableId, TrackId,
};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

const FIELDS: [&str; 7] =
    ["replica_group", "op_id", "input_size", "output_size", "dtype", "num_elements", "algorithm"];
const GROUP: usize = 0;
const OP_ID: usize = 1;
const INPUT: usize = 2;
const OUTPUT: usize = 3;
const DTYPE: usize = 4;
const ELEMENTS: usize = 5;
const ALGORITHM: usize = 6;

/// Reads the operations of a rank, and its computation and copies beside them. Instructions of
/// engines are its computation, without waits. Packets of DMA queues are its copies.
pub fn read<B: Bytes>(
    segment: &Segment<B>,
    rank: u32,
    ids: CallIds,
    cancel: Cancel<'_>,
) -> Result<RankCalls> {
    let mut calls = operations(segment, rank, ids, cancel)?;
    complete(&mut calls, computation(segment, cancel)?, copies(segment, cancel)?);
    Ok(calls)
}

/// Reads the operations of a rank alone.
pub(super) fn operations<B: Bytes>(
    segment: &Segment<B>,
    rank: u32,
    ids: CallIds,
    cancel: Cancel<'_>,
) -> Result<RankCalls> {
    let mut reader =
        NeuronReader { segment, rank, book: CallBook::new(ids), known: FxHashMap::default(), cancel };
    let table = segment.table(CC_OPS.name);
    for (track, of) in slice_tracks(segment, |role| role == Role::Collectives) {
        if Some(of) == table {
            reader.track(track, of)?;
        }
    }
    Ok(reader.book.rank)
}

/// Times in which engines executed instructions that do not wait.
fn computation<B: Bytes>(segment: &Segment<B>, cancel: Cancel<'_>) -> Result<Union> {
    let waits = &segment.footer().waits;
    let mut compute = Union::default();
    for (track, of) in slice_tracks(segment, |role| matches!(role, Role::Engine(_))) {
        for block in segment.blocks_of(track)? {
            cancel.check()?;
            let mut columns = BlockReader::new(segment, of, block)?;
            let starts = columns.core_ints(ColumnRole::Start)?;
            let durations = columns.core_ints(ColumnRole::Duration)?;
            let names = columns.core_ints(ColumnRole::Name)?;
            for ((start, duration), name) in starts.into_iter().zip(durations).zip(names) {
                if duration > 0 && !waits.contains_stored(name) {
                    compute.add(start, start.saturating_add(duration));
                }
            }
        }
    }
    Ok(compute)
}

/// Times in which packets of DMA queues were in flight. A whole transfer also lasts while none is.
fn copies<B: Bytes>(segment: &Segment<B>, cancel: Cancel<'_>) -> Result<Union> {
    let (mut copies, table) = (Union::default(), segment.table(DMA.name));
    for (track, of) in slice_tracks(segment, |role| role == Role::Queue) {
        if Some(of) != table {
            continue;
        }
        let columns = FieldColumns::of(segment, of, ["aggregated"]);
        let mut is_whole: FxHashMap<u32, bool> = FxHashMap::default();
        for block in segment.blocks_of(track)? {
            cancel.check()?;
            let mut core = BlockReader::new(segment, of, block)?;
            let starts = core.core_ints(ColumnRole::Start)?;
            let durations = core.core_ints(ColumnRole::Duration)?;
            let fields = columns.block(segment, block)?;
            for (at, (start, duration)) in starts.into_iter().zip(durations).enumerate() {
                let is_whole = match fields.code(0, at) {
                    None => false,
                    Some(code) => match is_whole.get(&code) {
                        Some(&known) => known,
                        None => *is_whole.entry(code).or_insert(segment.text(NameId(code))? == "yes"),
                    },
                };
                if duration > 0 && !is_whole {
                    copies.add(start, start.saturating_add(duration));
                }
            }
        }
        copies.compact();
    }
    Ok(copies)
}

/// Values that decide the signature of a row: numbers of its name and texts, and sizes.
type NeuronSignature = (i64, [Option<u32>; 3], [Option<i64>; 3]);

struct NeuronReader<'s, B> {
    segment: &'s Segment<B>,
    rank: u32,
    book: CallBook,
    known: FxHashMap<NeuronSignature, u32>,
    cancel: Cancel<'s>,
}

impl<B: Bytes> NeuronReader<'_, B> {
    fn track(&mut self, track: TrackId, table: TableId) -> Result<()> {
        let columns = FieldColumns::of(self.segment, table, FIELDS);
        let stream = self.segment.footer().tracks[track.0 as usize].spec.identity.number;
        for block in self.segment.blocks_of(track)? {
            self.cancel.check()?;
            let fields = columns.block(self.segment, block)?;
            let mut core = BlockReader::new(self.segment, table, block)?;
            let starts = core.core_ints(ColumnRole::Start)?;
            let durations = core.core_ints(ColumnRole::Duration)?;
            let names = core.core_ints(ColumnRole::Name)?;
            let first = first_row(self.segment, table, block)?;
            for (at, row) in (0..starts.len()).zip(first..) {
                let sizes = [INPUT, OUTPUT, ELEMENTS].map(|field| fields.int(field, at));
                let texts = [GROUP, DTYPE, ALGORITHM].map(|field| fields.code(field, at));
                let key = (names[at], texts, sizes);
                let signature = match self.known.get(&key) {
                    Some(&known) => known,
                    None => self.signature(&fields, at, key, stream)?,
                };
                let number = fields.int(OP_ID, at);
                let (start_ps, duration_ps) = (starts[at], durations[at]);
                let id = number.unwrap_or_else(|| i64::from(row));
                self.book.call(Call { start_ps, duration_ps, signature, number, row, id });
            }
        }
        Ok(())
    }

    fn signature(
        &mut self,
        fields: &CallFields<7>,
        at: usize,
        key: NeuronSignature,
        stream: Option<u32>,
    ) -> Result<u32> {
        let (name, .., [input, output, elements]) = key;
        let name = self.segment.text(NameId(u32::try_from(name).unwrap_or_default()))?;
        let group = fields.text(self.segment, GROUP, at)?;
        let communicator = self.book.communicator(group_of(group, self.rank, stream));
        let bytes = input.max(output).unwrap_or(0);
        let signature = self.book.signature(Signature {
            communicator,
            kind: CollectiveKind::of_name(name),
            dtype: fields.text(self.segment, DTYPE, at)?.to_owned(),
            algorithm: fields.text(self.segment, ALGORITHM, at)?.to_owned(),
            count: elements.and_then(|count| u64::try_from(count).ok()).unwrap_or(0),
            bytes: u64::try_from(bytes).unwrap_or(0),
            peer: None,
        });
        self.known.insert(key, signature);
        Ok(signature)
    }
}

/// The group of a rank in a text such as `[[0, 1], [2, 3]]`. If the text has no group with the
/// rank, the stream is all that is known.
fn group_of(text: &str, rank: u32, stream: Option<u32>) -> Communicator {
    let groups = text.split(']').map(|group| integers(group).collect::<Vec<u32>>());
    match groups.into_iter().find(|group| group.contains(&rank)) {
        Some(mut ranks) => {
            ranks.sort_unstable();
            ranks.dedup();
            let size = narrow(ranks.len());
            Communicator { name: String::new(), membership: Membership::Stated, ranks, size }
        }
        None => Communicator {
            name: stream.map_or_else(|| "stream".to_owned(), |stream| format!("stream {stream}")),
            membership: Membership::Unknown,
            ranks: Vec::new(),
            size: 0,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_finds_its_group() {
        let group = group_of("[[0, 1], [3, 2]]", 2, None);
        assert_eq!((group.ranks.as_slice(), group.size), (&[2, 3][..], 2));
        let unknown = group_of("[[0, 1]]", 2, Some(4));
        assert_eq!((unknown.name.as_str(), unknown.membership), ("stream 4", Membership::Unknown));
    }
}
