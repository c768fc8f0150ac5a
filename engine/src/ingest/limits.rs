//! Limits of what a build keeps in memory until its end: something for each track, table, field and
//! text. Their memory is taken from the memory for sorting, which goes to the scratch space then.
//! Readers of traces put what is beyond a limit elsewhere. The format limits tables, fields and
//! tracks.

use crate::base::{Error, Result};
use crate::model::{FieldId, ScheduledSlice, TableId, TrackId};
use crate::segment::{MAX_FIELDS, MAX_TABLES, MAX_TRACKS};

/// Most different names that a reader sends. All further names become [`MORE_NAMES`].
pub const MAX_NAMES: u32 = 6 << 20;
/// The name in place of names that are too many.
pub const MORE_NAMES: &str = "(one of too many names)";
/// Warning that counts them.
pub const TOO_MANY_NAMES: &str = "more different names than a rank can have; this one is not kept";
/// Approximate bytes of memory of a track besides its texts: in the reader, the relay, the builder
/// and the footer.
pub const TRACK_BYTES: usize = 1 << 10;
/// Copies of a track's name in memory, about.
pub const NAME_COPIES: usize = 4;
/// Warning that counts dropped flow points.
pub const TOO_MANY_POINTS: &str = "more flow points than a rank can have; this one gets no arrow";
/// Approximate bytes of memory of a flow point, with what is needed to sort the points.
pub const POINT_BYTES: usize = 96;
/// Bytes of memory of a slice of a schedule, and of its entry in the program made of it.
pub const SLICE_BYTES: usize = size_of::<ScheduledSlice>() + 4 * size_of::<i64>() + size_of::<u32>();
/// Approximate bytes of memory of a text of the dictionary besides its characters.
pub const TEXT_BYTES: usize = 20;

/// Number of the next table after `known` ones.
pub fn next_table(known: usize) -> Result<TableId> {
    let id = u16::try_from(known).ok().filter(|&id| id < MAX_TABLES);
    id.map(TableId).ok_or(Error::Invalid { what: "more than 4,096 tables in one rank" })
}

/// Number of the next field after `known` ones of all tables.
pub fn next_field(known: usize) -> Result<FieldId> {
    let id = u32::try_from(known).ok().filter(|&id| id < MAX_FIELDS);
    id.map(FieldId).ok_or(Error::Invalid { what: "more than 65,536 fields in one rank" })
}

/// Number of the next track after `known` ones.
pub fn next_track(known: usize) -> Result<TrackId> {
    let id = u32::try_from(known).ok().filter(|&id| id < MAX_TRACKS);
    id.map(TrackId).ok_or(Error::Invalid { what: "more than 262,144 tracks in one rank" })
}

/// Most bytes of tracks, texts and flow points that stay in memory, if this many are for sorting.
/// Beyond the limit, new names become [`MORE_NAMES`], and flow points are dropped.
pub fn kept_bytes(sort_bytes: usize) -> usize {
    const LEAST: usize = if cfg!(test) { 1 << 20 } else { 16 << 20 };
    (sort_bytes + sort_bytes / 6).max(LEAST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{BuildOptions, Builder};
    use crate::model::{
        Bind, FlowPhase, FlowPoint, NameId, Nesting, Sink, SliceForm, SliceRecord, TableKind, TableSpec,
        TrackSpec,
    };
    use crate::segment::Segment;
    use crate::spill::MemoryScratch;

    fn table(name: &str) -> TableSpec {
        TableSpec::new(name, TableKind::Slices, "")
    }

    #[test]
    fn names_and_flow_points_beyond_the_memory_are_counted() {
        let (scratch, mut file) = (MemoryScratch::default(), Vec::new());
        let options = BuildOptions { sort_bytes: 1000, ..BuildOptions::default() };
        let mut builder = Builder::new(&scratch, &mut file, options).unwrap();
        let of = builder.table(table("slices")).unwrap();
        let track = builder.track(TrackSpec::slices("a", None, of, Nesting::Calls, 0)).unwrap();
        let text = |at: i64| format!("{at:0>200}");
        for at in 0..90_000 {
            let name = builder.name(&text(at)).unwrap();
            let record = SliceRecord {
                track,
                start_ps: at,
                duration_ps: 1,
                name,
                form: SliceForm::Complete,
                fields: &[],
            };
            builder.slice(&record).unwrap();
        }
        let name = builder.name(&text(1)).unwrap();
        let bind = Bind::Enclosing;
        let point = FlowPoint { track, time_ps: 1, key: 1, phase: FlowPhase::Start, bind, name };
        builder.flow_point(point).unwrap();
        let built = builder.finish().unwrap();
        let counts: Vec<(&str, u64)> =
            built.warnings.iter().map(|warning| (warning.what.as_str(), warning.count)).collect();
        assert!(matches!(counts[..], [(TOO_MANY_POINTS, 1), (TOO_MANY_NAMES, 1..60_000)]), "{counts:?}");
        let segment = Segment::open(file).unwrap();
        let texts =
            (0..segment.footer().dictionary.texts).map(|at| segment.text(NameId(at)).unwrap().to_owned());
        let texts: Vec<String> = texts.collect();
        assert_eq!(texts.last().map(String::as_str), Some(MORE_NAMES));
        assert_eq!(texts[1], text(1), "the first names are kept");
    }

    #[test]
    fn too_many_tables_are_an_error() {
        let (scratch, mut file) = (MemoryScratch::default(), Vec::new());
        let mut builder = Builder::new(&scratch, &mut file, BuildOptions::default()).unwrap();
        let made = (0..=MAX_TABLES).map(|at| builder.table(table(&at.to_string())));
        let made: Vec<Result<TableId>> = made.collect();
        assert!(made[..usize::from(MAX_TABLES)].iter().all(Result::is_ok));
        assert_eq!(made.last(), Some(&Err(Error::Invalid { what: "more than 4,096 tables in one rank" })));
        assert_eq!(builder.table(table("7")), Ok(TableId(7)));
    }
}
