//! Fields of protobuf messages, read one after the other from bytes. Every length is compared with
//! the bytes that are left, and nothing is allocated.

/// Length of the longest varint in bytes.
const MAX_VARINT_LEN: usize = 10;

/// The reason why a message cannot be read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessageDamage {
    /// A field ends behind the message.
    Cut,
    /// A tag or a varint that no message has.
    Invalid,
}

/// Value of a field, by its form in the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WireValue<'a> {
    /// A number, a boolean or the member of an enumeration.
    Varint(u64),
    /// Eight bytes: a number, or the bits of a float.
    Fixed64(u64),
    /// A text, bytes, a message, or a packed list.
    Bytes(&'a [u8]),
    /// Four bytes.
    Fixed32(u32),
}

impl<'a> WireValue<'a> {
    /// The number; 0 for bytes.
    pub(crate) fn number(self) -> u64 {
        match self {
            Self::Varint(number) | Self::Fixed64(number) => number,
            Self::Fixed32(number) => u64::from(number),
            Self::Bytes(_) => 0,
        }
    }

    /// The number of a field of 32 bits.
    #[cfg(feature = "read")]
    pub(crate) fn number_u32(self) -> Result<u32, MessageDamage> {
        u32::try_from(self.number()).map_err(|_| MessageDamage::Invalid)
    }

    /// The number as a signed one.
    #[cfg(feature = "read")]
    pub(crate) fn signed(self) -> i64 {
        self.number().cast_signed()
    }

    /// The bytes; empty for a number.
    pub(crate) fn bytes(self) -> &'a [u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            _ => &[],
        }
    }
}

/// Steps through the fields of a message.
#[derive(Debug, Clone)]
pub(crate) struct MessageFields<'a> {
    rest: &'a [u8],
}

impl<'a> MessageFields<'a> {
    /// The fields of a message.
    pub(crate) fn new(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    /// Number and value of the next field; `None` at the end.
    ///
    /// # Errors
    /// If the message is damaged. The place does not move then.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<(u32, WireValue<'a>)>, MessageDamage> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let (tag, rest) = varint(self.rest)?;
        let number = u32::try_from(tag >> 3).map_err(|_| MessageDamage::Invalid)?;
        if number == 0 {
            return Err(MessageDamage::Invalid);
        }
        let (value, rest) = match tag & 7 {
            0 => {
                let (number, rest) = varint(rest)?;
                (WireValue::Varint(number), rest)
            }
            1 => {
                let (bits, rest) = rest.split_first_chunk().ok_or(MessageDamage::Cut)?;
                (WireValue::Fixed64(u64::from_le_bytes(*bits)), rest)
            }
            2 => {
                let (len, rest) = varint(rest)?;
                let len = usize::try_from(len).map_err(|_| MessageDamage::Cut)?;
                let (bytes, rest) = rest.split_at_checked(len).ok_or(MessageDamage::Cut)?;
                (WireValue::Bytes(bytes), rest)
            }
            5 => {
                let (bits, rest) = rest.split_first_chunk().ok_or(MessageDamage::Cut)?;
                (WireValue::Fixed32(u32::from_le_bytes(*bits)), rest)
            }
            _ => return Err(MessageDamage::Invalid),
        };
        self.rest = rest;
        Ok(Some((number, value)))
    }

    /// Bytes that are left.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

/// Splits off a varint. Returns its value and the bytes behind it.
#[inline]
pub(crate) fn varint(bytes: &[u8]) -> Result<(u64, &[u8]), MessageDamage> {
    // Most varints take one byte.
    if let Some((&byte, rest)) = bytes.split_first()
        && byte < 0x80
    {
        return Ok((u64::from(byte), rest));
    }
    let mut value = 0_u64;
    for (at, &byte) in bytes.iter().enumerate().take(MAX_VARINT_LEN) {
        // The last byte has one bit of a `u64`; further ones are dropped, as other readers do.
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte < 0x80 {
            return Ok((value, &bytes[at + 1..]));
        }
    }
    Err(if bytes.len() < MAX_VARINT_LEN { MessageDamage::Cut } else { MessageDamage::Invalid })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(message: &[u8]) -> Result<Vec<(u32, WireValue<'_>)>, MessageDamage> {
        let mut fields = MessageFields::new(message);
        std::iter::from_fn(|| fields.next().transpose()).collect()
    }

    #[test]
    fn fields_of_every_form_are_read() {
        let message = b"\x08\x96\x01\x12\x02hi\x19\x01\0\0\0\0\0\0\0\x25\x02\0\0\0";
        let expected = [
            (1, WireValue::Varint(150)),
            (2, WireValue::Bytes(b"hi")),
            (3, WireValue::Fixed64(1)),
            (4, WireValue::Fixed32(2)),
        ];
        assert_eq!(all(message), Ok(expected.to_vec()));
        let ends = [0, 3, 7, 16, 21];
        for cut in 0..message.len() {
            assert_eq!(all(&message[..cut]).is_ok(), ends.contains(&cut), "cut at {cut}");
        }
    }

    #[test]
    fn what_no_message_has_is_damage() {
        for (message, damage) in [
            (&b"\x00"[..], MessageDamage::Invalid),
            (b"\x0b", MessageDamage::Invalid),
            (b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", MessageDamage::Cut),
            (b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", MessageDamage::Invalid),
            (b"\x08\x80", MessageDamage::Cut),
        ] {
            assert_eq!(all(message), Err(damage), "{message:?}");
        }
    }
}
