//! Collective operations of a Kineto trace: kernels on streams of a device, or annotations of a
//! backend such as Gloo on threads of the host.
//!
//! A call that states no group is one of a stream or a thread, whose numbers say nothing beyond
//! their rank. It belongs to one of the groups that the trace states for this rank, if the trace
//! states them. If only one fits, that is the group.

use rustc_hash::FxHashMap;

use super::annotation::{self, Bare, Stated, around_launches};
use super::group::{Hint, JobFacts};
use super::steps::{self, ProfilerSteps, StepMark, StreamKey};
use super::{
    ARGUMENTS, CATEGORY, CORRELATION, DIMS, DTYPE, EXTERNAL, GROUP, IN, KinetoClass, NAME, OUT, RANKS, ROOT,
    SEQ, SIZE, SOURCE, TARGET, TYPE, class_on_device, communication, element_bytes, host, operation,
};
use crate::base::{Interval, Result, narrow};
use crate::exec::Cancel;
use crate::makers::call_book::{Call, CallBook, CallIds};
use crate::makers::call_columns::{CallFields, FieldColumns, first_row, integers, slice_tracks};
use crate::makers::device_time::{Union, complete};
use crate::model::collective::NO_NUMBER;
use crate::model::{
    CollectiveKind, Communicator, Membership, NameId, RankCalls, Role, Signature, SliceForm, TableId,
    TimedBy, TrackId,
};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// Reads the operations of a rank. All other kernels are its computation; copies and fills are
/// neither.
pub fn read<B: Bytes>(segment: &Segment<B>, ids: CallIds, cancel: Cancel<'_>) -> Result<RankCalls> {
    let mut reader = KinetoReader {
        segment,
        job: JobFacts::read(segment)?,
        book: CallBook::new(ids),
        compute: Union::default(),
        copies: Union::default(),
        known: FxHashMap::default(),
        classes: FxHashMap::default(),
        bare: Vec::new(),
        hints: FxHashMap::default(),
        steps: ProfilerSteps::default(),
        cancel,
    };
    for (track, table) in slice_tracks(segment, |role| matches!(role, Role::Kernels | Role::Annotations)) {
        reader.track(track, table, TrackColumns::Device)?;
    }
    reader.steps.end_of_device();
    let has_kernels = !reader.book.rank.calls.is_empty();
    for (track, table) in slice_tracks(segment, |role| role == Role::HostThread) {
        reader.track(
            track,
            table,
            if has_kernels { TrackColumns::Host } else { TrackColumns::HostOfCalls },
        )?;
    }
    reader.annotate()?;
    reader.place();
    let mut rank = reader.book.rank;
    rank.timed_by = if has_kernels { TimedBy::Device } else { TimedBy::Host };
    rank.host = host::read(segment, cancel)?;
    rank.calls.steps = reader.steps.numbers();
    rank.world_size = reader.job.world_size;
    complete(&mut rank, reader.compute, reader.copies);
    Ok(rank)
}

/// Position of a track, and the columns that are read from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TrackColumns {
    /// Kernels and steps.
    Device,
    /// Steps.
    Host,
    /// Steps and operations.
    HostOfCalls,
}

/// Values that decide the signature of a row: numbers of texts, and sizes.
type KinetoSignature = [Option<i64>; 10];

struct KinetoReader<'s, B> {
    segment: &'s Segment<B>,
    job: JobFacts,
    book: CallBook,
    compute: Union,
    copies: Union,
    known: FxHashMap<(TrackId, i64, KinetoSignature), u32>,
    /// Classes by the numbers of name and category.
    classes: FxHashMap<(i64, Option<u32>), (KinetoClass, Option<u32>)>,
    /// Calls without arguments: position, correlation, and what their annotation must fit.
    bare: Vec<(usize, i64, Bare)>,
    /// Facts that calls without a group state about it, by signature.
    hints: FxHashMap<u32, Hint>,
    steps: ProfilerSteps,
    cancel: Cancel<'s>,
}

impl<B: Bytes> KinetoReader<'_, B> {
    fn track(&mut self, track: TrackId, table: TableId, place: TrackColumns) -> Result<()> {
        let columns = FieldColumns::of(self.segment, table, ARGUMENTS);
        // Host threads have many rows, and their names decide alone.
        let field = if place == TrackColumns::Device { CATEGORY } else { CORRELATION };
        let one = FieldColumns::of(self.segment, table, [ARGUMENTS[field]]);
        let wants_launches = place != TrackColumns::Device && self.steps.wants_launches();
        for block in self.segment.blocks_of(track)? {
            self.cancel.check()?;
            let mut core = BlockReader::new(self.segment, table, block)?;
            let names = core.core_ints(ColumnRole::Name)?;
            let starts = core.core_ints(ColumnRole::Start)?;
            let durations = core.core_ints(ColumnRole::Duration)?;
            let forms = core.core_ints(ColumnRole::Form)?;
            let one = one.block(self.segment, block)?;
            let first = first_row(self.segment, table, block)?;
            let mut fields = None;
            for (at, row) in (0..starts.len()).zip(first..) {
                let (class, step) = self.class(place, names[at], one.code(0, at))?;
                let mark = step.map(|number| StepMark { start_ps: starts[at], number });
                match (place, mark) {
                    (TrackColumns::Device, Some(mark)) => self.steps.mark_of_device(self.stream(track), mark),
                    (_, Some(mark)) => self.steps.mark_of_host(mark),
                    (_, None) => {}
                }
                if let Some(correlation) = one.int(0, at).filter(|_| wants_launches) {
                    self.steps.launch(correlation, starts[at]);
                }
                let is_complete = forms[at] == i64::from(SliceForm::Complete.code());
                let end = starts[at].saturating_add(durations[at]);
                match class {
                    KinetoClass::Compute if is_complete && durations[at] > 0 => {
                        self.compute.add(starts[at], end)
                    }
                    KinetoClass::Copy if is_complete && durations[at] > 0 => self.copies.add(starts[at], end),
                    KinetoClass::Collective if is_complete => {
                        let fields = match &mut fields {
                            Some(fields) => fields,
                            none => none.insert(columns.block(self.segment, block)?),
                        };
                        let span = Interval::lasting(starts[at], durations[at]);
                        self.call(track, at, row, names[at], span, fields)?;
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn class(
        &mut self,
        place: TrackColumns,
        name: i64,
        category: Option<u32>,
    ) -> Result<(KinetoClass, Option<u32>)> {
        let category = category.filter(|_| place == TrackColumns::Device);
        if let Some(&known) = self.classes.get(&(name, category)).filter(|_| place == TrackColumns::Device) {
            return Ok(known);
        }
        let text = self.segment.text(NameId(u32::try_from(name).unwrap_or_default()))?;
        let step = steps::number_of(text);
        let class = match place {
            TrackColumns::Device => {
                let category = category.map_or(Ok(""), |code| self.segment.text(NameId(code)))?;
                class_on_device(text, category)
            }
            TrackColumns::HostOfCalls if operation::backend_of(text, &self.job.backends).is_some() => {
                KinetoClass::Collective
            }
            TrackColumns::Host | TrackColumns::HostOfCalls => KinetoClass::Neither,
        };
        if place == TrackColumns::Device {
            self.classes.insert((name, category), (class, step));
        }
        Ok((class, step))
    }

    fn call(
        &mut self,
        track: TrackId,
        at: usize,
        row: u32,
        name: i64,
        span: Interval,
        fields: &CallFields<16>,
    ) -> Result<()> {
        let code = |field: usize| fields.code(field, at).map(i64::from);
        let int = |field: usize| fields.int(field, at);
        let key = [
            code(NAME),
            code(DTYPE),
            int(IN),
            int(OUT),
            int(SIZE),
            code(GROUP).or(int(GROUP)),
            code(RANKS),
            int(SOURCE).or(int(TARGET)).or(int(ROOT)),
            code(DIMS),
            code(TYPE),
        ];
        let signature = match self.known.get(&(track, name, key)) {
            Some(&known) => known,
            None => {
                let signature = self.signature(track, name, fields, at)?;
                self.known.insert((track, name, key), signature);
                signature
            }
        };
        let correlation = int(CORRELATION);
        if key[NAME].is_none()
            && let Some(correlation) = correlation
        {
            let kind = self.book.rank.signatures[signature as usize].kind;
            let bare = Bare { kind, external: int(EXTERNAL) };
            self.bare.push((self.book.rank.calls.len(), correlation, bare));
        }
        let id = correlation.unwrap_or_else(|| i64::from(row));
        let (start_ps, duration_ps) = (span.start.0, span.duration_ps());
        self.steps.call(self.stream(track), start_ps, correlation);
        self.book.call(Call { start_ps, duration_ps, signature, number: int(SEQ), row, id });
        Ok(())
    }

    fn signature(&mut self, track: TrackId, name: i64, fields: &CallFields<16>, at: usize) -> Result<u32> {
        let text = |field: usize| fields.text(self.segment, field, at);
        let size = |field: usize| fields.int(field, at).and_then(|size| u64::try_from(size).ok());
        let rank = |field: usize| fields.int(field, at).and_then(|rank| u32::try_from(rank).ok());
        let (stated, kernel) =
            (text(NAME)?, self.segment.text(NameId(u32::try_from(name).unwrap_or_default()))?);
        let kind = match stated {
            "" => communication::kind_of(kernel).unwrap_or_else(|| CollectiveKind::of_name(kernel)),
            stated => CollectiveKind::of_name(stated),
        };
        let group = match (text(GROUP)?, fields.int(GROUP, at)) {
            ("", Some(number)) => number.to_string(),
            (group, _) => group.to_owned(),
        };
        let hint =
            Hint { size: rank(SIZE).filter(|size| *size > 0), ranks: integers(text(RANKS)?).collect() };
        let communicator = if group.is_empty() {
            self.alone(track)
        } else {
            self.job.communicator(&group, text(RANKS)?, rank(SIZE).unwrap_or(0))
        };
        let mut dtype = text(DTYPE)?.to_owned();
        let mut count = size(IN);
        if count.is_none() {
            count = fields.code(DIMS, at).map(|_| annotation::elements(text(DIMS).unwrap_or_default()));
            dtype = text(TYPE)?.split('"').nth(1).unwrap_or_default().to_owned();
        }
        let count = count.unwrap_or(0);
        let bytes = count.max(size(OUT).unwrap_or(0)).saturating_mul(element_bytes(&dtype));
        let peer = rank(SOURCE).or(rank(TARGET)).or(rank(ROOT));
        let communicator = self.book.communicator(communicator);
        // Names of NCCL's kernels have one, but a kernel also serves other algorithms.
        let algorithm = String::new();
        let signature =
            self.book.signature(Signature { communicator, kind, dtype, algorithm, count, bytes, peer });
        if group.is_empty() {
            self.hints.entry(signature).or_default().and(hint);
        }
        Ok(signature)
    }

    /// The stream of a track of kernels or annotations.
    fn stream(&self, track: TrackId) -> StreamKey {
        let spec = &self.segment.footer().tracks[track.0 as usize].spec;
        StreamKey { group: spec.parent, number: spec.identity.number }
    }

    /// All that is known of the communicator of a kernel without arguments.
    fn alone(&self, track: TrackId) -> Communicator {
        let number = self.stream(track).number;
        let role = self.segment.footer().tracks[track.0 as usize].spec.identity.role;
        let name = match (role, number) {
            (Role::HostThread, _) => format!("thread {}", number.unwrap_or(track.0)),
            (_, Some(number)) => format!("stream {number}"),
            (_, None) => "stream".to_owned(),
        };
        Communicator { name, membership: Membership::Unknown, ranks: Vec::new(), size: 0 }
    }

    /// Gives the calls that state no group the one to which they belong, if the trace leaves no
    /// choice. Beside calls with numbers they stay apart: they have none, and a group matches by
    /// numbers or without them.
    fn place(&mut self) {
        let rank = &mut self.book.rank;
        if rank.calls.numbers.iter().any(|number| *number != NO_NUMBER) {
            return;
        }
        rank.choices = self.job.choices(&Hint::default());
        for at in 0..rank.signatures.len() {
            let Signature { communicator, kind, peer, .. } = self.book.rank.signatures[at];
            let is_unknown =
                self.book.rank.communicators[communicator as usize].membership == Membership::Unknown;
            let hint = self.hints.get(&narrow(at)).cloned().unwrap_or_default();
            let Some(group) = self.job.only(&hint).filter(|_| is_unknown) else { continue };
            let other = self.job.other(&group);
            let is_of_some =
                matches!(kind, CollectiveKind::Exchange | CollectiveKind::Other) || kind.is_pair();
            if is_of_some && peer.is_none() && other.is_none() {
                // Which of the ranks exchange data is not stated.
                continue;
            }
            let communicator = self.book.communicator(group);
            let of = &mut self.book.rank.signatures[at];
            of.communicator = communicator;
            of.peer = peer.or(other.filter(|_| kind.is_pair()));
        }
    }

    /// Completes calls without arguments from the annotations around their launches.
    fn annotate(&mut self) -> Result<()> {
        let wanted: FxHashMap<i64, Bare> =
            self.bare.iter().map(|&(_, correlation, bare)| (correlation, bare)).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let stated = around_launches(self.segment, &wanted, self.cancel)?;
        for (at, correlation, _) in std::mem::take(&mut self.bare) {
            let Some(Stated { kind, count, dtype }) = stated.get(&correlation) else { continue };
            let before = self.book.rank.signatures[self.book.rank.calls.signatures[at] as usize].clone();
            let bytes = count.saturating_mul(element_bytes(dtype));
            let kind = if *kind == CollectiveKind::Other { before.kind } else { *kind };
            let completed = Signature { kind, count: *count, dtype: dtype.clone(), bytes, ..before };
            self.book.rank.calls.signatures[at] = self.book.signature(completed);
        }
        Ok(())
    }
}
