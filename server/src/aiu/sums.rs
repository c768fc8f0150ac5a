//! Steps of one send or receive as one slice: those whose names have the same number.
//!
//! A file is a job, and numbers are those of its graph. A graph that runs again has its steps
//! again, so a step that a sum already has begins the next sum. A file can go on with the steps of
//! another file that has ended: with a step that the sum lacks, soon after its last one.

use std::collections::{HashMap, HashSet};

use serde_json::Value as Json;

use super::event::Event;

/// Part of the names of steps.
const STEP: &str = "SenRdma";

/// Most sums of one number that wait for further steps: one for each file.
const MAX_OPEN: usize = 64;

/// A send or receive that can have further steps.
#[derive(Debug)]
struct Sum {
    /// Position of its last step among all steps.
    at: u64,
    /// The files of its steps.
    jobs: Vec<String>,
    names: HashSet<String>,
    event: Event,
}

/// The sums of a rank that can have further steps.
#[derive(Debug, Default)]
pub struct Sums {
    by_number: HashMap<String, Vec<Sum>>,
    taken: u64,
    /// Ends of the work of files on the device.
    file_ends: HashMap<String, i128>,
}

impl Sums {
    /// No sums yet, of files that end their work on the device at these times.
    pub fn new(file_ends: HashMap<String, i128>) -> Self {
        Self { file_ends, ..Self::default() }
    }

    /// Takes a step. Returns any other event, and a sum that has ended.
    pub fn take(&mut self, mut event: Event) -> Option<Event> {
        let Some((job, number)) = key(&event) else { return Some(event) };
        self.taken += 1;
        let open = self.by_number.entry(number).or_default();
        let own = open.iter().position(|sum| sum.jobs.contains(&job));
        let ends = &self.file_ends;
        let continued = own.or_else(|| open.iter().position(|sum| sum.goes_on_with(&event, ends)));
        if let Some(sum) = continued.map(|at| &mut open[at])
            && sum.names.insert(event.name.clone())
        {
            sum.at = self.taken;
            if own.is_none() {
                sum.jobs.push(job);
            }
            add(&mut sum.event, event);
            return None;
        }
        let ended = own.or_else(|| (open.len() >= MAX_OPEN).then_some(0)).map(|at| open.remove(at).event);
        let peers = peers(&event);
        event.args.insert("Peers", peers.into());
        let names = HashSet::from([event.name.clone()]);
        open.push(Sum { at: self.taken, jobs: vec![job], names, event });
        ended
    }

    /// The sums, in the order of their last steps.
    pub fn finish(self) -> Vec<Event> {
        let mut sums: Vec<Sum> = self.by_number.into_values().flatten().collect();
        sums.sort_by_key(|sum| sum.at);
        sums.into_iter().map(|sum| sum.event).collect()
    }
}

impl Sum {
    /// Whether a step of another file belongs to this sum: it is of the same instance, the files so
    /// far have ended, and the pause before it is not longer than the steps so far.
    fn goes_on_with(&self, step: &Event, file_ends: &HashMap<String, i128>) -> bool {
        let Event { time_ps, duration_ps, args, .. } = &self.event;
        let length_ps = i128::from(duration_ps.unwrap_or(0));
        let is_same = |key: &str| args.get(key) == step.args.get(key);
        let pause_ps = step.time_ps - (time_ps + length_ps);
        let end_ps = step.time_ps + i128::from(step.duration_ps.unwrap_or(0));
        let has_ended = |job: &String| file_ends.get(job).is_none_or(|&file_end_ps| file_end_ps <= end_ps);
        args.get(GROUP).is_some()
            && is_same(GROUP)
            && !self.names.contains(&step.name)
            && pause_ps <= length_ps
            && self.jobs.iter().all(has_ended)
    }
}

/// Argument with the instance of a step.
const GROUP: &str = "CollGroup";

/// The file, and the first number after `_` or `-`.
fn key(event: &Event) -> Option<(String, String)> {
    if !event.name.contains(STEP) {
        return None;
    }
    let parts = event.name.split(['_', '-']).skip(1);
    let digits = |part: &str| part.chars().take_while(char::is_ascii_digit).collect::<String>();
    let number = parts.map(digits).find(|number| !number.is_empty())?;
    let job = event.args.get("jobname").and_then(Json::as_str).unwrap_or_default().to_owned();
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

    fn step(name: &str, start: i128, duration: i64, peers: &str) -> Event {
        let mut event = Event::new('X', name, start, Json::from(3));
        event.duration_ps = Some(duration);
        event.args.insert("Peers", Json::from(peers));
        event.args.insert(GROUP, Json::from("a"));
        event
    }

    /// The spans of the sums of steps: name, start and file.
    #[track_caller]
    fn check(steps: &[(&str, i128, &str)], expected: &[(i128, i64)]) {
        let mut sums = Sums::new(steps.iter().map(|(_, start, job)| (job.to_string(), start + 10)).collect());
        let mut found = Vec::new();
        for &(name, start, job) in steps {
            let mut step = step(name, start, 10, "1");
            step.args.insert("jobname", Json::from(job));
            found.extend(sums.take(step));
        }
        found.extend(sums.finish());
        let spans: Vec<_> = found.iter().map(|sum| (sum.time_ps, sum.duration_ps.unwrap_or(0))).collect();
        assert_eq!(spans, expected, "{steps:?}");
    }

    #[test]
    fn a_send_that_comes_again_is_another_sum() {
        let (list, data) = ("SenRdmaSend_7 - Set BcList", "SenRdmaSend_7 Data");
        check(&[(list, 0, "a"), (data, 20, "a"), (list, 100, "a"), (data, 130, "a")], &[(0, 30), (100, 40)]);
    }

    #[test]
    fn a_file_can_go_on_with_the_send_of_another_one() {
        let (list, data) = ("SenRdmaSend_7 - Set BcList", "SenRdmaSend_7 Data");
        check(&[(list, 0, "a"), (data, 18, "b")], &[(0, 28)]);
        // Another job, whose graph has the same numbers, runs later.
        check(&[(list, 0, "a"), (data, 90, "b")], &[(0, 10), (90, 10)]);
        check(&[(list, 0, "a"), (list, 12, "b"), (data, 25, "b")], &[(0, 10), (12, 23)]);
        // Both jobs run at the same time.
        check(&[(list, 0, "a"), (data, 15, "b"), (data, 19, "a")], &[(15, 10), (0, 29)]);
    }

    #[test]
    fn sums_of_many_files_do_not_wait_for_ever() {
        let jobs: Vec<String> = (0..100).map(|job| job.to_string()).collect();
        let mut sums = Sums::default();
        let mut ended = 0;
        for (job, start) in jobs.iter().zip((0..).step_by(1_000)) {
            let mut step = step("SenRdmaSend_7 Data", start, 10, "1");
            step.args.insert("jobname", Json::from(job.as_str()));
            ended += usize::from(sums.take(step).is_some());
        }
        assert_eq!((ended, sums.finish().len()), (36, 64));
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
        let kernel = step("add_11 Cmpt Exec", 0, 1, "");
        assert_eq!(sums.take(kernel.clone()), Some(kernel));
        assert_eq!(sums.take(step("SenRdmaSend_7 - Set BcList [sync=a_4]", 10, 5, "0,1")), None);
        assert_eq!(sums.take(step("SenRdmaRecv_9 [sync=a_4]", 11, 5, "2")), None);
        assert_eq!(sums.take(step("SenRdmaSend_7 Data [sync=a_4]", 12, 80, "1")), None);
        let found = sums.finish();
        let names: Vec<&str> = found.iter().map(|event| event.name.as_str()).collect();
        assert_eq!(names, ["SenRdmaRecv_9 [sync=a_4]", "SenRdmaSend_7 "]);
        assert_eq!((found[1].time_ps, found[1].duration_ps), (10, Some(82)));
        assert_eq!(found[1].args["Peers"], serde_json::json!(["0", "1"]));
    }
}
