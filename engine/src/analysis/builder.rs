//! Joins what was read of the ranks to a job, and finds the group of calls that state none.

use rustc_hash::FxHashMap;

use super::job::{Group, Job, JobRank, JobSignature, MAX_RANKS, RankInput, Unplaced};
use super::overlap::SharedCall;
use super::placing;
use crate::base::{Result, narrow};
use crate::exec::Cancel;
use crate::model::collective::NO_NUMBER;
use crate::model::{CallList, CollectiveKind, Communicator, Membership, RankCalls, TimedBy, WaitingRanks};

/// Joins ranks one after the other, so that what was read of a rank can be freed before the next
/// one is read.
#[derive(Debug, Default)]
pub struct JobBuilder {
    job: Job,
    groups: FxHashMap<Group, u32>,
    signatures: FxHashMap<JobSignature, u32>,
}

impl JobBuilder {
    /// Adds a rank. Ranks come ascending by number; ranks beyond [`MAX_RANKS`] are left out.
    pub fn add(&mut self, input: RankInput) {
        let RankInput { rank, mut calls, given, stated_ps } = input;
        debug_assert!(self.job.ranks.last().is_none_or(|last| last.rank <= rank), "ranks ascend");
        if self.job.ranks.len() == MAX_RANKS {
            return;
        }
        calls.move_by(stated_ps);
        let given = given.map(|clock| clock.of_moved(stated_ps));
        let map: Vec<u32> = (0..calls.signatures.len())
            .map(|at| {
                let signature = self.job.signature(rank, &calls, at, &mut self.groups);
                let next = narrow(self.job.signatures.len());
                *self.signatures.entry(signature).or_insert_with_key(|new| {
                    self.job.signatures.push(new.clone());
                    next
                })
            })
            .collect();
        // A copy has no spare room, and lies apart from what reading left behind.
        let mut own = calls.calls.clone();
        own.signatures.iter_mut().for_each(|signature| *signature = map[*signature as usize]);
        self.job.world = self.job.world.max(calls.world_size.unwrap_or(0));
        // Groups and signatures of the job stand for those of its ranks.
        let rest = RankCalls {
            communicators: Vec::new(),
            signatures: Vec::new(),
            calls: CallList::default(),
            covered_ps: calls.covered_ps.clone(),
            ..calls
        };
        let (by_group, groups) = (Vec::new(), Vec::new());
        self.job.ranks.push(JobRank { rank, calls: own, rest, given, stated_ps, by_group, groups });
    }

    /// The job.
    pub fn finish(mut self, cancel: Cancel<'_>) -> Result<Job> {
        self.job.clocks = clocks_of(&self.job.ranks);
        self.place(cancel)?;
        let mut job = self.job;
        // A group has at most the ranks of the job, recorded or not.
        let groups = job.groups.iter().map(Group::size).filter(|size| *size as usize <= MAX_RANKS);
        let known = narrow(job.ranks.len());
        job.world = groups.fold(job.world.max(known), u32::max);
        job.order(cancel)?;
        Ok(job)
    }
}

/// Names that hosts have before they get one of their own.
const NO_HOSTS: [&str; 4] = ["localhost", "localhost.localdomain", "(none)", "unknown"];

/// For each rank the position of the first one with the same clock. Calls on a device have the
/// clock of the device.
fn clocks_of(ranks: &[JobRank]) -> Vec<u16> {
    let mut first: FxHashMap<&str, u16> = FxHashMap::default();
    let mut clocks = Vec::with_capacity(ranks.len());
    for (at, rank) in (0_u16..).zip(ranks) {
        clocks.push(match host_of(rank) {
            Some(host) if rank.rest.timed_by == TimedBy::Host => *first.entry(host).or_insert(at),
            _ => at,
        });
    }
    clocks
}

/// The host of a rank, if its name tells it apart from others.
fn host_of(rank: &JobRank) -> Option<&str> {
    rank.rest.host.as_deref().filter(|host| !host.trim().is_empty() && !NO_HOSTS.contains(host))
}

/// Time that clocks of one host can be apart, if calls are timed by the host and by its devices.
const APART_PS: [i64; 2] = [20_000_000, 200_000_000];

/// The stated groups of a job, to which calls can belong that state none.
#[derive(Debug, Default)]
struct StatedGroups {
    communicators: Vec<Communicator>,
    /// Numbers by ranks: calls of groups with equal ranks meet the same partners.
    by_ranks: FxHashMap<Vec<u32>, usize>,
    is_guess: Vec<bool>,
}

impl StatedGroups {
    fn number(&mut self, communicator: &Communicator, is_guess: bool) -> usize {
        let next = self.communicators.len();
        let number = *self.by_ranks.entry(communicator.ranks.clone()).or_insert(next);
        if number == next {
            self.communicators.push(communicator.clone());
            self.is_guess.push(is_guess);
        }
        self.is_guess[number] &= is_guess;
        number
    }

    /// The choices of each rank.
    fn of(ranks: &[JobRank]) -> (Self, Vec<Vec<usize>>) {
        let mut all = Self::default();
        let of_ranks = ranks.iter().map(|rank| {
            if !rank.rest.choices.is_empty() || rank.rest.timed_by == TimedBy::Device {
                return rank.rest.choices.iter().map(|choice| all.number(choice, false)).collect();
            }
            let world = rank.rest.world_size.filter(|size| (2..=narrow(MAX_RANKS)).contains(size));
            let world = world.map(|size| Communicator {
                name: "world".to_owned(),
                membership: Membership::Stated,
                ranks: (0..size).collect(),
                size,
            });
            world.iter().map(|world| all.number(world, true)).collect()
        });
        let of_ranks = of_ranks.collect();
        (all, of_ranks)
    }

    /// The groups with the positions of their recorded ranks and what their clocks are apart.
    fn placed(&self, ranks: &[JobRank]) -> Vec<placing::CandidateGroup> {
        let choice = |(communicator, &is_guess): (&Communicator, &bool)| {
            let numbers = communicator.ranks.iter();
            let positions: Vec<usize> =
                numbers.filter_map(|rank| ranks.binary_search_by_key(rank, |of| of.rank).ok()).collect();
            let mut hosts = positions.iter().map(|&at| host_of(&ranks[at]));
            let first = hosts.next().flatten();
            let is_one = first.is_some() && hosts.all(|host| host == first);
            let is_of_host = positions.iter().all(|&at| ranks[at].rest.timed_by == TimedBy::Host);
            placing::CandidateGroup {
                ranks: positions.into_iter().filter_map(|at| u16::try_from(at).ok()).collect(),
                slack_ps: is_one.then_some(APART_PS[usize::from(!is_of_host)]),
                is_guess,
            }
        };
        self.communicators.iter().zip(&self.is_guess).map(choice).collect()
    }
}

/// Calls of a unit that are compared.
const COMPARED: usize = 4096;

/// Calls of ranks by group.
#[derive(Debug)]
struct Units {
    /// Position of the rank and number of the group of each unit.
    keys: Vec<(u16, u32)>,
    units: Vec<placing::CallSource>,
    /// All units have their calls up to here.
    until_ps: i64,
}

impl JobBuilder {
    /// Gives calls that state no group the one to which they belong, as far as this is certain. All
    /// others of a host are calls of one unknown group: numbers of threads tell nothing.
    fn place(&mut self, cancel: Cancel<'_>) -> Result<()> {
        let (choices, of_ranks) = StatedGroups::of(&self.job.ranks);
        let is_unknown = |group: &Group| group.communicator.membership == Membership::Unknown;
        if !self.job.groups.iter().any(is_unknown) {
            return Ok(());
        }
        let Units { keys, mut units, until_ps } = self.job.units(&choices, &of_ranks);
        let recorded = self.job.ranks.iter().map(|rank| rank.rest.recorded_ps);
        let recorded: Vec<(i64, i64)> = recorded.map(|(from, to)| (from, to.min(until_ps))).collect();
        units.iter_mut().for_each(|unit| unit.calls.retain(|(call, _)| call.end_ps <= until_ps));
        let placed = placing::placed(&units, &choices.placed(&self.job.ranks), &recorded, cancel)?;
        let mut to: FxHashMap<(u16, u32), Communicator> = FxHashMap::default();
        for (key, place) in keys.into_iter().zip(placed) {
            if let Some(place) = place {
                to.insert(key, choices.communicators[place].clone());
            }
        }
        for (at, of_rank) in of_ranks.iter().enumerate() {
            cancel.check()?;
            self.move_calls(at, &to);
            let possible = of_rank.iter().filter(|&&choice| !choices.is_guess[choice]);
            let possible = possible.map(|&choice| choices.communicators[choice].clone()).collect();
            self.job.note_unplaced(at, possible);
        }
        Ok(())
    }

    /// Gives the calls of a rank in unknown groups their groups. `to` has them by position of the
    /// rank and number of the unknown group.
    fn move_calls(&mut self, at: usize, to: &FxHashMap<(u16, u32), Communicator>) {
        let timed_by = self.job.ranks[at].rest.timed_by;
        let mut moved: FxHashMap<u32, u32> = FxHashMap::default();
        let mut numbers = std::mem::take(&mut self.job.ranks[at].calls.signatures);
        for number in &mut numbers {
            *number = *moved.entry(*number).or_insert_with(|| {
                let own = self.job.signatures[*number as usize].clone();
                let group = &self.job.groups[own.group as usize];
                let known = to.get(&(u16::try_from(at).unwrap_or(u16::MAX), own.group));
                let known = known.filter(|group| group.size == 2 || !own.is_of_some());
                let communicator = match known {
                    _ if group.is_stated() => return *number,
                    Some(known) => known.clone(),
                    None if timed_by == TimedBy::Device => return *number,
                    None => Communicator {
                        name: "group not stated".to_owned(),
                        membership: Membership::Unknown,
                        ranks: Vec::new(),
                        size: 0,
                    },
                };
                let pair = group.pair;
                let group = self.group(Group { communicator, pair });
                self.number(JobSignature { group, ..own })
            });
        }
        self.job.ranks[at].calls.signatures = numbers;
    }

    fn group(&mut self, group: Group) -> u32 {
        let next = narrow(self.job.groups.len());
        *self.groups.entry(group).or_insert_with_key(|new| {
            self.job.groups.push(new.clone());
            next
        })
    }

    fn number(&mut self, signature: JobSignature) -> u32 {
        let next = narrow(self.job.signatures.len());
        *self.signatures.entry(signature).or_insert_with_key(|new| {
            self.job.signatures.push(new.clone());
            next
        })
    }
}

impl Job {
    /// Joins the ranks. The result does not depend on their order.
    #[must_use]
    pub fn new(mut inputs: Vec<RankInput>) -> Self {
        inputs.sort_by_key(|input| input.rank);
        let mut job = JobBuilder::default();
        inputs.into_iter().for_each(|input| job.add(input));
        job.finish(Cancel::NEVER).expect("nobody cancels it")
    }

    fn signature(
        &mut self,
        rank: u32,
        calls: &RankCalls,
        at: usize,
        groups: &mut FxHashMap<Group, u32>,
    ) -> JobSignature {
        let own = &calls.signatures[at];
        let pair = own.peer.filter(|peer| own.kind.is_pair() && *peer != rank);
        let pair = pair.map(|peer| (rank.min(peer), rank.max(peer)));
        let communicator = calls.communicators[own.communicator as usize].clone();
        let next = narrow(self.groups.len());
        let group = *groups.entry(Group { communicator, pair }).or_insert_with_key(|new| {
            self.groups.push(new.clone());
            next
        });
        let (kind, root) = match own.kind {
            CollectiveKind::Send => (CollectiveKind::Send, pair.map(|_| rank)),
            CollectiveKind::Receive => (CollectiveKind::Send, own.peer.filter(|_| pair.is_some())),
            kind => (kind, own.peer),
        };
        let (dtype, algorithm) = (own.dtype.clone(), own.algorithm.clone());
        JobSignature { group, kind, dtype, algorithm, count: own.count, bytes: own.bytes, root }
    }

    /// The first calls of each rank in each group that is unknown, or is one of the choices.
    fn units(&self, choices: &StatedGroups, of_ranks: &[Vec<usize>]) -> Units {
        let mut classes: FxHashMap<(CollectiveKind, &str, u64), u32> = FxHashMap::default();
        let mut places: FxHashMap<(u16, u32), Option<usize>> = FxHashMap::default();
        let (mut keys, mut units, mut until_ps) = (Vec::new(), Vec::<placing::CallSource>::new(), i64::MAX);
        for (at, rank) in (0_u16..).zip(&self.ranks) {
            for (call, number) in (0_u32..).zip(&rank.calls.signatures) {
                let signature = &self.signatures[*number as usize];
                let unit = *places.entry((at, signature.group)).or_insert_with(|| {
                    let communicator = &self.groups[signature.group as usize].communicator;
                    let own: Vec<usize> = match communicator.membership {
                        Membership::Unknown => of_ranks[usize::from(at)].clone(),
                        Membership::Stated => {
                            choices.by_ranks.get(&communicator.ranks).copied().into_iter().collect()
                        }
                    };
                    (!own.is_empty()).then(|| {
                        keys.push((at, signature.group));
                        units.push(placing::CallSource { rank: at, choices: own, calls: Vec::new() });
                        units.len() - 1
                    })
                });
                let has_number = rank.calls.numbers[call as usize] != NO_NUMBER;
                let Some(unit) = unit.filter(|_| !has_number) else { continue };
                if signature.is_of_some() || signature.kind.waiting() != WaitingRanks::ForAll {
                    continue;
                }
                if units[unit].calls.len() == COMPARED {
                    until_ps = until_ps.min(rank.calls.starts_ps[call as usize]);
                    continue;
                }
                let next = narrow(classes.len());
                let count = if signature.has_common_size() { signature.count } else { 0 };
                let class = *classes.entry((signature.kind, &signature.dtype, count)).or_insert(next);
                let (start_ps, end_ps) =
                    (rank.calls.starts_ps[call as usize], rank.calls.end_ps(call as usize));
                units[unit].calls.push((SharedCall { start_ps, end_ps, rank: at, call }, class));
            }
        }
        Units { keys, units, until_ps }
    }

    /// Notes the calls of a rank that still have no group.
    fn note_unplaced(&mut self, at: usize, choices: Vec<Communicator>) {
        let rank = &self.ranks[at];
        let is_unknown =
            |number: &&u32| !self.groups[self.signatures[**number as usize].group as usize].is_stated();
        let calls = rank.calls.signatures.iter().filter(is_unknown).count() as u64;
        if calls > 0 && (rank.rest.timed_by == TimedBy::Host || choices.len() > 1) {
            self.unplaced.push(Unplaced { rank: rank.rank, calls, choices });
        }
    }
}
