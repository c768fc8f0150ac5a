//! Sums of integer fields over the rows of a table that start in a window, by class. Blocks are
//! shared among all cores.

use std::ops::Range;

use super::NamedColumns;
use crate::base::{Interval, Result};
use crate::block::{BlockColumn, BlockValues, ColumnType};
use crate::exec::Work;
use crate::makers::class_times::{BlockClasses, Class, MOST_CLASSES};
use crate::makers::window_rows::rows_in_window;
use crate::segment::{BlockReader, Bytes, Segment};

/// Blocks of a task.
const BLOCKS: usize = 64;

/// Tells the classes of the rows of a block.
pub type ClassifyBlock<'a, B> = dyn Fn(&mut BlockReader<'_, B>) -> Result<BlockClasses> + Sync + 'a;

/// The rows of a class that have a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FieldSum {
    /// Sum of their values. A sum of 64-bit numbers in memory never overflows.
    sum: i128,
    /// Their number.
    pub rows: u64,
}

/// The sums of a field, by class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClassSums([FieldSum; MOST_CLASSES]);

impl FieldSum {
    /// The sum, or the nearest number.
    pub fn sum(self) -> i64 {
        let nearest = self.sum.clamp(i128::from(i64::MIN), i128::from(i64::MAX));
        i64::try_from(nearest).unwrap_or_default()
    }

    /// The rows of both.
    pub fn and(self, other: Self) -> Self {
        Self { sum: self.sum + other.sum, rows: self.rows + other.rows }
    }
}

impl ClassSums {
    /// The rows of a class.
    pub fn of(&self, class: Class) -> FieldSum {
        self.0[usize::from(class)]
    }

    /// The rows of all classes.
    pub fn all(&self) -> FieldSum {
        self.0.iter().copied().fold(FieldSum::default(), FieldSum::and)
    }

    /// Adds rows of a block that has so many.
    fn add(&mut self, column: &BlockColumn, wanted: Range<usize>, rows: usize, classes: &BlockClasses) {
        let BlockValues::Ints(values) = column.values() else { return };
        if let (BlockClasses::One(class), true) = (classes, wanted.len() == rows) {
            let sum = values.iter().map(|value| i128::from(*value)).sum();
            let of = &mut self.0[usize::from(*class)];
            *of = of.and(FieldSum { sum, rows: values.len() as u64 });
            return;
        }
        for (row, slot) in wanted.filter_map(|row| Some((row, column.slot(row)?))) {
            let of = &mut self.0[usize::from(classes.of_row(row))];
            *of = of.and(FieldSum { sum: values[slot].into(), rows: 1 });
        }
    }
}

/// The sums of these fields over the rows of a table that start in a window, or over all rows.
pub fn field_sums<B: Bytes, const N: usize>(
    segment: &Segment<B>,
    table: &NamedColumns<'_, B>,
    names: [&str; N],
    classify: &ClassifyBlock<'_, B>,
    window: Option<Interval>,
    work: Work<'_>,
) -> Result<[ClassSums; N]> {
    let is_int = |kind: ColumnType| matches!(kind, ColumnType::Int | ColumnType::Uint);
    let columns: [Vec<usize>; N] =
        names.map(|name| table.columns(name).filter(|(_, kind)| is_int(*kind)).map(|(at, _)| at).collect());
    let blocks = segment.blocks(table.table())?.len();
    let of_task = |task: usize| -> Result<[ClassSums; N]> {
        let mut sums = [ClassSums::default(); N];
        for block in task * BLOCKS..blocks.min((task + 1) * BLOCKS) {
            work.cancel.check()?;
            let mut reader = BlockReader::new(segment, table.table(), block)?;
            let wanted = rows_in_window(segment, table.table(), block, window, &mut reader)?;
            if wanted.is_empty() {
                continue;
            }
            let mut classes = None;
            for (sums, columns) in sums.iter_mut().zip(&columns) {
                for &at in columns {
                    let Some(column) = reader.column(at)? else { continue };
                    let known = match classes.take() {
                        Some(known) => known,
                        None => classify(&mut reader)?,
                    };
                    sums.add(&column, wanted.clone(), reader.rows(), &known);
                    classes = Some(known);
                }
            }
        }
        Ok(sums)
    };
    let mut all = [ClassSums::default(); N];
    for of_task in work.gather(blocks.div_ceil(BLOCKS), of_task)? {
        for (all, of_task) in all.iter_mut().zip(of_task) {
            all.0.iter_mut().zip(of_task.0).for_each(|(sum, of)| *sum = sum.and(of));
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::exec::Cancel;
    use crate::ingest::{BuildOptions, Builder};
    use crate::makers::marked_field::MarkedField;
    use crate::model::{
        FieldSpec, Nesting, Sink, SliceForm, SliceRecord, TableKind, TableSpec, TrackSpec, Value,
    };
    use crate::spill::MemoryScratch;

    const KINDS: [&str; 3] = ["packet", "transfer", "other"];

    /// The sums of a field by the mark of another one, both in a rank with these rows.
    fn summed(rows: &[(Option<i64>, Option<usize>)]) -> [FieldSum; 3] {
        let (scratch, mut bytes) = (MemoryScratch::default(), Vec::new());
        let mut sink = Builder::new(&scratch, &mut bytes, BuildOptions::default()).unwrap();
        let table = sink.table(TableSpec::new("dma", TableKind::Slices, "")).unwrap();
        let size = sink.field(table, FieldSpec::named("size")).unwrap();
        let kind = sink.field(table, FieldSpec::named("kind")).unwrap();
        let track = sink.track(TrackSpec::slices("any", None, table, Nesting::Concurrent, 0)).unwrap();
        let name = sink.name("x").unwrap();
        for (at, (of_size, of_kind)) in (0..).zip(rows) {
            let fields: Vec<_> = of_size
                .map(|of| (size, Value::Int(of)))
                .into_iter()
                .chain(of_kind.map(|of| (kind, Value::Text(KINDS[of]))))
                .collect();
            let form = SliceForm::Complete;
            sink.slice(&SliceRecord { track, start_ps: at, duration_ps: 1, name, form, fields: &fields })
                .unwrap();
        }
        sink.finish().unwrap();
        let segment = Segment::open(bytes).unwrap();
        let table = NamedColumns::of(&segment, "dma", Cancel::NEVER).unwrap();
        let mark = |text: &str| u8::try_from(KINDS.iter().position(|kind| *kind == text).unwrap()).unwrap();
        let marked = MarkedField::of(&table, "kind", 2, mark);
        let marks = |block: &mut BlockReader<'_, _>| marked.marks(&segment, block);
        let [sums] = field_sums(&segment, &table, ["size"], &marks, None, Work::IN_PLACE).unwrap();
        assert_eq!(sums.all().rows, rows.iter().filter(|row| row.0.is_some()).count() as u64);
        [0, 1, 2].map(|mark| sums.of(mark))
    }

    proptest! {
        #[test]
        fn each_value_counts_with_the_mark_of_its_row(
            rows in prop::collection::vec(
                (prop::option::of(any::<i64>()), prop::option::of(0..3_usize)),
                1..60,
            ),
        ) {
            let mut expected = [FieldSum::default(); 3];
            for (size, kind) in &rows {
                let of = &mut expected[kind.unwrap_or(2)];
                if let Some(size) = size {
                    *of = of.and(FieldSum { sum: i128::from(*size), rows: 1 });
                }
            }
            prop_assert_eq!(summed(&rows), expected);
        }
    }

    #[test]
    fn rows_of_one_kind_are_summed_together() {
        let rows: Vec<_> = (0..5_000).map(|at| (Some(at), Some(1))).collect();
        let [packets, transfers, _] = summed(&rows);
        assert_eq!((packets.rows, transfers.rows, transfers.sum()), (0, 5_000, 12_497_500));
    }
}
