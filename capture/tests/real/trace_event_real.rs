//! Compares the store of real traces, track by track, with an independent count over the file's own
//! JSON. The Python script `tests/oracle/count_trace.py` makes the count.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use nprof_capture::archive::{FileBytes, InMemory, open};
use nprof_capture::formats::trace_event;
use nprof_engine::base::Error;
use nprof_engine::ingest::{BuildOptions, Builder};
use nprof_engine::model::{OwnedValue, Role, SliceForm, TrackContent, TrackId, WarningKind};
use nprof_engine::query;
use nprof_engine::segment::{ColumnRole, Segment, TrackMeta};
use nprof_engine::spill::MemoryScratch;
use serde::Deserialize;

/// Totals of a track: slices, instants, samples, and picoseconds of all slices together.
type Track = (u64, u64, u64, i128);

/// Compared totals of a trace.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
struct Counts {
    /// Tracks by `pid/tid` for threads, `pid|name` for other tracks of a process.
    tracks: BTreeMap<String, Track>,
    /// Arrows that flow events draw.
    arrows: u64,
    /// Flow events that no arrow could be drawn from.
    lost: u64,
}

/// The independent counts, one for each file. The inner `None` means that Python's own reader does
/// not accept the file.
fn counted(paths: &[PathBuf]) -> Option<Vec<Option<Counts>>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/oracle/count_trace.py");
    let done = match Command::new("python3").arg(script).args(paths).output() {
        Ok(done) => done,
        Err(error) => {
            println!("skipped: python3 cannot be run ({error})");
            return None;
        }
    };
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let lines = String::from_utf8(done.stdout).unwrap();
    Some(lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// The store of a trace; `None` if the reader refuses it.
fn stored(bytes: &[u8]) -> Option<Segment<Vec<u8>>> {
    let scratch = MemoryScratch::default();
    let mut file = Vec::new();
    let mut builder = Builder::new(&scratch, &mut file, BuildOptions::default()).unwrap();
    trace_event::read(&mut &*bytes, trace_event::Context::default(), &mut builder, &mut |_| {}).ok()?;
    builder.finish().unwrap();
    Some(Segment::open(file).unwrap())
}

fn found(segment: &Segment<Vec<u8>>) -> Counts {
    let mut counts = Counts::default();
    let (owners, mut names) = (owners(segment), BTreeSet::new());
    for (id, track) in (0..).map(TrackId).zip(&segment.footer().tracks) {
        if track.rows > 0 {
            let name = match owners.get(&i64::from(id.0)) {
                None => track.spec.name.clone(),
                Some((pid, Some(tid))) => format!("{pid}/{tid}"),
                Some((pid, None)) => format!("{pid}|{}", track.spec.name),
            };
            // A stream and its annotations are one thread of the trace.
            let is_annotation = track.spec.identity.role == Role::Annotations;
            assert!(names.insert((name.clone(), is_annotation)), "two tracks of a name");
            let (slices, instants, samples, durations_ps) = content(segment, id, track);
            let sum = counts.tracks.entry(name).or_default();
            *sum = (sum.0 + slices, sum.1 + instants, sum.2 + samples, sum.3 + durations_ps);
        }
    }
    let is_drawn_here = |name| segment.text(name).unwrap() == "correlation";
    segment
        .for_each_arrow(|arrow| {
            counts.arrows += u64::from(!is_drawn_here(arrow.name));
            Ok(())
        })
        .unwrap();
    let unbound = segment.footer().warnings.iter().filter(|warning| warning.kind == WarningKind::UnboundFlow);
    counts.lost = unbound.map(|warning| warning.count).sum();
    counts
}

/// The process and the thread of each track.
fn owners(segment: &Segment<Vec<u8>>) -> BTreeMap<i64, (String, Option<String>)> {
    let mut owners = BTreeMap::new();
    let Some(table) = segment.table("track") else { return owners };
    let fields = &segment.footer().fields;
    query::fields::for_each_row(segment, table, |_, row| {
        let (mut track, mut pid, mut tid) = (None, None, None);
        for (id, value) in row {
            match (fields[id.0 as usize].1.name.as_str(), value) {
                ("track", OwnedValue::Int(value)) => track = Some(value),
                ("pid", OwnedValue::Text(text)) => pid = Some(text),
                ("tid", OwnedValue::Text(text)) => tid = Some(text),
                ("counter" | "counter_id" | "series", OwnedValue::Text(_)) => {}
                other => panic!("{other:?} in the table of tracks"),
            }
        }
        owners.insert(track.unwrap(), (pid.unwrap(), tid));
        Ok::<_, Error>(())
    })
    .unwrap();
    owners
}

fn content(segment: &Segment<Vec<u8>>, id: TrackId, track: &TrackMeta) -> Track {
    let TrackContent::Slices(table, _) = track.spec.kind else { return (0, 0, u64::from(track.rows), 0) };
    let mut content = (0, 0, 0, 0);
    for block in segment.blocks_of(id).unwrap() {
        let durations_ps = segment.core_ints(table, ColumnRole::Duration, block).unwrap();
        let forms = segment.core_ints(table, ColumnRole::Form, block).unwrap();
        for (duration_ps, form) in durations_ps.into_iter().zip(forms) {
            match SliceForm::ALL[usize::try_from(form).unwrap()] {
                SliceForm::Instant => content.1 += 1,
                SliceForm::Complete | SliceForm::Unfinished => content.0 += 1,
            }
            content.3 += i128::from(duration_ps);
        }
    }
    content
}

fn check(path: &Path, expected: Option<Counts>) {
    let mut bytes = Vec::new();
    let file = FileBytes::new(Arc::new(std::fs::read(path).unwrap()));
    open("trace", file, &InMemory).leaves[0].reader().read_to_end(&mut bytes).unwrap();
    let Some(segment) = stored(&bytes) else {
        assert!(expected.is_none(), "{}: refused, although Python reads it", path.display());
        return;
    };
    let found = found(&segment);
    let Some(expected) = expected else {
        println!("{}: no independent count, this is not plain JSON", path.display());
        return;
    };
    println!("{}: {} tracks, {} arrows", path.display(), found.tracks.len(), found.arrows);
    for name in expected.tracks.keys().chain(found.tracks.keys()) {
        assert_eq!(found.tracks.get(name), expected.tracks.get(name), "{}: track {name}", path.display());
    }
    assert_eq!(found, expected, "{}", path.display());
}

/// All files of a folder, including its subfolders.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = folder.read_dir() else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Checks the files of a folder, relative to the project's.
fn check_folder(name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
    let paths = files(&folder);
    if paths.is_empty() {
        println!("skipped: {} is not here", folder.display());
        return;
    }
    let Some(counts) = counted(&paths) else { return };
    assert_eq!(counts.len(), paths.len());
    for (path, counts) in paths.iter().zip(counts) {
        check(path, counts);
    }
}

#[test]
fn small_traces_of_our_own() {
    check_folder("fuzz/seeds/trace_event");
}

#[test]
fn pytorch_traces() {
    check_folder("../shared/data/kineto");
}

#[test]
fn chrome_traces() {
    check_folder("../shared/data/chrome");
}

#[test]
fn oddities() {
    check_folder("../shared/data/chrome_edge");
}
