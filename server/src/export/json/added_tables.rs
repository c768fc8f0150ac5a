//! The tables that nprof adds: tracks, arrows between rows, warnings, and a description of the
//! export.

use nprof_engine::model::{TrackContent, TrackId};
use nprof_engine::tile::groups;
use serde_json::{Map, Value as Json, json};

use super::super::tracks::{self, TrackIds, kind_name};
use super::JsonExport;
use crate::export::RowFailure;
use crate::warnings;

/// The tables' names. A table of the trace with such a name gets an underscore at the end.
pub(super) const NAMES: [&str; 4] = [tracks::TABLE, "arrow", "warning", "export"];

/// The version of this form. It is raised when a key changes its meaning.
const VERSION: u32 = 1;

impl JsonExport<'_> {
    /// Writes the tables of tracks, arrows and warnings.
    pub(super) fn own(&mut self) -> Result<(), RowFailure> {
        let footer = self.segment.footer();
        let (_, shown) = groups(footer);
        // A group of a damaged footer can be its own parent; the page shows nothing of it.
        let mut order = vec![shown.len(); footer.tracks.len()];
        for (place, track) in shown.iter().enumerate() {
            order[track.0 as usize] = place;
        }
        let tracks: Vec<Json> = self.tracks.ids().zip(order).map(|(id, at)| self.track(id, at)).collect();
        self.table(",", tracks::TABLE, &tracks)?;
        self.arrows()?;
        let warnings = warnings::of_rank(self.rank, footer);
        let warnings: Vec<Json> = warnings
            .iter()
            .map(|warning| {
                json!({
                    "kind": warning.kind.title(),
                    "what": warning.what,
                    "count": warning.count,
                    "first_place": warning.first_place,
                })
            })
            .collect();
        Ok(self.table(",", "warning", &warnings)?)
    }

    /// Writes the description of the export. It is the first table, by which nprof recognises its
    /// own exports.
    pub(super) fn description(&mut self) -> Result<(), RowFailure> {
        let footer = self.segment.footer();
        let mut row = Map::new();
        row.insert("version".to_owned(), json!(VERSION));
        row.insert("written_by".to_owned(), json!(concat!("nprof ", env!("CARGO_PKG_VERSION"))));
        row.insert("rank".to_owned(), json!(self.rank.rank));
        row.insert("id".to_owned(), json!(self.rank.id));
        row.insert("source".to_owned(), json!(footer.rank.source));
        row.insert("title".to_owned(), json!(footer.rank.title));
        row.insert("inputs".to_owned(), json!(self.rank.inputs));
        row.insert("first_event_ps".to_owned(), json!(self.first_event_ps));
        if let Some(origin) = footer.rank.origin_unix_ns {
            row.insert("origin_unix_ns".to_owned(), json!(origin));
        }
        if let Some(clock) = self.rank.clock {
            row.insert("clock".to_owned(), json!(clock));
        }
        Ok(self.table("{", "export", &[Json::Object(row)])?)
    }

    /// The row of a track. `sort_index` is its position on the page, among all tracks.
    fn track(&self, id: TrackId, sort_index: usize) -> Json {
        let footer = self.segment.footer();
        let meta = &footer.tracks[id.0 as usize];
        let mut row = Map::new();
        row.insert("track".to_owned(), json!(id.0));
        if let Some(parent) = meta.spec.parent {
            row.insert("parent".to_owned(), json!(parent.0));
        }
        row.insert("sort_index".to_owned(), json!(sort_index));
        row.insert("name".to_owned(), json!(meta.spec.name));
        row.insert("path".to_owned(), json!(self.tracks.path(id)));
        row.insert("kind".to_owned(), json!(kind_name(meta.spec.kind)));
        if let TrackContent::Slices(table, _) | TrackContent::Counter(table) = meta.spec.kind {
            let table = footer.tables.get(usize::from(table.0)).map(|table| table.spec.name.as_str());
            row.insert("table".to_owned(), json!(table));
            row.insert("rows".to_owned(), json!(meta.rows));
            row.insert("lanes".to_owned(), json!(meta.lanes));
        }
        if matches!(meta.spec.kind, TrackContent::Counter(_)) {
            row.insert("unit".to_owned(), json!(meta.spec.unit.symbol()));
        }
        let TrackIds { pid, tid, counter, counter_id, series } = self.tracks.origin(id);
        row.extend(pid.map(|pid| ("pid".to_owned(), number_or_text(&pid))));
        row.extend(tid.map(|tid| ("tid".to_owned(), number_or_text(&tid))));
        row.extend(counter.map(|name| ("counter".to_owned(), json!(name))));
        row.extend(counter_id.map(|id| ("counter_id".to_owned(), json!(id))));
        row.extend(series.map(|name| ("series".to_owned(), json!(name))));
        Json::Object(row)
    }

    fn arrows(&mut self) -> Result<(), RowFailure> {
        self.head(",", "arrow")?;
        let segment = self.segment;
        let mut separator = "";
        let mut failed = None;
        segment.for_each_arrow(|arrow| {
            let name = Json::from(segment.text(arrow.name)?);
            if failed.is_none() {
                let (from, to) = (arrow.from, arrow.to);
                let row = format_args!("{separator}\n{{\"from\":{from},\"to\":{to},\"name\":{name}}}");
                failed = self.out.write_fmt(row).err();
            }
            separator = ",";
            Ok(())
        })?;
        if let Some(error) = failed {
            return Err(error.into());
        }
        Ok(write!(self.out, "\n]")?)
    }
}

/// The id of a process or thread: a number if it is a number in the trace, else text.
pub(super) fn number_or_text(id: &str) -> Json {
    let number = id.parse::<i64>().map(Json::from).or_else(|_| id.parse::<u64>().map(Json::from));
    match number {
        // `007` and `+1` are texts.
        Ok(number) if format!("{number}") == id => number,
        _ => Json::from(id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_numbers_where_they_look_like_them() {
        assert_eq!(number_or_text("-7"), json!(-7));
        assert_eq!(number_or_text("18446744073709551615"), json!(u64::MAX));
        for text in ["007", "+1", "Spans", "", "1.5", "99999999999999999999"] {
            assert_eq!(number_or_text(text), json!(text));
        }
    }
}
