//! Orders with planted steps, and orders without any.

use proptest::prelude::*;

use super::{NoSteps, RankRegions, RegionKind, StepPace, StepShape, WorkSteps, steps};
use crate::exec::{CallerThread, Cancel};
use crate::model::rank_work::NO_LAYER;
use crate::model::{Identity, MachineSide, RankWork, Role, TrackId, WorkClass, WorkNode, WorkQueue};

/// Duration of a kernel, and the gap behind it.
const KERNEL_PS: i64 = 10_000_000;
const GAP_PS: i64 = 1_000_000;

/// Builds the work of one rank kernel by kernel.
#[derive(Default)]
struct Stream {
    work: RankWork,
    now_ps: i64,
}

impl Stream {
    fn kernels(&mut self, names: impl IntoIterator<Item = u32>) -> &mut Self {
        for name in names {
            self.kernel(0, name, KERNEL_PS);
        }
        self
    }

    fn kernel(&mut self, track: u32, name: u32, duration_ps: i64) {
        let identity = Identity::of(Role::Kernels);
        let queue = WorkQueue { track: TrackId(track), lane: 0, identity, side: MachineSide::Device };
        let work = &mut self.work;
        let at = work.queues.iter().position(|known| *known == queue);
        let queue = at.unwrap_or_else(|| {
            work.queues.push(queue);
            work.queues.len() - 1
        });
        let class = WorkClass { queue: u32::try_from(queue).unwrap(), name, layer: NO_LAYER };
        let at = work.classes.iter().position(|known| *known == class);
        let class = at.unwrap_or_else(|| {
            work.classes.push(class);
            work.classes.len() - 1
        });
        let row = u32::try_from(work.nodes.len()).unwrap();
        let class = u32::try_from(class).unwrap();
        work.nodes.make_mut().push(WorkNode { start_ps: self.now_ps, duration_ps, class, row });
        self.now_ps += duration_ps + GAP_PS;
    }

    fn pause(&mut self, ps: i64) -> &mut Self {
        self.now_ps += ps;
        self
    }

    fn found(&self) -> Result<WorkSteps, NoSteps> {
        steps(&self.work, &[], Cancel::NEVER).unwrap()
    }

    /// Positions of the kernels at which steps begin.
    fn bounds(&self) -> Vec<usize> {
        let Ok(found) = self.found() else { return Vec::new() };
        let at = |start_ps: i64| self.work.nodes.iter().position(|node| node.start_ps == start_ps).unwrap();
        found.all.iter().map(|step| at(step.span.start.0)).collect()
    }
}

/// Numbers that look random, from a seed.
fn numbers(seed: u64) -> impl FnMut(u32) -> u32 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        u32::try_from((state >> 33) % u64::from(below)).unwrap()
    }
}

/// Steps of random orders, with an idle device between them, one lost kernel of a hundred, and some
/// work before them. At least 99 % of their bounds are found within one kernel, and no other ones.
#[test]
fn planted_steps_are_found() {
    let (mut planted, mut right) = (0, 0);
    for seed in 1..400 {
        let mut number = numbers(seed);
        let (length, count, before) = (30 + number(170), 4 + number(8), number(9));
        let word: Vec<u32> = (0..length).map(|_| number(length / 3)).collect();
        let mut stream = Stream::default();
        stream.kernels((0..before).map(|at| 1_000 + at));
        let mut bounds = Vec::new();
        for _ in 0..count {
            stream.pause(40 * KERNEL_PS);
            bounds.push(stream.work.nodes.len());
            stream.kernels(word.iter().copied().filter(|_| number(100) > 0));
        }
        let found = stream.bounds();
        let is_near = |bound: &&usize| found.iter().any(|at| at.abs_diff(**bound) <= 1);
        planted += bounds.len();
        right += bounds.iter().filter(is_near).count();
        assert!(found.len() <= bounds.len(), "{found:?} {bounds:?}");
    }
    assert!(right * 100 >= planted * 99, "{right} of {planted}");
    println!("{right} of {planted}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Nothing is found in an order without loops, however few names it has.
    #[test]
    fn random_orders_have_no_steps(seed in any::<u64>(), names in 1_u32..60, length in 0_usize..1_500, skew in 1_u32..4) {
        let mut number = numbers(seed);
        let mut stream = Stream::default();
        // The smallest of several numbers: some names are much more frequent than others.
        stream.kernels((0..length).map(|_| (0..skew).map(|_| number(names)).min().unwrap()));
        prop_assert!(stream.found().is_err(), "{:?}", stream.bounds());
    }

    /// Layers with other work before and behind them are no steps.
    #[test]
    fn layers_are_no_steps(seed in any::<u64>(), length in 4_u32..40, layers in 3_usize..80, before in 3_u32..20) {
        let mut number = numbers(seed);
        let layer: Vec<u32> = (0..length).map(|_| number(length)).collect();
        let mut stream = Stream::default();
        stream.kernels((0..before).map(|at| 1_000 + at));
        for _ in 0..layers {
            stream.kernels(layer.iter().copied());
        }
        stream.kernels((0..before).map(|at| 2_000 + at));
        prop_assert!(stream.found().is_err(), "{:?}", stream.bounds());
    }
}

#[test]
fn a_loop_of_one_kernel_has_no_steps() {
    let mut stream = Stream::default();
    stream.kernels([7; 500]);
    assert_eq!(stream.found(), Err(NoSteps::NoRepetition));
    assert_eq!(Stream::default().found(), Err(NoSteps::NoKernels));
}

/// Each step has eight layers and other work. Two of three steps log something.
#[test]
fn steps_are_the_outermost_repetition_without_what_runs_now_and_then() {
    let mut stream = Stream::default();
    let mut bounds = Vec::new();
    for step in 0..12 {
        bounds.push(stream.work.nodes.len());
        stream.kernels([100, 101, 102]);
        for _ in 0..8 {
            stream.kernels((0..14).map(|at| at % 9));
        }
        stream.kernels(200..220);
        if step % 3 > 0 {
            stream.kernels([300]);
        }
    }
    assert_eq!(stream.bounds(), bounds);
}

/// A step takes twice as long as the others; the first one is slow, too, and has other work.
#[test]
fn slow_steps_and_the_warm_up_stand_out() {
    let mut stream = Stream::default();
    for step in 0..10 {
        stream.pause(20 * KERNEL_PS);
        let times = if step == 6 { 2 } else { 1 };
        if step == 0 {
            stream.kernels((0..50).map(|at| if at % 3 == 2 { at + 500 } else { at }));
            stream.pause(100 * KERNEL_PS);
        } else {
            (0..50).for_each(|name| stream.kernel(0, name, times * KERNEL_PS));
        }
    }
    let found = stream.found().unwrap();
    let slow: Vec<&str> = found.slow().map(|step| step.name.as_str()).collect();
    assert_eq!((slow, found.steady_from, found.all.len()), (vec!["iteration 6"], 1, 10));
    let first = &found.all[0];
    assert_eq!((first.shape, first.pace), (StepShape::Unlike, StepPace::WarmUp));
    assert_eq!(found.median_ps, 50 * (KERNEL_PS + GAP_PS) + 20 * KERNEL_PS);
}

/// A recording that begins and ends within steps still has their bounds.
#[test]
fn steps_at_the_ends_of_a_recording_are_cut() {
    let mut stream = Stream::default();
    stream.kernels(30..50);
    for _ in 0..4 {
        stream.pause(20 * KERNEL_PS).kernels(0..50);
    }
    stream.pause(20 * KERNEL_PS).kernels(0..13);
    let found = stream.found().unwrap();
    let shapes: Vec<StepShape> = found.all.iter().map(|step| step.shape).collect();
    let cut = StepShape::Cut;
    let usual = StepShape::Usual;
    assert_eq!(shapes, [cut, usual, usual, usual, usual, cut]);
    assert_eq!(stream.bounds(), [0, 20, 70, 120, 170, 220]);
}

/// Kernels of a second stream run beside the others in changing order. Without launches, the order
/// of the busiest track tells the steps, and the other track's first kernel their begin.
#[test]
fn one_track_tells_the_steps_if_others_run_beside_it() {
    let mut number = numbers(5);
    let mut stream = Stream::default();
    let mut begins = Vec::new();
    for _ in 0..6 {
        stream.pause(30 * KERNEL_PS);
        begins.push(stream.now_ps);
        stream.kernel(1, 900, KERNEL_PS);
        let first_ps = stream.now_ps;
        stream.kernels(0..60);
        let behind_ps = stream.now_ps;
        for name in 0..20 {
            stream.now_ps = first_ps + i64::from(number(580)) * GAP_PS;
            stream.kernel(2, 800 + name, GAP_PS / 2);
        }
        stream.now_ps = behind_ps;
    }
    stream.work.sort(&CallerThread);
    let found = stream.found().unwrap();
    assert_eq!(found.all.iter().map(|step| step.span.start.0).collect::<Vec<_>>(), begins);
}

/// Requests to a model that generates text. A prefill has other matrix kernels than the steps that
/// decode a token, and takes longer.
fn generation(decodes: &[usize]) -> Stream {
    let mut stream = Stream::default();
    let mut step = |is_prefill: bool| {
        let scale = if is_prefill { 9 } else { 1 };
        let mut kernel = |name: u32| stream.kernel(0, name, scale * KERNEL_PS);
        kernel(100);
        for _ in 0..24 {
            for name in 0..11 {
                let is_matrix = [1, 3, 4, 7, 9].contains(&name);
                kernel(if is_matrix && is_prefill { 50 + name } else { name });
                if name == 3 && !is_prefill {
                    kernel(30);
                }
            }
        }
        kernel(101);
        kernel(102);
        stream.pause(8 * KERNEL_PS);
    };
    for count in decodes {
        step(true);
        (0..*count).for_each(|_| step(false));
    }
    stream
}

#[test]
fn requests_have_a_prefill_and_decode() {
    for decodes in [&[21][..], &[21, 15, 22], &[15, 15, 15], &[9, 30]] {
        let stream = generation(decodes);
        let found = RankRegions::of(&stream.work, &[], Cancel::NEVER).unwrap();
        let phases = found.all.iter().filter(|region| region.kind == RegionKind::Phase);
        let names: Vec<&str> = phases.map(|region| region.name.as_str()).collect();
        assert_eq!(names, ["prefill", "decode"].repeat(decodes.len()), "{decodes:?}");
        assert_eq!(found.steps.unwrap().slow().count(), 0, "a prefill is no slow step");
    }
}
