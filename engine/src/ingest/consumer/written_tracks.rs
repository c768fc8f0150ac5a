//! Parts of a segment that need all tracks: row numbers, the parts of tables, pyramids.

use std::collections::BTreeMap;

use super::assemble::TableAssembler;
use super::group::GroupKey;
use super::track_output::TrackOutput;
use crate::base::Result;
use crate::ingest::encoders::Encoders;
use crate::model::{TableId, TableSpec, TrackId, WarningKind, Warnings};
use crate::segment::{ColumnMeta, PieceWriter, TableMeta, TrackMeta};
use crate::tile::{ClosedPyramid, write_pyramids};

/// A track after all tracks.
const LAST_TRACK: TrackId = TrackId(u32::MAX);

/// The tracks of a build whose rows are written.
pub struct WrittenTracks {
    /// The tracks, in the order of their numbers.
    pub metas: Vec<TrackMeta>,
    outputs: BTreeMap<GroupKey, TrackOutput>,
}

impl WrittenTracks {
    /// The tracks `metas` with what the consumer wrote of them.
    pub fn new(metas: Vec<TrackMeta>, outputs: BTreeMap<GroupKey, TrackOutput>) -> Self {
        Self { metas, outputs }
    }

    /// Numbers all rows in the order of tables and tracks, and writes the parts of tables.
    pub fn assemble(
        &mut self,
        specs: Vec<TableSpec>,
        encoders: &Encoders<'_>,
        writer: &mut PieceWriter<'_>,
    ) -> Result<(Vec<TableMeta>, Vec<ColumnMeta>)> {
        let (mut tables, mut columns) = (Vec::new(), Vec::new());
        let mut first_row = 0;
        for (id, spec) in (0_u16..).map(TableId).zip(specs) {
            let mut table = TableAssembler::default();
            let (first, last) =
                (GroupKey { table: id, track: None }, GroupKey { table: id, track: Some(LAST_TRACK) });
            for (place, output) in self.outputs.range_mut(first..=last) {
                let mut next = first_row + table.rows();
                for packed in &output.packed {
                    if let Some(meta) = packed.track.and_then(|track| self.metas.get_mut(track.0 as usize)) {
                        (meta.first_row, meta.lanes) = (next, packed.lanes);
                        meta.value_range = packed.value_range;
                    }
                    next += packed.rows;
                }
                if !output.packed.is_empty() {
                    table.add(output);
                    continue;
                }
                if let Some(meta) = place.track.and_then(|track| self.metas.get_mut(track.0 as usize)) {
                    meta.first_row = first_row + table.rows();
                    meta.lanes = output.lanes;
                    meta.value_range = output.value_range;
                    (meta.program, meta.totals) = (output.program, output.totals);
                }
                table.add(output);
            }
            let written = table.finish(id, encoders, writer)?;
            tables.push(TableMeta { spec, first_row, rows: written.rows, blocks: written.blocks });
            columns.extend(written.columns);
            first_row += written.rows;
        }
        Ok((tables, columns))
    }

    /// Warns of slices that share the last lane of their track.
    pub fn warn_of_crowded_lanes(&self, warnings: &mut Warnings) {
        for (place, output) in &self.outputs {
            let what = "more slices at one time than a track has lanes; they share the last lane";
            warnings.add_all(WarningKind::AdjustedValue, what, output.crowded, || {
                let track = place.track.and_then(|track| self.metas.get(track.0 as usize));
                track.map_or_else(String::new, |track| format!("track {:?}", track.spec.name))
            });
        }
    }

    /// Writes the pyramids. Returns the tracks, complete.
    pub fn write_pyramids(mut self, writer: &mut PieceWriter<'_>) -> Result<Vec<TrackMeta>> {
        let of_track = |(place, output): (GroupKey, TrackOutput)| Some((place.track?, output.pyramid?));
        let (tracks, mut pyramids): (Vec<TrackId>, Vec<ClosedPyramid>) =
            self.outputs.into_iter().filter_map(of_track).unzip();
        for (track, written) in tracks.iter().zip(write_pyramids(&mut pyramids, writer)?) {
            if let Some(meta) = self.metas.get_mut(track.0 as usize) {
                (meta.pyramid, meta.pyramid_bytes) = written;
            }
        }
        Ok(self.metas)
    }
}
