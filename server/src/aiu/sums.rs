//! Steps of one send or receive as one slice: those of a job whose names have the same number.

use std::collections::HashMap;

use serde_json::Value as Json;

use super::event::Event;

/// Part of the names of steps.
const STEP: &str = "SenRdma";

/// The sums of a rank, in the order of their last steps.
#[derive(Debug, Default)]
pub struct Sums {
    by_key: HashMap<(String, String), (u64, Event)>,
    taken: u64,
}

impl Sums {
    /// Takes a step. Returns any other event.
    pub fn take(&mut self, event: Event) -> Option<Event> {
        let Some(key) = key(&event) else { return Some(event) };
        self.taken += 1;
        match self.by_key.entry(key) {
            std::collections::hash_map::Entry::Vacant(entry) => {
                let mut first = event;
                let peers = peers(&first);
                first.args.insert("Peers", peers.into());
                entry.insert((self.taken, first));
            }
            std::collections::hash_map::Entry::Occupied(mut entry) => {
                let (at, sum) = entry.get_mut();
                *at = self.taken;
                add(sum, event);
            }
        }
        None
    }

    /// The sums.
    pub fn finish(self) -> Vec<Event> {
        let mut sums: Vec<(u64, Event)> = self.by_key.into_values().collect();
        sums.sort_by_key(|(at, _)| *at);
        sums.into_iter().map(|(_, event)| event).collect()
    }
}

/// The job, and the first number after `_` or `-`.
fn key(event: &Event) -> Option<(String, String)> {
    if !event.name.contains(STEP) {
        return None;
    }
    let parts = event.name.split(['_', '-']).skip(1);
    let digits = |part: &str| part.chars().take_while(char::is_ascii_digit).collect::<String>();
    let number = parts.map(digits).find(|number| !number.is_empty())?;
    let job = event.args.get("jobname").map(Json::to_string).unwrap_or_default();
    Some((job, number))
}

/// The ranks that a step names.
fn peers(event: &Event) -> Vec<Json> {
    // A step to one rank names it as `Peer`, unless arrows are written.
    match event.args.get("Peers").or_else(|| event.args.get("Peer")) {
        Some(Json::Array(peers)) => peers.clone(),
        Some(Json::String(peers)) => peers.split(',').map(|peer| Json::from(peer.trim())).collect(),
        Some(peer @ Json::Number(_)) => vec![Json::from(peer.to_string())],
        _ => Vec::new(),
    }
}

/// Adds a later step: the common begin of the names, the whole time, the arguments of the later
/// step, and the ranks of both.
fn add(sum: &mut Event, later: Event) {
    let mut all = peers(sum);
    all.extend(peers(&later));
    let mut known = Vec::new();
    all.retain(|peer| !known.contains(peer) && (known.push(peer.clone()), true).1);
    let end_ps = |event: &Event| event.time_ps + i128::from(event.duration_ps.unwrap_or(0));
    let (start_ps, end_ps) = (sum.time_ps.min(later.time_ps), end_ps(sum).max(end_ps(&later)));
    let common = sum.name.chars().zip(later.name.chars()).take_while(|(a, b)| a == b);
    let name: String = common.map(|(letter, _)| letter).collect();
    *sum = Event { name, time_ps: start_ps, duration_ps: i64::try_from(end_ps - start_ps).ok(), ..later };
    sum.args.insert("Peers", all.into());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(name: &str, (start, duration): (i128, i64), peers: &str) -> Event {
        let mut event = Event::new('X', name, start, Json::from(3));
        event.duration_ps = Some(duration);
        event.args.insert("Peers", Json::from(peers));
        event
    }

    #[test]
    fn a_single_step_names_its_peer() {
        for (key, peer) in [("Peers", Json::from("3")), ("Peer", Json::from("3")), ("Peer", Json::from(3))] {
            let mut single = Event::new('X', "SenRdmaRecv_9 [sync=a_4]", 0, Json::from(0));
            single.args.insert(key, peer);
            let mut sums = Sums::default();
            assert_eq!(sums.take(single), None);
            assert_eq!(sums.finish()[0].args["Peers"], serde_json::json!(["3"]), "{key}");
        }
    }

    #[test]
    fn steps_of_one_send_become_one_slice() {
        let mut sums = Sums::default();
        let kernel = step("add_11 Cmpt Exec", (0, 1), "");
        assert_eq!(sums.take(kernel.clone()), Some(kernel));
        assert_eq!(sums.take(step("SenRdmaSend_7 - Set BcList [sync=a_4]", (10, 5), "0,1")), None);
        assert_eq!(sums.take(step("SenRdmaRecv_9 [sync=a_4]", (11, 5), "2")), None);
        assert_eq!(sums.take(step("SenRdmaSend_7 Data [sync=a_4]", (12, 80), "1")), None);
        let found = sums.finish();
        let names: Vec<&str> = found.iter().map(|event| event.name.as_str()).collect();
        assert_eq!(names, ["SenRdmaRecv_9 [sync=a_4]", "SenRdmaSend_7 "]);
        assert_eq!((found[1].time_ps, found[1].duration_ps), (10, Some(82)));
        assert_eq!(found[1].args["Peers"], serde_json::json!(["0", "1"]));
    }
}
