//! State of a sequence: the packets of one writer refer to earlier packets of theirs.

use nprof_engine::base::Result;
use nprof_engine::model::{NameId, Sink};
use rustc_hash::FxHashMap;

use super::track::ThreadIds;
use crate::protobuf::{MessageDamage, MessageFields};

/// Most bytes of interned texts and sequences in memory.
const MAX_BYTES: usize = 64 << 20;
/// Bytes of memory of an interned text besides its letters, about.
const TEXT_BYTES: usize = 64;
/// Bytes of memory of a sequence, about.
const SEQUENCE_BYTES: usize = 1 << 10;

/// Kind of interned text. Each has numbers of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InternedKind {
    /// Categories of events.
    Category,
    /// Names of events.
    Name,
    /// Names of annotations.
    Key,
    /// Texts of annotations.
    Text,
    /// Texts that slices are correlated by.
    Correlation,
    /// Places in source code.
    Source,
}

impl InternedKind {
    const COUNT: usize = 6;

    /// The kind of a field of `InternedData`.
    fn of_field(number: u32) -> Option<Self> {
        match number {
            1 => Some(Self::Category),
            2 => Some(Self::Name),
            3 => Some(Self::Key),
            4 => Some(Self::Source),
            29 => Some(Self::Text),
            43 => Some(Self::Correlation),
            _ => None,
        }
    }
}

/// An interned text.
#[derive(Debug)]
pub(super) struct Interned {
    /// The text.
    pub(super) text: Box<str>,
    /// Number of the text in the sink, once it is known.
    name: Option<NameId>,
}

/// The memory of all sequences.
#[derive(Debug, Default)]
pub(super) struct SequenceMemory {
    used: usize,
}

impl SequenceMemory {
    fn takes(&mut self, bytes: usize) -> bool {
        let fits = self.used.saturating_add(bytes) <= MAX_BYTES;
        self.used += if fits { bytes } else { 0 };
        fits
    }

    /// Takes the memory of a sequence. `false` if there is not enough.
    pub(super) fn takes_sequence(&mut self) -> bool {
        self.takes(SEQUENCE_BYTES)
    }

    /// Takes a small entry of a table. `false` if there is not enough.
    pub(super) fn takes_entry(&mut self) -> bool {
        self.takes(TEXT_BYTES)
    }
}

/// Statements of a sequence so far.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    texts: [FxHashMap<u64, Interned>; InternedKind::COUNT],
    /// Bytes that the texts count as.
    text_bytes: usize,
    /// Clock of packets that name none.
    pub(super) clock: Option<u32>,
    /// Track of events that name none.
    pub(super) track: Option<u64>,
    /// Counters of further values: whole numbers, then floats.
    pub(super) extra_counters: [Vec<u64>; 2],
    /// Process and thread of the writer, in older traces.
    pub(super) thread: Option<ThreadIds>,
    /// Time of the last event in older traces, in nanoseconds.
    pub(super) last_ns: Option<i64>,
    /// Sums of counters that state differences.
    pub(super) sums: FxHashMap<u64, f64>,
    /// Whether there was a packet before.
    pub(super) has_begun: bool,
    /// Whether differences of time lack their beginning, because packets are lost.
    pub(super) is_torn: bool,
}

impl Sequence {
    /// Forgets what later packets must not refer to.
    pub(super) fn clear(&mut self, memory: &mut SequenceMemory) {
        self.texts.iter_mut().for_each(FxHashMap::clear);
        memory.used = memory.used.saturating_sub(self.text_bytes + TEXT_BYTES * self.sums.len());
        let (thread, has_begun) = (self.thread, self.has_begun);
        *self = Self { texts: std::mem::take(&mut self.texts), thread, has_begun, ..Self::default() };
    }

    /// Takes interned texts. `false` if there is no memory for some.
    pub(super) fn intern(
        &mut self,
        bytes: &[u8],
        memory: &mut SequenceMemory,
    ) -> Result<bool, MessageDamage> {
        let mut is_whole = true;
        let mut fields = MessageFields::new(bytes);
        while let Some((number, value)) = fields.next()? {
            let Some(kind) = InternedKind::of_field(number) else { continue };
            let (iid, text) = entry(kind, value.bytes())?;
            let cost = text.len() + TEXT_BYTES;
            if !memory.takes(cost) {
                is_whole = false;
                continue;
            }
            self.text_bytes += cost;
            self.texts[kind as usize].insert(iid, Interned { text: text.into(), name: None });
        }
        Ok(is_whole)
    }

    /// An interned text.
    pub(super) fn text(&self, kind: InternedKind, iid: u64) -> Option<&str> {
        self.texts[kind as usize].get(&iid).map(|interned| &*interned.text)
    }

    /// Number of an interned text in the sink, and the text.
    pub(super) fn name(
        &mut self,
        sink: &mut dyn Sink,
        kind: InternedKind,
        iid: u64,
    ) -> Result<Option<(NameId, &str)>, nprof_engine::base::Error> {
        let Some(interned) = self.texts[kind as usize].get_mut(&iid) else { return Ok(None) };
        let name = match interned.name {
            Some(name) => name,
            None => *interned.name.insert(sink.name(&interned.text)?),
        };
        Ok(Some((name, &interned.text)))
    }

    /// Adds a difference to a counter. Returns the sum, or `None` if there is no memory for it.
    pub(super) fn sum(&mut self, counter: u64, difference: f64, memory: &mut SequenceMemory) -> Option<f64> {
        if let Some(sum) = self.sums.get_mut(&counter) {
            *sum += difference;
            return Some(*sum);
        }
        memory.takes_entry().then(|| *self.sums.entry(counter).or_insert(difference))
    }
}

/// Number and text of an entry.
fn entry(kind: InternedKind, bytes: &[u8]) -> Result<(u64, String), MessageDamage> {
    if kind == InternedKind::Source {
        let mut iid = 0;
        let mut fields = MessageFields::new(bytes);
        while let Some((number, value)) = fields.next()? {
            iid = if number == 1 { value.number() } else { iid };
        }
        return Ok((iid, source(bytes)?));
    }
    let (mut iid, mut text) = (0, String::new());
    let mut fields = MessageFields::new(bytes);
    while let Some((number, value)) = fields.next()? {
        match number {
            1 => iid = value.number(),
            2 => text = String::from_utf8_lossy(value.bytes()).into_owned(),
            _ => {}
        }
    }
    Ok((iid, text))
}

/// A place in source code as text: `file:line function`.
pub(super) fn source(bytes: &[u8]) -> Result<String, MessageDamage> {
    let (mut file, mut function, mut line) = (String::new(), String::new(), None);
    let mut fields = MessageFields::new(bytes);
    while let Some((number, value)) = fields.next()? {
        match number {
            2 => file = String::from_utf8_lossy(value.bytes()).into_owned(),
            3 => function = String::from_utf8_lossy(value.bytes()).into_owned(),
            4 => line = Some(value.number()),
            _ => {}
        }
    }
    let place = line.map_or_else(|| file.clone(), |line| format!("{file}:{line}"));
    Ok([place, function].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" "))
}
