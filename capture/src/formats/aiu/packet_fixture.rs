//! AIU traces in Perfetto's form for tests and fuzzing: the packets of a trace that is JSON.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::formats::perfetto::fixture::{ProtoMessage, annotation, packet, trace};

/// Types of events.
const BEGIN: u64 = 1;
const END: u64 = 2;
const INSTANT: u64 = 3;
const COUNTER: u64 = 4;

/// The packets of events that are JSON. Each thread has a track, as Perfetto's SDK writes them. A
/// text that is no trace gives no packets.
#[must_use]
pub fn packets(text: &str) -> Vec<u8> {
    let document: Json = serde_json::from_str(text).unwrap_or_default();
    let events = document.as_array().or_else(|| document["traceEvents"].as_array());
    let mut written = PacketWriter::default();
    events.into_iter().flatten().for_each(|event| written.event(event));
    trace(&written.packets)
}

#[derive(Default)]
struct PacketWriter {
    packets: Vec<ProtoMessage>,
    /// Numbers of the tracks, by process and thread, or by process and counter.
    tracks: BTreeMap<(i64, String), u64>,
    names: BTreeMap<i64, String>,
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts of floats saturate")]
fn ns(us: f64) -> u64 {
    (us * 1e3).round() as u64
}

fn id(event: &Json, key: &str) -> i64 {
    event[key].as_i64().unwrap_or_default()
}

impl PacketWriter {
    fn event(&mut self, event: &Json) {
        let (name, pid) = (event["name"].as_str().unwrap_or_default(), id(event, "pid"));
        let at = ns(event["ts"].as_f64().unwrap_or_default());
        match event["ph"].as_str().unwrap_or_default() {
            "M" if name == "process_name" => {
                self.names.insert(pid, event["args"]["name"].as_str().unwrap_or_default().to_owned());
            }
            "B" => self.slice(BEGIN, at, event),
            "E" => self.slice(END, at, event),
            "i" => self.slice(INSTANT, at, event),
            "X" => {
                let end = at + ns(event["dur"].as_f64().unwrap_or_default());
                self.slice(BEGIN, at, event);
                self.slice(END, end, event);
            }
            "C" => {
                let values = event["args"].as_object().into_iter().flat_map(|values| values.values());
                let value = values.filter_map(Json::as_f64).next().unwrap_or_default();
                let process = ProtoMessage::new().number(1, pid.cast_unsigned());
                let track = self.track(pid, name.to_owned(), |uuid| {
                    let of_process = ProtoMessage::new().number(1, uuid + 500).message(3, &process);
                    let counter = ProtoMessage::new().number(1, uuid).text(2, name).number(5, uuid + 500);
                    vec![of_process, counter.message(8, &ProtoMessage::new())]
                });
                let sample = ProtoMessage::new().number(9, COUNTER).number(11, track).float(44, value);
                self.packets.push(packet(1, at, 11, &sample));
            }
            _ => {}
        }
    }

    /// The number of a process' track for a thread or a counter.
    fn track(&mut self, pid: i64, part: String, describe: impl FnOnce(u64) -> Vec<ProtoMessage>) -> u64 {
        let key = (pid, part);
        let next = self.tracks.len() as u64 + 10;
        if let Some(&known) = self.tracks.get(&key) {
            return known;
        }
        self.packets.extend(describe(next).iter().map(|descriptor| packet(1, 0, 60, descriptor)));
        self.tracks.insert(key, next);
        next
    }

    fn slice(&mut self, kind: u64, ns: u64, event: &Json) {
        let (pid, tid) = (id(event, "pid"), id(event, "tid"));
        let name = self.names.get(&pid).cloned().unwrap_or_default();
        let track = self.track(pid, tid.to_string(), |uuid| {
            let (pid, tid) = (pid.cast_unsigned(), tid.cast_unsigned());
            let process = ProtoMessage::new().number(1, pid).text(6, &name);
            let thread = ProtoMessage::new().number(1, pid).number(2, tid);
            vec![
                ProtoMessage::new().number(1, uuid + 500).message(3, &process),
                ProtoMessage::new().number(1, uuid).message(4, &thread),
            ]
        });
        let mut message = ProtoMessage::new().number(9, kind).number(11, track);
        message = message.text(23, event["name"].as_str().unwrap_or_default());
        if kind != END {
            if let Some(cat) = event["cat"].as_str() {
                message = message.text(22, cat);
            }
            for (key, value) in ["args", "attr"].iter().filter_map(|key| event[key].as_object()).flatten() {
                message = message.message(4, &argument(key, value));
            }
        }
        self.packets.push(packet(1, ns, 11, &message));
    }
}

fn argument(key: &str, value: &Json) -> ProtoMessage {
    let argument = annotation(key);
    match value {
        Json::String(text) => argument.text(6, text),
        Json::Number(number) => match number.as_i64() {
            Some(int) => argument.number(4, int.cast_unsigned()),
            None => argument.float(5, number.as_f64().unwrap_or_default()),
        },
        Json::Bool(is) => argument.number(2, u64::from(*is)),
        other => argument.text(9, &other.to_string()),
    }
}
