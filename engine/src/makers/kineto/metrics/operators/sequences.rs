//! Sequences of kernels that operators launch again and again: what a fused kernel could replace.

use rustc_hash::FxHashMap;

use super::super::{count, seconds};
use super::launched_work::LaunchedWork;
use super::open_slices::{OpenSlice, module_name};
use crate::base::Result;
use crate::metrics::{MetricDefinition, MetricFamily, MetricRow};
use crate::model::{NameId, Unit};
use crate::segment::{Bytes, Segment};

/// Kernels of a sequence at least, and at most.
const LENGTHS: std::ops::RangeInclusive<usize> = 3..=32;
/// A sequence is frequent from so many executions on.
const LEAST_COUNT: u64 = 2;
/// Rows at most.
const MOST_ROWS: usize = 100;

pub(super) const FAMILY: MetricFamily = MetricFamily {
    key: "kernel_sequences",
    title: "Frequent sequences of kernels",
    row: Some("operator or module, and kernels"),
    metrics: &[
        MetricDefinition::new(
            "count",
            Unit::Count,
            "How often an operator, or a module of this class, launched exactly these kernels, copies and \
             fills in this order. Sequences of 3 to 32 that occur at least twice are listed, each with the \
             innermost operator and module that launched all of it.",
        ),
        MetricDefinition::new("kernels", Unit::Count, "Number of kernels, copies and fills of a sequence."),
        MetricDefinition::new("device_time", Unit::Seconds, "Sum of their durations."),
        MetricDefinition::new("host_time", Unit::Seconds, "Sum of the durations of the operator or module."),
    ],
    source: "Holistic Trace Analysis 0.5, frequent kernel sequences",
    needs: "no operator or module of PyTorch launched three kernels or more in the same order twice",
};

/// What launches sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Owner {
    /// An operator.
    Operator,
    /// A module.
    Module,
}

impl Owner {
    /// The name of an operator, or of the class of a module: its name ends with a number of its own.
    fn name(self, name: &str) -> &str {
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
    kernels: Vec<u32>,
    time_ps: i64,
    /// Whether there are more than are kept, or such as no call launches one by one.
    is_cut: bool,
    /// Kernels of what it called, of the one that launched the most.
    of_called: usize,
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

#[derive(Debug, Clone, Copy, Default)]
struct SequenceWork {
    count: u64,
    device_ps: i64,
    host_ps: i64,
}

impl SequenceWork {
    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.device_ps = self.device_ps.saturating_add(other.device_ps);
        self.host_ps = self.host_ps.saturating_add(other.host_ps);
    }
}

/// Sequences by the number of the owner's name and by kernels.
#[derive(Debug, Default)]
pub(super) struct Sequences(FxHashMap<(Owner, u32, Vec<u32>), SequenceWork>);

impl Sequences {
    /// Takes the sequence of an operator or a module that has ended.
    pub(super) fn close(&mut self, owner: Owner, ended: OpenSlice, around: Option<&mut OpenSlice>) {
        let KernelSequence { kernels, time_ps, is_cut, of_called } = ended.kernels;
        if let Some(around) = around {
            around.kernels.of_called = around.kernels.of_called.max(kernels.len());
        }
        // What only calls another one has the same sequence.
        if !is_cut && LENGTHS.contains(&kernels.len()) && of_called < kernels.len() {
            let host_ps = ended.end_ps.saturating_sub(ended.start_ps);
            let work = SequenceWork { count: 1, device_ps: time_ps, host_ps };
            self.0.entry((owner, ended.name, kernels)).or_default().add(work);
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        for (key, work) in other.0 {
            self.0.entry(key).or_default().add(work);
        }
    }

    /// The frequent ones, those with the most time on the devices first.
    pub(super) fn rows<B: Bytes>(&self, segment: &Segment<B>) -> Result<Vec<MetricRow>> {
        let mut by_owner: FxHashMap<(&str, &[u32]), SequenceWork> = FxHashMap::default();
        for ((owner, name, kernels), work) in &self.0 {
            by_owner.entry((owner.name(segment.text(NameId(*name))?), kernels)).or_default().add(*work);
        }
        by_owner.retain(|_, work| work.count >= LEAST_COUNT);
        let mut frequent: Vec<_> = by_owner.into_iter().collect();
        frequent.sort_unstable_by_key(|(key, work)| (std::cmp::Reverse(work.device_ps), *key));
        let row = |((owner, kernels), work): &((&str, &[u32]), SequenceWork)| {
            let names: Vec<&str> =
                kernels.iter().map(|name| segment.text(NameId(*name))).collect::<Result<_>>()?;
            let values = [
                count(work.count),
                count(kernels.len() as u64),
                seconds(work.device_ps),
                seconds(work.host_ps),
            ];
            let name = format!("{owner}: {}", names.join(" → "));
            Ok(MetricRow { name, values: values.map(Some).to_vec() })
        };
        frequent.iter().take(MOST_ROWS).map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(name: u32, kernels: &[u32]) -> OpenSlice {
        let mut of = OpenSlice { name, end_ps: 10, ..OpenSlice::default() };
        for kernel in kernels {
            of.kernels.push(&LaunchedWork { count: 1, time_ps: 2, kernel: *kernel });
        }
        of
    }

    #[test]
    fn the_innermost_operator_has_the_sequence() {
        let mut found = Sequences::default();
        let mut close = |ended, around| found.close(Owner::Operator, ended, around);
        for _ in 0..2 {
            let mut around = ended(1, &[5, 6, 7]);
            close(ended(2, &[5, 6, 7]), Some(&mut around));
            let mut outermost = ended(0, &[5, 6, 7, 8]);
            close(around, Some(&mut outermost));
            close(outermost, None);
        }
        close(ended(3, &[5, 6]), None);
        close(ended(3, &[9; 40]), None);
        let mut keys: Vec<_> =
            found.0.iter().map(|((_, name, of), work)| (*name, of.len(), work.count)).collect();
        keys.sort();
        assert_eq!(keys, [(0, 4, 2), (2, 3, 2)]);
        assert_eq!(found.0[&(Owner::Operator, 2, vec![5, 6, 7])].device_ps, 12);
    }

    #[test]
    fn modules_of_one_class_have_one_name() {
        assert_eq!(Owner::Module.name("nn.Module: Qwen2RMSNorm_12"), "Qwen2RMSNorm");
        assert_eq!(Owner::Module.name("nn.Module: Block2"), "Block2");
        assert_eq!(Owner::Operator.name("aten::add_1"), "aten::add_1");
    }
}
