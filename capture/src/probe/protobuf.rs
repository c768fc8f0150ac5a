//! The first fields of a protobuf message, as far as a probe needs them.

/// Length of the longest varint in bytes.
const MAX_VARINT_LEN: usize = 10;

/// Whether a message whose first field is 1 is an XSpace of XPlanes and not a Perfetto trace.
///
/// Field 2 of a plane is its name, a text. Field 2 of a Perfetto packet is a message, which begins
/// with a tag.
pub(super) fn is_xplane(head: &[u8]) -> bool {
    let Some([b'\n', message @ ..]) = head.get(..) else { return false };
    let plane = varint(message).and_then(|(_, rest)| {
        // A small number, the plane's id, can come first.
        match rest {
            [0x08, after @ ..] => varint(after).map(|(_, rest)| rest),
            rest => Some(rest),
        }
    });
    let Some([0x12, after @ ..]) = plane else { return false };
    let Some((len, rest)) = varint(after) else { return false };
    let name = usize::try_from(len).ok().and_then(|len| rest.get(..len));
    name.is_some_and(|name| !name.is_empty() && name.iter().all(|&byte| (b' '..=b'~').contains(&byte)))
}

/// Splits off a varint. Returns its value and the bytes behind it.
fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    for (at, &byte) in bytes.iter().enumerate().take(MAX_VARINT_LEN) {
        value |= u64::from(byte & 0x7f).checked_shl(7 * u32::try_from(at).ok()?)?;
        if byte < 0x80 {
            return Some((value, &bytes[at + 1..]));
        }
    }
    None
}
