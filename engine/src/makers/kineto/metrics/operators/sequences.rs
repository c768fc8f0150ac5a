//! Sequences of kernels that operators launch again and again: what a fused kernel could replace.

use rustc_hash::FxHashMap;

use super::super::{count, seconds};
use super::kernel_sequence::{KernelSequence, LENGTHS, Owner};
use super::open_scopes::OpenScope;
use crate::base::Result;
use crate::metrics::{MetricDefinition, MetricFamily, MetricRow};
use crate::model::{NameId, Unit};
use crate::segment::{Bytes, Segment};

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
    pub(super) fn close(&mut self, owner: Owner, ended: OpenScope, around: Option<&mut OpenScope>) {
        let KernelSequence { kernels, time_ps, is_cut, of_called } = ended.kernels;
        if let Some(around) = around {
            around.kernels.of_called = around.kernels.of_called.max(kernels.len());
        }
        // A call that only calls another one has the same sequence.
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
    use super::super::launched_work::LaunchedWork;
    use super::*;

    fn ended(name: u32, kernels: &[u32]) -> OpenScope {
        let mut of = OpenScope { name, end_ps: 10, ..OpenScope::default() };
        for kernel in kernels {
            of.kernels.push(&LaunchedWork { count: 1, time_ps: 2, kernel: *kernel });
        }
        of
    }

    #[test]
    fn the_innermost_operator_has_the_sequence() {
        let mut found = Sequences::default();
        let owner = Owner::Operator;
        for _ in 0..2 {
            let mut around = ended(1, &[5, 6, 7]);
            found.close(owner, ended(2, &[5, 6, 7]), Some(&mut around));
            let mut outermost = ended(0, &[5, 6, 7, 8]);
            found.close(owner, around, Some(&mut outermost));
            found.close(owner, outermost, None);
        }
        found.close(owner, ended(3, &[5, 6]), None);
        found.close(owner, ended(3, &[9; 40]), None);
        let mut keys: Vec<_> =
            found.0.iter().map(|((_, name, of), work)| (*name, of.len(), work.count)).collect();
        keys.sort();
        assert_eq!(keys, [(0, 4, 2), (2, 3, 2)]);
        assert_eq!(found.0[&(Owner::Operator, 2, vec![5, 6, 7])].device_ps, 12);
    }
}
