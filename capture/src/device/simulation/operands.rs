//! Operands of instructions, written as on the device: the semaphore that is waited for, the one
//! that is changed, and what the instruction reads and writes.
//!
//! Code of a phase is unrolled, so each tile has values of its own. Layers share their operands.

use nprof_engine::makers::neuron::SEMAPHORE_WAIT;

use super::op::{
    ACTIVATIONS, BARRIER, FIRST_ACTIVATION, FIRST_BARRIER, FIRST_TRIGGER, FIRST_VECTOR, GPSIMD, HOST,
    INPUT_WAIT, MATMULS, OPS, OUTPUT_WAIT, PACE, RELOAD_WAIT, VECTORS, WEIGHTS_WAIT, kind,
};
use super::place::LayerPart;
use super::queue::{AHEAD, GROUP, Move};
use super::semaphore::{Semaphore, SemaphoreCondition};

/// Texts of a part, by slot and place in the body. The slots are its tiles, one for its end, and
/// one for the rest: the first input of a step, and a pause that is long.
#[derive(Debug)]
pub(super) struct PartOperands(Vec<Vec<String>>);

impl PartOperands {
    pub(super) fn new(part: LayerPart) -> Self {
        let slot = |slot| (0..OPS).map(|at| operands(at, part, slot)).collect();
        Self((0..part.tiles() + 2).map(slot).collect())
    }

    pub(super) fn at(&self, slot: i64, at: usize) -> &str {
        let slot = usize::try_from(slot).unwrap_or(0).min(self.0.len() - 1);
        &self.0[slot][at]
    }
}

fn signed(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn packets(kind: Move) -> i64 {
    signed(kind.packets())
}

/// A semaphore and a value that is waited for.
fn wait(semaphore: Semaphore, value: i64) -> String {
    format!("{}>={value}", semaphore.operand())
}

fn raise(semaphore: Semaphore) -> String {
    format!("{}++@complete", semaphore.operand())
}

/// Condition and change of an instruction, in this order, before the rest of its operands.
fn synchronisation(at: usize, part: LayerPart, tile: i64) -> [Option<String>; 2] {
    let sums = signed(ACTIVATIONS);
    let per_tile = |semaphore, count: i64| Some(wait(semaphore, count)).filter(|_| count > 0);
    match at {
        0 => [per_tile(Semaphore::Scalar, sums * (tile - 1)), None],
        _ if at < FIRST_ACTIVATION && at % 4 == 3 => [None, Some(raise(Semaphore::Tensor))],
        _ if at < FIRST_ACTIVATION => [None, None],
        _ if at < FIRST_VECTOR => {
            let value = sums * tile + signed(at - FIRST_ACTIVATION) + 1;
            [per_tile(Semaphore::Tensor, value), Some(raise(Semaphore::Scalar))]
        }
        FIRST_VECTOR => [per_tile(Semaphore::Scalar, sums * tile + sums / 2), None],
        _ if at == FIRST_VECTOR + VECTORS / 2 => [per_tile(Semaphore::Scalar, sums * (tile + 1)), None],
        _ if at == GPSIMD - 1 => [None, Some(raise(Semaphore::Vector))],
        GPSIMD => [per_tile(Semaphore::Vector, tile + 1), Some(raise(Semaphore::GpSimd))],
        WEIGHTS_WAIT => {
            let SemaphoreCondition { semaphore, value } = SemaphoreCondition::of_weights(tile);
            [per_tile(semaphore, value), None]
        }
        INPUT_WAIT => [per_tile(Semaphore::Input, (tile / GROUP + 1) * packets(Move::Input)), None],
        RELOAD_WAIT => [per_tile(Semaphore::Spill, packets(Move::Save) + packets(Move::Reload)), None],
        OUTPUT_WAIT => [per_tile(Semaphore::Output, part.tiles() / GROUP * packets(Move::Output)), None],
        // The host sets an event, which the instruction clears.
        HOST => [Some("$E[4]==1-".to_owned()), None],
        _ => [trigger_wait(at, part, tile), None],
    }
}

/// Condition of the instruction that starts a transfer.
fn trigger_wait(at: usize, part: LayerPart, slot: i64) -> Option<String> {
    let kind = *Move::ALL.get(at.checked_sub(FIRST_TRIGGER)?)?;
    let sums = signed(ACTIVATIONS);
    match kind {
        Move::Weights => (1..part.tiles()).contains(&slot).then(|| wait(Semaphore::Tensor, sums * slot)),
        Move::Input => (slot == 0).then(|| wait(Semaphore::Collective, 1)),
        Move::Save => Some(wait(Semaphore::Vector, 1)),
        Move::Reload => Some(wait(Semaphore::Spill, packets(Move::Save))),
        Move::Output if slot == part.tiles() => Some(wait(Semaphore::GpSimd, slot)),
        Move::Output => Some(wait(Semaphore::GpSimd, slot - 1)),
    }
}

fn operands(at: usize, part: LayerPart, slot: i64) -> String {
    let parts: Vec<String> = synchronisation(at, part, slot).into_iter().flatten().collect();
    format!("{} {}", parts.join(" "), rest(at, part, slot))
}

/// Operands of an instruction after its semaphores.
fn rest(at: usize, part: LayerPart, slot: i64) -> String {
    let column = signed(at % (2 * MATMULS)) * 0x400;
    let weights = 0x4000 + slot % (AHEAD + 1) * 0x2000 + column;
    let sums = 0x200_0000 + slot % 2 * 0x2000 + column / 2;
    let tile = 0x2_0000 + slot % GROUP * 0x4000 + column;
    let instruction = kind(at, part);
    match (instruction.opcode, instruction.activation) {
        ("LDWEIGHTS", _) => format!("src=bf16@0x{weights:x}[1,0,0][128,1,1] 128*128 "),
        ("MATMUL", _) => {
            format!("acc_flags=3 src=bf16@0x{tile:x}[1,0,0][512,1,1] dst=0x{sums:x}[1,0,0][512,1,1] 128*128 ")
        }
        ("ACTIVATE", function) => format!(
            "{function} bias_imm=0.000000 src=fp32@0x{sums:x}[1,1,1][512,1,1] dst=bf16@0x{tile:x}[1,1,1][512,1,1] channels=128 scale=1.000000 imm=[0x0] accumulator_cmd=IDLE"
        ),
        ("WRITE", _) => format!("data=0x{:x} size=4 dst=0xffff1002{at:03x} ", slot + 1),
        ("NOP", _) if at == PACE && slot == part.tiles() + 1 => "cycle=56000 ".to_owned(),
        ("NOP", _) => "cycle=1 ".to_owned(),
        ("EVENT_SEMAPHORE_RANGE_CLEAR", _) => {
            let cleared = Semaphore::CLEARED.map(Semaphore::number);
            format!("mode=SEMAPHORE_ZERO first={} last={} ", cleared[0], cleared[cleared.len() - 1])
        }
        ("TRIGGER_COLLECTIVE", _) => format!(
            "semaphore={} sem_increment=1  ctype={} dtype=bf16 ",
            Semaphore::Collective.number(),
            part.collective()
        ),
        (SEMAPHORE_WAIT, _) if at >= FIRST_BARRIER => barrier(at - FIRST_BARRIER),
        (SEMAPHORE_WAIT, _) if at == WEIGHTS_WAIT && slot < AHEAD => {
            format!("setter=0  {}=0@complete ", SemaphoreCondition::of_weights(slot).semaphore.operand())
        }
        (SEMAPHORE_WAIT, _) => "setter=0   ".to_owned(),
        _ => {
            format!("in=bf16@0x{tile:x}[1,1,1][512,1,1] out=bf16@0x{weights:x}[1,1,1][512,1,1] channels=128 ")
        }
    }
}

/// Second condition and change of an instruction of the barrier. The first engine begins it, the
/// last one sets the semaphore to zero.
fn barrier(place: usize) -> String {
    let semaphore = Semaphore::Barrier.operand();
    match place {
        0 => format!("setter=0  {semaphore}+=1@complete "),
        _ if place + 1 == BARRIER.len() => {
            format!("setter=0 {semaphore}=={place} {semaphore}=0@complete ")
        }
        _ => format!("setter=0 {semaphore}=={place} {semaphore}++@complete "),
    }
}

#[cfg(test)]
mod tests {
    use super::super::op::{CLEAR, COLLECTIVE};
    use super::*;

    #[test]
    fn operands_read_as_on_the_device() {
        let operands = PartOperands::new(LayerPart::Attention);
        for (slot, at, expected) in [
            (0, WEIGHTS_WAIT, "S[13] (qSyncIO0)>=16 setter=0  S[13] (qSyncIO0)=0@complete "),
            (2, WEIGHTS_WAIT, "S[8] (qSyncIO0)>=16 setter=0   "),
            (0, 0, " src=bf16@0x4000[1,0,0][128,1,1] 128*128 "),
            (2, 0, "S[4] (Scalar)>=4 src=bf16@0x8000[1,0,0][128,1,1] 128*128 "),
            (1, FIRST_BARRIER, " setter=0  $S[2]+=1@complete "),
            (1, FIRST_BARRIER + 4, " setter=0 $S[2]==4 $S[2]++@complete "),
            (1, FIRST_BARRIER + 8, " setter=0 $S[2]==8 $S[2]=0@complete "),
            (1, CLEAR, " mode=SEMAPHORE_ZERO first=4 last=12 "),
            (0, FIRST_TRIGGER + 1, "S[12] (CC)>=1 data=0x1 size=4 dst=0xffff100201c "),
            (9, FIRST_TRIGGER + 1, " data=0xa size=4 dst=0xffff100201c "),
            (3, FIRST_TRIGGER, "S[5] (Tensor)>=12 data=0x4 size=4 dst=0xffff100201b "),
            (0, HOST, "$E[4]==1- cycle=1 "),
        ] {
            assert_eq!(operands.at(slot, at), expected);
        }
        assert!(
            operands
                .at(3, FIRST_ACTIVATION + 1)
                .starts_with("S[5] (Tensor)>=14 S[4] (Scalar)++@complete EXP")
        );
        assert!(operands.at(0, COLLECTIVE).contains("ctype=AllGather"));
    }
}
