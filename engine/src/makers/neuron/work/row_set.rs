//! A set of rows. Rows are looked up in their order, so a bit for each touches less memory than a
//! hash table.

const WORD_BITS: u32 = u64::BITS;

/// A set of rows: one bit for each row up to the highest.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RowSet {
    words: Vec<u64>,
}

impl RowSet {
    pub(super) fn contains(&self, row: u32) -> bool {
        let word = self.words.get((row / WORD_BITS) as usize);
        word.is_some_and(|word| word >> (row % WORD_BITS) & 1 != 0)
    }
}

impl FromIterator<u32> for RowSet {
    fn from_iter<I: IntoIterator<Item = u32>>(rows: I) -> Self {
        let mut words = Vec::new();
        for row in rows {
            let at = (row / WORD_BITS) as usize;
            if words.len() <= at {
                words.resize(at + 1, 0);
            }
            words[at] |= 1 << (row % WORD_BITS);
        }
        Self { words }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_the_rows_that_came_in_any_order() {
        let rows = [130, 0, 63, 64, 130];
        let set: RowSet = rows.into_iter().collect();
        let found: Vec<u32> = (0..300).filter(|row| set.contains(*row)).collect();
        assert_eq!(found, [0, 63, 64, 130]);
        assert!(!set.contains(u32::MAX) && !RowSet::default().contains(0));
    }
}
