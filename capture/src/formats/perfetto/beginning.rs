//! The beginning of a trace, from its first bytes.

use rustc_hash::FxHashMap;

use super::clock::{ClockId, TraceClocks};
use super::input::{InputPart, PacketInput};
use super::reader::PacketHead;
use crate::origin::MAX_TIMESTAMPS;
use crate::origin::TraceBeginning;
use crate::protobuf::{MessageDamage, MessageFields};

/// Field of a packet with an event.
const EVENT: u32 = 11;
/// Field of a packet with a snapshot of clocks.
const SNAPSHOT: u32 = 6;
/// Field of the defaults with the clock.
const CLOCK: u32 = 58;

/// Finds the beginning in the first bytes of a trace, which may end anywhere: the earliest time of
/// an event, and the wall clock if a snapshot states it.
#[must_use]
pub fn beginning(head: &[u8]) -> Option<TraceBeginning> {
    let (mut input, mut progress) = (head, |_: u64| {});
    let mut packets = PacketInput::new(&mut input, &mut progress);
    let mut times = EventTimes::default();
    while let Ok(InputPart::Packet(bytes)) = packets.next() {
        if times.packet(bytes).is_err() || times.ns.len() >= MAX_TIMESTAMPS {
            break;
        }
    }
    let first = *times.ns.iter().min()?;
    let base_ns = times.clocks.wall_ns(first).and_then(|wall| wall.checked_sub(first));
    TraceBeginning::of_times(times.ns.into_iter().map(|ns| i128::from(ns) * 1_000).collect(), base_ns)
}

/// Times of events so far, in nanoseconds.
#[derive(Debug, Default)]
struct EventTimes {
    clocks: TraceClocks,
    /// Default clock of each sequence.
    defaults: FxHashMap<u32, u32>,
    ns: Vec<i64>,
}

impl EventTimes {
    fn packet(&mut self, bytes: &[u8]) -> Result<(), MessageDamage> {
        let head = PacketHead::parse(bytes)?;
        let mut has_event = false;
        let mut fields = MessageFields::new(bytes);
        while let Some((number, value)) = fields.next()? {
            match number {
                EVENT => has_event = true,
                SNAPSHOT => {
                    self.clocks.snapshot(head.sequence, value.bytes())?;
                }
                _ => {}
            }
        }
        if let Some(defaults) = head.defaults {
            let mut fields = MessageFields::new(defaults);
            while let Some((number, value)) = fields.next()? {
                if number == CLOCK {
                    self.defaults.insert(head.sequence, u32::try_from(value.number()).unwrap_or(0));
                }
            }
        }
        let Some(timestamp) = head.timestamp else { return Ok(()) };
        let default = self.defaults.get(&head.sequence).copied();
        let clock = match head.clock.or(default).filter(|&id| id != 0) {
            Some(id) => ClockId::new(head.sequence, id),
            None => self.clocks.primary(),
        };
        let ns = self.clocks.read(clock, timestamp);
        if has_event {
            self.ns.extend(self.clocks.trace_ns(clock, ns));
        }
        Ok(())
    }
}
