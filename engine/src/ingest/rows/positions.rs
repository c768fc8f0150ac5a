//! Positions of the columns of a group, by field and type.

use rustc_hash::FxHashMap;

use crate::block::ColumnType;
use crate::model::FieldId;

/// For each field and type, the position of the column plus one; 0 if there is none.
#[derive(Debug, Default, Clone)]
pub struct Positions {
    /// Positions of the first [`NEAR_FIELDS`] fields of the rank.
    near: Vec<u32>,
    /// Positions of the other fields. Their numbers can be large in every track.
    far: FxHashMap<usize, u32>,
}

/// Approximate bytes of a position that is found by hashing.
const FAR_BYTES: usize = 24;
/// Fields whose columns are found without hashing.
const NEAR_FIELDS: usize = 128;

impl Positions {
    /// Approximate bytes in memory.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.near.len() * size_of::<u32>() + self.far.len() * FAR_BYTES
    }

    /// The position of a column.
    pub fn of(&mut self, field: FieldId, kind: ColumnType) -> &mut u32 {
        let at = field.0 as usize * ColumnType::ALL.len() + kind as usize;
        if at >= NEAR_FIELDS * ColumnType::ALL.len() {
            return self.far.entry(at).or_default();
        }
        if at >= self.near.len() {
            self.near.resize(at + 1, 0);
        }
        &mut self.near[at]
    }
}
