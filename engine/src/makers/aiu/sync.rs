//! The mark of a step in its name: `[sync=<instance>_s<source>_r<destination>_<number>]`. The
//! destination is a rank, or a mask of ranks in hexadecimal digits.

/// Begin of the mark.
const MARK: &str = "[sync=";

/// The ranks and the number of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sync {
    /// The rank that sends.
    pub source: u32,
    /// The rank that receives, if it is one.
    pub one: Option<u32>,
    /// A bit for each rank that receives, if they are several.
    pub mask: Option<u64>,
    /// Number of the step in its operation. Zero if it is no number.
    pub number: u32,
}

impl Sync {
    /// Reads the mark in the name of a slice. `None` if there is none, or if it names no ranks.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        let inside = name[name.find(MARK)? + MARK.len()..].split(']').next()?;
        let mut parts = inside.rsplit('_');
        let number = parts.next()?.parse().unwrap_or(0);
        let (destination, source) = (parts.next()?, parts.next()?);
        let mask = destination.strip_prefix("r0x").and_then(|mask| u64::from_str_radix(mask, 16).ok());
        let one = destination.strip_prefix('r').and_then(|rank| rank.parse().ok());
        let source = source.strip_prefix('s')?.parse().ok()?;
        (mask.is_some() || one.is_some()).then_some(Self { source, one, mask, number })
    }

    /// The ranks that receive.
    pub fn destinations(self) -> impl Iterator<Item = u32> {
        let of_mask = (0..u64::BITS).filter(move |bit| self.mask.is_some_and(|mask| mask >> bit & 1 == 1));
        self.one.into_iter().chain(of_mask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_ranks() {
        let ranks = |name: &str| {
            let sync = Sync::of(name)?;
            Some((sync.source, sync.destinations().collect::<Vec<u32>>(), sync.number))
        };
        assert_eq!(ranks("Recv_8 [5B] [sync=All_reduce_4_s2_r3_4] DmaI"), Some((2, vec![3], 4)));
        assert_eq!(ranks("Send_8 [sync=All_4_s3_r0x7_6] DmaO"), Some((3, vec![0, 1, 2], 6)));
        assert_eq!((ranks("Add_1 Cmpt Exec"), ranks("[sync="), ranks("[sync=a_b_c_1]")), (None, None, None));
    }
}
