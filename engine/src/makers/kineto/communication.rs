//! Kernels that communicate, by their names: those of collective libraries and those that programs
//! bring themselves, such as the all-reduces of inference servers.
//!
//! A name is that of a C++ function, mangled or not, or of a kernel of a compiler. Only the
//! function and its namespaces decide: arguments of templates and types of parameters name what a
//! kernel works on.

use std::borrow::Cow;

use crate::model::CollectiveKind;

/// The part of a kernel's name that a pattern looks at, and the words that it wants. Words are in
/// lower case, with `_` between and around them.
#[derive(Debug, Clone, Copy)]
enum NamePattern {
    /// The function has these words, one after the other.
    Function(&'static str),
    /// The function or a namespace has a word that begins with this text.
    Library(&'static str),
    /// The function begins with this text, within a namespace of this name.
    Inside(&'static str, &'static str),
}

use NamePattern::{Function, Inside, Library};

/// A pattern and the kind that it states. `None` leaves the kind to the words of the name.
type KindPattern = (NamePattern, Option<CollectiveKind>);

const ALL_REDUCE: Option<CollectiveKind> = Some(CollectiveKind::AllReduce);
const ALL_TO_ALL: Option<CollectiveKind> = Some(CollectiveKind::AllToAll);
const BARRIER: Option<CollectiveKind> = Some(CollectiveKind::Barrier);

/// All patterns. The first one that fits decides.
const PATTERNS: [KindPattern; 56] = [
    // Operations by name: symmetric memory of PyTorch (`one_shot_all_reduce_kernel`,
    // `multimem_all_gather_kernel`), TensorRT-LLM and FlashInfer (`allreduce_fusion_kernel_…`,
    // `moeAllToAllKernel`), SGLang, AITER, QuickReduce, XLA.
    (Function("_all_reduce_"), ALL_REDUCE),
    (Function("_allreduce_"), ALL_REDUCE),
    (Function("_all_gather_"), Some(CollectiveKind::AllGather)),
    (Function("_allgather_"), Some(CollectiveKind::AllGather)),
    (Function("_reduce_scatter_"), Some(CollectiveKind::ReduceScatter)),
    (Function("_reducescatter_"), Some(CollectiveKind::ReduceScatter)),
    (Function("_all_to_all_"), ALL_TO_ALL),
    (Function("_allto_all_"), ALL_TO_ALL),
    (Function("_alltoall_"), ALL_TO_ALL),
    (Function("_alltoallv_"), ALL_TO_ALL),
    (Function("_all_to_allv_"), ALL_TO_ALL),
    (Function("_all2all_"), ALL_TO_ALL),
    // vLLM, SGLang and AITER: `cross_device_reduce_2stage`.
    (Function("_cross_device_reduce_"), ALL_REDUCE),
    (Function("_multimem_"), None),
    (Function("_one_shot_reduce_"), ALL_REDUCE),
    (Function("_two_shot_reduce_"), ALL_REDUCE),
    (Function("_put_signal_kernel_"), Some(CollectiveKind::Send)),
    (Function("_wait_signal_kernel_"), Some(CollectiveKind::Receive)),
    (Inside("symmetric_memory", "barrier"), BARRIER),
    // Experts on other ranks: DeepEP and its kin.
    (Inside("deep_ep", "dispatch"), ALL_TO_ALL),
    (Inside("deep_ep", "combine"), ALL_TO_ALL),
    (Inside("deep_ep", "notify"), ALL_TO_ALL),
    (Inside("deep_ep", "cached_notify"), ALL_TO_ALL),
    (Inside("deep_ep", "barrier"), BARRIER),
    (Function("_moe_distribute_dispatch_"), ALL_TO_ALL),
    (Function("_moe_distribute_combine_"), ALL_TO_ALL),
    (Inside("hybrid_ep", "dispatch"), ALL_TO_ALL),
    (Inside("hybrid_ep", "combine"), ALL_TO_ALL),
    (Inside("uccl", "dispatch"), ALL_TO_ALL),
    (Inside("uccl", "combine"), ALL_TO_ALL),
    (Inside("mori", "ep_dispatch"), ALL_TO_ALL),
    (Inside("mori", "ep_combine"), ALL_TO_ALL),
    // Libraries.
    (Library("nccl"), None),
    (Library("rccl"), None),
    (Library("hccl"), None),
    (Library("hcom"), None),
    (Library("lccl"), None),
    (Library("lcal"), None),
    (Library("xccl"), None),
    (Library("bkcl"), None),
    (Library("cncl"), None),
    (Library("mccl"), None),
    (Library("eccl"), None),
    (Library("flagcx"), None),
    (Library("msccl"), None),
    (Library("oneccl"), None),
    (Library("ccl_"), None),
    (Library("nvshmem"), None),
    (Library("rocshmem"), None),
    (Library("roc_shmem"), None),
    (Library("ishmem"), None),
    // Transformer Engine.
    (Library("userbuffers"), ALL_REDUCE),
    (Library("kuserbuffers"), None),
    (Library("quickreduce"), ALL_REDUCE),
    (Library("ucc_"), None),
    (Library("ucp_"), None),
];

/// Words before an operation among the threads of one device, such as `warp_all_reduce`.
const OF_ONE_DEVICE: [&str; 9] =
    ["_warp", "_block", "_wave", "_lane", "_thread", "_cta", "_quad", "_subgroup", "_simd"];
/// Prefixes of kernels that a compiler names after the operations around them.
const COMPILED: [&str; 2] = ["triton_", "cpp_fused"];
/// Texts of NCCL's kernels that stand anywhere in older names.
const NCCL: [&str; 2] = ["ncclDevKernel", "ncclKernel"];
/// Namespaces without a name. Their signs do not end the name of a function.
const UNNAMED: [&str; 4] = ["(anonymous namespace)::", "<unnamed>::", "{anonymous}::", "_GLOBAL__N__"];

/// The kind of operation of a kernel that communicates; `None` if the kernel computes.
pub(super) fn kind_of(name: &str) -> Option<CollectiveKind> {
    if COMPILED.iter().any(|prefix| name.starts_with(prefix)) {
        return None;
    }
    let parts = parts_of(name);
    let (function, namespaces) = parts.split_last()?;
    let fits = |pattern: &NamePattern| match *pattern {
        Function(words) => has_words(function, words),
        Library(prefix) => parts.iter().any(|part| part.contains(&format!("_{prefix}"))),
        Inside(namespace, begin) => {
            let is_inside = namespaces.iter().any(|part| part.trim_matches('_') == namespace);
            is_inside && function.trim_start_matches('_').starts_with(begin)
        }
    };
    let stated = PATTERNS.iter().find(|(pattern, _)| fits(pattern)).map(|(_, kind)| *kind);
    let stated = stated.or_else(|| NCCL.iter().any(|text| name.contains(text)).then_some(None));
    stated.map(|kind| kind.unwrap_or_else(|| CollectiveKind::of_name(name)))
}

/// Whether the words occur, and are no operation among the threads of one device.
fn has_words(function: &str, words: &str) -> bool {
    let before = |at: usize| &function[..at];
    let is_of_one_device = |at: usize| OF_ONE_DEVICE.iter().any(|word| before(at).ends_with(word));
    function.match_indices(words).any(|(at, _)| !is_of_one_device(at))
}

/// The namespaces and the function of a kernel's name, each as words between underscores.
fn parts_of(name: &str) -> Vec<String> {
    let mangled = mangled_parts(name);
    if !mangled.is_empty() {
        return mangled.into_iter().map(words_of).collect();
    }
    let mut path = Cow::Borrowed(name.strip_prefix("void ").unwrap_or(name));
    for unnamed in UNNAMED {
        if path.contains(unnamed) {
            path = Cow::Owned(path.replace(unnamed, ""));
        }
    }
    let end = path.find(['<', '(']).unwrap_or(path.len());
    // A result type stands before the name.
    let path = path[..end].trim();
    let path = path.rsplit(' ').next().unwrap_or(path);
    path.split("::").filter(|part| !part.is_empty()).map(words_of).collect()
}

/// The identifiers of a mangled name such as `_ZN4vllm3fooIfEEv`: those before its templates and
/// parameters. Empty for other names.
fn mangled_parts(name: &str) -> Vec<&str> {
    let Some(rest) = name.strip_prefix("_Z") else { return Vec::new() };
    let mut rest = rest.trim_start_matches(['N', 'L', 'K']);
    let mut parts = Vec::new();
    loop {
        let digits = rest.len() - rest.trim_start_matches(|sign: char| sign.is_ascii_digit()).len();
        let Some(part) = rest[..digits].parse().ok().and_then(|length: usize| {
            let end = digits.checked_add(length)?;
            rest.get(digits..end)
        }) else {
            return parts;
        };
        rest = &rest[digits + part.len()..];
        if !part.starts_with("_GLOBAL__N_") {
            parts.push(part);
        }
    }
}

/// The words of an identifier in lower case, with `_` before, between and behind them:
/// `twoShotAllReduce` is `_two_shot_all_reduce_`.
fn words_of(identifier: &str) -> String {
    let mut words = String::with_capacity(identifier.len() + 8);
    words.push('_');
    let mut was_small = false;
    for sign in identifier.chars() {
        let is_word = sign.is_ascii_alphanumeric();
        if (!is_word || sign.is_ascii_uppercase() && was_small) && !words.ends_with('_') {
            words.push('_');
        }
        if is_word {
            words.push(sign.to_ascii_lowercase());
        }
        was_small = sign.is_ascii_lowercase() || sign.is_ascii_digit();
    }
    if !words.ends_with('_') {
        words.push('_');
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_taken_apart() {
        assert_eq!(words_of("twoShotAllReduce"), "_two_shot_all_reduce_");
        assert_eq!(words_of("hcom_allReduce__17"), "_hcom_all_reduce_17_");
        assert_eq!(parts_of("void ns::(anonymous namespace)::kernel<a::b>(c)"), ["_ns_", "_kernel_"]);
        assert_eq!(parts_of("_ZN4vllm3fooIfLi8EEEvPKf"), ["_vllm_", "_foo_"]);
        assert_eq!(parts_of("_Z99short"), ["_z99short_"]);
        assert!(parts_of("").is_empty());
    }

    #[test]
    fn kernels_of_all_libraries_communicate() {
        let (reduce, gather) = (CollectiveKind::AllReduce, CollectiveKind::AllGather);
        let (scatter, exchange) = (CollectiveKind::ReduceScatter, CollectiveKind::AllToAll);
        for (name, kind) in [
            ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", reduce),
            ("void ncclKernel_AllGather<1>(int)", gather),
            ("_Z32ncclDevKernel_AllGather_RING_LL24ncclDevKernelArgs", gather),
            ("rcclGenericKernel<1>", CollectiveKind::Other),
            ("hcom_allReduce__123_1", reduce),
            ("void mscclpp::allreduce7<float>(float*)", CollectiveKind::AllReduce),
            ("void vllm::cross_device_reduce_2stage<__half, 4>(vllm::RankData*)", reduce),
            ("_ZN4vllm26cross_device_reduce_1stageIfLi8EEEvPNS_8RankDataE", reduce),
            ("void aiter::reduce_scatter_cross_device_store<float, 8>(float*)", scatter),
            ("void at::native::(anonymous namespace)::multimem_all_reduce_kernel<float, 16>()", reduce),
            ("void (anonymous namespace)::one_shot_all_reduce_kernel<float, 8>(unsigned**)", reduce),
            ("void c10d::two_shot_all_reduce_kernel<float>(unsigned**)", reduce),
            ("void flashinfer::ar::allreduce_fusion_kernel_oneshot_lamport<float>()", reduce),
            ("void tensorrt_llm::kernels::twoShotAllReduceKernel<float, 8>(P)", reduce),
            ("void tensorrt_llm::kernels::moeAlltoAllKernel<8>(P)", exchange),
            ("void deep_ep::internode_ll::dispatch<true, 7168>(void*)", exchange),
            ("void deep_ep::intranode::combine<float, 8>(int4*)", exchange),
            ("void deep_ep::intranode::notify_dispatch<8>(int const*)", exchange),
            ("nvshmemi_alltoall_kernel(int)", exchange),
            ("void barrier_on_stream_nvshmem(int)", CollectiveKind::Barrier),
            ("void c10d::nvshmem_extension::exchange(int*)", CollectiveKind::Other),
            ("void mori::moe::EpDispatchIntraNodeKernel<float>(A)", exchange),
        ] {
            assert_eq!(kind_of(name), Some(kind), "{name}");
        }
    }

    #[test]
    fn names_that_only_contain_such_a_word_compute() {
        for name in [
            "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, ncclSum>>(nccl::all_reduce)",
            "void cub::DeviceReduceKernel<int>",
            "void splitKreduce_kernel<32, 16, int, float>",
            "void flash::flash_fwd_splitkv_combine_kernel<F>(p)",
            "void moe::dispatch_kernel<8>(int)",
            "void deep_ep::layout::get_dispatch_layout<8>(int)",
            "void at::native::_scatter_gather_elementwise_kernel<128>",
            "void softmax_warp_all_reduce<float>(float*)",
            "blockAllReduceSum",
            "triton_poi_fused_all_reduce_wait_tensor_0",
            "one_shot_softmax_kernel",
            "gemm",
            "",
        ] {
            assert_eq!(kind_of(name), None, "{name}");
        }
    }
}
