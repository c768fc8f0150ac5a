//! Groups in lock-step behind one stream: siblings that one other group sets off at the same time,
//! such as the data parallel groups behind a tensor parallel one.
//!
//! Their ends are near each other in every call. But ends of one group vary together, because each
//! transfer has its own duration, and ends of siblings vary apart. Parts that this shows are groups
//! of their own if their ends also follow their own last arrival about as well as that of all.

use rustc_hash::FxHashMap;

use crate::analysis::clock::line::ClockLine;
use crate::analysis::{InstanceCall, Instances, Job};
use crate::base::Result;
use crate::exec::Cancel;

/// Least common operations of two ranks that are compared.
const LEAST_COMMON: usize = 3;
/// With so many operations offset, drift and place are taken out, else the offset alone.
const MANY_COMMON: usize = 10;
/// Least ratio of the variances of the ends of a rank to those of two others where a part ends:
/// with many operations, and with few.
const LEAST_GAP: [f64; 2] = [2.0, 16.0];
/// Least ratio of the variances between parts and within them: of each rank, and of all.
const LEAST_RATIO: [f64; 2] = [2.0, 3.0];
/// Variation below this share of a typical spread of ends is that of timestamps.
const LEAST_VARIATION: f64 = 0.05;
/// Most variation of ends after the last arrival of their own part, over that after the last
/// arrival of all. Ranks that wait for all of a group follow it many times better.
const MOST_OWN: f64 = 1.5;
/// Calls beyond this many deviations are wrong matches.
const OUTLIER: f64 = 4.0;
/// Ranks of its part, and of others, that a rank is compared with.
const COMPARED: usize = 8;

/// A call on the shared clock: its operation, its end, and a typical spread of ends there.
#[derive(Debug, Clone, Copy)]
struct SharedEnd {
    instance: usize,
    end_ps: i64,
    spread_ps: f64,
}

/// The ranks of matched operations in groups that vary together. `instances` are those of all these
/// ranks and of no others. `known` are parts that other streams of the ranks show.
pub(super) fn parts(
    job: &Job,
    ranks: &[u16],
    instances: &Instances,
    lines: &[ClockLine],
    known: &[Vec<Vec<u16>>],
    cancel: Cancel<'_>,
) -> Result<Vec<Vec<u16>>> {
    if ranks.len() < 4 {
        return Ok(vec![ranks.to_vec()]);
    }
    let ends = ends_of(job, ranks, instances, lines);
    let own = by_variation(&ends, cancel)?.into_iter();
    let of_others = known.iter().map(|parts| {
        let place = |rank: &u16| ranks.binary_search(rank).ok();
        parts.iter().map(|part| part.iter().filter_map(place).collect()).collect::<Vec<Vec<usize>>>()
    });
    for mut parts in own.chain(of_others) {
        parts.retain(|part| !part.is_empty());
        let is_split = parts.len() > 1 && parts.iter().all(|part| part.len() > 1);
        let is_whole = parts.iter().map(Vec::len).sum::<usize>() == ranks.len();
        if !is_split || !is_whole || !vary_apart(&ends, &parts, cancel)? {
            continue;
        }
        let mut parts: Vec<Vec<u16>> =
            parts.iter().map(|part| part.iter().map(|&at| ranks[at]).collect()).collect();
        parts.sort_unstable();
        if follow_themselves(job, &parts, instances, lines, cancel)? {
            return Ok(parts);
        }
    }
    Ok(vec![ranks.to_vec()])
}

/// Parts of ranks whose ends vary together, by position: all ranks that vary with the rank with
/// most calls up to the widest gap, then the same of the others. `None` if ranks cannot be
/// compared.
fn by_variation(ends: &[Vec<SharedEnd>], cancel: Cancel<'_>) -> Result<Option<Vec<Vec<usize>>>> {
    let mut left: Vec<usize> = (0..ends.len()).collect();
    let mut parts = Vec::new();
    while let Some(&centre) = left.iter().max_by_key(|&&at| (ends[at].len(), std::cmp::Reverse(at))) {
        let others: Vec<usize> = left.iter().copied().filter(|&at| at != centre).collect();
        let mut varied = Vec::new();
        for at in others {
            cancel.check()?;
            let Some(variation) = variation(&ends[centre], &ends[at]) else { return Ok(None) };
            varied.push((variation.variance(), usize::from(variation.is_of_few), at));
        }
        varied.sort_by(|a, b| a.0.total_cmp(&b.0));
        let gap = |at: usize| varied[at].0 / varied[at - 1].0 / LEAST_GAP[varied[at].1.max(varied[at - 1].1)];
        let cut = (1..varied.len()).max_by(|&a, &b| gap(a).total_cmp(&gap(b)));
        let cut = cut.filter(|&at| gap(at) >= 1.0).unwrap_or(varied.len());
        let mut part: Vec<usize> = varied[..cut].iter().map(|(.., at)| *at).collect();
        part.push(centre);
        part.sort_unstable();
        left.retain(|at| part.binary_search(at).is_err());
        parts.push(part);
    }
    Ok(Some(parts))
}

/// Whether the ends of each rank vary more against those of other parts than against its own.
fn vary_apart(ends: &[Vec<SharedEnd>], parts: &[Vec<usize>], cancel: Cancel<'_>) -> Result<bool> {
    let mut all = [Variation::default(); 2];
    for (number, part) in parts.iter().enumerate() {
        for (place, &rank) in part.iter().enumerate() {
            cancel.check()?;
            let mut of = [Variation::default(); 2];
            let others = (1..part.len()).map(|step| part[(place + step) % part.len()]);
            let beyond = (1..parts.len()).cycle().enumerate().take(COMPARED).map(|(round, step)| {
                let other = &parts[(number + step) % parts.len()];
                other[(place + round / (parts.len() - 1)) % other.len()]
            });
            for other in others.take(COMPARED) {
                of[0].add(variation(&ends[rank], &ends[other]));
            }
            for other in beyond {
                of[1].add(variation(&ends[rank], &ends[other]));
            }
            if of[1].variance() < LEAST_RATIO[0] * of[0].variance() {
                return Ok(false);
            }
            all.iter_mut().zip(of).for_each(|(all, of)| all.add(Some(of)));
        }
    }
    Ok(all[1].variance() >= LEAST_RATIO[1] * all[0].variance())
}

/// Variation between the ends of two ranks, in typical spreads.
#[derive(Debug, Clone, Copy, Default)]
struct Variation {
    squares: f64,
    freedom: f64,
    is_of_few: bool,
}

impl Variation {
    fn variance(&self) -> f64 {
        self.squares / self.freedom.max(1.0) + LEAST_VARIATION * LEAST_VARIATION
    }

    fn add(&mut self, other: Option<Self>) {
        let Some(other) = other else { return };
        self.squares += other.squares;
        self.freedom += other.freedom;
    }
}

/// The ends of each rank, in the order of operations.
fn ends_of(job: &Job, ranks: &[u16], instances: &Instances, lines: &[ClockLine]) -> Vec<Vec<SharedEnd>> {
    let place: FxHashMap<usize, usize> =
        ranks.iter().enumerate().map(|(at, &rank)| (usize::from(rank), at)).collect();
    let mut ends = vec![Vec::new(); ranks.len()];
    for instance in 0..instances.len() {
        let calls = |one: InstanceCall| (&job.ranks[one.rank].calls, one.call);
        let stays = instances.members(instance).map(calls).map(|(calls, at)| calls.durations_ps[at]);
        let spread_ps = 1e6 + 0.03 * stays.min().unwrap_or(0) as f64;
        for one in instances.members(instance) {
            let end_ps = lines[one.rank].shared(job.ranks[one.rank].calls.end_ps(one.call));
            if let Some(&at) = place.get(&one.rank) {
                ends[at].push(SharedEnd { instance, end_ps, spread_ps });
            }
        }
    }
    ends
}

/// Variation between the ends of two ranks, beside offset, drift, and a share of the spread.
/// `None` with few common operations.
fn variation(a: &[SharedEnd], b: &[SharedEnd]) -> Option<Variation> {
    let mut common: Vec<([f64; 3], f64)> = Vec::new();
    let mut others = b.iter().peekable();
    for one in a {
        while others.next_if(|other| other.instance < one.instance).is_some() {}
        if let Some(other) = others.next_if(|other| other.instance == one.instance) {
            let difference = one.end_ps.saturating_sub(other.end_ps) as f64;
            let since = one.end_ps.saturating_sub(a[0].end_ps) as f64 / 1e12;
            let s = one.spread_ps;
            common.push(([1e6 / s, 1e6 * since / s, 1.0], difference / s));
        }
    }
    let is_of_few = common.len() < MANY_COMMON;
    if is_of_few {
        common.iter_mut().for_each(|(x, _)| *x = [0.0, 0.0, 1.0]);
    }
    let free = if is_of_few { 1.0 } else { 3.0 };
    let mut squares = f64::INFINITY;
    for _ in 0..3 {
        if common.len() < LEAST_COMMON {
            return None;
        }
        let fit = fitted(&common);
        let off = |(x, y): &([f64; 3], f64)| (y - x.iter().zip(fit).map(|(x, f)| x * f).sum::<f64>()).abs();
        let mut deviations: Vec<f64> = common.iter().map(off).collect();
        squares = deviations.iter().map(|off| off * off).sum();
        deviations.sort_unstable_by(f64::total_cmp);
        let middle = deviations[deviations.len() / 2].max(LEAST_VARIATION);
        let before = common.len();
        common.retain(|one| off(one) <= OUTLIER * 1.48 * middle);
        if common.len() == before {
            break;
        }
    }
    Some(Variation { squares, freedom: common.len() as f64 - free, is_of_few })
}

/// Coefficients of the least squares, each with a weak prior of 0.
fn fitted(points: &[([f64; 3], f64)]) -> [f64; 3] {
    let mut rows = [[0.0_f64; 4]; 3];
    for (x, y) in points {
        for (row, left) in rows.iter_mut().zip(x) {
            for (sum, right) in row.iter_mut().zip(x.iter().chain([y])) {
                *sum += left * right;
            }
        }
    }
    for at in 0..3 {
        rows[at][at] += 1e-6;
        let pivot = rows[at];
        for (other, row) in rows.iter_mut().enumerate() {
            if other != at {
                let factor = row[at] / pivot[at];
                row.iter_mut().zip(pivot).for_each(|(cell, of)| *cell -= factor * of);
            }
        }
    }
    [0, 1, 2].map(|at| rows[at][3] / rows[at][at])
}

/// Whether the first end of each part follows its own last arrival about as well as the last
/// arrival of all. Ranks of one group wait for all of it, so their ends do not. If all arrive
/// together nothing shows, but then nobody waits either.
fn follow_themselves(
    job: &Job,
    parts: &[Vec<u16>],
    instances: &Instances,
    lines: &[ClockLine],
    cancel: Cancel<'_>,
) -> Result<bool> {
    let part_of: FxHashMap<usize, usize> = parts
        .iter()
        .enumerate()
        .flat_map(|(part, ranks)| ranks.iter().map(move |&rank| (usize::from(rank), part)))
        .collect();
    // For each part and class of calls the time from the last arrival to the first end: of the
    // part, and of all.
    let mut times: FxHashMap<(usize, u32), Vec<[f64; 2]>> = FxHashMap::default();
    for instance in 0..instances.len() {
        cancel.check()?;
        let mut of_parts: Vec<Option<(i64, i64, u32)>> = vec![None; parts.len()];
        for one in instances.members(instance) {
            let (calls, line) = (&job.ranks[one.rank].calls, &lines[one.rank]);
            let start = line.shared(calls.starts_ps[one.call]);
            let end = line.shared(calls.end_ps(one.call));
            let class = job.classes[calls.signatures[one.call] as usize];
            if let Some(&part) = part_of.get(&one.rank) {
                let of = of_parts[part].get_or_insert((start, end, class));
                *of = (of.0.max(start), of.1.min(end), of.2);
            }
        }
        let Some(last) = of_parts.iter().flatten().map(|of| of.0).max() else { continue };
        for (part, of) in of_parts.iter().enumerate() {
            let Some((own, end, class)) = *of else { continue };
            let since = [own, last].map(|last| end.saturating_sub(last) as f64);
            times.entry((part, class)).or_default().push(since);
        }
    }
    let variation = |which: usize| -> f64 {
        let of = |times: &Vec<[f64; 2]>| {
            let mut all: Vec<f64> = times.iter().map(|since| since[which]).collect();
            all.sort_unstable_by(f64::total_cmp);
            let middle = all[all.len() / 2];
            all.iter_mut().for_each(|since| *since = (*since - middle).abs());
            all.sort_unstable_by(f64::total_cmp);
            all[all.len() / 2] * all.len() as f64
        };
        times.values().map(of).sum()
    };
    Ok(variation(0) <= MOST_OWN * variation(1))
}
