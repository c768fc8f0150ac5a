//! Probe of Perfetto traces. A trace is a list of packets under field 1, as an XSpace is a list of
//! planes, so the probe looks into the packets.

use super::Confidence;
use super::protobuf::is_xplane;
use crate::protobuf::{MessageDamage, MessageFields, WireValue, varint};

/// Tag of a packet: field 1, a message.
const PACKET_TAG: u8 = 0x0a;
/// Most packets that are looked at.
const MAX_PACKETS: usize = 64;
/// Bytes at the start that tell text from packets.
const MAX_TEXT_LEN: usize = 256;
/// Fields of a packet that are numbers: user, timestamp, sequence, flags and the like.
const NUMBERS: [u32; 10] = [3, 8, 10, 13, 41, 42, 58, 79, 87, 98];
/// Highest number of a field. Others are extensions for tests.
const MAX_FIELD: u32 = 1_000;
/// Fields that hardly another message has: timestamp, sequence and flags as numbers, and a
/// descriptor of a track.
const TELLING: [u32; 4] = [8, 10, 13, 60];
/// Fields with bytes that are no message: the marker of synchronisation and packed packets.
const OPAQUE: [u32; 3] = [36, 50, 133];

/// Whether this is a Perfetto trace.
#[must_use]
pub fn probe(head: &[u8]) -> Option<Confidence> {
    if head.first() != Some(&PACKET_TAG) || is_text(head) || is_xplane(head) {
        return None;
    }
    let mut rest = head;
    let mut confidence = None;
    for _ in 0..MAX_PACKETS {
        let Some((&tag, after)) = rest.split_first() else { break };
        if tag != PACKET_TAG {
            return None;
        }
        let (len, after) = match varint(after) {
            Ok((len, after)) => (usize::try_from(len).ok()?, after),
            Err(MessageDamage::Cut) => break,
            Err(MessageDamage::Invalid) => return None,
        };
        let is_whole = after.len() >= len;
        let seen = packet(&after[..len.min(after.len())], is_whole)?;
        confidence = confidence.max(seen);
        if !is_whole {
            break;
        }
        rest = &after[len..];
    }
    confidence
}

/// Whether the first bytes are text. Packets have numbers between their texts.
fn is_text(head: &[u8]) -> bool {
    head.iter()
        .take(MAX_TEXT_LEN)
        .all(|&byte| byte == b' ' || byte.is_ascii_graphic() || byte.is_ascii_whitespace())
}

/// How sure a packet makes that the file is a trace. `None` if this is no packet.
fn packet(bytes: &[u8], is_whole: bool) -> Option<Option<Confidence>> {
    let mut fields = MessageFields::new(bytes);
    let mut confidence = None;
    loop {
        match fields.next() {
            Ok(Some((number, value))) => {
                let is_number = matches!(value, WireValue::Varint(_));
                if number >= MAX_FIELD || NUMBERS.contains(&number) != is_number || !is_message(number, value)
                {
                    return None;
                }
                let sure = if TELLING.contains(&number) { Confidence::Certain } else { Confidence::Likely };
                confidence = confidence.max(Some(sure));
            }
            Ok(None) => return Some(confidence),
            // The head ends here.
            Err(MessageDamage::Cut) if !is_whole => return Some(confidence.max(Some(begun(fields.rest())?))),
            Err(_) => return None,
        }
    }
}

/// How sure a field makes that is cut at the end of the head. `None` if it is no field of a packet.
fn begun(rest: &[u8]) -> Option<Confidence> {
    let Ok((tag, after)) = varint(rest) else { return Some(Confidence::Possible) };
    let number = u32::try_from(tag >> 3).ok().filter(|&number| number < MAX_FIELD)?;
    if tag & 7 != if NUMBERS.contains(&number) { 0 } else { 2 } {
        return None;
    }
    if OPAQUE.contains(&number) {
        return Some(Confidence::Likely);
    }
    let Ok((_, content)) = varint(after) else { return Some(Confidence::Possible) };
    let mut fields = MessageFields::new(content);
    loop {
        match fields.next() {
            Ok(Some(_)) => {}
            Ok(None) | Err(MessageDamage::Cut) => return Some(Confidence::Possible),
            Err(MessageDamage::Invalid) => return None,
        }
    }
}

/// Whether the bytes of a field begin like a message.
fn is_message(number: u32, value: WireValue<'_>) -> bool {
    let WireValue::Bytes(bytes) = value else { return true };
    OPAQUE.contains(&number) || MessageFields::new(bytes).next().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_are_told_from_planes_and_from_text() {
        let trace = b"\x0a\x09\x50\x01\x40\x05\x5a\x03\x48\x01\x00";
        assert_eq!(probe(&trace[..10]), Some(Confidence::Certain));
        for cut in 1..trace.len() {
            let _ = probe(&trace[..cut]);
        }
        assert_eq!(probe(b"\x0a\x10\x12\x05\x0a\x03\x08\x01\x10"), Some(Confidence::Likely));
        assert_eq!(probe(b"\x0a\x10\x12\x0d/device:TPU:0\x1a"), None, "a plane");
        assert_eq!(probe(b"\x0a\x80\x02\x08\x01\x12\x09/host:CPU\x1a"), None, "a plane with an id");
        assert_eq!(probe(b"\n{\"ph\":\"X\",\"ts\":1}"), None, "JSON");
        assert_eq!(probe(b"\nlog of a run\nthat went well\n"), None, "text");
        assert_eq!(probe(b"\x0a\x03abc"), None);
        assert_eq!(probe(b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), None);
        assert_eq!(probe(b"\x0a\x02\x40\x01{"), None, "something else behind the first packet");
        let packed = [&b"\x0a\x80\x80\x10\x92\x03\x80\x80\x08"[..], &[7; 99]].concat();
        assert_eq!(probe(&packed), Some(Confidence::Likely), "packed packets that are longer than the head");
    }
}
