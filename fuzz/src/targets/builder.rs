//! Any calls of a reader to the builder, in little memory, so that rows go to the scratch space:
//! the segment is whole, holds every accepted row, and answers questions.

use std::ops::ControlFlow;

use crate::bound::within_reader;
use nprof_engine::base::{Interval, Result};
use nprof_engine::exec::Work;
use nprof_engine::ingest::{BuildOptions, Builder};
use nprof_engine::metrics::MetricScope;
use nprof_engine::model::{
    Bind, FieldId, FieldSpec, FlowPhase, FlowPoint, NameId, Nesting, Sink, SliceForm, SliceKey, SliceRecord,
    TableId, TableKind, TableSpec, TrackId, TrackSpec, Unit, Value,
};
use nprof_engine::query::{self, HitPage, SearchPattern, VerifyFinding};
use nprof_engine::rank::RankView;
use nprof_engine::segment::Segment;
use nprof_engine::spill::MemoryScratch;
use nprof_engine::tile::{Level, TileId, groups};
use nprof_engine::wire::answer;

/// Bytes of a call: what, track, start, duration or value, name.
const CALL_LEN: usize = 8;
const TRACKS: usize = 8;
const NAMES: [&str; 4] = ["a", "wait", "", "\u{0}<b>"];

/// Runs the target on an input.
pub(super) fn run(bytes: &[u8]) {
    within_reader(bytes.len(), || read(bytes));
}

fn read(bytes: &[u8]) {
    let Some((&head, calls)) = bytes.split_first() else { return };
    let (scratch, mut segment) = (MemoryScratch::default(), Vec::new());
    let little = usize::from(head % 16) << 8;
    let options = BuildOptions {
        sort_bytes: 1 << 10 | little,
        group_bytes: 1 << 12 | little,
        ..BuildOptions::default()
    };
    let mut builder = Builder::new(&scratch, &mut segment, options).expect("a vector takes all bytes");
    let mut rows = 0_u64;
    let mut out = Script::new(&mut builder, head >> 4).expect("there are few tracks");
    for call in calls.as_chunks::<CALL_LEN>().0 {
        rows += u64::from(out.call(call).expect("the call keeps the rules of a sink"));
    }
    let built = builder.finish().expect("memory is enough");
    assert_eq!(built.events, rows);
    let segment = Segment::open(segment).expect("it was just written");
    let found: u64 = segment.footer().tracks.iter().map(|track| u64::from(track.rows)).sum();
    assert_eq!(found, rows);
    let _ = query::verify::check(&segment, &mut |finding| match finding {
        VerifyFinding::Checked(_) => ControlFlow::Continue(()),
        damage => panic!("{damage:?}"),
    });
    questions(&segment);
}

fn questions(segment: &Segment<Vec<u8>>) {
    let view = RankView::of(segment);
    let all = Interval::new(i64::MIN / 4, i64::MAX / 4);
    answer::window(view, all, None, 100, Work::IN_PLACE).expect("the segment is whole");
    for group in 0..u32::try_from(groups(segment.footer()).0.len()).unwrap_or(0) {
        for level in [0, 10, 20, 40] {
            let id = TileId { group, level: Level::new(level).expect("a grid has it"), index: 0 };
            answer::tile(view, id, Work::IN_PLACE).expect("the segment is whole");
        }
    }
    let page = HitPage::first(10);
    query::search::find(segment, &SearchPattern::text("wait"), page, Work::IN_PLACE)
        .expect("the segment is whole");
    answer::summary(view, 0, &MetricScope::default(), Work::IN_PLACE).expect("the segment is whole");
}

/// Tracks and names, and what was taken on them.
struct Script<'b> {
    sink: &'b mut dyn Sink,
    tracks: Vec<TrackId>,
    tables: [TableId; 3],
    fields: Vec<[FieldId; 2]>,
    names: Vec<NameId>,
    keys: Vec<SliceKey>,
    /// Track that promised order, and start and duration of its last row.
    in_order: usize,
    last: (i64, i64),
}

fn is_counter(nth: usize) -> bool {
    nth.is_multiple_of(3)
}

impl<'b> Script<'b> {
    fn new(sink: &'b mut dyn Sink, promise: u8) -> Result<Self> {
        let table = |name: &str, kind| TableSpec::new(name, kind, "").named_by("name");
        let tables = [
            sink.table(table("slice", TableKind::Slices))?,
            sink.table(table("sample", TableKind::Samples))?,
            sink.table(table("side", TableKind::Side))?,
        ];
        let mut fields = Vec::new();
        for table in tables {
            fields.push([
                sink.field(table, FieldSpec::named("n"))?,
                sink.field(table, FieldSpec::named("text"))?,
            ]);
        }
        let mut tracks = vec![sink.track(TrackSpec::group("group", None, 0))?];
        for nth in 1..TRACKS {
            let (name, parent, sort) = (format!("track {nth}"), Some(tracks[0]), 0);
            let nesting = if nth % 2 == 0 { Nesting::Calls } else { Nesting::Concurrent };
            let spec = if is_counter(nth) {
                TrackSpec::counter(&name, parent, tables[1], Unit::None, sort)
            } else {
                TrackSpec::slices(&name, parent, tables[0], nesting, sort)
            };
            tracks.push(sink.track(spec)?);
        }
        let in_order = usize::from(promise) % TRACKS;
        if in_order > 0 {
            sink.in_order(tracks[in_order])?;
        }
        let names = NAMES.iter().map(|name| sink.name(name)).collect::<Result<_>>()?;
        Ok(Self { sink, tracks, tables, fields, names, keys: Vec::new(), in_order, last: (i64::MIN, 0) })
    }

    /// Makes a call. Returns whether it gave an event.
    fn call(&mut self, call: &[u8; CALL_LEN]) -> Result<bool> {
        let [what, track, start, start_high, duration, scale, name, value] = *call;
        let start_ps = i64::from(i16::from_le_bytes([start, start_high])) << (scale % 40);
        let duration_ps = i64::from(duration) << (scale / 40 * 5);
        // The first one is a heading.
        let nth = 1 + usize::from(track) % (TRACKS - 1);
        let (track, name) = (self.tracks[nth], self.names[usize::from(name) % NAMES.len()]);
        let text = NAMES[usize::from(value) % NAMES.len()];
        let fields = |[number, of_text]: [FieldId; 2]| match value % 4 {
            0 => vec![],
            1 => vec![(number, Value::Int(start_ps))],
            2 => vec![(of_text, Value::Text(text)), (number, Value::Float(f64::from(duration)))],
            _ => vec![(number, Value::Bool(true)), (of_text, Value::Json("[1]"))],
        };
        let form = SliceForm::ALL[usize::from(what / 6) % SliceForm::ALL.len()];
        let duration_ps = if form == SliceForm::Complete && !is_counter(nth) { duration_ps } else { 0 };
        let is_row = what % 6 < 4;
        if is_row && nth == self.in_order {
            if (start_ps, -duration_ps) < (self.last.0, -self.last.1) {
                return Ok(false);
            }
            self.last = (start_ps, duration_ps);
        }
        match what % 6 {
            0..=3 if !is_counter(nth) => {
                let fields = &fields(self.fields[0]);
                let record = SliceRecord { track, start_ps, duration_ps, name, form, fields };
                self.keys.push(self.sink.slice(&record)?);
                Ok(true)
            }
            0..=3 => {
                let value = f64::from(duration) * f64::from(value);
                self.sink.sample(track, start_ps, value, &fields(self.fields[1])).map(|()| true)
            }
            4 => {
                let phases = [FlowPhase::Start, FlowPhase::Step, FlowPhase::End];
                let phase = phases[usize::from(scale) % phases.len()];
                let bind = if value % 2 == 0 { Bind::Enclosing } else { Bind::Next };
                let key = u64::from(duration % 16);
                if nth != self.in_order {
                    self.sink.flow_point(FlowPoint { key, track, time_ps: start_ps, phase, bind, name })?;
                }
                Ok(false)
            }
            _ => {
                let at = |byte: u8| usize::from(byte) % self.keys.len().max(1);
                if let (Some(&from), Some(&to)) = (self.keys.get(at(start)), self.keys.get(at(duration))) {
                    self.sink.link(from, to, name)?;
                }
                self.sink.row(self.tables[2], &fields(self.fields[2])).map(|()| false)
            }
        }
    }
}
