//! Arrows between the steps of collective operations: from each send to the step that waits for it
//! on the other rank.

use std::collections::HashMap;

use serde_json::Value as Json;

use super::args::Args;
use super::event::Event;

/// Number of the first arrow.
const FIRST_ID: u64 = 1_000_001;
/// An arrow ends this long before the step that receives, in picoseconds.
const MARGIN_PS: i128 = 1_000;
/// Mark of the ranks of a step in its name.
const SYNC: &str = "[sync=";

/// Types of steps that send to one rank, and of those that wait for data.
const SENDS: [&str; 2] = ["SingleCast", "MultiCast XSEG"];
const WAITS: &str = "WDone Barrier";

/// A step that sends or waits.
#[derive(Debug, Clone)]
struct Step {
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
pub struct Steps {
    sends: Vec<(String, Step)>,
    waits: HashMap<String, Vec<Step>>,
}

impl Steps {
    /// Notes a slice of a rank, if it is a step.
    pub fn take(&mut self, rank: u32, event: &Event, name: &str) {
        let text = |key: &str| event.args.get(key).and_then(Json::as_str).unwrap_or_default();
        let (kind, group) = (text("Type"), text("CollGroup"));
        let Some(sync) = name.find(SYNC).and_then(|at| name[at + SYNC.len()..].split(']').next()) else {
            return;
        };
        let peers = text("Peers").split(',').chain(text("Peer").split(','));
        let step = Step {
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

    /// The arrows, by the start of their sends.
    #[must_use]
    pub fn arrows(mut self) -> Vec<[Event; 2]> {
        self.sends.sort_by_key(|(_, step)| (step.start_ps, step.rank));
        let mut arrows = Vec::new();
        for (sync, send) in &self.sends {
            let waits = self.waits.get(sync).into_iter().flatten();
            for wait in waits.filter(|wait| send.peers.contains(&wait.rank) && send.group == wait.group) {
                let id = FIRST_ID + arrows.len() as u64;
                let point = |phase: char, of: &Step, time_ps: i128| Event {
                    category: Some(send.group.clone()),
                    tid: of.tid.clone(),
                    id: Some(id),
                    args: Args::default(),
                    ..Event::new(phase, sync, time_ps, of.pid.clone())
                };
                let end_ps = wait.end_ps - MARGIN_PS;
                arrows.push([point('s', send, send.start_ps), point('f', wait, end_ps)]);
            }
        }
        arrows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(steps: &mut Steps, rank: u32, kind: &str, peers: &str, (start, end): (i64, i64)) {
        let mut event = Event::new('X', "", i128::from(start), Json::from(rank));
        event.duration_ps = Some(end - start);
        for (key, value) in [("Type", kind), ("Peers", peers), ("CollGroup", "g")] {
            event.args.insert(key, Json::from(value));
        }
        steps.take(rank, &event, "Sen [sync=g_s3_r0x3_6] DmaO");
    }

    #[test]
    fn each_send_points_to_its_receipt() {
        let mut steps = Steps::default();
        step(&mut steps, 0, "WDone Barrier", "3", (0, 90_000));
        step(&mut steps, 1, "WDone Barrier", "3", (0, 80_000));
        step(&mut steps, 3, "Set BCList", "0,1", (9, 20));
        step(&mut steps, 3, "MultiCast XSEG", "1", (20, 60));
        step(&mut steps, 3, "MultiCast XSEG", "0", (10, 60));
        let found: Vec<(u64, i128, i128, Json)> = steps
            .arrows()
            .into_iter()
            .map(|[from, to]| (from.id.unwrap(), from.time_ps, to.time_ps, to.pid))
            .collect();
        let expected = [(1_000_001, 10, 89_000, Json::from(0)), (1_000_002, 20, 79_000, Json::from(1))];
        assert_eq!(found, expected);
    }
}
