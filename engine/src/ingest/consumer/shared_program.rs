//! Programs that the tracks of a table share, and the program of a track as it is written.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::Result;
use crate::block::ColumnType;
use crate::ingest::rows::RowBuffer;
use crate::model::{Schedule, ScheduledSlice, TableId};
use crate::segment::{ColumnRole, MAX_CODES, Piece, PieceWriter, Predicted, Program, ProgramColumn};

/// Positions of the gaps, the names and the keys in the columns of a shared program.
const GAPS: usize = 0;
const NAMES: usize = 2;
const KEYS: usize = 3;

/// A program that the tracks of a table share. The codes are the positions of a schedule.
#[derive(Debug)]
pub struct SharedProgram(Program);

/// The program of a track as it is written.
#[derive(Debug)]
pub enum TrackProgram {
    /// The bytes of its own program; empty without one.
    Own(Vec<u8>),
    /// The program that the tracks of its table share.
    Shared(Arc<SharedProgram>),
}

/// Pieces of the shared programs that are written, by table.
pub type SharedPieces = BTreeMap<TableId, Piece>;

impl Default for TrackProgram {
    fn default() -> Self {
        Self::Own(Vec::new())
    }
}

impl TrackProgram {
    /// Whether other tracks have the same program.
    pub fn is_shared(&self) -> bool {
        matches!(self, Self::Shared(_))
    }

    /// Writes the program of a track of this table, if it has one. The first track with a shared
    /// program writes it.
    pub fn write(
        &self,
        table: TableId,
        pieces: &mut SharedPieces,
        writer: &mut PieceWriter<'_>,
    ) -> Result<Piece> {
        match (self, pieces.get(&table)) {
            (Self::Own(bytes), _) => writer.piece_of(bytes),
            (Self::Shared(_), Some(&piece)) => Ok(piece),
            (Self::Shared(shared), None) => {
                let mut bytes = Vec::new();
                shared.program().encode(&mut bytes);
                let piece = writer.piece(&bytes)?;
                pieces.insert(table, piece);
                Ok(piece)
            }
        }
    }
}

impl SharedProgram {
    /// The program of a schedule. `None` if it has too many slices, or none.
    pub fn of(schedule: &Schedule) -> Option<Self> {
        let slices = &schedule.slices;
        if slices.is_empty() || slices.len() > MAX_CODES {
            return None;
        }
        let column = |of, value: fn(&ScheduledSlice) -> i64| ProgramColumn {
            of,
            present: None,
            values: slices.iter().map(value).collect(),
        };
        let gaps = ProgramColumn {
            present: Some(slices.iter().map(|slice| slice.gap_ps.is_some()).collect()),
            ..column(Predicted::GapAfterEnd, |slice| slice.gap_ps.unwrap_or_default())
        };
        let key = (ColumnRole::Field(schedule.key), ColumnType::Int);
        let columns = vec![
            gaps,
            column(Predicted::End, |slice| slice.end_ps),
            column(Predicted::Column(ColumnRole::Name, ColumnType::Text), |slice| i64::from(slice.name.0)),
            column(Predicted::Column(key.0, key.1), |slice| slice.key),
        ];
        Some(Self(Program { key, successors: slices.iter().map(|slice| slice.next).collect(), columns }))
    }

    /// The program itself.
    pub fn program(&self) -> &Program {
        &self.0
    }

    /// Codes of rows with these keys. `None` if a row has no code.
    pub fn codes(&self, rows: &RowBuffer, keys: &[i64]) -> Option<Vec<u32>> {
        let mut usual = 0_u32;
        let mut codes = Vec::with_capacity(keys.len());
        for (at, (&key, &name)) in keys.iter().zip(&rows.names).enumerate() {
            let is_it = self.is_slice(usual, key, name) && self.begins_as_stated(usual, rows, at);
            let code = if is_it { usual } else { self.code(key, name)? };
            if !is_it && !self.begins_as_stated(code, rows, at) {
                return None;
            }
            codes.push(code);
            usual = self.0.successors[code as usize];
        }
        Some(codes)
    }

    fn is_slice(&self, code: u32, key: i64, name: i64) -> bool {
        let code = code as usize;
        self.0.columns[KEYS].values[code] == key && self.0.columns[NAMES].values[code] == name
    }

    /// Whether a row begins where the row before ends, if its code says so.
    fn begins_as_stated(&self, code: u32, rows: &RowBuffer, row: usize) -> bool {
        let varies = self.0.columns[GAPS].usual(code).is_some();
        let follows = |before: usize| rows.starts[row] == rows.starts[before] + rows.durations[before];
        // The first row of a block states its start.
        varies || row.checked_sub(1).is_none_or(follows)
    }

    /// The last code of a key and a name, or the last code of the key if the name is unknown.
    fn code(&self, key: i64, name: i64) -> Option<u32> {
        let keys = &self.0.columns[KEYS].values;
        let first = keys.partition_point(|&other| other < key);
        let count = keys[first..].iter().take_while(|&&other| other == key).count();
        let names = &self.0.columns[NAMES].values[first..first + count];
        let at = names.iter().rposition(|&other| other == name).or(count.checked_sub(1))?;
        u32::try_from(first + at).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{FieldId, NameId};

    /// Key, name, gap and next slice.
    type Slice = (i64, u32, Option<i64>, u32);

    fn program(slices: &[Slice]) -> SharedProgram {
        let slice = |&(key, name, gap_ps, next): &Slice| ScheduledSlice {
            key,
            name: NameId(name),
            end_ps: 0,
            gap_ps,
            next,
        };
        let slices = slices.iter().map(slice).collect();
        SharedProgram::of(&Schedule { key: FieldId(0), slices }).unwrap()
    }

    /// Codes of rows with these keys, names, starts and ends.
    fn codes(shared: &SharedProgram, of: &[(i64, i64, i64, i64)]) -> Option<Vec<u32>> {
        let mut rows = RowBuffer::default();
        rows.names = of.iter().map(|row| row.1).collect();
        rows.starts = of.iter().map(|row| row.2).collect();
        rows.durations = of.iter().map(|row| row.3 - row.2).collect();
        shared.codes(&rows, &of.iter().map(|row| row.0).collect::<Vec<i64>>())
    }

    #[test]
    fn rows_that_follow_have_the_next_code_and_others_the_last_of_their_name() {
        let shared = program(&[
            (1, 7, Some(4), 1),
            (1, 5, None, 3),
            (1, 5, Some(9), 3),
            (2, 6, Some(4), 4),
            (2, 5, None, 0),
        ]);
        let codes = |of: &[_]| codes(&shared, of);
        let usual = [(1, 7, 0, 10), (1, 5, 10, 12), (2, 6, 20, 30), (2, 5, 30, 32)];
        assert_eq!(codes(&usual), Some(vec![0, 1, 3, 4]));
        assert_eq!(codes(&usual[1..]), Some(vec![2, 3, 4]), "without a wait before");
        assert_eq!(codes(&[usual[0], (1, 5, 11, 12)]), Some(vec![0, 2]), "later than the end before");
        assert_eq!(codes(&[usual[2], (2, 5, 31, 32)]), None, "no code for a later start");
        assert_eq!(codes(&[(1, 6, 0, 1), (2, 9, 1, 2)]), Some(vec![2, 4]), "unknown names");
        assert_eq!(codes(&[usual[0], (3, 5, 10, 12)]), None, "an unknown key");
        assert_eq!(codes(&[]), Some(Vec::new()));
    }

    #[test]
    fn a_schedule_without_slices_makes_no_program() {
        assert!(SharedProgram::of(&Schedule { key: FieldId(0), slices: Vec::new() }).is_none());
    }
}
