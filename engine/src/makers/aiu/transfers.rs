//! Sends and receives of a rank: the steps of its collective operations that name both ranks.

use rustc_hash::FxHashMap;

use super::schema::OPS;
use super::sync::Sync;
use crate::base::Result;
use crate::exec::Cancel;
use crate::makers::call_columns::{FieldColumns, first_row, integers, slice_tracks};
use crate::model::{NameId, Role, TransferEnd, TransferStep};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

const FIELDS: [&str; 4] = ["CollGroup", "Type", "Peer", "Peers"];
const GROUP: usize = 0;
const KIND: usize = 1;
const PEER: usize = 2;
const PEERS: usize = 3;

/// Kinds of steps that send to one rank, and of those that wait for data.
const SENDS: [&str; 2] = ["SingleCast", "MultiCast XSEG"];
const WAIT: &str = "WDone Barrier";

/// For each instance its calls: end in picoseconds and position, ascending.
pub(super) type InstanceEnds<'s> = FxHashMap<&'s str, Vec<(i64, u32)>>;

/// Reads the sends and receives that belong to these calls, ordered by call and start.
pub(super) fn read<B: Bytes>(
    segment: &Segment<B>,
    ends: &InstanceEnds<'_>,
    cancel: Cancel<'_>,
) -> Result<Vec<TransferStep>> {
    let mut transfers = Vec::new();
    let table = segment.table(OPS.name);
    for (track, of) in slice_tracks(segment, |role| role == Role::CollectiveCore) {
        if Some(of) != table {
            continue;
        }
        let columns = FieldColumns::of(segment, of, FIELDS);
        for block in segment.blocks_of(track)? {
            cancel.check()?;
            let fields = columns.block(segment, block)?;
            let mut core = BlockReader::new(segment, of, block)?;
            let starts = core.core_ints(ColumnRole::Start)?;
            let durations = core.core_ints(ColumnRole::Duration)?;
            let names = core.core_ints(ColumnRole::Name)?;
            let first = first_row(segment, of, block)?;
            for (at, row) in (0..starts.len()).zip(first..) {
                let end = match fields.text(segment, KIND, at)? {
                    kind if SENDS.contains(&kind) => TransferEnd::Send,
                    WAIT => TransferEnd::Receive,
                    _ => continue,
                };
                let end_ps = starts[at].saturating_add(durations[at]);
                let calls = ends.get(fields.text(segment, GROUP, at)?);
                // An instance ends with its last step.
                let call = calls.and_then(|of| of.get(of.partition_point(|(end, _)| *end < end_ps)));
                let name = segment.text(NameId(u32::try_from(names[at]).unwrap_or_default()))?;
                let (Some(&(_, call)), Some(sync)) = (call, Sync::of(name)) else { continue };
                let one = fields.int(PEER, at).and_then(|peer| u32::try_from(peer).ok());
                let some = [fields.text(segment, PEER, at)?, fields.text(segment, PEERS, at)?];
                let peers = one.into_iter().chain(some.into_iter().flat_map(integers));
                transfers.extend(peers.map(|peer| TransferStep {
                    call,
                    start_ps: starts[at],
                    end_ps,
                    end,
                    peer,
                    number: sync.number,
                    is_to_many: sync.mask.is_some(),
                    row,
                }));
            }
        }
    }
    transfers.sort_unstable();
    Ok(transfers)
}
