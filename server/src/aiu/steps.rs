//! Arrows between the steps of collective operations: from each send to the step that waits for it
//! on the other rank.

use std::collections::HashMap;

use nprof_engine::model::transfer::algorithm_of;
use serde_json::Value as Json;

use super::event::Event;

/// Number of the first arrow.
const FIRST_ID: u64 = 1_000_001;
/// An arrow ends this long before the step that receives, in picoseconds.
const MARGIN_PS: i128 = 1_000;
/// Mark of the ranks of a step in its name.
const SYNC: &str = "[sync=";

/// Mark of several destinations in it.
const MANY: &str = "_r0x";

/// Types of steps that send to one rank, and of those that wait for data.
const SENDS: [&str; 2] = ["SingleCast", "MultiCast XSEG"];
const WAITS: &str = "WDone Barrier";

/// A step that sends or waits.
#[derive(Debug, Clone)]
struct MessageStep {
    rank: u32,
    peers: Vec<u32>,
    group: String,
    pid: Json,
    tid: Json,
    start_ps: i128,
    end_ps: i128,
}

/// The steps of all ranks, by the texts that a send and its receipts share.
#[derive(Debug, Default)]
pub struct MessageSteps {
    sends: Vec<(String, MessageStep)>,
    waits: HashMap<String, Vec<MessageStep>>,
}

/// An arrow, with the ranks of its ends.
pub type RankArrow = [(u32, Event); 2];

impl MessageSteps {
    /// Notes a slice of a rank, if it is a step.
    pub fn take(&mut self, rank: u32, event: &Event, name: &str) {
        let text = |key: &str| event.args.get(key).and_then(Json::as_str).unwrap_or_default();
        let (kind, group) = (text("Type"), text("CollGroup"));
        let Some(sync) = name.find(SYNC).and_then(|at| name[at + SYNC.len()..].split(']').next()) else {
            return;
        };
        let peers = text("Peers").split(',').chain(text("Peer").split(','));
        let step = MessageStep {
            rank,
            peers: peers.filter_map(|peer| peer.trim().parse().ok()).collect(),
            group: group.to_owned(),
            pid: event.pid.clone(),
            tid: event.tid.clone(),
            start_ps: event.time_ps,
            end_ps: event.time_ps + i128::from(event.duration_ps.unwrap_or(0)),
        };
        if SENDS.contains(&kind) {
            self.sends.push((sync.to_owned(), step));
        } else if kind == WAITS {
            self.waits.entry(sync.to_owned()).or_default().push(step);
        }
    }

    /// How an operation moves data.
    #[must_use]
    pub fn algorithm(&self, group: &str) -> &'static str {
        let is_single = |step: &&MessageStep| step.group == group && step.peers.len() == 1;
        let alone = self.sends.iter().filter(|(sync, _)| !sync.contains(MANY)).map(|(_, step)| step);
        algorithm_of(alone.filter(is_single).map(|step| (step.rank, step.peers[0])).collect())
    }

    /// The arrows, by the start of their sends.
    ///
    /// An operation can occur several times, such as once in each iteration. The sends from a rank
    /// to another and the steps that wait for them then belong together in the order of time.
    #[must_use]
    pub fn arrows(mut self, last: &mut u64) -> Vec<RankArrow> {
        self.sends.sort_by_key(|(_, step)| (step.start_ps, step.rank));
        self.waits.values_mut().for_each(|waits| waits.sort_by_key(|wait| wait.end_ps));
        let mut counts: HashMap<Ends<'_>, usize> = HashMap::new();
        for (sync, send) in &self.sends {
            for &peer in &send.peers {
                *counts.entry((sync, &send.group, send.rank, peer)).or_default() += 1;
            }
        }
        let mut used: HashMap<Ends<'_>, usize> = HashMap::new();
        let mut arrows = Vec::new();
        *last = (*last).max(FIRST_ID - 1);
        for (sync, send) in &self.sends {
            for &peer in &send.peers {
                let of = (sync.as_str(), send.group.as_str(), send.rank, peer);
                let waits = self.waits.get(sync).into_iter().flatten();
                let mut waits = waits.filter(|wait| wait.rank == peer && wait.group == send.group);
                let nth = used.entry(of).or_default();
                let is_whole = counts.get(&of) == Some(&waits.clone().count());
                // If some are missing, a send belongs to the next wait that ends after it starts.
                let wait = match is_whole {
                    true => waits.nth(*nth),
                    false => waits.skip(*nth).find(|wait| wait.end_ps > send.start_ps),
                };
                *nth += 1;
                let Some(wait) = wait else { continue };
                *last += 1;
                let id = Some(Json::from(*last));
                let point = |phase: char, of: &MessageStep, time_ps: i128| {
                    let event = Event {
                        category: Some(send.group.clone()),
                        tid: of.tid.clone(),
                        id: id.clone(),
                        ..Event::new(phase, sync, time_ps, of.pid.clone())
                    };
                    (of.rank, event)
                };
                let end_ps = wait.end_ps - MARGIN_PS;
                arrows.push([point('s', send, send.start_ps), point('f', wait, end_ps)]);
            }
        }
        arrows
    }
}

/// Text of a step, instance, and the ranks that send and receive.
type Ends<'s> = (&'s str, &'s str, u32, u32);

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    fn step(steps: &mut MessageSteps, rank: u32, kind: &str, peers: &str, times: Range<i64>) {
        let mut event = Event::new('X', "", i128::from(times.start), Json::from(rank));
        event.duration_ps = Some(times.end - times.start);
        for (key, value) in [("Type", kind), ("Peers", peers), ("CollGroup", "g")] {
            event.args.insert(key, Json::from(value));
        }
        steps.take(rank, &event, "Sen [sync=g_s3_r0x3_6] DmaO");
    }

    #[test]
    fn each_send_points_to_its_receipt() {
        let mut steps = MessageSteps::default();
        step(&mut steps, 0, "WDone Barrier", "3", 0..90_000);
        step(&mut steps, 1, "WDone Barrier", "3", 0..80_000);
        step(&mut steps, 3, "Set BCList", "0,1", 9..20);
        step(&mut steps, 3, "MultiCast XSEG", "1", 20..60);
        step(&mut steps, 3, "MultiCast XSEG", "0", 10..60);
        assert_eq!(steps.algorithm("g"), "chain");
        let found: Vec<(Json, i128, i128, u32)> = steps
            .arrows(&mut 0)
            .into_iter()
            .map(|[(_, from), (rank, to)]| (from.id.unwrap(), from.time_ps, to.time_ps, rank))
            .collect();
        let id = |id: u64| Json::from(id);
        assert_eq!(found, [(id(1_000_001), 10, 89_000, 0), (id(1_000_002), 20, 79_000, 1)]);
    }

    #[test]
    fn sends_of_several_iterations_point_to_their_own_receipts() {
        let mut steps = MessageSteps::default();
        for at in [0, 1_000_000, 2_000_000] {
            step(&mut steps, 3, "SingleCast", "0", at + 10..at + 60);
            step(&mut steps, 0, "WDone Barrier", "3", at..at + 90_000);
        }
        let times = |steps: MessageSteps| -> Vec<(i128, i128)> {
            steps.arrows(&mut 0).iter().map(|[(_, from), (_, to)]| (from.time_ps, to.time_ps)).collect()
        };
        let expected = [(10, 89_000), (1_000_010, 1_089_000), (2_000_010, 2_089_000)];
        assert_eq!(times(steps), expected);
        let mut cut = MessageSteps::default();
        step(&mut cut, 3, "SingleCast", "0", 10..60);
        step(&mut cut, 3, "SingleCast", "0", 1_000_010..1_000_060);
        step(&mut cut, 0, "WDone Barrier", "3", 1_000_000..1_090_000);
        assert_eq!(times(cut), [(10, 1_089_000)]);
    }

    #[test]
    fn a_rank_that_receives_from_several_is_in_a_tree() {
        let mut steps = MessageSteps::default();
        let mut send = |rank: u32, peer: &str| {
            let mut event = Event::new('X', "", 0, Json::from(rank));
            for (key, value) in [("Type", "SingleCast"), ("Peers", peer), ("CollGroup", "t")] {
                event.args.insert(key, Json::from(value));
            }
            steps.take(rank, &event, "Sen [sync=t_s1_r0_1] DmaO");
        };
        send(1, "0");
        send(2, "0");
        assert_eq!((steps.algorithm("t"), steps.algorithm("none")), ("tree", "chain"));
    }
}
