//! The layers of a Neuron program as points of the roofline: operations and bytes of the
//! instructions that state the layer, and the time of the stretches in which these follow each
//! other. Operations of the compiler's program (HLO) take their places if no layer is stated.
//! Blocks without products and without bytes are not read.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::NamedColumns;
use super::run::RunFacts;
use crate::base::{Interval, Result};
use crate::block::{BlockColumn, BlockValues, ColumnType};
use crate::makers::class_times::BlockClasses;
use crate::makers::marked_field::MarkedField;
use crate::makers::neuron::marks::{LayerRun, joined};
use crate::makers::neuron::schema::INSTRUCTION;
use crate::makers::window_rows::rows_in_window;
use crate::metrics::{PeakRates, RooflinePoint};
use crate::model::NameId;
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// Fields that name a layer, the best first.
const KEYS: [&str; 2] = ["layer", "hlo_name"];
/// Fields that are summed up: elements of products, bytes read from memory, and bytes written.
const SUMMED: [&str; 3] = ["elements", "hbm_read_bytes", "hbm_write_bytes"];
/// Position of the elements.
const ELEMENTS: usize = 0;
/// Blocks of a task.
const BLOCKS: usize = 64;
/// Points at most, those with the most time.
const MOST_POINTS: usize = 500;

/// The points of layers.
#[derive(Debug, Default)]
pub(super) struct LayerPoints {
    /// Those with the most time first.
    pub(super) points: Vec<RooflinePoint>,
    /// Number of layers.
    pub(super) layers: usize,
    /// Layers without operations or without bytes.
    pub(super) absent: usize,
}

/// The work of a layer.
#[derive(Debug, Clone, Copy, Default)]
struct LayerWork {
    /// Elements of products that compute.
    elements: i128,
    bytes: i128,
}

/// The instructions of all layers that compute products or move bytes.
#[derive(Debug, Default)]
struct LayerSums {
    /// Work by the number of the name of the layer.
    works: FxHashMap<u32, LayerWork>,
    /// Instructions of a layer that follow each other in a block.
    runs: Vec<LayerRun>,
}

/// The points of the layers in the run or in its window. Empty if no instruction states a layer.
pub(super) fn layer_points<B: Bytes>(
    segment: &Segment<B>,
    run: &RunFacts<'_>,
    peak: Option<PeakRates>,
) -> Result<LayerPoints> {
    for key in KEYS {
        let found = points_by(segment, key, run, peak)?;
        if found.layers > 0 {
            return Ok(found);
        }
    }
    Ok(LayerPoints::default())
}

fn points_by<B: Bytes>(
    segment: &Segment<B>,
    key: &str,
    run: &RunFacts<'_>,
    peak: Option<PeakRates>,
) -> Result<LayerPoints> {
    let LayerSums { works, runs } = sums_by(segment, key, run)?;
    let mut times: FxHashMap<u32, (u64, i64)> = FxHashMap::default();
    for layer in joined(runs) {
        let inside = run.window.map_or(layer.span, |window| window.intersection(layer.span));
        if inside.duration_ps() > 0 && !segment.text(NameId(layer.name))?.trim().is_empty() {
            let (count, time_ps) = times.entry(layer.name).or_default();
            (*count, *time_ps) = (*count + 1, time_ps.saturating_add(inside.duration_ps()));
        }
    }
    let mut found = LayerPoints { layers: times.len(), ..LayerPoints::default() };
    for (code, (count, time_ps)) in times {
        let LayerWork { elements, bytes } = works.get(&code).copied().unwrap_or_default();
        if elements <= 0 || bytes <= 0 {
            found.absent += 1;
            continue;
        }
        // Each element is a multiplication and an addition.
        let (flops, bytes) = (2.0 * elements as f64, bytes as f64);
        let least = peak.map(|peak| peak.least_time(flops, bytes));
        let name = segment.text(NameId(code))?.to_owned();
        found.points.push(RooflinePoint { name, count, time_ps, flops, bytes, least, peak });
    }
    found.points.sort_unstable_by(|a, b| b.time_ps.cmp(&a.time_ps).then_with(|| a.name.cmp(&b.name)));
    found.points.truncate(MOST_POINTS);
    Ok(found)
}

/// The work of each layer.
fn sums_by<B: Bytes>(segment: &Segment<B>, key: &str, run: &RunFacts<'_>) -> Result<LayerSums> {
    let Some(table) = NamedColumns::of(segment, INSTRUCTION.name, run.work.cancel) else {
        return Ok(LayerSums::default());
    };
    let reading = LayerReading::of(segment, &table, key);
    let blocks = segment.blocks(table.table())?.len();
    let of_tasks = run.work.gather(blocks.div_ceil(BLOCKS), |task| {
        let mut sums = LayerSums::default();
        for block in task * BLOCKS..blocks.min((task + 1) * BLOCKS) {
            run.work.cancel.check()?;
            if let Some(rows) = reading.read(block, run)? {
                sums.add(&rows);
            }
        }
        Ok(sums)
    })?;
    let mut all = LayerSums::default();
    for of_task in of_tasks {
        all.runs.extend(of_task.runs);
        for (code, work) in of_task.works {
            let sum = all.works.entry(code).or_default();
            *sum = LayerWork { elements: sum.elements + work.elements, bytes: sum.bytes + work.bytes };
        }
    }
    Ok(all)
}

/// The columns of instructions that tell the work of layers.
struct LayerReading<'s, B> {
    segment: &'s Segment<B>,
    table: NamedColumns<'s, B>,
    keys: Vec<usize>,
    summed: [Vec<usize>; SUMMED.len()],
    /// Marks instructions that only transpose data.
    transposes: MarkedField,
}

impl<'s, B: Bytes> LayerReading<'s, B> {
    fn of(segment: &'s Segment<B>, table: &NamedColumns<'s, B>, key: &str) -> Self {
        let columns = |name: &str, is_wanted: fn(ColumnType) -> bool| -> Vec<usize> {
            table.columns(name).filter(|(_, kind)| is_wanted(*kind)).map(|(at, _)| at).collect()
        };
        let is_int = |kind| matches!(kind, ColumnType::Int | ColumnType::Uint);
        Self {
            segment,
            table: *table,
            keys: columns(key, ColumnType::is_code),
            summed: SUMMED.map(|name| columns(name, is_int)),
            transposes: MarkedField::of(table, "instruction_type", 0, |text| u8::from(text == "TRANSPOSE")),
        }
    }

    /// The instructions of a block that have a number. `None` if none has, as in most blocks.
    fn read(&self, block: usize, run: &RunFacts<'_>) -> Result<Option<NumberedRows>> {
        let (segment, table) = (self.segment, self.table.table());
        let mut reader = BlockReader::new(segment, table, block)?;
        let wanted = rows_in_window(segment, table, block, run.window, &mut reader)?;
        if wanted.is_empty() {
            return Ok(None);
        }
        let mut summed = Vec::new();
        for (at, columns) in self.summed.iter().enumerate() {
            for column in columns {
                summed.extend(reader.column(*column)?.map(|column| (at, column)));
            }
        }
        if summed.is_empty() {
            return Ok(None);
        }
        let mut keys = Vec::new();
        for column in &self.keys {
            keys.extend(reader.column(*column)?);
        }
        let transposes = self.transposes.marks(segment, &mut reader)?;
        let starts = reader.core_ints(ColumnRole::Start)?;
        let durations = reader.core_ints(ColumnRole::Duration)?;
        Ok(Some(NumberedRows { wanted, summed, keys, transposes, starts, durations }))
    }
}

/// Columns of a block with numbers.
struct NumberedRows {
    wanted: Range<usize>,
    /// Position in [`SUMMED`], with the numbers.
    summed: Vec<(usize, BlockColumn)>,
    keys: Vec<BlockColumn>,
    transposes: BlockClasses,
    starts: Vec<i64>,
    durations: Vec<i64>,
}

impl LayerSums {
    fn add(&mut self, of: &NumberedRows) {
        let mut last: Option<LayerRun> = None;
        for row in of.wanted.clone() {
            let numbers = || of.summed.iter().filter_map(|(at, column)| Some((*at, int(column, row)?)));
            let code = numbers().next().and_then(|_| of.keys.iter().find_map(|key| int(key, row)));
            let Some(name) = code.and_then(|code| u32::try_from(code).ok()) else { continue };
            let work = self.works.entry(name).or_default();
            for (at, number) in numbers() {
                match at == ELEMENTS {
                    true if of.transposes.of_row(row) == 0 => work.elements += i128::from(number),
                    true => {}
                    false => work.bytes += i128::from(number),
                }
            }
            let span = Interval::lasting(of.starts[row], of.durations[row].max(0));
            match &mut last {
                Some(run) if run.name == name => run.span = run.span.cover(span),
                _ => self.runs.extend(last.replace(LayerRun { name, span })),
            }
        }
        self.runs.extend(last);
    }
}

fn int(column: &BlockColumn, row: usize) -> Option<i64> {
    match column.values() {
        BlockValues::Ints(values) => values.get(column.slot(row)?).copied(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{DrawnInstruction, neuron_rank};
    use super::super::read;
    use crate::base::Interval;
    use crate::exec::Work;
    use crate::makers::neuron::Engine;
    use crate::metrics::{MetricScope, RankMetrics};

    /// The roofline of a rank with a layer that computes and loads, one that only loads, and one
    /// that computes twice.
    fn of(window: Option<Interval>) -> RankMetrics {
        let (tensor, sync) = (Engine::Tensor, Engine::Sync);
        let segment = neuron_rank(
            &[
                DrawnInstruction(sync, "WRITE", "first", 0, 10_000, 0, 4_000),
                DrawnInstruction(tensor, "MATMUL", "first", 10_000, 10_000, 1_000_000, 0),
                DrawnInstruction(sync, "WRITE", "copy", 20_000, 5_000, 0, 4_000),
                DrawnInstruction(tensor, "MATMUL", "second", 30_000, 10_000, 500_000, 0),
                DrawnInstruction(sync, "WRITE", "second", 30_000, 20_000, 0, 1_000),
                DrawnInstruction(tensor, "MATMUL", "second", 90_000, 10_000, 500_000, 0),
                DrawnInstruction(tensor, "MATMUL", "", 100_000, 10_000, 500_000, 0),
            ],
            &[],
            0,
        );
        read(&segment, &MetricScope::within(window), Work::IN_PLACE).unwrap()
    }

    fn points(of: &RankMetrics) -> Vec<(String, f64, f64)> {
        let table = of.tables.iter().find(|table| table.family.key == "roofline").unwrap();
        let at = |name: &str| table.family.metrics.iter().position(|metric| metric.name == name).unwrap();
        let number = |values: &[Option<crate::model::OwnedValue>], name: &str| {
            values[at(name)].as_ref().and_then(crate::model::OwnedValue::float).unwrap()
        };
        let row = |row: &crate::metrics::MetricRow| {
            (row.name.clone(), number(&row.values, "time") * 1e12, number(&row.values, "intensity"))
        };
        table.rows.iter().map(row).map(|(name, time, intensity)| (name, time.round(), intensity)).collect()
    }

    #[test]
    fn layers_with_operations_and_bytes_are_points_and_the_others_are_counted() {
        let of = of(None);
        // 2,500,000 products and 9,000 bytes in all.
        let all = ("all".to_owned(), 110_000.0, 5_000_000.0 / 9_000.0);
        // Nothing else is on the engine between its products.
        let second = ("second".to_owned(), 70_000.0, 2_000.0);
        let first = ("first".to_owned(), 20_000.0, 500.0);
        assert_eq!(points(&of), [all, second, first]);
        let absent = of.absent.iter().find(|absent| absent.key == "roofline_points").unwrap();
        assert_eq!(absent.reason, "1 of 3 layers has no operations or no bytes");
    }

    #[test]
    fn points_of_a_window_are_those_of_its_instructions() {
        let of = of(Some(Interval::new(0, 25_000)));
        let names: Vec<String> = points(&of).into_iter().map(|(name, ..)| name).collect();
        assert_eq!(names, ["all", "first"]);
    }
}
