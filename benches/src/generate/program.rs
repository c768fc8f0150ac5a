//! The program of a layer: instructions of each engine, their order, and their usual durations.

use super::random::{Purpose, RandomStream};
use super::text::{ENGINES, HLO_PER_LAYER, OPCODES, PATHS_PER_LAYER, SOURCE_LINES};

/// Number of instructions that all engines together execute in a layer.
pub const EXECUTED_PER_LAYER: usize = 4096;
/// Share of the instructions of each engine. The first engine gets the rest.
const SHARES: [f64; 5] = [0.40, 0.22, 0.20, 0.08, 0.10];
/// Median duration of an instruction of each engine, in nanoseconds.
const MEDIAN_NS: [f64; 5] = [75.0, 110.0, 130.0, 230.0, 90.0];
/// Trip counts of loops.
const TRIPS: [i64; 6] = [1, 2, 4, 4, 8, 16];

/// One executed instruction of a layer. All layers are the same except for addresses.
#[derive(Debug, Clone)]
pub struct Instruction {
    /// Position of the engine.
    pub engine: usize,
    /// Program counter, counted from the layer's first instruction.
    pub pc: u32,
    /// Iteration of its loop.
    pub iteration: i64,
    /// Position among all opcodes.
    pub opcode: u8,
    /// The opcode as operands write it.
    pub mnemonic: String,
    /// Usual duration.
    pub duration_ns: i64,
    /// Gap to the previous instruction of the engine; negative if they overlap.
    pub gap_ns: i64,
    /// Position among the layer's HLO operations.
    pub hlo: u16,
    /// Position among the layer's paths.
    pub path: u16,
    /// Position among the source lines.
    pub source: u16,
    /// Address of the source.
    pub src: i64,
    /// Address of the destination.
    pub dst: i64,
    /// Position among the number formats.
    pub number: usize,
    /// Seed of the access pattern.
    pub shape: i64,
    /// Semaphore that the instruction waits for or raises.
    pub semaphore: i64,
    /// Whether the addresses depend on layer and step.
    pub addressing: Addressing,
}

/// Whether an instruction's addresses depend on layer and step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addressing {
    /// The addresses are the same in every run.
    Fixed,
    /// The addresses depend on the layer: the instruction reads weights.
    Layer,
    /// The addresses depend on step and layer: each run has its own.
    Run,
}

/// Program of one engine in a layer.
#[derive(Debug)]
pub struct LayerProgram {
    /// Executed instructions, in order.
    pub executed: Vec<Instruction>,
    /// Number of instructions in memory, which is below the executed number because of loops.
    pub instructions: u32,
}

/// The five engines' programs.
#[must_use]
pub fn programs(seed: u64) -> Vec<LayerProgram> {
    let mut counts = SHARES.map(|share| (share * EXECUTED_PER_LAYER as f64) as usize);
    counts[0] += EXECUTED_PER_LAYER - counts.iter().sum::<usize>();
    (0..ENGINES.len())
        .map(|engine| {
            program(engine, counts[engine], RandomStream::stream(seed, Purpose::Program, 0, engine))
        })
        .collect()
}

fn program(engine: usize, count: usize, mut random: RandomStream) -> LayerProgram {
    let (order, instructions) = loops(count, &mut random);
    let memory = instructions_in_memory(engine, instructions, &mut random);
    let executed = order
        .into_iter()
        .map(|(pc, iteration)| {
            let of = &memory[pc];
            Instruction {
                iteration,
                src: of.src + iteration * 0x400,
                dst: of.dst + iteration * 0x200,
                ..of.clone()
            }
        })
        .collect();
    LayerProgram { executed, instructions: instructions as u32 }
}

/// Generates loops until `count` instructions are executed. Returns (pc, iteration) of each, and
/// the number in memory.
fn loops(count: usize, random: &mut RandomStream) -> (Vec<(usize, i64)>, usize) {
    let mut order = Vec::with_capacity(count);
    let mut base = 0;
    while order.len() < count {
        let body = random.between(4, 48) as usize;
        let trips = TRIPS[random.between(0, TRIPS.len() as i64) as usize];
        let runs = (0..trips).flat_map(|trip| (0..body).map(move |at| (base + at, trip)));
        order.extend(runs.take(count - order.len()));
        base += body;
    }
    (order, base)
}

fn instructions_in_memory(engine: usize, count: usize, random: &mut RandomStream) -> Vec<Instruction> {
    let opcodes = OPCODES[engine];
    let first_opcode: usize = OPCODES[..engine].iter().map(|of| of.len()).sum();
    // Zipf distribution: a few opcodes are most of a program.
    let weights: Vec<f64> = (1..=opcodes.len()).map(|rank| (rank as f64).powf(-1.3)).collect();
    let usual: Vec<f64> = opcodes.iter().map(|_| MEDIAN_NS[engine] * random.normal(0.6).exp()).collect();
    let hlo = sorted(count, HLO_PER_LAYER, random);
    let mut source = sorted(count, SOURCE_LINES, random);
    if engine == ENGINES.len() - 1 {
        // The last engine synchronises all kernels in turn.
        source.iter_mut().for_each(|line| *line = random.between(0, SOURCE_LINES as i64) as u16);
    }
    (0..count)
        .map(|pc| {
            let opcode = random.weighted(&weights);
            let duration = usual[opcode] * random.normal(0.35).exp();
            Instruction {
                engine,
                pc: pc as u32,
                iteration: 0,
                opcode: (first_opcode + opcode) as u8,
                mnemonic: opcodes[opcode].to_lowercase(),
                duration_ns: duration.clamp(18.0, 2500.0) as i64,
                gap_ns: gap(engine, random),
                hlo: hlo[pc],
                path: (usize::from(hlo[pc]) * PATHS_PER_LAYER / HLO_PER_LAYER) as u16,
                source: source[pc],
                src: random.between(0, 1 << 14) * 64,
                dst: random.between(0, 1 << 13) * 128,
                number: random.between(0, 4) as usize,
                shape: random.between(0, 32),
                semaphore: random.between(0, 24),
                addressing: addressing(random),
            }
        })
        .collect()
}

fn gap(engine: usize, random: &mut RandomStream) -> i64 {
    match (random.chance(0.3), engine) {
        (true, 0) => -random.between(1, 25),
        (true, _) => random.between(0, 4),
        (false, _) => random.between(0, 40),
    }
}

fn addressing(random: &mut RandomStream) -> Addressing {
    let layer = random.chance(0.35);
    if random.chance(0.10) {
        Addressing::Run
    } else if layer {
        Addressing::Layer
    } else {
        Addressing::Fixed
    }
}

/// Ascending codes: neighbours in a program belong to the same operation.
fn sorted(count: usize, codes: usize, random: &mut RandomStream) -> Vec<u16> {
    let mut values: Vec<u16> = (0..count).map(|_| random.between(0, codes as i64) as u16).collect();
    values.sort_unstable();
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_executes_its_share_on_each_engine() {
        let programs = programs(7);
        let counts: Vec<usize> = programs.iter().map(|program| program.executed.len()).collect();
        assert_eq!(counts.iter().sum::<usize>(), EXECUTED_PER_LAYER);
        assert_eq!(counts[3], 327);
        for program in &programs {
            assert!((program.instructions as usize) < program.executed.len());
            assert!(program.executed.iter().all(|of| of.pc < program.instructions));
        }
    }

    #[test]
    fn loops_repeat_their_body() {
        let programs = programs(7);
        let again = |of: &&Instruction| of.iteration > 0;
        let repeated = programs[0].executed.iter().filter(again).count();
        assert!(repeated * 2 > programs[0].executed.len(), "{repeated} of {}", programs[0].executed.len());
    }
}
