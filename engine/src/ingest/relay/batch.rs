//! Batches of calls from a relay to the player.

use crate::ingest::rows::TrackRun;
use crate::model::{
    FieldId, FieldSpec, FlowPoint, NameId, NumberBits, RankInfo, Schedule, SliceForm, SliceKey, TableId,
    TableSpec, TemplateId, TemplateValue, TrackId, TrackSpec,
};

/// Some calls of a reader, in order.
#[derive(Debug, Default)]
pub struct CallBatch {
    pub(in crate::ingest) calls: Vec<RelayedCall>,
    /// Rows of ordered tracks. [`RelayedCall::Run`] stands where the last row of a run arrived or
    /// later. Runs from `used` on are empty, for reuse.
    pub(in crate::ingest) runs: Vec<TrackRun>,
    pub(in crate::ingest) used: usize,
    /// Arrows. The builder takes them after all rows of the batch.
    pub(in crate::ingest) links: Vec<(SliceKey, SliceKey, NameId)>,
    /// Number of calls, rows of runs, and arrows.
    pub(in crate::ingest) filled: usize,
    /// Fields of the calls, in the order of calls.
    pub(in crate::ingest) fields: Vec<(FieldId, HeldValue)>,
    /// Numeric values of the calls with a template, in the order of calls.
    pub(in crate::ingest) numbers: Vec<NumberBits>,
    /// Texts of calls and fields, in order.
    pub(in crate::ingest) texts: String,
}

/// A call without its fields and texts, which it only counts.
#[derive(Debug)]
pub enum RelayedCall {
    Name {
        text_len: usize,
    },
    Table(Box<TableSpec>),
    Field(TableId, Box<FieldSpec>),
    Track(Box<TrackSpec>),
    DescribeTrack(TrackId, Box<TrackSpec>),
    InOrder(TrackId),
    Schedule(TableId, Box<Schedule>),
    Template(TableId, Box<[(FieldId, TemplateValue)]>),
    Slice(Slice),
    SliceBy(TemplateId, Slice),
    Sample {
        track: TrackId,
        time_ps: i64,
        value: f64,
        fields: usize,
    },
    SampleBy {
        template: TemplateId,
        track: TrackId,
        time_ps: i64,
        value: f64,
    },
    Row {
        table: TableId,
        fields: usize,
    },
    /// The run at this position.
    Run(usize),
    FlowPoint(FlowPoint),
    Rank(Box<RankInfo>),
}

impl CallBatch {
    /// Removes everything but keeps the memory.
    pub(in crate::ingest) fn clear(&mut self) {
        self.calls.clear();
        for run in &mut self.runs[..self.used] {
            run.rows.clear();
            run.numbers.clear();
        }
        self.links.clear();
        self.fields.clear();
        self.numbers.clear();
        self.texts.clear();
        (self.used, self.filled) = (0, 0);
    }

    /// Begins the run of a track. Returns its position plus one.
    #[cold]
    pub(in crate::ingest) fn begin_run(&mut self, track: TrackId) -> usize {
        match self.runs.get_mut(self.used) {
            Some(run) => run.track = track,
            None => self.runs.push(TrackRun::new(track)),
        }
        self.used += 1;
        self.used
    }
}

/// A slice without its fields.
#[derive(Debug)]
pub struct Slice {
    pub track: TrackId,
    pub start_ps: i64,
    pub duration_ps: i64,
    pub name: NameId,
    pub form: SliceForm,
    /// Number of fields, without those of a template.
    pub fields: u32,
}

/// A value without its text.
#[derive(Debug, Clone, Copy)]
pub enum HeldValue {
    Int(i64),
    Uint(u64),
    Float(f64),
    Bool(bool),
    Name(NameId),
    Text {
        len: usize,
        as_what: Texted,
    },
    /// A text that the player stores in this cache slot.
    NewText {
        len: u32,
        place: u16,
        as_what: Texted,
    },
    KnownText {
        place: u16,
        as_what: Texted,
    },
}

/// Plain text or JSON.
#[derive(Debug, Clone, Copy)]
pub enum Texted {
    Plain,
    Json,
}
