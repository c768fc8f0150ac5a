//! The ranks of a run beside each other: how long work of each name takes on a rank and on the
//! median of the others, and how unequal the work of a region is.

mod name_difference;
mod region_imbalance;

pub use name_difference::{NameDifference, name_differences};
pub(in crate::insight) use name_difference::{NameOnRanks, WorkOfName, names_on_ranks, own_work};
pub use region_imbalance::{RegionImbalance, region_imbalances};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Interval;
    use crate::insight::region::{NoSteps, RankRegion, RankRegions, RegionKind, StepOrigin};
    use crate::insight::tests::{Drawn, US, job_of_works, work_of};

    fn job(of_ranks: &[&[Drawn]]) -> crate::insight::JobGraph {
        job_of_works(of_ranks.iter().map(|slices| work_of(slices)).collect())
    }

    #[test]
    fn names_are_compared_with_the_median_of_the_other_ranks() {
        let gemms = |length| [Drawn(0, "gemm", 0, length), Drawn(0, "sync", 50, 60), Drawn(0, "add", 70, 75)];
        let (usual, slow) = (gemms(20), gemms(30));
        // The first product was not recorded, and the sum is another one.
        let late = [Drawn(0, "sync", 50, 60), Drawn(0, "mul", 70, 77)];
        let graph = job(&[&usual, &usual, &slow, &late, &usual]);
        let found: Vec<_> = name_differences(&graph)
            .into_iter()
            .map(|of| (of.rank, of.name, of.time_ps / US, of.median_ps / US))
            .collect();
        let expected = [(3, "gemm", 0, 20), (2, "gemm", 30, 20), (3, "mul", 7, 0), (3, "add", 0, 5)];
        let expected: Vec<_> =
            expected.map(|(rank, name, time, median)| (rank, name.to_owned(), time, median)).into();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_last_slices_are_compared_if_a_rank_lacks_the_first() {
        let all = [Drawn(0, "gemm", 0, 90), Drawn(0, "gemm", 100, 110), Drawn(0, "gemm", 120, 130)];
        let graph = job(&[&all, &all, &all[1..], &all]);
        assert_eq!(name_differences(&graph), []);
    }

    fn regions(of: &[(&str, i64, i64)]) -> RankRegions {
        let region = |&(name, start, end): &(&str, i64, i64)| RankRegion {
            kind: RegionKind::Layer,
            name: name.to_owned(),
            span: Interval::new(start * US, end * US),
            origin: StepOrigin::Marks,
            step: None,
        };
        RankRegions { steps: Err(NoSteps::NoRepetition), all: of.iter().map(region).collect() }
    }

    #[test]
    fn regions_of_all_ranks_have_an_imbalance() {
        let graph = job(&[
            &[
                Drawn(0, "gemm", 0, 10),
                Drawn(1, "add", 5, 12),
                Drawn(0, "sync", 12, 40),
                Drawn(0, "gemm", 40, 50),
            ],
            &[Drawn(0, "gemm", 0, 36), Drawn(0, "sync", 36, 40), Drawn(0, "gemm", 40, 50)],
        ]);
        let of_ranks = [
            regions(&[("mlp", 0, 40), ("head", 40, 60), ("only here", 0, 60)]),
            regions(&[("mlp", 0, 40), ("head", 40, 60)]),
        ];
        let found = region_imbalances(&graph, &of_ranks.each_ref());
        let of = |at: usize| (found[at].name.as_str(), found[at].most_rank, found[at].mean_ps / US);
        assert_eq!((found.len(), of(0), of(1)), (2, ("mlp", 1, 24), ("head", 0, 10)));
        assert!((found[0].imbalance() - 0.5).abs() < 1e-9 && found[1].beyond_mean_ps() == 0);
        assert_eq!(region_imbalances(&graph, &of_ranks.each_ref()[..1]), []);
    }
}
