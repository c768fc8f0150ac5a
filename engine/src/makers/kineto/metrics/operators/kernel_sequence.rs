//! The kernels that an operator or a module launches one after the other.

use super::launched_work::LaunchedWork;

/// The beginning of the names of modules.
pub(super) const MODULE: &str = "nn.Module: ";
/// Kernels of a sequence at least, and at most.
pub(super) const LENGTHS: std::ops::RangeInclusive<usize> = 3..=32;

/// The name of a module without the word for it.
pub(super) fn module_name(name: &str) -> &str {
    name.strip_prefix(MODULE).unwrap_or(name)
}

/// A kind of caller that launches sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Owner {
    /// An operator.
    Operator,
    /// A module.
    Module,
}

impl Owner {
    /// The name of an operator, or of the class of a module, whose name ends with a number of
    /// its own.
    pub(super) fn name(self, name: &str) -> &str {
        match self {
            Self::Operator => name,
            Self::Module => {
                let name = module_name(name);
                name.trim_end_matches(|sign: char| sign.is_ascii_digit()).strip_suffix('_').unwrap_or(name)
            }
        }
    }
}

/// The kernels that an operator has launched so far.
#[derive(Debug, Default)]
pub(super) struct KernelSequence {
    pub(super) kernels: Vec<u32>,
    pub(super) time_ps: i64,
    /// Whether there are more than are kept, or such as no call launches one by one.
    pub(super) is_cut: bool,
    /// Kernels of what it called, of the one that launched the most.
    pub(super) of_called: usize,
}

impl KernelSequence {
    pub(super) fn push(&mut self, launch: &LaunchedWork) {
        self.is_cut |= launch.count != 1 || self.kernels.len() >= *LENGTHS.end();
        if !self.is_cut {
            self.kernels.push(launch.kernel);
            self.time_ps = self.time_ps.saturating_add(launch.time_ps);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_of_one_class_have_one_name() {
        assert_eq!(Owner::Module.name("nn.Module: Qwen2RMSNorm_12"), "Qwen2RMSNorm");
        assert_eq!(Owner::Module.name("nn.Module: Block2"), "Block2");
        assert_eq!(Owner::Operator.name("aten::add_1"), "aten::add_1");
    }
}
