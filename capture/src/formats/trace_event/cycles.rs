//! Several files of one rank: cycles of a profiler, one after another on one timeline.
//!
//! Tracks of the same process and thread are the same tracks. Matches of begins, ends, arrows and
//! correlations end with each file. The track `Recording` shows which file recorded which time, and
//! the gaps.

use nprof_engine::base::Result;
use nprof_engine::model::{
    Identity, Nesting, Role, Sink, SliceForm, SliceRecord, TableKind, TableSpec, TrackSpec, WarningKind,
};

use super::Context;
use super::document::TraceDocument;
use super::event::EventBytes;
use super::events::EventReceiver;
use super::output::EventOutput;
use super::reader::TraceEventReader;
use super::scan::Scan;
use super::value::WrittenValue;
use crate::error::Error;
use crate::files::{Fault, ImportJob, Sinks};

/// Name of the track, of its table, and of the time between two files.
const TRACK: &str = "Recording";
const TABLE: &str = "recording";
const GAP: &str = "not recorded";

const PS_PER_NS: i128 = 1_000;

/// A file that was read.
struct Recorded<'j> {
    name: &'j str,
    /// Times of its first and last event in picoseconds, if it has any.
    span_ps: Option<(i64, i64)>,
}

/// Reads all traces of a plan into one rank, in their order.
pub(super) fn import(job: &ImportJob<'_>, context: Context<'_>, sinks: &mut dyn Sinks) -> Result<(), Fault> {
    let Some(sink) = sinks.rank(0) else { return Ok(()) };
    let mut reader = job.of_trace(TraceEventReader::new(context, sink).map_err(Error::from))?;
    let base_ns = |file: usize| job.files.leaf(file).candidate.facts.base_ns;
    let first_base_ns = base_ns(job.plan.trace());
    let mut recorded = Vec::new();
    for (nth, file) in job.plan.traces().enumerate() {
        let fault = |source| Fault { file, source };
        let later_ns =
            first_base_ns.zip(base_ns(file)).map(|(first, own)| i128::from(own) - i128::from(first));
        let out = reader.out();
        out.clock.shift_by(later_ns.unwrap_or(0) * PS_PER_NS);
        (out.file, out.span_ps) = (nth, None);
        read(job, file, context, &mut reader).map_err(fault)?;
        reader.end_file().map_err(Error::from).map_err(fault)?;
        let name = job.files.leaf(file).candidate.path.as_str();
        recorded.push(Recorded { name, span_ps: reader.out().span_ps });
    }
    let written = write(&recorded, reader.out().sink).and_then(|()| EventReceiver::finish(reader));
    job.of_trace(written.map_err(Error::from))
}

/// Reads a file: from its bytes if they are not packed, else while it is unpacked.
fn read<'s>(
    job: &ImportJob<'_>,
    file: usize,
    context: Context<'s>,
    reader: &mut TraceEventReader<'s>,
) -> Result<(), Error> {
    let work = context.work();
    if let Some(bytes) = job.files.leaf(file).plain() {
        let is_first = file == job.plan.trace();
        // The bytes of the other files were counted before.
        let progress = &mut |done| {
            if is_first {
                (job.progress)(done)
            }
        };
        return TraceDocument::new(Scan::over(&bytes, progress), OneFile(&mut *reader), work).read();
    }
    let damage = job.files.stream(file, &mut |input| {
        TraceDocument::new(Scan::new(input, &mut |_| {}), OneFile(&mut *reader), work).read()
    })?;
    if let Some(damage) = damage {
        let name = &job.files.leaf(file).candidate.path;
        let what = "the file is cut off or damaged; nprof has read everything before this place";
        let place = || format!("{name}: {}: {}", damage.place(), damage.what);
        reader.out().sink.warn(WarningKind::TruncatedInput, what, &place);
    }
    Ok(())
}

/// Writes the recorded times of the files, and the gaps between them.
fn write(recorded: &[Recorded<'_>], sink: &mut dyn Sink) -> Result<()> {
    let doc = "Times that the files of the rank recorded, and the gaps between them.";
    let table = sink.table(TableSpec::new(TABLE, TableKind::Slices, doc).named_by("name"))?;
    let spec = TrackSpec::slices(TRACK, None, table, Nesting::Calls, -1);
    let track = sink.track(spec.showing(Identity::of(Role::Annotations)))?;
    let mut before_ps: Option<i64> = None;
    for Recorded { name, span_ps } in recorded {
        let Some((start_ps, end_ps)) = *span_ps else { continue };
        let gap = before_ps.filter(|before| *before < start_ps).map(|before| (GAP, before, start_ps));
        // A slice that lasts into the next file hides no start of that file.
        let end_ps = end_ps.max(start_ps);
        for (text, start_ps, end_ps) in gap.into_iter().chain([(*name, start_ps, end_ps)]) {
            let name = sink.name(text)?;
            let duration_ps = end_ps.saturating_sub(start_ps);
            let form = SliceForm::Complete;
            sink.slice(&SliceRecord { track, start_ps, duration_ps, name, form, fields: &[] })?;
        }
        before_ps = before_ps.max(Some(end_ps));
    }
    Ok(())
}

/// The reader of a rank while it reads one of several files.
struct OneFile<'r, 's>(&'r mut TraceEventReader<'s>);

impl<'s> EventReceiver<'s> for OneFile<'_, 's> {
    fn out(&mut self) -> &mut EventOutput<'s> {
        self.0.out()
    }

    fn event_count(&self) -> u64 {
        self.0.event_count()
    }

    fn metadata(&mut self, key: &str, value: WrittenValue<'_>, offset: u64) -> Result<()> {
        self.0.metadata(key, value, offset)
    }

    fn unread(&mut self, what: &str, bytes: &[u8], offset: u64) -> Result<()> {
        self.0.unread(what, bytes, offset)
    }

    fn event(&mut self, seen: EventBytes<'_>) -> Result<()> {
        self.0.event(seen)
    }

    /// The rank ends after its last file.
    fn finish(self) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use nprof_engine::fixture::Recorder;
    use nprof_engine::spill::{MemoryScratch, Space};

    use crate::archive::fixture::gzip;
    use crate::archive::{FileBytes, InMemory, PlainFile, open};
    use crate::files::{ImportJob, MemoryFiles, OneRank};
    use crate::formats;
    use crate::inputs::{Candidate, plan};

    /// Opens the cycles of rank 0 of 2.
    fn leaves(cycles: &[(&str, String)], pack: impl Fn(&[u8]) -> Vec<u8>) -> Vec<PlainFile> {
        let leaves = |(name, events): &(&str, String)| {
            let info = r#""distributedInfo":{"rank":0,"world_size":2}"#;
            let text = format!(r#"{{"schemaVersion":1,{info},"traceEvents":[{events}]}}"#);
            open(name, FileBytes::new(Arc::new(pack(text.as_bytes()))), &InMemory).leaves
        };
        cycles.iter().flat_map(leaves).collect()
    }

    /// Reads the only plan of these files.
    fn read(leaves: Vec<PlainFile>) -> Recorder {
        let candidates: Vec<Candidate> = leaves.iter().map(|leaf| leaf.candidate.clone()).collect();
        let plans = plan(&candidates).unwrap().plans;
        assert_eq!(plans.len(), 1);
        let (scratch, files, mut sink) = (MemoryScratch::default(), MemoryFiles(leaves), Recorder::default());
        let space = Space::new(&scratch);
        let job = ImportJob { plan: &plans[0], files: &files, space, origin: None, progress: &|_| {} };
        formats::read(&job, &mut OneRank(&mut sink)).unwrap();
        sink
    }

    fn slice(name: &str, ts: u64, dur: u64) -> String {
        format!(r#"{{"ph":"X","name":"{name}","pid":1,"tid":1,"ts":{ts},"dur":{dur}}}"#)
    }

    #[test]
    fn cycles_are_one_rank_on_one_timeline() {
        let first = slice("a", 100, 50) + "," + r#"{"ph":"B","name":"open","pid":1,"tid":2,"ts":120}"#;
        // An end that has no begin in its own cycle.
        let second = slice("b", 900, 20) + "," + r#"{"ph":"E","pid":1,"tid":2,"ts":910}"#;
        let cycles = [("step_20/rank0.json", second), ("step_10/rank0.json", first)];
        for sink in [read(leaves(&cycles, <[u8]>::to_vec)), read(leaves(&cycles, gzip))] {
            let spans = |table: &str| {
                let span = |of: &nprof_engine::fixture::RecordedSlice| {
                    (of.name.clone(), of.start_ps / 1_000_000, of.duration_ps / 1_000_000)
                };
                sink.slices_of(table).map(span).collect::<Vec<_>>()
            };
            let slices = spans("slice");
            let has =
                |name: &str, start: i64, duration: i64| slices.contains(&(name.to_owned(), start, duration));
            assert!(has("a", 100, 50) && has("b", 900, 20), "{slices:?}");
            assert!(!has("open", 120, 790), "the end is of another cycle");
            let recording = [
                ("step_10/rank0.json", 100, 50),
                ("not recorded", 150, 750),
                ("step_20/rank0.json", 900, 20),
            ];
            let recording = recording.map(|(name, start, duration)| (name.to_owned(), start, duration));
            assert_eq!(spans("recording"), recording);
            let tracks: Vec<_> = sink.slices_of("slice").filter(|of| of.name != "open").collect();
            assert_eq!(tracks[0].track, tracks[1].track);
            assert_eq!(sink.rank.rank, Some(0));
        }
    }

    #[test]
    fn arrows_do_not_lead_from_one_cycle_to_another() {
        let flow = |ph: &str, ts: u64| {
            format!(
                r#",{{"ph":"{ph}","bp":"e","id":7,"cat":"ac2g","name":"ac2g","pid":1,"tid":1,"ts":{ts}}}"#
            )
        };
        let cycles = [
            ("c_step_1.json", slice("a", 100, 9) + &flow("s", 101)),
            ("c_step_2.json", slice("b", 900, 9) + &flow("f", 901)),
        ];
        let keys: Vec<u64> =
            read(leaves(&cycles, <[u8]>::to_vec)).flow_points.iter().map(|point| point.key).collect();
        assert!(keys.len() == 2 && keys[0] != keys[1], "{keys:?}");
    }
}
