//! Names of operations that threads of the host record: the backend of a process group, a colon and
//! the kind, such as `gloo:all_reduce`. PyTorch gives the works of all its backends such names, and
//! those of others follow it.

use crate::model::CollectiveKind;

/// Backends whose names are known. Those of NCCL and RCCL are not among them: their annotations end
/// when the host has launched the kernel.
const BACKENDS: [&str; 10] = ["gloo", "mpi", "ulfm", "ucc", "ccl", "oneccl", "xccl", "hccl", "mccl", "eccl"];
/// Backends whose annotations on the host are launches.
const LAUNCHERS: [&str; 2] = ["nccl", "rccl"];

/// The backend in the name of an operation. `stated` are the backends that the trace states. A word
/// that is none of them and not known is one only if the kind cannot be another word of a program.
pub(super) fn backend_of<'n>(name: &'n str, stated: &str) -> Option<&'n str> {
    let (backend, kind) = name.split_once(':')?;
    let is_word = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let is_launch = LAUNCHERS.iter().any(|launcher| backend.eq_ignore_ascii_case(launcher));
    if !is_word(backend) || !is_word(kind) || is_launch {
        return None;
    }
    let is_named = |word: &str| word.eq_ignore_ascii_case(backend);
    let mut words = stated.split(|sign: char| !sign.is_ascii_alphanumeric() && sign != '_');
    let is_known = BACKENDS.into_iter().any(is_named) || words.any(is_named);
    match CollectiveKind::of_name(kind) {
        CollectiveKind::Other => None,
        CollectiveKind::AllReduce
        | CollectiveKind::AllGather
        | CollectiveKind::ReduceScatter
        | CollectiveKind::AllToAll => Some(backend),
        _ => is_known.then_some(backend),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn works_of_all_backends_have_such_names() {
        for (name, backend) in [
            ("gloo:all_reduce", Some("gloo")),
            ("mpi:barrier", Some("mpi")),
            ("ucc:allgather_base", Some("ucc")),
            ("xccl:_reduce_scatter_base", Some("xccl")),
            ("fabric:all_to_all", Some("fabric")),
            ("own:broadcast", Some("own")),
            ("other:broadcast", None),
            ("nccl:all_reduce", None),
            ("gloo:context", None),
            ("data:gather shards", None),
            ("autograd::engine::reduce", None),
            ("all_reduce", None),
            (":all_reduce", None),
        ] {
            assert_eq!(backend_of(name, "cpu:own,cuda:nccl"), backend, "{name}");
        }
    }
}
