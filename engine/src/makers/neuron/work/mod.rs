//! The work of a rank of a Neuron profile: instructions of engines, packets of DMA queues,
//! collective operations, and what each waits for.
//!
//! An engine starts its instructions in their order. The operands of an instruction name the
//! semaphores that it waits for and those that it changes, `semaphore_update` has the time of each
//! change, and packets and arrows tell the transfers behind the other changes.

mod arrow;
mod author;
mod history;
mod instruction;
mod matching;
mod operand;
mod order;
mod packet;
mod party;
mod row_set;
mod semaphore;
#[cfg(test)]
mod tests;
mod transfer;

use rustc_hash::FxHashMap;

use crate::base::Result;
use crate::exec::Work;
use crate::makers::call_columns::slice_tracks;
use crate::makers::work_reader::{WorkReader, is_device_work};
use crate::model::{Certainty, MachineSide, RankWork, Role, TableId};
use crate::segment::{Bytes, Segment};

use super::schema::{CC_OPS, DMA, INSTRUCTION};
use arrow::WorkArrows;
use instruction::InstructionWork;
use packet::PacketWork;
use semaphore::WorkParts;
use transfer::EndedNode;

/// Reads the work of a rank: packets beside instructions.
pub(in crate::makers) fn read<B: Bytes>(segment: &Segment<B>, on: Work<'_>) -> Result<RankWork> {
    let cancel = on.cancel;
    let arrows = arrow::read(segment)?;
    let [of_instructions, of_packets] = [INSTRUCTION.name, DMA.name].map(|name| segment.table(name));
    let (mut work, mut beside) = (WorkReader::new(segment, cancel), WorkReader::new(segment, cancel));
    let mut instructions = InstructionWork::new(segment, cancel, &arrows);
    let mut packets = PacketWork::new(segment);
    let (mut first, mut second) = (Ok(()), Ok(()));
    on.exec.beside(
        &mut || {
            let mut tracks = slice_tracks(segment, |role| role == Role::Queue);
            second = tracks.try_for_each(|(track, table)| match Some(table) == of_packets {
                true => packets.track(track, table, &mut beside),
                false => Ok(()),
            });
        },
        &mut || {
            let mut tracks = slice_tracks(segment, |role| matches!(role, Role::Engine(_)));
            first = tracks.try_for_each(|(track, table)| match Some(table) == of_instructions {
                true => instructions.track(track, table, &mut work),
                false => Ok(()),
            });
        },
    );
    first.and(second)?;
    packets.follow(work.append(beside), &arrows, &instructions);
    packets.finish(&mut work);
    let is_read = |table: TableId| Some(table) == of_instructions || Some(table) == of_packets;
    let operations = rest(segment, is_read, &arrows, &instructions, &mut work)?;
    let parts = WorkParts { segment, arrows: &arrows, instructions, packets, operations };
    semaphore::add_edges(&mut work, parts, on)?;
    let mut work = work.finish(on.exec)?;
    work.parties = party::names(segment, &work);
    Ok(work)
}

/// Reads collective operations and other work of the device, each with the instruction that
/// triggered it. Returns the operations by their instructions.
fn rest<'s, B: Bytes>(
    segment: &'s Segment<B>,
    is_read: impl Fn(TableId) -> bool,
    arrows: &WorkArrows,
    instructions: &InstructionWork<'s, B>,
    work: &mut WorkReader<'s, B>,
) -> Result<FxHashMap<u32, EndedNode>> {
    let operations = segment.table(CC_OPS.name);
    let mut triggered = FxHashMap::default();
    for (track, table) in slice_tracks(segment, |role| is_device_work(role) || role == Role::Collectives) {
        let role = segment.footer().tracks[track.0 as usize].spec.identity.role;
        if is_read(table) || role == Role::Collectives && Some(table) != operations {
            continue;
        }
        for block in segment.blocks_of(track)? {
            for slice in work.slices(table, block)? {
                let node = work.add(slice, track, MachineSide::Device);
                let trigger = arrows.triggers.get(&slice.row).and_then(|row| instructions.by_row.get(row));
                let edge =
                    trigger.and_then(|linked| linked.of.edge_to(node, slice.start_ps, Certainty::Recorded));
                work.work.edges.extend(edge);
                if let Some(linked) = trigger.filter(|_| Some(table) == operations) {
                    let operation = EndedNode { node, end_ps: slice.end_ps };
                    triggered.insert(linked.of.node, operation);
                }
            }
        }
    }
    Ok(triggered)
}
