//! Tests of single waits against their sums.

use proptest::prelude::*;

use super::super::tests::{any_slices, job_of_works, work_of};
use super::super::walk::JobEdges;
use super::{AskedWaits, WaitsOfRank, waits};
use crate::base::Interval;
use crate::exec::Work;

fn waits_of(edges: &JobEdges<'_>, span: Option<Interval>, most: usize) -> WaitsOfRank {
    let asked = AskedWaits { ranks: None, span, most };
    WaitsOfRank::of_job(edges, &asked, Work::IN_PLACE).unwrap().remove(0)
}

proptest! {
    /// Single waits and the rows are the same time, however many are left out.
    #[test]
    fn single_waits_add_up_to_the_rows(slices in any_slices(), most in 1_usize..8) {
        let graph = job_of_works(vec![work_of(&slices)]);
        let edges = JobEdges::of(&graph, Work::IN_PLACE).unwrap();
        let of = waits_of(&edges, None, most);
        let known = of.rows.iter().filter(|row| row.waiter.is_some());
        let known_ps: i64 = known.map(|row| row.wait_ps).sum();
        let shown: Vec<i64> = of.sight.waits.iter().map(|wait| wait.duration_ps()).collect();
        prop_assert!(shown.len() <= most);
        prop_assert_eq!(shown.iter().sum::<i64>() + of.sight.left_out_ps, known_ps);
        prop_assert!(of.sight.waits.is_sorted_by_key(|wait| wait.start_ps));
        let all = waits_of(&edges, None, usize::MAX).sight.waits;
        let least_ps = shown.iter().min().copied().unwrap_or_default();
        prop_assert!(all.iter().filter(|wait| wait.duration_ps() > least_ps).count() < most.max(1));
        let longest_ps = of.rows.iter().filter_map(|row| row.longest).map(|one| one.wait_ps).max();
        prop_assert!(longest_ps <= all.iter().map(|wait| wait.duration_ps()).max());
    }

    /// Sums of parts are those of the whole, with the same longest waits.
    #[test]
    fn rows_do_not_depend_on_parts(slices in any_slices()) {
        let graph = job_of_works(vec![work_of(&slices)]);
        let edges = JobEdges::of(&graph, Work::IN_PLACE).unwrap();
        prop_assert_eq!(waits(&edges, 0, Work::IN_PLACE).unwrap(), waits_of(&edges, None, 1).rows);
    }

    /// A span leaves out exactly the waits beside it.
    #[test]
    fn a_span_has_the_waits_within(slices in any_slices(), start_ps in 0_i64..400_000_000, length_ps in 1_i64..200_000_000) {
        let graph = job_of_works(vec![work_of(&slices)]);
        let edges = JobEdges::of(&graph, Work::IN_PLACE).unwrap();
        let span = Interval::new(start_ps, start_ps + length_ps);
        let mut all = waits_of(&edges, None, usize::MAX).sight.waits;
        all.retain(|wait| span.overlaps(wait.start_ps, wait.end_ps));
        prop_assert_eq!(waits_of(&edges, Some(span), usize::MAX).sight.waits, all);
    }
}
