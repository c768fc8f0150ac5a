//! Profile ids: `n_<40 hex>` for one rank, `p_<40 hex>` for several. The digits are a hash of the
//! inputs.

use std::fmt;
use std::str::FromStr;

use super::Error;

/// Bytes of the hash. 20 bytes give 40 hexadecimal digits, as in neuron-profile's own ids.
pub const HASH_LEN: usize = 20;

/// Identity of a profile. The same inputs give the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProfileId {
    /// Number of ranks, for the prefix: `n_` or `p_`.
    ranks: RankCount,
    hash: [u8; HASH_LEN],
}

/// Whether a profile has one rank or several: the first letter of the id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RankCount {
    /// `n_…`
    One,
    /// `p_…`
    Several,
}

impl ProfileId {
    /// Creates an id from the hash of the inputs.
    #[must_use]
    pub fn new(ranks: RankCount, hash: [u8; HASH_LEN]) -> Self {
        Self { ranks, hash }
    }
}

impl fmt::Display for ProfileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.ranks {
            RankCount::One => "n_",
            RankCount::Several => "p_",
        })?;
        self.hash.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for ProfileId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let invalid = Error::Invalid { what: "a profile id consists of n_ or p_ and 40 hexadecimal digits" };
        let (ranks, hex) = match text.split_at_checked(2).ok_or(invalid)? {
            ("n_", hex) => (RankCount::One, hex),
            ("p_", hex) => (RankCount::Several, hex),
            _ => return Err(invalid),
        };
        if hex.len() != 2 * HASH_LEN || !hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(invalid);
        }
        let mut hash = [0; HASH_LEN];
        for (byte, digits) in hash.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
            let digits = std::str::from_utf8(digits).map_err(|_| invalid)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| invalid)?;
        }
        Ok(Self { ranks, hash })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_back() {
        let id = ProfileId::new(RankCount::Several, [0xa5; HASH_LEN]);
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!(id.to_string().len(), 42);
    }

    #[test]
    fn rejects_what_is_no_id() {
        for text in ["", "n_", "x_00", "n_zz", "n_é", &format!("n_{}", "A".repeat(40)), &"é".repeat(21)] {
            assert!(text.parse::<ProfileId>().is_err(), "{text}");
        }
    }
}
