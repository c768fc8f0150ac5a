//! Rows of the timeline: slices and samples.

use std::collections::HashMap;

use nprof_engine::base::Time;
use nprof_engine::base::time::PS_PER_NS;
use nprof_engine::makers::neuron::schema::{self, DMA, INSTRUCTION, TableSchema};
use nprof_engine::model::{NameId, SliceForm, TableId, TableKind, TrackContent, TrackId};
use nprof_engine::query::{RowContent, RowOrder, TimedRow, for_each_timed};
use nprof_engine::segment::{ArrowEnd, ColumnRole};
use serde_json::Value as Json;

use super::super::arrows::ArrowsAt;
use super::JsonExport;
use super::added_tables::number_or_text;
use super::keys::{FieldKeys, PROCESS};
use crate::export::RowFailure;
use crate::print::number::float;

/// The key of a sample's value in tables that neuron-profile does not have.
const VALUE_KEY: &str = "value";
/// The keys by which neuron-profile's rows name each other.
const ID: &str = "id";
const PREDECESSORS: &str = "predecessors";
/// Tables whose rows have an [`ID`].
static WITH_ID: [&TableSchema; 2] = [&INSTRUCTION, &DMA];

/// The data that all rows of a table share.
struct RowFrame<'a> {
    keys: FieldKeys,
    name_key: &'a str,
    value_key: &'static str,
    /// The keys that each track adds to its rows: `,"track":3,…`.
    of_track: HashMap<TrackId, String>,
    /// True if rows get an [`ID`].
    has_id: bool,
    /// Source of the lists of predecessors, if rows get them.
    predecessors: Option<ArrowsAt<'a>>,
}

impl<'a> JsonExport<'a> {
    pub(super) fn timed(&mut self, table: TableId) -> Result<(), RowFailure> {
        let segment = self.segment;
        let mut shape = self.shape(table)?;
        let order = if segment.footer().tables[usize::from(table.0)].spec.name == DMA.name {
            RowOrder::Track
        } else {
            RowOrder::Time
        };
        let mut separator = "";
        for_each_timed(segment, &[table], order, |row: TimedRow| {
            write!(self.out, "{separator}\n{{\"timestamp\":{}", Time(row.start_ps).floor_ns())?;
            separator = ",";
            match row.content {
                RowContent::Slice { duration_ps, name, form, .. } => {
                    self.slice(&mut shape, &row, duration_ps, name, form)?;
                }
                RowContent::Sample { value } => {
                    write!(self.out, ",{}:", Json::from(shape.value_key))?;
                    let unit = segment.footer().tracks[row.track.0 as usize].spec.unit;
                    float(value, self.precision(unit), self.out)?;
                }
            }
            self.fields(&shape.keys, &row.fields, ",")?;
            let of_track = shape.of_track.get(&row.track).map_or("", String::as_str);
            Ok::<_, RowFailure>(write!(
                self.out,
                ",\"row\":{},\"start_ps\":{}{of_track}}}",
                row.row, row.start_ps
            )?)
        })
    }

    fn slice(
        &mut self,
        shape: &mut RowFrame<'_>,
        row: &TimedRow,
        duration_ps: i64,
        name: NameId,
        form: SliceForm,
    ) -> Result<(), RowFailure> {
        if form != SliceForm::Instant {
            write!(self.out, ",\"duration\":{}", duration_ps.div_euclid(PS_PER_NS))?;
        }
        if !shape.name_key.is_empty() {
            let text = Json::from(self.segment.text(name)?);
            write!(self.out, ",{}:{text}", Json::from(shape.name_key))?;
        }
        if shape.has_id {
            write!(self.out, ",\"{ID}\":{}", row.row)?;
        }
        if let Some(arrows) = &mut shape.predecessors {
            let mut separator = format!(",\"{PREDECESSORS}\":[");
            for arrow in arrows.of(row.track, row.row)? {
                let kind = self.segment.text(arrow.name)?;
                // Other arrows are not dependences between instructions. Table `arrow` has all
                // arrows.
                if kind == schema::FLOW_DEPENDENCE {
                    write!(self.out, "{separator}{{\"id\":{},\"type\":{}}}", arrow.from, Json::from(kind))?;
                    ",".clone_into(&mut separator);
                }
            }
            if separator == "," {
                write!(self.out, "]")?;
            }
        }
        let form = form.name();
        Ok(write!(self.out, ",\"duration_ps\":{duration_ps},\"form\":\"{form}\"")?)
    }

    /// The data that all rows of a table share.
    fn shape(&self, table: TableId) -> Result<RowFrame<'a>, RowFailure> {
        let segment = self.segment;
        let footer = segment.footer();
        let spec = &footer.tables[usize::from(table.0)].spec;
        let value_key = schema::table(&spec.name).map_or(VALUE_KEY, |table| table.value_key);
        let has_ids = self.is_neuron() && WITH_ID.iter().any(|table| table.name == spec.name);
        let has_id = has_ids && !self.has_values(table, ID);
        let lists = has_ids && spec.kind == TableKind::Slices && !self.has_values(table, PREDECESSORS);
        // A stored list uses the ids of its own trace. So lists are computed only if the ids are
        // computed too.
        let predecessors = if lists && has_id { Some(ArrowsAt::new(segment, ArrowEnd::To)?) } else { None };
        let mut further =
            vec![if spec.kind == TableKind::Samples { value_key } else { spec.name_key.as_str() }];
        if !self.is_neuron() {
            further.extend(PROCESS);
        }
        let tracks = self.tracks.ids().filter(|track| segment.table_of(*track) == Some(table));
        Ok(RowFrame {
            keys: FieldKeys::new(footer, table, &further),
            name_key: &spec.name_key,
            value_key,
            of_track: tracks.map(|track| (track, self.of_track(track))).collect(),
            has_id,
            predecessors,
        })
    }

    /// Returns true if any row of the table has a value for a field of this name.
    fn has_values(&self, table: TableId, name: &str) -> bool {
        let footer = self.segment.footer();
        self.segment.columns_of(table).any(|column| match footer.columns[column].role {
            ColumnRole::Field(id) => footer.fields[id.0 as usize].1.name == name,
            _ => false,
        })
    }

    /// The keys that a track adds to its rows.
    fn of_track(&self, track: TrackId) -> String {
        let spec = &self.segment.footer().tracks[track.0 as usize].spec;
        let mut text = format!(",\"track\":{}", track.0);
        let mut add = |key: &str, value: Json| text.push_str(&format!(",\"{key}\":{value}"));
        let origin = self.tracks.origin(track);
        if !self.is_neuron() {
            let path = self.tracks.path(track);
            if let (Some(pid), Some(process)) = (&origin.pid, path.first()) {
                add("process", Json::from(*process));
                add("pid", number_or_text(pid));
            }
            if let Some(tid) = &origin.tid {
                add("thread", Json::from(spec.name.as_str()));
                add("tid", number_or_text(tid));
            }
        }
        if matches!(spec.kind, TrackContent::Counter(_)) {
            add("counter", Json::from(origin.counter.unwrap_or_else(|| spec.name.clone())));
            if let Some(id) = origin.counter_id {
                add("counter_id", Json::from(id));
            }
            if let Some(series) = origin.series {
                add("series", Json::from(series));
            }
            add("unit", Json::from(spec.unit.symbol()));
        }
        text
    }
}
