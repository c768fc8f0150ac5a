//! Texts of events: closed dictionaries, and operands generated for each instruction.

use std::io::Write;

use super::program::Instruction;

/// Number of layers of the model. The program of each layer has its own addresses.
pub const LAYERS: usize = 32;
/// Number of HLO operations of one layer.
pub const HLO_PER_LAYER: usize = 15;
/// Number of layer paths of one layer.
pub const PATHS_PER_LAYER: usize = 6;
/// Number of source lines that instructions refer to.
pub const SOURCE_LINES: usize = 300;
/// Number of tensors of one layer.
pub const TENSORS_PER_LAYER: usize = 12;

/// The engines of a core, in the order of their events.
pub const ENGINES: [&str; 5] = ["TensorE", "VectorE", "ScalarE", "GpSimdE", "SyncE"];

/// Opcodes by engine, the most frequent first.
pub const OPCODES: [&[&str]; 5] = [
    &[
        "MATMUL",
        "LDWEIGHTS",
        "MOVING_MATMUL",
        "TRANSPOSE",
        "SPARSE_MATMUL",
        "PSUM_ACCUMULATE",
        "LDWEIGHTS_BF16",
        "PE_NOP",
    ],
    &[
        "TensorTensor",
        "TensorScalar",
        "TensorReduce",
        "Select",
        "Iota",
        "BnStats",
        "BnAggregate",
        "Max8",
        "MatchReplace",
        "TensorCopy",
        "Transpose32",
        "Shuffle",
    ],
    &["Activate", "ActivateReduce", "Exp", "Gelu", "Silu", "Rsqrt", "TensorActivate", "ActCopy", "Tanh"],
    &["PoolIota", "Gather", "Scatter", "CustomOp", "PartitionAllReduce", "Memset"],
    &["EVENT_SEMAPHORE", "DMA_TRIGGER", "DRAIN", "BRANCH", "MOVE_REGISTER", "CHECK_HALT"],
];

/// Memories that a transfer can read or write.
pub const MEMORIES: [&str; 4] = ["DRAM", "SBUF", "PSUM", "HOST"];

const KERNELS: [&str; 6] =
    ["flash_attention_v2", "rmsnorm_fused", "mlp_swiglu", "rope", "qkv_fused", "allreduce_ring"];
const PATHS: [&str; PATHS_PER_LAYER] = [
    "self_attn/qkv_proj/MatMul",
    "self_attn/rope/Mul",
    "self_attn/flash_fwd/Softmax",
    "self_attn/o_proj/MatMul",
    "mlp/gate_up_proj/MatMul",
    "mlp/down_proj/MatMul",
];
const TENSORS: [&str; TENSORS_PER_LAYER] = [
    "q_proj.weight",
    "k_proj.weight",
    "v_proj.weight",
    "o_proj.weight",
    "gate_proj.weight",
    "up_proj.weight",
    "down_proj.weight",
    "input_norm.weight",
    "kv_cache_k",
    "kv_cache_v",
    "act_spill_0",
    "act_spill_1",
];
/// First tensor of a layer that is written on the device. Earlier tensors are weights in DRAM.
pub const FIRST_LOCAL_TENSOR: i64 = 9;
const NUMBERS: [&str; 4] = ["fp16", "bf16", "fp32", "fp8e4"];

/// All opcodes, engine after engine.
#[must_use]
pub fn opcodes() -> Vec<String> {
    OPCODES.iter().flat_map(|of_engine| of_engine.iter().map(|text| (*text).to_owned())).collect()
}

/// Names of HLO operations, [`HLO_PER_LAYER`] per layer.
#[must_use]
pub fn hlo_names() -> Vec<String> {
    let operation = |layer: usize, at: usize| {
        let (a, b, c) =
            (layer * HLO_PER_LAYER + at, (layer * 37 + at * 5) % 997, (layer * 11 + at * 3) % 463);
        match at {
            0 => format!(
                "%fusion.{a} = bf16[1,2048,4096]{{2,1,0}} fusion(%p.{b}, %custom-call.{c}), kind=kLoop"
            ),
            1 => format!("%add.{a} = add(%dot.{b}, %custom-call.{c})"),
            2 => format!("%dot.{a} = f32[2048,4096] dot(%reshape.{b}, %p.{c})"),
            3 => format!(
                "%custom-call.{a} = custom-call(%all-gather.{b}, %p.{c}), custom_call_target=FusedRmsNorm"
            ),
            4 => format!("%multiply.{a} = multiply(%exp.{b}, %broadcast.{c})"),
            5 => format!("%all-reduce.{a} = all-reduce(%dot.{b}), replica_groups={{}}"),
            6 => format!("%reduce.{a} = reduce(%maximum.{b}, %constant.{c})"),
            7 => format!("%transpose.{a} = transpose(%slice.{b})"),
            8 => format!("%convert.{a} = bf16[1,2048,11008] convert(%fusion.{b})"),
            9 => format!("%select.{a} = select(%compare.{b}, %add.{c})"),
            10 => format!("%exponential.{a} = exponential(%subtract.{b})"),
            11 => format!("%divide.{a} = divide(%exp.{b}, %broadcast.{c})"),
            12 => format!("%dynamic-update-slice.{a} = dynamic-update-slice(%cache.{b}, %fusion.{c})"),
            13 => format!("%slice.{a} = slice(%p.{b})"),
            _ => format!("%rng-bit.{a} = rng-bit-generator(%p.{b})"),
        }
    };
    (0..LAYERS).flat_map(|layer| (0..HLO_PER_LAYER).map(move |at| operation(layer, at))).collect()
}

/// Paths in the model, [`PATHS_PER_LAYER`] per layer.
#[must_use]
pub fn layer_paths() -> Vec<String> {
    let path = |layer: usize, part: &str| format!("jit(train_step)/model/decoder/layers.{layer}/{part}");
    (0..LAYERS).flat_map(|layer| PATHS.iter().map(move |part| path(layer, part))).collect()
}

/// Source lines of kernels.
#[must_use]
pub fn source_lines() -> Vec<String> {
    let line = |at: usize| {
        format!("/opt/llama/nki/kernels/{}.py:{}", KERNELS[at % KERNELS.len()], 40 + (at * 7) % 900)
    };
    (0..SOURCE_LINES).map(line).collect()
}

/// Tensors, [`TENSORS_PER_LAYER`] per layer.
#[must_use]
pub fn tensors() -> Vec<String> {
    (0..LAYERS)
        .flat_map(|layer| TENSORS.iter().map(move |tensor| format!("layers.{layer}.{tensor}")))
        .collect()
}

/// Writes the operands of an instruction without a newline. `offset_bytes` moves its source, like
/// the layer's weights and the step's buffers.
pub fn write_operands(out: &mut impl Write, of: &Instruction, offset_bytes: i64) -> std::io::Result<()> {
    let Instruction { semaphore, shape, iteration, .. } = *of;
    let (src, dst) = (of.src + offset_bytes, of.dst);
    let kind = NUMBERS[of.number];
    let at = format_args!("[{},{},0][{},1,1]", 1 << (shape % 4), shape % 3, 3 + shape % 5);
    match of.engine {
        0 => write!(
            out,
            "S[{semaphore}] (Tensor)++@complete acc_flags={0} row_grp=q{0} src={kind}@0x{src:x}{at} dst=0x{1:x}{at} {2}*128",
            shape % 4,
            0x200_0000 + dst,
            1 + shape % 3
        ),
        1 => write!(
            out,
            "S[{semaphore}] (Vector)++@complete alu=op{} in0={kind}@0x{src:x}{at} in1={}@0x{:x}{at} out={kind}@0x{dst:x}{at} 128*{}",
            shape % 9,
            NUMBERS[(of.number + 1) % NUMBERS.len()],
            src + 0x8000,
            64 << (shape % 4)
        ),
        2 => write!(
            out,
            "S[{semaphore}] (Act)++@complete func={} scale=0x{:x} bias={kind}@0x{:x} src={kind}@0x{src:x}{at} dst={kind}@0x{dst:x}{at} 128*{}",
            of.mnemonic,
            0x3f80_0000 + (shape << 12),
            dst + 0x40,
            32 << (shape % 5)
        ),
        3 => write!(
            out,
            "S[{semaphore}]>={iteration} (Pool) ucode=0x{:x} in={kind}@0x{src:x}{at} out=0x{dst:x}{at} n={}",
            0x1000 + shape * 16,
            shape * 128
        ),
        _ => write!(
            out,
            "S[{semaphore}]{}{} {} q={} desc=0x{src:x} wait=S[{}]",
            if shape % 2 == 1 { ">=" } else { "++" },
            iteration + shape,
            of.mnemonic,
            shape % 16,
            (semaphore + 3) % 24
        ),
    }
}
