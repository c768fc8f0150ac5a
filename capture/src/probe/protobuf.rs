//! The first fields of a protobuf message, as far as a probe needs them.

use crate::protobuf::varint;

/// Whether a message whose first field is 1 is an XSpace of XPlanes and not a Perfetto trace.
///
/// Field 2 of a plane is its name, a text. Field 2 of a Perfetto packet is a message, which begins
/// with a tag.
pub(super) fn is_xplane(head: &[u8]) -> bool {
    let Some([b'\n', message @ ..]) = head.get(..) else { return false };
    let plane = varint(message).ok().and_then(|(_, rest)| {
        // A small number, the plane's id, can come first.
        match rest {
            [0x08, after @ ..] => varint(after).ok().map(|(_, rest)| rest),
            rest => Some(rest),
        }
    });
    let Some([0x12, after @ ..]) = plane else { return false };
    let Ok((len, rest)) = varint(after) else { return false };
    let name = usize::try_from(len).ok().and_then(|len| rest.get(..len));
    name.is_some_and(|name| !name.is_empty() && name.iter().all(|&byte| (b' '..=b'~').contains(&byte)))
}
