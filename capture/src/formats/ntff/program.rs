//! The engines' programs as dumped from device memory, and their relation to the compiler's
//! programs.

use super::proto;
use nprof_engine::makers::neuron::Engine;

/// Bytes of an instruction.
pub const WORD_LEN: usize = 64;
/// Bits of an instruction's address, divided by [`WORD_LEN`], that trace records carry.
const PC_BITS: u32 = 20;
const PC_MASK: u32 = (1 << PC_BITS) - 1;

/// Target of an instruction record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecordTarget {
    /// This instruction of the dumped program.
    Inside(u32),
    /// Code behind the dumped program, by its distance from the program's start.
    Behind(u32),
    /// The runtime's code before the dumped program.
    Before,
}

/// One engine's program.
#[derive(Debug, Default)]
pub struct EngineProgram<'a> {
    words: &'a [[u8; WORD_LEN]],
    /// Address of the program, in the units of records.
    base: u32,
    patches: Patches,
}

impl<'a> EngineProgram<'a> {
    /// The program of an engine in a subgraph; empty if none was dumped.
    #[must_use]
    pub fn new(subgraph: &'a proto::Subgraph, engine: Engine) -> Self {
        let of_engine = |number: u32| Engine::from_number(number) == Some(engine);
        let code = subgraph.code.iter().find(|code| of_engine(code.engine));
        let patches = subgraph.patches.iter().filter(|list| of_engine(list.engine));
        let patches = Patches::new(patches.flat_map(|list| &list.patches));
        let Some(code) = code else { return Self { patches, ..Self::default() } };
        let (words, _) = code.words.as_chunks();
        let base = u32::try_from((code.address >> 6) & u64::from(PC_MASK)).unwrap_or(0);
        Self { words, base, patches }
    }

    /// Number of instructions.
    #[must_use]
    pub fn instruction_count(&self) -> usize {
        self.words.len()
    }

    /// Place that the low bits of an address point to. Records hold only 20 bits, so a program of
    /// more than 2^20 instructions overlaps itself.
    #[must_use]
    pub fn locate(&self, address_bits: u32) -> RecordTarget {
        let distance = (address_bits & PC_MASK).wrapping_sub(self.base) & PC_MASK;
        if (distance as usize) < self.words.len() {
            RecordTarget::Inside(distance)
        } else if distance < 1 << (PC_BITS - 1) {
            RecordTarget::Behind(distance)
        } else {
            RecordTarget::Before
        }
    }

    /// The bytes of an instruction.
    #[must_use]
    pub fn word(&self, pc: u32) -> Option<&'a [u8; WORD_LEN]> {
        self.words.get(pc as usize)
    }

    /// Index of the instruction in the compiler's program; `None` if the runtime inserted it.
    #[must_use]
    pub fn compiler_pc(&self, pc: u32) -> Option<u64> {
        self.patches.compiler_pc(u64::from(pc))
    }
}

/// The runtime's changes to a program, ready for look-up.
#[derive(Debug, Default)]
struct Patches {
    /// From this instruction on, the compiler's index is ahead by this total. Sorted.
    shifts: Vec<(u64, i64)>,
    /// Ranges of inserted instructions, with exclusive ends that never decrease. Sorted.
    inserted: Vec<(u64, u64)>,
}

impl Patches {
    fn new<'a>(patches: impl Iterator<Item = &'a proto::Patch>) -> Self {
        /// Code of removed instructions. Inserted ones have the default, 0.
        const REMOVED: u32 = 2;
        let (mut shifts, mut inserted) = (Vec::new(), Vec::new());
        for patch in patches {
            let start = patch.offset_bytes / WORD_LEN as u64;
            let count = i64::from(u32::try_from(patch.count).unwrap_or(u32::MAX));
            let end = start.saturating_add(count.unsigned_abs());
            match patch.kind {
                0 => {
                    shifts.push((end, -count));
                    inserted.push((start, end));
                }
                REMOVED => shifts.push((start, count)),
                // An unknown kind: no change is better than a wrong one.
                _ => {}
            }
        }
        shifts.sort_unstable();
        let mut sum = 0_i64;
        for (_, shift) in &mut shifts {
            sum = sum.saturating_add(*shift);
            *shift = sum;
        }
        inserted.sort_unstable();
        let mut furthest = 0;
        for (_, end) in &mut inserted {
            furthest = furthest.max(*end);
            *end = furthest;
        }
        Self { shifts, inserted }
    }

    fn compiler_pc(&self, pc: u64) -> Option<u64> {
        let begun = self.inserted.partition_point(|&(start, _)| start <= pc);
        if begun > 0 && pc < self.inserted[begun - 1].1 {
            return None;
        }
        let passed = self.shifts.partition_point(|&(from, _)| from <= pc);
        let shift = if passed > 0 { self.shifts[passed - 1].1 } else { 0 };
        pc.checked_add_signed(shift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subgraph(address: u64, count: usize, patches: &[(u64, u64, u32)]) -> proto::Subgraph {
        let patches = patches.iter().map(|&(pc, count, kind)| proto::Patch {
            offset_bytes: pc * WORD_LEN as u64,
            count,
            kind,
        });
        proto::Subgraph {
            code: vec![proto::Code { engine: 4, address, words: vec![0; count * WORD_LEN] }],
            patches: vec![proto::PatchList { engine: 4, patches: patches.collect() }],
            ..Default::default()
        }
    }

    #[test]
    fn addresses_are_located_around_the_program() {
        let subgraph = subgraph(0xffff_ffff_ff80, 4, &[]);
        let program = EngineProgram::new(&subgraph, Engine::Sync);
        // The program begins two instructions before the records' counter wraps.
        assert_eq!(program.locate(0xffffe), RecordTarget::Inside(0));
        assert_eq!(program.locate(1), RecordTarget::Inside(3));
        assert_eq!(program.locate(2), RecordTarget::Behind(4));
        assert_eq!(program.locate(0xffffd), RecordTarget::Before);
        assert_eq!(EngineProgram::new(&subgraph, Engine::Tensor).locate(0), RecordTarget::Behind(0));
    }

    #[test]
    fn inserted_instructions_have_no_place_in_the_compilers_program() {
        let subgraph = subgraph(0, 10, &[(1, 2, 0), (5, 3, 2), (6, 1, 0)]);
        let program = EngineProgram::new(&subgraph, Engine::Sync);
        let compiler: Vec<Option<u64>> = (0..8).map(|pc| program.compiler_pc(pc)).collect();
        assert_eq!(compiler, [Some(0), None, None, Some(1), Some(2), Some(6), None, Some(7)]);
    }
}
