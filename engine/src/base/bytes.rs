//! A checked little-endian cursor, and its writing counterpart.
//!
//! Every length that is read is compared with the remaining bytes before anything is allocated.

use super::{Error, Result};

/// Longest encoding of a `u64` as a base-128 varint.
const VARINT_MAX_LEN: usize = 10;

/// Reads forward through bytes; every read is checked.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Offset of `bytes` in the file, for messages.
    base: u64,
    what: &'static str,
}

impl<'a> Cursor<'a> {
    /// Creates a cursor over `bytes`, which begin at `base` in the file. `what` names their part of
    /// the file.
    #[must_use]
    pub fn new(bytes: &'a [u8], base: u64, what: &'static str) -> Self {
        Self { bytes, at: 0, base, what }
    }

    /// Number of bytes that are left.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Error for bytes at the cursor that contradict the format.
    #[must_use]
    pub fn corrupt(&self) -> Error {
        Error::Corrupt { what: self.what, offset: self.base + self.at as u64 }
    }

    /// The next `len` bytes.
    #[inline]
    pub fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        let taken = rest.get(..len).ok_or(Error::Truncated {
            needed: self.base + (self.at as u64).saturating_add(len as u64),
            available: self.base + self.bytes.len() as u64,
        })?;
        self.at += len;
        Ok(taken)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    /// Reads one byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    /// Reads two bytes.
    #[inline]
    pub fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    /// Reads four bytes.
    #[inline]
    pub fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// Reads eight bytes.
    #[inline]
    pub fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// Reads a base-128 varint.
    ///
    /// # Errors
    /// `Truncated` at the end, `Corrupt` if the number does not fit 64 bits.
    #[inline]
    pub fn varint(&mut self) -> Result<u64> {
        // Most varints take one byte.
        if let Some(&byte) = self.bytes.get(self.at).filter(|&&byte| byte < 0x80) {
            self.at += 1;
            return Ok(u64::from(byte));
        }
        self.long_varint()
    }

    fn long_varint(&mut self) -> Result<u64> {
        let mut value = 0_u64;
        for index in 0..VARINT_MAX_LEN {
            let byte = self.u8()?;
            let bits = u64::from(byte & 0x7f);
            if index == VARINT_MAX_LEN - 1 && bits > 1 {
                return Err(self.corrupt());
            }
            value |= bits << (7 * index);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(self.corrupt())
    }

    /// Reads a varint that must fit 32 bits.
    ///
    /// # Errors
    /// Same as [`Cursor::varint`]; `Corrupt` if the number does not fit 32 bits.
    #[inline]
    pub fn varint_u32(&mut self) -> Result<u32> {
        u32::try_from(self.varint()?).map_err(|_| self.corrupt())
    }

    /// Reads a signed varint (zigzag).
    pub fn signed(&mut self) -> Result<i64> {
        Ok(unzigzag(self.varint()?))
    }

    /// Reads a count of items that take at least `min_len` bytes each. The count is checked against
    /// the remaining bytes, so that allocating for it is safe. `min_len` 0 counts as 1.
    ///
    /// # Errors
    /// Same as [`Cursor::varint`]; `Truncated` if the remaining bytes cannot hold the items.
    pub fn count(&mut self, min_len: usize) -> Result<usize> {
        let count = self.varint()?;
        let needed = count.saturating_mul(min_len.max(1) as u64);
        if needed > self.remaining() as u64 {
            return Err(Error::Truncated {
                needed: self.base.saturating_add(self.at as u64).saturating_add(needed),
                available: self.base + self.bytes.len() as u64,
            });
        }
        usize::try_from(count).map_err(|_| self.corrupt())
    }

    /// Reads a length-prefixed run of bytes.
    pub fn bytes(&mut self) -> Result<&'a [u8]> {
        let len = self.count(1)?;
        self.take(len)
    }

    /// Reads length-prefixed UTF-8.
    ///
    /// # Errors
    /// Same as [`Cursor::count`]; `Corrupt` if the bytes are not UTF-8.
    pub fn text(&mut self) -> Result<&'a str> {
        let bytes = self.bytes()?;
        std::str::from_utf8(bytes).map_err(|_| self.corrupt())
    }

    /// Asserts that everything has been read.
    ///
    /// # Errors
    /// `Corrupt` if bytes are left.
    pub fn finish(&self) -> Result<()> {
        if self.remaining() == 0 { Ok(()) } else { Err(self.corrupt()) }
    }
}

/// Appends the values that [`Cursor`] reads.
pub trait Put {
    /// Appends a base-128 varint.
    fn put_varint(&mut self, value: u64);
    /// Appends a signed varint (zigzag).
    fn put_signed(&mut self, value: i64);
    /// Appends a length-prefixed run of bytes.
    fn put_bytes(&mut self, bytes: &[u8]);
    /// Appends length-prefixed UTF-8.
    fn put_text(&mut self, text: &str) {
        self.put_bytes(text.as_bytes());
    }
}

impl Put for Vec<u8> {
    #[expect(clippy::cast_possible_truncation, reason = "each byte takes the low seven bits on purpose")]
    fn put_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.push(value as u8);
    }

    fn put_signed(&mut self, value: i64) {
        self.put_varint(zigzag(value));
    }

    fn put_bytes(&mut self, bytes: &[u8]) {
        self.put_varint(bytes.len() as u64);
        self.extend_from_slice(bytes);
    }
}

/// Maps small magnitudes to small numbers: 0, -1, 1, -2 … become 0, 1, 2, 3 …
#[must_use]
#[expect(clippy::cast_sign_loss, reason = "the bits are what is wanted")]
pub fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// The inverse of [`zigzag`].
#[must_use]
#[expect(clippy::cast_possible_wrap, reason = "the bits are what is wanted")]
pub fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_put_is_read(numbers in prop::collection::vec(any::<i64>(), 0..50), text in ".*") {
            let mut bytes = Vec::new();
            bytes.put_varint(numbers.len() as u64);
            numbers.iter().for_each(|&n| bytes.put_signed(n));
            bytes.put_text(&text);
            let mut cursor = Cursor::new(&bytes, 0, "test");
            let count = cursor.count(1).unwrap();
            let read: Vec<i64> = (0..count).map(|_| cursor.signed().unwrap()).collect();
            prop_assert_eq!(read, numbers);
            prop_assert_eq!(cursor.text().unwrap(), text.as_str());
            prop_assert!(cursor.finish().is_ok());
        }

        #[test]
        fn any_bytes_end_in_a_value_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut cursor = Cursor::new(&bytes, 7, "test");
            while cursor.remaining() > 0 {
                if cursor.text().is_err() && cursor.varint().is_err() { break; }
            }
        }
    }

    #[test]
    fn a_huge_count_is_refused_before_allocation() {
        let mut bytes = Vec::new();
        bytes.put_varint(u64::MAX);
        assert!(matches!(Cursor::new(&bytes, 0, "test").count(8), Err(Error::Truncated { .. })));
    }

    #[test]
    fn an_overlong_varint_is_corrupt() {
        assert!(matches!(Cursor::new(&[0xff; 11], 0, "test").varint(), Err(Error::Corrupt { .. })));
    }
}
