//! Certain bounds of clocks, on jobs with random groups, kinds, roots, clocks and losses. An
//! operation keeps only the order of times that its kind guarantees.

use proptest::prelude::*;

use super::tests::{Dice, US, analysed};
use super::*;
use crate::model::collective::NO_NUMBER;
use crate::model::{CollectiveKind, Communicator, Membership, RankCalls, Signature};

/// A job to make.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) ranks: usize,
    pub(super) seed: u64,
    /// Lost calls in a thousand.
    pub(super) lost: i64,
    /// Largest drift of a clock in parts per thousand million.
    pub(super) drift_ppb: i64,
    /// Without numbers, operations match by their ends, so all are of kinds that end together.
    pub(super) has_numbers: bool,
    /// Whether a stream of unknown groups is there. Its calls have nothing to do with each other.
    pub(super) has_stream: bool,
}

/// A rank's clock and its calls so far.
pub(super) struct Track {
    pub(super) input: RankInput,
    pub(super) offset_ps: i64,
    drift_ppb: i64,
    now_ps: i64,
}

impl Track {
    fn local(&self, time_ps: i64) -> i64 {
        let drift = i128::from(time_ps) * i128::from(self.drift_ppb) / 1_000_000_000;
        time_ps + self.offset_ps + i64::try_from(drift).unwrap()
    }

    fn call(&mut self, communicator: Communicator, signature: Signature, number: u32, span: (i64, i64)) {
        let calls = &mut self.input.calls;
        let known = calls.communicators.iter().position(|one| *one == communicator);
        let of = known.unwrap_or_else(|| {
            calls.communicators.push(communicator);
            calls.communicators.len() - 1
        });
        let signature = Signature { communicator: u32::try_from(of).unwrap(), ..signature };
        let known = calls.signatures.iter().position(|one| *one == signature);
        let at = known.unwrap_or_else(|| {
            calls.signatures.push(signature);
            calls.signatures.len() - 1
        });
        let (start, end) = (self.local(span.0), self.local(span.1));
        let calls = &mut self.input.calls.calls;
        calls.starts_ps.push(start);
        calls.durations_ps.push(end - start);
        calls.signatures.push(u32::try_from(at).unwrap());
        calls.numbers.push(number);
        calls.rows.push(u32::try_from(calls.rows.len()).unwrap());
        self.input.calls.recorded_ps.1 = end;
    }
}

/// A group of the job, in which every call is a step further.
struct Band {
    communicator: Communicator,
    members: Vec<usize>,
    is_pair: bool,
    number: u32,
}

const KINDS: [CollectiveKind; 11] = [
    CollectiveKind::AllReduce,
    CollectiveKind::AllGather,
    CollectiveKind::ReduceScatter,
    CollectiveKind::AllToAll,
    CollectiveKind::Barrier,
    CollectiveKind::Broadcast,
    CollectiveKind::Scatter,
    CollectiveKind::Reduce,
    CollectiveKind::Gather,
    CollectiveKind::Exchange,
    CollectiveKind::Other,
];

/// The first kinds, of which all members end together.
const MEETINGS: i64 = 5;

fn rank_number(rank: usize) -> u32 {
    u32::try_from(rank).unwrap()
}

fn bands(plan: &Plan, dice: &mut Dice) -> Vec<Band> {
    let band = |name: String, members: Vec<usize>, is_pair: bool| {
        let ranks: Vec<u32> = members.iter().map(|&rank| rank_number(rank)).collect();
        let size = rank_number(ranks.len());
        let communicator = Communicator { name, membership: Membership::Stated, ranks, size };
        Band { communicator, members, is_pair, number: 0 }
    };
    let mut found = vec![band("all".to_owned(), (0..plan.ranks).collect(), false)];
    for number in 0..plan.ranks {
        // Members overlap in every way.
        let mut members: Vec<usize> = (0..plan.ranks).filter(|_| dice.below(3) > 0).collect();
        members.dedup();
        if members.len() > 1 {
            found.push(band(format!("group {number}"), members, false));
        }
        let (low, high) = (number, (number + 1) % plan.ranks);
        if low != high && plan.has_numbers {
            found.push(band(format!("pair {number}"), vec![low.min(high), low.max(high)], true));
        }
    }
    found
}

/// When members end that started at these times, by the guarantee of the kind alone. `root` is a
/// position among the members.
fn ends(kind: CollectiveKind, root: usize, starts: &[i64], dice: &mut Dice) -> Vec<i64> {
    let last = *starts.iter().max().unwrap();
    let transfer = 5 * US + dice.below(20_000) * 1_000;
    let alone = |start: i64, dice: &mut Dice| start + US + dice.below(9_000) * 1_000;
    (0..starts.len())
        .map(|at| match kind {
            CollectiveKind::Broadcast | CollectiveKind::Scatter | CollectiveKind::Send => {
                let after = if at == root { starts[at] } else { starts[root].max(starts[at]) };
                alone(after, dice)
            }
            CollectiveKind::Reduce | CollectiveKind::Gather => {
                alone(if at == root { last } else { starts[at] }, dice)
            }
            CollectiveKind::Exchange | CollectiveKind::Other => alone(starts[at], dice),
            _ => last + transfer + dice.below(1_500) * 1_000,
        })
        .collect()
}

/// Runs an operation of a band on all its members.
fn run(band: &mut Band, tracks: &mut [Track], plan: &Plan, dice: &mut Dice) {
    let count = i64::try_from(band.members.len()).unwrap();
    let root = usize::try_from(dice.below(count)).unwrap();
    let kinds = if plan.has_numbers { i64::try_from(KINDS.len()).unwrap() } else { MEETINGS };
    let kind =
        if band.is_pair { CollectiveKind::Send } else { KINDS[usize::try_from(dice.below(kinds)).unwrap()] };
    let starts: Vec<i64> = band
        .members
        .iter()
        .map(|&rank| tracks[rank].now_ps + 150 * US + dice.below(90_000) * 1_000)
        .collect();
    let ends = ends(kind, root, &starts, dice);
    for (at, &rank) in band.members.iter().enumerate() {
        tracks[rank].now_ps = ends[at];
        if dice.below(1_000) < plan.lost {
            continue;
        }
        let other = |at: usize| Some(rank_number(band.members[at]));
        let (kind, peer) = match kind {
            CollectiveKind::Send if at == root => (CollectiveKind::Send, other(1 - at)),
            CollectiveKind::Send => (CollectiveKind::Receive, other(1 - at)),
            kind => (kind, other(root)),
        };
        let signature = of_kind(kind, "Float", 1_000, peer);
        let number = if plan.has_numbers { band.number } else { NO_NUMBER };
        tracks[rank].call(band.communicator.clone(), signature, number, (starts[at], ends[at]));
    }
    band.number += 1;
}

/// A signature of the first communicator with elements of 4 bytes.
fn of_kind(kind: CollectiveKind, dtype: &str, count: u64, peer: Option<u32>) -> Signature {
    let (dtype, algorithm) = (dtype.to_owned(), String::new());
    Signature { communicator: 0, kind, dtype, algorithm, count, bytes: 4 * count, peer }
}

pub(super) fn make(plan: &Plan) -> Vec<Track> {
    let mut dice = Dice(plan.seed ^ 0x2545_f491);
    let track = |rank: usize, dice: &mut Dice| Track {
        input: RankInput { rank: rank_number(rank), calls: RankCalls::default(), given: None, stated_ps: 0 },
        offset_ps: (dice.below(40_001) - 20_000) * US,
        drift_ppb: dice.below(2 * plan.drift_ppb + 1) - plan.drift_ppb,
        now_ps: 1_000 * US,
    };
    let mut tracks: Vec<Track> = (0..plan.ranks).map(|rank| track(rank, &mut dice)).collect();
    let mut bands = bands(plan, &mut dice);
    for round in 0..30 {
        let last = bands.len();
        for band in bands.iter_mut().take(if round % 4 == 0 { last } else { last.div_ceil(2) }) {
            run(band, &mut tracks, plan, &mut dice);
        }
        for track in tracks.iter_mut().filter(|_| plan.has_stream) {
            let communicator = Communicator {
                name: "stream 9".to_owned(),
                membership: Membership::Unknown,
                ranks: Vec::new(),
                size: 0,
            };
            let signature = of_kind(CollectiveKind::AllReduce, "Int", 7, None);
            let start = track.now_ps + US;
            track.now_ps = start + US + dice.below(40_000) * 1_000;
            track.call(communicator, signature, NO_NUMBER, (start, track.now_ps));
        }
    }
    tracks
}

pub(super) fn plans() -> impl Strategy<Value = Plan> {
    let drifts = prop_oneof![Just(0_i64), Just(50_000_i64), 0..50_000_i64];
    (2..7_usize, any::<u64>(), 0..60_i64, drifts, any::<bool>()).prop_map(
        |(ranks, seed, lost, drift_ppb, has_stream)| Plan {
            ranks,
            seed,
            lost,
            drift_ppb,
            has_numbers: true,
            has_stream,
        },
    )
}

/// The offset of a rank against the reference at a time of its own.
fn right(tracks: &[Track], reference: usize, rank: usize, at_ps: i64) -> i64 {
    let of = &tracks[rank];
    let since = i128::from(at_ps - of.offset_ps) * 1_000_000_000;
    let time = i64::try_from(since / (1_000_000_000 + i128::from(of.drift_ppb))).unwrap();
    tracks[reference].local(time) - at_ps
}

/// Times are rounded down to a picosecond, at each step of the computation.
const ROUNDING_PS: i64 = 10;

fn check(plan: &Plan) -> std::result::Result<(), TestCaseError> {
    let tracks = make(plan);
    let (_, report) = analysed(make(plan).into_iter().map(|track| track.input).collect());
    let clocks = &report.clocks;
    for (rank, clock) in clocks.ranks.iter().enumerate() {
        let right = right(&tracks, clocks.reference, rank, clock.fit.at_ps());
        prop_assert!(
            clock.low_ps.is_none_or(|low| low <= right + ROUNDING_PS)
                && clock.high_ps.is_none_or(|high| high >= right - ROUNDING_PS),
            "rank {rank}: {right} is not within {clock:?}"
        );
        let offset = clock.fit.offset_ps();
        prop_assert!(clock.low_ps.is_none_or(|low| low <= offset), "rank {rank}: {clock:?}");
        prop_assert!(clock.high_ps.is_none_or(|high| offset <= high), "rank {rank}: {clock:?}");
    }
    let wait: f64 = report.ranks.iter().map(|rank| rank.wait_ps as f64).sum();
    let direct: f64 = report.ranks.iter().map(|rank| rank.blame_ps).sum();
    let links: f64 = report.links.iter().map(|link| link.root_blame_ps).sum();
    let root = report.ranks.iter().map(|rank| rank.root_blame_ps).sum::<f64>() + links;
    for blame in [direct, root] {
        prop_assert!((blame - wait).abs() <= 1e-6 * wait + 1.0, "{blame} for {wait}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn bounds_hold_and_blame_adds_up(plan in plans()) {
        check(&plan)?;
    }

    #[test]
    fn bounds_hold_without_numbers(plan in plans()) {
        check(&Plan { has_numbers: false, has_stream: false, ..plan })?;
    }
}

/// Bounds of rank 1 in a job of two ranks whose one operation is this.
fn bounds_of(kinds: [CollectiveKind; 2], peers: [u32; 2], membership: Membership) -> (bool, bool) {
    let input = |rank: usize| {
        let mut track = Track {
            input: RankInput {
                rank: rank_number(rank),
                calls: RankCalls::default(),
                given: None,
                stated_ps: 0,
            },
            offset_ps: 0,
            drift_ppb: 0,
            now_ps: 0,
        };
        let communicator = Communicator { name: "g".to_owned(), membership, ranks: vec![0, 1], size: 2 };
        let signature = of_kind(kinds[rank], "", 1, Some(peers[rank]));
        track.call(communicator, signature, 0, (10 * US, 30 * US));
        track.input
    };
    let (_, report) = analysed(vec![input(0), input(1)]);
    let clock = report.clocks.ranks[1];
    (clock.low_ps.is_some(), clock.high_ps.is_some())
}

#[test]
fn each_kind_bounds_what_it_guarantees() {
    use CollectiveKind::{AllReduce, Broadcast, Exchange, Gather, Other, Receive, Reduce, Scatter, Send};
    use Membership::{Stated, Unknown};
    for (kinds, peers, bounds) in [
        ([AllReduce; 2], [0, 0], (true, true)),
        // The end of rank 1 comes after the start of rank 0, so its clock is not too slow.
        ([Broadcast; 2], [0, 0], (true, false)),
        ([Scatter; 2], [1, 1], (false, true)),
        ([Reduce; 2], [0, 0], (false, true)),
        ([Gather; 2], [1, 1], (true, false)),
        ([Send, Receive], [1, 0], (true, false)),
        ([Receive, Send], [1, 0], (false, true)),
        ([Send, Send], [1, 0], (false, false)),
        ([Exchange; 2], [0, 0], (false, false)),
        ([Other; 2], [0, 0], (false, false)),
        ([AllReduce, Reduce], [0, 0], (false, false)),
    ] {
        assert_eq!(bounds_of(kinds, peers, Stated), bounds, "{kinds:?} {peers:?}");
        assert_eq!(bounds_of(kinds, peers, Unknown), (false, false), "{kinds:?} of an unknown group");
    }
}
