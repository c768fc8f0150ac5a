//! Traces of PyTorch's profiler (Kineto): the words in which it states collective operations of
//! NCCL, RCCL, HCCL, and of backends that work on the host, such as Gloo.

mod annotation;
mod category_words;
pub mod collectives;
mod communication;
pub(super) mod device_name;
mod group;
pub mod host;
pub(super) mod host_work;
pub(super) mod marks;
pub mod metrics;
mod operation;
mod steps;
#[cfg(test)]
mod tests;
pub(super) mod work;

pub(super) use category_words::is_around_work;

use crate::base::Result;
use crate::makers::{Maker, MakerFacts};
use crate::segment::{Bytes, Segment};

/// Arguments of a kernel that communicates, in PyTorch since 2.3.
pub const ARGUMENTS: [&str; 16] = [
    "Collective name",
    "dtype",
    "In msg nelems",
    "Out msg nelems",
    "Group size",
    "Process Group Name",
    "Process Group Ranks",
    "Src Rank",
    "Dst Rank",
    "Seq",
    "correlation",
    "cat",
    "Root Rank",
    "External id",
    "Input Dims",
    "Input type",
];

const NAME: usize = 0;
const DTYPE: usize = 1;
const IN: usize = 2;
const OUT: usize = 3;
const SIZE: usize = 4;
const GROUP: usize = 5;
const RANKS: usize = 6;
const SOURCE: usize = 7;
const TARGET: usize = 8;
const SEQ: usize = 9;
const CORRELATION: usize = 10;
const CATEGORY: usize = 11;
/// The field of a slice's category.
pub(in crate::makers) const CATEGORY_FIELD: &str = ARGUMENTS[CATEGORY];
const ROOT: usize = 12;
const EXTERNAL: usize = 13;
const DIMS: usize = 14;
const TYPE: usize = 15;

pub(super) const FACTS: MakerFacts = MakerFacts::any("kineto");

pub(super) const fn maker<B: Bytes>() -> Maker<B> {
    Maker { host: host::read, ..Maker::any() }
}

/// Role of a slice on a device, by its name and category.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::makers) enum KinetoClass {
    /// A kernel that communicates.
    Collective,
    /// Any other kernel.
    Compute,
    /// A copy or a fill of memory.
    Copy,
    /// Annotations, and slices of a host.
    Neither,
}

/// Number of ranks of the job, if the trace states it.
pub(in crate::makers) fn world_size<B: Bytes>(segment: &Segment<B>) -> Result<Option<u32>> {
    Ok(group::JobFacts::read(segment)?.world_size)
}

/// The class of a slice on a stream of a device.
pub(in crate::makers) fn class_on_device(name: &str, category: &str) -> KinetoClass {
    let has = |text: &str, word: &str| text.to_ascii_lowercase().contains(word);
    if category.contains("annotation") {
        return KinetoClass::Neither;
    }
    if communication::kind_of(name).is_some() {
        return KinetoClass::Collective;
    }
    let starts = |word: &str| name.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    // Kernels with such a name compute, e.g. a program's own `memset_kernel`.
    let is_named = !has(category, "kernel") && COPIES.into_iter().any(starts);
    match is_named || COPIES.into_iter().any(|word| has(category, word)) {
        true => KinetoClass::Copy,
        false => KinetoClass::Compute,
    }
}

/// Words of copies and fills, in names and categories: those of CUDA and HIP, and that of MTIA.
const COPIES: [&str; 3] = ["memcpy", "memset", "dma_request"];

/// Bytes of an element of this type, in the words of PyTorch and of C. 0 if it is not known.
fn element_bytes(dtype: &str) -> u64 {
    match dtype.to_ascii_lowercase().as_str() {
        "byte" | "char" | "int8" | "uint8" | "bool" | "unsigned char" | "signed char" | "float8_e4m3fn"
        | "float8_e5m2" => 1,
        "bfloat16" | "half" | "float16" | "short" | "int16" | "c10::bfloat16" | "c10::half" => 2,
        "float" | "float32" | "int" | "int32" | "uint32" => 4,
        "double" | "float64" | "long" | "long int" | "int64" | "uint64" | "complexfloat" => 8,
        _ => 0,
    }
}
